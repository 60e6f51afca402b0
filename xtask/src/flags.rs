//! The command line of `cargo xtask`.
#![allow(missing_docs, reason = "the macro derives the types from the texts below and documents none of them")]

use std::path::PathBuf;

xflags::xflags! {
    /// Development tasks of the Fresco workspace.
    cmd xtask {
        /// Upscales a photo with published weights and says where the result is.
        cmd demo {}
        /// Runs every test of the workspace.
        cmd test {}
        /// Measures whole models.
        cmd bench {}
        /// Says which tools are missing for what.
        cmd doctor {}
        /// Builds a GPU backend as a library that is loaded at run time: vulkan, cuda, hip, metal, opencl or sycl.
        cmd backend {
            required name: String
            /// The folder to put it into, target/backends by default.
            optional --out out: PathBuf
            /// CUDA architectures, such as 86;90. By default those of this machine's devices, or 90.
            optional --arch arch: String
            /// How many compilers run at a time, as many as there are cores by default.
            optional --jobs jobs: u32
        }
        /// Copies ggml's source into vendor/ggml, for builds without a network.
        cmd vendor {}
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
        /// Upscales an image under LeakSanitizer.
        cmd leaks {}
        /// Builds the Vulkan backend and compares what it computes with the CPU.
        cmd vulkan {}
        /// Runs everything that must hold before a change is taken.
        cmd ci {}
    }
}
