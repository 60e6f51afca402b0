//! `cargo xtask test`: every test of the workspace, with the test data that they need.

use xshell::cmd;

use crate::{process, testdata};

pub(crate) fn run() -> anyhow::Result<()> {
    testdata::run()?;
    let shell = process::shell()?;
    let has_nextest = cmd!(shell, "cargo nextest --version").quiet().ignore_stdout().ignore_stderr().run().is_ok();
    if has_nextest {
        // It runs everything but the examples in the documentation.
        cmd!(shell, "cargo nextest run --workspace --locked").run()?;
        cmd!(shell, "cargo test --workspace --locked --doc").run()?;
    } else {
        cmd!(shell, "cargo test --workspace --locked").run()?;
    }
    Ok(())
}
