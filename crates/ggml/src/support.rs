//! Which operations are sent to ggml: types and memory layouts per operation, and what backends lack.
//!
//! ggml's CPU backend says yes to every operation and aborts the process when it meets operands it has no kernel for,
//! so its answer is not asked. This table is read off its kernels; a constructor refuses what is not in it. Other
//! backends compute a subset, which they are asked for, node by node, before a graph reaches them.

use crate::error::OpProblem;
use crate::layout::Layout;
use crate::{DType, Op};

use DType::{BF16, F16, F32, I8, I16, I32};

/// How an operand has to lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    /// Any strides.
    Any,
    /// The elements of a row are neighbours.
    PackedRows,
    /// Packed rows, all one stride apart.
    EvenRows,
    /// No gaps; strides of dimensions of length 1 are free.
    Contiguous,
    /// No gaps and all strides regular.
    Packed,
}

impl Need {
    fn is_met(self, layout: &Layout) -> bool {
        match self {
            Need::Any => true,
            Need::PackedRows => layout.has_packed_rows(),
            Need::EvenRows => layout.has_even_rows(),
            Need::Contiguous => layout.is_contiguous(),
            Need::Packed => layout.is_packed(),
        }
    }

    fn rule(self) -> &'static str {
        match self {
            Need::Any => "any",
            Need::PackedRows => "the elements of each row must be neighbours",
            Need::EvenRows => "rows must be packed and evenly spaced",
            Need::Contiguous | Need::Packed => "the operand must be contiguous",
        }
    }
}

/// What the CPU's kernel of `op` needs of each operand.
fn needs(op: Op) -> &'static [Need] {
    use Need::{Any, Contiguous, EvenRows, Packed, PackedRows};
    match op {
        Op::Leaf | Op::View | Op::Permute | Op::Transpose | Op::Arange => &[Any],
        Op::Reshape => &[Contiguous],
        Op::Add | Op::Sub | Op::Mul | Op::Div => &[PackedRows, Any],
        Op::Scale => &[Packed],
        Op::Unary(_) => &[PackedRows],
        Op::LeakyRelu | Op::Clamp => &[EvenRows],
        Op::MulMat => &[PackedRows, PackedRows],
        Op::Im2col => &[Any, PackedRows],
        Op::Cont | Op::Copy | Op::Concat | Op::Pad | Op::Upscale | Op::Norm => &[Any, Any],
        Op::Cast | Op::Repeat | Op::RmsNorm | Op::GroupNorm | Op::SumRows | Op::Mean => &[PackedRows],
        Op::Set => &[Packed, PackedRows],
        Op::SoftMax => &[Contiguous, Contiguous],
        Op::GetRows => &[PackedRows, Any],
        Op::TimestepEmbedding | Op::Fill => &[Packed],
    }
}

/// Whether the CPU has a kernel of `op` that makes `result` of operands of these types.
fn has_kernel(op: Op, result: DType, operands: &[DType]) -> bool {
    let half = |dtype| matches!(dtype, F16 | BF16);
    let float = |dtype| dtype == F32 || half(dtype);
    match (op, operands) {
        (Op::Leaf, _) => true,
        (Op::View | Op::Reshape | Op::Permute | Op::Transpose | Op::Cont, [a]) => result == *a,
        (Op::Add | Op::Sub | Op::Mul | Op::Div, [a, b]) => result == *a && float(*a) && (a == b || *b == F32),
        (Op::Unary(_), [a]) => result == *a && float(*a),
        (Op::Scale, [a]) => result == *a && matches!(a, F32 | BF16),
        (Op::LeakyRelu | Op::Clamp | Op::Fill, [a]) => result == *a && matches!(a, F32 | F16),
        (Op::MulMat, [a, b]) => result == F32 && multiplies(*a) && (*b == F32 || a == b && half(*a)),
        (Op::Im2col, [_, a]) => matches!((result, a), (F32 | F16, F32) | (F16, F16)),
        (Op::Cast | Op::Copy, [a, ..]) => converts(*a, result),
        (Op::Set, [a, b]) => result == *a && a == b && matches!(a, F32 | I32),
        (Op::Concat, [a, b]) => result == *a && a == b && matches!(a, F32 | I32 | F16 | BF16 | I16 | I8),
        (Op::Repeat, [a]) => result == *a && matches!(a, F32 | I32 | F16 | BF16 | I16),
        (Op::Pad | Op::Upscale | Op::Norm | Op::RmsNorm | Op::GroupNorm | Op::SumRows | Op::Mean, [a]) => {
            result == F32 && *a == F32
        }
        (Op::TimestepEmbedding, [a]) => result == F32 && *a == F32,
        (Op::SoftMax, [a]) => result == F32 && *a == F32,
        (Op::SoftMax, [a, mask]) => result == F32 && *a == F32 && matches!(mask, F32 | F16),
        (Op::GetRows, [a, rows]) => *rows == I32 && (*a == I32 && result == I32 || a.can_dequantize() && result == F32),
        (Op::Arange, []) => result == F32,
        _ => false,
    }
}

/// Types that can be the first operand of a product: those with a dot product on the CPU.
fn multiplies(dtype: DType) -> bool {
    dtype.can_dequantize()
}

/// Conversions with a kernel. A copy of the same type moves bytes.
fn converts(from: DType, to: DType) -> bool {
    let float = |dtype| matches!(dtype, F32 | F16 | BF16);
    from == to
        || float(from) && float(to)
        || float(from) && to.is_quantized() && quantizes_on_the_fly(to)
        || matches!((from, to), (F32, I32) | (I32, F32))
        || from.is_quantized() && from.can_dequantize() && to == F32
}

/// Block types that a kernel can make: the codebook types need tables that only [`quantize`](crate::quantize) sets up.
fn quantizes_on_the_fly(dtype: DType) -> bool {
    use DType::*;
    dtype.can_dequantize() && !matches!(dtype, Iq2Xxs | Iq2Xs | Iq2S | Iq3Xxs | Iq3S | Iq1S | Iq1M)
}

/// Checks operands against the table.
pub(crate) fn check(op: Op, result: DType, operands: &[Layout]) -> Result<(), OpProblem> {
    let types: Vec<DType> = operands.iter().map(|operand| operand.dtype).collect();
    if !has_kernel(op, result, &types) {
        return Err(OpProblem::Types);
    }
    match needs(op).iter().zip(operands).find(|(need, operand)| !need.is_met(operand)) {
        Some((need, _)) => Err(OpProblem::Layout(need.rule())),
        None => Ok(()),
    }
}
