//! Pictures in memory: what goes into the library and what comes out of it.

use crate::error::Error;

/// A picture: rows from the top, pixels from the left, the channels of a pixel together; alpha is straight, not
/// premultiplied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    width_px: u32,
    height_px: u32,
    channels: Channels,
    samples: Samples,
}

/// What the values of a pixel are, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Channels {
    /// Brightness.
    Gray,
    /// Brightness and alpha.
    GrayAlpha,
    /// Red, green and blue.
    Rgb,
    /// Red, green, blue and alpha.
    Rgba,
}

impl Channels {
    /// How many values a pixel has.
    #[must_use]
    pub fn count(self) -> usize {
        self.n_colors() + usize::from(self.has_alpha())
    }

    /// How many values a pixel has without alpha.
    #[must_use]
    pub fn n_colors(self) -> usize {
        match self {
            Self::Gray | Self::GrayAlpha => 1,
            Self::Rgb | Self::Rgba => 3,
        }
    }

    /// Whether the last value is alpha.
    #[must_use]
    pub fn has_alpha(self) -> bool {
        matches!(self, Self::GrayAlpha | Self::Rgba)
    }
}

/// The values of a picture, from 0 to the largest of their type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Samples {
    /// 8 bits a value.
    U8(Vec<u8>),
    /// 16 bits a value.
    U16(Vec<u16>),
}

impl Samples {
    /// How many values there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::U8(values) => values.len(),
            Self::U16(values) => values.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `n` zeros of the same type as these.
    pub(crate) fn zeros_like(&self, n: usize, what: &str) -> Result<Self, Error> {
        Ok(match self {
            Self::U8(_) => Self::U8(zeros(n, what)?),
            Self::U16(_) => Self::U16(zeros(n, what)?),
        })
    }

    /// How many bytes a value takes.
    pub(crate) fn sample_bytes(&self) -> u64 {
        match self {
            Self::U8(_) => 1,
            Self::U16(_) => 2,
        }
    }
}

impl Image {
    /// A picture of the given values.
    ///
    /// # Errors
    ///
    /// [`Error::Image`] if a side is 0 or the number of values is not width × height × channels.
    pub fn new(width_px: u32, height_px: u32, channels: Channels, samples: Samples) -> Result<Self, Error> {
        let expected = n_samples(width_px, height_px, channels).filter(|&n| n > 0);
        if expected != Some(samples.len()) {
            return Err(Error::Image { width_px, height_px, channels, n_samples: samples.len() });
        }
        Ok(Self { width_px, height_px, channels, samples })
    }

    /// Width in pixels, at least 1.
    #[must_use]
    pub fn width_px(&self) -> u32 {
        self.width_px
    }

    /// Height in pixels, at least 1.
    #[must_use]
    pub fn height_px(&self) -> u32 {
        self.height_px
    }

    /// What the values of a pixel are.
    #[must_use]
    pub fn channels(&self) -> Channels {
        self.channels
    }

    /// The values: row by row, pixel by pixel.
    #[must_use]
    pub fn samples(&self) -> &Samples {
        &self.samples
    }

    /// The values, to change them in place.
    pub(crate) fn samples_mut(&mut self) -> &mut Samples {
        &mut self.samples
    }

    /// The values without the picture around them.
    #[must_use]
    pub fn into_samples(self) -> Samples {
        self.samples
    }
}

/// How many values such a picture has, if they can be addressed.
pub(crate) fn n_samples(width_px: u32, height_px: u32, channels: Channels) -> Option<usize> {
    usize::try_from(width_px).ok()?.checked_mul(usize::try_from(height_px).ok()?)?.checked_mul(channels.count())
}

/// `n` zeros, or an error where there is no room for them.
pub(crate) fn zeros<T: Clone + Default>(n: usize, what: &str) -> Result<Vec<T>, Error> {
    let mut values = Vec::new();
    values.try_reserve_exact(n).map_err(|_| Error::OutOfMemory {
        what: what.to_owned(),
        wanted_bytes: (n as u64).saturating_mul(size_of::<T>() as u64),
        available_bytes: None,
        advice: "use a smaller image or smaller tiles",
        source: None,
    })?;
    values.resize(n, T::default());
    Ok(values)
}

/// A value of a picture.
pub(crate) trait Sample: Copy + PartialEq + Default {
    /// The value on a scale from 0 to 1.
    fn to_unit(self) -> f32;

    /// The nearest value on a scale from 0 to 1; outside, the nearer end.
    fn from_unit(unit: f32) -> Self;
}

impl Sample for u8 {
    fn to_unit(self) -> f32 {
        f32::from(self) / 255.0
    }

    fn from_unit(unit: f32) -> Self {
        (unit * 255.0).round() as Self
    }
}

impl Sample for u16 {
    fn to_unit(self) -> f32 {
        f32::from(self) / 65535.0
    }

    fn from_unit(unit: f32) -> Self {
        (unit * 65535.0).round() as Self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_must_hold_every_value() {
        assert!(Image::new(3, 2, Channels::Rgb, Samples::U8(vec![0; 18])).is_ok());
        assert!(Image::new(3, 2, Channels::GrayAlpha, Samples::U16(vec![0; 12])).is_ok());
        for (width, height, n) in [(3, 2, 17), (3, 2, 19), (0, 2, 0), (3, 0, 0), (u32::MAX, u32::MAX, 3)] {
            let error = Image::new(width, height, Channels::Rgb, Samples::U8(vec![0; n])).unwrap_err();
            assert!(matches!(error, Error::Image { n_samples, .. } if n_samples == n), "{error}");
        }
    }

    #[test]
    fn every_value_survives_the_unit_scale() {
        assert!((0..=u8::MAX).all(|value| u8::from_unit(value.to_unit()) == value));
        assert!((0..=u16::MAX).all(|value| u16::from_unit(value.to_unit()) == value));
    }

    #[test]
    fn what_is_off_the_scale_becomes_its_end() {
        assert_eq!([-0.5, 1.5, f32::INFINITY, f32::NAN].map(u8::from_unit), [0, 255, 255, 0]);
        assert_eq!([-0.5, 1.5, f32::NEG_INFINITY, f32::NAN].map(u16::from_unit), [0, 65535, 0, 0]);
    }
}
