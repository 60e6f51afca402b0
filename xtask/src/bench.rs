//! `cargo xtask bench`: measures whole models, with the weights that this needs.

use xshell::cmd;

use crate::{process, testdata};

pub(crate) fn run() -> anyhow::Result<()> {
    testdata::run()?;
    let shell = process::shell()?;
    cmd!(shell, "cargo bench --locked --package fresco-benches").run()?;
    Ok(())
}
