//! Finds the source of ggml, which is not in the repository: `FRESCO_GGML_DIR`, else `vendor/ggml` (the offline copy that
//! `cargo xtask vendor` makes), else the registry package that `vendor/fetch` pins.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

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
        return editable(PathBuf::from(dir), "FRESCO_GGML_DIR names");
    }
    let vendor = manifest_dir().join("../../vendor");
    let vendored = vendor.join("ggml");
    // The folder around it, so that the build follows the copy's coming and going: a missing file would always be news.
    println!("cargo:rerun-if-changed={}", vendor.display());
    if vendored.is_dir() {
        return editable(vendored, "the offline copy is");
    }
    from_registry(&fetch_package(&vendor, out_dir))
}

/// Makes cargo run the build again when a file of an editable source changes: each file by itself, since cargo takes a
/// directory's own time stamp, which the editing of a file below leaves alone. The registry's copy never changes.
fn rerun_if_changed(dir: &Path) {
    let entries = fs::read_dir(dir).unwrap_or_else(|error| panic!("cannot list {}: {error}", dir.display()));
    for entry in entries.flatten().map(|entry| entry.path()) {
        if entry.is_dir() {
            rerun_if_changed(&entry);
        } else {
            println!("cargo:rerun-if-changed={}", entry.display());
        }
    }
}

/// The package that pins the source: `vendor/fetch` in a checkout. In a published package, which can carry no package
/// within itself, its two files stand under other names and are laid out anew.
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
    let output = Command::new(env::var_os("CARGO").expect("cargo sets CARGO"))
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
        serde_json::from_slice(&output.stdout).expect("cargo metadata prints the JSON that it documents");
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
    let dir = std::path::absolute(checked(dir, how)).expect("what was just read is there");
    rerun_if_changed(&dir);
    dir
}

fn checked(dir: PathBuf, how: &str) -> PathBuf {
    for file in ["include/ggml.h", "src/ggml.c", "src/ggml-cpu/ggml-cpu.c"] {
        assert!(dir.join(file).is_file(), "{how} {}, but that has no {file}: it is no source of ggml", dir.display());
    }
    dir
}

fn manifest_dir() -> PathBuf {
    PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"))
}
