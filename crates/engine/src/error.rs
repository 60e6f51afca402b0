//! What can go wrong when a graph is planned or run.

use crate::graph::GraphError;
use crate::{ggml, residency};

/// Why a graph could not be planned or run. After any of these the session can be used again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The graph could not be built.
    #[error("the model's graph is not valid")]
    Graph(#[from] GraphError),
    /// The weights could not be brought to their device.
    #[error(transparent)]
    Residency(#[from] residency::Error),
    /// The device cannot hold what the run needs.
    #[error("{device} cannot hold the {workspace_bytes} bytes of workspace that the run needs")]
    OutOfMemory {
        /// The device.
        device: String,
        /// The workspace's size.
        workspace_bytes: u64,
        /// The device's refusal.
        source: ggml::Error,
    },
    /// The device refused an operation or failed.
    #[error("{phase} failed on {device}")]
    Device {
        /// The device.
        device: String,
        /// What was being done.
        phase: Phase,
        /// Why.
        source: ggml::Error,
    },
    /// An input or output was not supplied, not asked for or of the wrong size.
    #[error("{what} '{name}' needs {expected} elements, not {found}")]
    Binding {
        /// `input` or `output`.
        what: &'static str,
        /// Its name.
        name: String,
        /// Elements in the graph; 0 where it has no such value.
        expected: u64,
        /// Elements supplied; 0 where it was not supplied.
        found: u64,
    },
    /// The run was stopped.
    #[error("the run was cancelled")]
    Cancelled,
}

/// The parts of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Starting the backend.
    Start,
    /// Turning the graph into the backend's operations.
    Lowering,
    /// Copying inputs to the device.
    Inputs,
    /// Computing.
    Compute,
    /// Copying outputs from the device.
    Outputs,
}

impl std::fmt::Display for Phase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Start => "starting the backend",
            Self::Lowering => "preparing the graph",
            Self::Inputs => "copying the inputs",
            Self::Compute => "computing",
            Self::Outputs => "copying the outputs",
        })
    }
}
