//! Reads model files: a catalogue of named tensors, read, converted and quantised on demand.
//!
//! [`ModelSource::open`] recognises a file by its content and reads its header only; [`read_tensors`] then reads the
//! tensors that are asked for, on several threads and in the types that are asked for, and
//! [`ModelSource::mappable`] hands out those that can be used straight from the file. Shapes are in PyTorch's order,
//! outermost dimension first.
//!
//! Files are taken for hostile: every length is checked against the bytes that are there before anything is
//! allocated, the limits stand at the top of each parser, and whatever is wrong becomes an [`Error`] that names the
//! file and the tensor.

#[cfg(target_endian = "big")]
compile_error!("tensors are little-endian in the files and are used as they are");

mod catalogue;
mod convert;
mod error;
mod file;
mod fp8;
#[allow(unsafe_code, reason = "the one module that maps files into memory")]
mod mmap;
pub mod ncnn;
mod read;
mod recognise;
pub mod safetensors;
mod source;
mod stored;

pub use fresco_ggml as ggml;

pub use catalogue::{Catalogue, FileId, TensorInfo};
pub use error::Error;
pub use mmap::{MapPolicy, MappedRange, Mapping};
pub use ncnn::{NcnnLayer, NcnnNet, NcnnValue};
pub use read::{ReadOptions, ReadProgress, ReadRequest, read_tensors};
pub use source::{Format, ModelSource};
pub use stored::StoredType;
