//! `cargo xtask ci`: everything that must hold before a change is taken, the cheap checks first.

use std::time::Instant;

use anyhow::Context as _;
use xshell::cmd;

use crate::{bindings, demo, layers, leaks, licenses, process, test, tidy, vulkan};

/// A check and its name.
type Step = (&'static str, fn() -> anyhow::Result<()>);

const STEPS: &[Step] = &[
    ("format", format),
    ("layers", layers::run),
    ("tidy", tidy::run),
    ("licenses", licenses::run),
    ("bindings", || bindings::run(true)),
    ("clippy", clippy),
    ("documentation", documentation),
    ("fuzz targets", fuzz_targets),
    ("demo", demo::run),
    ("leaks", leaks::run),
    ("test", test::run),
    ("vulkan", vulkan::run),
];

pub(crate) fn run() -> anyhow::Result<()> {
    let mut summary = String::new();
    for (name, step) in STEPS {
        println!("\n=== {name}");
        let start = Instant::now();
        step().with_context(|| format!("the step '{name}' failed"))?;
        let line = format!("{name:<16} {:>7.1} s", start.elapsed().as_secs_f64());
        println!("=== {line}");
        summary += &line;
        summary += "\n";
    }
    println!("\nAll steps passed:\n{summary}");
    Ok(())
}

fn format() -> anyhow::Result<()> {
    let shell = process::shell()?;
    cmd!(shell, "cargo fmt --all --check").run()?;
    Ok(())
}

fn clippy() -> anyhow::Result<()> {
    let shell = process::shell()?;
    cmd!(shell, "cargo clippy --workspace --all-targets --locked -- --deny warnings").run()?;
    Ok(())
}

fn documentation() -> anyhow::Result<()> {
    let shell = process::shell()?;
    cmd!(shell, "cargo doc --workspace --no-deps --locked").env("RUSTDOCFLAGS", "--deny warnings").run()?;
    Ok(())
}

/// The fuzz targets are a workspace of their own, which only a nightly compiler can run; here they must compile. Checking
/// needs no ggml, which is left out as for documentation.
fn fuzz_targets() -> anyhow::Result<()> {
    let shell = process::shell()?;
    cmd!(shell, "cargo check --manifest-path fuzz/Cargo.toml").env("DOCS_RS", "1").run()?;
    Ok(())
}
