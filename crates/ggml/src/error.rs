//! What can go wrong, as fields: the crate's error, and the error of an operation's constructor.

use std::fmt;

use crate::{DType, Op, SelectError, TensorId};

/// What this crate's functions report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The CPU lacks instructions that ggml was compiled for; computing would be an illegal instruction.
    #[error("this build of ggml needs a CPU with {}, which this one lacks; build with the feature of an older baseline", missing.join(", "))]
    CpuTooOld {
        /// The instruction sets compiled in and not found.
        missing: Vec<&'static str>,
    },
    /// The linked ggml has another memory layout than the bindings.
    #[error(
        "the linked ggml does not match its bindings: a tensor takes {found_bytes} bytes, {expected_bytes} were expected"
    )]
    Mismatch {
        /// Bytes of a tensor in the bindings.
        expected_bytes: usize,
        /// Bytes of a tensor in the library.
        found_bytes: usize,
    },
    /// No device of the name, or several.
    #[error(transparent)]
    Select(#[from] SelectError),
    /// The device's backend did not start.
    #[error("the backend of {device} does not start: {reason}")]
    BackendStart {
        /// The device.
        device: String,
        /// What ggml said.
        reason: String,
    },
    /// A backend cannot have that many threads.
    #[error("{n_threads} threads are outside 1 to {max}")]
    ThreadCount {
        /// What was asked.
        n_threads: usize,
        /// ggml's limit.
        max: usize,
    },
    /// The operating system gave no more threads.
    #[error("cannot start {n_threads} threads")]
    ThreadStart {
        /// What was asked.
        n_threads: usize,
        /// Why not.
        source: std::io::Error,
    },
    /// The meter refused an allocation.
    #[error("{bytes} bytes on {device} were refused")]
    Refused {
        /// The device.
        device: String,
        /// What was asked.
        bytes: u64,
        /// Why.
        source: Refused,
    },
    /// The device could not allocate.
    #[error("{device} has no room for a buffer of {bytes} bytes{}", detail(reason))]
    OutOfMemory {
        /// The device.
        device: String,
        /// What was asked.
        bytes: u64,
        /// What ggml said; may be empty.
        reason: String,
    },
    /// A read or write goes beyond a buffer, or a tensor's bytes and the given slice differ in length.
    #[error("{what}: bytes {offset_bytes} to {} were asked of {limit_bytes}", offset_bytes.saturating_add(*n_bytes))]
    OutOfBounds {
        /// What was accessed.
        what: &'static str,
        /// Where the access starts.
        offset_bytes: u64,
        /// How long it is.
        n_bytes: u64,
        /// How many bytes there are.
        limit_bytes: u64,
    },
    /// The buffer is a view of memory that must not change.
    #[error("{what}: the buffer is a read-only mapping")]
    ReadOnly {
        /// What was tried.
        what: &'static str,
    },
    /// A tensor would start at an address that its elements or the device do not allow.
    #[error("offset {offset_bytes} is not a multiple of {alignment_bytes}, which {what} needs")]
    Misaligned {
        /// What needs it.
        what: String,
        /// The offset.
        offset_bytes: u64,
        /// The alignment.
        alignment_bytes: u64,
    },
    /// The id belongs to another graph.
    #[error("tensor {id:?} belongs to another graph")]
    ForeignTensor {
        /// The id.
        id: TensorId,
    },
    /// Only external leaves can be bound, and only graph inputs be written.
    #[error("tensor {id:?} is not {expected}")]
    WrongRole {
        /// The id.
        id: TensorId,
        /// What the call is for.
        expected: &'static str,
    },
    /// A tensor has no memory: an external leaf that was not bound, or a graph that no allocator placed.
    #[error("tensor {id:?} ({role}) has no memory: {advice}")]
    NotPlaced {
        /// The id.
        id: TensorId,
        /// What it is.
        role: &'static str,
        /// What to do.
        advice: &'static str,
    },
    /// An input was not written since the graph was allocated or computed; computing overwrites inputs.
    #[error("input {id:?} was not written since the last run")]
    InputNotWritten {
        /// The id.
        id: TensorId,
    },
    /// The graph's memory now belongs to another graph, or its allocator is gone.
    #[error("the graph's memory was reused or freed; allocate it again")]
    Stale,
    /// A row number lies outside the table that it indexes.
    #[error("row {row} was asked of a table of {n_rows}")]
    RowOutOfRange {
        /// The number.
        row: i32,
        /// Rows there are.
        n_rows: i64,
    },
    /// The device does not compute an operation of the graph.
    #[error("{device} does not compute {op} of tensor {id:?}; use a scheduler with a CPU backend beside it")]
    Unsupported {
        /// The device.
        device: String,
        /// The operation.
        op: Op,
        /// The node.
        id: TensorId,
    },
    /// The graph lies on another device than the backend computes on.
    #[error("the graph lies on {found} and the backend computes on {expected}")]
    WrongDevice {
        /// The backend's device.
        expected: String,
        /// The graph's.
        found: String,
    },
    /// Computing failed.
    #[error("{device} failed to compute: {reason}")]
    Compute {
        /// The device.
        device: String,
        /// What ggml said.
        reason: String,
    },
    /// The backend threw an exception before and its state is unknown.
    #[error("the backend of {device} failed before; make a new one")]
    Poisoned {
        /// The device.
        device: String,
    },
    /// The type cannot be converted in that direction.
    #[error("{dtype} cannot be {what}")]
    Conversion {
        /// The type.
        dtype: DType,
        /// `made from f32` or `turned into f32`.
        what: &'static str,
    },
    /// Source and destination of a conversion do not fit each other.
    #[error("{n_elements} elements in rows of {row_len} of {dtype} do not fit {n_bytes} bytes")]
    ConversionLength {
        /// The type.
        dtype: DType,
        /// Elements on the f32 side.
        n_elements: usize,
        /// Elements of a row.
        row_len: usize,
        /// Bytes on the other side.
        n_bytes: usize,
    },
    /// A value that blocks cannot hold, or none at all.
    #[error("element {index} is {value}, which no block of {dtype} holds; use f16, bf16 or f32")]
    ValueOutOfRange {
        /// The type.
        dtype: DType,
        /// Which element.
        index: usize,
        /// Its value.
        value: f32,
    },
    /// A file or folder of loadable backends cannot be used.
    #[error("cannot load backends from {}: {reason}", path.display())]
    BackendLoad {
        /// The file or folder.
        path: std::path::PathBuf,
        /// Why not.
        reason: String,
    },
    /// An operation of a graph was given impossible operands.
    #[error(transparent)]
    Op(#[from] OpError),
}

fn detail(reason: &str) -> String {
    if reason.is_empty() { String::new() } else { format!(": {reason}") }
}

/// A meter's refusal of an allocation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Refused {
    /// Why, for people.
    pub reason: String,
}

/// An operation that cannot be made of its operands: nothing was added to the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpError {
    /// The operation.
    pub op: Op,
    /// Type and shape of each operand.
    pub operands: Vec<Operand>,
    /// What is wrong with them.
    pub problem: OpProblem,
}

/// A tensor as messages name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Type of the elements.
    pub dtype: DType,
    /// Length of each dimension, innermost first.
    pub ne: [i64; 4],
}

/// What is wrong with the operands of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpProblem {
    /// The shapes do not fit; says how they should.
    Shapes(&'static str),
    /// No kernel computes these types.
    Types,
    /// An operand does not lie in memory as the kernel reads it; says which and how it should.
    Layout(&'static str),
    /// A parameter is outside its range; says which and the range.
    Parameter(&'static str),
    /// A view or a written region leaves its tensor.
    Bounds {
        /// Bytes from the start of the tensor to the end of the region.
        end_bytes: u64,
        /// Bytes of the tensor.
        limit_bytes: u64,
    },
    /// The result has more elements than ggml's kernels can count, or a length that is not positive.
    Size {
        /// The result's shape.
        ne: [i64; 4],
    },
    /// The result's rows are no whole number of the type's blocks.
    Blocks {
        /// The result's type.
        dtype: DType,
        /// The result's innermost length.
        row_len: i64,
    },
    /// The operation would write memory that it or its operand also reads.
    Overlap,
    /// No memory for the graph's metadata.
    OutOfMemory,
}

impl fmt::Display for OpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.op)?;
        match &self.problem {
            OpProblem::Shapes(rule) => write!(f, "shapes do not fit: {rule}")?,
            OpProblem::Types => write!(f, "no kernel for these types")?,
            OpProblem::Layout(rule) => write!(f, "memory layout: {rule}")?,
            OpProblem::Parameter(rule) => write!(f, "parameter out of range: {rule}")?,
            OpProblem::Bounds { end_bytes, limit_bytes } => {
                write!(f, "the region ends at byte {end_bytes} of a tensor of {limit_bytes}")?;
            }
            OpProblem::Size { ne } => write!(f, "the result {ne:?} is empty or too large")?,
            OpProblem::Blocks { dtype, row_len } => {
                write!(f, "rows of {row_len} are no whole number of blocks of {} of {dtype}", dtype.block_len())?;
            }
            OpProblem::Overlap => write!(f, "source and destination share memory")?,
            OpProblem::OutOfMemory => write!(f, "no memory for the graph")?,
        }
        for (i, Operand { dtype, ne }) in self.operands.iter().enumerate() {
            write!(f, "{} {dtype} {ne:?}", if i == 0 { "; operands" } else { "," })?;
        }
        Ok(())
    }
}

impl std::error::Error for OpError {}
