//! The operations: one constructor each, as methods of [`Tensor`](crate::Tensor).
//!
//! A constructor checks everything that ggml asserts, when the node is made and when the CPU computes it: ggml's own
//! answer to a wrong operand is to abort the process. What types and memory layouts the kernels take stands in one
//! table, [`support`](crate::support); shapes and parameters are checked beside each constructor.

mod convolution;
mod elementwise;
mod generate;
mod matrix;
mod movement;
mod normalisation;
mod resample;
mod rows;
mod views;
mod writes;

use std::fmt;

pub use resample::Interpolation;

/// What a tensor of a graph is: a leaf, a view, or the operation that computes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Op {
    /// A leaf, given from outside.
    Leaf,
    /// Part of another tensor.
    View,
    /// Another shape of the same elements.
    Reshape,
    /// Another order of dimensions.
    Permute,
    /// The first two dimensions exchanged.
    Transpose,
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
    /// `a · b`, element by element.
    Mul,
    /// `a / b`.
    Div,
    /// `a · s + b` with constants.
    Scale,
    /// An elementwise function.
    Unary(Unary),
    /// `x` where positive, else `x` times a slope.
    LeakyRelu,
    /// Limits to a range.
    Clamp,
    /// Matrix product.
    MulMat,
    /// The patches under a convolution's kernel, as rows of a matrix.
    Im2col,
    /// A copy without gaps.
    Cont,
    /// A copy of another type.
    Cast,
    /// A copy into an existing tensor.
    Copy,
    /// A tensor with a region overwritten in place.
    Set,
    /// Two tensors beside each other.
    Concat,
    /// Zeros around a tensor.
    Pad,
    /// A tensor several times.
    Repeat,
    /// A plane of another size.
    Upscale,
    /// Mean 0 and variance 1 in each row.
    Norm,
    /// Root mean square 1 in each row.
    RmsNorm,
    /// Mean 0 and variance 1 in each group of channels.
    GroupNorm,
    /// Softmax of each row.
    SoftMax,
    /// Rows by number.
    GetRows,
    /// The sum of each row.
    SumRows,
    /// The mean of each row.
    Mean,
    /// Evenly spaced numbers.
    Arange,
    /// Sines and cosines of a time at falling frequencies.
    TimestepEmbedding,
    /// One number everywhere.
    Fill,
}

/// An elementwise function of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unary {
    /// `|x|`.
    Abs,
    /// `e^x`.
    Exp,
    /// `x · Φ(x)` by its tanh approximation. The CPU reads it from a table of half-precision values.
    Gelu,
    /// `x · Φ(x)` by the error function.
    GeluErf,
    /// `x · σ(1.702 x)`. The CPU reads it from a table of half-precision values.
    GeluQuick,
    /// `-x`.
    Neg,
    /// `max(x, 0)`.
    Relu,
    /// `1 / (1 + e^-x)`.
    Sigmoid,
    /// `x · σ(x)`.
    Silu,
    /// `x²`.
    Sqr,
    /// `√x`.
    Sqrt,
    /// Hyperbolic tangent.
    Tanh,
}

impl Op {
    /// Whether the tensor shows another tensor's memory and computing it does nothing.
    pub(crate) fn is_view(self) -> bool {
        matches!(self, Op::View | Op::Reshape | Op::Permute | Op::Transpose)
    }

    /// Whether a backend may compute the result over an operand of the same layout: ggml's own list.
    pub(crate) fn can_be_in_place(self) -> bool {
        use Op::*;
        matches!(self, Add | Sub | Mul | Div | Scale | Unary(_) | Clamp | RmsNorm | SoftMax | Fill)
    }

    /// ggml's name of the operation, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Op::Leaf => "leaf",
            Op::View => "view",
            Op::Reshape => "reshape",
            Op::Permute => "permute",
            Op::Transpose => "transpose",
            Op::Add => "add",
            Op::Sub => "sub",
            Op::Mul => "mul",
            Op::Div => "div",
            Op::Scale => "scale",
            Op::Unary(function) => function.name(),
            Op::LeakyRelu => "leaky_relu",
            Op::Clamp => "clamp",
            Op::MulMat => "mul_mat",
            Op::Im2col => "im2col",
            Op::Cont => "cont",
            Op::Cast => "cast",
            Op::Copy => "cpy",
            Op::Set => "set",
            Op::Concat => "concat",
            Op::Pad => "pad",
            Op::Repeat => "repeat",
            Op::Upscale => "upscale",
            Op::Norm => "norm",
            Op::RmsNorm => "rms_norm",
            Op::GroupNorm => "group_norm",
            Op::SoftMax => "soft_max",
            Op::GetRows => "get_rows",
            Op::SumRows => "sum_rows",
            Op::Mean => "mean",
            Op::Arange => "arange",
            Op::TimestepEmbedding => "timestep_embedding",
            Op::Fill => "fill",
        }
    }
}

impl Unary {
    fn name(self) -> &'static str {
        match self {
            Unary::Abs => "abs",
            Unary::Exp => "exp",
            Unary::Gelu => "gelu",
            Unary::GeluErf => "gelu_erf",
            Unary::GeluQuick => "gelu_quick",
            Unary::Neg => "neg",
            Unary::Relu => "relu",
            Unary::Sigmoid => "sigmoid",
            Unary::Silu => "silu",
            Unary::Sqr => "sqr",
            Unary::Sqrt => "sqrt",
            Unary::Tanh => "tanh",
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
