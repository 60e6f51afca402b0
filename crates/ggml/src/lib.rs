//! A safe, checked wrapper of ggml: devices, backends, buffers, tensors, graphs, allocators.
//!
//! # Contract
//! ggml answers a wrong call by aborting the process. This crate checks what ggml would assert and returns an error
//! instead, so that its safe functions neither abort nor cause undefined behaviour, whatever they are given:
//!
//! - operations: types, shapes, memory layouts and parameters, when the node is made ([`OpError`]); [`Op`] and the table
//!   in `support` say what exists;
//! - memory: sizes, alignment, and that every tensor of a run has memory which lives and which nobody else changes;
//! - C++ exceptions: caught before they reach Rust; the backend that threw refuses to go on ([`Error::Poisoned`]);
//! - the CPU: that it has the instructions ggml was compiled for.
//!
//! What stays: CUDA, HIP and SYCL backends abort on errors of the device, which nothing here can catch.
//!
//! Shapes here are in ggml's order, innermost dimension first (`ne`): the reverse of PyTorch's.
//!
//! # Example
//! ```
//! use std::sync::Arc;
//! use fresco_ggml::{
//!     AllocationMeter, Backend, BackendOptions, CountingMeter, DType, Device, Graph, GraphAllocator,
//! };
//!
//! let device = Device::cpu()?;
//! let (mut graph, (x, y)) = Graph::build(|scope| {
//!     let x = scope.new_input(DType::F32, [3, 1, 1, 1])?;
//!     let y = x.scale(2.0)?.add(x)?;
//!     y.set_output();
//!     scope.expand(y);
//!     Ok((x.id(), y.id()))
//! })?;
//! let meter: Arc<dyn AllocationMeter> = Arc::new(CountingMeter::new());
//! let mut allocator = GraphAllocator::new(&device, &meter);
//! allocator.allocate(&mut graph)?;
//! let values: Vec<u8> = [1f32, 2.0, 3.0].iter().flat_map(|value| value.to_ne_bytes()).collect();
//! graph.write(x, &values)?;
//! Backend::new(&device, BackendOptions { n_threads: 1 })?.compute(&mut graph, None)?;
//! let mut result = [0u8; 12];
//! graph.read(y, &mut result)?;
//! assert_eq!(result[8..], 9f32.to_ne_bytes());
//! # Ok::<(), fresco_ggml::Error>(())
//! ```
#![allow(unsafe_code, reason = "the crate calls ggml; each block says why it may")]
#![warn(clippy::multiple_unsafe_ops_per_block)]

mod alloc;
mod arena;
mod backend;
mod buffer;
mod device;
mod dtype;
mod error;
mod ffi;
mod graph;
mod init;
mod layout;
#[cfg(feature = "dynamic-backends")]
mod load;
mod log;
mod memory;
mod meter;
mod ops;
mod plan;
mod quantize;
mod scheduler;
mod scope;
mod select;
mod storage;
mod support;
mod tensor;
mod workspace;

pub use alloc::GraphAllocator;
pub use backend::{Backend, BackendOptions, ComputeStatus, MAX_THREADS};
pub use buffer::{Buffer, BufferUsage, HostMapping};
pub use device::{Capabilities, Device, DeviceKind, DeviceMemory};
pub use dtype::DType;
pub use error::{Error, OpError, OpProblem, Operand};
pub use graph::Graph;
pub use init::init;
#[cfg(feature = "dynamic-backends")]
pub use load::{BackendFile, load_backends};
pub use meter::{AllocationMeter, CountingMeter, Refused};
pub use ops::{Interpolation, Op, Unary};
pub use quantize::{dequantize, quantize};
pub use scheduler::Scheduler;
pub use scope::GraphScope;
pub use select::{SelectError, select_device};
pub use tensor::{Tensor, TensorId};
