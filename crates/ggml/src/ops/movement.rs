//! New tensors whose elements come unchanged from others.

use fresco_ggml_sys as sys;

use crate::error::{OpError, OpProblem};
use crate::layout::Layout;
use crate::scope::op_error;
use crate::{Op, Tensor};

impl<'g> Tensor<'g> {
    /// A copy whose elements lie in order and without gaps.
    pub fn cont(self) -> Result<Tensor<'g>, OpError> {
        self.state.emit(Op::Cont, self.dtype(), &[self], |context| {
            // SAFETY: the context has room; any tensor can be copied.
            unsafe { sys::ggml_cont(context, self.raw()) }
        })
    }

    /// `self` and then `other` along dimension `dim`; the other lengths agree.
    pub fn concat(self, other: Tensor<'g>, dim: usize) -> Result<Tensor<'g>, OpError> {
        let error = |problem| op_error(Op::Concat, &[self, other], problem);
        let (mut ne, more) = (self.ne(), other.ne());
        if dim > 3 {
            return Err(error(OpProblem::Parameter("the dimension is one of 0 to 3")));
        }
        if (0..4).any(|d| d != dim && ne[d] != more[d]) {
            return Err(error(OpProblem::Shapes("all lengths but the joined one must agree")));
        }
        ne[dim] += more[dim];
        Layout::packed(self.dtype(), ne).map_err(error)?;
        self.state.emit(Op::Concat, self.dtype(), &[self, other], |context| {
            // SAFETY: the context has room; types and lengths agree.
            unsafe { sys::ggml_concat(context, self.raw(), other.raw(), dim as i32) }
        })
    }

    /// Zeros around the tensor: `before[d]` and `after[d]` of them along dimension `d`.
    pub fn pad_ext(self, before: [i64; 4], after: [i64; 4]) -> Result<Tensor<'g>, OpError> {
        let error = |problem| op_error(Op::Pad, &[self], problem);
        let amounts = || before.iter().chain(&after);
        if !amounts().all(|amount| (0..=i64::from(i32::MAX)).contains(amount)) {
            return Err(error(OpProblem::Parameter("amounts from 0 to 2³¹ - 1")));
        }
        let mut ne = self.ne();
        for (d, len) in ne.iter_mut().enumerate() {
            *len += before[d] + after[d];
        }
        Layout::packed(self.dtype(), ne).map_err(error)?;
        let ([l0, l1, l2, l3], [r0, r1, r2, r3]) = (before.map(|n| n as i32), after.map(|n| n as i32));
        self.state.emit(Op::Pad, self.dtype(), &[self], |context| {
            // SAFETY: the context has room and the amounts are not negative.
            unsafe { sys::ggml_pad_ext(context, self.raw(), l0, r0, l1, r1, l2, r2, l3, r3) }
        })
    }

    /// The tensor several times along each dimension, to the lengths `ne`, which ours divide.
    pub fn repeat(self, ne: [i64; 4]) -> Result<Tensor<'g>, OpError> {
        let error = |problem| op_error(Op::Repeat, &[self], problem);
        let result = Layout::packed(self.dtype(), ne).map_err(error)?;
        if !result.is_multiple_of(&self.layout()) {
            return Err(error(OpProblem::Shapes("each length must divide the result's")));
        }
        let [ne0, ne1, ne2, ne3] = ne;
        self.state.emit(Op::Repeat, self.dtype(), &[self], |context| {
            // SAFETY: the context has room and the lengths divide the result's.
            unsafe { sys::ggml_repeat_4d(context, self.raw(), ne0, ne1, ne2, ne3) }
        })
    }
}
