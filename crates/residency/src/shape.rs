//! Shapes of tensors in PyTorch order, outermost dimension first.

use std::fmt;

/// The most dimensions a value may have; lowering folds them to ggml's four.
pub const MAX_RANK: usize = 6;

/// A shape in PyTorch order, such as `[N, C, H, W]`. A scalar has no dimension and one element.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    dims: [u64; MAX_RANK],
    rank: u8,
}

impl Shape {
    /// The shape of a scalar.
    pub const SCALAR: Shape = Shape { dims: [1; MAX_RANK], rank: 0 };

    /// A shape of the given dimensions, or `None` where there are more than [`MAX_RANK`].
    #[must_use]
    pub fn new(dims: &[u64]) -> Option<Self> {
        let mut shape = Self::SCALAR;
        shape.dims.get_mut(..dims.len())?.copy_from_slice(dims);
        // At most MAX_RANK, as the line above found room for them.
        shape.rank = dims.len() as u8;
        Some(shape)
    }

    /// The dimensions, outermost first.
    #[must_use]
    pub fn dims(&self) -> &[u64] {
        &self.dims[..self.rank()]
    }

    /// The number of dimensions.
    #[must_use]
    pub fn rank(&self) -> usize {
        usize::from(self.rank)
    }

    /// The dimensions as a fixed array, or `None` where the rank differs.
    #[must_use]
    pub fn to_array<const N: usize>(&self) -> Option<[u64; N]> {
        self.dims().try_into().ok()
    }

    /// The number of elements, or `None` where it exceeds 64 bits.
    #[must_use]
    pub fn checked_n_elements(&self) -> Option<u64> {
        self.dims().iter().try_fold(1u64, |product, &dim| product.checked_mul(dim))
    }

    /// The shape as a matrix, `[rows, row length]`: how a weight is stored, and the rows that quantised types divide into
    /// blocks. All dimensions but the first make a row (a convolution's `[out, in, KH, KW]` is `[out, in · KH · KW]`); a
    /// vector is one row. `None` where the row length exceeds 64 bits.
    #[must_use]
    pub fn as_matrix(&self) -> Option<[u64; 2]> {
        match self.dims() {
            [] => Some([1, 1]),
            [len] => Some([1, *len]),
            [rows, row @ ..] => Some([*rows, row.iter().try_fold(1u64, |len, &dim| len.checked_mul(dim))?]),
        }
    }

    /// The same shape with one dimension replaced.
    ///
    /// # Panics
    /// Where `dim` is not below the rank.
    #[must_use]
    pub fn with_dim(mut self, dim: usize, len: u64) -> Self {
        assert!(dim < self.rank(), "dimension {dim} of a shape of rank {}", self.rank);
        self.dims[dim] = len;
        self
    }
}

impl<const N: usize> From<[u64; N]> for Shape {
    /// A shape of at most [`MAX_RANK`] dimensions; more do not compile.
    fn from(dims: [u64; N]) -> Self {
        const { assert!(N <= MAX_RANK, "a shape has at most MAX_RANK dimensions") };
        let mut shape = Self::SCALAR;
        shape.dims[..N].copy_from_slice(&dims);
        shape.rank = N as u8;
        shape
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (i, dim) in self.dims().iter().enumerate() {
            write!(f, "{}{dim}", if i == 0 { "" } else { ", " })?;
        }
        f.write_str("]")
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_order_and_rank() {
        let shape = Shape::from([1, 3, 48, 64]);
        assert_eq!(shape.dims(), [1, 3, 48, 64]);
        assert_eq!(shape.to_string(), "[1, 3, 48, 64]");
        assert_eq!(shape.to_array::<4>(), Some([1, 3, 48, 64]));
        assert_eq!(shape.to_array::<3>(), None);
        assert_eq!(shape.with_dim(1, 12), Shape::from([1, 12, 48, 64]));
    }

    #[test]
    fn weights_are_matrices() {
        assert_eq!(Shape::from([64, 32, 3, 3]).as_matrix(), Some([64, 288]));
        assert_eq!(Shape::from([64]).as_matrix(), Some([1, 64]));
        assert_eq!(Shape::SCALAR.as_matrix(), Some([1, 1]));
        assert_eq!(Shape::from([2, 1 << 40, 1 << 40]).as_matrix(), None);
    }

    #[test]
    fn counts_elements_without_wrapping() {
        assert_eq!(Shape::SCALAR.checked_n_elements(), Some(1));
        assert_eq!(Shape::from([0, 5]).checked_n_elements(), Some(0));
        assert_eq!(Shape::from([1 << 32, 1 << 32]).checked_n_elements(), None);
        assert_eq!(Shape::new(&[1; MAX_RANK + 1]), None);
    }
}
