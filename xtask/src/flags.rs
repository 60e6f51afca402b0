//! The command line of `cargo xtask`.
#![allow(missing_docs, reason = "the macro derives the types from the texts below and documents none of them")]

xflags::xflags! {
    /// Development tasks of the Fresco workspace.
    cmd xtask {
        /// Fetches the published weights and photos that tests, benchmarks and the demonstration use.
        cmd testdata {}
        /// Checks that no crate depends on another than the crate map allows.
        cmd layers {}
        /// Checks house rules: headers, file sizes, marks of unfinished work, what a crate must not name.
        cmd tidy {}
        /// Checks the licences of all dependencies, and that none is present twice.
        cmd licenses {}
    }
}
