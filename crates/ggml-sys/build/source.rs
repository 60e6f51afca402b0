//! Finds the source of ggml, which is not in the repository: `FRESCO_GGML_DIR`, else `vendor/ggml` (the offline copy that
//! `cargo xtask vendor` makes), else the registry package that `vendor/fetch` pins.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::cargo_variable;

/// The registry package that carries ggml's source, and where in it.
const SOURCE_PACKAGE: &str = "llama-cpp-sys-2";
const SOURCE_SUBDIRECTORY: &str = "llama.cpp/ggml";

/// The directory of ggml's source: the one with `include/` and `src/`.
///
/// # Panics
/// With what to do about it, where there is none; a build script reports by panicking.
pub(crate) fn locate(out_dir: &Path) -> PathBuf {
    println!("cargo:rerun-if-env-changed=FRESCO_GGML_DIR");
    if let Some(dir) = env::var_os("FRESCO_GGML_DIR") {
        let dir = std::path::absolute(&dir).unwrap_or_else(|error| panic!("FRESCO_GGML_DIR names no folder: {error}"));
        return editable(dir, "FRESCO_GGML_DIR names");
    }
    let Some(vendor) = vendor_of_checkout() else { return from_registry(&published_fetch_package(out_dir)) };
    let copy = vendor.join("ggml");
    if copy.is_dir() {
        return editable(copy, "the offline copy is");
    }
    // Stands for the copy, which cannot be watched while it is missing: `cargo xtask vendor` touches this file.
    println!("cargo:rerun-if-changed={}", vendor.join("ggml.toml").display());
    println!("cargo:rerun-if-changed={}", vendor.join("fetch/Cargo.lock").display());
    from_registry(&vendor.join("fetch"))
}

/// The folder `vendor` of the repository; a published package has none around it.
pub(crate) fn vendor_of_checkout() -> Option<PathBuf> {
    let vendor = manifest_dir().join("../../vendor");
    vendor.join("ggml.toml").is_file().then_some(vendor)
}

/// The package that pins the source, laid out anew: a published package cannot hold another within itself, so there its
/// files stand under other names.
fn published_fetch_package(out_dir: &Path) -> PathBuf {
    let laid_out = out_dir.join("fetch");
    let copy = |from: &str, to: &str| {
        let (from, to) = (manifest_dir().join("fetch").join(from), laid_out.join(to));
        fs::copy(&from, &to)
            .unwrap_or_else(|error| panic!("cannot copy {} to {}: {error}", from.display(), to.display()));
    };
    fs::create_dir_all(&laid_out).unwrap_or_else(|error| panic!("cannot create {}: {error}", laid_out.display()));
    copy("manifest.toml", "Cargo.toml");
    copy("Cargo.lock", "Cargo.lock");
    copy("lib.rs", "lib.rs");
    laid_out
}

/// Asks cargo where it keeps the pinned package; cargo downloads and verifies it where it is missing.
fn from_registry(fetch: &Path) -> PathBuf {
    let output = Command::new(cargo_variable("CARGO"))
        .args(["metadata", "--locked", "--format-version", "1"])
        .current_dir(fetch)
        .output()
        .unwrap_or_else(|error| panic!("cannot run cargo metadata in {}: {error}", fetch.display()));
    assert!(
        output.status.success(),
        "cargo could not fetch the source of ggml ({SOURCE_PACKAGE}, pinned in {}):\n{}\nWithout a network, run \
         `cargo xtask vendor` on a machine that has one and copy vendor/ggml, or set FRESCO_GGML_DIR.",
        fetch.display(),
        String::from_utf8_lossy(&output.stderr).trim()
    );
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("cannot parse cargo's metadata: {error}"));
    let manifest = metadata["packages"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|package| package["name"] == SOURCE_PACKAGE)
        .and_then(|package| package["manifest_path"].as_str())
        .unwrap_or_else(|| panic!("{} does not depend on {SOURCE_PACKAGE}", fetch.display()));
    checked(Path::new(manifest).with_file_name(SOURCE_SUBDIRECTORY), "the registry package holds")
}

fn editable(dir: PathBuf, how: &str) -> PathBuf {
    // Cargo looks at every file below. The registry's copy needs no watch, since it never changes.
    println!("cargo:rerun-if-changed={}", dir.display());
    checked(dir, how)
}

fn checked(dir: PathBuf, how: &str) -> PathBuf {
    for file in ["include/ggml.h", "src/ggml.c", "src/ggml-cpu/ggml-cpu.c"] {
        assert!(dir.join(file).is_file(), "{how} {}, but that has no {file}: it is no source of ggml", dir.display());
    }
    dir
}

fn manifest_dir() -> PathBuf {
    PathBuf::from(cargo_variable("CARGO_MANIFEST_DIR"))
}
