//! What a caller decides when it loads an upscaler and when it upscales, and what it gets.

use std::num::NonZero;
use std::ops::Range;
use std::thread::available_parallelism;
use std::time::Duration;

use super::tiles::Tiling;
use crate::engine::CancelToken;
use crate::error::Error;
use crate::ggml::{DType, Device};
use crate::image::Image;

/// The memory that the values of one tile take at most, unless [`memory_limit_bytes`](field@UpscalerOptions::memory_limit_bytes) says otherwise.
pub const DEFAULT_MEMORY_LIMIT_BYTES: u64 = 512 << 20;

/// How an upscaler is loaded.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct UpscalerOptions {
    /// The device that computes, as [`Runtime::device`](crate::Runtime::device) takes it; `auto` by default.
    pub device: String,
    /// Threads, where the device computes on the host; by default as many as the process may use.
    pub n_threads: Option<usize>,
    /// The type to keep the weights in, from `f32` to `q4_0`; by default that of the file. Weights whose rows such a type
    /// cannot divide into its blocks take `f16`.
    pub weight_type: Option<DType>,
    /// Bytes that the values of one tile may take on the device, beside weights, image and result. By default
    /// [`DEFAULT_MEMORY_LIMIT_BYTES`], or half of what is free where that is less. [`TileSize::Auto`] keeps to it.
    pub memory_limit_bytes: Option<u64>,
}

impl Default for UpscalerOptions {
    fn default() -> Self {
        Self { device: "auto".into(), n_threads: None, weight_type: None, memory_limit_bytes: None }
    }
}

impl UpscalerOptions {
    pub(super) fn check(&self) -> Result<(), Error> {
        match self.weight_type {
            Some(dtype) if !is_weight_type(dtype) => Err(Error::Request {
                option: "the weight type",
                value: dtype.name().into(),
                reason: format!("weights can be {}", weight_types().join(", ")),
            }),
            _ => Ok(()),
        }
    }

    pub(super) fn n_threads(&self) -> usize {
        self.n_threads.unwrap_or_else(|| available_parallelism().map_or(1, NonZero::get))
    }

    pub(super) fn memory_limit_bytes(&self, device: &Device) -> u64 {
        self.memory_limit_bytes.unwrap_or_else(|| DEFAULT_MEMORY_LIMIT_BYTES.min(device.memory().free_bytes / 2))
    }
}

/// Whether weights can be converted to that type and computed with.
fn is_weight_type(dtype: DType) -> bool {
    matches!(dtype, DType::F32 | DType::F16 | DType::BF16) || (dtype.is_quantized() && dtype.can_quantize())
}

/// The names of the types that weights can have.
fn weight_types() -> Vec<&'static str> {
    DType::ALL.iter().copied().filter(|&dtype| is_weight_type(dtype)).map(DType::name).collect()
}

/// How an image is upscaled.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct UpscaleRequest {
    /// The size of the tiles.
    pub tile: TileSize,
    /// How many pixels neighbouring tiles share at least, up to half a tile. By default twice what the net sees around a
    /// pixel, and for nets that see far less than that.
    pub overlap_px: Option<u32>,
    /// How many times the image goes through the net: each makes it `scale` times larger. At least 1.
    pub n_repeats: u32,
    /// Cancels the call from elsewhere. A clone of the request shares it.
    pub cancel: CancelToken,
}

impl Default for UpscaleRequest {
    fn default() -> Self {
        Self { tile: TileSize::Auto, overlap_px: None, n_repeats: 1, cancel: CancelToken::new() }
    }
}

impl UpscaleRequest {
    pub(super) fn check(&self) -> Result<(), Error> {
        let request = |option, reason: &str| Error::Request { option, value: "0".into(), reason: reason.into() };
        if self.n_repeats == 0 {
            return Err(request("the number of repeats", "an image goes through the net at least once"));
        }
        if self.tile == TileSize::Px(0) {
            return Err(request("the tile size", "a tile has at least one pixel"));
        }
        Ok(())
    }
}

/// The size of tiles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TileSize {
    /// As large as the upscaler's memory limit allows.
    #[default]
    Auto,
    /// The whole image at once.
    Untiled,
    /// At most so many pixels on a side; less where that takes no more tiles. Rounded to what the net takes.
    Px(u32),
}

/// What upscaling an image comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UpscalePlan {
    /// Each time that the image goes through the net.
    pub passes: Vec<Pass>,
    /// The channels that each pass runs over the image for, together: its colours, then alpha.
    pub(super) groups: Vec<Range<usize>>,
    /// Whether alpha is copied.
    pub(super) has_constant_alpha: bool,
}

/// One time through the net.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pass {
    /// Width and height before.
    pub input_px: [u32; 2],
    /// Width and height after.
    pub output_px: [u32; 2],
    pub(super) tiling: Tiling,
}

impl UpscalePlan {
    /// Width and height of the result.
    #[must_use]
    pub fn output_px(&self) -> [u32; 2] {
        self.passes.last().map_or([0, 0], |pass| pass.output_px)
    }

    /// How many tiles run through the net, of colour and alpha, in all passes.
    #[must_use]
    pub fn n_tiles(&self) -> u64 {
        self.passes.iter().map(|pass| pass.tiling.n_tiles() * self.groups.len() as u64).sum()
    }
}

impl Pass {
    /// Width and height of every tile.
    #[must_use]
    pub fn tile_px(&self) -> [u32; 2] {
        self.tiling.tile_px()
    }

    /// How many tiles the image has.
    #[must_use]
    pub fn n_tiles(&self) -> u64 {
        self.tiling.n_tiles()
    }

    /// Bytes on the device that the values of one tile take.
    #[must_use]
    pub fn workspace_bytes(&self) -> u64 {
        self.tiling.workspace_bytes
    }
}

/// An upscaled image.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Upscaled {
    /// The image.
    pub image: Image,
    /// How it came about.
    pub plan: UpscalePlan,
    /// How long the call took.
    pub elapsed: Duration,
}
