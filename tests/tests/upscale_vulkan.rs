//! Published nets on Vulkan against the results of another implementation. Without a GPU, Mesa's lavapipe is the device.
//!
//! The backend is the library that `cargo xtask backend vulkan` builds; `FRESCO_BACKENDS` names its folder where it is not
//! `target/backends`. `cargo xtask vulkan` builds it and sets what lavapipe needs.
#![cfg(feature = "dynamic-backends")]

use std::path::{Path, PathBuf};

use fresco::{Runtime, TileSize, UpscaleRequest, Upscaler, UpscalerOptions, ignore_events};
use fresco_tests::{Tolerance, assert_image_close, load_rgb, references_dir, testdata_dir, upscale_rgb};

/// A small image, as lavapipe computes on the host and slowly.
const IMAGE: &str = "flower64";

#[test]
fn every_published_net_comes_close_to_its_reference() {
    let Some(references) = references_dir("upscale") else { return };
    let runtime = Runtime::with_backends(backends_dir()).unwrap();
    let mut options = UpscalerOptions::default();
    options.device = "Vulkan".into();
    let mut request = UpscaleRequest::default();
    request.tile = TileSize::Untiled;
    let picture = load_rgb(references.join(IMAGE).with_extension("png"));
    for model in
        ["realesrgan-x4plus-anime", "realesr-animevideov3-x2", "realesr-animevideov3-x3", "realesr-animevideov3-x4"]
    {
        let path = testdata_dir().join("models").join(model).with_extension("param");
        let mut upscaler = Upscaler::load(&runtime, path, &options, &mut ignore_events).unwrap();
        assert!(upscaler.device().name().starts_with("Vulkan"));
        let got = upscale_rgb(&mut upscaler, &picture, &request);
        let want = load_rgb(references.join(format!("{IMAGE}.{model}.png")));
        assert_image_close(model, &got, &want, &Tolerance::VULKAN);
    }
}

fn backends_dir() -> PathBuf {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/backends");
    std::env::var_os("FRESCO_BACKENDS").map_or_else(default, PathBuf::from)
}
