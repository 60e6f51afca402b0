//! Conversions from and to the pictures of the crate `image`.

use image::{DynamicImage, ImageBuffer, Pixel};

use crate::error::Error;
use crate::image::{Channels, Image, Samples};

impl TryFrom<DynamicImage> for Image {
    type Error = Error;

    /// Keeps 8 and 16 bits a value as they are. Floating-point pictures are clamped to the scale from 0 to 1 and take 16
    /// bits.
    ///
    /// # Errors
    ///
    /// [`Error::Image`] for a picture without pixels.
    fn try_from(image: DynamicImage) -> Result<Self, Error> {
        let (width_px, height_px) = (image.width(), image.height());
        let (channels, samples) = match image {
            DynamicImage::ImageLuma8(pixels) => (Channels::Gray, Samples::U8(exact(pixels))),
            DynamicImage::ImageLumaA8(pixels) => (Channels::GrayAlpha, Samples::U8(exact(pixels))),
            DynamicImage::ImageRgb8(pixels) => (Channels::Rgb, Samples::U8(exact(pixels))),
            DynamicImage::ImageRgba8(pixels) => (Channels::Rgba, Samples::U8(exact(pixels))),
            DynamicImage::ImageLuma16(pixels) => (Channels::Gray, Samples::U16(exact(pixels))),
            DynamicImage::ImageLumaA16(pixels) => (Channels::GrayAlpha, Samples::U16(exact(pixels))),
            DynamicImage::ImageRgb16(pixels) => (Channels::Rgb, Samples::U16(exact(pixels))),
            DynamicImage::ImageRgba16(pixels) => (Channels::Rgba, Samples::U16(exact(pixels))),
            other if other.color().has_alpha() => (Channels::Rgba, Samples::U16(exact(other.into_rgba16()))),
            other => (Channels::Rgb, Samples::U16(exact(other.into_rgb16()))),
        };
        Self::new(width_px, height_px, channels, samples)
    }
}

impl From<Image> for DynamicImage {
    fn from(image: Image) -> Self {
        let (width, height, channels) = (image.width_px(), image.height_px(), image.channels());
        match (channels, image.into_samples()) {
            (Channels::Gray, Samples::U8(values)) => Self::ImageLuma8(buffer(width, height, values)),
            (Channels::GrayAlpha, Samples::U8(values)) => Self::ImageLumaA8(buffer(width, height, values)),
            (Channels::Rgb, Samples::U8(values)) => Self::ImageRgb8(buffer(width, height, values)),
            (Channels::Rgba, Samples::U8(values)) => Self::ImageRgba8(buffer(width, height, values)),
            (Channels::Gray, Samples::U16(values)) => Self::ImageLuma16(buffer(width, height, values)),
            (Channels::GrayAlpha, Samples::U16(values)) => Self::ImageLumaA16(buffer(width, height, values)),
            (Channels::Rgb, Samples::U16(values)) => Self::ImageRgb16(buffer(width, height, values)),
            (Channels::Rgba, Samples::U16(values)) => Self::ImageRgba16(buffer(width, height, values)),
        }
    }
}

/// The values of a picture; its buffer may be longer.
fn exact<P: Pixel>(pixels: ImageBuffer<P, Vec<P::Subpixel>>) -> Vec<P::Subpixel> {
    let n = pixels.as_raw().len().min(pixels.width() as usize * pixels.height() as usize * P::CHANNEL_COUNT as usize);
    let mut values = pixels.into_raw();
    values.truncate(n);
    values
}

fn buffer<P: Pixel>(width: u32, height: u32, values: Vec<P::Subpixel>) -> ImageBuffer<P, Vec<P::Subpixel>> {
    #[expect(clippy::expect_used, reason = "an Image holds as many values as its size and channels say")]
    ImageBuffer::from_raw(width, height, values).expect("as many values as pixels need")
}

#[cfg(test)]
mod tests {
    use image::ColorType;

    use super::*;

    #[test]
    fn every_kind_of_picture_comes_back_as_it_was() {
        let kinds = [
            (ColorType::L8, Channels::Gray),
            (ColorType::La8, Channels::GrayAlpha),
            (ColorType::Rgb8, Channels::Rgb),
            (ColorType::Rgba8, Channels::Rgba),
            (ColorType::L16, Channels::Gray),
            (ColorType::La16, Channels::GrayAlpha),
            (ColorType::Rgb16, Channels::Rgb),
            (ColorType::Rgba16, Channels::Rgba),
        ];
        for (color, channels) in kinds {
            let mut picture = DynamicImage::new(3, 2, color);
            picture.invert();
            let image = Image::try_from(picture.clone()).unwrap();
            assert_eq!((image.width_px(), image.height_px(), image.channels()), (3, 2, channels));
            assert_eq!(DynamicImage::from(image), picture);
        }
    }

    #[test]
    fn floating_point_pictures_take_16_bits() {
        let picture = image::Rgb32FImage::from_raw(1, 1, vec![0.0, 1.0, 7.0]).unwrap();
        let image = Image::try_from(DynamicImage::from(picture)).unwrap();
        assert_eq!(image.samples(), &Samples::U16(vec![0, 65535, 65535]));
    }

    #[test]
    fn a_buffer_with_room_to_spare_is_cut() {
        let picture = image::GrayImage::from_raw(2, 1, vec![1, 2, 3]).unwrap();
        assert_eq!(Image::try_from(DynamicImage::from(picture)).unwrap().samples(), &Samples::U8(vec![1, 2]));
    }

    #[test]
    fn a_picture_without_pixels_is_an_error() {
        let error = Image::try_from(DynamicImage::new_rgb8(0, 5)).unwrap_err();
        assert!(matches!(error, Error::Image { width_px: 0, height_px: 5, .. }));
    }
}
