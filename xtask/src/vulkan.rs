//! `cargo xtask vulkan`: builds the Vulkan backend as a library and compares what it computes with the CPU.
//!
//! Any Vulkan device serves; without a GPU that is Mesa's lavapipe, which ggml takes only when the device is named by
//! `GGML_VK_VISIBLE_DEVICES`.

use xshell::cmd;

use crate::{backend, process, testdata};

pub(crate) fn run() -> anyhow::Result<()> {
    testdata::run()?;
    backend::run("vulkan", None, None, None)?;
    let shell = process::shell()?;
    for (package, test) in [("fresco-ggml", "vulkan"), ("fresco-tests", "upscale_vulkan")] {
        cmd!(shell, "cargo test --locked --package {package} --features dynamic-backends --test {test}")
            .env("GGML_VK_VISIBLE_DEVICES", "0")
            .run()?;
    }
    Ok(())
}
