//! The published Real-ESRGAN nets, as ncnn models: what they are found to be, and their numbers on a reference image.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod models_common;

use std::fs;
use std::path::Path;

use fresco::models::engine::loader::ModelSource;
use fresco::models::engine::{DType, Origin};
use fresco::models::upscalers::{RrdbnetConfig, SrvggConfig, UpscalerConfig, detect};
use fresco_tests::{Difference, Tolerance, load_rgb, references_dir, testdata_dir};
use models_common::Net;
use serde::Deserialize;

const X4PLUS: RrdbnetConfig = RrdbnetConfig {
    in_channels: 3,
    out_channels: 3,
    n_features: 64,
    growth: 32,
    n_blocks: 23,
    n_doublings: 2,
    unshuffle: 1,
};

const VIDEO: SrvggConfig = SrvggConfig { n_channels: 3, n_features: 64, n_pairs: 17, shuffle: 4, scale: 4 };

#[test]
fn every_published_net_is_recognised() {
    let nets = [
        ("realesrgan-x4plus", UpscalerConfig::Rrdbnet(X4PLUS)),
        ("realesrgan-x4plus-anime", UpscalerConfig::Rrdbnet(RrdbnetConfig { n_blocks: 6, ..X4PLUS })),
        ("realesr-animevideov3-x2", UpscalerConfig::Srvgg(SrvggConfig { scale: 2, ..VIDEO })),
        ("realesr-animevideov3-x3", UpscalerConfig::Srvgg(SrvggConfig { scale: 3, ..VIDEO })),
        ("realesr-animevideov3-x4", UpscalerConfig::Srvgg(VIDEO)),
    ];
    for (name, config) in nets {
        let source = ModelSource::open(testdata_dir().join("models").join(name).with_extension("param")).unwrap();
        let n_tensors = source.catalogue().len();
        let detected = detect(&source).unwrap();
        assert_eq!(detected.config, config, "{name}");
        assert_eq!(detected.names.len(), n_tensors, "{name}");
    }
}

/// A first convolution's rows of 27 weights are no whole blocks and stay f16; all others are quantised.
#[test]
fn nearly_all_weights_can_be_q8_0() {
    let path = testdata_dir().join("models/realesrgan-x4plus.param");
    let graph = Net::load(&path, Some(DType::Q8_0)).graph([1, 3, 8, 8]);
    let (mut weight_bytes, mut q8_0_bytes) = (0, 0);
    for value in graph.values.iter().filter(|value| matches!(value.origin, Origin::Param(_))) {
        let [n_rows, row_len] = value.kind.shape.as_matrix().unwrap();
        let bytes = n_rows * value.kind.dtype.row_bytes(row_len).unwrap();
        weight_bytes += bytes;
        q8_0_bytes += if value.kind.dtype == DType::Q8_0 { bytes } else { 0 };
    }
    assert!(q8_0_bytes * 100 >= weight_bytes * 95, "{q8_0_bytes} of {weight_bytes} bytes");
}

#[derive(Deserialize)]
struct Case {
    input: String,
    model: String,
    output: String,
}

/// A whole image at once, without tiles: what the nets themselves compute.
#[test]
fn smallest_references_are_met() {
    let Some(folder) = references_dir("upscale") else { return };
    let manifest = fs::read_to_string(folder.join("manifest.json")).unwrap();
    let cases: Vec<Case> = serde_json::from_str(&manifest).unwrap();
    let pixels = |case: &Case| image::image_dimensions(folder.join(&case.input)).map(|(w, h)| w * h).unwrap();
    let smallest = cases.iter().map(pixels).min().unwrap();
    for case in cases.iter().filter(|case| pixels(case) == smallest) {
        check(&folder, case, Some(DType::F32), &Tolerance::F32);
        check(&folder, case, None, &Tolerance::F16);
        check(&folder, case, Some(DType::Q8_0), &Tolerance::Q8_0);
    }
}

fn check(folder: &Path, case: &Case, wanted: Option<DType>, tolerance: &Tolerance) {
    let image = load_rgb(folder.join(&case.input));
    let expected = load_rgb(folder.join(&case.output));
    let (width, height) = image.dimensions();
    let plane = |c: usize| image.pixels().map(move |pixel| f32::from(pixel.0[c]) / 255.0);
    let x: Vec<f32> = (0..3).flat_map(plane).collect();
    let path = testdata_dir().join("models").join(&case.model).with_extension("param");
    let y = Net::load(&path, wanted).run([1, 3, u64::from(height), u64::from(width)], &x);
    let n_pixels = y.len() / 3;
    let value = |i: usize| (y[i % 3 * n_pixels + i / 3].clamp(0.0, 1.0) * 255.0).round() as u8;
    let found: Vec<u8> = (0..y.len()).map(value).collect();
    let difference = Difference::between(&found, expected.as_raw());
    assert!(tolerance.accepts(&difference), "{} {wanted:?}: {difference:?}", case.output);
}
