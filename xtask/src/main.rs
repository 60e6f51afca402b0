//! Development tasks of this workspace, run as `cargo xtask <command>`.
//!
//! Every command works from a fresh clone and fetches or builds what it needs. One module a command; `flags` is the
//! command line, `process` and `metadata` what the commands share.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a development tool talks to its terminal")]

mod backend;
mod bench;
mod bindings;
mod ci;
mod demo;
mod doctor;
mod flags;
mod layers;
mod leaks;
mod licenses;
mod metadata;
mod process;
mod test;
mod testdata;
mod tidy;
mod vendor;
mod vulkan;

use std::process::ExitCode;

use flags::XtaskCmd;

fn main() -> ExitCode {
    let result = match flags::Xtask::from_env_or_exit().subcommand {
        XtaskCmd::Demo(_) => demo::run(),
        XtaskCmd::Test(_) => test::run(),
        XtaskCmd::Bench(_) => bench::run(),
        XtaskCmd::Backend(flags) => backend::run(&flags.name, flags.out, flags.arch, flags.jobs),
        XtaskCmd::Vendor(_) => vendor::run(),
        XtaskCmd::Doctor(_) => doctor::run(),
        XtaskCmd::Bindings(flags) => bindings::run(flags.check),
        XtaskCmd::Testdata(_) => testdata::run(),
        XtaskCmd::Layers(_) => layers::run(),
        XtaskCmd::Tidy(_) => tidy::run(),
        XtaskCmd::Licenses(_) => licenses::run(),
        XtaskCmd::Leaks(_) => leaks::run(),
        XtaskCmd::Vulkan(_) => vulkan::run(),
        XtaskCmd::Ci(_) => ci::run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
