//! Stopping work from another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that stops running work soon after it is raised; clones share it.
///
/// On the CPU a run stops after the operation in progress, elsewhere after the segment in progress.
#[derive(Clone, Debug, Default)]
pub struct CancelToken {
    flag: Arc<AtomicBool>,
}

impl CancelToken {
    /// A token that is not raised.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the work that watches this token to stop.
    pub fn cancel(&self) {
        self.flag.store(true, Ordering::Release);
    }

    /// Whether the work was asked to stop.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.flag.load(Ordering::Acquire)
    }

    /// Takes the request back, so that the token can be used again.
    pub fn reset(&self) {
        self.flag.store(false, Ordering::Release);
    }

    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.flag
    }
}
