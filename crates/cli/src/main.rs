//! The `fresco` command.
//!
//! Results go to standard output, as text or as JSON; progress, warnings and errors go to standard error. The exit code says
//! how it went, see the module `exit`. `docs/cli.md` describes both for users.
#![forbid(unsafe_code)]

mod args;
mod devices;
mod exit;
mod inspect;
mod interrupt;
mod logging;
mod output;
mod units;
mod upscale;

use clap::Parser;

use args::{Arguments, Command};
use exit::Exit;

fn main() -> std::process::ExitCode {
    let arguments = Arguments::parse();
    logging::start(arguments.verbose);
    let result = match &arguments.command {
        Command::Upscale(upscale) => upscale::run(upscale, || arguments.runtime()),
        Command::Inspect(inspect) => inspect::run(inspect),
        Command::Devices(devices) => {
            arguments.runtime().map_err(Into::into).and_then(|runtime| devices::run(devices, &runtime))
        }
    };
    let exit = result.unwrap_or_else(|error| {
        let exit = Exit::of_error(&error);
        if exit != Exit::Cancelled {
            output::error(exit::describe(error.as_ref()));
        }
        exit
    });
    exit.into()
}
