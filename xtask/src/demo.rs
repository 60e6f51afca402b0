//! `cargo xtask demo`: upscales a photo with published weights, from nothing but a clone.

use xshell::cmd;

use crate::{process, testdata};

const PHOTO: &str = "testdata/photos/flower.jpg";
const MODEL: &str = "testdata/models/realesrgan-x4plus-anime.param";
const FOLDER: &str = "upscaled";
const RESULT: &str = "upscaled/flower.png";

pub(crate) fn run() -> anyhow::Result<()> {
    testdata::run()?;
    let shell = process::shell()?;
    shell.create_dir(FOLDER)?;
    cmd!(shell, "cargo build --release --locked --package fresco-cli").run()?;
    cmd!(
        shell,
        "cargo run --release --locked --quiet --package fresco-cli -- upscale {PHOTO} --model {MODEL} --output {RESULT} --force"
    )
    .run()?;
    println!("\nThe photo, four times as wide and high: {}", process::workspace_root().join(RESULT).display());
    Ok(())
}
