//! The memory of a graph's metadata: ggml contexts over memory of ours.
//!
//! ggml aborts when a context is full or cannot be allocated. Here the memory is allocated by us, fallibly, each context
//! knows how many tensors fit, and a full one is followed by another.

use std::ptr::NonNull;

use fresco_ggml_sys as sys;

/// A unit of ggml's alignment of contexts, 16 bytes.
type Unit = u128;

/// The contexts of a graph. Tensors keep their addresses while the arena lives.
pub(crate) struct Arena {
    contexts: Vec<Context>,
    tensors_per_context: usize,
    /// Tensors that still fit the last context.
    room: usize,
}

/// No memory for a context.
#[derive(Debug)]
pub(crate) struct OutOfMemory;

impl Arena {
    /// An arena that grows by as many tensors at a time; one takes about 400 bytes.
    pub(crate) fn new(tensors_per_context: usize) -> Arena {
        Arena { contexts: Vec::new(), tensors_per_context, room: 0 }
    }

    /// A context with room for one more tensor, which the caller makes.
    pub(crate) fn reserve_tensor(&mut self) -> Result<*mut sys::ggml_context, OutOfMemory> {
        if self.room == 0 {
            // SAFETY: reads a constant of the library.
            let tensor_bytes = unsafe { sys::ggml_tensor_overhead() };
            self.contexts.push(Context::new(self.tensors_per_context * tensor_bytes)?);
            self.room = self.tensors_per_context;
        }
        let context = self.contexts.last().ok_or(OutOfMemory)?;
        self.room -= 1;
        Ok(context.raw.as_ptr())
    }

    /// An empty computation graph with room for `n_nodes` nodes and as many leaves.
    pub(crate) fn new_cgraph(&mut self, n_nodes: usize) -> Result<NonNull<sys::ggml_cgraph>, OutOfMemory> {
        let n_nodes = n_nodes.max(1);
        // SAFETY: computes a size from a size.
        let bytes = unsafe { sys::ggml_graph_overhead_custom(n_nodes, false) };
        let context = Context::new(bytes)?;
        // SAFETY: the context is live and has exactly the room that this graph takes.
        let cgraph = unsafe { sys::ggml_new_graph_custom(context.raw.as_ptr(), n_nodes, false) };
        // Before the last one, which may still have room for tensors.
        self.contexts.insert(0, context);
        NonNull::new(cgraph).ok_or(OutOfMemory)
    }
}

/// A ggml context without tensor data, over memory of its own.
struct Context {
    raw: NonNull<sys::ggml_context>,
    /// What `raw` points into; freed after it.
    _memory: Vec<Unit>,
}

// SAFETY: a context is plain memory without ties to a thread; it is changed through `&mut Arena` alone.
unsafe impl Send for Context {}
// SAFETY: shared references only read.
unsafe impl Sync for Context {}

impl Context {
    fn new(bytes: usize) -> Result<Context, OutOfMemory> {
        let n_units = bytes.div_ceil(size_of::<Unit>());
        let mut memory: Vec<Unit> = Vec::new();
        memory.try_reserve_exact(n_units).map_err(|_| OutOfMemory)?;
        let params = sys::ggml_init_params {
            mem_size: n_units * size_of::<Unit>(),
            mem_buffer: memory.as_mut_ptr().cast(),
            no_alloc: true,
        };
        // SAFETY: the memory has the size stated and ggml's alignment, and lives as long as the context.
        let raw = unsafe { sys::ggml_init(params) };
        Ok(Context { raw: NonNull::new(raw).ok_or(OutOfMemory)?, _memory: memory })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: made by `ggml_init` and freed once; the memory it lies in is still there.
        unsafe { sys::ggml_free(self.raw.as_ptr()) };
    }
}
