//! The operations of the graph, as data.

use std::fmt;
use std::hash::{Hash, Hasher};

/// One operation. Operands are listed in the node, in the order each variant states.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// `a ∘ b`, element by element; `b` is repeated along dimensions where it has length 1.
    Binary(BinaryOp),
    /// `f(x)`, element by element.
    Unary(UnaryOp),
    /// `factor · x`.
    Scale {
        /// The constant factor.
        factor: Scalar,
    },
    /// `x + term`.
    Shift {
        /// The constant term.
        term: Scalar,
    },
    /// The channels of each pixel to mean 0 and variance 1, `(x − mean) / √(variance + epsilon)`, then times a weight and
    /// plus a bias for each channel: operands `x [N, C, H, W]`, `weight [C]`, `bias [C]`.
    NormChannels {
        /// What keeps the root away from 0.
        epsilon: Scalar,
    },
    /// `max(x, 0) + slope · min(x, 0)` with one slope a channel: operands `x [N, C, H, W]`, `slope [C]`.
    Prelu,
    /// A two-dimensional convolution: operands `x [N, C, H, W]`, `weight [O, C / groups, KH, KW]` and perhaps `bias [O]`.
    Conv2d(Conv2d),
    /// Operands joined along `dim`, in order.
    Concat {
        /// The dimension that grows.
        dim: usize,
    },
    /// Elements `start .. start + len` of dimension `dim`.
    Slice {
        /// The dimension that shrinks.
        dim: usize,
        /// The first element kept.
        start: u64,
        /// How many elements are kept.
        len: u64,
    },
    /// `[N, C, H, W]` to `[N, C, H · factor, W · factor]`, each pixel repeated.
    UpsampleNearest {
        /// The factor of both sides.
        factor: u64,
    },
    /// `[N, C, H, W]` to `[N, C, height, width]`, bicubic with a = −0.75, half-pixel centres and no antialiasing.
    InterpolateBicubic {
        /// The result's height.
        height: u64,
        /// The result's width.
        width: u64,
    },
    /// `[N, C · r², H, W]` to `[N, C, H · r, W · r]`; channel `c·r² + i·r + j` becomes pixel `(i, j)` of each block.
    PixelShuffle {
        /// The block's side.
        factor: u64,
    },
    /// The inverse of [`Op::PixelShuffle`].
    PixelUnshuffle {
        /// The block's side.
        factor: u64,
    },
}

/// An operation of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `a + b`
    Add,
    /// `a − b`
    Sub,
    /// `a · b`
    Mul,
}

/// A function of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `max(x, 0)`
    Relu,
    /// `max(x, 0) + slope · min(x, 0)`
    LeakyRelu {
        /// The slope below zero.
        slope: Scalar,
    },
    /// `x · sigmoid(x)`
    Silu,
    /// `1 / (1 + exp(−x))`
    Sigmoid,
    /// `x · tanh(ln(1 + exp(x)))`
    Mish,
}

/// How a convolution moves over its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Conv2d {
    /// Steps along height and width.
    pub stride: [u64; 2],
    /// Zeros added on both sides of height and width.
    pub padding: [u64; 2],
    /// Distances of the kernel's taps along height and width.
    pub dilation: [u64; 2],
    /// Groups of channels that do not see each other.
    pub groups: u64,
}

impl Conv2d {
    /// A convolution of stride 1 whose output is as large as its input, for an odd square kernel.
    #[must_use]
    pub fn same(kernel: u64) -> Self {
        Self { padding: [kernel / 2; 2], ..Self::default() }
    }

    /// Output length of one side, or `None` where the kernel does not fit or a number is too large.
    #[must_use]
    pub fn output_len(&self, axis: usize, input: u64, kernel: u64) -> Option<u64> {
        let padded = self.padding[axis].checked_mul(2)?.checked_add(input)?;
        let reach = self.dilation[axis].checked_mul(kernel.checked_sub(1)?)?.checked_add(1)?;
        padded.checked_sub(reach)?.checked_div(self.stride[axis])?.checked_add(1)
    }
}

impl Default for Conv2d {
    fn default() -> Self {
        Self { stride: [1; 2], padding: [0; 2], dilation: [1; 2], groups: 1 }
    }
}

/// A constant of an operation: an `f32` compared by its bits, so that operations can be keys.
#[derive(Clone, Copy)]
pub struct Scalar(pub f32);

impl PartialEq for Scalar {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Scalar {}

impl Hash for Scalar {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

impl fmt::Debug for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Binary(BinaryOp::Add) => f.write_str("add"),
            Self::Binary(BinaryOp::Sub) => f.write_str("sub"),
            Self::Binary(BinaryOp::Mul) => f.write_str("mul"),
            Self::Unary(UnaryOp::Relu) => f.write_str("relu"),
            Self::Unary(UnaryOp::LeakyRelu { slope }) => write!(f, "leaky_relu({slope:?})"),
            Self::Unary(UnaryOp::Silu) => f.write_str("silu"),
            Self::Unary(UnaryOp::Sigmoid) => f.write_str("sigmoid"),
            Self::Unary(UnaryOp::Mish) => f.write_str("mish"),
            Self::Scale { factor } => write!(f, "scale({factor:?})"),
            Self::Shift { term } => write!(f, "shift({term:?})"),
            Self::NormChannels { epsilon } => write!(f, "norm_channels({epsilon:?})"),
            Self::Prelu => f.write_str("prelu"),
            Self::Conv2d(conv) => {
                f.write_str("conv2d(")?;
                let plain = Conv2d::default();
                let mut parts = vec![format!("padding {:?}", conv.padding)];
                if conv.stride != plain.stride {
                    parts.push(format!("stride {:?}", conv.stride));
                }
                if conv.dilation != plain.dilation {
                    parts.push(format!("dilation {:?}", conv.dilation));
                }
                if conv.groups != plain.groups {
                    parts.push(format!("groups {}", conv.groups));
                }
                write!(f, "{})", parts.join(", "))
            }
            Self::Concat { dim } => write!(f, "concat(dim {dim})"),
            Self::Slice { dim, start, len } => write!(f, "slice(dim {dim}, {len} from {start})"),
            Self::UpsampleNearest { factor } => write!(f, "upsample_nearest({factor})"),
            Self::InterpolateBicubic { height, width } => write!(f, "interpolate_bicubic({height}, {width})"),
            Self::PixelShuffle { factor } => write!(f, "pixel_shuffle({factor})"),
            Self::PixelUnshuffle { factor } => write!(f, "pixel_unshuffle({factor})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn convolution_lengths_follow_pytorch() {
        assert_eq!(Conv2d::same(3).output_len(0, 7, 3), Some(7));
        assert_eq!(Conv2d { stride: [2; 2], padding: [1; 2], ..Conv2d::default() }.output_len(1, 7, 3), Some(4));
        assert_eq!(Conv2d { dilation: [2; 2], ..Conv2d::default() }.output_len(0, 7, 3), Some(3));
        assert_eq!(Conv2d::default().output_len(0, 2, 3), None);
        assert_eq!(Conv2d { padding: [u64::MAX; 2], ..Conv2d::default() }.output_len(0, 2, 3), None);
    }
}
