//! Graphs, their plans and their execution.
//!
//! A model writes its forward pass as a [`Graph`] through a [`GraphBuilder`]. The [`Engine`] owns the weights and runs
//! graphs in a [`Session`] on a device. Nothing here knows a model family; everything about which ggml operations compute
//! a graph is in `lower`.

#![forbid(unsafe_code)]

mod cancel;
mod engine;
mod error;
mod graph;
mod lower;
mod plan;
mod session;

pub use cancel::CancelToken;
pub use engine::{Engine, Task};
pub use error::{Error, Phase};
pub use fresco_residency as residency;
pub use graph::{
    BinaryOp, Conv2d, Cut, Graph, GraphBuilder, GraphError, Kind, Op, Origin, Scalar, UnaryOp, Value, ValueId,
    ValueInfo,
};
pub use plan::{Plan, Segment};
pub use residency::ggml::{self, DType};
pub use residency::{Shape, loader};
pub use session::{Session, SessionOptions};
