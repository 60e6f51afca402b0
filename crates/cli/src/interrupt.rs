//! Ctrl-C: ends the work in an orderly way.

use anyhow::Context as _;
use fresco::CancelToken;

/// A token that is raised when the user, or the system, asks the command to end. The work that watches it then unwinds,
/// which removes its temporary files.
pub(crate) fn token() -> anyhow::Result<CancelToken> {
    let token = CancelToken::new();
    let raised = token.clone();
    ctrlc::set_handler(move || raised.cancel()).context("cannot listen for interruptions")?;
    Ok(token)
}
