//! Writing to the standard streams.

use std::fmt::Display;
use std::io::{self, Write as _};

use anyhow::Context as _;
use serde::Serialize;

/// Writes a line of the result.
pub(crate) fn line(text: impl Display) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{text}").and_then(|()| stdout.flush()).context("cannot write to standard output")
}

/// Writes a value as one line of JSON.
pub(crate) fn json_line(value: &impl Serialize) -> anyhow::Result<()> {
    line(serde_json::to_string(value).context("cannot write JSON")?)
}

/// Writes a value as an indented JSON document.
pub(crate) fn json_document(value: &impl Serialize) -> anyhow::Result<()> {
    line(serde_json::to_string_pretty(value).context("cannot write JSON")?)
}

/// Says what went wrong. Where even that fails, the exit code has to do.
pub(crate) fn error(text: impl Display) {
    let _ = writeln!(io::stderr().lock(), "error: {text}");
}
