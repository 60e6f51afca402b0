//! Image files: read with their orientation and colour profile, written with the profile.
//!
//! A photo's orientation is applied to its pixels and not written again, so that no viewer turns it twice. Other metadata is
//! not carried over.

use std::fs::File;
use std::io::{Cursor, Read as _, Seek, Write};
use std::path::Path;

use anyhow::{Context as _, bail};
use fresco::Image;
use image::codecs::jpeg::{JpegDecoder, JpegEncoder};
use image::codecs::png::{CompressionType, FilterType, PngDecoder, PngEncoder};
use image::codecs::webp::{WebPDecoder, WebPEncoder};
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageEncoder, ImageFormat, Limits};

/// Files longer than this are refused: they are not photographs.
const MAX_FILE_BYTES: u64 = 1 << 30;

/// Images that take more memory than this when decoded are refused: a small file can claim any size.
const MAX_DECODED_BYTES: u64 = 2 << 30;

/// At this quality the artefacts of JPEG stay out of sight.
const JPEG_QUALITY: u8 = 95;

/// A picture and what its pixels mean.
pub(crate) struct Picture {
    pub(crate) image: Image,
    pub(crate) icc_profile: Option<Vec<u8>>,
}

/// A format that images are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileFormat {
    Png,
    Jpeg,
    WebP,
}

impl FileFormat {
    /// The extensions of all formats, as messages name them.
    pub(crate) const EXTENSIONS: &str = ".png, .jpg, .jpeg or .webp";

    /// The format that a path's extension names.
    pub(crate) fn of_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "png" => Some(Self::Png),
            "jpg" | "jpeg" => Some(Self::Jpeg),
            "webp" => Some(Self::WebP),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Png => "PNG",
            Self::Jpeg => "JPEG",
            Self::WebP => "WebP",
        }
    }

    /// The most pixels that an image of the format has on a side.
    fn max_side_px(self) -> u32 {
        match self {
            Self::Png => i32::MAX as u32,
            Self::Jpeg => 65535,
            Self::WebP => 16383,
        }
    }
}

/// Reads an image file; the format is recognised by its content.
pub(crate) fn read(path: &Path) -> anyhow::Result<Picture> {
    let bytes = read_file(path)?;
    let decode = || match image::guess_format(&bytes) {
        Ok(ImageFormat::Png) => {
            let decoder = PngDecoder::with_limits(Cursor::new(&bytes), limits())?;
            if decoder.is_apng()? {
                bail!("it is an animation, which cannot be upscaled");
            }
            decode(decoder)
        }
        Ok(ImageFormat::Jpeg) => {
            if !jpeg_is_complete(&bytes) {
                bail!("the file is truncated: the end of the image is missing");
            }
            decode(JpegDecoder::new(Cursor::new(&bytes))?)
        }
        Ok(ImageFormat::WebP) => {
            let decoder = WebPDecoder::new(Cursor::new(&bytes))?;
            if decoder.has_animation() {
                bail!("it is an animation, which cannot be upscaled");
            }
            decode(decoder)
        }
        _ if bytes.is_empty() => bail!("the file is empty"),
        _ => bail!("it is not a PNG, JPEG or WebP image"),
    };
    decode().with_context(|| format!("cannot read the image {}", path.display()))
}

fn read_file(path: &Path) -> anyhow::Result<Vec<u8>> {
    let read = || {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            bail!("it is not a file");
        }
        if metadata.len() > MAX_FILE_BYTES {
            bail!("it has {} bytes; no more than {MAX_FILE_BYTES} are read", metadata.len());
        }
        let mut bytes = Vec::new();
        file.take(MAX_FILE_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().with_context(|| format!("cannot read the image {}", path.display()))
}

fn limits() -> Limits {
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(MAX_DECODED_BYTES);
    limits
}

fn decode(mut decoder: impl ImageDecoder) -> anyhow::Result<Picture> {
    let (width, height) = decoder.dimensions();
    if decoder.total_bytes() > MAX_DECODED_BYTES {
        let bytes = decoder.total_bytes();
        bail!("its {width} x {height} pixels take {bytes} bytes; no more than {MAX_DECODED_BYTES} are decoded");
    }
    decoder.set_limits(limits())?;
    let icc_profile = decoder.icc_profile()?;
    // A picture with an unreadable orientation is shown as it is.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut pixels = DynamicImage::from_decoder(decoder)?;
    pixels.apply_orientation(orientation);
    let icc_profile = icc_profile.filter(|profile| {
        let fits = profile_fits(profile, &pixels);
        if !fits {
            tracing::warn!("the colour profile does not describe the decoded pixels and is left out");
        }
        fits
    });
    Ok(Picture { image: pixels.try_into()?, icc_profile })
}

/// Whether a profile describes colours of the kind that the pixels have: CMYK, for one, is decoded to RGB.
fn profile_fits(profile: &[u8], pixels: &DynamicImage) -> bool {
    let wanted = if pixels.color().has_color() { b"RGB " } else { b"GRAY" };
    profile.get(16..20) == Some(wanted)
}

/// Whether a JPEG file has its end-of-image marker. Decoders paint missing parts gray instead of complaining.
fn jpeg_is_complete(bytes: &[u8]) -> bool {
    const START_OF_SCAN: u8 = 0xDA;
    const END_OF_IMAGE: u8 = 0xD9;
    // Behind the start-of-image marker: segments, each with its length, and after some of them coded data.
    let mut at = 2;
    loop {
        let (Some(0xFF), Some(&marker)) = (bytes.get(at), bytes.get(at + 1)) else { return false };
        at += match marker {
            END_OF_IMAGE => return true,
            // Fill bytes before a marker, and markers without a segment.
            0xFF => 1,
            0x01 | 0xD0..=0xD7 => 2,
            _ => match bytes.get(at + 2..at + 4) {
                Some(length) => 2 + usize::from(u16::from_be_bytes([length[0], length[1]])),
                None => return false,
            },
        };
        if marker == START_OF_SCAN {
            // In coded data, 0xFF begins a marker unless a zero or a restart number follows.
            let is_marker = |pair: &[u8]| pair[0] == 0xFF && !matches!(pair[1], 0 | 0xD0..=0xD7);
            match bytes.get(at..).and_then(|data| data.windows(2).position(is_marker)) {
                Some(length) => at += length,
                None => return false,
            }
        }
    }
}

/// Checks that a picture, made `factor` times larger, fits a format; before it is made.
pub(crate) fn check(image: &Image, factor: u64, format: FileFormat) -> anyhow::Result<()> {
    let (name, max_side_px) = (format.name(), format.max_side_px());
    let sides = [image.width_px(), image.height_px()].map(|px| u64::from(px).saturating_mul(factor));
    if sides.iter().any(|&px| px > u64::from(max_side_px)) {
        let [width, height] = sides;
        bail!("{name} cannot hold the {width} x {height} pixels of the result, only {max_side_px} on a side");
    }
    if format == FileFormat::Jpeg && is_transparent(image) {
        bail!("JPEG cannot hold the image's transparent parts; write PNG or WebP");
    }
    Ok(())
}

fn is_transparent(image: &Image) -> bool {
    fn any_below_max<T: Copy + PartialOrd>(samples: &[T], n_channels: usize, max: T) -> bool {
        samples.iter().skip(n_channels - 1).step_by(n_channels).any(|&alpha| alpha < max)
    }
    let n_channels = image.channels().count();
    image.channels().has_alpha()
        && match image.samples() {
            fresco::Samples::U8(samples) => any_below_max(samples, n_channels, u8::MAX),
            fresco::Samples::U16(samples) => any_below_max(samples, n_channels, u16::MAX),
        }
}

/// Writes a picture. PNG keeps everything; JPEG and WebP hold 8 bits a value, and JPEG no alpha.
pub(crate) fn write(picture: Picture, format: FileFormat, mut file: impl Write + Seek) -> anyhow::Result<()> {
    let pixels = DynamicImage::from(picture.image);
    match format {
        FileFormat::Png => {
            let encoder = PngEncoder::new_with_quality(&mut file, CompressionType::Default, FilterType::Adaptive);
            encode(&pixels, picture.icc_profile, encoder)
        }
        FileFormat::Jpeg => {
            let pixels = match pixels.color().has_color() {
                true => DynamicImage::from(pixels.into_rgb8()),
                false => DynamicImage::from(pixels.into_luma8()),
            };
            encode(&pixels, picture.icc_profile, JpegEncoder::new_with_quality(&mut file, JPEG_QUALITY))
        }
        FileFormat::WebP => {
            let pixels = match (pixels.color().has_color(), pixels.color().has_alpha()) {
                (true, true) => DynamicImage::from(pixels.into_rgba8()),
                (true, false) => DynamicImage::from(pixels.into_rgb8()),
                (false, true) => DynamicImage::from(pixels.into_luma_alpha8()),
                (false, false) => DynamicImage::from(pixels.into_luma8()),
            };
            encode(&pixels, picture.icc_profile, WebPEncoder::new_lossless(&mut file))
        }
    }
}

fn encode(pixels: &DynamicImage, icc_profile: Option<Vec<u8>>, mut encoder: impl ImageEncoder) -> anyhow::Result<()> {
    if let Some(profile) = icc_profile {
        encoder.set_icc_profile(profile)?;
    }
    Ok(pixels.write_with_encoder(encoder)?)
}
