//! Putting the results of tiles together, one block at a time.
//!
//! Tiles arrive in the order of [`TileGrid::tiles`]. What lies in the seam to the next tile, or to the next row of tiles, is
//! kept; everything else is finished and handed out, faded with what earlier tiles left. So nothing as large as the image
//! is ever held: one seam of the height of a tile, and one of the width of the image.

use std::ops::Range;

use super::grid::{Axis, TileGrid};

/// Fades tiles into each other; made for one pass over a grid.
#[derive(Debug)]
pub struct Stitcher<'g> {
    grid: &'g TileGrid,
    scale: usize,
    n_channels: usize,
    n_added: usize,
    /// The last tile's values in the seam to its right: `[channels, tile height, left_width]`.
    left: Vec<f32>,
    left_width: usize,
    /// The last row's values in the seam below it: `[channels, above_height, image width]`.
    above: Vec<f32>,
    above_height: usize,
}

/// A finished part of the image.
#[derive(Clone, Copy, Debug)]
pub struct FinishedBlock<'p> {
    /// First pixel from the left, in the image.
    pub x: usize,
    /// First pixel from the top, in the image.
    pub y: usize,
    /// Width in pixels.
    pub width: usize,
    /// Height in pixels.
    pub height: usize,
    pixels: &'p [f32],
    channel_stride: usize,
    row_stride: usize,
}

impl<'p> FinishedBlock<'p> {
    /// The values of one row of one channel, `width` of them; `row` counts from the block's top.
    ///
    /// # Panics
    ///
    /// If there is no such channel or row.
    pub fn row(&self, channel: usize, row: usize) -> &'p [f32] {
        assert!(row < self.height, "row {row} of a block of {} rows", self.height);
        &self.pixels[channel * self.channel_stride + row * self.row_stride..][..self.width]
    }
}

impl<'g> Stitcher<'g> {
    /// Prepares to stitch tiles of `n_channels` channels that a net made `scale` times larger than their cells.
    pub fn new(grid: &'g TileGrid, scale: usize, n_channels: usize) -> Self {
        let left_width = longest_seam(&grid.columns) * scale;
        let above_height = longest_seam(&grid.rows) * scale;
        Self {
            grid,
            scale,
            n_channels,
            n_added: 0,
            left: vec![0.0; n_channels * grid.rows.tile() as usize * scale * left_width],
            left_width,
            above: vec![0.0; n_channels * above_height * grid.columns.length() as usize * scale],
            above_height,
        }
    }

    /// Takes the values of the next tile, `[channels, tile height × scale, tile width × scale]`, fades them in place with
    /// those of the tiles before it, and returns the part that no later tile reaches.
    ///
    /// # Panics
    ///
    /// If `pixels` has another size, or there is no next tile.
    pub fn add<'p>(&mut self, pixels: &'p mut [f32]) -> FinishedBlock<'p> {
        assert!(self.n_added < self.grid.n_tiles(), "all {} tiles have been added", self.grid.n_tiles());
        let n_columns = self.grid.columns.n_tiles();
        let across = Extent::of_tile(&self.grid.columns, self.n_added % n_columns, self.scale);
        let down = Extent::of_tile(&self.grid.rows, self.n_added / n_columns, self.scale);
        self.n_added += 1;
        let [width, height] = self.grid.tile_size().map(|cells| cells as usize * self.scale);
        assert_eq!(pixels.len(), self.n_channels * height * width, "a tile of the wrong size");

        for (plane_index, plane) in pixels.chunks_exact_mut(height * width).enumerate() {
            self.stitch_left(plane_index, &mut plane[..down.end * width], width, &across);
            self.stitch_above(plane_index, plane, width, &across, &down);
        }
        FinishedBlock {
            x: across.origin + across.begin,
            y: down.origin + down.begin,
            width: across.fade_out.start - across.begin,
            height: down.fade_out.start - down.begin,
            pixels: &pixels[down.begin * width + across.begin..],
            channel_stride: height * width,
            row_stride: width,
        }
    }

    /// Fades the seam to the left in, and keeps the one to the right for the next tile.
    fn stitch_left(&mut self, plane_index: usize, plane: &mut [f32], width: usize, across: &Extent) {
        let plane_height = self.grid.rows.tile() as usize * self.scale;
        for (y, line) in plane.chunks_exact_mut(width).enumerate() {
            let kept = &mut self.left[(plane_index * plane_height + y) * self.left_width..][..self.left_width];
            let seam = &mut line[across.fade_in.clone()];
            let n = seam.len();
            for (i, (value, &old)) in seam.iter_mut().zip(&*kept).enumerate() {
                *value = fade(old, *value, i, n);
            }
            let seam = &line[across.fade_out.clone()];
            kept[..seam.len()].copy_from_slice(seam);
        }
    }

    /// Fades the seam above in, and keeps the one below for the next row of tiles; in columns that are finished.
    fn stitch_above(&mut self, plane_index: usize, plane: &mut [f32], width: usize, across: &Extent, down: &Extent) {
        let image_width = self.grid.columns.length() as usize * self.scale;
        let columns = across.begin..across.fade_out.start;
        let kept_at = |i: usize| (plane_index * self.above_height + i) * image_width + across.origin + columns.start;
        let n = down.fade_in.len();
        for (i, y) in down.fade_in.clone().enumerate() {
            let line = &mut plane[y * width..][columns.clone()];
            for (value, &old) in line.iter_mut().zip(&self.above[kept_at(i)..]) {
                *value = fade(old, *value, i, n);
            }
        }
        for (i, y) in down.fade_out.clone().enumerate() {
            let line = &plane[y * width..][columns.clone()];
            self.above[kept_at(i)..][..line.len()].copy_from_slice(line);
        }
    }
}

/// What counts of one tile along one axis, in pixels of the result from the tile's own origin.
struct Extent {
    /// Where the tile lies in the image.
    origin: usize,
    /// The first pixel that counts: that of `fade_in`.
    begin: usize,
    /// The seam to the tile before; empty at the image's border.
    fade_in: Range<usize>,
    /// The seam to the tile after; empty, at the tile's end, at the image's border.
    fade_out: Range<usize>,
    /// Behind the last pixel that counts.
    end: usize,
}

impl Extent {
    fn of_tile(axis: &Axis, index: usize, scale: usize) -> Self {
        let start = axis.starts()[index];
        let local = |seam: &Range<u32>| (seam.start - start) as usize * scale..(seam.end - start) as usize * scale;
        let fade_in = index.checked_sub(1).map_or(0..0, |before| local(&axis.seams()[before]));
        let tile = axis.tile() as usize * scale;
        let fade_out = axis.seams().get(index).map_or(tile..tile, local);
        Self { origin: start as usize * scale, begin: fade_in.start, end: fade_out.end, fade_in, fade_out }
    }
}

fn longest_seam(axis: &Axis) -> usize {
    axis.seams().iter().map(|seam| seam.len()).max().unwrap_or(0)
}

/// The mean of the two with the weights `1 - w` and `w`, where `w` rises over the `n` pixels of a seam; written so that
/// equal values stay as they are.
fn fade(old: f32, new: f32, i: usize, n: usize) -> f32 {
    let weight = (i as f32 + 0.5) / n as f32;
    old + weight * (new - old)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tiling::Overlap;

    /// An image of `[channels, height, width]`.
    #[derive(Clone, Debug, PartialEq)]
    struct Planes {
        n_channels: usize,
        width: usize,
        height: usize,
        values: Vec<f32>,
    }

    impl Planes {
        fn new(
            n_channels: usize,
            width: usize,
            height: usize,
            mut value: impl FnMut(usize, usize, usize) -> f32,
        ) -> Self {
            let mut values = Vec::new();
            for c in 0..n_channels {
                for y in 0..height {
                    values.extend((0..width).map(|x| value(c, x, y)));
                }
            }
            Self { n_channels, width, height, values }
        }

        /// Reproducible noise.
        fn noise(n_channels: usize, width: usize, height: usize) -> Self {
            let mut state = 1u32;
            Self::new(n_channels, width, height, |_, _, _| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 8) as f32 / (1 << 24) as f32
            })
        }

        fn at(&self, c: usize, x: usize, y: usize) -> f32 {
            self.values[(c * self.height + y) * self.width + x]
        }

        fn crop(&self, x0: usize, y0: usize, [width, height]: [u32; 2]) -> Self {
            Self::new(self.n_channels, width as usize, height as usize, |c, x, y| self.at(c, x0 + x, y0 + y))
        }
    }

    /// A stand-in for a net: `scale` times larger, each value the sum of a square of radius `radius`, in which outside
    /// counts as 0 as it does in a padded convolution.
    fn sum_net(image: &Planes, radius: usize, scale: usize) -> Planes {
        Planes::new(image.n_channels, image.width * scale, image.height * scale, |c, x, y| {
            let (x, y) = (x / scale, y / scale);
            let mut sum = 0.0;
            for v in y.saturating_sub(radius)..(y + radius + 1).min(image.height) {
                for u in x.saturating_sub(radius)..(x + radius + 1).min(image.width) {
                    sum += image.at(c, u, v);
                }
            }
            sum
        })
    }

    /// Runs `net` over all tiles; checks that every pixel is finished exactly once.
    fn tiled(image: &Planes, grid: &TileGrid, scale: usize, mut net: impl FnMut(&Planes) -> Planes) -> Planes {
        let mut stitcher = Stitcher::new(grid, scale, image.n_channels);
        let mut result = Planes::new(image.n_channels, image.width * scale, image.height * scale, |_, _, _| f32::NAN);
        for tile in grid.tiles() {
            let mut output = net(&image.crop(tile.x as usize, tile.y as usize, grid.tile_size()));
            let block = stitcher.add(&mut output.values);
            for c in 0..image.n_channels {
                for row in 0..block.height {
                    let at = (c * result.height + block.y + row) * result.width + block.x;
                    for (to, &from) in result.values[at..].iter_mut().zip(block.row(c, row)) {
                        assert!(to.is_nan(), "a pixel finished twice");
                        *to = from;
                    }
                }
            }
        }
        assert!(result.values.iter().all(|value| !value.is_nan()), "a pixel never finished");
        result
    }

    #[track_caller]
    fn check_equal(got: &Planes, want: &Planes) {
        let off = got.values.iter().zip(&want.values).position(|(got, want)| got.to_bits() != want.to_bits());
        assert_eq!(off.map(|i| (i, got.values[i], want.values[i])), None, "the first value off");
    }

    fn check_equal_to_untiled(size: [u32; 2], max_tile: u32, radius: usize, scale: usize) {
        let image = Planes::noise(2, size[0] as usize, size[1] as usize);
        let grid = TileGrid::new(size, max_tile, Overlap { cells: 2 * radius as u32, radius: radius as u32 });
        let got = tiled(&image, &grid, scale, |tile| sum_net(tile, radius, scale));
        check_equal(&got, &sum_net(&image, radius, scale));
    }

    #[test]
    fn a_net_that_sees_no_further_than_half_the_overlap_gives_the_untiled_image() {
        for size in [[1, 1], [129, 130], [257, 1], [1, 300], [40, 33]] {
            for scale in [1, 3] {
                check_equal_to_untiled(size, 16, 2, scale);
            }
        }
    }

    #[test]
    fn only_pixels_near_inner_borders_differ_where_the_overlap_is_short() {
        let (size, radius) = ([100, 70], 6);
        let image = Planes::noise(1, size[0] as usize, size[1] as usize);
        let grid = TileGrid::new(size, 40, Overlap { cells: radius, radius });
        let got = tiled(&image, &grid, 1, |tile| sum_net(tile, radius as usize, 1));
        let want = sum_net(&image, radius as usize, 1);
        let near_border = |axis: &Axis, at: u32| {
            let inner = |border: u32| border != 0 && border != axis.length();
            axis.starts().iter().any(|&start| {
                let end = start + axis.tile();
                (inner(start) && at >= start && at < start + radius) || (inner(end) && at < end && at + radius >= end)
            })
        };
        let (mut n_far, mut n_off) = (0, 0);
        for y in 0..size[1] {
            for x in 0..size[0] {
                let (got, want) = (got.at(0, x as usize, y as usize), want.at(0, x as usize, y as usize));
                n_off += usize::from(got != want);
                if !near_border(&grid.columns, x) && !near_border(&grid.rows, y) {
                    assert_eq!(got.to_bits(), want.to_bits(), "({x}, {y})");
                    n_far += 1;
                }
            }
        }
        assert!(n_far > 3000 && n_off > 0, "{n_far} pixels far from borders, {n_off} off");
    }

    #[test]
    fn a_flat_image_stays_flat_to_the_bit() {
        let image = Planes::new(1, 75, 50, |_, _, _| 0.1);
        let grid = TileGrid::new([75, 50], 32, Overlap { cells: 8, radius: 100 });
        let got = tiled(&image, &grid, 2, |tile| sum_net(tile, 0, 2));
        assert!(got.values.iter().all(|value| value.to_bits() == 0.1f32.to_bits()));
    }

    #[test]
    fn tiles_fade_evenly_from_one_to_the_next() {
        // Two tiles of 8 that share 4 cells.
        let image = Planes::new(1, 12, 1, |_, _, _| 0.0);
        let grid = TileGrid::new([12, 1], 8, Overlap { cells: 4, radius: 0 });
        assert_eq!(grid.columns.seams()[0], 4..8);
        let mut n = 0.0;
        let got = tiled(&image, &grid, 1, |tile| {
            n += 1.0;
            Planes::new(1, tile.width, tile.height, |_, _, _| n)
        });
        assert_eq!(got.values, [1., 1., 1., 1., 1.125, 1.375, 1.625, 1.875, 2., 2., 2., 2.]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn tiling_is_invisible_with_enough_overlap(
            size in [1u32..60, 1u32..60], extra in 0u32..20, radius in 0usize..4, scale in 1usize..4,
        ) {
            check_equal_to_untiled(size, 4 * radius as u32 + 1 + extra, radius, scale);
        }

        #[test]
        fn whatever_the_overlap_agreeing_tiles_keep_their_bits(
            size in [1u32..60, 1u32..60], max_tile in 1u32..40, cells in 0u32..30, radius in 0u32..30,
        ) {
            let image = Planes::noise(1, size[0] as usize, size[1] as usize);
            let grid = TileGrid::new(size, max_tile, Overlap { cells, radius });
            check_equal(&tiled(&image, &grid, 2, |tile| sum_net(tile, 0, 2)), &sum_net(&image, 0, 2));
        }
    }
}
