//! A bar on the terminal.

use std::ops::ControlFlow;
use std::time::Duration;

use fresco::{CancelToken, Event};
use indicatif::{ProgressBar, ProgressStyle};

/// Shows how far the work is, on standard error and only where that is a terminal, and ends it when it is cancelled.
pub(crate) struct Progress {
    bar: ProgressBar,
    cancel: CancelToken,
}

impl Progress {
    pub(crate) fn new(cancel: CancelToken) -> Self {
        let bar = ProgressBar::no_length();
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { bar, cancel }
    }

    /// Begins a part of the work of which the length is not known yet.
    pub(crate) fn begin(&self, what: String) {
        self.bar.reset();
        self.bar.unset_length();
        self.bar.set_style(style("{spinner} {msg}"));
        self.bar.set_message(what);
    }

    /// Takes note of an event.
    pub(crate) fn hear(&self, event: Event) -> ControlFlow<()> {
        let (Event::Tile { done, total } | Event::Weights { done_bytes: done, total_bytes: total }) = event else {
            return self.go_on();
        };
        if self.bar.length() != Some(total) {
            let counts =
                if matches!(event, Event::Tile { .. }) { "{pos}/{len} tiles" } else { "{bytes}/{total_bytes}" };
            self.bar.set_style(style(&format!("{{spinner}} {{msg}} [{{bar:30}}] {counts}, {{eta}} left")));
            self.bar.set_length(total);
        }
        self.bar.set_position(done);
        self.go_on()
    }

    /// Writes something while the bar stands aside.
    pub(crate) fn suspend<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bar.suspend(write)
    }

    fn go_on(&self) -> ControlFlow<()> {
        if self.cancel.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    // A template that cannot be parsed would show the plain bar.
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> ")
}
