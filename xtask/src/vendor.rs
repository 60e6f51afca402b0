//! `cargo xtask vendor`: copies ggml's source from the pinned registry package into the git-ignored folder `vendor/ggml`,
//! for builds without a network.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use xshell::cmd;

use crate::process;

/// What is copied of `llama.cpp/ggml`. Left out are backends that nothing here builds.
const KEPT: &[&str] = &["CMakeLists.txt", "cmake", "include", "src"];
const DROPPED_BACKENDS: &[&str] = &[
    "ggml-blas",
    "ggml-cann",
    "ggml-et",
    "ggml-hexagon",
    "ggml-musa",
    "ggml-openvino",
    "ggml-virtgpu",
    "ggml-webgpu",
    "ggml-zdnn",
    "ggml-zendnn",
];

pub(crate) fn run() -> anyhow::Result<()> {
    let source = registry_source()?;
    let vendor = process::workspace_root().join("vendor");
    let partial = vendor.join("ggml.tmp");
    let destination = vendor.join("ggml");
    for old in [&partial, &destination] {
        if old.exists() {
            fs::remove_dir_all(old).with_context(|| format!("cannot remove {}", old.display()))?;
        }
    }
    for name in KEPT {
        copy(&source.join(name), &partial.join(name))?;
    }
    // The licence stands one folder up, where it covers the whole package.
    copy(&source.join("../LICENSE"), &partial.join("LICENSE"))?;
    fs::rename(&partial, &destination).with_context(|| format!("cannot create {}", destination.display()))?;
    // The build script watches this file until there is a copy to watch.
    let watched = vendor.join("ggml.toml");
    fs::File::options()
        .append(true)
        .open(&watched)
        .and_then(|file| file.set_modified(std::time::SystemTime::now()))
        .with_context(|| format!("cannot touch {}", watched.display()))?;
    println!("copied {} to {}", source.display(), destination.display());
    Ok(())
}

/// The source that a build would use: see `crates/ggml-sys/build/source.rs`.
pub(crate) fn source() -> anyhow::Result<PathBuf> {
    if let Some(dir) = std::env::var_os("FRESCO_GGML_DIR") {
        return std::path::absolute(dir).context("FRESCO_GGML_DIR names no folder");
    }
    let vendored = process::workspace_root().join("vendor/ggml");
    if vendored.is_dir() { Ok(vendored) } else { registry_source() }
}

/// Where cargo keeps the ggml source that `vendor/fetch` pins; cargo downloads and verifies it where it is missing.
pub(crate) fn registry_source() -> anyhow::Result<PathBuf> {
    let shell = process::shell()?;
    shell.change_dir("vendor/fetch");
    let metadata = cmd!(shell, "cargo metadata --locked --format-version 1").quiet().read()?;
    let metadata: serde_json::Value = serde_json::from_str(&metadata)?;
    let manifest = metadata["packages"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|package| package["name"] == "llama-cpp-sys-2")
        .and_then(|package| package["manifest_path"].as_str())
        .context("vendor/fetch does not depend on llama-cpp-sys-2")?;
    Ok(Path::new(manifest).with_file_name("llama.cpp/ggml"))
}

fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    let context = || format!("cannot copy {} to {}", from.display(), to.display());
    if !from.is_dir() {
        ensure!(from.is_file(), "{} is missing", from.display());
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent).with_context(context)?;
        }
        return fs::copy(from, to).map(drop).with_context(context);
    }
    for entry in fs::read_dir(from).with_context(context)? {
        let entry = entry.with_context(context)?;
        let name = entry.file_name();
        if !DROPPED_BACKENDS.iter().any(|dropped| name == *dropped) {
            copy(&entry.path(), &to.join(&name))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(file: &str) -> String {
        fs::read_to_string(process::workspace_root().join("vendor").join(file)).unwrap()
    }

    #[test]
    fn the_pin_in_words_is_the_pin_that_cargo_enforces() {
        let (words, manifest, lock) = (read("ggml.toml"), read("fetch/Cargo.toml"), read("fetch/Cargo.lock"));
        let value = |key: &str| {
            let line = words.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = ")).unwrap();
            line.trim_matches('"').to_owned()
        };
        let (name, version, checksum) = (value("crate"), value("version"), value("checksum"));
        assert!(manifest.contains(&format!("{name} = {{ version = \"={version}\"")));
        let entry = lock.split("[[package]]").find(|entry| entry.contains(&format!("name = \"{name}\"\n"))).unwrap();
        assert!(entry.contains(&format!("version = \"{version}\"\n")), "{entry}");
        assert!(entry.contains(&format!("checksum = \"{checksum}\"\n")), "{entry}");
    }

    #[test]
    fn the_copy_leaves_out_what_nothing_builds() {
        let folder = tempfile::tempdir().unwrap();
        let from = folder.path().join("from");
        for file in ["src/ggml.c", "src/ggml-cpu/ops.cpp", "src/ggml-webgpu/ggml-webgpu.cpp"] {
            let file = from.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "text").unwrap();
        }
        let to = folder.path().join("to");
        copy(&from, &to).unwrap();
        assert_eq!(fs::read_to_string(to.join("src/ggml-cpu/ops.cpp")).unwrap(), "text");
        assert!(!to.join("src/ggml-webgpu").exists());
        assert!(copy(&from.join("src/ggml.h"), &to.join("ggml.h")).unwrap_err().to_string().contains("is missing"));
    }
}
