//! Convolution as strips of im2col and a matrix product, in f32.
//!
//! The columns of a whole tile would be `KH · KW` times its size, so the output is made strip by strip: as many rows as
//! keep the strip's columns within [`COLUMN_BYTES`], which depends on shapes alone. Weights of another type become f32
//! first: that costs little beside the product and keeps activations exact.
//!
//! ggml's CPU code multiplies a number of columns that [`PIXELS`] divides by blocks, and any other number column by column,
//! in another order of summation and slower. Strips are therefore extended to such a number, so that a pixel's value
//! depends on what the kernel sees and not on the size of the image around it.

use crate::ggml::{DType, GraphScope, OpError, Tensor};
use crate::graph::Conv2d;
use crate::lower::image::concat;
use crate::lower::ne;
use crate::residency::Shape;

/// The most bytes of one strip's columns, unless the fewest rows need more.
const COLUMN_BYTES: i64 = 2 << 20;

/// A strip has a multiple of so many pixels.
const PIXELS: i64 = 4;

/// Convolves `x` (`ne = [W, H, C, N]`) with `weight` (`ne = [C / groups · KH · KW, O]`, in PyTorch's `weight_shape`).
pub(super) fn conv2d<'s>(
    scope: &GraphScope<'s>,
    conv: &Conv2d,
    x: Tensor<'s>,
    weight: Tensor<'s>,
    weight_shape: Shape,
    bias: Option<Tensor<'s>>,
    result: Shape,
) -> Result<Tensor<'s>, OpError> {
    let [kernel_w, kernel_h, in_channels, out_channels] = ne(weight_shape);
    let [out_w, out_h, _, n_images] = ne(result);
    let weight = if weight.dtype() == DType::F32 { weight } else { weight.cast(DType::F32)? };
    let groups = conv.groups as i64;
    let out_channels = out_channels / groups;
    let mut images = Vec::new();
    for image in 0..n_images {
        let mut channels = Vec::new();
        for group in 0..groups {
            let window = Window { x, image, first_channel: group * in_channels, n_channels: in_channels };
            let ([row_len, ..], [_, row, ..]) = (weight.ne(), weight.nb());
            let weight = weight.view_2d([row_len, out_channels], row, (group * out_channels) as usize * row)?;
            let plane = Plane { conv, kernel: [kernel_w, kernel_h], out: [out_w, out_h] };
            channels.push(plane.convolve(scope, &window, weight)?);
        }
        images.push(concat(scope, &channels, 2)?);
    }
    let result = concat(scope, &images, 3)?;
    match bias {
        Some(bias) => result.add(bias),
        None => Ok(result),
    }
}

/// Channels of one image of the input.
struct Window<'s> {
    x: Tensor<'s>,
    image: i64,
    first_channel: i64,
    n_channels: i64,
}

impl<'s> Window<'s> {
    /// Rows `first .. last` of the window, without a copy.
    fn rows(&self, first: i64, last: i64) -> Result<Tensor<'s>, OpError> {
        let ([width, ..], [_, row, plane, image]) = (self.x.ne(), self.x.nb());
        let offset = self.image as usize * image + self.first_channel as usize * plane + first as usize * row;
        self.x.view_3d([width, last - first, self.n_channels], [row, plane], offset)
    }
}

/// One image's convolution of one group.
struct Plane<'a> {
    conv: &'a Conv2d,
    kernel: [i64; 2],
    out: [i64; 2],
}

impl Plane<'_> {
    fn convolve<'s>(&self, scope: &GraphScope<'s>, x: &Window<'s>, weight: Tensor<'s>) -> Result<Tensor<'s>, OpError> {
        let [out_w, out_h] = self.out;
        let [row_len, out_channels, ..] = weight.ne();
        // The fewest rows that have a multiple of PIXELS pixels.
        let row_step = (1..PIXELS).find(|n_rows| out_w * n_rows % PIXELS == 0).unwrap_or(PIXELS);
        let n_rows = COLUMN_BYTES / (row_len * out_w * 4).max(1);
        let n_rows = (n_rows / row_step * row_step).max(row_step).min(out_h);
        let strip = |first: i64| {
            let n = n_rows.min(out_h - first);
            let n_extended = (n + row_step - 1) / row_step * row_step;
            let columns = self.columns(x, first, n_extended)?.reshape([row_len, out_w * n_extended, 1, 1])?;
            let product = columns.mul_mat(weight)?;
            if n == n_extended {
                return product.reshape([out_w, n, out_channels, 1]);
            }
            let [_, plane, ..] = product.nb();
            product.view_3d([out_w, n, out_channels], [out_w as usize * DType::F32.block_bytes(), plane], 0)
        };
        if n_rows == out_h {
            let whole = strip(0)?;
            return if whole.is_contiguous() { Ok(whole) } else { whole.cont() };
        }
        let mut joined = scope.new_scratch(DType::F32, [out_w, out_h, out_channels, 1])?;
        for first in (0..out_h).step_by(n_rows as usize) {
            let [_, row, plane, image] = joined.nb();
            joined = joined.set_inplace(strip(first)?, [row, plane, image], first as usize * row)?;
        }
        Ok(joined)
    }

    /// The columns of output rows `first .. first + n`: `ne = [C · KH · KW, OW, n]`.
    fn columns<'s>(&self, x: &Window<'s>, first: i64, n: i64) -> Result<Tensor<'s>, OpError> {
        let [kernel_w, kernel_h] = self.kernel;
        let height = x.x.ne()[1];
        let [stride_h, stride_w] = self.conv.stride.map(|v| v as i64);
        let [padding_h, padding_w] = self.conv.padding.map(|v| v as i64);
        let [dilation_h, dilation_w] = self.conv.dilation.map(|v| v as i64);
        let start = first * stride_h - padding_h;
        let end = start + (n - 1) * stride_h + (kernel_h - 1) * dilation_h + 1;
        let (above, below) = ((-start).max(0), (end - height).max(0));
        let mut rows = x.rows(start.max(0), end.min(height))?;
        if above > 0 || below > 0 {
            rows = rows.pad_ext([0, above, 0, 0], [0, below, 0, 0])?;
        } else if !rows.is_contiguous() {
            // Vulkan reads contiguous images only, and the copy is small beside the columns.
            rows = rows.cont()?;
        }
        rows.im2col([kernel_w, kernel_h], [stride_w, stride_h], [padding_w, 0], [dilation_w, dilation_h], DType::F32)
    }
}
