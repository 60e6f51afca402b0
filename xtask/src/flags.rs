//! The command line of `cargo xtask`.
#![allow(missing_docs, reason = "the macro derives the types from the texts below and documents none of them")]

xflags::xflags! {
    /// Development tasks of the Fresco workspace.
    cmd xtask {
        /// Upscales a photo with published weights and says where the result is.
        cmd demo {}
        /// Runs every test of the workspace.
        cmd test {}
        /// Measures whole models.
        cmd bench {}
        /// Writes the bindings of ggml's C interface anew, which needs libclang.
        cmd bindings {
            /// Only check that the committed bindings are what would be written.
            optional --check
        }
        /// Fetches the published weights and photos that tests, benchmarks and the demonstration use.
        cmd testdata {}
        /// Checks that no crate depends on another than the crate map allows.
        cmd layers {}
        /// Checks house rules: headers, file sizes, marks of unfinished work, what a crate must not name.
        cmd tidy {}
        /// Checks the licences of all dependencies, and that none is present twice.
        cmd licenses {}
        /// Runs everything that must hold before a change is taken.
        cmd ci {}
    }
}
