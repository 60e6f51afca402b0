//! Chooses the instruction set extensions that ggml's CPU code is compiled for, names each to the compiler by itself, and
//! leaves the list for the library, which compares it with the CPU that it runs on.
//!
//! `-march=native` would do the first job and spoil the second: nobody could tell afterwards what was compiled in.

#[path = "../src/cpu_features.rs"]
mod cpu_features;

use std::{env, fs, path::Path};

use crate::cargo_variable;
pub(crate) use cpu_features::CpuFeature;
use cpu_features::{AARCH64, X86_64, cpu_has};

/// A cargo feature that names a baseline.
struct Baseline {
    arch: &'static str,
    /// The feature as cargo's environment spells it.
    variable: &'static str,
    extensions: &'static [&'static str],
}

/// Lowest first for each architecture.
const BASELINES: &[Baseline] = &[
    Baseline { arch: "x86_64", variable: "CARGO_FEATURE_CPU_X86_64", extensions: &[] },
    Baseline { arch: "x86_64", variable: "CARGO_FEATURE_CPU_X86_64_V2", extensions: &["sse4.2"] },
    Baseline {
        arch: "x86_64",
        variable: "CARGO_FEATURE_CPU_X86_64_V3",
        extensions: &["sse4.2", "avx", "f16c", "fma", "bmi2", "avx2"],
    },
    Baseline {
        arch: "x86_64",
        variable: "CARGO_FEATURE_CPU_X86_64_V4",
        extensions: &[
            "sse4.2", "avx", "f16c", "fma", "bmi2", "avx2", "avx512f", "avx512cd", "avx512vl", "avx512dq", "avx512bw",
        ],
    },
    Baseline { arch: "aarch64", variable: "CARGO_FEATURE_CPU_ARMV8_0", extensions: &[] },
    Baseline { arch: "aarch64", variable: "CARGO_FEATURE_CPU_ARMV8_2", extensions: &["dotprod", "fp16"] },
    Baseline { arch: "aarch64", variable: "CARGO_FEATURE_CPU_ARMV8_6", extensions: &["dotprod", "fp16", "i8mm"] },
];

/// ggml's AVX-512 code takes all of these for granted as soon as it sees the first.
const AVX512_CORE: &[&str] = &["avx512f", "avx512cd", "avx512vl", "avx512dq", "avx512bw"];

/// The extensions to compile for, by the rule that `Cargo.toml` states beside the features.
pub(crate) fn select() -> Vec<&'static CpuFeature> {
    let arch = cargo_variable("CARGO_CFG_TARGET_ARCH");
    let known = match arch.as_str() {
        "x86_64" => X86_64,
        "aarch64" => AARCH64,
        _ => return Vec::new(),
    };
    let baseline = BASELINES.iter().find(|baseline| baseline.arch == arch && env::var_os(baseline.variable).is_some());
    let is_wanted: Box<dyn Fn(&CpuFeature) -> bool> = if let Some(baseline) = baseline {
        Box::new(|feature| baseline.extensions.contains(&feature.name))
    } else if env::var("HOST") == env::var("TARGET") {
        Box::new(|feature| cpu_has(feature.name) && compiler_knows(feature))
    } else {
        let promised = env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
        Box::new(move |feature| promised.split(',').any(|name| name == feature.name))
    };
    let mut chosen: Vec<&CpuFeature> = known.iter().filter(|feature| is_wanted(feature)).collect();
    if !AVX512_CORE.iter().all(|name| chosen.iter().any(|feature| feature.name == *name)) {
        chosen.retain(|feature| !feature.name.starts_with("avx512"));
    }
    chosen
}

/// Whether the compiler is new enough for an extension that this machine has.
fn compiler_knows(feature: &CpuFeature) -> bool {
    let build = cc::Build::new();
    let flag = if feature.flag.starts_with('+') { arm_flag(&[feature]) } else { feature.flag.to_owned() };
    build.get_compiler().is_like_msvc() || build.is_flag_supported(flag).unwrap_or(false)
}

/// Adds the compiler flags for `features` to `build`.
pub(crate) fn apply(features: &[&CpuFeature], build: &mut cc::Build) {
    let arch = cargo_variable("CARGO_CFG_TARGET_ARCH");
    let names: Vec<&str> = features.iter().map(|feature| feature.name).collect();
    if build.get_compiler().is_like_msvc() {
        apply_msvc(&names, build);
    } else if arch == "aarch64" {
        build.flag(arm_flag(features));
    } else {
        features.iter().for_each(|feature| {
            build.flag(feature.flag);
        });
    }
}

/// On ARM, one flag names the architecture and all extensions.
fn arm_flag(features: &[&CpuFeature]) -> String {
    let base = if features.is_empty() { "-march=armv8-a" } else { "-march=armv8.2-a" };
    let suffixes: String = features.iter().map(|feature| feature.flag).collect();
    format!("{base}{suffixes}")
}

/// Microsoft's compiler knows three levels, and leaves the macros of the finer extensions to the user.
fn apply_msvc(names: &[&str], build: &mut cc::Build) {
    let level = ["avx512f", "avx2", "avx"].into_iter().find(|level| names.contains(level));
    match level {
        Some("avx512f") => build.flag("/arch:AVX512"),
        Some("avx2") => build.flag("/arch:AVX2"),
        Some("avx") => build.flag("/arch:AVX"),
        _ => build,
    };
    for (name, define) in [
        ("bmi2", "__BMI2__"),
        ("avxvnni", "__AVXVNNI__"),
        ("avx512vbmi", "__AVX512VBMI__"),
        ("avx512vnni", "__AVX512VNNI__"),
        ("avx512bf16", "__AVX512BF16__"),
    ] {
        if names.contains(&name) {
            build.define(define, None);
        }
    }
}

/// Writes the names as the Rust expression that `src/lib.rs` includes.
pub(crate) fn write_list(out_dir: &Path, features: &[&CpuFeature]) {
    let names: Vec<&str> = features.iter().map(|feature| feature.name).collect();
    let file = out_dir.join("compiled_cpu_features.rs");
    fs::write(&file, format!("&{names:?}")).unwrap_or_else(|error| panic!("cannot write {}: {error}", file.display()));
}
