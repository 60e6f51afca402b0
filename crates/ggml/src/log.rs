//! ggml's messages as `tracing` events.
//!
//! ggml prints a message in pieces, of which only the first names the level. Pieces are joined to lines, per thread.

use std::cell::RefCell;
use std::ffi::{c_char, c_void};
use std::io::Write;
use std::panic::catch_unwind;

use fresco_ggml_sys as sys;
use tracing::Level;

use crate::ffi::string;

/// Sends ggml's messages to `tracing` from now on.
pub(crate) fn route() {
    // SAFETY: the callback is valid for the life of the process and does not unwind.
    unsafe { sys::ggml_log_set(Some(receive), std::ptr::null_mut()) };
}

/// Says why ggml is about to end the process: to `tracing`, or to the standard error output where nobody listens.
pub(crate) fn last_words(message: &str) {
    let said = catch_unwind(|| tracing::error!(target: "ggml", "ggml gives up and ends the process: {message}"));
    if said.is_err() || !tracing::dispatcher::has_been_set() {
        // Nothing is left to do where this fails.
        let _ = writeln!(std::io::stderr(), "ggml gives up and ends the process: {message}");
    }
}

unsafe extern "C" fn receive(level: sys::ggml_log_level, text: *const c_char, _user_data: *mut c_void) {
    thread_local! {
        static LINES: RefCell<Lines> = const { RefCell::new(Lines { level: Level::INFO, text: String::new() }) };
    }
    // SAFETY: ggml passes text that ends with a zero.
    let text = unsafe { string(text) };
    // A subscriber's panic must not unwind into C, and there is nobody to tell of it.
    let _ = catch_unwind(|| {
        let lines = LINES.try_with(|lines| lines.try_borrow_mut().map(|mut lines| lines.push(level, &text)));
        // Without the joiner (a thread that ends, a subscriber that calls ggml) a piece is a line of its own.
        let lines = lines.ok().and_then(Result::ok).unwrap_or_else(|| vec![(rust_level(level), text.clone())]);
        for (level, line) in lines {
            emit(level, &line);
        }
    });
}

fn emit(level: Level, line: &str) {
    match level {
        Level::ERROR => tracing::error!(target: "ggml", "{line}"),
        Level::WARN => tracing::warn!(target: "ggml", "{line}"),
        Level::INFO => tracing::info!(target: "ggml", "{line}"),
        _ => tracing::debug!(target: "ggml", "{line}"),
    }
}

fn rust_level(level: sys::ggml_log_level) -> Level {
    match level {
        sys::GGML_LOG_LEVEL_ERROR => Level::ERROR,
        sys::GGML_LOG_LEVEL_WARN => Level::WARN,
        sys::GGML_LOG_LEVEL_INFO => Level::INFO,
        _ => Level::DEBUG,
    }
}

/// Joins pieces to lines.
struct Lines {
    level: Level,
    /// The line so far.
    text: String,
}

impl Lines {
    /// Takes a piece and returns the lines that it completes.
    fn push(&mut self, level: sys::ggml_log_level, piece: &str) -> Vec<(Level, String)> {
        let mut lines = Vec::new();
        if level != sys::GGML_LOG_LEVEL_CONT {
            // A new message ends the one before, which lacked its line break.
            self.finish(&mut lines);
            self.level = rust_level(level);
        }
        self.text.push_str(piece);
        while let Some(end) = self.text.find('\n') {
            let rest = self.text.split_off(end + 1);
            self.finish(&mut lines);
            self.text = rest;
        }
        lines
    }

    fn finish(&mut self, lines: &mut Vec<(Level, String)>) {
        let text = std::mem::take(&mut self.text);
        let line = text.trim_end();
        if !line.is_empty() {
            lines.push((self.level, line.to_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_joined_to_lines() {
        let mut lines = Lines { level: Level::INFO, text: String::new() };
        assert_eq!(lines.push(sys::GGML_LOG_LEVEL_WARN, "found 2 "), []);
        assert_eq!(lines.push(sys::GGML_LOG_LEVEL_CONT, "devices: a,"), []);
        let done = lines.push(sys::GGML_LOG_LEVEL_CONT, " b\nnext\nhalf");
        assert_eq!(done, [(Level::WARN, "found 2 devices: a, b".into()), (Level::WARN, "next".into())]);
        let done = lines.push(sys::GGML_LOG_LEVEL_ERROR, "bad\n");
        assert_eq!(done, [(Level::WARN, "half".into()), (Level::ERROR, "bad".into())]);
        assert_eq!(lines.push(sys::GGML_LOG_LEVEL_INFO, "\n"), []);
    }

    #[test]
    fn levels_keep_their_meaning() {
        let levels = [
            (sys::GGML_LOG_LEVEL_DEBUG, Level::DEBUG),
            (sys::GGML_LOG_LEVEL_INFO, Level::INFO),
            (sys::GGML_LOG_LEVEL_WARN, Level::WARN),
            (sys::GGML_LOG_LEVEL_ERROR, Level::ERROR),
        ];
        for (theirs, ours) in levels {
            assert_eq!(rust_level(theirs), ours);
        }
    }
}
