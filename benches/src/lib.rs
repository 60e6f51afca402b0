//! Benchmarks of whole models and their parts.
