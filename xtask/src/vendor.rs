//! `cargo xtask vendor`: copies ggml's source from the pinned registry package into the git-ignored folder `vendor/ggml`,
//! for builds without a network.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use xshell::cmd;

use crate::process;

#[cfg_attr(not(feature = "bindings"), allow(dead_code, reason = "only the generator of bindings reads the source"))]
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
