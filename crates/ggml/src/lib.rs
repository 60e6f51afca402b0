//! A safe, checked wrapper of ggml: devices, backends, buffers, tensors, graphs, allocators.
