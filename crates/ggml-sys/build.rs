//! Compiles ggml: the base library and the CPU backend with the C and C++ compiler alone. What each step does and why
//! stands in the modules under `build/`.
#![allow(clippy::expect_used, reason = "a build script reports by panicking, and what it expects is cargo's contract")]

#[path = "build/cpu.rs"]
mod cpu;
#[path = "build/isa.rs"]
mod isa;
#[path = "build/source.rs"]
mod source;

use std::{env, path::PathBuf};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=build");
    let out_dir = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    if env::var_os("DOCS_RS").is_some() {
        // Documentation needs the bindings alone, and its builder has no network.
        isa::write_list(&out_dir, &[]);
        return;
    }

    let ggml = source::locate(&out_dir);
    source::rerun_if_changed(&ggml);
    let isa = isa::select();
    isa::write_list(&out_dir, &isa);
    cpu::build(&ggml, &out_dir, &isa);

    println!("cargo:include={}", ggml.join("include").display());
    println!("cargo:source={}", ggml.display());
    println!("cargo:root={}", out_dir.display());
}
