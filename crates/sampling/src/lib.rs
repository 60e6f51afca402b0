//! Host mathematics on plain slices: tiling geometry.
//!
//! Nothing here knows a model, a device or a file; every function is determined by its arguments.
#![forbid(unsafe_code)]

pub mod tiling;
