//! RRDBNet, the net of ESRGAN and Real-ESRGAN.
//!
//! [Wang et al. 2018](https://arxiv.org/abs/1809.00219), with nearest up-sampling and the pixel-unshuffled variants of
//! [Wang et al. 2021](https://arxiv.org/abs/2107.10833). A trunk of *residual-in-residual dense blocks* at low resolution,
//! then one doubling after the other, each followed by a convolution:
//!
//! ```text
//! first = conv_first(unshuffle(x))
//! h     = first + conv_body(body(first))
//! h     = lrelu(conv_up_k(nearest ×2 of h))          for k = 1 ..= n_doublings
//! y     = conv_last(lrelu(conv_hr(h)))
//! ```
//!
//! Every convolution is 3×3 with bias; `lrelu` has slope 0.2.

use super::geometry::{Geometry, radius_before_doubling};
use super::tensors::Tensors;
use crate::Fault;
use crate::engine::residency::ParamScope;
use crate::engine::{GraphBuilder, Value};
use crate::layers::Conv2d;

pub(super) const ARCHITECTURE: &str = "RRDBNet (ESRGAN)";

/// Slope of the leaky rectifier below zero.
pub(super) const SLOPE: f32 = 0.2;
/// Factor of a block's result before it is added to the block's input.
pub(super) const RESIDUAL_SCALE: f32 = 0.2;
/// Dense blocks in a residual-in-residual block.
pub(super) const N_DENSE_BLOCKS: usize = 3;
/// Convolutions in a dense block.
pub(super) const N_DENSE_CONVS: usize = 5;
/// ×8 is the largest factor of published nets.
const MAX_DOUBLINGS: u64 = 3;
const KERNEL: u64 = 3;

/// Widths and depths of an RRDBNet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RrdbnetConfig {
    /// Channels of the input image.
    pub in_channels: u64,
    /// Channels of the output image.
    pub out_channels: u64,
    /// Channels of the trunk.
    pub n_features: u64,
    /// Channels that each convolution of a dense block adds.
    pub growth: u64,
    /// Residual-in-residual dense blocks in the trunk.
    pub n_blocks: u64,
    /// How often the size is doubled after the trunk.
    pub n_doublings: u32,
    /// Side of the pixel blocks that are folded into channels before the trunk; 1 where that step is absent.
    pub unshuffle: u64,
}

impl RrdbnetConfig {
    pub(super) fn infer(tensors: Tensors<'_>) -> Result<Self, Fault> {
        let [n_features, unshuffled_channels, ..] = tensors.kernel("conv_first")?;
        let n_blocks = tensors.n_numbered("body.", 0, ".rdb1.conv1.weight")?;
        let [growth, ..] = tensors.kernel("body.0.rdb1.conv1")?;
        let n_doublings = tensors.n_numbered("conv_up", 1, ".weight")?;
        let [out_channels, ..] = tensors.kernel("conv_last")?;
        if n_doublings > MAX_DOUBLINGS {
            return Err(Fault::Unsupported { what: format!("it doubles the size {n_doublings} times") });
        }
        let unshuffle = unshuffle(unshuffled_channels, out_channels);
        let factor = 1 << n_doublings;
        if factor % unshuffle != 0 {
            let what = format!("it reduces the size by {unshuffle} and enlarges it by {factor} only");
            return Err(Fault::Unsupported { what });
        }
        Ok(Self {
            in_channels: unshuffled_channels / (unshuffle * unshuffle),
            out_channels,
            n_features,
            growth,
            n_blocks,
            n_doublings: n_doublings as u32,
            unshuffle,
        })
    }

    /// How the net's output relates to its input.
    #[must_use]
    pub fn geometry(&self) -> Geometry {
        // From the output to the input; each 3×3 convolution sees one pixel farther.
        let conv_last_and_hr = 2;
        let at_low_resolution =
            (0..self.n_doublings).fold(conv_last_and_hr, |radius, _| radius_before_doubling(radius + 1));
        let dense_convs = self.n_blocks * (N_DENSE_BLOCKS * N_DENSE_CONVS) as u64;
        let conv_first_and_body = 2;
        Geometry {
            scale: (1 << self.n_doublings) / self.unshuffle,
            in_channels: self.in_channels,
            out_channels: self.out_channels,
            cell_px: self.unshuffle,
            radius_cells: at_low_resolution + dense_convs + conv_first_and_body,
        }
    }
}

/// Real-ESRGAN's ×2 and ×1 nets fold blocks of 2×2 and 4×4 pixels into channels, which shows in the channels only.
fn unshuffle(in_channels: u64, out_channels: u64) -> u64 {
    [2, 4].into_iter().find(|side| out_channels.checked_mul(side * side) == Some(in_channels)).unwrap_or(1)
}

/// An RRDBNet whose parameters are declared.
#[derive(Clone, Debug)]
pub struct Rrdbnet {
    unshuffle: u64,
    conv_first: Conv2d,
    body: Vec<ResidualInResidual>,
    conv_body: Conv2d,
    conv_ups: Vec<Conv2d>,
    conv_hr: Conv2d,
    conv_last: Conv2d,
}

impl Rrdbnet {
    /// Declares the parameters.
    #[must_use]
    pub fn new(config: &RrdbnetConfig, scope: &ParamScope<'_>) -> Self {
        let &RrdbnetConfig { in_channels, out_channels, n_features: n, growth, unshuffle, .. } = config;
        let conv = |name: &str, channels| Conv2d::same(&scope.sub(name), channels, KERNEL);
        let body = scope.sub("body");
        Self {
            unshuffle,
            conv_first: conv("conv_first", [in_channels * unshuffle * unshuffle, n]),
            body: (0..config.n_blocks).map(|i| ResidualInResidual::new(&body.sub(i), n, growth)).collect(),
            conv_body: conv("conv_body", [n, n]),
            conv_ups: (1..=config.n_doublings).map(|k| conv(&format!("conv_up{k}"), [n, n])).collect(),
            conv_hr: conv("conv_hr", [n, n]),
            conv_last: conv("conv_last", [n, out_channels]),
        }
    }

    /// The upscaled `x`, with a cut after every block.
    #[track_caller]
    #[must_use]
    pub fn forward<'g>(&self, graph: &'g GraphBuilder, x: Value<'g>) -> Value<'g> {
        let x = if self.unshuffle == 1 { x } else { x.pixel_unshuffle(self.unshuffle) };
        let first = self.conv_first.forward(x);
        graph.cut("conv_first", first);
        let mut h = first;
        for (i, block) in self.body.iter().enumerate() {
            h = block.forward(h);
            graph.cut(format_args!("body.{i}"), h);
        }
        h = first + self.conv_body.forward(h);
        graph.cut("conv_body", h);
        for (i, conv) in self.conv_ups.iter().enumerate() {
            h = conv.forward(h.upsample_nearest(2)).leaky_relu(SLOPE);
            graph.cut(format_args!("conv_up{}", i + 1), h);
        }
        self.conv_last.forward(self.conv_hr.forward(h).leaky_relu(SLOPE))
    }
}

/// `x + 0.2 · dense₃(dense₂(dense₁(x)))`, `[N, n_features, H, W]` in and out.
#[derive(Clone, Debug)]
struct ResidualInResidual {
    dense: [DenseBlock; N_DENSE_BLOCKS],
}

impl ResidualInResidual {
    fn new(scope: &ParamScope<'_>, n_features: u64, growth: u64) -> Self {
        let dense = |i| DenseBlock::new(&scope.sub(format_args!("rdb{}", i + 1)), n_features, growth);
        Self { dense: std::array::from_fn(dense) }
    }

    fn forward<'g>(&self, x: Value<'g>) -> Value<'g> {
        let h = self.dense.iter().fold(x, |h, block| block.forward(h));
        h * RESIDUAL_SCALE + x
    }
}

/// `x + 0.2 · f₅`, where `fₖ = lrelu(convₖ([x, f₁, …, fₖ₋₁]))` adds `growth` channels each and `f₅`, without the
/// rectifier, has as many as `x`: `[N, n_features, H, W]` in and out.
#[derive(Clone, Debug)]
struct DenseBlock {
    convs: [Conv2d; N_DENSE_CONVS],
}

impl DenseBlock {
    fn new(scope: &ParamScope<'_>, n_features: u64, growth: u64) -> Self {
        let conv = |k: usize| {
            let output = if k + 1 < N_DENSE_CONVS { growth } else { n_features };
            let input = growth.saturating_mul(k as u64).saturating_add(n_features);
            Conv2d::same(&scope.sub(format_args!("conv{}", k + 1)), [input, output], KERNEL)
        };
        Self { convs: std::array::from_fn(conv) }
    }

    fn forward<'g>(&self, x: Value<'g>) -> Value<'g> {
        let [growing @ .., last] = &self.convs;
        let grow = |features: Value<'g>, conv: &Conv2d| features.concat(&[conv.forward(features).leaky_relu(SLOPE)], 1);
        last.forward(growing.iter().fold(x, grow)) * RESIDUAL_SCALE + x
    }
}
