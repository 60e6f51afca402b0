//! `cargo xtask leaks`: upscales an image under LeakSanitizer, which fails the command that ends with unreachable memory.
//!
//! The sanitizer's library is loaded before the release binary and takes over the allocator, so that nothing is built
//! anew. It comes with gcc and exists on Linux only.

use anyhow::Context as _;
use xshell::cmd;

use crate::{process, testdata};

const IMAGE: &str = "tests/data/upscale/flower64.png";
const MODEL: &str = "testdata/models/realesr-animevideov3-x2.param";
const RESULT: &str = "target/leaks.png";
/// What the sanitizer ends a leaking process with.
const LEAK_EXIT_CODE: &str = "exitcode=23";

pub(crate) fn run() -> anyhow::Result<()> {
    testdata::run()?;
    let shell = process::shell()?;
    let library = cmd!(shell, "gcc -print-file-name=liblsan.so").quiet().read().context("gcc is missing")?;
    anyhow::ensure!(library.starts_with('/'), "gcc has no liblsan.so: install the one of its version");
    cmd!(shell, "cargo build --release --locked --package fresco-cli").run()?;
    cmd!(shell, "target/release/fresco upscale {IMAGE} --model {MODEL} --output {RESULT} --force --threads 2")
        .env("LD_PRELOAD", library)
        .env("LSAN_OPTIONS", LEAK_EXIT_CODE)
        .run()
        .context("memory leaks, or the upscaling failed")?;
    println!("leaks: none");
    Ok(())
}
