//! `cargo xtask bindings [--check]`: writes `crates/ggml-sys/src/bindings.rs` from ggml's headers and our shim's, or
//! checks that the committed file is what would be written.
//!
//! Only this needs libclang. Because bindgen takes long to compile and nothing else uses it, it stands behind the
//! feature `bindings`, and the command starts itself again with that feature on.

#[cfg(feature = "bindings")]
mod generator;

#[cfg(feature = "bindings")]
pub(crate) use generator::run;

#[cfg(not(feature = "bindings"))]
pub(crate) fn run(check: bool) -> anyhow::Result<()> {
    let shell = crate::process::shell()?;
    let check = check.then_some("--check");
    // A folder of its own: the running executable is not replaced, and the two feature sets do not take turns.
    xshell::cmd!(
        shell,
        "cargo run --quiet --package xtask --features bindings --target-dir target/bindings -- bindings {check...}"
    )
    .quiet()
    .run()?;
    Ok(())
}
