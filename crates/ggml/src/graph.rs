//! A graph: its tensors, its order of computation, and where its values lie.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, MutexGuard, RwLockReadGuard, RwLockWriteGuard};

use fresco_ggml_sys as sys;

use crate::arena::Arena;
use crate::buffer::{Buffer, RawBuffer};
use crate::device::Device;
use crate::error::{Error, OpError, OpProblem};
use crate::ffi::{Failure, call};
use crate::plan::MemoryPlan;
use crate::scope::{GraphScope, Record, Role, ScopeState};
use crate::storage::Storages;
use crate::workspace::{Chunks, Workspace};
use crate::{Op, TensorId};

/// Operations in the order of their computation. Owns its metadata; its values lie in the workspace of an allocator and
/// in the buffers that its external leaves are bound to, which it keeps alive.
pub struct Graph {
    id: u64,
    records: Vec<Record>,
    /// What is computed and the leaves it needs, each after its operands.
    order: Vec<u32>,
    cgraph: NonNull<sys::ggml_cgraph>,
    _arena: Arena,
    /// For leaves with views: what shows their memory, in the order it was made.
    views: BTreeMap<u32, Vec<u32>>,
    bindings: BTreeMap<u32, Binding>,
    /// Inputs written since the last run.
    written: BTreeSet<u32>,
    placement: Option<Placement>,
}

// SAFETY: the graph's metadata is plain memory of its arena, which it owns and changes through `&mut` alone; the memory
// of its values is reached under the locks of its workspace and its buffers.
unsafe impl Send for Graph {}
// SAFETY: shared references read metadata, and values under those locks.
unsafe impl Sync for Graph {}

/// The memory of an external leaf.
struct Binding {
    buffer: Buffer,
    offset: u64,
}

/// The memory of everything else.
struct Placement {
    workspace: Arc<Workspace>,
    /// The workspace's generation that holds the graph; a later one holds another.
    generation: u64,
}

/// What a run holds while it computes: nothing else touches its memory.
pub(crate) struct RunGuard<'a> {
    _workspace: Option<MutexGuard<'a, Chunks>>,
    _read: Vec<RwLockReadGuard<'a, ()>>,
    _written: Vec<RwLockWriteGuard<'a, ()>>,
}

impl Graph {
    /// Builds a graph: `build` makes leaves and operations in the scope and says what to compute with
    /// [`GraphScope::expand`].
    pub fn build<R>(build: impl for<'g> FnOnce(&GraphScope<'g>) -> Result<R, OpError>) -> Result<(Graph, R), Error> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        crate::init()?;
        let state = ScopeState::new(NEXT.fetch_add(1, Ordering::Relaxed));
        let result = build(&GraphScope::new(&state))?;
        Ok((Graph::new(state)?, result))
    }

    fn new(state: ScopeState) -> Result<Graph, Error> {
        let (records, order) = (state.records.into_inner(), state.order.into_inner().tensors);
        let mut arena = state.arena.into_inner();
        let out_of_memory = |_| OpError { op: Op::Leaf, operands: Vec::new(), problem: OpProblem::OutOfMemory };
        let cgraph = arena.new_cgraph(order.len()).map_err(out_of_memory)?;
        for &index in &order {
            let tensor = records[index as usize].raw;
            // SAFETY: the graph has room for all of them, and each comes after its operands, so that ggml's recursion
            // over operands ends at once.
            unsafe { sys::ggml_build_forward_expand(cgraph.as_ptr(), tensor.as_ptr()) };
        }
        let mut views: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (index, record) in (0u32..).zip(&records).filter(|(index, record)| record.root != *index) {
            views.entry(record.root).or_default().push(index);
        }
        let (bindings, written) = (BTreeMap::new(), BTreeSet::new());
        Ok(Graph { id: state.graph, records, order, cgraph, _arena: arena, views, bindings, written, placement: None })
    }

    /// Number of operations, views and leaves in the order of computation.
    pub fn n_nodes(&self) -> usize {
        self.order.len()
    }

    /// Gives an external leaf its memory: the buffer's from byte `offset` on. Binding again moves it; binding to the
    /// same place does nothing.
    pub fn bind(&mut self, id: TensorId, buffer: &Buffer, offset: u64) -> Result<(), Error> {
        let index = self.index(id)?;
        let record = &self.records[index as usize];
        if record.role != Role::External {
            return Err(Error::WrongRole { id, expected: "an external leaf" });
        }
        if self.bindings.get(&index).is_some_and(|known| known.buffer.key() == buffer.key() && known.offset == offset) {
            return Ok(());
        }
        if buffer.is_read_only() && self.is_written(index) {
            return Err(Error::ReadOnly { what: "binding a tensor that the graph writes" });
        }
        check_alignment(record, buffer, offset)?;
        let n_bytes = buffer.device().alloc_bytes(record.raw) as u64;
        if offset.checked_add(n_bytes).is_none_or(|end| end > buffer.bytes()) {
            let (what, limit_bytes) = ("binding a tensor", buffer.bytes());
            return Err(Error::OutOfBounds { what, offset_bytes: offset, n_bytes, limit_bytes });
        }
        self.bindings.remove(&index);
        self.place(index, buffer.memory(), offset)?;
        self.bindings.insert(index, Binding { buffer: buffer.clone(), offset });
        Ok(())
    }

    /// Takes all external leaves their memory and lets go of its buffers. They are bound again before the next run.
    pub fn unbind(&mut self) {
        for index in std::mem::take(&mut self.bindings).into_keys() {
            let views = self.views.get(&index).into_iter().flatten();
            views.chain([&index]).for_each(|&index| unplace(self.records[index as usize].raw));
        }
    }

    /// Writes all elements of an input. Each input is written before every run: its memory is reused within the run.
    pub fn write(&mut self, id: TensorId, data: &[u8]) -> Result<(), Error> {
        let index = self.index(id)?;
        let record = &self.records[index as usize];
        if record.role != Role::Input {
            return Err(Error::WrongRole { id, expected: "an input" });
        }
        check_len("writing an input", record, data.len())?;
        if let Some(n_rows) = record.row_limit {
            check_rows(data, n_rows)?;
        }
        let chunks = self.chunks(id)?;
        let written = call(|message| {
            // SAFETY: the input is placed in live memory, the guard keeps others out, and the length is its own.
            unsafe { sys::fresco_tensor_set(record.raw.as_ptr(), data.as_ptr().cast(), 0, data.len(), message) }
        });
        written.map_err(|failure| compute_error(chunks.device(), failure))?;
        drop(chunks);
        self.written.insert(index);
        Ok(())
    }

    /// Reads all elements of an output, in order and without gaps.
    pub fn read(&self, id: TensorId, data: &mut [u8]) -> Result<(), Error> {
        let record = &self.records[self.index(id)? as usize];
        if !record.is_output || !record.layout.is_contiguous() {
            return Err(Error::WrongRole { id, expected: "a contiguous output" });
        }
        check_len("reading an output", record, data.len())?;
        let get = |data: &mut [u8]| {
            call(|message| {
                // SAFETY: the output is placed in live memory, a guard keeps writers out, and the length is its own.
                unsafe { sys::fresco_tensor_get(record.raw.as_ptr(), data.as_mut_ptr().cast(), 0, data.len(), message) }
            })
        };
        if let Some(Binding { buffer, .. }) = self.bindings.get(&record.root) {
            let _guard = buffer.lock_for_reading();
            return get(data).map_err(|failure| compute_error(buffer.device(), failure));
        }
        let chunks = self.chunks(id)?;
        if !is_placed(record.raw) {
            return Err(Error::NotPlaced {
                id,
                role: "an output",
                advice: "compute it: the graph does not contain it",
            });
        }
        get(data).map_err(|failure| compute_error(chunks.device(), failure))
    }

    /// Checks that the graph can run on `device` and locks its memory.
    pub(crate) fn prepare(&self, device: &Device) -> Result<RunGuard<'_>, Error> {
        let wrong =
            |found: &Device| Error::WrongDevice { expected: device.name().to_owned(), found: found.name().to_owned() };
        for &index in &self.order {
            let (record, id) = (&self.records[index as usize], TensorId { graph: self.id, index });
            if record.role == Role::External && !self.bindings.contains_key(&index) {
                return Err(Error::NotPlaced { id, role: "an external leaf", advice: "bind it to a buffer" });
            }
            if record.role == Role::Input && !self.written.contains(&index) {
                return Err(Error::InputNotWritten { id });
            }
        }
        // In one order everywhere, so that runs which share buffers cannot wait for each other in a circle.
        let mut buffers: BTreeMap<usize, (&Buffer, bool)> = BTreeMap::new();
        for (&leaf, Binding { buffer, .. }) in &self.bindings {
            if buffer.device() != device {
                return Err(wrong(buffer.device()));
            }
            buffers.entry(buffer.key()).or_insert((buffer, false)).1 |= self.is_written(leaf);
        }
        let _workspace = match self.order.iter().find(|&&index| self.needs_place(index)) {
            Some(&index) => Some(self.chunks(TensorId { graph: self.id, index })?),
            None => None,
        };
        if let Some(chunks) = &_workspace
            && chunks.device() != device
        {
            return Err(wrong(chunks.device()));
        }
        let (mut _read, mut _written) = (Vec::new(), Vec::new());
        for (buffer, is_written) in buffers.into_values() {
            match is_written {
                true => _written.push(buffer.lock_for_writing()),
                false => _read.push(buffer.lock_for_reading()),
            }
        }
        Ok(RunGuard { _workspace, _read, _written })
    }

    /// A run used the inputs' memory for other values.
    pub(crate) fn forget_inputs(&mut self) {
        self.written.clear();
    }

    /// The nodes that `device` does not compute.
    pub(crate) fn declined_by<'a>(&'a self, device: &'a Device) -> impl Iterator<Item = (TensorId, Op)> + 'a {
        let nodes = self.order.iter().map(|&index| (index, &self.records[index as usize]));
        nodes
            .filter(|(_, record)| record.op != Op::Leaf && !record.op.is_view() && !device.accepts(record.raw))
            .map(|(index, record)| (TensorId { graph: self.id, index }, record.op))
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    pub(crate) fn cgraph(&self) -> *mut sys::ggml_cgraph {
        self.cgraph.as_ptr()
    }

    pub(crate) fn records(&self) -> &[Record] {
        &self.records
    }

    pub(crate) fn order(&self) -> &[u32] {
        &self.order
    }

    /// Places all values in a workspace as planned. `storages` says which demand of the plan holds which tensor.
    pub(crate) fn place_all(
        &mut self,
        workspace: &Arc<Workspace>,
        generation: u64,
        chunks: &Chunks,
        plan: &MemoryPlan,
        storages: &Storages,
    ) -> Result<(), Error> {
        self.placement = None;
        self.written.clear();
        for (&index, &demand) in &storages.of_tensor {
            let place = plan.places[demand];
            self.place(index, chunks.buffer(place.chunk), place.offset)?;
        }
        self.placement = Some(Placement { workspace: workspace.clone(), generation });
        Ok(())
    }

    /// Puts a tensor that owns memory at an offset of a buffer, and with it everything that shows its memory.
    fn place(&mut self, index: u32, buffer: &RawBuffer, offset: u64) -> Result<(), Error> {
        let failed = |failure| compute_error(buffer.device(), failure);
        let tensor = self.records[index as usize].raw;
        unplace(tensor);
        let placed = call(|message| {
            let address = buffer.address(offset).cast();
            // SAFETY: the tensor has no memory, and the buffer has room for it at the address.
            unsafe { sys::fresco_tensor_alloc(buffer.raw(), tensor.as_ptr(), address, message) }
        });
        placed.map_err(failed)?;
        for &view in self.views.get(&index).into_iter().flatten() {
            let view = self.records[view as usize].raw;
            unplace(view);
            let placed = call(|message| {
                // SAFETY: the view has no memory, and what it shows was just placed.
                unsafe { sys::fresco_tensor_view_init(view.as_ptr(), message) }
            });
            placed.map_err(failed)?;
        }
        Ok(())
    }

    fn index(&self, id: TensorId) -> Result<u32, Error> {
        match id.graph == self.id {
            true => Ok(id.index),
            false => Err(Error::ForeignTensor { id }),
        }
    }

    /// Whether the tensor's memory comes from an allocator.
    fn needs_place(&self, index: u32) -> bool {
        self.records[self.records[index as usize].root as usize].role != Role::External
    }

    /// Whether a node writes into memory of the leaf.
    fn is_written(&self, leaf: u32) -> bool {
        let shows = self.views.get(&leaf).into_iter().flatten();
        shows.into_iter().any(|&view| self.records[view as usize].written_operand().is_some())
    }

    /// The memory of the graph's values, if it is still the graph's.
    fn chunks(&self, id: TensorId) -> Result<MutexGuard<'_, Chunks>, Error> {
        let advice = "allocate the graph";
        let placement = self.placement.as_ref().ok_or(Error::NotPlaced { id, role: "a value", advice })?;
        placement.workspace.lock(placement.generation).ok_or(Error::Stale)
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ops = self.order.iter().map(|&index| self.records[index as usize].op);
        f.debug_struct("Graph").field("id", &self.id).field("ops", &ops.collect::<Vec<_>>()).finish()
    }
}

/// Whether the tensor has memory.
fn is_placed(tensor: NonNull<sys::ggml_tensor>) -> bool {
    // SAFETY: the tensor is live, and its graph is borrowed.
    !unsafe { tensor.as_ref() }.data.is_null()
}

/// Forgets where a tensor lay.
fn unplace(tensor: NonNull<sys::ggml_tensor>) {
    let tensor = tensor.as_ptr();
    // SAFETY: the tensor is live, and its graph is borrowed mutably.
    unsafe { (*tensor).data = std::ptr::null_mut() };
    // SAFETY: as above.
    unsafe { (*tensor).buffer = std::ptr::null_mut() };
}

fn check_alignment(record: &Record, buffer: &Buffer, offset: u64) -> Result<(), Error> {
    let (what, alignment) = match buffer.device().computes_in_host_memory() {
        true => (record.layout.dtype.name(), record.layout.dtype.alignment()),
        false => (buffer.device().name(), buffer.device().alignment()),
    };
    match offset.is_multiple_of(alignment as u64) {
        true => Ok(()),
        false => {
            let (what, alignment_bytes) = (what.to_owned(), alignment as u64);
            Err(Error::Misaligned { what, offset_bytes: offset, alignment_bytes })
        }
    }
}

fn check_len(what: &'static str, record: &Record, n_bytes: usize) -> Result<(), Error> {
    let limit_bytes = record.layout.n_bytes() as u64;
    match n_bytes as u64 == limit_bytes {
        true => Ok(()),
        false => Err(Error::OutOfBounds { what, offset_bytes: 0, n_bytes: n_bytes as u64, limit_bytes }),
    }
}

/// Row numbers lie in their table: ggml aborts on others.
fn check_rows(data: &[u8], n_rows: i64) -> Result<(), Error> {
    let (numbers, _) = data.as_chunks::<4>();
    let outside =
        numbers.iter().map(|bytes| i32::from_ne_bytes(*bytes)).find(|&row| row < 0 || i64::from(row) >= n_rows);
    match outside {
        Some(row) => Err(Error::RowOutOfRange { row, n_rows }),
        None => Ok(()),
    }
}

fn compute_error(device: &Device, failure: Failure) -> Error {
    Error::Compute { device: device.name().to_owned(), reason: failure.reason() }
}
