//! The graph of a forward pass, as data.
//!
//! A model's forward writes its graph through a [`GraphBuilder`]; the result is plain data that planning, lowering and
//! tests read. Building needs no backend and allocates no tensor. Two graphs are equal when they compute the same from
//! the same inputs and parameters, so a graph is its own signature.

mod builder;
mod dump;
mod infer;
mod op;

use std::panic::Location;

pub use builder::{GraphBuilder, Value};
pub use op::{BinaryOp, Conv2d, Op, Scalar, UnaryOp};

use crate::residency::ParamId;
use crate::{DType, Shape};

/// A finished graph: values in the order they came to be, and what was done to get them.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Graph {
    /// Every value, operands before results.
    pub values: Vec<ValueInfo>,
    /// What each run supplies: name and value.
    pub inputs: Vec<(String, ValueId)>,
    /// What each run returns: name and value.
    pub outputs: Vec<(String, ValueId)>,
    /// Where the graph may be split into segments, in the order they were marked.
    pub cuts: Vec<Cut>,
}

/// The place of a value in [`Graph::values`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub(crate) u32);

impl ValueId {
    /// The place as an index.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Shape and element type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kind {
    /// The shape, in PyTorch order.
    pub shape: Shape,
    /// The element type. Activations are f32; parameters have the type they are stored in.
    pub dtype: DType,
}

/// One value: what it looks like and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ValueInfo {
    /// Shape and type.
    pub kind: Kind,
    /// Where it comes from.
    pub origin: Origin,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// Supplied with each run, under the name listed in [`Graph::inputs`].
    Input,
    /// A weight that residency keeps.
    Param(ParamId),
    /// The result of an operation on earlier values.
    Op(Op, Vec<ValueId>),
}

/// A mark where the graph may be split: the first value of a group opens a segment, later ones join its outputs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cut {
    /// The group, such as `body.3`.
    pub group: String,
    /// The value that crosses the border.
    pub value: ValueId,
}

impl Graph {
    /// What is known of a value.
    #[must_use]
    pub fn value(&self, id: ValueId) -> &ValueInfo {
        &self.values[id.index()]
    }

    /// The parameters that the graph reads, each once, in order of first use.
    #[must_use]
    pub fn params(&self) -> Vec<ParamId> {
        let param = |value: &ValueInfo| match value.origin {
            Origin::Param(id) => Some(id),
            _ => None,
        };
        self.values.iter().filter_map(param).collect()
    }

    /// Multiplications and additions of all convolutions: the work that dominates image models.
    #[must_use]
    pub fn n_flops(&self) -> u64 {
        let flops = |value: &ValueInfo| match &value.origin {
            Origin::Op(Op::Conv2d(_), operands) => {
                let n_taps: u64 = self.value(operands[1]).kind.shape.dims()[1..].iter().product();
                value.kind.shape.checked_n_elements().unwrap_or(u64::MAX).saturating_mul(2 * n_taps)
            }
            _ => 0,
        };
        self.values.iter().map(flops).sum()
    }
}

/// Why a graph cannot be built.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// An operation got operands that it cannot work on.
    #[error("{op} of {}: {reason} (at {location})", operand_list(operands))]
    Operands {
        /// The operation.
        op: String,
        /// Shape and type of each operand.
        operands: Vec<Kind>,
        /// What is wrong.
        reason: String,
        /// The line that asked for it.
        location: &'static Location<'static>,
    },
    /// An input or output name was used twice.
    #[error("{what} '{name}' is declared twice (at {location})")]
    DuplicateName {
        /// `input` or `output`.
        what: &'static str,
        /// The name.
        name: String,
        /// The line that asked for it.
        location: &'static Location<'static>,
    },
    /// The graph yields nothing.
    #[error("the graph has no output")]
    NoOutput,
}

fn operand_list(operands: &[Kind]) -> String {
    let kind = |operand: &Kind| format!("{} {}", operand.dtype.name(), operand.shape);
    operands.iter().map(kind).collect::<Vec<_>>().join(", ")
}
