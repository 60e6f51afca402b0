//! Convolution over the pixels of an image.

use crate::engine::residency::{Param, ParamRole, ParamScope};
use crate::engine::{self, Value};

/// `y[o] = bias[o] + Σ_i weight[o, i] ∗ x[i]`, where `∗` slides the kernel over a zero-padded image.
///
/// # Shapes
/// - `x`: `[N, in, H, W]`
/// - `y`: `[N, out, H, W]`
/// - `weight`: `[out, in / groups, kernel, kernel]`
/// - `bias`: `[out]`
#[derive(Clone, Debug)]
pub struct Conv2d {
    weight: Param,
    bias: Option<Param>,
    conv: engine::Conv2d,
}

impl Conv2d {
    /// A convolution of odd `kernel` size whose output is as large as its input.
    #[must_use]
    pub fn same(scope: &ParamScope<'_>, [input, output]: [u64; 2], kernel: u64) -> Self {
        let weight = scope.param("weight", ParamRole::ConvWeight, [output, input, kernel, kernel]);
        let bias = scope.param("bias", ParamRole::Vector, [output]);
        Self { weight, bias: Some(bias), conv: engine::Conv2d::same(kernel) }
    }

    /// The convolution of `x`.
    #[track_caller]
    #[must_use]
    pub fn forward<'g>(&self, x: Value<'g>) -> Value<'g> {
        x.conv2d(&self.weight, self.bias.as_ref(), self.conv)
    }
}
