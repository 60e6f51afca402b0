//! Memory that the system refuses: a typed error, and an upscaler that still works. The system's limit holds for a whole
//! process, so the test runs itself again as a child with little memory.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(unix)]

use std::env;
use std::process::Command;

use fresco::{Channels, Error, TileSize, UpscaleRequest, Upscaler};
use fresco_tests::{compact_net, noise, noise_image, upscale, upscaler_of};

const CHILD: &str = "FRESCO_TEST_CHILD";

#[test]
fn refused_memory_is_an_error_and_smaller_tiles_work() {
    if env::var_os(CHILD).is_some() {
        return run_out_of_memory();
    }
    let test = env::current_exe().unwrap();
    // In KiB, of address space.
    let limited = "ulimit -v 700000; exec \"$0\" --exact refused_memory_is_an_error_and_smaller_tiles_work --nocapture";
    let output = Command::new("sh").args(["-c", limited]).arg(test).env(CHILD, "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
}

fn run_out_of_memory() {
    // The result and its copies are small, the net's own values are not: 256 channels of 32 bits.
    let mut upscaler = upscaler_of(&compact_net(1, 256, 1, &mut noise(1.0)));
    let image = noise_image(700, 700, Channels::Rgb);
    let expected = upscale(&mut upscaler, &noise_image(40, 40, Channels::Rgb), &UpscaleRequest::default());
    for _ in 0..3 {
        let error = untiled(&mut upscaler, &image).unwrap_err();
        assert!(matches!(error, Error::OutOfMemory { .. }), "{error:?}");
        assert!(error.to_string().contains("smaller tiles"), "{error}");
        let small = upscale(&mut upscaler, &noise_image(40, 40, Channels::Rgb), &UpscaleRequest::default());
        assert!(small == expected);
    }
}

fn untiled(upscaler: &mut Upscaler, image: &fresco::Image) -> Result<fresco::Upscaled, Error> {
    let mut request = UpscaleRequest::default();
    request.tile = TileSize::Untiled;
    upscaler.upscale(image, &request, &mut fresco::ignore_events)
}
