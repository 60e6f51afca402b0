//! Every operation against its definition, on odd shapes and several thread counts.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{Fixture, Weight, naive_conv2d, noise, relative_error};
use fresco_engine::residency::ParamRole;
use fresco_engine::{Conv2d, DType, Graph, GraphBuilder, Value};
use proptest::prelude::*;

/// f32 sums in another order than the definition's.
const F32_ERROR: f32 = 2e-6;

/// Runs `forward` on noise of the given shape and returns input and output.
fn run(shape: [u64; 4], forward: impl for<'g> Fn(Value<'g>) -> Value<'g>) -> (Vec<f32>, Vec<f32>) {
    let x = noise(1, shape.iter().product::<u64>() as usize);
    let y = Fixture::new(&[], None, 2).run(&graph(shape, forward), &x).unwrap();
    (x, y)
}

fn graph(shape: [u64; 4], forward: impl for<'g> Fn(Value<'g>) -> Value<'g>) -> Graph {
    let builder = GraphBuilder::new();
    builder.output("y", forward(builder.input("x", shape)));
    builder.finish().unwrap()
}

#[test]
fn elementwise() {
    let shape = [2, 3, 5, 7];
    let check = |forward: for<'g> fn(Value<'g>) -> Value<'g>, definition: fn(f32) -> f32| {
        let (x, y) = run(shape, forward);
        let expected: Vec<f32> = x.iter().map(|&x| definition(x)).collect();
        assert!(relative_error(&y, &expected) < F32_ERROR);
    };
    check(|x| x.relu(), |x| x.max(0.0));
    check(|x| x.leaky_relu(0.2), |x| if x < 0.0 { 0.2 * x } else { x });
    check(|x| x.silu(), |x| x / (1.0 + (-x).exp()));
    check(|x| x.sigmoid(), |x| 1.0 / (1.0 + (-x).exp()));
    check(|x| x.mish(), mish);
    check(|x| (x * 100.0).mish(), |x| mish(x * 100.0));
    check(|x| x + -0.5, |x| x - 0.5);
    check(|x| x * 0.25, |x| x * 0.25);
    check(|x| x + x * 3.0, |x| 4.0 * x);
    check(|x| x - x * 3.0, |x| -2.0 * x);
    check(|x| x * x, |x| x * x);
}

fn mish(x: f32) -> f32 {
    let x = f64::from(x);
    (x * x.exp().ln_1p().tanh()) as f32
}

#[test]
fn mish_is_precise_far_below_zero() {
    let (_, shifted) = run([1, 1, 1, 64], |x| x * 20.0 + -20.0);
    let (_, y) = run([1, 1, 1, 64], |x| (x * 20.0 + -20.0).mish());
    for (x, y) in shifted.into_iter().zip(y) {
        assert!((y - mish(x)).abs() <= 1e-5 * mish(x).abs(), "mish({x}) is {}, not {y}", mish(x));
    }
}

#[test]
fn channels_are_normalised_for_each_pixel() {
    let vector = |name, seed| Weight { name, role: ParamRole::Vector, shape: vec![6], values: noise(seed, 6) };
    let (weight, bias) = (vector("weight", 4), vector("bias", 5));
    let mut fixture = Fixture::new(&[vector("weight", 4), vector("bias", 5)], None, 2);
    let builder = GraphBuilder::new();
    let x = builder.input("x", [2, 6, 3, 5]) * 3.0 + 7.0;
    builder.output("y", x.norm_channels(&fixture.params[0], &fixture.params[1], 1e-3));
    let x = noise(6, 180);
    let y = fixture.run(&builder.finish().unwrap(), &x).unwrap();
    let mut expected = vec![0.0; 180];
    for start in (0..2 * 15).map(|pixel| pixel / 15 * 90 + pixel % 15) {
        let value = |c: usize| f64::from(x[start + 15 * c]) * 3.0 + 7.0;
        let mean = (0..6).map(value).sum::<f64>() / 6.0;
        let variance = (0..6).map(|c| (value(c) - mean).powi(2)).sum::<f64>() / 6.0;
        for c in 0..6 {
            let normal = (value(c) - mean) / (variance + f64::from(1e-3f32)).sqrt();
            expected[start + 15 * c] = (normal * f64::from(weight.values[c]) + f64::from(bias.values[c])) as f32;
        }
    }
    assert!(relative_error(&y, &expected) < 2e-5, "the channels' mean is far larger than their differences");
}

#[test]
fn a_value_may_be_used_many_times() {
    let (x, y) = run([1, 2, 3, 4], |x| {
        let a = x.relu();
        let b = a + x;
        (a * b) - x
    });
    let expected: Vec<f32> = x.iter().map(|&x| x.max(0.0) * (x.max(0.0) + x) - x).collect();
    assert!(relative_error(&y, &expected) < F32_ERROR);
}

#[test]
fn slices_and_concatenations_are_exact() {
    for (dim, len) in [(0, 2u64), (1, 3), (2, 5), (3, 7)] {
        let (x, y) = run([2, 3, 5, 7], |x| {
            let (head, tail) = (x.slice(dim, 0, 1), x.slice(dim, 1, len - 1));
            head.concat(&[tail], dim)
        });
        assert_eq!(x, y, "dimension {dim}");
    }
}

#[test]
fn nearest_upsampling_repeats_pixels() {
    let (x, y) = run([1, 2, 3, 5], |x| x.upsample_nearest(2));
    for (i, &value) in y.iter().enumerate() {
        let (column, row, channel) = (i % 10, i / 10 % 6, i / 60);
        assert_eq!(value, x[(channel * 3 + row / 2) * 5 + column / 2]);
    }
}

#[test]
fn pixel_shuffle_moves_channels_into_blocks() {
    let (n, c, r, h, w) = (2usize, 3usize, 2usize, 3usize, 5usize);
    let (x, y) = run([2, 12, 3, 5], |x| x.pixel_shuffle(2));
    for (i, &value) in y.iter().enumerate() {
        let (column, row, channel, image) =
            (i % (w * r), i / (w * r) % (h * r), i / (w * r * h * r) % c, i / (w * r * h * r * c));
        let source_channel = channel * r * r + row % r * r + column % r;
        assert!(image < n);
        assert_eq!(value, x[((image * c * r * r + source_channel) * h + row / r) * w + column / r]);
    }
}

#[test]
fn pixel_unshuffle_undoes_pixel_shuffle() {
    let (x, y) = run([2, 18, 3, 5], |x| x.pixel_shuffle(3).pixel_unshuffle(3));
    assert_eq!(x, y);
}

#[test]
fn bicubic_keeps_constants_and_known_values() {
    let builder = GraphBuilder::new();
    builder.output("y", builder.input("x", [1, 1, 1, 4]).interpolate_bicubic([1, 2]));
    let y = Fixture::new(&[], None, 1).run(&builder.finish().unwrap(), &[0.0, 1.0, 2.0, 4.0]).unwrap();
    // Half-way between samples the weights for a = −0.75 are −0.09375, 0.59375, 0.59375, −0.09375; edges repeat.
    let expected = [0.59375 - 2.0 * 0.09375, 0.59375 * 6.0 - 0.09375 * (1.0 + 4.0)];
    assert!(relative_error(&y, &expected) < F32_ERROR, "{y:?} {expected:?}");
}

#[test]
fn prelu_has_a_slope_a_channel() {
    let slope = Weight { name: "slope", role: ParamRole::Vector, shape: vec![3], values: vec![0.5, -2.0, 0.0] };
    let mut fixture = Fixture::new(&[slope], None, 2);
    let builder = GraphBuilder::new();
    builder.output("y", builder.input("x", [2, 3, 4, 5]).prelu(&fixture.params[0]));
    let x = noise(3, 120);
    let y = fixture.run(&builder.finish().unwrap(), &x).unwrap();
    let slopes = [0.5, -2.0, 0.0];
    let expected: Vec<f32> =
        x.iter().enumerate().map(|(i, &x)| if x < 0.0 { x * slopes[i / 20 % 3] } else { x }).collect();
    assert!(relative_error(&y, &expected) < F32_ERROR);
}

struct ConvCase {
    x: [u64; 4],
    weight: [u64; 4],
    conv: Conv2d,
}

impl ConvCase {
    fn weights(&self) -> [Weight; 2] {
        let n = self.weight.iter().product::<u64>() as usize;
        let out = self.weight[0] as usize;
        [
            Weight { name: "weight", role: ParamRole::ConvWeight, shape: self.weight.into(), values: noise(7, n) },
            Weight { name: "bias", role: ParamRole::Vector, shape: vec![self.weight[0]], values: noise(8, out) },
        ]
    }

    fn input(&self) -> Vec<f32> {
        noise(9, self.x.iter().product::<u64>() as usize)
    }

    fn run(&self, wanted: Option<DType>, n_threads: usize) -> Vec<f32> {
        let mut fixture = Fixture::new(&self.weights(), wanted, n_threads);
        let builder = GraphBuilder::new();
        let x = builder.input("x", self.x);
        builder.output("y", x.conv2d(&fixture.params[0], Some(&fixture.params[1]), self.conv));
        fixture.run(&builder.finish().unwrap(), &self.input()).unwrap()
    }

    /// The same weights on another input, one thread.
    fn run_on(&self, shape: [u64; 4], input: &[f32]) -> Vec<f32> {
        let mut fixture = Fixture::new(&self.weights(), None, 1);
        let builder = GraphBuilder::new();
        let x = builder.input("x", shape);
        builder.output("y", x.conv2d(&fixture.params[0], Some(&fixture.params[1]), self.conv));
        fixture.run(&builder.finish().unwrap(), input).unwrap()
    }

    fn expected(&self) -> Vec<f32> {
        let [weight, bias] = self.weights();
        let usize4 = |shape: [u64; 4]| shape.map(|dim| dim as usize);
        naive_conv2d(&self.input(), usize4(self.x), &weight.values, usize4(self.weight), &bias.values, &self.conv)
    }
}

#[test]
fn convolution_in_many_strips() {
    // 9 · 64 columns of 4 bytes a pixel: rows of 150 pixels come six to a strip.
    let case = ConvCase { x: [1, 64, 41, 150], weight: [5, 64, 3, 3], conv: Conv2d::same(3) };
    let y = case.run(None, 2);
    assert!(relative_error(&y, &case.expected()) < 1e-5);
    assert_eq!(y, case.run(None, 1), "the number of threads changes no bit");
    assert_eq!(y, case.run(None, 3), "the number of threads changes no bit");
}

#[test]
fn convolution_with_rows_wider_than_a_strip() {
    let case = ConvCase { x: [1, 33, 5, 4000], weight: [2, 33, 3, 3], conv: Conv2d::same(3) };
    assert!(relative_error(&case.run(None, 2), &case.expected()) < 1e-5);
}

#[test]
fn a_pixel_does_not_depend_on_the_size_of_the_image_around_it() {
    for channels in [3, 8, 32] {
        let shape = |height: u64, width: u64| [1, channels, height, width];
        let conv = Conv2d { padding: [0, 0], ..Conv2d::same(3) };
        let case = ConvCase { x: shape(1, 1), weight: [6, channels, 3, 3], conv };
        let (height, width) = (40, 38);
        let image = noise(5, (channels * height * width) as usize);
        let whole = case.run_on(shape(height, width), &image);
        for (h, w) in [(3, 3), (4, 7), (5, 12), (9, 11), (17, 18), (39, 37), (40, 5)] {
            let (top, left) = (height - h, (width - w) / 2);
            let crop = |plane: &[f32], plane_width: u64, h: u64, w: u64| {
                let rows = (top..top + h).flat_map(|y| &plane[(y * plane_width + left) as usize..][..w as usize]);
                rows.copied().collect::<Vec<f32>>()
            };
            let part: Vec<f32> =
                image.chunks((height * width) as usize).flat_map(|plane| crop(plane, width, h, w)).collect();
            let planes = whole.chunks(((height - 2) * (width - 2)) as usize);
            let expected: Vec<f32> = planes.flat_map(|plane| crop(plane, width - 2, h - 2, w - 2)).collect();
            assert!(case.run_on(shape(h, w), &part) == expected, "{channels} channels, {h} x {w}");
        }
    }
}

#[test]
fn narrow_weights_only_lose_their_own_precision() {
    let case = ConvCase { x: [1, 32, 9, 11], weight: [6, 32, 3, 3], conv: Conv2d::same(3) };
    let expected = case.expected();
    let error = |dtype| relative_error(&case.run(Some(dtype), 2), &expected);
    assert!(error(DType::F32) < 1e-5);
    assert!(error(DType::F16) < 3e-4);
    assert!(error(DType::BF16) < 3e-3);
    assert!(error(DType::Q8_0) < 6e-3);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn convolution_follows_its_definition(
        n in 1u64..3, groups in 1u64..3, per_group in 1u64..4, out_per_group in 1u64..4,
        h in 1u64..12, w in 1u64..12, kernel in prop::sample::select(vec![[1u64, 1], [3, 3], [2, 3], [5, 1], [7, 7]]),
        stride in prop::array::uniform2(1u64..4), padding in prop::array::uniform2(0u64..4),
        dilation in prop::array::uniform2(1u64..3),
    ) {
        let conv = Conv2d { stride, padding, dilation, groups };
        let fits = (0..2).all(|axis| conv.output_len(axis, [h, w][axis], kernel[axis]).is_some());
        prop_assume!(fits);
        let weight = [groups * out_per_group, per_group, kernel[0], kernel[1]];
        let case = ConvCase { x: [n, groups * per_group, h, w], weight, conv };
        prop_assert!(relative_error(&case.run(None, 2), &case.expected()) < 1e-5);
    }
}
