//! How closely an image must match its reference: one vocabulary for all tests.

use image::RgbImage;

/// How far apart two 8-bit images are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Number of values (pixels × channels) compared.
    pub n_values: usize,
    /// Number of values that are not equal.
    pub n_off: usize,
    /// The largest distance between two values.
    pub max_off: u8,
    /// Peak signal-to-noise ratio in dB; infinite for equal images.
    pub psnr_db: f64,
}

impl Difference {
    /// Compares value by value.
    ///
    /// # Panics
    ///
    /// If the slices differ in length or are empty.
    pub fn between(got: &[u8], want: &[u8]) -> Self {
        assert_eq!(got.len(), want.len(), "images of different sizes cannot be compared");
        assert!(!got.is_empty(), "images without pixels cannot be compared");
        let offs = || got.iter().zip(want).map(|(a, b)| a.abs_diff(*b));
        let squares: u64 = offs().map(|off| u64::from(off).pow(2)).sum();
        let mean_square = squares as f64 / got.len() as f64;
        Self {
            n_values: got.len(),
            n_off: offs().filter(|&off| off != 0).count(),
            max_off: offs().max().unwrap_or(0),
            psnr_db: 10.0 * (255.0_f64.powi(2) / mean_square).log10(),
        }
    }
}

/// Peak signal-to-noise ratio of two 8-bit images in dB; infinite for equal ones.
///
/// # Panics
///
/// If the slices differ in length or are empty.
pub fn psnr_8bit(got: &[u8], want: &[u8]) -> f64 {
    Difference::between(got, want).psnr_db
}

/// How much an 8-bit image may differ from its reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// What the tolerance is for, as failures name it.
    pub name: &'static str,
    /// The least peak signal-to-noise ratio in dB.
    pub min_psnr_db: f64,
    /// Whether an image passes as well when no value is off by more than 1 and at most `1 + n / 2000` of its `n` values
    /// are. A ratio says little about tiny images: of 500 values, two that round the other way already cost 80 dB.
    pub rounding_passes: bool,
}

impl Tolerance {
    /// `f32` weights on the CPU. Two independent `f32` implementations agree at 87 dB or better, since only values next
    /// to a rounding boundary flip; 80 dB leaves room for another order of summation and for nothing else.
    pub const F32: Self = Self { name: "f32", min_psnr_db: 80.0, rounding_passes: true };

    /// `f16` weights. Half-precision weights and activations reach about 63 dB.
    pub const F16: Self = Self { name: "f16", min_psnr_db: 60.0, rounding_passes: true };

    /// `q8_0` weights. Eight bits a weight put the error near one 8-bit level, which is 48 dB.
    pub const Q8_0: Self = Self { name: "q8_0", min_psnr_db: 45.0, rounding_passes: false };

    /// `f32` weights on Vulkan, whose drivers may contract and reorder arithmetic and whose matrix products may go
    /// through `f16`.
    pub const VULKAN: Self = Self { name: "vulkan", min_psnr_db: 50.0, rounding_passes: false };

    /// Whether the difference is small enough.
    pub fn accepts(&self, difference: &Difference) -> bool {
        let only_rounding = difference.max_off <= 1 && difference.n_off <= 1 + difference.n_values / 2000;
        difference.psnr_db >= self.min_psnr_db || (self.rounding_passes && only_rounding)
    }
}

/// Fails the test, naming the case and the figures, unless the image matches its reference.
///
/// # Panics
///
/// If sizes differ or the tolerance refuses the difference.
#[track_caller]
pub fn assert_image_close(case: &str, got: &RgbImage, want: &RgbImage, tolerance: &Tolerance) {
    assert_eq!(got.dimensions(), want.dimensions(), "{case}: the image has another size than its reference");
    let difference = Difference::between(got, want);
    assert!(
        tolerance.accepts(&difference),
        "{case}: {:.2} dB, {} of {} values off by up to {}; {} asks for {} dB",
        difference.psnr_db,
        difference.n_off,
        difference.n_values,
        difference.max_off,
        tolerance.name,
        tolerance.min_psnr_db
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `n` gray values of which the first `n_off` are off by `off`.
    fn off(n: usize, n_off: usize, off: u8) -> Difference {
        let want = vec![100; n];
        let mut got = want.clone();
        got[..n_off].fill(100 + off);
        Difference::between(&got, &want)
    }

    #[test]
    fn psnr_follows_its_definition() {
        assert_eq!(psnr_8bit(&[7, 8, 9], &[7, 8, 9]), f64::INFINITY);
        // A mean square error of 1 and of 255².
        assert!((psnr_8bit(&[0, 11], &[1, 10]) - 48.130_803_608_679_1).abs() < 1e-9);
        assert_eq!(psnr_8bit(&[0], &[255]), 0.0);
    }

    #[test]
    fn a_difference_counts_what_is_off() {
        let difference = Difference::between(&[1, 2, 3, 4], &[1, 5, 3, 3]);
        assert_eq!((difference.n_values, difference.n_off, difference.max_off), (4, 2, 3));
    }

    #[test]
    fn the_ratio_decides_on_large_images() {
        // One value in 1000 off by one is 78 dB, one in 2000 is 81 dB.
        assert!(!Tolerance::F32.accepts(&off(1_000_000, 1000, 1)));
        assert!(Tolerance::F32.accepts(&off(1_000_000, 500, 1)));
        assert!(Tolerance::F16.accepts(&off(1_000_000, 1000, 1)));
    }

    #[test]
    fn tiny_images_may_round_differently() {
        assert!(off(300, 1, 1).psnr_db < Tolerance::F32.min_psnr_db);
        assert!(Tolerance::F32.accepts(&off(300, 1, 1)));
        assert!(!Tolerance::F32.accepts(&off(300, 2, 1)));
        assert!(!Tolerance::F32.accepts(&off(300, 1, 2)));
        assert!(Tolerance::F32.accepts(&off(2000, 2, 1)));
    }

    #[test]
    fn a_coarse_tolerance_has_no_exception() {
        assert!(Tolerance::Q8_0.accepts(&off(100, 100, 1)));
        assert!(!Tolerance::Q8_0.accepts(&off(100, 100, 2)));
        assert!(!Tolerance::VULKAN.accepts(&off(300, 300, 1)));
    }

    #[test]
    #[should_panic(expected = "flower: ")]
    fn a_failure_names_the_case_and_its_figures() {
        let want = RgbImage::new(2, 2);
        let got = RgbImage::from_pixel(2, 2, image::Rgb([9, 9, 9]));
        assert_image_close("flower", &got, &want, &Tolerance::F16);
    }
}
