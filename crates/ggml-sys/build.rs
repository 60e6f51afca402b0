//! Compiles ggml: the base library and the CPU backend with the C and C++ compiler alone, GPU backends through ggml's CMake
//! project. What each step does and why stands in the modules under `build/`.

#[path = "build/cpu.rs"]
mod cpu;
#[path = "build/gpu.rs"]
mod gpu;
#[path = "build/isa.rs"]
mod isa;
#[path = "build/source.rs"]
mod source;

use std::{env, path::PathBuf};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=build");
    let out_dir = PathBuf::from(cargo_variable("OUT_DIR"));
    if env::var_os("DOCS_RS").is_some() {
        // Documentation needs the bindings alone, and its builder has no network.
        isa::write_list(&out_dir, &[]);
        return;
    }

    let ggml = source::locate(&out_dir);
    let isa = isa::select();
    isa::write_list(&out_dir, &isa);

    let gpus = gpu::build(&ggml, &out_dir);
    let backends: Vec<&str> = gpus.iter().map(|gpu| gpu.define).collect();
    cpu::build(&ggml, &out_dir, &isa, &backends);
    gpus.iter().for_each(gpu::link);

    // For build scripts of direct dependents, as DEP_GGML_INCLUDE and so on.
    println!("cargo:include={}", ggml.join("include").display());
    println!("cargo:source={}", ggml.display());
    println!("cargo:root={}", out_dir.display());
    println!("cargo:cpu={}", isa.iter().map(|feature| feature.name).collect::<Vec<_>>().join(","));
}

/// A variable that cargo sets for every build script.
fn cargo_variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|error| panic!("{name}, which cargo sets for build scripts: {error}"))
}
