//! A safe, checked wrapper of ggml: devices, backends, buffers, tensors, graphs, allocators.

mod dtype;

pub use dtype::DType;
