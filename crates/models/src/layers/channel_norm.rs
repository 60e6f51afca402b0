//! Normalisation of each pixel's channels.

use crate::engine::Value;
use crate::engine::residency::{Param, ParamRole, ParamScope};

/// `y = weight · (x − mean) / √(variance + epsilon) + bias`, with mean and variance over the channels of a pixel
/// ([Ba et al. 2016](https://arxiv.org/abs/1607.06450), for images).
///
/// # Shapes
/// - `x`, `y`: `[N, C, H, W]`
/// - `weight`, `bias`: `[C]`
#[derive(Clone, Debug)]
pub struct ChannelNorm {
    weight: Param,
    bias: Param,
    epsilon: f32,
}

impl ChannelNorm {
    /// A norm over `n_channels` channels.
    #[must_use]
    pub fn new(scope: &ParamScope<'_>, n_channels: u64, epsilon: f32) -> Self {
        let vector = |name| scope.param(name, ParamRole::Vector, [n_channels]);
        Self { weight: vector("weight"), bias: vector("bias"), epsilon }
    }

    /// The normalised `x`.
    #[track_caller]
    #[must_use]
    pub fn forward<'g>(&self, x: Value<'g>) -> Value<'g> {
        x.norm_channels(&self.weight, &self.bias, self.epsilon)
    }
}
