//! Compiles ggml's base library, its backend registry, its CPU backend and our C++ shim with the `cc` crate, so that a
//! default build needs no cmake.
//!
//! Left out on purpose: `ggml.cpp`, which replaces the process's terminate handler; OpenMP, whose thread pool belongs to
//! the process rather than to a backend; the repacking and AMX buffer types, whose content cannot be read back.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use crate::{
    cargo_variable,
    isa::{self, CpuFeature},
};

/// Tensors, graphs, buffers, allocators, scheduler, quantisation, GGUF.
const BASE: &[&str] = &[
    "ggml.c",
    "ggml-alloc.c",
    "ggml-quants.c",
    "ggml-backend.cpp",
    "ggml-backend-meta.cpp",
    "ggml-threading.cpp",
    "gguf.cpp",
];

/// The list of backends and devices, and the loading of backends at run time.
const REGISTRY: &[&str] = &["ggml-backend-dl.cpp", "ggml-backend-reg.cpp"];

const CPU: &[&str] = &[
    "ggml-cpu/ggml-cpu.c",
    "ggml-cpu/quants.c",
    "ggml-cpu/ggml-cpu.cpp",
    "ggml-cpu/binary-ops.cpp",
    "ggml-cpu/hbm.cpp",
    "ggml-cpu/llamafile/sgemm.cpp",
    "ggml-cpu/ops.cpp",
    "ggml-cpu/tiled/tiled-kernel.cpp",
    "ggml-cpu/tiled/tiled.cpp",
    "ggml-cpu/traits.cpp",
    "ggml-cpu/unary-ops.cpp",
    "ggml-cpu/vec.cpp",
];

/// The quantised dot products, by Rust's name of the architecture. ggml has portable ones for any other.
const CPU_BY_ARCH: &[(&str, &str)] =
    &[("x86_64", "ggml-cpu/arch/x86/quants.c"), ("aarch64", "ggml-cpu/arch/arm/quants.c")];

/// Builds and links the static libraries. `backends` are the macros that tell the registry of further backends.
pub(crate) fn build(ggml: &Path, out_dir: &Path, features: &[&CpuFeature], backends: &[&str]) {
    let src = ggml.join("src");
    let generated = write_version_header(ggml, out_dir);
    let arch = cargo_variable("CARGO_CFG_TARGET_ARCH");
    let includes = [ggml.join("include"), src.clone(), src.join("ggml-cpu"), generated];

    let mut cpu_files = CPU.to_vec();
    let arch_file = CPU_BY_ARCH.iter().find(|(name, _)| *name == arch).map(|(_, file)| *file);
    cpu_files.extend(arch_file);
    let libraries = [("ggml-cpu", cpu_files), ("ggml-registry", REGISTRY.to_vec()), ("ggml-base", BASE.to_vec())];

    // A static linker resolves from left to right: users before what they use.
    let shim = PathBuf::from(cargo_variable("CARGO_MANIFEST_DIR")).join("shim");
    println!("cargo:rerun-if-changed={}", shim.display());
    let mut build = compiler(Language::Cxx, &includes);
    build.file(shim.join("shim.cpp"));
    if env::var_os("CARGO_FEATURE_DYNAMIC_BACKENDS").is_some() {
        build.file(shim.join("load.cpp"));
    }
    build.compile("fresco-ggml-shim");

    for (library, files) in libraries {
        let (c_files, cxx_files): (Vec<&str>, Vec<&str>) = files.into_iter().partition(|file| file.ends_with(".c"));
        for (language, suffix, files) in [(Language::Cxx, "cpp", cxx_files), (Language::C, "c", c_files)] {
            if files.is_empty() {
                continue;
            }
            let mut build = compiler(language, &includes);
            match library {
                "ggml-cpu" => {
                    build.define("GGML_USE_LLAMAFILE", None);
                    if arch_file.is_none() {
                        build.define("GGML_CPU_GENERIC", None);
                    }
                    isa::apply(features, &mut build);
                }
                "ggml-registry" => {
                    build.define("GGML_USE_CPU", None);
                    backends.iter().for_each(|backend| {
                        build.define(backend, None);
                    });
                }
                _ => {}
            }
            build.files(files.iter().map(|file| src.join(file))).compile(&format!("{library}-{suffix}"));
        }
    }
    link_system_libraries();
}

#[derive(Clone, Copy, PartialEq)]
enum Language {
    C,
    Cxx,
}

/// A compiler set up as ggml's own build sets it up, fully optimised whatever cargo's profile.
fn compiler(language: Language, includes: &[PathBuf]) -> cc::Build {
    let mut build = cc::Build::new();
    build.includes(includes).warnings(false).debug(false).opt_level(3).define("NDEBUG", None);
    build.define("GGML_SCHED_MAX_COPIES", "4");
    let msvc = build.get_compiler().is_like_msvc();
    let standard = match (language, msvc) {
        (Language::C, true) => "c11",
        (Language::C, false) => "gnu11",
        (Language::Cxx, true) => "c++17",
        (Language::Cxx, false) => "gnu++17",
    };
    build.cpp(language == Language::Cxx).std(standard);
    match env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("linux" | "android") => build.define("_GNU_SOURCE", None).define("_XOPEN_SOURCE", "600"),
        Ok("macos" | "ios") => build.define("_DARWIN_C_SOURCE", None).define("_XOPEN_SOURCE", "600"),
        Ok("windows") => build.define("_CRT_SECURE_NO_WARNINGS", None),
        _ => &mut build,
    };
    if !msvc {
        // Hidden symbols cannot be taken for those of another copy of ggml in a shared library of the same process.
        // Exceptions of C++ backends pass through ggml's C functions on their way to the shim.
        build.flag("-fvisibility=hidden").flag("-fexceptions");
    }
    build
}

/// ggml's own build fills this template in; the version stands in its `CMakeLists.txt`.
fn write_version_header(ggml: &Path, out_dir: &Path) -> PathBuf {
    let read = |path: PathBuf| {
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()))
    };
    let project = read(ggml.join("CMakeLists.txt"));
    let number = |part: &str| {
        let start = format!("set(GGML_VERSION_{part} ");
        let line = project.lines().find_map(|line| line.strip_prefix(&start)?.strip_suffix(')'));
        line.unwrap_or_else(|| panic!("no GGML_VERSION_{part} in {}/CMakeLists.txt", ggml.display())).to_owned()
    };
    let version = format!("{}.{}.{}", number("MAJOR"), number("MINOR"), number("PATCH"));
    let header = read(ggml.join("src/ggml-version.h.in"))
        .replace("@GGML_VERSION@", &version)
        .replace("@GGML_BUILD_COMMIT@", "unknown");
    let dir = out_dir.join("generated");
    fs::create_dir_all(&dir)
        .and_then(|()| fs::write(dir.join("ggml-version.h"), header))
        .unwrap_or_else(|error| panic!("cannot write to {}: {error}", dir.display()));
    dir
}

fn link_system_libraries() {
    match env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("linux") => ["dl", "m", "pthread"].iter().for_each(|name| println!("cargo:rustc-link-lib={name}")),
        Ok("windows") => println!("cargo:rustc-link-lib=advapi32"),
        _ => {}
    }
}
