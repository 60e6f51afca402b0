//! Memory for the values of graphs, reused as they die and from one graph to the next.
//!
//! Planned here and not by ggml's allocator, which gives every leaf its memory for the whole run, forgets where it put
//! a graph that it places twice, and aborts the process when freed memory lies in more than 256 pieces.

use std::fmt;
use std::sync::Arc;

use crate::buffer::{BufferUsage, RawBuffer};
use crate::device::Device;
use crate::error::Error;
use crate::graph::Graph;
use crate::meter::AllocationMeter;
use crate::plan::{MemoryPlan, plan};
use crate::scope::Record;
use crate::storage::Storages;
use crate::workspace::Workspace;

/// Owns the memory in which graphs compute, one graph at a time: allocating a graph takes the memory from the graph
/// before, and dropping the allocator from the last one. External leaves are not part of it.
pub struct GraphAllocator {
    device: Device,
    meter: Arc<dyn AllocationMeter>,
    workspace: Arc<Workspace>,
}

impl GraphAllocator {
    /// An allocator on `device` without memory yet.
    pub fn new(device: &Device, meter: &Arc<dyn AllocationMeter>) -> GraphAllocator {
        let workspace = Arc::new(Workspace::new(device));
        GraphAllocator { device: device.clone(), meter: meter.clone(), workspace }
    }

    /// Bytes that the graph's values need; nothing is allocated.
    pub fn measure(&self, graph: &Graph) -> u64 {
        self.plan(graph).0.total_bytes()
    }

    /// Gives the graph memory for its values. Memory that is too small is freed before larger memory is allocated; on
    /// an error the allocator holds none.
    pub fn allocate(&mut self, graph: &mut Graph) -> Result<(), Error> {
        let (plan, storages) = self.plan(graph);
        let mut chunks = self.workspace.lock_any();
        if !chunks.suffices(&plan.chunk_bytes) {
            chunks.free();
            for &bytes in &plan.chunk_bytes {
                match RawBuffer::alloc(&self.device, bytes, BufferUsage::Compute, &self.meter) {
                    Ok(buffer) => chunks.push(buffer),
                    Err(error) => {
                        chunks.free();
                        return Err(error);
                    }
                }
            }
        }
        let generation = chunks.next_generation();
        graph.place_all(&self.workspace, generation, &chunks, &plan, &storages)
    }

    /// Bytes held now.
    pub fn bytes(&self) -> u64 {
        self.workspace.lock_any().bytes()
    }

    /// Frees the memory; the graph that had it must be allocated again.
    pub fn release(&mut self) {
        self.workspace.lock_any().free();
    }

    fn plan(&self, graph: &Graph) -> (MemoryPlan, Storages) {
        let bytes_of = |record: &Record| match self.device.computes_in_host_memory() {
            true => record.layout.n_bytes() as u64,
            false => self.device.alloc_bytes(record.raw) as u64,
        };
        let storages = Storages::new(graph, bytes_of);
        let max_bytes = self.device.max_buffer_bytes().unwrap_or(u64::MAX);
        let plan = plan(&storages.demands, self.device.alignment() as u64, max_bytes);
        (plan, storages)
    }
}

impl Drop for GraphAllocator {
    fn drop(&mut self) {
        self.release();
    }
}

impl fmt::Debug for GraphAllocator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphAllocator").field("device", &self.device).field("bytes", &self.bytes()).finish()
    }
}
