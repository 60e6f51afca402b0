//! A graph under construction: leaves, the record of every tensor, and the order of computation.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::ptr::NonNull;

use fresco_ggml_sys as sys;

use crate::arena::Arena;
use crate::error::{OpError, OpProblem, Operand};
use crate::layout::Layout;
use crate::support;
use crate::{DType, Op, Tensor, TensorId};

/// Tensors by which a graph's metadata grows: about 100 KiB.
const TENSORS_PER_CONTEXT: usize = 256;

/// Where a graph is built: makes leaves and collects what is to be computed.
///
/// The lifetime brands the tensors: those of one graph do not fit another, and none leaves the scope.
///
/// ```compile_fail
/// # use fresco_ggml::{DType, Graph};
/// Graph::build(|outer| {
///     let x = outer.new_input(DType::F32, [1; 4])?;
///     Graph::build(|inner| x.add(inner.new_input(DType::F32, [1; 4])?).map(|_| ())).ok();
///     Ok(())
/// });
/// ```
/// ```compile_fail
/// # use fresco_ggml::{DType, Graph};
/// let escaped = Graph::build(|scope| scope.new_input(DType::F32, [1; 4]));
/// ```
pub struct GraphScope<'g> {
    pub(crate) state: &'g ScopeState,
    _brand: PhantomData<Cell<&'g ()>>,
}

/// What a tensor's memory is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The result of an operation, or a view.
    Computed,
    /// A leaf written before every run.
    Input,
    /// A leaf in a buffer that outlives the graph.
    External,
    /// A leaf without initial value, for operations that write into it.
    Scratch,
    /// A leaf of which only the shape is read.
    Shape,
}

/// What Rust knows of a tensor: all that allocation and checks need, so that neither reads ggml's memory.
pub(crate) struct Record {
    pub(crate) raw: NonNull<sys::ggml_tensor>,
    pub(crate) layout: Layout,
    pub(crate) op: Op,
    pub(crate) sources: Vec<u32>,
    pub(crate) role: Role,
    /// The tensor whose memory this one shows; itself, unless it is a view or writes in place.
    pub(crate) root: u32,
    /// Where in the root's memory it starts.
    pub(crate) root_offset: usize,
    pub(crate) is_output: bool,
    /// For the operand of `get_rows` that holds row numbers: how many rows there are.
    pub(crate) row_limit: Option<i64>,
}

impl Record {
    /// The operand that computing the node writes.
    pub(crate) fn written_operand(&self) -> Option<u32> {
        match self.op {
            Op::Set => self.sources.first().copied(),
            Op::Copy => self.sources.last().copied(),
            _ => None,
        }
    }
}

/// A graph under construction.
pub(crate) struct ScopeState {
    pub(crate) graph: u64,
    pub(crate) arena: RefCell<Arena>,
    pub(crate) records: RefCell<Vec<Record>>,
    pub(crate) order: RefCell<Order>,
    /// The leaves that stand for kernels in `im2col`, by their shape.
    pub(crate) kernel_shapes: RefCell<Vec<([i64; 4], u32)>>,
}

/// Tensors to compute, each after its operands.
#[derive(Default)]
pub(crate) struct Order {
    pub(crate) tensors: Vec<u32>,
    visited: Vec<bool>,
}

impl<'g> GraphScope<'g> {
    pub(crate) fn new(state: &'g ScopeState) -> GraphScope<'g> {
        GraphScope { state, _brand: PhantomData }
    }

    /// A leaf that is written before every run with [`Graph::write`](crate::Graph::write). Its memory is part of the
    /// graph's allocation and is reused within the run.
    pub fn new_input(&self, dtype: DType, ne: [i64; 4]) -> Result<Tensor<'g>, OpError> {
        let input = self.state.leaf(dtype, ne, Role::Input)?;
        // SAFETY: the tensor was made by this scope and lives as long as it.
        unsafe { sys::ggml_set_input(self.state.raw(input.index)) };
        Ok(input)
    }

    /// A leaf whose memory is a buffer's, given by [`Graph::bind`](crate::Graph::bind): weights and kept state.
    pub fn new_external(&self, dtype: DType, ne: [i64; 4]) -> Result<Tensor<'g>, OpError> {
        self.state.leaf(dtype, ne, Role::External)
    }

    /// A leaf without a value, to be written in place; its memory is part of the graph's allocation from its first use
    /// to its last.
    pub fn new_scratch(&self, dtype: DType, ne: [i64; 4]) -> Result<Tensor<'g>, OpError> {
        self.state.leaf(dtype, ne, Role::Scratch)
    }

    /// Puts `tensor` and what it depends on at the end of the order of computation, where they are not in it yet.
    pub fn expand(&self, tensor: Tensor<'g>) {
        let records = self.state.records.borrow();
        self.state.order.borrow_mut().expand(&records, tensor.index);
    }
}

impl ScopeState {
    pub(crate) fn new(graph: u64) -> ScopeState {
        ScopeState {
            graph,
            arena: RefCell::new(Arena::new(TENSORS_PER_CONTEXT)),
            records: RefCell::new(Vec::new()),
            order: RefCell::new(Order::default()),
            kernel_shapes: RefCell::new(Vec::new()),
        }
    }

    pub(crate) fn raw(&self, index: u32) -> *mut sys::ggml_tensor {
        self.records.borrow()[index as usize].raw.as_ptr()
    }

    pub(crate) fn layout(&self, index: u32) -> Layout {
        self.records.borrow()[index as usize].layout
    }

    pub(crate) fn id(&self, index: u32) -> TensorId {
        TensorId { graph: self.graph, index }
    }

    /// A leaf of the given role.
    pub(crate) fn leaf(&self, dtype: DType, ne: [i64; 4], role: Role) -> Result<Tensor<'_>, OpError> {
        Layout::packed(dtype, ne).map_err(|problem| OpError { op: Op::Leaf, operands: Vec::new(), problem })?;
        let tensor = self.emit(Op::Leaf, dtype, &[], |context| {
            // SAFETY: the context has room for a tensor, and the shape was checked.
            unsafe { sys::ggml_new_tensor(context, dtype.raw(), 4, ne.as_ptr()) }
        })?;
        self.records.borrow_mut()[tensor.index as usize].role = role;
        Ok(tensor)
    }

    /// Checks `operands` against the table of kernels, then lets `make` make the node. What else ggml asserts of the
    /// operation must have been checked before.
    pub(crate) fn emit<'g>(
        &'g self,
        op: Op,
        result: DType,
        operands: &[Tensor<'g>],
        make: impl FnOnce(*mut sys::ggml_context) -> *mut sys::ggml_tensor,
    ) -> Result<Tensor<'g>, OpError> {
        let layouts: Vec<Layout> = operands.iter().map(Tensor::layout).collect();
        support::check(op, result, &layouts).map_err(|problem| op_error(op, operands, problem))?;
        let context = self.arena.borrow_mut().reserve_tensor();
        let context = context.map_err(|_| op_error(op, operands, OpProblem::OutOfMemory))?;
        let raw = NonNull::new(make(context)).ok_or_else(|| op_error(op, operands, OpProblem::OutOfMemory))?;
        let sources = operands.iter().map(|operand| operand.index).collect();
        Ok(self.adopt(raw, op, sources))
    }

    /// Records a tensor that ggml has just made.
    fn adopt<'g>(&'g self, raw: NonNull<sys::ggml_tensor>, op: Op, sources: Vec<u32>) -> Tensor<'g> {
        // SAFETY: ggml initialised the tensor and nothing else refers to it yet.
        let tensor = unsafe { raw.as_ref() };
        // ggml knows no type that the table lacks; it was given one of the table's.
        let dtype = DType::from_raw(tensor.type_).unwrap_or(DType::F32);
        let layout = Layout { dtype, ne: tensor.ne, nb: tensor.nb };
        let mut records = self.records.borrow_mut();
        let index = records.len() as u32;
        let (root, root_offset) = match NonNull::new(tensor.view_src) {
            // Roots lie among the operands' roots; ggml follows chains of views to their end.
            Some(view_src) => {
                let roots = sources.iter().map(|&source| records[source as usize].root);
                let root = roots.into_iter().find(|&root| records[root as usize].raw == view_src);
                (root.unwrap_or(index), tensor.view_offs)
            }
            None => (index, 0),
        };
        let role = Role::Computed;
        records.push(Record { raw, layout, op, sources, role, root, root_offset, is_output: false, row_limit: None });
        Tensor::new(self, index)
    }
}

impl Order {
    /// Visits operands before the node, without recursion: graphs are deeper than stacks.
    fn expand(&mut self, records: &[Record], target: u32) {
        self.visited.resize(records.len(), false);
        let mut stack = vec![(target, 0usize)];
        while let Some((index, n_done)) = stack.pop() {
            if self.visited[index as usize] {
                continue;
            }
            match records[index as usize].sources.get(n_done) {
                Some(&source) => {
                    stack.push((index, n_done + 1));
                    stack.push((source, 0));
                }
                None => {
                    self.visited[index as usize] = true;
                    self.tensors.push(index);
                }
            }
        }
    }
}

/// The error of an operation on `operands`.
pub(crate) fn op_error(op: Op, operands: &[Tensor<'_>], problem: OpProblem) -> OpError {
    let operands = operands.iter().map(Tensor::layout).map(|Layout { dtype, ne, .. }| Operand { dtype, ne });
    OpError { op, operands: operands.collect(), problem }
}
