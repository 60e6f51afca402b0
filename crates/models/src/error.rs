//! Why a source is not taken for a model.

use std::fmt;
use std::path::PathBuf;

use crate::engine::loader;

/// Why no model could be made of a source.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The source is none of the models that are known.
    #[error("{} is no upscaler that is known here: {}", path.display(), list(candidates))]
    UnknownArchitecture {
        /// The model file.
        path: PathBuf,
        /// What it was compared with, and what speaks against each.
        candidates: Vec<Candidate>,
    },
    /// The source is a model of an architecture that is known by name only.
    #[error("{} is a {architecture} model: that architecture is not supported, {supported} are", path.display())]
    UnsupportedArchitecture {
        /// The model file.
        path: PathBuf,
        /// What it is.
        architecture: &'static str,
        /// What could be used instead.
        supported: String,
    },
    /// The source is a model of a known architecture, but differs from its definition.
    #[error("{} looks like {architecture}, but {fault}", path.display())]
    Rejected {
        /// The model file.
        path: PathBuf,
        /// What it looks like.
        architecture: &'static str,
        /// The first difference.
        fault: Fault,
    },
    /// Tensors could not be given their canonical names.
    #[error(transparent)]
    Source(#[from] loader::Error),
}

/// An architecture that a source was compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The architecture, with the spelling of its tensors' names where there are several.
    pub architecture: &'static str,
    /// What speaks against it.
    pub fault: Fault,
}

/// A difference between a source and a model's definition. Tensors have the names of the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// A tensor is not there.
    #[error("it has no tensor '{name}'")]
    Missing {
        /// The tensor.
        name: String,
    },
    /// A tensor has a shape that the model cannot have.
    #[error("its tensor '{name}' has shape {found:?}, not {expected}")]
    Mismatched {
        /// The tensor.
        name: String,
        /// What the model needs.
        expected: String,
        /// The shape in the file.
        found: Vec<u64>,
    },
    /// A tensor has no place in the model: it belongs to a variant that computes something else.
    #[error("its tensor '{name}' has no place there: it is another variant, which is not supported")]
    Unexpected {
        /// The tensor.
        name: String,
    },
    /// The configuration is consistent but of no use.
    #[error("{what}, which is not supported")]
    Unsupported {
        /// What is not supported.
        what: String,
    },
    /// A layer of an ncnn model is not what the architecture has in that place.
    #[error("its layer '{layer}' (line {line} of the .param file) is {found} where the architecture has {expected}")]
    Layer {
        /// The layer's name.
        layer: String,
        /// Its line in the `.param` file.
        line: usize,
        /// What stands there.
        found: String,
        /// What belongs there.
        expected: String,
    },
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not {}, as {}", self.architecture, self.fault)
    }
}

fn list(candidates: &[Candidate]) -> String {
    candidates.iter().map(Candidate::to_string).collect::<Vec<_>>().join("; ")
}
