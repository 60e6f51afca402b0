//! SRVGGNetCompact, the small nets of Real-ESRGAN for general images and animated video.
//!
//! [Wang et al. 2021](https://arxiv.org/abs/2107.10833) and its published code. A stack of 3×3 convolutions at low
//! resolution, each but the last followed by a PReLU, then a pixel shuffle; the net learns what differs from repeating each
//! pixel:
//!
//! ```text
//! y = pixel_shuffle(stack(x)) + nearest up-sampling of x
//! ```
//!
//! The published ×2 and ×3 nets for video are the ×4 net, followed by a bicubic reduction.

use super::geometry::Geometry;
use super::ncnn::SrvggTail;
use super::tensors::Tensors;
use crate::Fault;
use crate::engine::residency::ParamScope;
use crate::engine::{GraphBuilder, Value};
use crate::layers::{Conv2d, Prelu};

pub(super) const ARCHITECTURE: &str = "SRVGGNetCompact";

/// Far beyond what a single shuffle can make good use of.
const MAX_SHUFFLE: u64 = 16;
const KERNEL: u64 = 3;

/// Width, depth and scale of an SRVGGNetCompact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SrvggConfig {
    /// Channels of the image, before and after.
    pub n_channels: u64,
    /// Channels of the stack.
    pub n_features: u64,
    /// Pairs of convolution and PReLU in the stack.
    pub n_pairs: u64,
    /// The factor of the pixel shuffle.
    pub shuffle: u64,
    /// The factor of the net: that of the shuffle, or a smaller one that a bicubic reduction brings about.
    pub scale: u64,
}

impl SrvggConfig {
    /// Infers the configuration; `factors` are those of an ncnn model's wiring.
    pub(super) fn infer(tensors: Tensors<'_>, factors: Option<SrvggTail>) -> Result<Self, Fault> {
        let [n_features, n_channels, ..] = tensors.kernel("body.0")?;
        let n_modules = tensors.n_numbered("body.", 0, ".weight")?;
        if n_modules < 3 || n_modules.is_multiple_of(2) {
            // Convolutions and slopes take turns, and a convolution is the last.
            return Err(Fault::Missing { name: format!("body.{n_modules}.weight") });
        }
        let last = format!("body.{}", n_modules - 1);
        let [out_channels, ..] = tensors.kernel(&last)?;
        let shuffle = (out_channels / n_channels).isqrt();
        let SrvggTail { shuffle: wired, scale } = factors.unwrap_or(SrvggTail { shuffle, scale: shuffle });
        let fits = n_channels.checked_mul(shuffle * shuffle) == Some(out_channels) && shuffle == wired;
        if !fits || !(1..=MAX_SHUFFLE).contains(&shuffle) {
            let factor = factors.map_or_else(|| "scale".to_owned(), |factors| factors.shuffle.to_string());
            let expected = format!("[{n_channels} · {factor}², {n_features}, {KERNEL}, {KERNEL}]");
            return Err(tensors.mismatch(&format!("{last}.weight"), expected));
        }
        Ok(Self { n_channels, n_features, n_pairs: n_modules / 2, shuffle, scale })
    }

    /// How the net's output relates to its input.
    #[must_use]
    pub fn geometry(&self) -> Geometry {
        let convs = self.n_pairs + 1;
        // The reduction reads up to two shuffled pixels beyond the output pixel's own place, which end in the next cell.
        let reduction = u64::from(self.scale != self.shuffle);
        Geometry {
            scale: self.scale,
            in_channels: self.n_channels,
            out_channels: self.n_channels,
            cell_px: 1,
            radius_cells: convs + reduction,
        }
    }
}

/// An SRVGGNetCompact whose parameters are declared.
#[derive(Clone, Debug)]
pub struct Srvgg {
    pairs: Vec<(Conv2d, Prelu)>,
    last: Conv2d,
    shuffle: u64,
    scale: u64,
}

impl Srvgg {
    /// Declares the parameters.
    #[must_use]
    pub fn new(config: &SrvggConfig, scope: &ParamScope<'_>) -> Self {
        let &SrvggConfig { n_channels, n_features, n_pairs, shuffle, scale } = config;
        let body = scope.sub("body");
        let conv = |i: u64, channels| Conv2d::same(&body.sub(i), channels, KERNEL);
        let pair = |i: u64| {
            let input = if i == 0 { n_channels } else { n_features };
            (conv(2 * i, [input, n_features]), Prelu::new(&body.sub(2 * i + 1), n_features))
        };
        Self {
            pairs: (0..n_pairs).map(pair).collect(),
            last: conv(2 * n_pairs, [n_features, n_channels * shuffle * shuffle]),
            shuffle,
            scale,
        }
    }

    /// The upscaled `x`, with a cut after every pair.
    #[track_caller]
    #[must_use]
    pub fn forward<'g>(&self, graph: &'g GraphBuilder, x: Value<'g>) -> Value<'g> {
        let mut h = x;
        for (i, (conv, prelu)) in self.pairs.iter().enumerate() {
            h = prelu.forward(conv.forward(h));
            graph.cut(format_args!("body.{i}"), h);
        }
        let y = self.last.forward(h).pixel_shuffle(self.shuffle) + x.upsample_nearest(self.shuffle);
        if self.scale == self.shuffle {
            return y;
        }
        let [.., height, width] = y.shape().to_array::<4>().unwrap_or_default();
        let reduced = |length: u64| length / self.shuffle * self.scale;
        y.interpolate_bicubic([reduced(height), reduced(width)])
    }
}
