//! Reading a net's configuration off the shapes of its tensors.

use std::collections::BTreeSet;

use crate::Fault;
use crate::engine::loader::Catalogue;

/// The most modules of one kind: many times what published nets have, and few enough that declaring them takes no memory to
/// speak of, whatever a file claims.
const MAX_MODULES: usize = 1024;

/// A catalogue with canonical names, seen as the tensors of a net.
#[derive(Clone, Copy)]
pub(super) struct Tensors<'c>(pub(super) &'c Catalogue);

impl Tensors<'_> {
    /// The shape `[out, in / groups, KH, KW]` of a convolution's weight. No length is 0.
    pub(super) fn kernel(self, module: &str) -> Result<[u64; 4], Fault> {
        let name = format!("{module}.weight");
        let Some(tensor) = self.0.get(&name) else { return Err(Fault::Missing { name }) };
        match <[u64; 4]>::try_from(tensor.shape.as_slice()) {
            Ok(shape) if !shape.contains(&0) => Ok(shape),
            _ => Err(self.mismatch(&name, "a convolution's [out, in, height, width]")),
        }
    }

    /// Whether the module has any tensor.
    pub(super) fn has(self, module: &str) -> bool {
        ["weight", "bias"].iter().any(|leaf| self.0.contains(&format!("{module}.{leaf}")))
    }

    /// The number of modules `<prefix><i>` with `i` counting up from `first`, among tensors with names as deep as
    /// `<prefix><i><probe>`. Where a number is left out, that tensor is what is missing.
    pub(super) fn n_numbered(self, prefix: &str, first: u64, probe: &str) -> Result<u64, Fault> {
        let depth = probe.matches('.').count();
        let number = |name: &str| {
            let (number, rest) = name.strip_prefix(prefix)?.split_once('.')?;
            if rest.matches('.').count() + 1 == depth { number.parse::<u64>().ok() } else { None }
        };
        let numbers: BTreeSet<u64> = self.0.names().filter_map(number).collect();
        match (first..).zip(&numbers).find(|(expected, found)| expected != *found) {
            None if numbers.len() > MAX_MODULES => {
                let what = format!("it has {} modules '{prefix}…', more than {MAX_MODULES}", numbers.len());
                Err(Fault::Unsupported { what })
            }
            None => Ok(numbers.len() as u64),
            Some((expected, _)) => Err(Fault::Missing { name: format!("{prefix}{expected}{probe}") }),
        }
    }

    /// The fault of a tensor that has another shape than `expected`.
    pub(super) fn mismatch(self, name: &str, expected: impl Into<String>) -> Fault {
        let found = self.0.get(name).map(|tensor| tensor.shape.clone()).unwrap_or_default();
        Fault::Mismatched { name: name.to_owned(), expected: expected.into(), found }
    }
}
