//! Published nets against the results of another implementation, in every type of weights.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use fresco::{DType, TileSize, UpscaleRequest, Upscaler};
use fresco_tests::{
    Tolerance, assert_image_close, cpu_options, load_rgb, load_upscaler, references_dir, testdata_dir, upscale_rgb,
};
use serde::Deserialize;

/// A line of `manifest.json`.
#[derive(Deserialize)]
struct Case {
    input: PathBuf,
    model: String,
    scale: u32,
    output: PathBuf,
    size_px: [u32; 2],
}

#[test]
fn f32_weights_give_the_reference() {
    check_all(DType::F32, &Tolerance::F32);
}

#[test]
fn f16_weights_come_close() {
    check_all(DType::F16, &Tolerance::F16);
}

#[test]
fn q8_0_weights_come_close_enough() {
    check_all(DType::Q8_0, &Tolerance::Q8_0);
}

#[test]
fn nearly_all_weights_of_an_rrdbnet_can_be_q8_0() {
    let upscaler = load("realesrgan-x4plus", Some(DType::Q8_0));
    let bytes = upscaler.weights_bytes();
    let total: u64 = bytes.values().sum();
    assert!(bytes[&DType::Q8_0] * 100 >= total * 95, "{bytes:?}");
}

#[test]
fn weights_keep_the_type_of_their_file_unless_told() {
    let upscaler = load("realesr-animevideov3-x4", None);
    let bytes = upscaler.weights_bytes();
    assert!(bytes[&DType::F16] > 20 * bytes[&DType::F32], "{bytes:?}");
}

fn check_all(weight_type: DType, tolerance: &Tolerance) {
    let Some(folder) = references_dir("upscale") else { return };
    let manifest = fs::read(folder.join("manifest.json")).unwrap();
    let cases: Vec<Case> = serde_json::from_slice(&manifest).unwrap();
    assert!(!cases.is_empty(), "{} has no case", folder.display());
    let mut models: Vec<&str> = cases.iter().map(|case| case.model.as_str()).collect();
    models.dedup();
    for model in models {
        let mut upscaler = load(model, Some(weight_type));
        for case in cases.iter().filter(|case| case.model == model) {
            check(&folder, case, &mut upscaler, tolerance);
        }
    }
}

fn check(folder: &Path, case: &Case, upscaler: &mut Upscaler, tolerance: &Tolerance) {
    let name = format!("{} by {}", case.input.display(), case.model);
    assert_eq!(upscaler.scale(), case.scale, "{name}");
    let mut request = UpscaleRequest::default();
    request.tile = TileSize::Untiled;
    let got = upscale_rgb(upscaler, &load_rgb(folder.join(&case.input)), &request);
    assert_eq!(got.dimensions(), case.size_px.into(), "{name}");
    assert_image_close(&name, &got, &load_rgb(folder.join(&case.output)), tolerance);
}

fn load(model: &str, weight_type: Option<DType>) -> Upscaler {
    let mut options = cpu_options();
    options.weight_type = weight_type;
    load_upscaler(testdata_dir().join("models").join(model).with_extension("param"), &options)
}
