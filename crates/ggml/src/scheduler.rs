//! Graphs on a device that does not compute all of their operations: the CPU computes the others.
//!
//! All values lie on the device, where the allocator put them. The nodes that the device computes run in parts, as they
//! lie between the nodes that it declines; of each of these the operands are copied to the host, the CPU computes it
//! there, and the result is copied back. A part is a graph of copies of its nodes, so that the graph itself stays as it
//! is; what it takes from earlier parts are leaves to it.
//!
//! ggml's own scheduler moves whole runs of nodes to the CPU, too, but rewrites the graph for good, places values by an
//! allocator that may abort, and may compute a node that writes in place on another device than the value it writes.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fresco_ggml_sys as sys;

use crate::arena::Arena;
use crate::backend::{Backend, ComputeStatus};
use crate::buffer::{BufferUsage, RawBuffer};
use crate::device::{Device, DeviceKind};
use crate::error::{Error, OpError, OpProblem};
use crate::ffi::{Failure, call};
use crate::graph::Graph;
use crate::meter::AllocationMeter;
use crate::scope::Record;
use crate::{Op, TensorId};

/// Tensors by which the copies' metadata grows.
const TENSORS_PER_CONTEXT: usize = 256;

/// Runs graphs on a device, and on the CPU what the device does not compute.
pub struct Scheduler {
    device: Backend,
    host: Backend,
    host_meter: Arc<dyn AllocationMeter>,
    declines: fn(&Device, &Record) -> bool,
    /// The parts of the graph that ran last.
    split: Option<Split>,
}

impl Scheduler {
    /// A scheduler of two backends, of which `host` is one of the CPU. `host_meter` hears of the host memory that
    /// operands are copied to.
    pub fn new(device: Backend, host: Backend, host_meter: &Arc<dyn AllocationMeter>) -> Result<Scheduler, Error> {
        let found = host.device();
        if found.kind() != DeviceKind::Cpu {
            return Err(Error::WrongDevice { expected: "the CPU".into(), found: found.name().to_owned() });
        }
        let declines = |device: &Device, node: &Record| !device.computes_in_host_memory() && !device.accepts(node.raw);
        Ok(Scheduler { device, host, host_meter: host_meter.clone(), declines, split: None })
    }

    /// The device that graphs are allocated on.
    pub fn device(&self) -> &Device {
        self.device.device()
    }

    /// The operations of the graph that the CPU computes.
    pub fn fallbacks(&self, graph: &Graph) -> Vec<(TensorId, Op)> {
        let of = |&index: &u32| (TensorId { graph: graph.id(), index }, graph.records()[index as usize].op);
        self.declined(graph).iter().map(of).collect()
    }

    /// Runs the graph as [`Backend::compute`] does.
    pub fn compute(&mut self, graph: &mut Graph, abort: Option<&AtomicBool>) -> Result<ComputeStatus, Error> {
        let declined = self.declined(graph);
        if declined.is_empty() {
            return self.device.compute(graph, abort);
        }
        if self.split.as_ref().is_none_or(|split| split.graph != graph.id()) {
            // Before the next one takes its host memory.
            self.split = None;
            self.split = Some(Split::new(graph, &declined, self.host.device(), &self.host_meter)?);
        }
        let guard = graph.prepare(self.device.device())?;
        let Some(split) = &self.split else { return Ok(ComputeStatus::Aborted) };
        let mut status = Ok(ComputeStatus::Completed);
        for part in &split.parts {
            status = run_part(part, &mut self.device, &mut self.host, abort);
            if !matches!(status, Ok(ComputeStatus::Completed)) {
                break;
            }
        }
        drop(guard);
        graph.forget_inputs();
        status
    }

    fn declined(&self, graph: &Graph) -> BTreeSet<u32> {
        let is_declined = |&index: &u32| {
            let record = &graph.records()[index as usize];
            record.op != Op::Leaf && !record.op.is_view() && (self.declines)(self.device.device(), record)
        };
        graph.order().iter().copied().filter(is_declined).collect()
    }
}

impl fmt::Debug for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scheduler").field("device", &self.device).field("host", &self.host).finish()
    }
}

/// A graph in parts.
struct Split {
    graph: u64,
    parts: Vec<Part>,
    _arena: Arena,
    /// What the operands of declined nodes are copied to; each node starts over.
    _host_memory: RawBuffer,
}

/// Nodes that run together.
enum Part {
    /// On the device, over the memory of the originals.
    Device { cgraph: NonNull<sys::ggml_cgraph>, twins: Vec<Twin> },
    /// One node on the host, over copies.
    Host { cgraph: NonNull<sys::ggml_cgraph>, operands: Vec<Twin>, result: Twin },
}

/// A tensor of the graph and its copy in a part.
#[derive(Clone, Copy)]
struct Twin {
    original: NonNull<sys::ggml_tensor>,
    copy: NonNull<sys::ggml_tensor>,
    n_bytes: usize,
}

// SAFETY: copies are plain memory of the split's arena. Originals are reached while their graph is borrowed and its memory
// locked, and only for the graph of the same number, which owns them.
unsafe impl Send for Split {}
// SAFETY: as above.
unsafe impl Sync for Split {}

impl Split {
    fn new(
        graph: &Graph,
        declined: &BTreeSet<u32>,
        host: &Device,
        host_meter: &Arc<dyn AllocationMeter>,
    ) -> Result<Split, Error> {
        let records = graph.records();
        let groups = groups(graph, declined);
        let host_bytes = groups.iter().filter_map(Group::host_node).map(|node| host_bytes(records, node)).max();
        let memory = RawBuffer::alloc(host, host_bytes.unwrap_or(0), BufferUsage::Compute, host_meter)?;
        let mut copies = Copies { records, arena: Arena::new(TENSORS_PER_CONTEXT) };
        let mut parts = Vec::with_capacity(groups.len());
        for (i, group) in groups.iter().enumerate() {
            parts.push(match group {
                Group::Device(nodes) => copies.device_part(nodes, &groups[i + 1..])?,
                Group::Host(node) => copies.host_part(*node, &memory)?,
            });
        }
        Ok(Split { graph: graph.id(), parts, _arena: copies.arena, _host_memory: memory })
    }
}

/// Numbers of the nodes of a part.
enum Group {
    Device(Vec<u32>),
    Host(u32),
}

impl Group {
    fn host_node(&self) -> Option<u32> {
        match self {
            Group::Host(node) => Some(*node),
            Group::Device(_) => None,
        }
    }

    fn nodes(&self) -> &[u32] {
        match self {
            Group::Host(node) => std::slice::from_ref(node),
            Group::Device(nodes) => nodes,
        }
    }
}

/// The order of computation, cut at declined nodes.
fn groups(graph: &Graph, declined: &BTreeSet<u32>) -> Vec<Group> {
    let mut groups = Vec::new();
    let mut nodes = Vec::new();
    for &index in graph.order().iter().filter(|&&index| graph.records()[index as usize].op != Op::Leaf) {
        if declined.contains(&index) {
            groups.push(Group::Device(std::mem::take(&mut nodes)));
            groups.push(Group::Host(index));
        } else {
            nodes.push(index);
        }
    }
    groups.push(Group::Device(nodes));
    groups.retain(|group| !group.nodes().is_empty());
    groups
}

/// Bytes of host memory for a node's operands and its result, each at a multiple of the alignment.
fn host_bytes(records: &[Record], node: u32) -> u64 {
    let record = &records[node as usize];
    let tensors = record.sources.iter().map(|&source| &records[source as usize]).chain([record]);
    tensors.map(|record| (record.layout.n_bytes() as u64).next_multiple_of(HOST_ALIGNMENT)).sum()
}

/// What copies on the host start at a multiple of.
const HOST_ALIGNMENT: u64 = 64;

/// Makes copies of a graph's tensors.
struct Copies<'a> {
    records: &'a [Record],
    arena: Arena,
}

impl Copies<'_> {
    fn device_part(&mut self, nodes: &[u32], later: &[Group]) -> Result<Part, Error> {
        let kept: BTreeSet<u32> = later.iter().flat_map(Group::nodes).flat_map(|&node| self.roots_of(node)).collect();
        let mut known: BTreeMap<NonNull<sys::ggml_tensor>, NonNull<sys::ggml_tensor>> = BTreeMap::new();
        let mut order = Vec::new();
        for &node in nodes {
            for &source in &self.records[node as usize].sources {
                if let Entry::Vacant(unknown) = known.entry(self.records[source as usize].raw) {
                    unknown.insert(self.leaf(source)?);
                }
            }
            let copy = self.node(node, &known)?;
            if kept.contains(&self.records[node as usize].root) {
                // What a later part reads must not be fused away.
                // SAFETY: the copy was just made.
                unsafe { sys::ggml_set_output(copy.as_ptr()) };
            }
            known.insert(self.records[node as usize].raw, copy);
            order.push(copy);
        }
        let twins = known.into_iter().map(|(original, copy)| Twin { original, copy, n_bytes: 0 }).collect();
        Ok(Part::Device { cgraph: self.cgraph(&order)?, twins })
    }

    fn host_part(&mut self, node: u32, memory: &RawBuffer) -> Result<Part, Error> {
        let record = &self.records[node as usize];
        let mut known = BTreeMap::new();
        let mut operands: Vec<Twin> = Vec::new();
        let mut offset = 0;
        let mut place = |copy: NonNull<sys::ggml_tensor>, n_bytes: usize| {
            let address = memory.address(offset).cast();
            offset += (n_bytes as u64).next_multiple_of(HOST_ALIGNMENT);
            let placed = call(|message| {
                // SAFETY: the copy has no memory, and the buffer was made with room for all copies of a node.
                unsafe { sys::fresco_tensor_alloc(memory.raw(), copy.as_ptr(), address, message) }
            });
            placed.map_err(|failure| compute_error(memory.device(), failure))
        };
        for &source in &record.sources {
            let (original, n_bytes) =
                (self.records[source as usize].raw, self.records[source as usize].layout.n_bytes());
            if known.contains_key(&original) {
                continue;
            }
            let copy = self.leaf(source)?;
            place(copy, n_bytes)?;
            known.insert(original, copy);
            operands.push(Twin { original, copy, n_bytes });
        }
        let copy = self.node(node, &known)?;
        match record.written_operand() {
            // In the copy of the operand, as the original is in the operand.
            Some(written) => {
                let operand = known.get(&self.records[written as usize].raw).ok_or_else(out_of_memory)?;
                show(copy, *operand, memory)?;
            }
            None => place(copy, record.layout.n_bytes())?,
        }
        let result = Twin { original: record.raw, copy, n_bytes: record.layout.n_bytes() };
        Ok(Part::Host { cgraph: self.cgraph(&[copy])?, operands, result })
    }

    /// The roots of a node's operands.
    fn roots_of(&self, node: u32) -> impl Iterator<Item = u32> {
        self.records[node as usize].sources.iter().map(|&source| self.records[source as usize].root)
    }

    /// A copy without operands.
    fn leaf(&mut self, index: u32) -> Result<NonNull<sys::ggml_tensor>, Error> {
        let record = &self.records[index as usize];
        let context = self.arena.reserve_tensor().map_err(|_| out_of_memory())?;
        let dtype = record.layout.dtype.raw();
        // SAFETY: the context has room, and the lengths are those of a tensor.
        let copy = unsafe { sys::ggml_new_tensor(context, dtype, 4, record.layout.ne.as_ptr()) };
        let copy = NonNull::new(copy).ok_or_else(out_of_memory)?;
        // SAFETY: the copy was just made and nothing else refers to it.
        unsafe { (*copy.as_ptr()).nb = record.layout.nb };
        Ok(copy)
    }

    /// A copy with the copies of the operands.
    fn node(
        &mut self,
        index: u32,
        known: &BTreeMap<NonNull<sys::ggml_tensor>, NonNull<sys::ggml_tensor>>,
    ) -> Result<NonNull<sys::ggml_tensor>, Error> {
        let copy = self.leaf(index)?;
        let original = self.records[index as usize].raw;
        // SAFETY: the original is a live tensor of the graph, which is borrowed.
        let from = unsafe { original.as_ref() };
        let copied = |source: *mut sys::ggml_tensor| match NonNull::new(source) {
            // A cast is its own second operand.
            Some(source) if source == original => copy.as_ptr(),
            Some(source) => known.get(&source).map_or(std::ptr::null_mut(), |copy| copy.as_ptr()),
            None => std::ptr::null_mut(),
        };
        let (op, op_params, flags, src) = (from.op, from.op_params, from.flags, from.src.map(copied));
        // SAFETY: the copy was just made and nothing else refers to it.
        let to = unsafe { &mut *copy.as_ptr() };
        (to.op, to.op_params, to.flags, to.src) = (op, op_params, flags, src);
        Ok(copy)
    }

    fn cgraph(&mut self, nodes: &[NonNull<sys::ggml_tensor>]) -> Result<NonNull<sys::ggml_cgraph>, Error> {
        // Operands that are leaves count beside the nodes.
        let cgraph = self.arena.new_cgraph(3 * nodes.len()).map_err(|_| out_of_memory())?;
        for node in nodes {
            // SAFETY: the graph has room for the nodes and their leaves; each node comes after its operands.
            unsafe { sys::ggml_build_forward_expand(cgraph.as_ptr(), node.as_ptr()) };
        }
        Ok(cgraph)
    }
}

/// Lets a copy show the memory of another.
fn show(copy: NonNull<sys::ggml_tensor>, operand: NonNull<sys::ggml_tensor>, memory: &RawBuffer) -> Result<(), Error> {
    // SAFETY: both were made by us, and nothing else refers to the copy.
    unsafe { (*copy.as_ptr()).view_src = operand.as_ptr() };
    let shown = call(|message| {
        // SAFETY: the operand is placed and the copy is not.
        unsafe { sys::fresco_tensor_view_init(copy.as_ptr(), message) }
    });
    shown.map_err(|failure| compute_error(memory.device(), failure))
}

/// Runs a part of a graph whose memory is locked.
fn run_part(
    part: &Part,
    device: &mut Backend,
    host: &mut Backend,
    abort: Option<&AtomicBool>,
) -> Result<ComputeStatus, Error> {
    match part {
        Part::Device { cgraph, twins } => {
            for twin in twins {
                twin.share_memory();
            }
            // SAFETY: the copies have the memory of the originals, which the caller locked, and the nodes are those that
            // the device computes.
            unsafe { device.run(cgraph.as_ptr(), abort) }
        }
        Part::Host { cgraph, operands, result } => {
            let failed = |failure| compute_error(device.device(), failure);
            for operand in operands {
                operand.download().map_err(failed)?;
            }
            // SAFETY: the copies are placed in the split's own memory, and the CPU computes every node there is.
            let status = unsafe { host.run(cgraph.as_ptr(), abort) }?;
            if status == ComputeStatus::Completed {
                result.upload().map_err(failed)?;
            }
            Ok(status)
        }
    }
}

impl Twin {
    /// Gives the copy the memory of the original, which may have moved since the last run.
    fn share_memory(&self) {
        // SAFETY: the original is a live tensor of a graph that is borrowed.
        let from = unsafe { self.original.as_ref() };
        let place = (from.buffer, from.data, from.view_src, from.view_offs, from.extra);
        // SAFETY: the copy is the split's own, which is borrowed mutably by the run.
        let to = unsafe { &mut *self.copy.as_ptr() };
        (to.buffer, to.data, to.view_src, to.view_offs, to.extra) = place;
    }

    /// Copies the original's bytes to the host.
    fn download(&self) -> Result<(), Failure> {
        // SAFETY: the copy is placed in host memory.
        let data = unsafe { self.copy.as_ref() }.data;
        call(|message| {
            // SAFETY: the original is placed, its memory is locked, and the copy has room for all of it.
            unsafe { sys::fresco_tensor_get(self.original.as_ptr(), data, 0, self.n_bytes, message) }
        })
    }

    /// Copies the host's bytes to the original.
    fn upload(&self) -> Result<(), Failure> {
        // SAFETY: the copy is placed in host memory.
        let data = unsafe { self.copy.as_ref() }.data;
        call(|message| {
            // SAFETY: the original is placed, its memory is locked, and is as long as the copy.
            unsafe { sys::fresco_tensor_set(self.original.as_ptr(), data, 0, self.n_bytes, message) }
        })
    }
}

fn out_of_memory() -> Error {
    OpError { op: Op::Leaf, operands: Vec::new(), problem: OpProblem::OutOfMemory }.into()
}

fn compute_error(device: &Device, failure: Failure) -> Error {
    Error::Compute { device: device.name().to_owned(), reason: failure.reason() }
}

#[cfg(test)]
mod tests;
