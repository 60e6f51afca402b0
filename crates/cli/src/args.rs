//! What can be typed.

use std::num::NonZero;
use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand};
use fresco::{DType, Runtime, TileSize};

/// Upscales images with super-resolution models.
#[derive(Debug, Parser)]
#[command(name = "fresco", version, propagate_version = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Tell more on standard error; twice for debugging. RUST_LOG, where set, decides instead
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,

    /// Load backends that lie as libraries in this folder
    #[cfg(feature = "dynamic-backends")]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) backends: Option<PathBuf>,
}

impl Arguments {
    /// The devices, of loaded backends too.
    pub(crate) fn runtime(&self) -> Result<Runtime, fresco::Error> {
        #[cfg(feature = "dynamic-backends")]
        if let Some(dir) = &self.backends {
            return Runtime::with_backends(dir);
        }
        Runtime::new()
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make images larger
    Upscale(UpscaleArguments),
    /// Show what a model file holds
    Inspect(InspectArguments),
    /// List the devices that models can run on
    Devices(DevicesArguments),
}

#[derive(Debug, Args)]
pub(crate) struct UpscaleArguments {
    /// Images (PNG, JPEG, WebP), folders of images, or patterns such as 'photos/*.jpg'
    #[arg(value_name = "IN", required = true)]
    pub(crate) inputs: Vec<PathBuf>,

    /// The result: a file (.png, .jpg, .webp), or a folder, which it must be for several images
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,

    /// The model: a .safetensors file, or either file of an ncnn pair (.param, .bin)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) model: PathBuf,

    /// Pixels on a side of the tiles that the image is cut into, 0 for none [default: what fits into 512 MiB]
    #[arg(long, value_name = "N", value_parser = tile_size, default_value = "auto", hide_default_value = true)]
    pub(crate) tile: TileSize,

    /// Run the model so many times, each on the result of the one before
    #[arg(long, value_name = "N", default_value = "1")]
    pub(crate) repeat: NonZero<u32>,

    /// Keep the weights in this type, such as f32, f16 or q8_0 [default: that of the file]
    #[arg(long = "type", value_name = "T", value_parser = weight_type)]
    pub(crate) weight_type: Option<DType>,

    /// Threads that compute on the CPU [default: all]
    #[arg(short, long, value_name = "N")]
    pub(crate) threads: Option<NonZero<usize>>,

    /// The device that computes, as 'fresco devices' lists them; 'gpu' for the first GPU
    #[arg(long, value_name = "B", default_value = "auto")]
    pub(crate) backend: String,

    /// Write one line of JSON for each image
    #[arg(long)]
    pub(crate) json: bool,

    /// Replace files that exist
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InspectArguments {
    /// The model: a .safetensors file, or either file of an ncnn pair (.param, .bin)
    #[arg(value_name = "FILE")]
    pub(crate) model: PathBuf,

    /// Write a JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DevicesArguments {
    /// Write a JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

fn tile_size(typed: &str) -> Result<TileSize, String> {
    match typed {
        "auto" => Ok(TileSize::Auto),
        _ => match typed.parse() {
            Ok(0) => Ok(TileSize::Untiled),
            Ok(px) => Ok(TileSize::Px(px)),
            Err(_) => Err("a tile size is a number of pixels, 0 or 'auto'".into()),
        },
    }
}

fn weight_type(typed: &str) -> Result<DType, String> {
    DType::from_name(&typed.to_ascii_lowercase())
        .ok_or_else(|| "no such type; f32, f16, bf16, q8_0, q5_0 and q4_0 are some that there are".into())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definitions_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_tile_size_is_automatic_none_or_a_number() {
        let sizes = ["auto", "0", "128"].map(|typed| tile_size(typed).unwrap());
        assert_eq!(sizes, [TileSize::Auto, TileSize::Untiled, TileSize::Px(128)]);
        assert!(["-1", "x", "4294967296"].iter().all(|typed| tile_size(typed).is_err()));
    }
}
