//! The matrix product.

use fresco_ggml_sys as sys;

use crate::error::{OpError, OpProblem};
use crate::layout::Layout;
use crate::scope::op_error;
use crate::{DType, Op, Tensor};

impl<'g> Tensor<'g> {
    /// The product of each row of `self` with each row of `other`: `self` `[K, M, …]` and `other` `[K, N, …]` (`ne`)
    /// give f32 `[M, N, …]`. The outer dimensions of `self` repeat along those of `other`.
    ///
    /// `self` may be of any type that dequantises, `other` is f32 or shares a half-precision type. Sums are in f32 on
    /// every backend. The CPU rounds an f32 `other` to the precision that the type of `self` is multiplied in: f16 for
    /// f16, blocks of 8 bits for block types. Vulkan rounds both to f16 where the device has it.
    ///
    /// On the CPU an f32 element's bits depend on its two rows, on the number of threads never, and on the number of
    /// rows only in whether it is a multiple of 4: tiles of four take another kernel. What is to have the same bits in
    /// strips of any height keeps `M` to multiples of 4.
    pub fn mul_mat(self, other: Tensor<'g>) -> Result<Tensor<'g>, OpError> {
        let error = |problem| op_error(Op::MulMat, &[self, other], problem);
        let (a, b) = (self.layout(), other.layout());
        if a.ne[0] != b.ne[0] {
            return Err(error(OpProblem::Shapes("rows of both operands must be of one length")));
        }
        if b.ne[2] % a.ne[2] != 0 || b.ne[3] % a.ne[3] != 0 {
            return Err(error(OpProblem::Shapes("outer lengths of the first operand must divide the second's")));
        }
        if a.nb[1] < a.row_bytes() {
            return Err(error(OpProblem::Layout("rows of the first operand must not overlap")));
        }
        Layout::packed(DType::F32, [a.ne[1], b.ne[1], b.ne[2], b.ne[3]]).map_err(error)?;
        let product = self.state.emit(Op::MulMat, DType::F32, &[self, other], |context| {
            // SAFETY: the context has room; shapes, types and layouts were checked.
            unsafe { sys::ggml_mul_mat(context, self.raw(), other.raw()) }
        })?;
        // SAFETY: the node was just made and is a product.
        unsafe { sys::ggml_prec_set_acc(product.raw(), sys::GGML_PREC_F32) };
        Ok(product)
    }
}
