//! Normalisation of rows and of groups of channels, without weights.

use fresco_ggml_sys as sys;

use crate::error::{OpError, OpProblem};
use crate::scope::op_error;
use crate::{DType, Op, Tensor};

impl<'g> Tensor<'g> {
    /// Each row to mean 0 and variance 1: `(x - mean) / √(variance + epsilon)`.
    pub fn norm(self, epsilon: f32) -> Result<Tensor<'g>, OpError> {
        self.check_epsilon(Op::Norm, epsilon)?;
        self.state.emit(Op::Norm, DType::F32, &[self], |context| {
            // SAFETY: the context has room; epsilon is not negative and the operand is f32.
            unsafe { sys::ggml_norm(context, self.raw(), epsilon) }
        })
    }

    /// Each row to root mean square 1: `x / √(mean(x²) + epsilon)`.
    pub fn rms_norm(self, epsilon: f32) -> Result<Tensor<'g>, OpError> {
        self.check_epsilon(Op::RmsNorm, epsilon)?;
        self.state.emit(Op::RmsNorm, DType::F32, &[self], |context| {
            // SAFETY: the context has room; epsilon is not negative and the operand has packed rows of f32.
            unsafe { sys::ggml_rms_norm(context, self.raw(), epsilon) }
        })
    }

    /// Of an image batch `[W, H, C, N]` (`ne`), each image's `n_groups` groups of neighbouring channels to mean 0 and
    /// variance 1. `n_groups` divides the channels.
    pub fn group_norm(self, n_groups: i64, epsilon: f32) -> Result<Tensor<'g>, OpError> {
        self.check_epsilon(Op::GroupNorm, epsilon)?;
        if n_groups < 1 || self.ne()[2] % n_groups != 0 {
            let rule = "the number of groups must divide the channels";
            return Err(op_error(Op::GroupNorm, &[self], OpProblem::Parameter(rule)));
        }
        self.state.emit(Op::GroupNorm, DType::F32, &[self], |context| {
            // SAFETY: the context has room; groups are whole, and the operand has packed rows of f32.
            unsafe { sys::ggml_group_norm(context, self.raw(), n_groups as i32, epsilon) }
        })
    }

    fn check_epsilon(self, op: Op, epsilon: f32) -> Result<(), OpError> {
        match epsilon.is_finite() && epsilon >= 0.0 {
            true => Ok(()),
            false => Err(op_error(op, &[self], OpProblem::Parameter("epsilon must be finite and not negative"))),
        }
    }
}
