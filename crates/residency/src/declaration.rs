//! Declaring a component's parameters against what its source holds.
//!
//! A model is built by walking its parameter names: `scope.sub("body").sub(3).param("weight", …)`. What is missing or has
//! another shape is collected, so that one error names it all; unused tensors are reported too.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::fmt;

use crate::ggml::DType;
use crate::loader::{Catalogue, FileId};
use crate::param::{ComponentId, Param, ParamId, ParamRole};
use crate::shape::Shape;

/// The parameters of one component, while its model is built.
pub struct Declaration<'c> {
    pub(crate) component: ComponentId,
    catalogue: &'c Catalogue,
    wanted: Option<DType>,
    state: RefCell<State>,
}

/// A place in the names of a component's parameters, such as `body.3.`.
pub struct ParamScope<'d> {
    declaration: &'d Declaration<'d>,
    prefix: String,
}

/// How a source's tensors met a model's parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadReport {
    /// Parameters found with the expected shape.
    pub applied: Vec<String>,
    /// Parameters that the source lacks.
    pub missing: Vec<String>,
    /// Tensors of the source that no parameter uses.
    pub unused: Vec<String>,
    /// Parameters that the source holds in another shape.
    pub mismatched: Vec<Mismatch>,
}

/// A parameter whose tensor has another shape than its model expects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The parameter.
    pub name: String,
    /// The shape the model expects.
    pub expected: Shape,
    /// The dimensions in the source.
    pub found: Vec<u64>,
}

/// One declared parameter: where its values come from and how they are kept.
#[derive(Clone, Debug)]
pub(crate) struct Declared {
    pub(crate) name: String,
    pub(crate) file: FileId,
    pub(crate) shape: Shape,
    pub(crate) dtype: DType,
}

impl<'c> Declaration<'c> {
    pub(crate) fn new(component: ComponentId, catalogue: &'c Catalogue, wanted: Option<DType>) -> Self {
        Self { component, catalogue, wanted, state: RefCell::default() }
    }

    /// The place where all names start.
    #[must_use]
    pub fn root(&self) -> ParamScope<'_> {
        ParamScope { declaration: self, prefix: String::new() }
    }

    /// How the parameters declared so far met the source.
    #[must_use]
    pub fn report(&self) -> LoadReport {
        let state = self.state.borrow();
        let used: BTreeSet<&str> = state.declared.iter().map(|declared| declared.name.as_str()).collect();
        let mut report = state.report.clone();
        report.applied = used.iter().map(|&name| name.to_owned()).collect();
        let known = |name: &str| used.contains(name) || state.report.mismatched.iter().any(|other| other.name == name);
        report.unused = self.catalogue.names().filter(|name| !known(name)).map(str::to_owned).collect();
        report
    }

    pub(crate) fn into_declared(self) -> Vec<Declared> {
        self.state.into_inner().declared
    }
}

impl ParamScope<'_> {
    /// The scope one name further in.
    #[must_use]
    pub fn sub(&self, name: impl fmt::Display) -> Self {
        ParamScope { declaration: self.declaration, prefix: format!("{}{name}.", self.prefix) }
    }

    /// Whether the source holds a tensor `name` in this scope.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.declaration.catalogue.get(&self.full(name)).is_some()
    }

    /// Declares the parameter `name` of this scope.
    ///
    /// One that is missing or has another shape is noted in the report, which makes registration fail.
    pub fn param(&self, name: &str, role: ParamRole, shape: impl Into<Shape>) -> Param {
        let (name, shape) = (self.full(name), shape.into());
        let declaration = self.declaration;
        let mut state = declaration.state.borrow_mut();
        let id = |index: usize| ParamId { component: declaration.component, index: index as u32 };
        if let Some(&index) = state.places.get(&name) {
            let declared = &state.declared[index];
            return Param { id: id(index), shape: declared.shape, dtype: declared.dtype };
        }
        match declaration.catalogue.get(&name) {
            Some(tensor) if tensor.shape == shape.dims() => {
                let dtype = role.storage_type(shape, &tensor.dtype, declaration.wanted);
                let param = Param { id: id(state.declared.len()), shape, dtype };
                let place = state.declared.len();
                state.places.insert(name.clone(), place);
                state.declared.push(Declared { name, file: tensor.file, shape, dtype });
                return param;
            }
            Some(tensor) => {
                state.report.mismatched.push(Mismatch { name, expected: shape, found: tensor.shape.clone() });
            }
            None => state.report.missing.push(name),
        }
        // Never read: a component with a missing or mismatched parameter cannot be registered.
        Param { id: id(u32::MAX as usize), shape, dtype: DType::F32 }
    }

    fn full(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }
}

impl LoadReport {
    /// Whether every parameter was found in its expected shape.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.missing.is_empty() && self.mismatched.is_empty()
    }
}

impl fmt::Display for LoadReport {
    /// The first faults and how many more there are.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MAX_LISTED: usize = 4;
        let mismatched = self.mismatched.iter().map(|m| format!("'{}' is {:?}, not {}", m.name, m.found, m.expected));
        let missing = self.missing.iter().map(|name| format!("'{name}' is missing"));
        let faults: Vec<String> = missing.chain(mismatched).collect();
        f.write_str(&faults[..faults.len().min(MAX_LISTED)].join(", "))?;
        if faults.len() > MAX_LISTED {
            write!(f, " and {} more", faults.len() - MAX_LISTED)?;
        }
        Ok(())
    }
}

#[derive(Default)]
struct State {
    declared: Vec<Declared>,
    places: HashMap<String, usize>,
    report: LoadReport,
}
