//! Layers and models: configuration, parameter names and forward passes.
//!
//! A model is found by what its source holds ([`upscalers::detect`]): the configuration follows from the tensors' shapes,
//! and tables turn each file's names into one canonical set. Building a model declares its parameters; its forward pass is
//! written as a [`Graph`](engine::Graph). Nothing here opens a file, allocates device memory or names a backend.

#![forbid(unsafe_code)]

mod error;
pub mod layers;
pub mod upscalers;

pub use error::{Candidate, Error, Fault};
pub use fresco_engine as engine;

#[cfg(test)]
mod testing;
