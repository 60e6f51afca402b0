//! MoSR against what PyTorch makes of the published definition.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod models_common;

use std::fs;

use fresco::models::engine::DType;
use fresco::models::engine::loader::ModelSource;
use fresco::models::upscalers::{MosrConfig, MosrUpsampler, UpscalerConfig};
use fresco_tests::references_dir;
use models_common::{Net, read, relative_error};
use serde::Deserialize;

/// Two float32 implementations differ by about one part in a million of the largest value; sums are short here.
const F32_ERROR: f32 = 1e-5;

#[derive(Deserialize)]
struct Case {
    model: String,
    io: String,
    config: Config,
}

#[derive(Deserialize)]
struct Config {
    channels: u64,
    dim: u64,
    blocks: u64,
    hidden: u64,
    mixed: u64,
    kernel: u64,
    upsampler: String,
    scale: u64,
}

impl From<Config> for UpscalerConfig {
    fn from(config: Config) -> Self {
        Self::Mosr(MosrConfig {
            n_channels: config.channels,
            n_features: config.dim,
            n_hidden: config.hidden,
            n_mixed: config.mixed,
            kernel: config.kernel,
            n_blocks: config.blocks,
            upsampler: match config.upsampler.as_str() {
                "ps" => MosrUpsampler::Shuffle,
                "gps" => MosrUpsampler::Ensemble,
                other => panic!("no up-sampler {other}"),
            },
            scale: config.scale,
        })
    }
}

#[test]
fn outputs_are_those_of_the_published_definition() {
    let Some(folder) = references_dir("upscale_mosr") else { return };
    let manifest = fs::read_to_string(folder.join("manifest.json")).unwrap();
    let cases: Vec<Case> = serde_json::from_str(&manifest).unwrap();
    assert!(!cases.is_empty(), "the references have no case");
    for Case { model, io, config } in cases {
        let io = ModelSource::open(folder.join(io)).unwrap();
        let ((shape, x), (_, expected)) = (read(&io, "x"), read(&io, "y"));
        for wanted in [Some(DType::F32), None] {
            let mut net = Net::load(&folder.join(&model), wanted);
            let y = net.run(shape.as_slice().try_into().unwrap(), &x);
            let error = relative_error(&y, &expected);
            assert!(error < F32_ERROR, "{model}: {error}");
            assert_eq!(net.report.unused, Vec::<String>::new());
            if wanted.is_none() {
                assert_eq!(net.config, config.into(), "{model}");
                break;
            }
        }
    }
}
