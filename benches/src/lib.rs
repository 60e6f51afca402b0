//! Benchmarks of whole models and their parts.
#![forbid(unsafe_code)]
