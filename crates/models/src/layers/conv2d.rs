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
    bias: Param,
    conv: engine::Conv2d,
}

impl Conv2d {
    /// A convolution of odd `kernel` size whose output is as large as its input.
    #[must_use]
    pub fn same(scope: &ParamScope<'_>, [input, output]: [u64; 2], kernel: u64) -> Self {
        Self::new(scope, [output, input, kernel, kernel], engine::Conv2d::same(kernel))
    }

    /// The same with each channel on its own.
    #[must_use]
    pub fn depthwise(scope: &ParamScope<'_>, n_channels: u64, kernel: u64) -> Self {
        let conv = engine::Conv2d { groups: n_channels, ..engine::Conv2d::same(kernel) };
        Self::new(scope, [n_channels, 1, kernel, kernel], conv)
    }

    fn new(scope: &ParamScope<'_>, shape: [u64; 4], conv: engine::Conv2d) -> Self {
        let weight = scope.param("weight", ParamRole::ConvWeight, shape);
        let bias = scope.param("bias", ParamRole::Vector, [shape[0]]);
        Self { weight, bias, conv }
    }

    /// The convolution of `x`.
    #[track_caller]
    #[must_use]
    pub fn forward<'g>(&self, x: Value<'g>) -> Value<'g> {
        x.conv2d(&self.weight, Some(&self.bias), self.conv)
    }
}
