//! How much memory a whole photo takes. Alone in its process, which has one peak.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(target_os = "linux")]

use std::fs;

use fresco::UpscaleRequest;
use fresco_tests::{cpu_options, load_rgb, load_upscaler, testdata_dir, upscale_rgb};

#[test]
fn a_photo_is_upscaled_within_a_gigabyte() {
    let photo = load_rgb(testdata_dir().join("photos/flower.jpg"));
    assert_eq!(photo.dimensions(), (640, 427));
    let mut upscaler = load_upscaler(testdata_dir().join("models/realesrgan-x4plus-anime.param"), &cpu_options());
    let upscaled = upscale_rgb(&mut upscaler, &photo, &UpscaleRequest::default());
    assert_eq!(upscaled.dimensions(), (2560, 1708));
    let peak_bytes = peak_resident_bytes();
    assert!(peak_bytes < 1_000_000_000, "{peak_bytes} bytes");
}

/// The most memory that this process has held at once.
fn peak_resident_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() * 1024
}
