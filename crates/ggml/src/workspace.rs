//! The memory that an allocator gives to one graph after the other.
//!
//! Graphs hold the workspace without holding its memory: each allocation is a new generation, and a graph of an older
//! one finds that its memory is gone instead of someone else's values. So memory is freed when the allocator says so,
//! not when the last graph is dropped.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::buffer::RawBuffer;
use crate::device::Device;

/// Memory that belongs to at most one graph at a time. The lock is held by whatever uses the memory.
pub(crate) struct Workspace {
    chunks: Mutex<Chunks>,
}

/// The buffers of a workspace.
pub(crate) struct Chunks {
    device: Device,
    buffers: Vec<RawBuffer>,
    generation: u64,
}

impl Workspace {
    pub(crate) fn new(device: &Device) -> Workspace {
        Workspace { chunks: Mutex::new(Chunks { device: device.clone(), buffers: Vec::new(), generation: 0 }) }
    }

    /// The memory, if it still belongs to the graph of `generation`.
    pub(crate) fn lock(&self, generation: u64) -> Option<MutexGuard<'_, Chunks>> {
        let chunks = self.lock_any();
        (chunks.generation == generation).then_some(chunks)
    }

    /// The memory, whoever it belongs to. Its state is whole at all times, so that a panic elsewhere breaks nothing.
    pub(crate) fn lock_any(&self) -> MutexGuard<'_, Chunks> {
        self.chunks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Chunks {
    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    pub(crate) fn buffer(&self, chunk: usize) -> &RawBuffer {
        &self.buffers[chunk]
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.buffers.iter().map(RawBuffer::bytes).sum()
    }

    /// Whether there is a buffer of at least each of these sizes, in this order.
    pub(crate) fn suffices(&self, chunk_bytes: &[u64]) -> bool {
        self.buffers.len() >= chunk_bytes.len()
            && self.buffers.iter().zip(chunk_bytes).all(|(buffer, &bytes)| buffer.bytes() >= bytes)
    }

    /// Takes the memory from the graph that has it and returns the next graph's generation.
    pub(crate) fn next_generation(&mut self) -> u64 {
        self.generation += 1;
        self.generation
    }

    pub(crate) fn free(&mut self) {
        self.next_generation();
        self.buffers.clear();
    }

    pub(crate) fn push(&mut self, buffer: RawBuffer) {
        self.buffers.push(buffer);
    }
}
