//! Determinism, cancellation, and what goes wrong: after each the upscaler still works.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ops::ControlFlow;
use std::thread;

use fresco::{CancelToken, Channels, DType, Error, Event, Phase, Runtime, TileSize, UpscaleRequest, Upscaler};
use fresco_tests::{
    compact_net, cpu_options, load_rgb, load_upscaler, noise, noise_image, references_dir, repeating_net, testdata_dir,
    upscale, upscale_rgb, upscaler_of,
};

fn tiles_of(tile: TileSize) -> UpscaleRequest {
    let mut request = UpscaleRequest::default();
    request.tile = tile;
    request
}

#[test]
fn the_same_image_gives_the_same_bytes_on_one_and_two_threads_twice() {
    let Some(folder) = references_dir("upscale") else { return };
    let photo = load_rgb(folder.join("flower64.png"));
    for model in ["realesrgan-x4plus-anime", "realesr-animevideov3-x2"] {
        let mut results = Vec::new();
        for n_threads in [1, 2] {
            let mut options = cpu_options();
            options.n_threads = Some(n_threads);
            let path = testdata_dir().join("models").join(model).with_extension("param");
            let mut upscaler = load_upscaler(path, &options);
            for _ in 0..2 {
                results.push(upscale_rgb(&mut upscaler, &photo, &UpscaleRequest::default()));
            }
        }
        assert!(results.windows(2).all(|pair| pair[0] == pair[1]), "{model}");
    }
}

#[test]
fn work_is_cancelled_before_it_starts_and_not_after_it_ended() {
    let mut upscaler = upscaler_of(&repeating_net(2));
    let image = noise_image(30, 20, Channels::Rgb);
    let request = UpscaleRequest::default();
    request.cancel.cancel();
    let error = upscaler.upscale(&image, &request, &mut fresco::ignore_events).unwrap_err();
    assert!(matches!(error, Error::Cancelled), "{error}");

    let request = UpscaleRequest::default();
    let first = upscale(&mut upscaler, &image, &request);
    request.cancel.cancel();
    assert!(upscale(&mut upscaler, &image, &UpscaleRequest::default()) == first);
}

#[test]
fn a_token_cancels_from_another_thread_within_a_tile() {
    let path = testdata_dir().join("models/realesrgan-x4plus.param");
    let mut upscaler = load_upscaler(path, &cpu_options());
    let image = noise_image(200, 200, Channels::Rgb);
    let request = tiles_of(TileSize::Untiled);
    let cancel: CancelToken = request.cancel.clone();
    let mut n_tiles = 0;
    let error = thread::scope(|scope| {
        upscaler
            .upscale(&image, &request, &mut |event| {
                match event {
                    // The only tile takes minutes from here on.
                    Event::Phase(Phase::Upscaling { .. }) => {
                        let cancel = cancel.clone();
                        scope.spawn(move || {
                            thread::sleep(std::time::Duration::from_millis(300));
                            cancel.cancel();
                        });
                    }
                    Event::Tile { .. } => n_tiles += 1,
                    _ => {}
                }
                ControlFlow::Continue(())
            })
            .unwrap_err()
    });
    assert!(matches!(error, Error::Cancelled) && n_tiles == 0, "{error}, {n_tiles} tiles");
    let small = noise_image(4, 4, Channels::Rgb);
    assert_eq!(upscale(&mut upscaler, &small, &UpscaleRequest::default()).width_px(), 16);
}

#[test]
fn the_closure_cancels_loading_and_work() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("net.safetensors");
    std::fs::write(&path, compact_net(2, 8, 1, &mut noise(1.0))).unwrap();
    let runtime = Runtime::new().unwrap();
    let load = |stop_at: fn(&Event) -> bool| {
        Upscaler::load(&runtime, &path, &cpu_options(), &mut |event| match stop_at(&event) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        })
    };
    assert!(matches!(load(|event| matches!(event, Event::Phase(Phase::Loading))), Err(Error::Cancelled)));
    assert!(matches!(load(|event| matches!(event, Event::Weights { .. })), Err(Error::Cancelled)));

    let mut upscaler = load(|_| false).unwrap();
    let image = noise_image(60, 40, Channels::Rgb);
    let mut n_tiles = 0;
    let result = upscaler.upscale(&image, &tiles_of(TileSize::Px(20)), &mut |event| {
        n_tiles += u64::from(matches!(event, Event::Tile { .. }));
        if n_tiles == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(matches!(result, Err(Error::Cancelled)) && n_tiles == 2);
    upscale(&mut upscaler, &image, &UpscaleRequest::default());
}

#[test]
fn impossible_requests_and_options_say_what_is_possible() {
    let mut upscaler = upscaler_of(&repeating_net(2));
    let image = noise_image(3, 3, Channels::Rgb);
    let mut no_repeats = UpscaleRequest::default();
    no_repeats.n_repeats = 0;
    for request in [no_repeats, tiles_of(TileSize::Px(0))] {
        let error = upscaler.upscale(&image, &request, &mut fresco::ignore_events).unwrap_err();
        assert!(matches!(error, Error::Request { .. }), "{error}");
    }

    let model = testdata_dir().join("models/realesr-animevideov3-x2.param");
    let runtime = Runtime::new().unwrap();
    let mut options = cpu_options();
    options.weight_type = Some(DType::I32);
    let error = Upscaler::load(&runtime, &model, &options, &mut fresco::ignore_events).err().unwrap();
    assert!(matches!(error, Error::Request { .. }) && error.to_string().contains("f16"), "{error}");

    let mut options = cpu_options();
    options.device = "no such device".into();
    let error = Upscaler::load(&runtime, &model, &options, &mut fresco::ignore_events).err().unwrap();
    assert!(matches!(error, Error::Device(_)) && error.to_string().contains("CPU"), "{error}");
}

#[test]
fn absurd_sizes_are_refused_before_any_work() {
    let mut upscaler = upscaler_of(&repeating_net(4));
    let image = noise_image(2000, 2, Channels::Rgb);
    for n_repeats in [9, 11, 40] {
        let mut request = UpscaleRequest::default();
        request.n_repeats = n_repeats;
        let mut n_events = 0;
        let result = upscaler.upscale(&image, &request, &mut |_| {
            n_events += 1;
            ControlFlow::Continue(())
        });
        let error = result.unwrap_err();
        assert!(matches!(error, Error::OutOfMemory { .. } | Error::Request { .. }), "{error}");
        assert_eq!(n_events, 0);
    }
}

#[test]
fn what_is_no_upscaler_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.safetensors");
    std::fs::write(&path, fresco_tests::safetensors(&[("a.weight", "F32", &[1], &[0; 4])])).unwrap();
    let runtime = Runtime::new().unwrap();
    let load = |path| Upscaler::load(&runtime, path, &cpu_options(), &mut fresco::ignore_events).err().unwrap();
    let error = load(path);
    assert!(matches!(error, Error::UnsupportedModel(_)) && error.to_string().contains("other.safetensors"), "{error}");
    let error = load(folder.path().join("none.safetensors"));
    assert!(matches!(error, Error::Load(_)) && error.to_string().contains("none.safetensors"), "{error}");
}

#[test]
fn an_upscaler_moves_between_threads() {
    fn is_send<T: Send>(_: &T) {}
    fn is_sync<T: Sync>(_: &T) {}
    let mut upscaler = upscaler_of(&repeating_net(2));
    is_send(&upscaler);
    is_sync(&Runtime::new().unwrap());
    let image = noise_image(5, 4, Channels::Rgb);
    let here = upscale(&mut upscaler, &image, &UpscaleRequest::default());
    let there =
        thread::spawn(move || upscale(&mut upscaler, &noise_image(5, 4, Channels::Rgb), &UpscaleRequest::default()));
    assert!(there.join().unwrap() == here);
}
