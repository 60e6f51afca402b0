//! Development tasks of this workspace, run as `cargo xtask <command>`.
//!
//! Every command works from a fresh clone and fetches or builds what it needs. One module a command; `flags` is the
//! command line, `process` what the commands share.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a development tool talks to its terminal")]

mod flags;
mod process;
mod testdata;

use flags::XtaskCmd;

fn main() -> anyhow::Result<()> {
    match flags::Xtask::from_env_or_exit().subcommand {
        XtaskCmd::Testdata(_) => testdata::run(),
    }
}
