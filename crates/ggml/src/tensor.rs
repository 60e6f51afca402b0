//! Handles of a graph's tensors: within the scope that builds it, and afterwards.

use std::cell::Cell;
use std::marker::PhantomData;

use fresco_ggml_sys as sys;

use crate::DType;
use crate::layout::Layout;
use crate::scope::ScopeState;

/// A tensor of a graph under construction. Its operations are methods, which add a node and return its tensor.
///
/// Lengths (`ne`) and strides (`nb`) are in ggml's order, innermost first: an image batch `[N, C, H, W]` has
/// `ne = [W, H, C, N]`.
#[derive(Clone, Copy)]
pub struct Tensor<'g> {
    pub(crate) state: &'g ScopeState,
    pub(crate) index: u32,
    _brand: PhantomData<Cell<&'g ()>>,
}

/// Names a tensor of a graph after it was built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TensorId {
    pub(crate) graph: u64,
    pub(crate) index: u32,
}

impl<'g> Tensor<'g> {
    pub(crate) fn new(state: &'g ScopeState, index: u32) -> Tensor<'g> {
        Tensor { state, index, _brand: PhantomData }
    }

    /// What names the tensor once the graph is built.
    pub fn id(&self) -> TensorId {
        self.state.id(self.index)
    }

    /// Type of the elements.
    pub fn dtype(&self) -> DType {
        self.layout().dtype
    }

    /// Length of each dimension, innermost first.
    pub fn ne(&self) -> [i64; 4] {
        self.layout().ne
    }

    /// Bytes from one element (of a block type: one block) to the next along each dimension, innermost first.
    pub fn nb(&self) -> [usize; 4] {
        self.layout().nb
    }

    /// Bytes from the first to the last element, both included.
    pub fn n_bytes(&self) -> u64 {
        self.layout().n_bytes() as u64
    }

    /// Whether the elements lie in order and without gaps.
    pub fn is_contiguous(&self) -> bool {
        self.layout().is_contiguous()
    }

    /// Keeps the tensor's value until the end of the run, so that [`Graph::read`](crate::Graph::read) finds it there.
    pub fn set_output(&self) {
        let mut records = self.state.records.borrow_mut();
        let root = records[self.index as usize].root;
        for index in [root, self.index] {
            let record = &mut records[index as usize];
            record.is_output = true;
            // SAFETY: the tensor lives as long as its scope, and sets a flag of its own.
            unsafe { sys::ggml_set_output(record.raw.as_ptr()) };
        }
    }

    pub(crate) fn layout(&self) -> Layout {
        self.state.layout(self.index)
    }

    pub(crate) fn raw(&self) -> *mut sys::ggml_tensor {
        self.state.raw(self.index)
    }
}
