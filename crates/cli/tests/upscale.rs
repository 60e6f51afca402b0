//! `fresco upscale`: every option, and what becomes of images and their metadata.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::fs;

use common::{Folder, repeated, repeating_net};
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::{DynamicImage, ImageDecoder as _, ImageEncoder, ImageReader};
use serde_json::Value;

#[test]
fn an_image_becomes_larger() {
    let folder = Folder::new();
    let picture = folder.picture("a.png", 11, 7);
    let run = folder.run("upscale a.png -o b.png -m x2.safetensors").expect(0, &[]);
    assert!(folder.read("b.png").into_rgb8() == repeated(&picture, 2));
    assert!(run.stdout.starts_with("a.png -> b.png  22 x 14, "), "{}", run.stdout);
    assert_eq!(run.stderr, "", "no progress where there is no terminal");
}

#[test]
fn the_extension_chooses_the_format() {
    let folder = Folder::new();
    let picture = folder.picture("a.png", 11, 7);
    for (name, format) in [
        ("b.png", image::ImageFormat::Png),
        ("b.webp", image::ImageFormat::WebP),
        ("b.jpg", image::ImageFormat::Jpeg),
        ("c.JPEG", image::ImageFormat::Jpeg),
    ] {
        folder.run(&format!("upscale a.png --output {name} --model x2.safetensors")).expect(0, &[]);
        let reader = ImageReader::open(folder.path(name)).unwrap().with_guessed_format().unwrap();
        assert_eq!(reader.format(), Some(format));
        let result = reader.decode().unwrap().into_rgb8();
        let largest = result.iter().zip(repeated(&picture, 2).iter()).map(|(a, b)| a.abs_diff(*b)).max();
        assert!(largest <= Some(if format == image::ImageFormat::Jpeg { 40 } else { 0 }), "{name}: {largest:?}");
    }
}

#[test]
fn folders_and_patterns_go_into_a_folder() {
    let folder = Folder::new();
    folder.picture("in/a.png", 3, 2);
    folder.picture("in/b.jpg", 3, 2);
    folder.picture("in/more/c.webp", 3, 2);
    fs::write(folder.path("in/notes.txt"), "no image").unwrap();
    let run = folder.run("upscale in -o out -m x2.safetensors").expect(0, &[]);
    assert_eq!(folder.names("out"), ["a.png", "b.jpg"]);
    assert!(run.stdout.ends_with("2 of 2 images upscaled\n"), "{}", run.stdout);
    folder.run("upscale in/*.png in/more/* -o out2 -m x2.safetensors").expect(0, &[]);
    assert_eq!(folder.names("out2"), ["a.png", "c.webp"]);
}

#[test]
fn tile_repeat_and_json_show_in_the_lines() {
    let folder = Folder::new();
    let picture = folder.picture("a.png", 40, 30);
    let run = |options: &str| {
        let run =
            folder.run(&format!("upscale a.png -o b.png -m x2.safetensors --json --force {options}")).expect(0, &[]);
        let lines = run.json_lines();
        let events: Vec<_> = lines.iter().map(|line| line["event"].as_str().unwrap().to_owned()).collect();
        assert_eq!(events, ["model", "done", "summary"]);
        lines
    };
    let lines = run("--tile 16");
    assert_eq!((&lines[1]["input"], &lines[1]["output"]), (&Value::from("a.png"), &Value::from("b.png")));
    assert!(lines[1]["passes"][0]["n_tiles"].as_u64() > Some(5));
    assert!(lines[1]["passes"][0]["tile_px"][0].as_u64() <= Some(16));
    assert_eq!(lines[2]["n_done"], 1);
    for options in ["--tile 0", "--tile auto", ""] {
        assert_eq!(run(options)[1]["passes"][0]["tile_px"], serde_json::json!([40, 30]));
    }
    let lines = run("--repeat 2");
    assert_eq!((&lines[1]["width_px"], &lines[1]["passes"][1]["n_tiles"]), (&Value::from(160), &Value::from(1)));
    assert!(folder.read("b.png").into_rgb8() == repeated(&picture, 4));
}

#[test]
fn type_threads_and_backend_show_in_the_model_line() {
    let folder = Folder::new();
    folder.picture("a.png", 4, 4);
    let model = |options: &str| {
        let run =
            folder.run(&format!("upscale a.png -o b.png -m x2.safetensors --json --force {options}")).expect(0, &[]);
        run.json_lines().swap_remove(0)
    };
    let plain = model("--backend cpu");
    assert_eq!((&plain["scale"], &plain["device"]), (&Value::from(2), &Value::from("CPU")));
    assert_eq!(plain["weights_bytes"].as_object().unwrap().keys().collect::<Vec<_>>(), ["f32"]);
    let typed = model("--type q8_0 --threads 1");
    assert_eq!(typed["n_threads"], 1);
    assert_eq!(model("-t 3")["n_threads"], 3);
    // 12 rows of 288 values, in blocks of 34 bytes for 32.
    assert_eq!(typed["weights_bytes"]["q8_0"], 12 * 288 / 32 * 34);
    folder.run("upscale a.png -o c.png -m x2.safetensors --backend no-such").expect(2, &["no-such", "CPU"]);
    folder.run("upscale a.png -o c.png -m x2.safetensors --type q9").expect(2, &["q9", "q8_0"]);
}

#[test]
fn verbose_tells_more() {
    let folder = Folder::new();
    folder.picture("a.png", 4, 4);
    let run = folder.run("upscale a.png -o b.png -m x2.safetensors -vv").expect(0, &[]);
    assert!(run.stderr.contains("opened"), "{}", run.stderr);
    let mut command = folder.command("upscale a.png -o c.png -m x2.safetensors");
    let run = common::Run::from(command.env("RUST_LOG", "fresco_loader=debug").output().unwrap());
    assert!(run.expect(0, &[]).stderr.contains("opened"));
}

#[test]
fn what_exists_is_kept_without_force() {
    let folder = Folder::new();
    let picture = folder.picture("a.png", 4, 4);
    fs::write(folder.path("b.png"), "precious").unwrap();
    folder.run("upscale a.png -o b.png -m x2.safetensors").expect(1, &["b.png exists; --force replaces it"]);
    assert_eq!(fs::read_to_string(folder.path("b.png")).unwrap(), "precious");
    folder.run("upscale a.png -o b.png -m x2.safetensors --force").expect(0, &[]);
    assert!(folder.read("b.png").into_rgb8() == repeated(&picture, 2));
    folder.run("upscale a.png -o a.png -m x2.safetensors --force").expect(2, &["is an image to be upscaled"]);
    assert!(folder.read("a.png").into_rgb8() == picture);
}

#[test]
fn sixteen_bits_alpha_and_gray_are_kept() {
    let folder = Folder::new();
    let pixels = image::ImageBuffer::from_fn(3, 2, |x, y| image::LumaA([300 * x as u16, 65535 - y as u16]));
    DynamicImage::ImageLumaA16(pixels).save(folder.path("a.png")).unwrap();
    folder.run("upscale a.png -o b.png -m x2.safetensors").expect(0, &[]);
    let DynamicImage::ImageLumaA16(result) = folder.read("b.png") else { panic!("other channels or depth") };
    assert_eq!(result.get_pixel(5, 3).0, [600, 65534]);
    folder.run("upscale a.png -o b.webp -m x2.safetensors").expect(0, &[]);
    assert_eq!(folder.read("b.webp").into_rgba8().get_pixel(5, 3).0, [2, 2, 2, 255]);
    folder.run("upscale a.png -o b.jpg -m x2.safetensors").expect(1, &["JPEG", "transparent", "PNG or WebP"]);
    assert!(!folder.path("b.jpg").exists());
}

/// An EXIF block that says `orientation` and nothing else.
fn exif(orientation: u8) -> Vec<u8> {
    let mut exif = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0".to_vec();
    exif.extend([orientation, 0, 0, 0, 0, 0, 0, 0]);
    exif
}

#[test]
fn a_photo_is_turned_once() {
    let folder = Folder::new();
    let picture = folder.picture("plain.png", 6, 4);
    let mut file = Vec::new();
    let mut encoder = PngEncoder::new(&mut file);
    encoder.set_exif_metadata(exif(6)).unwrap();
    encoder.write_image(&picture, 6, 4, image::ExtendedColorType::Rgb8).unwrap();
    fs::write(folder.path("a.png"), file).unwrap();
    folder.run("upscale a.png -o b.png -m x2.safetensors").expect(0, &[]);
    let turned = repeated(&image::imageops::rotate90(&picture), 2);
    assert!(folder.read("b.png").into_rgb8() == turned);
    let mut decoder = ImageReader::open(folder.path("b.png")).unwrap().into_decoder().unwrap();
    assert_eq!(decoder.orientation().unwrap(), image::metadata::Orientation::NoTransforms);
}

/// The beginning of a colour profile: nothing reads further.
fn profile(color_space: &[u8; 4]) -> Vec<u8> {
    let mut profile = vec![0; 128];
    profile[16..20].copy_from_slice(color_space);
    profile[36..40].copy_from_slice(b"acsp");
    profile
}

#[test]
fn a_colour_profile_that_fits_is_kept_in_every_format() {
    let folder = Folder::new();
    let picture = folder.picture("plain.png", 6, 4);
    for (input, color_space, kept) in [("rgb.png", b"RGB ", true), ("cmyk.png", b"CMYK", false)] {
        let mut file = Vec::new();
        let mut encoder = PngEncoder::new(&mut file);
        encoder.set_icc_profile(profile(color_space)).unwrap();
        encoder.write_image(&picture, 6, 4, image::ExtendedColorType::Rgb8).unwrap();
        fs::write(folder.path(input), file).unwrap();
        for output in ["b.png", "b.jpg", "b.webp"] {
            folder.run(&format!("upscale {input} -o {output} -m x2.safetensors --force")).expect(0, &[]);
            let mut decoder = ImageReader::open(folder.path(output)).unwrap().into_decoder().unwrap();
            assert_eq!(decoder.icc_profile().unwrap(), kept.then(|| profile(color_space)), "{input} to {output}");
        }
    }
}

#[test]
fn one_bad_image_of_many_leaves_the_others() {
    let folder = Folder::new();
    folder.picture("in/a.png", 3, 2);
    fs::write(folder.path("in/b.png"), "this is no image").unwrap();
    folder.picture("in/c.png", 3, 2);
    let run = folder.run("upscale in -o out -m x2.safetensors").expect(
        1,
        &["cannot read the image in/b.png: it is not a PNG, JPEG or WebP image", "1 of 3 images failed: in/b.png"],
    );
    assert!(run.stdout.ends_with("2 of 3 images upscaled\n"), "{}", run.stdout);
    assert_eq!(folder.names("out"), ["a.png", "c.png"]);
    let lines = folder.run("upscale in -o out -m x2.safetensors --json --force").expect(1, &[]).json_lines();
    assert_eq!((&lines[2]["event"], &lines[2]["input"]), (&Value::from("failed"), &Value::from("in/b.png")));
    assert!(lines[2]["error"].as_str().unwrap().contains("not a PNG"));
    assert_eq!((&lines[4]["n_done"], &lines[4]["n_failed"], &lines[4]["n_left"]), (&2.into(), &1.into(), &0.into()));
}

#[test]
fn unreadable_truncated_and_wrong_files_say_what_they_are() {
    let folder = Folder::new();
    let picture = folder.picture("ok.png", 64, 64);
    folder.picture("ok.webp", 64, 64);
    let mut jpeg = Vec::new();
    JpegEncoder::new(&mut jpeg).encode_image(&picture).unwrap();
    fs::write(folder.path("ok.jpg"), &jpeg).unwrap();
    folder.run("upscale ok.jpg -o from-jpeg.png -m x2.safetensors").expect(0, &[]);
    for name in ["ok.png", "ok.jpg", "ok.webp"] {
        let bytes = fs::read(folder.path(name)).unwrap();
        for n in [bytes.len() / 2, bytes.len() - 20, 20] {
            fs::write(folder.path("cut"), &bytes[..n]).unwrap();
            folder.run("upscale cut -o b.png -m x2.safetensors").expect(1, &["cannot read the image cut: "]);
        }
    }
    fs::write(folder.path("empty.png"), "").unwrap();
    fs::create_dir(folder.path("folder.d")).unwrap();
    for (input, said) in [
        ("empty.png", "the file is empty"),
        ("none.png", "cannot read the image none.png"),
        ("x2.safetensors", "it is not a PNG, JPEG or WebP image"),
        ("/dev/zero", "it is not a file"),
        ("none/*.png", "no file matches"),
        ("folder.d", "holds no .png, .jpg, .jpeg or .webp file"),
    ] {
        folder.run(&format!("upscale {input} -o b.png -m x2.safetensors")).expect(1, &[said]);
    }
    assert!(!folder.path("b.png").exists());
}

#[test]
fn bad_models_say_what_they_are() {
    let folder = Folder::new();
    folder.picture("a.png", 3, 2);
    let net = repeating_net(2);
    fs::write(folder.path("cut.safetensors"), &net[..net.len() / 2]).unwrap();
    fs::write(folder.path("half.param"), "7767517\n").unwrap();
    for (model, said) in [
        ("none.safetensors", "none.safetensors"),
        ("a.png", "a.png"),
        ("cut.safetensors", "truncated"),
        ("half.param", "half.bin"),
    ] {
        folder.run(&format!("upscale a.png -o b.png -m {model}")).expect(1, &[said]);
    }
}

#[test]
fn impossible_results_are_refused_before_the_work() {
    let folder = Folder::new();
    folder.picture("wide.png", 8192, 1);
    let too_large = "WebP cannot hold the 16384 x 2 pixels of the result, only 16383 on a side";
    folder.run("upscale wide.png -o b.webp -m x2.safetensors").expect(1, &[too_large]);
    folder.run("upscale wide.png -o b.jpg --repeat 4 -m x2.safetensors").expect(1, &["JPEG cannot hold the 131072 x"]);
    folder.run("upscale wide.png -o b.png --repeat 200 -m x2.safetensors").expect(1, &["PNG cannot hold"]);
    folder.run("upscale wide.png -o b.png --repeat 17 -m x2.safetensors").expect(1, &["needs", "bytes of memory"]);
    assert_eq!(folder.names("."), ["wide.png", "x2.safetensors"]);
}

#[test]
fn a_bomb_is_not_decoded() {
    // A PNG of a few bytes that claims 60000 × 60000 pixels.
    let folder = Folder::new();
    let mut file = Vec::new();
    PngEncoder::new(&mut file).write_image(&[0; 3], 1, 1, image::ExtendedColorType::Rgb8).unwrap();
    file[16..24].copy_from_slice(&[0, 0, 0xEA, 0x60, 0, 0, 0xEA, 0x60]);
    let checksum = crc32(&file[12..29]);
    file[29..33].copy_from_slice(&checksum.to_be_bytes());
    fs::write(folder.path("bomb.png"), &file).unwrap();
    folder
        .run("upscale bomb.png -o b.png -m x2.safetensors")
        .expect(1, &["cannot read the image bomb.png", "60000 x 60000"]);
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ if crc & 1 == 1 { 0xEDB8_8320 } else { 0 })
    })
}

#[test]
fn animations_are_refused() {
    let folder = Folder::new();
    // A PNG becomes an animation by its control chunk.
    let mut file = Vec::new();
    PngEncoder::new(&mut file).write_image(&[0; 3], 1, 1, image::ExtendedColorType::Rgb8).unwrap();
    let mut control = b"acTL\0\0\0\x02\0\0\0\0".to_vec();
    let checksum = crc32(&control);
    control.splice(0..0, 8u32.to_be_bytes());
    control.extend(checksum.to_be_bytes());
    file.splice(33..33, control);
    fs::write(folder.path("a.png"), &file).unwrap();
    folder.run("upscale a.png -o b.png -m x2.safetensors").expect(1, &["animation"]);
}

#[test]
fn an_ncnn_pair_is_named_by_either_file() {
    let folder = Folder::new();
    folder.picture("a.png", 3, 2);
    let models = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/models");
    for extension in ["param", "bin"] {
        let model = models.join("realesr-animevideov3-x2").with_extension(extension);
        let arguments = format!("upscale a.png -o b.png --force --json -m {}", model.display());
        let lines = folder.run(&arguments).expect(0, &[]).json_lines();
        assert_eq!((&lines[0]["scale"], &lines[1]["width_px"]), (&Value::from(2), &Value::from(6)));
    }
}

#[test]
fn nonsense_is_a_usage_error() {
    let folder = Folder::new();
    folder.picture("a.png", 3, 2);
    for (arguments, said) in [
        ("", "Usage"),
        ("upscale", "required"),
        ("upscale a.png -o b.png -m x2.safetensors --no-such", "--no-such"),
        ("upscale a.png -o b.png -m x2.safetensors --tile=-1", "--tile"),
        ("upscale a.png -o b.png -m x2.safetensors --tile x", "number of pixels"),
        ("upscale a.png -o b.png -m x2.safetensors --repeat 0", "--repeat"),
        ("upscale a.png -o b.png -m x2.safetensors --threads 0", "--threads"),
        ("upscale a.png -o b.png -m x2.safetensors --type i32", "weights can be"),
        ("upscale a.png -o b.gif -m x2.safetensors", "cannot tell the format of b.gif"),
    ] {
        folder.run(arguments).expect(2, &[said]);
    }
    assert_eq!(folder.names("."), ["a.png", "x2.safetensors"]);
}
