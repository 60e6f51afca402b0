//! Colours for fully transparent pixels.
//!
//! What colour such a pixel has is arbitrary, most often black, and a net would draw it into the visible pixels beside it.
//! So before a net sees the image, visible colours spread into transparent pixels: in each of [`REACH_PX`] steps, those
//! next to a coloured pixel (of 8 neighbours) take the mean of their coloured neighbours. Pixels still further away take the
//! mean of all visible pixels. What a pixel gets depends on the image alone, not on the tile in which it is looked at, and
//! takes memory for the tile alone. An image without any visible pixel keeps its colours.

use std::ops::Range;

use super::planes::{Window, mirrored, read_window};
use crate::image::{Image, Sample, Samples};

/// The most colours that a pixel has.
const MAX_COLORS: usize = 3;

/// How far visible colours spread. The pixels beyond are invisible in the result too, and too far for their exact colour
/// to matter to any visible pixel.
const REACH_PX: usize = 16;

/// What fills transparent pixels far from visible ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TransparentFill {
    /// By channel of the image.
    mean: [f32; MAX_COLORS],
}

impl TransparentFill {
    /// The fill of an image in which some pixels, not all, are fully transparent.
    pub(crate) fn of(image: &Image) -> Option<Self> {
        if !image.channels().has_alpha() {
            return None;
        }
        let n_colors = image.channels().n_colors();
        match image.samples() {
            Samples::U8(samples) => Self::of_samples(samples, n_colors),
            Samples::U16(samples) => Self::of_samples(samples, n_colors),
        }
    }

    fn of_samples<S: Sample>(samples: &[S], n_colors: usize) -> Option<Self> {
        let (mut sums, mut n_visible) = ([0.0f64; MAX_COLORS], 0usize);
        for pixel in samples.chunks_exact(n_colors + 1).filter(|pixel| pixel[n_colors] != S::default()) {
            n_visible += 1;
            for (sum, color) in sums.iter_mut().zip(&pixel[..n_colors]) {
                *sum += f64::from(color.to_unit());
            }
        }
        let n_pixels = samples.len() / (n_colors + 1);
        (n_visible > 0 && n_visible < n_pixels).then(|| Self { mean: sums.map(|sum| (sum / n_visible as f64) as f32) })
    }

    /// Reads a window of a group of colours as [`read_window`] does, with transparent pixels filled.
    pub(crate) fn read_window(&self, image: &Image, group: Range<usize>, window: Window, planes: &mut [f32]) {
        // Everything that can spread into the window, within the image.
        let [image_width, image_height] = [image.width_px(), image.height_px()].map(|px| px as usize);
        let (left, top) = (window.x.saturating_sub(REACH_PX), window.y.saturating_sub(REACH_PX));
        let around = Window {
            x: left,
            y: top,
            width: (window.x + window.width + REACH_PX).min(image_width) - left,
            height: (window.y + window.height + REACH_PX).min(image_height) - top,
        };
        let n_colors = group.len();
        let filled = self.spread(image, group, around);
        for (c, plane) in planes.chunks_exact_mut(window.width * window.height).enumerate() {
            let filled = &filled[c % n_colors * around.width * around.height..];
            for (y, line) in plane.chunks_exact_mut(window.width).enumerate() {
                let row = (mirrored(window.y + y, image.height_px()) - around.y) * around.width;
                for (x, value) in line.iter_mut().enumerate() {
                    *value = filled[row + mirrored(window.x + x, image.width_px()) - around.x];
                }
            }
        }
    }

    /// A window inside the image after spreading, as planes of the group's colours.
    fn spread(&self, image: &Image, group: Range<usize>, window: Window) -> Vec<f32> {
        let n_pixels = window.width * window.height;
        let mut planes = vec![0.0; group.len() * n_pixels];
        let alpha = image.channels().n_colors();
        read_window(image, alpha..alpha + 1, None, window, &mut planes[..n_pixels]);
        let mut is_colored: Vec<bool> = planes[..n_pixels].iter().map(|&alpha| alpha > 0.0).collect();
        let mut uncolored: Vec<usize> = (0..n_pixels).filter(|&pixel| !is_colored[pixel]).collect();
        read_window(image, group.clone(), None, window, &mut planes);
        for _ in 0..REACH_PX {
            // All of a step see what was coloured before it.
            let (mut reached, mut rest) = (Vec::new(), Vec::new());
            for pixel in uncolored {
                match mean_of_neighbours(pixel, window, &is_colored, &planes) {
                    Some(color) => reached.push((pixel, color)),
                    None => rest.push(pixel),
                }
            }
            uncolored = rest;
            if reached.is_empty() {
                break;
            }
            for (pixel, color) in reached {
                is_colored[pixel] = true;
                set(&mut planes, n_pixels, pixel, &color);
            }
        }
        for pixel in uncolored {
            set(&mut planes, n_pixels, pixel, &self.mean[group.clone()]);
        }
        planes
    }
}

fn set(planes: &mut [f32], n_pixels: usize, pixel: usize, color: &[f32]) {
    for (plane, value) in planes.chunks_exact_mut(n_pixels).zip(color) {
        plane[pixel] = *value;
    }
}

fn mean_of_neighbours(pixel: usize, window: Window, is_colored: &[bool], planes: &[f32]) -> Option<[f32; MAX_COLORS]> {
    let (x, y) = (pixel % window.width, pixel / window.width);
    let (mut sums, mut n) = ([0.0; MAX_COLORS], 0u8);
    for v in y.saturating_sub(1)..(y + 2).min(window.height) {
        for u in x.saturating_sub(1)..(x + 2).min(window.width) {
            let neighbour = v * window.width + u;
            if is_colored[neighbour] {
                n += 1;
                for (sum, plane) in sums.iter_mut().zip(planes.chunks_exact(is_colored.len())) {
                    *sum += plane[neighbour];
                }
            }
        }
    }
    (n > 0).then(|| sums.map(|sum| sum / f32::from(n)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Channels;

    /// Red and green where visible, black where transparent.
    fn image(width: usize, height: usize, is_visible: impl Fn(usize, usize) -> bool) -> Image {
        let mut samples = Vec::new();
        for y in 0..height {
            for x in 0..width {
                let color = if x < width / 2 { [255, 0, 0, 200] } else { [0, 255, 0, 200] };
                samples.extend(if is_visible(x, y) { color } else { [0; 4] });
            }
        }
        Image::new(width as u32, height as u32, Channels::Rgba, Samples::U8(samples)).unwrap()
    }

    fn filled(image: &Image, window: Window) -> Vec<f32> {
        let mut planes = vec![0.0; 3 * window.width * window.height];
        read_window(image, 0..3, TransparentFill::of(image).as_ref(), window, &mut planes);
        planes
    }

    fn whole(image: &Image) -> Window {
        Window { x: 0, y: 0, width: image.width_px() as usize, height: image.height_px() as usize }
    }

    #[test]
    fn transparent_pixels_take_their_neighbours_colour() {
        let image = image(8, 1, |x, _| x == 0);
        assert_eq!(filled(&image, whole(&image))[..8], [1.0; 8]);
    }

    #[test]
    fn far_pixels_take_the_mean_of_what_is_visible() {
        let image = image(60, 1, |x, _| x == 0 || x == 59);
        let red = filled(&image, whole(&image))[..60].to_vec();
        assert_eq!(red[..=REACH_PX], [1.0; REACH_PX + 1]);
        assert_eq!(red[REACH_PX + 1..59 - REACH_PX], [0.5; 26]);
        assert_eq!(red[59 - REACH_PX..], [0.0; REACH_PX + 1]);
    }

    #[test]
    fn visible_pixels_keep_their_colours() {
        let image = image(9, 7, |x, y| (x + y) % 3 == 0);
        let (got, mut plain) = (filled(&image, whole(&image)), vec![0.0; 3 * 63]);
        read_window(&image, 0..3, None, whole(&image), &mut plain);
        for pixel in (0..63).filter(|pixel| (pixel % 9 + pixel / 9) % 3 == 0) {
            assert_eq!(got[pixel], plain[pixel]);
        }
    }

    #[test]
    fn every_window_shows_the_same_fill() {
        let image = image(70, 50, |x, y| (x / 7 + y / 5) % 9 == 0);
        let all = filled(&image, whole(&image));
        for (x, y) in [(0, 0), (30, 20), (53, 37)] {
            let window = Window { x, y, width: 17, height: 13 };
            let part = filled(&image, window);
            for (i, value) in part.iter().enumerate() {
                let (c, v, u) = (i / (17 * 13), i / 17 % 13, i % 17);
                assert_eq!(*value, all[(c * 50 + y + v) * 70 + x + u]);
            }
        }
    }

    #[test]
    fn a_single_colour_is_filled_like_all_together() {
        let image = image(30, 3, |x, _| x % 20 == 0);
        let all = filled(&image, whole(&image));
        let mut green = vec![0.0; 90];
        read_window(&image, 1..2, TransparentFill::of(&image).as_ref(), whole(&image), &mut green);
        assert_eq!(green, all[90..180]);
    }

    #[test]
    fn images_that_are_visible_everywhere_or_nowhere_stay() {
        assert_eq!(TransparentFill::of(&image(2, 2, |_, _| true)), None);
        assert_eq!(TransparentFill::of(&image(2, 2, |_, _| false)), None);
    }
}
