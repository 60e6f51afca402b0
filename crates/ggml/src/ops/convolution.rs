//! The patches under a convolution's kernel, so that the convolution becomes a matrix product.

use fresco_ggml_sys as sys;

use crate::error::{OpError, OpProblem};
use crate::layout::Layout;
use crate::scope::{Role, op_error};
use crate::{DType, Op, Tensor};

/// The largest stride, padding or dilation: positions computed from them stay far from `int`'s limits.
const MAX_STEP: i64 = 1 << 16;

impl<'g> Tensor<'g> {
    /// The patches of an image `[W, H, C, N]` (`ne`), as rows: `[C · KH · KW, OW, OH, N]`. Positions outside are zero.
    ///
    /// Pairs are (horizontal, vertical). Rows of the image must follow one another without gaps; planes may lie
    /// further apart, so that a strip of rows can be a view; Vulkan takes contiguous images only. `result` is f32, or
    /// f16 to round the patches.
    pub fn im2col(
        self,
        kernel: [i64; 2],
        stride: [i64; 2],
        padding: [i64; 2],
        dilation: [i64; 2],
        result: DType,
    ) -> Result<Tensor<'g>, OpError> {
        let error = |problem| op_error(Op::Im2col, &[self], problem);
        let image = self.layout();
        let [kernel_w, kernel_h] = kernel;
        let steps = stride.iter().chain(&dilation).all(|step| (1..=MAX_STEP).contains(step));
        if !steps || !padding.iter().all(|padding| (0..=MAX_STEP).contains(padding)) {
            return Err(error(OpProblem::Parameter("stride and dilation from 1, padding from 0, to 65536")));
        }
        if !kernel.iter().all(|len| (1..=MAX_STEP).contains(len)) {
            return Err(error(OpProblem::Parameter("kernel lengths from 1 to 65536")));
        }
        let out_len = |dim: usize| {
            let slack = image.ne[dim] + 2 * padding[dim] - dilation[dim] * (kernel[dim] - 1) - 1;
            if slack >= 0 { Some(slack / stride[dim] + 1) } else { None }
        };
        let (Some(out_w), Some(out_h)) = (out_len(0), out_len(1)) else {
            return Err(error(OpProblem::Shapes("the padded image must be at least as large as the kernel")));
        };
        if image.ne[1] > 1 && image.nb[1] != image.row_bytes() {
            return Err(error(OpProblem::Layout("rows of the image must follow one another without gaps")));
        }
        if image.nb[2].max(image.nb[3]) > i32::MAX as usize {
            return Err(error(OpProblem::Layout("planes of the image must be less than 2 GiB apart")));
        }
        let channels = image.ne[2];
        let row_len = kernel_w.checked_mul(kernel_h).and_then(|area| area.checked_mul(channels));
        let ne = [row_len.unwrap_or(i64::MAX), out_w, out_h, image.ne[3]];
        Layout::packed(result, ne).map_err(error)?;
        let shape = self.kernel_shape([kernel_w, kernel_h, channels, 1])?;
        let [[s0, s1], [p0, p1], [d0, d1]] = [stride, padding, dilation].map(|pair| pair.map(|step| step as i32));
        self.state.emit(Op::Im2col, result, &[shape, self], |context| {
            // SAFETY: the context has room; the kernel's channels are the image's and the result is not empty.
            unsafe { sys::ggml_im2col(context, shape.raw(), self.raw(), s0, s1, p0, p1, d0, d1, true, result.raw()) }
        })
    }

    /// A leaf of a kernel's shape: ggml reads the kernel's shape from a tensor, and never the tensor's elements.
    fn kernel_shape(self, ne: [i64; 4]) -> Result<Tensor<'g>, OpError> {
        let known = self.state.kernel_shapes.borrow().iter().find(|(known, _)| *known == ne).map(|(_, index)| *index);
        if let Some(index) = known {
            return Ok(Tensor::new(self.state, index));
        }
        let leaf = self.state.leaf(DType::I8, ne, Role::Shape)?;
        self.state.kernel_shapes.borrow_mut().push((ne, leaf.index));
        Ok(leaf)
    }
}
