//! Image generation and upscaling with diffusion models, as a library.
//!
//! Three nouns: a [`Runtime`] knows the devices, an [`Upscaler`] is a loaded model, and a call takes an [`Image`] and a
//! request and returns the result. What is decided at loading and what is decided at each call are separate structs; both
//! start from their `Default`.
//!
//! - Images are buffers in memory; only loading takes a path. Nothing prints, and nothing touches the network.
//! - A call lends a closure that hears [`Event`]s and may end the call; a [`CancelToken`] ends it from another thread. After
//!   any error the upscaler can be used again.
//! - An [`Upscaler`] is `Send`, and calls take `&mut self`: share one between threads behind a lock, or load several. For
//!   asynchronous programs, run calls where blocking is allowed.
//! - With the feature `image`, [`Image`] converts from and to `image::DynamicImage`.
#![forbid(unsafe_code)]

mod error;
mod event;
mod image;
mod inspect;
#[cfg(feature = "image")]
mod interop;
mod runtime;
mod upscale;

pub use error::Error;
pub use event::{Event, Phase, ignore_events};
pub use image::{Channels, Image, Samples};
pub use inspect::{Architecture, ModelInfo, TensorSummary, inspect};
pub use runtime::Runtime;
pub use upscale::{
    DEFAULT_MEMORY_LIMIT_BYTES, Pass, TileSize, UpscalePlan, UpscaleRequest, Upscaled, Upscaler, UpscalerOptions,
};

pub use engine::CancelToken;
pub use ggml::{DType, Device, DeviceKind, DeviceMemory};
pub use loader::Format;

/// The layers below, for programs that run networks themselves.
pub use fresco_models as models;

use engine::{ggml, loader, residency};
use models::engine;
