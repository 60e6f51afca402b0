//! Planes of another size.

use fresco_ggml_sys as sys;

use crate::error::{OpError, OpProblem};
use crate::layout::Layout;
use crate::scope::op_error;
use crate::{DType, Op, Tensor};

/// The longest side: the kernels compute positions in f32.
const MAX_SIDE: i64 = 1 << 20;

/// How values between pixels are made. Pixels are areas: the corners of input and output coincide, not the centres of
/// their corner pixels (PyTorch's `align_corners=False`), and beyond the border the border repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Interpolation {
    /// Linear in both directions, without smoothing when it shrinks.
    Bilinear,
    /// Cubic convolution with `a = -0.75` in both directions, without smoothing when it shrinks.
    Bicubic,
}

impl<'g> Tensor<'g> {
    /// Each pixel of the planes `[W, H, …]` (`ne`) as a square of `factor × factor`.
    pub fn upscale_nearest(self, factor: i64) -> Result<Tensor<'g>, OpError> {
        if !(1..=MAX_SIDE).contains(&factor) {
            return Err(op_error(Op::Upscale, &[self], OpProblem::Parameter("the factor is from 1 to 2²⁰")));
        }
        let [width, height, ..] = self.ne();
        self.upscale([width.saturating_mul(factor), height.saturating_mul(factor)], sys::GGML_SCALE_MODE_NEAREST)
    }

    /// The planes `[W, H, …]` (`ne`) at the size `[width, height]`.
    pub fn interpolate(self, size: [i64; 2], interpolation: Interpolation) -> Result<Tensor<'g>, OpError> {
        self.upscale(
            size,
            match interpolation {
                Interpolation::Bilinear => sys::GGML_SCALE_MODE_BILINEAR,
                Interpolation::Bicubic => sys::GGML_SCALE_MODE_BICUBIC,
            },
        )
    }

    fn upscale(self, [width, height]: [i64; 2], mode: sys::ggml_scale_mode) -> Result<Tensor<'g>, OpError> {
        let error = |problem| op_error(Op::Upscale, &[self], problem);
        let [our_width, our_height, n_planes, n_images] = self.ne();
        Layout::packed(DType::F32, [width, height, n_planes, n_images]).map_err(error)?;
        if [width, height, our_width, our_height, n_planes, n_images].iter().any(|&side| side > MAX_SIDE) {
            return Err(error(OpProblem::Parameter("sides are at most 2²⁰")));
        }
        self.state.emit(Op::Upscale, DType::F32, &[self], |context| {
            // SAFETY: the context has room; the mode is one of ggml's and the operand is f32.
            unsafe { sys::ggml_interpolate(context, self.raw(), width, height, n_planes, n_images, mode) }
        })
    }
}
