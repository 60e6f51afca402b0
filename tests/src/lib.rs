//! What the integration tests share: where reference data lies, and how closely a result must match it.
//!
//! The tests themselves stand in `tests/tests/`, one file a subject; the reference data in `tests/data/`, one folder a
//! family. These helpers panic: here that is how a test fails.
#![forbid(unsafe_code)]

mod compare;
mod data;
mod model_files;
mod tiny_nets;
mod upscaling;

pub use compare::{Difference, Tolerance, assert_image_close, psnr_8bit};
pub use data::{load_rgb, references_dir, testdata_dir};
pub use model_files::{safetensors, safetensors_with_header};
pub use tiny_nets::{compact_net, dense_net, noise, repeating_net};
pub use upscaling::{cpu_options, load_upscaler, noise_image, upscale, upscale_rgb, upscaler_of};

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
