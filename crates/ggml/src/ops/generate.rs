//! Tensors from numbers.

use fresco_ggml_sys as sys;

use crate::error::{OpError, OpProblem};
use crate::layout::Layout;
use crate::scope::op_error;
use crate::{DType, GraphScope, Op, Tensor};

/// The most numbers of a range: beyond, consecutive f32 integers coincide.
const MAX_RANGE: f32 = (1 << 24) as f32;

impl<'g> GraphScope<'g> {
    /// `start`, `start + step`, … up to `stop`, which is not included.
    pub fn arange(&self, start: f32, stop: f32, step: f32) -> Result<Tensor<'g>, OpError> {
        let n = ((stop - start) / step).ceil();
        // False for NaN too.
        if !(step > 0.0 && (1.0..=MAX_RANGE).contains(&n)) {
            let rule = "stop lies beyond start, by at most 2²⁴ steps";
            return Err(op_error(Op::Arange, &[], OpProblem::Parameter(rule)));
        }
        self.state.emit(Op::Arange, DType::F32, &[], |context| {
            // SAFETY: the context has room and the range is neither empty nor too long.
            unsafe { sys::ggml_arange(context, start, stop, step) }
        })
    }
}

impl<'g> Tensor<'g> {
    /// Of each time in a vector `[N]`, the cosines and then the sines of the time at `dim / 2` frequencies that fall
    /// from 1 towards `1 / max_period`: `[dim, N]` (`ne`). An odd `dim` ends with a zero.
    pub fn timestep_embedding(self, dim: i64, max_period: i32) -> Result<Tensor<'g>, OpError> {
        let error = |problem| op_error(Op::TimestepEmbedding, &[self], problem);
        let [n, rest @ ..] = self.ne();
        if rest != [1, 1, 1] {
            return Err(error(OpProblem::Shapes("times are a vector")));
        }
        if max_period < 1 {
            return Err(error(OpProblem::Parameter("the longest period is positive")));
        }
        Layout::packed(DType::F32, [dim, n, 1, 1]).map_err(error)?;
        self.state.emit(Op::TimestepEmbedding, DType::F32, &[self], |context| {
            // SAFETY: the context has room; the times are a packed f32 vector and the result is not empty.
            unsafe { sys::ggml_timestep_embedding(context, self.raw(), dim as i32, max_period) }
        })
    }

    /// A tensor of our shape and type with `value` everywhere. Of a [scratch leaf](GraphScope::new_scratch) it takes
    /// the memory over.
    pub fn fill(self, value: f32) -> Result<Tensor<'g>, OpError> {
        self.state.emit(Op::Fill, self.dtype(), &[self], |context| {
            // SAFETY: the context has room; the operand is packed and of a type with a kernel.
            unsafe { sys::ggml_fill(context, self.raw(), value) }
        })
    }
}
