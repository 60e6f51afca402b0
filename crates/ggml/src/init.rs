//! Once a process, before anything else of ggml is called: the CPU is checked and ggml's messages are routed.

use std::ffi::c_char;
use std::sync::OnceLock;

use fresco_ggml_sys as sys;

use crate::error::Error;
use crate::ffi::string;
use crate::log;

/// Bytes that ggml's context keeps beside each tensor: offset, size, next and type of the object, padded.
const OBJECT_BYTES: usize = 32;

/// Prepares ggml. Everything that needs it calls it; calling it again does nothing.
///
/// Fails where the CPU lacks instructions that ggml was compiled for, since computing would end the process with an
/// illegal instruction, and where the linked library is not the one that the bindings describe.
pub fn init() -> Result<(), Error> {
    static CHECKED: OnceLock<Checked> = OnceLock::new();
    match CHECKED.get_or_init(check) {
        Checked::Fits => Ok(()),
        Checked::CpuLacks(missing) => Err(Error::CpuTooOld { missing: missing.clone() }),
        &Checked::Differs { expected_bytes, found_bytes } => Err(Error::Mismatch { expected_bytes, found_bytes }),
    }
}

/// What the checks found.
enum Checked {
    Fits,
    CpuLacks(Vec<&'static str>),
    Differs { expected_bytes: usize, found_bytes: usize },
}

fn check() -> Checked {
    let missing = missing_features(sys::COMPILED_CPU_FEATURES, sys::cpu_has);
    if !missing.is_empty() {
        return Checked::CpuLacks(missing);
    }
    // SAFETY: reads a constant of the library.
    let found_bytes = unsafe { sys::ggml_tensor_overhead() };
    let expected_bytes = size_of::<sys::ggml_tensor>() + OBJECT_BYTES;
    if found_bytes != expected_bytes {
        return Checked::Differs { expected_bytes, found_bytes };
    }
    log::route();
    // SAFETY: the callback is valid for the life of the process and does not unwind.
    unsafe { sys::ggml_set_abort_callback(Some(log_abort)) };
    // SAFETY: fills ggml's tables; may be called from any thread.
    unsafe { sys::ggml_cpu_init() };
    Checked::Fits
}

fn missing_features(compiled: &[&'static str], has: impl Fn(&str) -> bool) -> Vec<&'static str> {
    compiled.iter().copied().filter(|feature| !has(feature)).collect()
}

/// ggml's last words before it ends the process. Without a callback it would start a debugger to print a backtrace.
unsafe extern "C" fn log_abort(message: *const c_char) {
    // SAFETY: ggml passes text that ends with a zero.
    let message = unsafe { string(message) };
    log::last_words(&message);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_instructions_are_named() {
        let missing = missing_features(&["avx2", "fma", "avx512f"], |feature| feature == "avx2");
        assert_eq!(missing, ["fma", "avx512f"]);
        let error = Error::CpuTooOld { missing };
        assert!(error.to_string().contains("fma, avx512f"), "{error}");
    }

    #[test]
    fn this_machine_fits_and_asking_again_changes_nothing() {
        init().unwrap();
        init().unwrap();
    }
}
