//! How a tensor's elements lie in memory, and the questions that kernels ask of it.
//!
//! Lengths (`ne`) and strides in bytes (`nb`) are in ggml's order, innermost first. For a block type `ne[0]` counts
//! elements and `nb[0]` is the stride of blocks.

use crate::DType;
use crate::error::OpProblem;

/// The most elements of a tensor: ggml's kernels count elements, rows and columns in `int`.
pub(crate) const MAX_ELEMENTS: i64 = i32::MAX as i64;

/// Type, lengths and strides of a tensor. Lengths are positive and their product is at most [`MAX_ELEMENTS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) dtype: DType,
    pub(crate) ne: [i64; 4],
    pub(crate) nb: [usize; 4],
}

impl Layout {
    /// The layout of a tensor without gaps.
    pub(crate) fn packed(dtype: DType, ne: [i64; 4]) -> Result<Layout, OpProblem> {
        let n_elements = ne.iter().try_fold(1i64, |n, &len| if len > 0 { n.checked_mul(len) } else { None });
        if n_elements.is_none_or(|n| n > MAX_ELEMENTS) {
            return Err(OpProblem::Size { ne });
        }
        let block_len = dtype.block_len() as i64;
        if ne[0] % block_len != 0 {
            return Err(OpProblem::Blocks { dtype, row_len: ne[0] });
        }
        let row_bytes = (ne[0] / block_len) as usize * dtype.block_bytes();
        let plane_bytes = row_bytes * ne[1] as usize;
        let nb = [dtype.block_bytes(), row_bytes, plane_bytes, plane_bytes * ne[2] as usize];
        Ok(Layout { dtype, ne, nb })
    }

    /// The layout of a view; strides need not follow from lengths.
    pub(crate) fn strided(dtype: DType, ne: [i64; 4], nb: [usize; 4]) -> Result<Layout, OpProblem> {
        Layout::packed(dtype, ne)?;
        let layout = Layout { dtype, ne, nb };
        if layout.checked_n_bytes().is_none() {
            return Err(OpProblem::Size { ne });
        }
        if nb.iter().any(|stride| stride % dtype.block_bytes() != 0) {
            return Err(OpProblem::Layout("strides are whole elements"));
        }
        Ok(layout)
    }

    pub(crate) fn n_elements(&self) -> i64 {
        self.ne.iter().product()
    }

    /// Rows of the innermost dimension.
    pub(crate) fn n_rows(&self) -> i64 {
        self.ne[1..].iter().product()
    }

    /// Blocks of a row; elements for the plain types.
    fn row_blocks(&self) -> i64 {
        self.ne[0] / self.dtype.block_len() as i64
    }

    /// Bytes of a row without gaps.
    pub(crate) fn row_bytes(&self) -> usize {
        self.row_blocks() as usize * self.dtype.block_bytes()
    }

    /// Bytes from the first to the last element, both included.
    pub(crate) fn n_bytes(&self) -> usize {
        // Checked when the layout was made.
        self.checked_n_bytes().unwrap_or(usize::MAX)
    }

    fn checked_n_bytes(&self) -> Option<usize> {
        let steps = [self.row_blocks(), self.ne[1], self.ne[2], self.ne[3]];
        let spans = steps.iter().zip(self.nb).map(|(&n, stride)| stride.checked_mul(n as usize - 1));
        spans
            .into_iter()
            .try_fold(self.dtype.block_bytes(), |sum, span| sum.checked_add(span?))
            .filter(|&n| n <= isize::MAX as usize)
    }

    /// Bytes the elements would take without gaps.
    pub(crate) fn packed_bytes(&self) -> usize {
        self.row_bytes() * self.n_rows() as usize
    }

    /// The elements of a row are neighbours.
    pub(crate) fn has_packed_rows(&self) -> bool {
        self.nb[0] == self.dtype.block_bytes()
    }

    /// Rows are packed and all of them one stride apart, across all outer dimensions.
    pub(crate) fn has_even_rows(&self) -> bool {
        let plane_bytes = self.nb[1].saturating_mul(self.ne[1] as usize);
        let volume_bytes = plane_bytes.saturating_mul(self.ne[2] as usize);
        self.has_packed_rows()
            && (self.ne[2] == 1 || self.nb[2] == plane_bytes)
            && (self.ne[3] == 1 || self.nb[3] == volume_bytes)
    }

    /// Without gaps, in order. Strides of dimensions of length 1 do not matter, as in ggml.
    pub(crate) fn is_contiguous(&self) -> bool {
        let plane_bytes = self.row_bytes() * self.ne[1] as usize;
        (self.row_blocks() == 1 || self.has_packed_rows())
            && (self.ne[1] == 1 || self.nb[1] == self.row_bytes())
            && (self.ne[2] == 1 || self.nb[2] == plane_bytes)
            && (self.ne[3] == 1 || self.nb[3] == plane_bytes * self.ne[2] as usize)
    }

    /// Without gaps, in order, and with the strides that say so even for dimensions of length 1.
    pub(crate) fn is_packed(&self) -> bool {
        let Layout { ne, nb, .. } = *self;
        self.has_packed_rows()
            && nb[1] == self.row_bytes()
            && nb[2] == nb[1] * ne[1] as usize
            && nb[3] == nb[2] * ne[2] as usize
    }

    /// No two elements share memory. Decided by strides in ascending order, so it may say no to an interleaving that
    /// happens not to collide.
    pub(crate) fn is_injective(&self) -> bool {
        let mut dims: Vec<(usize, usize)> =
            (1..4).filter(|&d| self.ne[d] > 1).map(|d| (self.nb[d], self.ne[d] as usize)).collect();
        if self.row_blocks() > 1 {
            dims.push((self.nb[0], self.row_blocks() as usize));
        }
        dims.sort_unstable();
        let mut end = self.dtype.block_bytes();
        dims.into_iter().all(|(stride, len)| {
            let fits = stride >= end;
            end += stride.saturating_mul(len - 1);
            fits
        })
    }

    /// `other` can be repeated a whole number of times to have this shape.
    pub(crate) fn is_multiple_of(&self, other: &Layout) -> bool {
        self.ne.iter().zip(other.ne).all(|(&len, part)| len % part == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strided(ne: [i64; 4], nb: [usize; 4]) -> Layout {
        Layout::strided(DType::F32, ne, nb).unwrap()
    }

    #[test]
    fn packed_layouts_are_contiguous() {
        for (dtype, ne) in [(DType::F32, [3, 4, 5, 6]), (DType::Q8_0, [64, 3, 1, 2]), (DType::F16, [1, 1, 1, 1])] {
            let layout = Layout::packed(dtype, ne).unwrap();
            assert!(layout.is_contiguous() && layout.is_packed() && layout.has_even_rows() && layout.is_injective());
            assert_eq!(layout.n_bytes(), layout.packed_bytes());
        }
    }

    #[test]
    fn sizes_that_overflow_or_are_empty_are_refused() {
        for ne in [[0, 1, 1, 1], [-1, 2, 1, 1], [i64::MAX, 2, 1, 1], [1 << 16, 1 << 15, 1, 1]] {
            assert_eq!(Layout::packed(DType::F32, ne), Err(OpProblem::Size { ne }));
        }
        assert!(Layout::packed(DType::F32, [MAX_ELEMENTS, 1, 1, 1]).is_ok());
        let blocks = Layout::packed(DType::Q4K, [255, 1, 1, 1]);
        assert_eq!(blocks, Err(OpProblem::Blocks { dtype: DType::Q4K, row_len: 255 }));
        assert!(Layout::strided(DType::F32, [2, 2, 2, 2], [usize::MAX - 3, 4, 4, 4]).is_err());
        assert!(Layout::strided(DType::F32, [2, 2, 1, 1], [4, 10, 20, 20]).is_err());
    }

    #[test]
    fn a_strip_of_rows_is_packed_in_rows_only() {
        let strip = strided([8, 2, 3, 1], [4, 32, 320, 960]);
        assert!(strip.has_packed_rows() && !strip.has_even_rows() && !strip.is_contiguous());
        assert_eq!(strip.n_bytes(), 2 * 320 + 32 + 32);
    }

    #[test]
    fn strides_of_single_dimensions_do_not_matter() {
        let column = strided([1, 5, 1, 1], [400, 4, 4, 12]);
        assert!(column.is_contiguous() && !column.is_packed() && !column.has_packed_rows());
    }

    #[test]
    fn repeated_and_overlapping_elements_are_seen() {
        assert!(!strided([4, 3, 1, 1], [4, 0, 0, 0]).is_injective());
        assert!(!strided([4, 3, 1, 1], [4, 8, 24, 24]).is_injective());
        assert!(!strided([4, 3, 2, 1], [24, 4, 8, 24]).is_injective());
        assert!(strided([2, 3, 1, 1], [12, 4, 24, 24]).is_injective());
    }
}
