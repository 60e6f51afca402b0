//! Tiling: invisible where it can be, out of sight where it cannot, and within its memory.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ops::ControlFlow;

use fresco::{Channels, Event, Image, Samples, TileSize, UpscaleRequest, UpscalerOptions};
use fresco_tests::{
    Difference, compact_net, cpu_options, dense_net, load_rgb, load_upscaler, noise, noise_image, references_dir,
    repeating_net, testdata_dir, upscale, upscale_rgb, upscaler_of,
};
use image::RgbImage;

fn tiles_of(tile: TileSize) -> UpscaleRequest {
    let mut request = UpscaleRequest::default();
    request.tile = tile;
    request
}

#[test]
fn tiling_a_net_that_sees_no_further_than_its_overlap_changes_no_bit() {
    let mut upscaler = upscaler_of(&compact_net(2, 8, 2, &mut noise(1.0)));
    for [width, height] in [[129, 130], [257, 1], [1, 300], [64, 40]] {
        let image = noise_image(width, height, Channels::Rgb);
        let untiled = upscale(&mut upscaler, &image, &tiles_of(TileSize::Untiled));
        for tile in [16, 31, 128] {
            let tiled = upscale(&mut upscaler, &image, &tiles_of(TileSize::Px(tile)));
            assert!(tiled == untiled, "{width}x{height} in tiles of {tile} differs");
        }
    }
}

#[test]
fn tiling_a_net_that_folds_pixels_changes_no_bit() {
    // It sees 21 cells of 2×2 pixels.
    let mut upscaler = upscaler_of(&dense_net(2, 4, &mut noise(1.0)));
    let image = noise_image(161, 135, Channels::Rgb);
    let mut request = tiles_of(TileSize::Px(128));
    request.overlap_px = Some(100);
    let tiled = upscaler.upscale(&image, &request, &mut fresco::ignore_events).unwrap();
    assert!(tiled.plan.n_tiles() > 1);
    assert!(tiled.image == upscale(&mut upscaler, &image, &tiles_of(TileSize::Untiled)));
}

#[test]
fn with_a_short_overlap_only_pixels_near_tile_borders_differ() {
    let radius = 5;
    let mut upscaler = upscaler_of(&compact_net(1, 8, radius - 1, &mut noise(1.5)));
    let image = noise_image(90, 1, Channels::Rgb);
    let mut request = tiles_of(TileSize::Px(50));
    request.overlap_px = Some(radius as u32);
    // Two tiles of 48 pixels: 0 to 48 and 42 to 90.
    let Samples::U16(got) = upscale(&mut upscaler, &image, &request).into_samples() else { panic!() };
    let untiled = upscale(&mut upscaler, &image, &tiles_of(TileSize::Untiled));
    let Samples::U16(want) = untiled.into_samples() else { panic!() };
    let off: Vec<usize> = (0..90).filter(|x| got[3 * x..3 * x + 3] != want[3 * x..3 * x + 3]).collect();
    assert!(!off.is_empty() && off.iter().all(|x| (42..48).contains(x)), "{off:?}");
}

#[test]
fn published_nets_show_no_seams() {
    let Some(folder) = references_dir("upscale") else { return };
    let photo = load_rgb(folder.join("china97x61.png"));
    for model in ["realesrgan-x4plus-anime", "realesr-animevideov3-x2", "realesr-animevideov3-x4"] {
        let path = testdata_dir().join("models").join(model).with_extension("param");
        let mut upscaler = load_upscaler(path, &cpu_options());
        let untiled = upscale_rgb(&mut upscaler, &photo, &tiles_of(TileSize::Untiled));
        let tiled = upscale_rgb(&mut upscaler, &photo, &tiles_of(TileSize::Px(72)));
        let difference = Difference::between(&tiled, &untiled);
        assert!(difference.psnr_db >= 45.0 && difference.max_off <= 32, "{model}: {difference:?}");
    }
}

#[test]
fn flat_colour_stays_flat() {
    let flat = RgbImage::from_pixel(120, 50, image::Rgb([200, 30, 77]));
    let mut upscaler = upscaler_of(&repeating_net(3));
    let upscaled = upscale_rgb(&mut upscaler, &flat, &tiles_of(TileSize::Px(20)));
    assert!(upscaled.pixels().all(|pixel| pixel.0 == [200, 30, 77]));

    // A published net darkens or brightens a little near the image's own borders; tiles add nothing to that.
    let path = testdata_dir().join("models/realesr-animevideov3-x2.param");
    let mut upscaler = load_upscaler(path, &cpu_options());
    let untiled = upscale_rgb(&mut upscaler, &flat, &tiles_of(TileSize::Untiled));
    assert!(upscale_rgb(&mut upscaler, &flat, &tiles_of(TileSize::Px(90))) == untiled);
}

#[test]
fn every_size_is_upscaled_and_every_tile_reported() {
    let mut upscaler = upscaler_of(&repeating_net(2));
    for [width, height] in [[1, 1], [4, 4], [129, 130], [257, 1], [1, 300], [512, 20], [3, 5]] {
        let image = noise_image(width, height, Channels::Rgb);
        let mut tiles = Vec::new();
        let request = tiles_of(TileSize::Px(128));
        let upscaled = upscaler.upscale(&image, &request, &mut |event| {
            if let Event::Tile { done, total } = event {
                tiles.push((done, total));
            }
            ControlFlow::Continue(())
        });
        let upscaled = upscaled.unwrap();
        assert_eq!([upscaled.image.width_px(), upscaled.image.height_px()], [2 * width, 2 * height]);
        let n = upscaled.plan.n_tiles();
        assert_eq!(tiles, (1..=n).map(|done| (done, n)).collect::<Vec<_>>(), "{width}x{height}");
        check_repeats(&image, &upscaled.image);
    }
}

/// Each pixel of `image` is four of `upscaled`.
fn check_repeats(image: &Image, upscaled: &Image) {
    let (Samples::U16(from), Samples::U16(to)) = (image.samples(), upscaled.samples()) else { panic!() };
    let width = image.width_px() as usize;
    for (i, value) in to.iter().enumerate() {
        let (c, x, y) = (i % 3, i / 3 % (2 * width), i / 3 / (2 * width));
        assert_eq!(*value, from[(y / 2 * width + x / 2) * 3 + c]);
    }
}

#[test]
fn automatic_tiles_keep_to_the_memory_limit() {
    let image = noise_image(300, 200, Channels::Rgb);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("net.safetensors");
    std::fs::write(&path, compact_net(2, 8, 2, &mut noise(1.0))).unwrap();
    let mut n_tiles = Vec::new();
    for limit_bytes in [1 << 18, 1 << 20, 1 << 30] {
        let mut options: UpscalerOptions = cpu_options();
        options.memory_limit_bytes = Some(limit_bytes);
        let upscaler = load_upscaler(&path, &options);
        let plan = upscaler.plan(&image, &UpscaleRequest::default()).unwrap();
        assert!(plan.passes[0].workspace_bytes() <= limit_bytes);
        n_tiles.push(plan.n_tiles());
    }
    assert!(n_tiles[0] > n_tiles[1] && n_tiles[1] > n_tiles[2] && n_tiles[2] == 1, "{n_tiles:?}");
}
