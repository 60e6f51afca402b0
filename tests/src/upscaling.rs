//! Loading upscalers and upscaling with them in one line.

use std::path::Path;

use fresco::{Channels, Image, Runtime, Samples, UpscaleRequest, Upscaler, UpscalerOptions, ignore_events};
use image::{DynamicImage, RgbImage};

/// Loads the upscaler at `path` on the CPU.
///
/// # Panics
///
/// If it cannot be loaded.
pub fn load_upscaler(path: impl AsRef<Path>, options: &UpscalerOptions) -> Upscaler {
    let path = path.as_ref();
    let runtime = Runtime::new().unwrap_or_else(|error| panic!("{error}"));
    let upscaler = Upscaler::load(&runtime, path, options, &mut ignore_events);
    upscaler.unwrap_or_else(|error| panic!("cannot load {}: {error}", path.display()))
}

/// Loads the upscaler of a model file's content on the CPU.
///
/// # Panics
///
/// If it cannot be loaded.
pub fn upscaler_of(file: &[u8]) -> Upscaler {
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let path = folder.path().join("net.safetensors");
    std::fs::write(&path, file).unwrap_or_else(|error| panic!("{error}"));
    load_upscaler(path, &cpu_options())
}

/// Options for the CPU, on which tests run wherever there are other devices, and one thread: tests run beside each other.
pub fn cpu_options() -> UpscalerOptions {
    let mut options = UpscalerOptions::default();
    options.device = "CPU".into();
    options.n_threads = Some(1);
    options
}

/// Upscales an image.
///
/// # Panics
///
/// If it fails.
pub fn upscale(upscaler: &mut Upscaler, image: &Image, request: &UpscaleRequest) -> Image {
    let upscaled = upscaler.upscale(image, request, &mut ignore_events);
    upscaled.unwrap_or_else(|error| panic!("{error}")).image
}

/// Upscales a picture of 8-bit colours.
///
/// # Panics
///
/// If it fails.
pub fn upscale_rgb(upscaler: &mut Upscaler, picture: &RgbImage, request: &UpscaleRequest) -> RgbImage {
    let image = Image::try_from(DynamicImage::from(picture.clone())).unwrap_or_else(|error| panic!("{error}"));
    DynamicImage::from(upscale(upscaler, &image, request)).into_rgb8()
}

/// An image of reproducible noise with 16 bits a value.
///
/// # Panics
///
/// If a side is 0.
pub fn noise_image(width_px: u32, height_px: u32, channels: Channels) -> Image {
    let n = width_px as usize * height_px as usize * channels.count();
    let samples = (0..n as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u16).collect();
    let image = Image::new(width_px, height_px, channels, Samples::U16(samples));
    image.unwrap_or_else(|error| panic!("{error}"))
}
