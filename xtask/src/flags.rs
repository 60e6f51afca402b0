//! The command line of `cargo xtask`.
#![allow(missing_docs, reason = "the macro derives the types from the texts below and documents none of them")]

xflags::xflags! {
    /// Development tasks of the Fresco workspace.
    cmd xtask {
        /// Fetches the published weights and photos that tests, benchmarks and the demonstration use.
        cmd testdata {}
    }
}
