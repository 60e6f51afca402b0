//! How the command ends.

use std::error::Error;
use std::iter;
use std::process::ExitCode;

use fresco::models::engine::ggml;

/// How the command ended, as its exit code tells scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0: all was done.
    Success,
    /// 1: something was not done; standard error says what and why.
    Failure,
    /// 2: what was asked makes no sense, and nothing was done.
    Usage,
    /// 130: interrupted; what was finished before stays.
    Cancelled,
}

/// Something asked for that makes no sense.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct UsageError(pub(crate) String);

impl Exit {
    /// How the command ends with an error.
    pub(crate) fn of_error(error: &anyhow::Error) -> Self {
        if error.chain().any(|cause| cause.is::<UsageError>()) {
            return Self::Usage;
        }
        match error.chain().find_map(|cause| cause.downcast_ref::<fresco::Error>()) {
            Some(fresco::Error::Cancelled) => Self::Cancelled,
            Some(fresco::Error::Request { .. }) => Self::Usage,
            Some(fresco::Error::Device(error)) if matches!(**error, ggml::Error::Select(_)) => Self::Usage,
            _ => Self::Failure,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Success => 0,
            Exit::Failure => 1,
            Exit::Usage => 2,
            Exit::Cancelled => 130,
        })
    }
}

/// An error and its causes in one line. Where a message contains that of its cause already, the cause is left out.
pub(crate) fn describe(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    for cause in iter::successors(error.source(), |&error| error.source()) {
        let cause = cause.to_string();
        if !text.ends_with(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_end_the_command_by_their_kind() {
        let of = |error: anyhow::Error| Exit::of_error(&error.context("around it"));
        assert_eq!(of(UsageError("no".into()).into()), Exit::Usage);
        assert_eq!(of(fresco::Error::Cancelled.into()), Exit::Cancelled);
        assert_eq!(of(anyhow::anyhow!("broken")), Exit::Failure);
    }

    #[test]
    fn a_cause_is_told_once() {
        let error =
            anyhow::anyhow!("cannot read x: no such file").context("cannot read x: no such file").context("a.png");
        assert_eq!(describe(error.as_ref()), "a.png: cannot read x: no such file");
    }
}
