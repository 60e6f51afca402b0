//! Calls through the C++ shim: statuses and messages become results.

use std::ffi::{CStr, c_char};

use fresco_ggml_sys as sys;

/// Why a call through the shim did not succeed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// ggml reported a failure; the message may be empty.
    Failed(String),
    /// A C++ exception was caught; what it left behind is in an unknown state.
    Thrown(String),
    /// The abort callback stopped the computation.
    Aborted,
}

impl Failure {
    /// What ggml said.
    pub(crate) fn reason(self) -> String {
        match self {
            Failure::Failed(reason) | Failure::Thrown(reason) => reason,
            Failure::Aborted => "stopped".to_owned(),
        }
    }
}

/// Makes a call of the shim.
pub(crate) fn call(make: impl FnOnce(*mut sys::fresco_message) -> sys::fresco_status) -> Result<(), Failure> {
    let mut message = sys::fresco_message { text: [0; 512] };
    let status = make(&raw mut message);
    let reason = || text(&message.text);
    match status {
        sys::FRESCO_OK => Ok(()),
        sys::FRESCO_ABORTED => Err(Failure::Aborted),
        sys::FRESCO_THROWN => Err(Failure::Thrown(reason())),
        _ => Err(Failure::Failed(reason())),
    }
}

/// The text before the first zero.
fn text(chars: &[c_char]) -> String {
    let bytes: Vec<u8> = chars.iter().take_while(|&&c| c != 0).map(|&c| c.to_ne_bytes()[0]).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A string of ggml's as one of ours.
///
/// # Safety
/// `text` is null or points to text that ends with a zero and does not change during the call.
pub(crate) unsafe fn string(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: not null, and the caller promises the rest.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
