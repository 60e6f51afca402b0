//! Backends that `cargo xtask backend` built are loaded and compute what the CPU computes; anything else is refused.
#![cfg(feature = "dynamic-backends")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers included")]
#![allow(unsafe_code, reason = "the crate under test consists of foreign functions")]

use std::path::Path;

use fresco_ggml_sys as sys;

mod support;

#[test]
fn every_built_backend_starts_and_its_devices_agree_with_the_cpu() {
    support::accept_lavapipe();
    for file in support::built_backends() {
        let reg = support::load(&file).unwrap();
        let n_devices = support::devices().len();
        assert_eq!(support::load(&file).unwrap(), reg, "loading again is no error");
        assert_eq!(support::devices().len(), n_devices, "loading again adds no device");
        // SAFETY: a loaded backend stays for good, and the indices are below the count.
        let devices: Vec<_> = unsafe {
            (0..sys::ggml_backend_reg_dev_count(reg)).map(|index| sys::ggml_backend_reg_dev_get(reg, index)).collect()
        };
        println!("{}: {} devices", file.display(), devices.len());
        // Only CUDA is built on machines that cannot run it.
        let may_lack_devices = file.to_string_lossy().contains("fresco-cuda") && !Path::new("/dev/nvidiactl").exists();
        assert_eq!(devices.is_empty(), may_lack_devices, "{} has no device", file.display());
        for device in devices {
            support::assert_agrees_with_the_cpu(device);
            support::assert_refuses_the_impossible(device);
        }
    }
}

#[test]
fn what_is_no_library_is_refused_with_a_reason() {
    support::accept_lavapipe();
    let missing = support::load(Path::new("/nonexistent/libfresco-vulkan.so")).unwrap_err();
    assert!(missing.contains("libfresco-vulkan.so"), "{missing}");
    let text = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    assert!(!support::load(&text).unwrap_err().is_empty());
}

#[cfg(target_os = "linux")]
#[test]
fn a_library_without_the_entry_points_is_refused() {
    support::accept_lavapipe();
    let refusal = support::load(Path::new("libm.so.6")).unwrap_err();
    assert!(refusal.contains("xtask backend"), "{refusal}");
}
