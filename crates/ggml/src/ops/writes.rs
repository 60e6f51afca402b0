//! Conversions of type, and writing into existing tensors.

use fresco_ggml_sys as sys;

use crate::error::{OpError, OpProblem};
use crate::layout::Layout;
use crate::scope::op_error;
use crate::{DType, Op, Tensor};

impl<'g> Tensor<'g> {
    /// A contiguous copy of another type. Values that do not fit f16 become infinite.
    pub fn cast(self, dtype: DType) -> Result<Tensor<'g>, OpError> {
        Layout::packed(dtype, self.ne()).map_err(|problem| op_error(Op::Cast, &[self], problem))?;
        self.state.emit(Op::Cast, dtype, &[self], |context| {
            // SAFETY: the context has room; the table has this conversion and rows are whole blocks.
            unsafe { sys::ggml_cast(context, self.raw(), dtype.raw()) }
        })
    }

    /// Writes the elements of `self`, in order, over those of `target`, converting the type. The result is `target`
    /// afterwards: what must see the new elements takes the result as its operand.
    pub fn cpy(self, target: Tensor<'g>) -> Result<Tensor<'g>, OpError> {
        let error = |problem| op_error(Op::Copy, &[self, target], problem);
        let (from, to) = (self.layout(), target.layout());
        if from.n_elements() != to.n_elements() {
            return Err(error(OpProblem::Shapes("both operands must have the same number of elements")));
        }
        if !to.is_injective() {
            return Err(error(OpProblem::Layout("the target's elements must not share memory")));
        }
        if self.shares_memory_with(target, 0, to.n_bytes()) {
            return Err(error(OpProblem::Overlap));
        }
        if from.dtype != to.dtype && (from.dtype.is_quantized() || to.dtype.is_quantized()) {
            if !from.has_packed_rows() || !to.is_contiguous() || !to.has_packed_rows() {
                let rule = "between block types, rows must be packed and the target contiguous";
                return Err(error(OpProblem::Layout(rule)));
            }
            let block_len = to.dtype.block_len() as i64;
            if from.ne[0] % block_len != 0 {
                return Err(error(OpProblem::Blocks { dtype: to.dtype, row_len: from.ne[0] }));
            }
        }
        self.state.emit(Op::Copy, to.dtype, &[self, target], |context| {
            // SAFETY: the context has room; the table has this conversion, and the operands share no memory.
            unsafe { sys::ggml_cpy(context, self.raw(), target.raw()) }
        })
    }

    /// Overwrites a region of `self` with `part`: the region has the shape of `part`, rows without gaps, `strides`
    /// bytes between its rows, planes and volumes, and starts at byte `offset`. The result is `self` afterwards: what
    /// must see the new elements takes the result as its operand.
    pub fn set_inplace(self, part: Tensor<'g>, strides: [usize; 3], offset: usize) -> Result<Tensor<'g>, OpError> {
        let error = |problem| op_error(Op::Set, &[self, part], problem);
        let base = self.layout();
        let [nb1, nb2, nb3] = strides;
        let nb = [base.dtype.block_bytes(), nb1, nb2, nb3];
        let region = Layout::strided(base.dtype, part.ne(), nb).map_err(error)?;
        if !offset.is_multiple_of(base.dtype.block_bytes()) {
            return Err(error(OpProblem::Parameter("the offset must be a whole number of elements")));
        }
        let end = offset.saturating_add(region.n_bytes());
        if end > base.n_bytes() {
            let (end_bytes, limit_bytes) = (end as u64, base.n_bytes() as u64);
            return Err(error(OpProblem::Bounds { end_bytes, limit_bytes }));
        }
        // ggml keeps these in an `int`, and asserts the smaller limit of the offset.
        if offset >= 1 << 30 || strides.iter().any(|&stride| stride > i32::MAX as usize) {
            return Err(error(OpProblem::Parameter("the offset is below 1 GiB and strides below 2 GiB")));
        }
        if !region.is_injective() {
            return Err(error(OpProblem::Layout("the region's elements must not share memory")));
        }
        if part.shares_memory_with(self, offset, region.n_bytes()) {
            return Err(error(OpProblem::Overlap));
        }
        self.state.emit(Op::Set, base.dtype, &[self, part], |context| {
            // SAFETY: the context has room; the region lies within the tensor and apart from the part.
            unsafe { sys::ggml_set_inplace(context, self.raw(), part.raw(), nb1, nb2, nb3, offset) }
        })
    }

    /// Whether our memory meets `n_bytes` from byte `offset` of `other`'s.
    fn shares_memory_with(self, other: Tensor<'g>, offset: usize, n_bytes: usize) -> bool {
        let records = self.state.records.borrow();
        let (ours, theirs) = (&records[self.index as usize], &records[other.index as usize]);
        let start = theirs.root_offset.saturating_add(offset);
        ours.root == theirs.root
            && ours.root_offset < start.saturating_add(n_bytes)
            && start < ours.root_offset.saturating_add(ours.layout.n_bytes())
    }
}
