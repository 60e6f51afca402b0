//! Every kind of image: channels, depths, transparency, odd sizes, repeats.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use fresco::{Channels, Image, Samples, TileSize, UpscaleRequest};
use fresco_tests::{compact_net, dense_net, noise, noise_image, repeating_net, upscale, upscaler_of};

/// The values of an image on a scale from 0 to 1.
fn units(image: &Image) -> Vec<f32> {
    match image.samples() {
        Samples::U8(values) => values.iter().map(|&value| f32::from(value) / 255.0).collect(),
        Samples::U16(values) => values.iter().map(|&value| f32::from(value) / 65535.0).collect(),
    }
}

/// The image of some channels of each pixel.
fn channels_of(image: &Image, picked: &[usize], channels: Channels) -> Image {
    let n = image.channels().count();
    let Samples::U16(values) = image.samples() else { panic!() };
    let values = values.chunks(n).flat_map(|pixel| picked.iter().map(|&channel| pixel[channel])).collect();
    Image::new(image.width_px(), image.height_px(), channels, Samples::U16(values)).unwrap()
}

#[test]
fn the_result_has_the_kind_of_the_image() {
    let mut upscaler = upscaler_of(&compact_net(2, 4, 1, &mut noise(1.0)));
    for channels in [Channels::Gray, Channels::GrayAlpha, Channels::Rgb, Channels::Rgba] {
        for samples in [Samples::U8(vec![9; 6 * channels.count()]), Samples::U16(vec![9; 6 * channels.count()])] {
            let image = Image::new(3, 2, channels, samples).unwrap();
            let upscaled = upscale(&mut upscaler, &image, &UpscaleRequest::default());
            assert_eq!((upscaled.width_px(), upscaled.height_px(), upscaled.channels()), (6, 4, channels));
            assert_eq!(std::mem::discriminant(upscaled.samples()), std::mem::discriminant(image.samples()));
        }
    }
}

#[test]
fn sixteen_bits_are_worth_their_while() {
    // A step of one 16-bit value survives; in 8 bits it would be lost.
    let image = Image::new(2, 1, Channels::Gray, Samples::U16(vec![30000, 30001])).unwrap();
    let upscaled = upscale(&mut upscaler_of(&repeating_net(2)), &image, &UpscaleRequest::default());
    assert_eq!(upscaled.samples(), &Samples::U16([30000, 30000, 30001, 30001].repeat(2)));
}

#[test]
fn gray_is_the_mean_of_a_gray_picture_in_colour() {
    let mut upscaler = upscaler_of(&compact_net(2, 8, 1, &mut noise(1.0)));
    let gray = noise_image(20, 10, Channels::Gray);
    let color = channels_of(&gray, &[0, 0, 0], Channels::Rgb);
    let got = units(&upscale(&mut upscaler, &gray, &UpscaleRequest::default()));
    let in_color = upscale(&mut upscaler, &color, &UpscaleRequest::default());
    let mut n_inside = 0;
    for (got, pixel) in got.iter().zip(units(&in_color).chunks(3)) {
        // Where a channel was clamped, the mean of the clamped values is another.
        if pixel.iter().all(|&value| value > 0.0 && value < 1.0) {
            assert!((got - pixel.iter().sum::<f32>() / 3.0).abs() < 2.0 / 65535.0);
            n_inside += 1;
        }
    }
    assert!(n_inside > 50, "{n_inside}");
}

#[test]
fn alpha_is_upscaled_by_itself() {
    let mut upscaler = upscaler_of(&compact_net(2, 8, 1, &mut noise(1.0)));
    let mut image = noise_image(20, 10, Channels::Rgba);
    // No pixel is fully transparent, so that colours are seen as they are.
    if let Samples::U16(values) = image.clone().into_samples() {
        let values = values.iter().map(|&value| value.max(1)).collect();
        image = Image::new(20, 10, Channels::Rgba, Samples::U16(values)).unwrap();
    }
    let upscaled = upscale(&mut upscaler, &image, &UpscaleRequest::default());
    let mut part = |picked: &[usize], channels| {
        let alone = upscale(&mut upscaler, &channels_of(&image, picked, channels), &UpscaleRequest::default());
        assert!(channels_of(&upscaled, picked, channels) == alone, "{channels:?}");
    };
    part(&[0, 1, 2], Channels::Rgb);
    part(&[3], Channels::Gray);
}

#[test]
fn opaque_stays_opaque_and_transparent_transparent() {
    let mut upscaler = upscaler_of(&compact_net(2, 8, 1, &mut noise(1.0)));
    for alpha in [0, 77, 255] {
        let image = Image::new(2, 2, Channels::Rgba, Samples::U8([10, 20, 30, alpha].repeat(4))).unwrap();
        let upscaled = upscaler.upscale(&image, &UpscaleRequest::default(), &mut fresco::ignore_events).unwrap();
        let Samples::U8(values) = upscaled.image.samples() else { panic!() };
        assert!(values.chunks(4).all(|pixel| pixel[3] == alpha));
        assert_eq!(upscaled.plan.n_tiles(), 1, "alpha needs no run of the net");
    }
}

#[test]
fn transparent_pixels_do_not_bleed_into_visible_ones() {
    // A white disc on black that is fully transparent, against a wholly white picture: what is visible is the same.
    let mut upscaler = upscaler_of(&compact_net(2, 8, 2, &mut noise(0.7)));
    let is_visible = |x: u32, y: u32| (x as i32 - 20).pow(2) + (y as i32 - 16).pow(2) < 100;
    let mut disc = Vec::new();
    for y in 0..32 {
        for x in 0..40 {
            disc.extend(if is_visible(x, y) { [255, 255, 255, 255] } else { [0, 0, 0, 0] });
        }
    }
    let disc = Image::new(40, 32, Channels::Rgba, Samples::U8(disc)).unwrap();
    let white = Image::new(40, 32, Channels::Rgb, Samples::U8(vec![255; 40 * 32 * 3])).unwrap();
    for tile in [TileSize::Untiled, TileSize::Px(17)] {
        let mut request = UpscaleRequest::default();
        request.tile = tile;
        let Samples::U8(got) = upscale(&mut upscaler, &disc, &request).into_samples() else { panic!() };
        let Samples::U8(want) = upscale(&mut upscaler, &white, &request).into_samples() else { panic!() };
        for (i, (got, want)) in got.chunks(4).zip(want.chunks(3)).enumerate() {
            if is_visible(i as u32 % 80 / 2, i as u32 / 80 / 2) {
                assert_eq!(got[..3], *want, "pixel {i}");
            }
        }
    }
}

#[test]
fn repeating_does_what_calling_again_does() {
    let mut upscaler = upscaler_of(&compact_net(2, 8, 1, &mut noise(1.0)));
    let image = noise_image(7, 5, Channels::GrayAlpha);
    let once = upscale(&mut upscaler, &image, &UpscaleRequest::default());
    let twice = upscale(&mut upscaler, &once, &UpscaleRequest::default());
    let mut request = UpscaleRequest::default();
    request.n_repeats = 2;
    let repeated = upscaler.upscale(&image, &request, &mut fresco::ignore_events).unwrap();
    assert_eq!((repeated.plan.passes.len(), repeated.plan.output_px()), (2, [28, 20]));
    assert!(repeated.image == twice);
}

#[test]
fn images_that_are_no_whole_cells_are_upscaled_exactly() {
    for (unshuffle, scale) in [(1, 4), (2, 2), (4, 1)] {
        let mut upscaler = upscaler_of(&dense_net(unshuffle, 4, &mut noise(1.0)));
        assert_eq!(upscaler.scale(), scale);
        for [width, height] in [[3, 5], [1, 1], [8, 4], [13, 2]] {
            let image = noise_image(width, height, Channels::Rgb);
            let upscaled = upscale(&mut upscaler, &image, &UpscaleRequest::default());
            assert_eq!([upscaled.width_px(), upscaled.height_px()], [width * scale, height * scale]);
            // What was added mirrors the image, so that an image with the mirror in it gives the same.
            if unshuffle == 2 && [width, height] == [3, 5] {
                let Samples::U16(values) = image.samples() else { panic!() };
                let at = |x: usize, y: usize| &values[(y * 3 + x) * 3..][..3];
                let mirrored = [0, 1, 2, 3, 4, 3].map(|y| [0, 1, 2, 1].map(|x| at(x, y).to_vec()).concat()).concat();
                let mirrored = Image::new(4, 6, Channels::Rgb, Samples::U16(mirrored)).unwrap();
                let whole = upscale(&mut upscaler, &mirrored, &UpscaleRequest::default());
                let (Samples::U16(whole), Samples::U16(got)) = (whole.samples(), upscaled.samples()) else { panic!() };
                for (y, row) in got.chunks(6 * 3).enumerate() {
                    assert_eq!(row, &whole[y * 8 * 3..][..6 * 3], "row {y}");
                }
            }
        }
    }
}
