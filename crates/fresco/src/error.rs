//! What can go wrong, as the caller can act on it.

use crate::image::Channels;
use crate::{engine, ggml, loader, models, residency};

/// Why a call failed. After any of these, what the call was made on can be used again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A model's file cannot be read, or is none.
    #[error(transparent)]
    Load(Box<loader::Error>),
    /// A model's file can be read, but holds no model that the call can use.
    #[error(transparent)]
    UnsupportedModel(Box<models::Error>),
    /// An option has a value that it cannot have.
    #[error("{option} cannot be {value}: {reason}")]
    Request {
        /// The option.
        option: &'static str,
        /// Its value.
        value: String,
        /// Why not, and what it can be.
        reason: String,
    },
    /// A picture's values do not fit its size.
    #[error(
        "a picture of {width_px}x{height_px} pixels with {} values each cannot have {n_samples} values in all; \
         sides must be at least 1",
        channels.count()
    )]
    Image {
        /// Width in pixels.
        width_px: u32,
        /// Height in pixels.
        height_px: u32,
        /// What the values of a pixel are.
        channels: Channels,
        /// How many values there are.
        n_samples: usize,
    },
    /// Something does not fit into memory.
    #[error("{what} needs {wanted_bytes} bytes of memory{}; {advice}", available(*available_bytes))]
    OutOfMemory {
        /// What does not fit.
        what: String,
        /// Bytes it needs.
        wanted_bytes: u64,
        /// Bytes there are, where that is known.
        available_bytes: Option<u64>,
        /// What to do.
        advice: &'static str,
        /// The refusal of the device, where it came to that.
        source: Option<Box<engine::Error>>,
    },
    /// A device is unknown, or cannot be used.
    #[error(transparent)]
    Device(Box<ggml::Error>),
    /// Computing failed.
    #[error(transparent)]
    Compute(Box<engine::Error>),
    /// The call was cancelled, by its events' closure or by a token.
    #[error("cancelled")]
    Cancelled,
}

fn available(bytes: Option<u64>) -> String {
    bytes.map_or_else(String::new, |bytes| format!(", {bytes} are available"))
}

impl From<loader::Error> for Error {
    fn from(error: loader::Error) -> Self {
        Self::Load(Box::new(error))
    }
}

impl From<models::Error> for Error {
    fn from(error: models::Error) -> Self {
        match error {
            models::Error::Source(source) => source.into(),
            other => Self::UnsupportedModel(Box::new(other)),
        }
    }
}

impl From<ggml::Error> for Error {
    fn from(error: ggml::Error) -> Self {
        Self::Device(Box::new(error))
    }
}

impl From<residency::Error> for Error {
    fn from(error: residency::Error) -> Self {
        engine::Error::from(error).into()
    }
}

impl From<engine::Error> for Error {
    fn from(error: engine::Error) -> Self {
        match error {
            engine::Error::Cancelled | engine::Error::Residency(residency::Error::Cancelled) => Self::Cancelled,
            engine::Error::Residency(residency::Error::Read { source, .. }) => source.into(),
            engine::Error::OutOfMemory { ref device, workspace_bytes, .. } => Self::OutOfMemory {
                what: format!("computing on {device}"),
                wanted_bytes: workspace_bytes,
                available_bytes: None,
                advice: "use smaller tiles",
                source: Some(Box::new(error)),
            },
            other => Self::Compute(Box::new(other)),
        }
    }
}
