//! Running other programs, and where the workspace is.

use std::path::PathBuf;

use anyhow::Context as _;
use xshell::Shell;

/// The root of the workspace, wherever the task was started from.
pub(crate) fn workspace_root() -> PathBuf {
    let xtask = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().map(PathBuf::from).unwrap_or(xtask)
}

/// A shell whose current folder is the root of the workspace.
pub(crate) fn shell() -> anyhow::Result<Shell> {
    let shell = Shell::new().context("cannot read the current folder")?;
    shell.change_dir(workspace_root());
    Ok(shell)
}

/// Ends a check: prints every problem that it found and fails if there is one.
pub(crate) fn conclude(check: &str, problems: &[String]) -> anyhow::Result<()> {
    for problem in problems {
        println!("{problem}");
    }
    anyhow::ensure!(problems.is_empty(), "{check}: {} problems", problems.len());
    println!("{check}: no problems");
    Ok(())
}
