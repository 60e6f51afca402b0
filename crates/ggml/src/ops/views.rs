//! Other ways to see the same memory: nothing is computed.

use fresco_ggml_sys as sys;

use crate::error::{OpError, OpProblem};
use crate::layout::Layout;
use crate::scope::op_error;
use crate::{Op, Tensor};

impl<'g> Tensor<'g> {
    /// `len` elements from byte `offset`.
    pub fn view_1d(self, len: i64, offset: usize) -> Result<Tensor<'g>, OpError> {
        let nb = self.packed_strides([len, 1, 1, 1])?;
        self.view(Op::View, [len, 1, 1, 1], nb, offset)
    }

    /// Rows of `ne[0]` elements, `stride` bytes apart, from byte `offset`.
    pub fn view_2d(self, ne: [i64; 2], stride: usize, offset: usize) -> Result<Tensor<'g>, OpError> {
        self.view_3d([ne[0], ne[1], 1], [stride, stride.saturating_mul(ne[1].max(0) as usize)], offset)
    }

    /// Elements that are neighbours along the first dimension and `strides` bytes apart along the others, from byte
    /// `offset`.
    pub fn view_3d(self, ne: [i64; 3], strides: [usize; 2], offset: usize) -> Result<Tensor<'g>, OpError> {
        let outer = strides[1].saturating_mul(ne[2].max(0) as usize);
        self.view_4d([ne[0], ne[1], ne[2], 1], [strides[0], strides[1], outer], offset)
    }

    /// Elements that are neighbours along the first dimension and `strides` bytes apart along the others, from byte
    /// `offset`. Strides may repeat elements, but not leave the tensor.
    pub fn view_4d(self, ne: [i64; 4], strides: [usize; 3], offset: usize) -> Result<Tensor<'g>, OpError> {
        let [nb1, nb2, nb3] = strides;
        self.view(Op::View, ne, [self.dtype().block_bytes(), nb1, nb2, nb3], offset)
    }

    /// The same elements in another shape. The tensor must be contiguous.
    pub fn reshape(self, ne: [i64; 4]) -> Result<Tensor<'g>, OpError> {
        let error = |problem| op_error(Op::Reshape, &[self], problem);
        let result = Layout::packed(self.dtype(), ne).map_err(error)?;
        if result.n_elements() != self.layout().n_elements() {
            return Err(error(OpProblem::Shapes("both shapes must have the same number of elements")));
        }
        let [ne0, ne1, ne2, ne3] = ne;
        self.state.emit(Op::Reshape, self.dtype(), &[self], |context| {
            // SAFETY: the context has room; the tensor is contiguous and the number of elements stays.
            unsafe { sys::ggml_reshape_4d(context, self.raw(), ne0, ne1, ne2, ne3) }
        })
    }

    /// The dimensions in another order: dimension `i` becomes dimension `places[i]`.
    pub fn permute(self, places: [usize; 4]) -> Result<Tensor<'g>, OpError> {
        let error = |problem| op_error(Op::Permute, &[self], problem);
        let mut seen = [false; 4];
        for place in places {
            match seen.get_mut(place) {
                Some(seen) if !*seen => *seen = true,
                _ => return Err(error(OpProblem::Parameter("each of 0 to 3 once"))),
            }
        }
        if self.dtype().is_quantized() && places[0] != 0 {
            return Err(error(OpProblem::Layout("the innermost dimension of a block type must stay")));
        }
        let [place0, place1, place2, place3] = places.map(|place| place as i32);
        self.state.emit(Op::Permute, self.dtype(), &[self], |context| {
            // SAFETY: the context has room and the places are a permutation.
            unsafe { sys::ggml_permute(context, self.raw(), place0, place1, place2, place3) }
        })
    }

    /// The first two dimensions exchanged.
    pub fn transpose(self) -> Result<Tensor<'g>, OpError> {
        if self.dtype().is_quantized() {
            let rule = "the innermost dimension of a block type must stay";
            return Err(op_error(Op::Transpose, &[self], OpProblem::Layout(rule)));
        }
        self.state.emit(Op::Transpose, self.dtype(), &[self], |context| {
            // SAFETY: the context has room; any tensor of a plain type can be transposed.
            unsafe { sys::ggml_transpose(context, self.raw()) }
        })
    }

    fn packed_strides(self, ne: [i64; 4]) -> Result<[usize; 4], OpError> {
        let layout = Layout::packed(self.dtype(), ne).map_err(|problem| op_error(Op::View, &[self], problem))?;
        Ok(layout.nb)
    }

    fn view(self, op: Op, ne: [i64; 4], nb: [usize; 4], offset: usize) -> Result<Tensor<'g>, OpError> {
        let error = |problem| op_error(op, &[self], problem);
        let base = self.layout();
        let part = Layout::strided(base.dtype, ne, nb).map_err(error)?;
        if !offset.is_multiple_of(base.dtype.block_bytes()) {
            return Err(error(OpProblem::Parameter("the offset must be a whole number of elements")));
        }
        // ggml also wants room for the elements without gaps, which a view that repeats elements may not have.
        let end = offset.saturating_add(part.n_bytes().max(part.packed_bytes()));
        if end > base.n_bytes() {
            let (end_bytes, limit_bytes) = (end as u64, base.n_bytes() as u64);
            return Err(error(OpProblem::Bounds { end_bytes, limit_bytes }));
        }
        let ([ne0, ne1, ne2, ne3], [_, nb1, nb2, nb3]) = (ne, nb);
        self.state.emit(op, base.dtype, &[self], |context| {
            // SAFETY: the context has room and the view stays within the tensor's memory.
            unsafe { sys::ggml_view_4d(context, self.raw(), ne0, ne1, ne2, ne3, nb1, nb2, nb3, offset) }
        })
    }
}
