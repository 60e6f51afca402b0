//! Which tiles an image is cut into, and how its channels run through them.

use std::ops::Range;

use fresco_sampling::tiling::{Overlap, Stitcher, TileGrid};

use super::TileSize;
use super::fill::TransparentFill;
use super::planes::{Window, mean_of_planes, read_window, write_window};
use crate::error::Error;
use crate::image::{Image, zeros};
use crate::models::upscalers::Geometry;

/// Turns the values of a tile, `[channels, height, width]`, into those of the tile upscaled.
pub(crate) type Net<'n> = dyn FnMut(&[f32], &mut [f32]) -> Result<(), Error> + 'n;

/// How an image of one size is cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tiling {
    grid: TileGrid,
    net: Geometry,
    /// Bytes that the net works in for one tile.
    pub(crate) workspace_bytes: u64,
}

impl Tiling {
    /// Cuts an image. `workspace_bytes` measures what the net works in for a tile of the given width and height in
    /// pixels; [`TileSize::Auto`] keeps it within `limit_bytes`.
    pub(crate) fn new(
        size_px: [u32; 2],
        net: Geometry,
        tile: TileSize,
        overlap_px: u32,
        limit_bytes: u64,
        workspace_bytes: &mut dyn FnMut([u32; 2]) -> Result<u64, Error>,
    ) -> Result<Self, Error> {
        let cells = |px: u32| px.div_ceil(cell_px(&net));
        let size = size_px.map(cells);
        let overlap = Overlap { cells: cells(overlap_px), radius: to_u32(net.radius_cells) };
        let mut measured = |grid: TileGrid| {
            let tile_px = grid.tile_size().map(|cells| cells * cell_px(&net));
            Ok(Self { grid, net, workspace_bytes: workspace_bytes(tile_px)? })
        };
        match tile {
            TileSize::Untiled => measured(TileGrid::new(size, u32::MAX, overlap)),
            TileSize::Px(px) => measured(TileGrid::new(size, px / cell_px(&net), overlap)),
            TileSize::Auto => {
                // A small tile tells about how much the net works in for a cell, the tile itself decides.
                let reference = measured(TileGrid::new(size.map(|cells| cells.min(64)), u32::MAX, overlap))?;
                let mut max_area = scaled_area(&reference, limit_bytes.saturating_add(limit_bytes / 4)).max(1);
                loop {
                    let tiling = measured(TileGrid::with_tile_area(size, max_area, overlap))?;
                    if tiling.workspace_bytes <= limit_bytes {
                        return Ok(tiling);
                    }
                    if tiling.tile_area() == 1 {
                        return Err(Error::OutOfMemory {
                            what: "the smallest tile".into(),
                            wanted_bytes: tiling.workspace_bytes,
                            available_bytes: Some(limit_bytes),
                            advice: "raise the memory limit",
                            source: None,
                        });
                    }
                    max_area = scaled_area(&tiling, limit_bytes).clamp(1, tiling.tile_area() - 1);
                }
            }
        }
    }

    /// How many cells a tile holds.
    fn tile_area(&self) -> u64 {
        self.grid.tile_size().map(u64::from).iter().product()
    }

    /// Width and height of every tile in pixels.
    pub(crate) fn tile_px(&self) -> [u32; 2] {
        self.grid.tile_size().map(|cells| cells * cell_px(&self.net))
    }

    /// How many tiles there are.
    pub(crate) fn n_tiles(&self) -> u64 {
        self.grid.n_tiles() as u64
    }

    /// Runs a group of channels of `image` through the net, tile by tile, into `upscaled`.
    pub(crate) fn upscale(
        &self,
        image: &Image,
        group: Range<usize>,
        fill: Option<&TransparentFill>,
        upscaled: &mut Image,
        net: &mut Net<'_>,
    ) -> Result<(), Error> {
        let [cell, scale] = [self.net.cell_px, self.net.scale].map(|factor| factor as usize);
        let [n_in, n_out] = [self.net.in_channels, self.net.out_channels].map(|channels| channels as usize);
        let [width, height] = self.tile_px().map(|px| px as usize);
        let mut stitcher = Stitcher::new(&self.grid, cell * scale, group.len());
        let mut input = zeros::<f32>(n_in * height * width, "a tile")?;
        let mut output = zeros::<f32>(n_out * height * width * scale * scale, "an upscaled tile")?;
        for tile in self.grid.tiles() {
            let window = Window { x: tile.x as usize * cell, y: tile.y as usize * cell, width, height };
            read_window(image, group.clone(), fill, window, &mut input);
            net(&input, &mut output)?;
            let block = match group.len() {
                1 => stitcher.add(mean_of_planes(&mut output, n_out)),
                _ => stitcher.add(&mut output),
            };
            let window = Window { x: block.x, y: block.y, width: block.width, height: block.height };
            write_window(upscaled, group.clone(), window, |channel, row| block.row(channel, row));
        }
        Ok(())
    }
}

/// The side of a net's cell; such a small number in every net that there is.
fn cell_px(net: &Geometry) -> u32 {
    to_u32(net.cell_px).max(1)
}

fn to_u32(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// How many cells a tile can hold whose workspace takes `bytes`, if workspaces were in proportion to that of `tiling`.
fn scaled_area(tiling: &Tiling, bytes: u64) -> u64 {
    let area = u128::from(tiling.tile_area()) * u128::from(bytes) / u128::from(tiling.workspace_bytes.max(1));
    u64::try_from(area).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::planes::groups;
    use super::*;
    use crate::image::{Channels, Samples};

    const PLAIN: Geometry = Geometry { scale: 2, in_channels: 3, out_channels: 3, cell_px: 1, radius_cells: 4 };

    /// A workspace of 100 bytes, and 10 for each pixel.
    fn measure([width, height]: [u32; 2]) -> Result<u64, Error> {
        Ok(100 + 10 * u64::from(width) * u64::from(height))
    }

    fn tiling(size_px: [u32; 2], net: Geometry, tile: TileSize, limit_bytes: u64) -> Tiling {
        Tiling::new(size_px, net, tile, 8, limit_bytes, &mut measure).unwrap()
    }

    /// A stand-in for a net of scale `scale` that repeats pixels.
    fn repeat_pixels([width, height]: [u32; 2], scale: u64) -> impl FnMut(&[f32], &mut [f32]) -> Result<(), Error> {
        let [width, height, scale] = [u64::from(width), u64::from(height), scale].map(|px| px as usize);
        move |input, output| {
            for (i, value) in output.iter_mut().enumerate() {
                let (x, y) = (i % (width * scale), i / (width * scale) % (height * scale));
                let c = i / (width * scale * height * scale);
                *value = input[(c * height + y / scale) * width + x / scale];
            }
            Ok(())
        }
    }

    fn noise(width_px: u32, height_px: u32, channels: Channels) -> Image {
        let n = width_px as usize * height_px as usize * channels.count();
        let samples = (0..n as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u16).collect();
        Image::new(width_px, height_px, channels, Samples::U16(samples)).unwrap()
    }

    fn upscaled(image: &Image, tiling: &Tiling) -> Image {
        let scale = tiling.net.scale;
        let [width, height] = [image.width_px() * scale as u32, image.height_px() * scale as u32];
        let n = (width * height) as usize * image.channels().count();
        let mut result = Image::new(width, height, image.channels(), Samples::U16(vec![0; n])).unwrap();
        let mut net = repeat_pixels(tiling.tile_px(), scale);
        for group in groups(image.channels(), tiling.net.in_channels as usize) {
            tiling.upscale(image, group, None, &mut result, &mut net).unwrap();
        }
        result
    }

    #[test]
    fn every_kind_of_image_runs_through_tiles() {
        for channels in [Channels::Gray, Channels::GrayAlpha, Channels::Rgb, Channels::Rgba] {
            for n_net_channels in [1, 3] {
                let net = Geometry { in_channels: n_net_channels, out_channels: n_net_channels, ..PLAIN };
                for [width, height] in [[1, 1], [33, 20], [57, 1]] {
                    let image = noise(width, height, channels);
                    let got = upscaled(&image, &tiling([width, height], net, TileSize::Px(24), u64::MAX));
                    let (Samples::U16(got), Samples::U16(want)) = (got.samples(), image.samples()) else { panic!() };
                    let (n, width) = (channels.count(), width as usize);
                    for (i, value) in got.iter().enumerate() {
                        let (c, x, y) = (i % n, i / n % (width * 2), i / n / (width * 2));
                        // The mean of three equal values may be off by its rounding.
                        let off = value.abs_diff(want[(y / 2 * width + x / 2) * n + c]);
                        assert!(
                            off <= 1,
                            "{channels:?} {width}x{height} by {n_net_channels}: value {i} is off by {off}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn sides_are_padded_to_what_the_net_takes_and_cropped() {
        let net = Geometry { scale: 1, cell_px: 4, radius_cells: 2, ..PLAIN };
        for [width, height] in [[3, 5], [1, 1], [41, 30]] {
            let image = noise(width, height, Channels::Rgb);
            let tiling = tiling([width, height], net, TileSize::Px(16), u64::MAX);
            assert!(tiling.tile_px().iter().all(|px| px % 4 == 0 && *px <= 16));
            assert_eq!(upscaled(&image, &tiling), image);
        }
    }

    #[test]
    fn a_tile_size_is_kept_or_all_is_one_tile() {
        assert_eq!(tiling([200, 100], PLAIN, TileSize::Untiled, 0).tile_px(), [200, 100]);
        let tiling = tiling([200, 100], PLAIN, TileSize::Px(64), 0);
        assert!(tiling.tile_px().iter().all(|px| *px <= 64) && tiling.n_tiles() == 8);
    }

    #[test]
    fn tiles_are_as_large_as_the_limit_allows() {
        let whole = tiling([200, 100], PLAIN, TileSize::Auto, 200_100);
        assert_eq!((whole.n_tiles(), whole.workspace_bytes), (1, 200_100));
        let halves = tiling([200, 100], PLAIN, TileSize::Auto, 200_099);
        assert_eq!((halves.n_tiles(), halves.tile_px()), (2, [104, 100]));
        let many = tiling([200, 100], PLAIN, TileSize::Auto, 12_000);
        assert!(many.workspace_bytes <= 12_000 && many.n_tiles() < 60, "{many:?}");
    }

    #[test]
    fn a_limit_below_the_smallest_tile_is_an_error() {
        let error = Tiling::new([200, 100], PLAIN, TileSize::Auto, 8, 109, &mut measure).unwrap_err();
        assert!(matches!(error, Error::OutOfMemory { wanted_bytes: 110, available_bytes: Some(109), .. }), "{error}");
    }

    #[test]
    fn the_first_failure_ends_the_run() {
        let image = noise(50, 50, Channels::Rgb);
        let tiling = tiling([50, 50], PLAIN, TileSize::Px(24), u64::MAX);
        let mut result = noise(100, 100, Channels::Rgb);
        let mut n_calls = 0;
        let got = tiling.upscale(&image, 0..3, None, &mut result, &mut |_, _| {
            n_calls += 1;
            if n_calls == 3 { Err(Error::Cancelled) } else { Ok(()) }
        });
        assert!(matches!(got, Err(Error::Cancelled)) && n_calls == 3);
    }
}
