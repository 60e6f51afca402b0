//! An image as the net sees it: windows of planes with values from 0 to 1.
//!
//! A net takes and gives as many channels as its geometry says, most often red, green and blue. An image goes through in
//! [`groups`] of channels: the colours together, then alpha by itself. A single channel, gray or alpha, is shown to the net
//! as a gray picture, the same in all of its channels, and the mean of its results is taken. Behind the image's right and
//! bottom border, where a net needs whole cells, the image goes on mirrored.

use std::ops::Range;

use super::fill::TransparentFill;
use crate::image::{Channels, Image, Sample, Samples};
use crate::models::upscalers::reflect;

/// The channels of a pixel that go through a net of `n_net_channels` together, group by group; alpha comes last.
pub(crate) fn groups(channels: Channels, n_net_channels: usize) -> Vec<Range<usize>> {
    let n_colors = channels.n_colors();
    let n_together = if n_colors == n_net_channels { n_colors } else { 1 };
    let colors = (0..n_colors).step_by(n_together).map(|first| first..first + n_together);
    let alpha = (n_colors..channels.count()).map(|alpha| alpha..alpha + 1);
    colors.chain(alpha).collect()
}

/// A rectangle of pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) x: usize,
    pub(crate) y: usize,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

/// Writes a window of a group of channels as `[n, height, width]` to `planes`; where `n` exceeds the group, the channels
/// repeat. The window begins inside the image. Fully transparent pixels take their colour from `fill` where there is one.
pub(crate) fn read_window(
    image: &Image,
    group: Range<usize>,
    fill: Option<&TransparentFill>,
    window: Window,
    planes: &mut [f32],
) {
    match fill {
        Some(fill) if group.end <= image.channels().n_colors() => fill.read_window(image, group, window, planes),
        _ => match image.samples() {
            Samples::U8(samples) => read(image, samples, group, window, planes),
            Samples::U16(samples) => read(image, samples, group, window, planes),
        },
    }
}

fn read<S: Sample>(image: &Image, samples: &[S], group: Range<usize>, window: Window, planes: &mut [f32]) {
    let n_channels = image.channels().count();
    for (c, plane) in planes.chunks_exact_mut(window.width * window.height).enumerate() {
        let channel = group.start + c % group.len();
        for (y, line) in plane.chunks_exact_mut(window.width).enumerate() {
            let row = mirrored(window.y + y, image.height_px()) * image.width_px() as usize;
            for (x, value) in line.iter_mut().enumerate() {
                let pixel = row + mirrored(window.x + x, image.width_px());
                *value = samples[pixel * n_channels + channel].to_unit();
            }
        }
    }
}

/// The place inside an image's side that stands in for place `i`, which may lie behind the end.
pub(crate) fn mirrored(i: usize, length_px: u32) -> usize {
    if i < length_px as usize { i } else { reflect(i as u64, u64::from(length_px)) as usize }
}

/// Turns planes of one size into their mean, in the first; a single one stays as it is.
pub(crate) fn mean_of_planes(planes: &mut [f32], n_planes: usize) -> &mut [f32] {
    let (mean, others) = planes.split_at_mut(planes.len() / n_planes);
    for plane in others.chunks_exact(mean.len()) {
        mean.iter_mut().zip(plane).for_each(|(sum, value)| *sum += value);
    }
    if n_planes > 1 {
        mean.iter_mut().for_each(|sum| *sum /= n_planes as f32);
    }
    mean
}

/// Writes a window of a group of channels: `row(c, y)` is row `y` of the group's channel `c`, both from 0. What lies outside
/// the image is left out.
pub(crate) fn write_window<'r>(
    image: &mut Image,
    group: Range<usize>,
    window: Window,
    row: impl Fn(usize, usize) -> &'r [f32],
) {
    let [image_width, image_height] = [image.width_px(), image.height_px()].map(|px| px as usize);
    let n_channels = image.channels().count();
    let inside = Window {
        width: window.width.min(image_width.saturating_sub(window.x)),
        height: window.height.min(image_height.saturating_sub(window.y)),
        ..window
    };
    match image.samples_mut() {
        Samples::U8(samples) => write(samples, image_width, n_channels, group, inside, row),
        Samples::U16(samples) => write(samples, image_width, n_channels, group, inside, row),
    }
}

fn write<'r, S: Sample>(
    samples: &mut [S],
    image_width: usize,
    n_channels: usize,
    group: Range<usize>,
    window: Window,
    row: impl Fn(usize, usize) -> &'r [f32],
) {
    for (c, channel) in group.enumerate() {
        for y in 0..window.height {
            let first = ((window.y + y) * image_width + window.x) * n_channels;
            let pixels = samples[first..].chunks_exact_mut(n_channels);
            for (pixel, &value) in pixels.zip(&row(c, y)[..window.width]) {
                pixel[channel] = S::from_unit(value);
            }
        }
    }
}

/// Gives every pixel of `upscaled` the alpha of the first pixel of `image`, whose depth and channels it shares.
pub(crate) fn copy_first_alpha(image: &Image, upscaled: &mut Image) {
    fn copy<S: Sample>(from: &[S], to: &mut [S], n_channels: usize) {
        let alpha = from[n_channels - 1];
        to.iter_mut().skip(n_channels - 1).step_by(n_channels).for_each(|value| *value = alpha);
    }
    let n_channels = image.channels().count();
    match (image.samples(), upscaled.samples_mut()) {
        (Samples::U8(from), Samples::U8(to)) => copy(from, to, n_channels),
        (Samples::U16(from), Samples::U16(to)) => copy(from, to, n_channels),
        _ => {}
    }
}

/// Whether every pixel has the same alpha.
pub(crate) fn has_constant_alpha(image: &Image) -> bool {
    fn constant<S: Sample>(samples: &[S], n_channels: usize) -> bool {
        let mut alphas = samples.iter().skip(n_channels - 1).step_by(n_channels);
        let first = alphas.next();
        alphas.all(|alpha| Some(alpha) == first)
    }
    let n_channels = image.channels().count();
    image.channels().has_alpha()
        && match image.samples() {
            Samples::U8(samples) => constant(samples, n_channels),
            Samples::U16(samples) => constant(samples, n_channels),
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_go_together_where_the_net_takes_them_and_alpha_alone() {
        assert_eq!(groups(Channels::Rgba, 3), [0..3, 3..4]);
        assert_eq!(groups(Channels::Rgb, 1), [0..1, 1..2, 2..3]);
        assert_eq!(groups(Channels::GrayAlpha, 3), [0..1, 1..2]);
    }

    #[test]
    fn a_window_shows_colours_as_planes() {
        let image = Image::new(2, 1, Channels::Rgba, Samples::U8(vec![255, 0, 51, 9, 0, 255, 102, 8])).unwrap();
        let mut planes = [0.0; 9];
        read_window(&image, 0..3, None, Window { x: 0, y: 0, width: 3, height: 1 }, &mut planes);
        assert_eq!(planes, [1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.2, 0.4, 0.2]);
    }

    #[test]
    fn gray_and_alpha_are_shown_as_gray_pictures() {
        let image = Image::new(1, 2, Channels::GrayAlpha, Samples::U16(vec![65535, 0, 0, 13107])).unwrap();
        let window = Window { x: 0, y: 0, width: 1, height: 2 };
        let mut planes = [0.5; 6];
        read_window(&image, 0..1, None, window, &mut planes);
        assert_eq!(planes, [1.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
        read_window(&image, 1..2, None, window, &mut planes);
        assert_eq!(planes, [0.0, 0.2, 0.0, 0.2, 0.0, 0.2]);
    }

    #[test]
    fn written_rows_land_in_their_channels_and_inside() {
        let mut image = Image::new(2, 2, Channels::GrayAlpha, Samples::U8(vec![7; 8])).unwrap();
        let rows = [[0.0, 0.2, 9.0], [1.0, 0.4, 9.0], [9.0; 3]];
        write_window(&mut image, 1..2, Window { x: 0, y: 0, width: 3, height: 3 }, |_, y| &rows[y]);
        assert_eq!(image.samples(), &Samples::U8(vec![7, 0, 7, 51, 7, 255, 7, 102]));
    }

    #[test]
    fn constant_alpha_is_recognised_and_copied() {
        let alpha = |values| Image::new(1, 2, Channels::GrayAlpha, Samples::U8(values)).unwrap();
        assert!(!has_constant_alpha(&alpha(vec![1, 9, 1, 8])));
        assert!(has_constant_alpha(&alpha(vec![1, 9, 2, 9])));
        assert!(!has_constant_alpha(&Image::new(1, 1, Channels::Gray, Samples::U8(vec![9])).unwrap()));
        let mut upscaled = Image::new(2, 1, Channels::GrayAlpha, Samples::U8(vec![0; 4])).unwrap();
        copy_first_alpha(&alpha(vec![1, 9, 2, 9]), &mut upscaled);
        assert_eq!(upscaled.samples(), &Samples::U8(vec![0, 9, 0, 9]));
    }

    #[test]
    fn several_planes_become_their_mean() {
        assert_eq!(mean_of_planes(&mut [1.0, 2.0, 2.0, 4.0, 3.0, 6.0], 3), [2.0, 4.0]);
        assert_eq!(mean_of_planes(&mut [1.0, 2.0], 1), [1.0, 2.0]);
    }
}
