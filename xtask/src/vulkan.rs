//! `cargo xtask vulkan`: builds the Vulkan backend as a library and compares what it computes with the CPU.
//!
//! Any Vulkan device serves; without a GPU that is Mesa's lavapipe, which ggml takes only when the device is named by
//! `GGML_VK_VISIBLE_DEVICES`.

use xshell::cmd;

use crate::{backend, process, testdata};

/// The tests that need the backend: their package and name.
const TESTS: &[(&str, &str)] = &[
    ("fresco-ggml-sys", "loading"),
    ("fresco-ggml", "vulkan"),
    ("fresco-cli", "backends"),
    ("fresco-tests", "upscale_vulkan"),
];

pub(crate) fn run() -> anyhow::Result<()> {
    testdata::run()?;
    backend::run("vulkan", None, None, None)?;
    let shell = process::shell()?;
    for (package, test) in TESTS {
        cmd!(shell, "cargo test --locked --package {package} --features dynamic-backends --test {test}")
            .env("GGML_VK_VISIBLE_DEVICES", "0")
            .run()?;
    }
    Ok(())
}
