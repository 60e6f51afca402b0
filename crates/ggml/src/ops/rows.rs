//! What is computed of whole rows: sums, softmax, and rows by number.

use fresco_ggml_sys as sys;

use crate::error::{OpError, OpProblem};
use crate::layout::Layout;
use crate::scope::{Role, op_error};
use crate::{DType, Op, Tensor};

impl<'g> Tensor<'g> {
    /// The sum of each row: `[K, …]` (`ne`) gives `[1, …]`.
    pub fn sum_rows(self) -> Result<Tensor<'g>, OpError> {
        self.state.emit(Op::SumRows, DType::F32, &[self], |context| {
            // SAFETY: the context has room; the operand has packed rows of f32.
            unsafe { sys::ggml_sum_rows(context, self.raw()) }
        })
    }

    /// The mean of each row: `[K, …]` (`ne`) gives `[1, …]`.
    pub fn mean(self) -> Result<Tensor<'g>, OpError> {
        self.state.emit(Op::Mean, DType::F32, &[self], |context| {
            // SAFETY: the context has room; the operand has packed rows of f32.
            unsafe { sys::ggml_mean(context, self.raw()) }
        })
    }

    /// `softmax(scale · x + mask)` of each row. The mask has our row length, at least our number of rows, and its outer
    /// dimensions repeat along ours; it is f32 or f16.
    pub fn soft_max_ext(self, mask: Option<Tensor<'g>>, scale: f32) -> Result<Tensor<'g>, OpError> {
        let operands: Vec<Tensor<'g>> = [Some(self), mask].into_iter().flatten().collect();
        if let Some(mask) = mask {
            let (ours, theirs) = (self.ne(), mask.ne());
            let fits =
                theirs[0] == ours[0] && theirs[1] >= ours[1] && ours[2] % theirs[2] == 0 && ours[3] % theirs[3] == 0;
            if !fits {
                let rule = "the mask has the row length, as many rows, and outer lengths that divide";
                return Err(op_error(Op::SoftMax, &operands, OpProblem::Shapes(rule)));
            }
        }
        let mask = mask.map_or(std::ptr::null_mut(), |mask| mask.raw());
        self.state.emit(Op::SoftMax, DType::F32, &operands, |context| {
            // SAFETY: the context has room; the operand is contiguous f32 and the mask, where there is one, fits it.
            unsafe { sys::ggml_soft_max_ext(context, self.raw(), mask, scale, 0.0) }
        })
    }

    /// The rows of a table `[K, R, A, B]` (`ne`) whose numbers stand in `rows` `[N, A, B]`, as f32 `[K, N, A, B]`
    /// (i32 of an i32 table).
    ///
    /// `rows` is an i32 input: numbers are checked when it is [written](crate::Graph::write), since ggml aborts on one
    /// that the table does not have.
    pub fn get_rows(self, rows: Tensor<'g>) -> Result<Tensor<'g>, OpError> {
        let error = |problem| op_error(Op::GetRows, &[self, rows], problem);
        let (table, numbers) = (self.ne(), rows.ne());
        if [table[2], table[3], 1] != [numbers[1], numbers[2], numbers[3]] {
            return Err(error(OpProblem::Shapes("outer lengths of the table must be the numbers' from the second on")));
        }
        if self.state.records.borrow()[rows.index as usize].role != Role::Input {
            return Err(error(OpProblem::Parameter("row numbers must be an input of the graph")));
        }
        let result = if self.dtype() == DType::I32 { DType::I32 } else { DType::F32 };
        Layout::packed(result, [table[0], numbers[0], numbers[1], numbers[2]]).map_err(error)?;
        let picked = self.state.emit(Op::GetRows, result, &[self, rows], |context| {
            // SAFETY: the context has room; shapes and types fit, and numbers are checked when they are written.
            unsafe { sys::ggml_get_rows(context, self.raw(), rows.raw()) }
        })?;
        let limit = &mut self.state.records.borrow_mut()[rows.index as usize].row_limit;
        *limit = Some(limit.map_or(table[1], |known| known.min(table[1])));
        Ok(picked)
    }
}
