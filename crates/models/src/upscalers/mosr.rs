//! MoSR, a gated convolution net ("Mamba Out Super-Resolution").
//!
//! Published as code by its author, umzi, in 2024 and frozen there; trained with neosr. Its block follows
//! [MambaOut](https://arxiv.org/abs/2405.07992) with 3×3 convolutions instead of linear layers:
//!
//! ```text
//! h = tail(blocks(conv_first(x))) + (shortcut(x) − 0.5)
//! y = upsampler(h)
//! ```
//!
//! - `tail`: two 3×3 convolutions, each followed by Mish, then a 1×1 convolution;
//! - `shortcut`: two 3×3 convolutions, each followed by Mish, plus a 1×1 convolution of `x`;
//! - `upsampler`: a 3×3 convolution and a pixel shuffle. The *ensemble* makes eight times the channels and averages.
//!
//! The third published up-sampler, DySample, reads the image at places that it computes; it is not supported.

use super::geometry::Geometry;
use super::tensors::Tensors;
use crate::Fault;
use crate::engine::residency::ParamScope;
use crate::engine::{GraphBuilder, Value};
use crate::layers::{ChannelNorm, Conv2d};

pub(super) const ARCHITECTURE: &str = "MoSR";

/// Far beyond what a single shuffle can make good use of.
const MAX_SCALE: u64 = 16;
/// Parts that the ensemble averages.
const N_ENSEMBLE: u64 = 8;
/// What is taken from each shortcut: the middle of the pixels' values.
const SHORTCUT_SHIFT: f32 = -0.5;
const NORM_EPSILON: f32 = 1e-6;
const KERNEL: u64 = 3;

/// Widths and depths of a MoSR.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MosrConfig {
    /// Channels of the image, before and after.
    pub n_channels: u64,
    /// Channels between the blocks.
    pub n_features: u64,
    /// Channels of a block's gate, and of what it opens and closes.
    pub n_hidden: u64,
    /// How many of the hidden channels, the last ones, pass the depthwise convolution.
    pub n_mixed: u64,
    /// The side of the depthwise convolution's kernel; odd.
    pub kernel: u64,
    /// Gated blocks.
    pub n_blocks: u64,
    /// How features become pixels.
    pub upsampler: MosrUpsampler,
    /// The factor of the net.
    pub scale: u64,
}

/// How a MoSR turns features into pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MosrUpsampler {
    /// A convolution and a pixel shuffle (`ps`).
    Shuffle,
    /// The mean of eight convolutions, and a pixel shuffle (`gps`).
    Ensemble,
}

impl MosrUpsampler {
    /// The module of the convolution, and how many times the pixels' channels it makes.
    fn conv(self) -> (&'static str, u64) {
        match self {
            Self::Shuffle => ("upsampler.0", 1),
            Self::Ensemble => ("upsampler.in_to_k", N_ENSEMBLE),
        }
    }
}

impl MosrConfig {
    pub(super) fn infer(tensors: Tensors<'_>) -> Result<Self, Fault> {
        let [n_features, n_channels, ..] = tensors.kernel("gblocks.0")?;
        let n_blocks = tensors.n_numbered("gblocks.", 1, ".fc1.weight")?;
        let [n_doubled, ..] = tensors.kernel("gblocks.1.fc1")?;
        let [n_mixed, _, kernel, _] = tensors.kernel("gblocks.1.conv")?;
        let n_hidden = n_doubled / 2;
        if n_doubled % 2 != 0 {
            return Err(tensors.mismatch("gblocks.1.fc1.weight", "[an even number, …]"));
        }
        if n_mixed > n_hidden || kernel % 2 == 0 {
            let expected = format!("[at most {n_hidden}, 1, odd, odd]");
            return Err(tensors.mismatch("gblocks.1.conv.weight", expected));
        }
        let upsampler = match (tensors.has("upsampler.offset"), tensors.has("upsampler.in_to_k")) {
            (true, _) => return Err(Fault::Unsupported { what: "it ends in the up-sampler DySample".into() }),
            (_, true) => MosrUpsampler::Ensemble,
            _ => MosrUpsampler::Shuffle,
        };
        let (module, n_parts) = upsampler.conv();
        let [n_shuffled, ..] = tensors.kernel(module)?;
        let scale = (n_shuffled / n_parts / n_channels).isqrt();
        if !(1..=MAX_SCALE).contains(&scale) || n_channels.checked_mul(scale * scale * n_parts) != Some(n_shuffled) {
            let parts = if n_parts == 1 { String::new() } else { format!("{n_parts} · ") };
            let expected = format!("[{parts}{n_channels} · scale², {n_features}, {KERNEL}, {KERNEL}]");
            return Err(tensors.mismatch(&format!("{module}.weight"), expected));
        }
        Ok(Self { n_channels, n_features, n_hidden, n_mixed, kernel, n_blocks, upsampler, scale })
    }

    /// How the net's output relates to its input.
    #[must_use]
    pub fn geometry(&self) -> Geometry {
        let block = 1 + self.kernel / 2 + 1;
        let conv_first_and_tail = 3;
        let upsampler = 1;
        Geometry {
            scale: self.scale,
            in_channels: self.n_channels,
            out_channels: self.n_channels,
            cell_px: 1,
            radius_cells: conv_first_and_tail + self.n_blocks * block + upsampler,
        }
    }
}

/// A MoSR whose parameters are declared.
#[derive(Clone, Debug)]
pub struct Mosr {
    conv_first: Conv2d,
    blocks: Vec<GatedBlock>,
    tail: [Conv2d; 3],
    shortcut: [Conv2d; 2],
    shortcut_1x1: Conv2d,
    upsampler: Conv2d,
    n_parts: u64,
    n_shuffled: u64,
    scale: u64,
}

impl Mosr {
    /// Declares the parameters.
    #[must_use]
    pub fn new(config: &MosrConfig, scope: &ParamScope<'_>) -> Self {
        let &MosrConfig { n_channels, n_features: n, n_blocks, upsampler, scale, .. } = config;
        let conv = |name: &str, channels, kernel| Conv2d::same(&scope.sub(name), channels, kernel);
        let (upsampler, n_parts) = upsampler.conv();
        let n_shuffled = n_channels * scale * scale;
        // The sequence holds the first convolution, the blocks and the tail; a Mish takes a number too.
        let sequence = scope.sub("gblocks");
        let tail = |i: u64, channels, kernel| Conv2d::same(&sequence.sub(n_blocks + i), channels, kernel);
        Self {
            conv_first: Conv2d::same(&sequence.sub(0), [n_channels, n], KERNEL),
            blocks: (1..=n_blocks).map(|i| GatedBlock::new(config, &sequence.sub(i))).collect(),
            tail: [tail(1, [n, 2 * n], KERNEL), tail(3, [2 * n, n], KERNEL), tail(5, [n, n], 1)],
            shortcut: [conv("shortcut.block.0", [n_channels, n], KERNEL), conv("shortcut.block.2", [n, n], KERNEL)],
            shortcut_1x1: conv("shortcut.conv11", [n_channels, n], 1),
            upsampler: conv(upsampler, [n, n_parts * n_shuffled], KERNEL),
            n_parts,
            n_shuffled,
            scale,
        }
    }

    /// The upscaled `x`, with a cut after every block.
    #[track_caller]
    #[must_use]
    pub fn forward<'g>(&self, graph: &'g GraphBuilder, x: Value<'g>) -> Value<'g> {
        let [shortcut_first, shortcut_second] = &self.shortcut;
        let shortcut = shortcut_second.forward(shortcut_first.forward(x).mish()).mish() + self.shortcut_1x1.forward(x);
        graph.cut("conv_first", shortcut);
        let mut h = self.conv_first.forward(x);
        graph.cut("conv_first", h);
        for (i, block) in self.blocks.iter().enumerate() {
            h = block.forward(h);
            graph.cut(format_args!("blocks.{i}"), h);
        }
        let [widen, narrow, mix] = &self.tail;
        let h = mix.forward(narrow.forward(widen.forward(h).mish()).mish()) + (shortcut + SHORTCUT_SHIFT);
        graph.cut("tail", h);
        let parts = self.upsampler.forward(h);
        let part = |i| parts.slice(1, i * self.n_shuffled, self.n_shuffled);
        let mean = match self.n_parts {
            1 => parts,
            n => (1..n).fold(part(0), |sum, i| sum + part(i)) * (1.0 / n as f32),
        };
        mean.pixel_shuffle(self.scale)
    }
}

/// `y = mish(fc2(mish(gate) · [kept, conv(mixed)])) + (x − 0.5)` where `[gate, kept, mixed] = fc1(norm(x))`,
/// `[N, n_features, H, W]` in and out. `fc1` and `fc2` are 3×3 convolutions, `conv` a depthwise one.
#[derive(Clone, Debug)]
struct GatedBlock {
    norm: ChannelNorm,
    fc1: Conv2d,
    conv: Conv2d,
    fc2: Conv2d,
    n_hidden: u64,
    n_mixed: u64,
}

impl GatedBlock {
    fn new(config: &MosrConfig, scope: &ParamScope<'_>) -> Self {
        let &MosrConfig { n_features, n_hidden, n_mixed, kernel, .. } = config;
        Self {
            norm: ChannelNorm::new(&scope.sub("norm"), n_features, NORM_EPSILON),
            fc1: Conv2d::same(&scope.sub("fc1"), [n_features, 2 * n_hidden], KERNEL),
            conv: Conv2d::depthwise(&scope.sub("conv"), n_mixed, kernel),
            fc2: Conv2d::same(&scope.sub("fc2"), [n_hidden, n_features], KERNEL),
            n_hidden,
            n_mixed,
        }
    }

    fn forward<'g>(&self, x: Value<'g>) -> Value<'g> {
        let both = self.fc1.forward(self.norm.forward(x));
        let n_kept = self.n_hidden - self.n_mixed;
        let gate = both.slice(1, 0, self.n_hidden).mish();
        let mixed = self.conv.forward(both.slice(1, self.n_hidden + n_kept, self.n_mixed));
        let open = match n_kept {
            0 => mixed,
            _ => both.slice(1, self.n_hidden, n_kept).concat(&[mixed], 1),
        };
        self.fc2.forward(gate * open).mish() + (x + SHORTCUT_SHIFT)
    }
}
