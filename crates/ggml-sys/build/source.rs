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
    let vendor = manifest_dir().join("../../vendor");
    let vendored = vendor.join("ggml");
    if vendored.is_dir() {
        return editable(vendored, "the offline copy is");
    }
    // Stands for `vendor/ggml`, which cannot be watched while it is missing: `cargo xtask vendor` touches this file.
    let news = vendor.join("ggml.toml");
    if news.is_file() {
        println!("cargo:rerun-if-changed={}", news.display());
    }
    from_registry(&fetch_package(&vendor, out_dir))
}

/// The package that pins the source: `vendor/fetch` in a checkout. In a published package, which can carry no package
/// within itself, its files stand under other names and are laid out anew.
fn fetch_package(vendor: &Path, out_dir: &Path) -> PathBuf {
    let in_checkout = vendor.join("fetch");
    if in_checkout.join("Cargo.lock").is_file() {
        return in_checkout;
    }
    let laid_out = out_dir.join("fetch");
    let copy = |from: &str, to: &str| {
        let from = manifest_dir().join("fetch").join(from);
        let content = fs::read(&from).unwrap_or_else(|error| panic!("cannot read {}: {error}", from.display()));
        fs::write(laid_out.join(to), content)
            .unwrap_or_else(|error| panic!("cannot write {}: {error}", laid_out.display()));
    };
    fs::create_dir_all(&laid_out).unwrap_or_else(|error| panic!("cannot create {}: {error}", laid_out.display()));
    copy("manifest.toml", "Cargo.toml");
    copy("Cargo.lock", "Cargo.lock");
    copy("lib.rs", "lib.rs");
    laid_out
}

/// Asks cargo where it keeps the pinned package; cargo downloads and verifies it where it is missing.
fn from_registry(fetch: &Path) -> PathBuf {
    println!("cargo:rerun-if-changed={}", fetch.join("Cargo.lock").display());
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
