//! RRDBNet of several shapes and spellings against its definition, written out plainly.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod models_common;

use std::collections::HashMap;
use std::path::Path;

use fresco::models::engine::DType;
use fresco_tests::safetensors;
use half::f16;
use models_common::{Net, relative_error};

/// Sums of up to a few hundred products, in another order than the definition's.
const F32_ERROR: f32 = 1e-5;

/// An image of channels × height × width, in f64.
#[derive(Clone)]
struct Image {
    channels: usize,
    height: usize,
    width: usize,
    values: Vec<f64>,
}

impl Image {
    fn at(&self, c: usize, y: usize, x: usize) -> f64 {
        self.values[(c * self.height + y) * self.width + x]
    }

    fn from_fn([channels, height, width]: [usize; 3], value: impl Fn(usize, usize, usize) -> f64) -> Self {
        let places = (0..channels).flat_map(|c| (0..height).flat_map(move |y| (0..width).map(move |x| (c, y, x))));
        Self { channels, height, width, values: places.map(|(c, y, x)| value(c, y, x)).collect() }
    }

    fn map(&self, value: impl Fn(f64) -> f64) -> Self {
        Self { values: self.values.iter().map(|&v| value(v)).collect(), ..*self }
    }

    fn leaky_relu(&self) -> Self {
        self.map(|v| if v < 0.0 { f64::from(0.2f32) * v } else { v })
    }

    /// `self · 0.2 + other`
    fn scaled_plus(&self, other: &Self) -> Self {
        let sum = |(a, b): (&f64, &f64)| f64::from(0.2f32) * a + b;
        Self { values: self.values.iter().zip(&other.values).map(sum).collect(), ..*self }
    }

    fn doubled(&self) -> Self {
        Self::from_fn([self.channels, 2 * self.height, 2 * self.width], |c, y, x| self.at(c, y / 2, x / 2))
    }

    /// Blocks of `side × side` pixels become channels, those of one channel together, row by row.
    fn unshuffled(&self, side: usize) -> Self {
        let shape = [self.channels * side * side, self.height / side, self.width / side];
        Self::from_fn(shape, |c, y, x| self.at(c / (side * side), y * side + c / side % side, x * side + c % side))
    }

    fn joined(&self, other: &Self) -> Self {
        let values = self.values.iter().chain(&other.values).copied().collect();
        Self { channels: self.channels + other.channels, values, ..*self }
    }

    fn conv3x3(&self, net: &Weights, name: &str) -> Self {
        let (weight, bias) = (&net.0[&format!("{name}.weight")], &net.0[&format!("{name}.bias")]);
        Self::from_fn([bias.len(), self.height, self.width], |o, y, x| {
            let mut sum = bias[o];
            for c in 0..self.channels {
                for (dy, dx) in (0..3).flat_map(|dy| (0..3).map(move |dx| (dy, dx))) {
                    let (y, x) = ((y + dy).wrapping_sub(1), (x + dx).wrapping_sub(1));
                    if y < self.height && x < self.width {
                        sum += weight[((o * self.channels + c) * 3 + dy) * 3 + dx] * self.at(c, y, x);
                    }
                }
            }
            sum
        })
    }
}

/// Weights by their canonical name.
struct Weights(HashMap<String, Vec<f64>>);

/// The shape of a net.
#[derive(Clone, Copy)]
struct Shape {
    features: usize,
    growth: usize,
    blocks: usize,
    doublings: usize,
    unshuffle: usize,
}

/// RRDBNet by its definition.
fn rrdbnet(net: &Weights, shape: Shape, x: &Image) -> Image {
    let first = x.unshuffled(shape.unshuffle).conv3x3(net, "conv_first");
    let mut h = first.clone();
    for b in 0..shape.blocks {
        let block = h.clone();
        for r in 1..=3 {
            let input = h.clone();
            let mut features = h;
            for k in 1..=4 {
                let grown = features.conv3x3(net, &format!("body.{b}.rdb{r}.conv{k}")).leaky_relu();
                features = features.joined(&grown);
            }
            h = features.conv3x3(net, &format!("body.{b}.rdb{r}.conv5")).scaled_plus(&input);
        }
        h = h.scaled_plus(&block);
    }
    let body = h.conv3x3(net, "conv_body");
    h = Image { values: first.values.iter().zip(&body.values).map(|(a, b)| a + b).collect(), ..first };
    for k in 1..=shape.doublings {
        h = h.doubled().conv3x3(net, &format!("conv_up{k}")).leaky_relu();
    }
    h.conv3x3(net, "conv_hr").leaky_relu().conv3x3(net, "conv_last")
}

/// Numbers of −1 to 1.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / f64::from(1 << 23) - 1.0
    }
}

/// Writes a net with random half-precision weights under the names that `spell` gives.
fn make(path: &Path, shape: Shape, spell: impl Fn(&str) -> String) -> Weights {
    let Shape { features: n, growth, blocks, doublings, unshuffle } = shape;
    let mut convs = vec![("conv_first".to_owned(), 3 * unshuffle * unshuffle, n)];
    for (b, r) in (0..blocks).flat_map(|b| (1..=3).map(move |r| (b, r))) {
        let conv =
            |k: usize| (format!("body.{b}.rdb{r}.conv{k}"), n + (k - 1) * growth, if k == 5 { n } else { growth });
        convs.extend((1..=5).map(conv));
    }
    convs.push(("conv_body".into(), n, n));
    convs.extend((1..=doublings).map(|k| (format!("conv_up{k}"), n, n)));
    convs.extend([("conv_hr".into(), n, n), ("conv_last".into(), n, 3)]);
    let mut noise = Noise(7);
    let mut halves =
        |len: usize, spread: f64| -> Vec<f16> { (0..len).map(|_| f16::from_f64(noise.next() * spread)).collect() };
    let mut tensors = Vec::new();
    for (name, input, output) in convs {
        let weight = halves(output * input * 9, 2.0 / (input as f64 * 9.0).sqrt());
        tensors.push((format!("{name}.weight"), vec![output as u64, input as u64, 3, 3], weight));
        tensors.push((format!("{name}.bias"), vec![output as u64], halves(output, 0.2)));
    }
    let files: Vec<_> = tensors
        .iter()
        .map(|(name, shape, values)| {
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            (spell(name), shape, bytes)
        })
        .collect();
    let files: Vec<_> = files.iter().map(|(n, s, b)| (n.as_str(), "F16", s.as_slice(), b.as_slice())).collect();
    std::fs::write(path, safetensors(&files)).unwrap();
    Weights(tensors.into_iter().map(|(name, _, values)| (name, values.iter().map(|v| v.to_f64()).collect())).collect())
}

fn check(shape: Shape, spell: impl Fn(&str) -> String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("net.safetensors");
    let weights = make(&path, shape, spell);
    let mut noise = Noise(3);
    let (height, width) = (3 * shape.unshuffle, 5 * shape.unshuffle);
    let values: Vec<f64> = (0..3 * height * width).map(|_| f64::from((noise.next() as f32 + 1.0) / 2.0)).collect();
    let x: Vec<f32> = values.iter().map(|&v| v as f32).collect();
    let expected = rrdbnet(&weights, shape, &Image { channels: 3, height, width, values });
    let scale = (1 << shape.doublings) / shape.unshuffle;
    assert_eq!([expected.height, expected.width], [height * scale, width * scale]);
    let expected: Vec<f32> = expected.values.iter().map(|&v| v as f32).collect();
    for wanted in [None, Some(DType::F32)] {
        let y = Net::load(&path, wanted).run([1, 3, height as u64, width as u64], &x);
        let error = relative_error(&y, &expected);
        assert!(error < F32_ERROR, "{error}");
    }
}

const SHAPE: Shape = Shape { features: 6, growth: 4, blocks: 2, doublings: 2, unshuffle: 1 };

#[test]
fn x4() {
    check(SHAPE, str::to_owned);
}

/// leejet/stable-diffusion.cpp#855: nets for ×2 and ×1 were not supported.
#[test]
fn x2_by_one_doubling_and_x1_by_none() {
    check(Shape { doublings: 1, ..SHAPE }, str::to_owned);
    check(Shape { doublings: 0, ..SHAPE }, str::to_owned);
}

#[test]
fn x2_and_x1_by_folding_pixels_into_channels() {
    check(Shape { unshuffle: 2, ..SHAPE }, |name| format!("params_ema.{name}"));
    check(Shape { unshuffle: 4, blocks: 1, ..SHAPE }, str::to_owned);
}

#[test]
fn x8_with_numbered_layers() {
    let shape = Shape { features: 4, growth: 3, blocks: 1, doublings: 3, unshuffle: 1 };
    check(shape, |name| {
        let (module, leaf) = name.rsplit_once('.').unwrap();
        let module = match module {
            "conv_first" => "model.0".to_owned(),
            "conv_body" => "model.1.sub.1".to_owned(),
            "conv_up1" => "model.3".to_owned(),
            "conv_up2" => "model.6".to_owned(),
            "conv_up3" => "model.9".to_owned(),
            "conv_hr" => "model.11".to_owned(),
            "conv_last" => "model.13".to_owned(),
            dense => {
                let dense = dense.strip_prefix("body.").unwrap();
                format!("model.1.sub.{}.0", dense.replace("rdb", "RDB"))
            }
        };
        format!("{module}.{leaf}")
    });
}
