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
