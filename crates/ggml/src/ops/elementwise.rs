//! Element by element: arithmetic of two tensors, and functions of one.

use fresco_ggml_sys as sys;

use super::Unary;
use crate::error::{OpError, OpProblem};
use crate::scope::op_error;
use crate::{Op, Tensor};

type Of1 = unsafe extern "C" fn(*mut sys::ggml_context, *mut sys::ggml_tensor) -> *mut sys::ggml_tensor;
type Of2 =
    unsafe extern "C" fn(*mut sys::ggml_context, *mut sys::ggml_tensor, *mut sys::ggml_tensor) -> *mut sys::ggml_tensor;

#[expect(clippy::should_implement_trait, reason = "an operator cannot refuse its operands")]
impl<'g> Tensor<'g> {
    /// `self + other`. `other` is repeated along dimensions whose length divides ours; the result has our type.
    pub fn add(self, other: Tensor<'g>) -> Result<Tensor<'g>, OpError> {
        self.binary(other, Op::Add, sys::ggml_add)
    }

    /// `self - other`, with [`add`](Tensor::add)'s repetition.
    pub fn sub(self, other: Tensor<'g>) -> Result<Tensor<'g>, OpError> {
        self.binary(other, Op::Sub, sys::ggml_sub)
    }

    /// `self · other` element by element, with [`add`](Tensor::add)'s repetition.
    pub fn mul(self, other: Tensor<'g>) -> Result<Tensor<'g>, OpError> {
        self.binary(other, Op::Mul, sys::ggml_mul)
    }

    /// `self / other` element by element, with [`add`](Tensor::add)'s repetition.
    pub fn div(self, other: Tensor<'g>) -> Result<Tensor<'g>, OpError> {
        self.binary(other, Op::Div, sys::ggml_div)
    }

    /// `self · factor`.
    pub fn scale(self, factor: f32) -> Result<Tensor<'g>, OpError> {
        self.scale_bias(factor, 0.0)
    }

    /// `self · factor + bias`.
    pub fn scale_bias(self, factor: f32, bias: f32) -> Result<Tensor<'g>, OpError> {
        self.state.emit(Op::Scale, self.dtype(), &[self], |context| {
            // SAFETY: the context has room, the operand is of this graph and packed.
            unsafe { sys::ggml_scale_bias(context, self.raw(), factor, bias) }
        })
    }

    /// `|x|`.
    pub fn abs(self) -> Result<Tensor<'g>, OpError> {
        self.unary(Unary::Abs, sys::ggml_abs)
    }

    /// `e^x`.
    pub fn exp(self) -> Result<Tensor<'g>, OpError> {
        self.unary(Unary::Exp, sys::ggml_exp)
    }

    /// `x · Φ(x)` by its tanh approximation. The CPU looks it up in a table of half-precision values.
    pub fn gelu(self) -> Result<Tensor<'g>, OpError> {
        self.unary(Unary::Gelu, sys::ggml_gelu)
    }

    /// `x · Φ(x)` by the error function.
    pub fn gelu_erf(self) -> Result<Tensor<'g>, OpError> {
        self.unary(Unary::GeluErf, sys::ggml_gelu_erf)
    }

    /// `x · σ(1.702 x)`. The CPU looks it up in a table of half-precision values.
    pub fn gelu_quick(self) -> Result<Tensor<'g>, OpError> {
        self.unary(Unary::GeluQuick, sys::ggml_gelu_quick)
    }

    /// `-x`.
    pub fn neg(self) -> Result<Tensor<'g>, OpError> {
        self.unary(Unary::Neg, sys::ggml_neg)
    }

    /// `max(x, 0)`.
    pub fn relu(self) -> Result<Tensor<'g>, OpError> {
        self.unary(Unary::Relu, sys::ggml_relu)
    }

    /// `1 / (1 + e^-x)`.
    pub fn sigmoid(self) -> Result<Tensor<'g>, OpError> {
        self.unary(Unary::Sigmoid, sys::ggml_sigmoid)
    }

    /// `x · σ(x)`.
    pub fn silu(self) -> Result<Tensor<'g>, OpError> {
        self.unary(Unary::Silu, sys::ggml_silu)
    }

    /// `x²`.
    pub fn sqr(self) -> Result<Tensor<'g>, OpError> {
        self.unary(Unary::Sqr, sys::ggml_sqr)
    }

    /// `√x`.
    pub fn sqrt(self) -> Result<Tensor<'g>, OpError> {
        self.unary(Unary::Sqrt, sys::ggml_sqrt)
    }

    /// Hyperbolic tangent.
    pub fn tanh(self) -> Result<Tensor<'g>, OpError> {
        self.unary(Unary::Tanh, sys::ggml_tanh)
    }

    /// `x` where positive, else `slope · x`.
    pub fn leaky_relu(self, slope: f32) -> Result<Tensor<'g>, OpError> {
        self.state.emit(Op::LeakyRelu, self.dtype(), &[self], |context| {
            // SAFETY: the context has room, the operand is of this graph and has even rows.
            unsafe { sys::ggml_leaky_relu(context, self.raw(), slope, false) }
        })
    }

    /// `x` limited to `min ..= max`.
    pub fn clamp(self, min: f32, max: f32) -> Result<Tensor<'g>, OpError> {
        if min.is_nan() || max.is_nan() || min > max {
            return Err(op_error(Op::Clamp, &[self], OpProblem::Parameter("min must not exceed max")));
        }
        self.state.emit(Op::Clamp, self.dtype(), &[self], |context| {
            // SAFETY: the context has room, the operand is of this graph and has even rows.
            unsafe { sys::ggml_clamp(context, self.raw(), min, max) }
        })
    }

    fn binary(self, other: Tensor<'g>, op: Op, make: Of2) -> Result<Tensor<'g>, OpError> {
        if !self.layout().is_multiple_of(&other.layout()) {
            let rule = "each length of the second operand must divide the first's";
            return Err(op_error(op, &[self, other], OpProblem::Shapes(rule)));
        }
        self.state.emit(op, self.dtype(), &[self, other], |context| {
            // SAFETY: the context has room, the operands are of this graph and the second repeats into the first.
            unsafe { make(context, self.raw(), other.raw()) }
        })
    }

    fn unary(self, function: Unary, make: Of1) -> Result<Tensor<'g>, OpError> {
        self.state.emit(Op::Unary(function), self.dtype(), &[self], |context| {
            // SAFETY: the context has room, the operand is of this graph and has packed rows.
            unsafe { make(context, self.raw()) }
        })
    }
}
