//! Rearrangements of pixels and channels.

use crate::ggml::{DType, GraphScope, OpError, Tensor};

/// Tensors joined along ggml's dimension `dim`, each copied once to its place.
pub(super) fn concat<'s>(scope: &GraphScope<'s>, parts: &[Tensor<'s>], dim: usize) -> Result<Tensor<'s>, OpError> {
    let [part] = parts else {
        let mut ne = parts[0].ne();
        ne[dim] = parts.iter().map(|part| part.ne()[dim]).sum();
        let mut joined = scope.new_scratch(DType::F32, ne)?;
        let mut start = 0;
        for &part in parts {
            let [_, row, plane, image] = joined.nb();
            joined = joined.set_inplace(part, [row, plane, image], start)?;
            start += part.ne()[dim] as usize * joined.nb()[dim];
        }
        return Ok(joined);
    };
    Ok(*part)
}

/// Elements `start .. start + len` of ggml's dimension `dim`, as a contiguous copy.
pub(super) fn slice(x: Tensor<'_>, dim: usize, start: u64, len: u64) -> Result<Tensor<'_>, OpError> {
    let (mut ne, nb) = (x.ne(), x.nb());
    ne[dim] = len as i64;
    x.view_4d(ne, [nb[1], nb[2], nb[3]], start as usize * nb[dim])?.cont()
}

/// `ne = [W, H, C · r², N]` to `[W · r, H · r, C, N]`: channel `c·r² + i·r + j` becomes row `i`, column `j` of a block.
pub(super) fn pixel_shuffle(x: Tensor<'_>, factor: i64, ne: [i64; 4]) -> Result<Tensor<'_>, OpError> {
    let [width, height, channels, images] = x.ne();
    let planes = channels * images / (factor * factor);
    // [W, H, j, i·planes] to [j, W, H, i·planes]: columns interleave.
    let columns = x.reshape([width, height, factor, factor * planes])?.permute([1, 2, 0, 3])?.cont()?;
    // [W·r, H, i, planes] to [W·r, i, H, planes]: rows interleave.
    let rows = columns.reshape([width * factor, height, factor, planes])?.permute([0, 2, 1, 3])?.cont()?;
    rows.reshape(ne)
}

/// The inverse of [`pixel_shuffle`]: `ne = [W · r, H · r, C, N]` to `[W, H, C · r², N]`.
pub(super) fn pixel_unshuffle(x: Tensor<'_>, factor: i64, ne: [i64; 4]) -> Result<Tensor<'_>, OpError> {
    let [width, height, ..] = ne;
    let [_, _, channels, images] = x.ne();
    let planes = channels * images;
    let rows = x.reshape([width * factor, factor, height, planes])?.permute([0, 2, 1, 3])?.cont()?;
    let columns = rows.reshape([factor, width, height, factor * planes])?.permute([2, 0, 1, 3])?.cont()?;
    columns.reshape(ne)
}
