//! Leaky rectifier with a learned slope for each channel.

use crate::engine::Value;
use crate::engine::residency::{Param, ParamRole, ParamScope};

/// `y = max(x, 0) + slope · min(x, 0)` ([He et al. 2015](https://arxiv.org/abs/1502.01852)).
///
/// # Shapes
/// - `x`, `y`: `[N, C, H, W]`
/// - `weight` (the slope): `[C]`
#[derive(Clone, Debug)]
pub struct Prelu {
    slope: Param,
}

impl Prelu {
    /// A rectifier of `n_channels` channels.
    #[must_use]
    pub fn new(scope: &ParamScope<'_>, n_channels: u64) -> Self {
        Self { slope: scope.param("weight", ParamRole::Vector, [n_channels]) }
    }

    /// The rectified `x`.
    #[track_caller]
    #[must_use]
    pub fn forward<'g>(&self, x: Value<'g>) -> Value<'g> {
        x.prelu(&self.slope)
    }
}
