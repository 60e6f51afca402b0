//! Every operation against the same computed by hand, on 1, 2 and 3 threads.
#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod common;

use common::{Array, Input, assert_close, check, eval, floats, integers, typed};
use fresco_ggml::{DType, Interpolation, OpError, Tensor, dequantize};

/// Sums in another order, fused multiplications.
const ROUNDING: f32 = 1e-5;
/// Approximations of transcendental functions.
const APPROXIMATE: f32 = 1e-4;
/// Values of half precision.
const HALF: f32 = 2e-3;
/// Values of 8 bits in blocks.
const BYTE: f32 = 2e-2;

#[test]
fn arithmetic_repeats_the_second_operand() {
    let a = Array::noise([6, 4, 3, 2], 1);
    for ne in [[6, 4, 3, 2], [1, 1, 3, 1], [6, 1, 1, 1], [1, 4, 1, 2], [3, 2, 1, 1], [1, 1, 1, 1]] {
        let b = Array::noise(ne, 2).map(|x| if x.abs() < 0.1 { 1.0 } else { x });
        let by_hand = |f: fn(f32, f32) -> f32| Array::from_fn(a.ne, |at| f(a.at(at), b.repeated(at)));
        let inputs = [(&a).into(), (&b).into()];
        check(&inputs, &by_hand(|a, b| a + b), 0.0, |_, t| t[0].add(t[1]));
        check(&inputs, &by_hand(|a, b| a - b), 0.0, |_, t| t[0].sub(t[1]));
        check(&inputs, &by_hand(|a, b| a * b), 0.0, |_, t| t[0].mul(t[1]));
        check(&inputs, &by_hand(|a, b| a / b), 1e-6, |_, t| t[0].div(t[1]));
    }
}

#[test]
fn arithmetic_takes_a_transposed_second_operand() {
    let (a, b) = (Array::noise([5, 4, 1, 1], 1), Array::noise([4, 5, 1, 1], 2));
    let expected = Array::from_fn(a.ne, |[i, j, ..]| a.at([i, j, 0, 0]) + b.at([j, i, 0, 0]));
    check(&[(&a).into(), (&b).into()], &expected, 0.0, |_, t| t[0].add(t[1].transpose()?));
}

#[test]
fn arithmetic_in_half_precision_keeps_the_type() {
    for dtype in [DType::F16, DType::BF16] {
        let tolerance = if dtype == DType::F16 { HALF } else { 8.0 * HALF };
        let (a, b) = (Array::noise([8, 3, 1, 1], 1), Array::noise([8, 1, 1, 1], 2));
        let expected = Array::from_fn(a.ne, |at| a.rounded_to(dtype).at(at) * b.repeated(at));
        check(&[typed(&a, dtype), (&b).into()], &expected, tolerance, |_, t| {
            let product = t[0].mul(t[1])?;
            assert_eq!(product.dtype(), dtype);
            product.cast(DType::F32)
        });
    }
}

/// An operation of one tensor, and the same by hand.
type Function = (&'static str, for<'g> fn(Tensor<'g>) -> Result<Tensor<'g>, OpError>, fn(f32) -> f32, f32);

#[test]
fn functions_of_one_operand() {
    let gelu: fn(f32) -> f32 = |x| 0.5 * x * (1.0 + (0.797_884_6 * x * (1.0 + 0.044_715 * x * x)).tanh());
    let functions: [Function; 16] = [
        ("abs", |x| x.abs(), f32::abs, 0.0),
        ("exp", |x| x.exp(), f32::exp, APPROXIMATE),
        ("gelu", |x| x.gelu(), gelu, HALF),
        ("gelu_erf", |x| x.gelu_erf(), gelu, HALF),
        ("gelu_quick", |x| x.gelu_quick(), |x| x / (1.0 + (-1.702 * x).exp()), HALF),
        ("neg", |x| x.neg(), |x| -x, 0.0),
        ("relu", |x| x.relu(), |x| x.max(0.0), 0.0),
        ("sigmoid", |x| x.sigmoid(), |x| 1.0 / (1.0 + (-x).exp()), APPROXIMATE),
        ("silu", |x| x.silu(), |x| x / (1.0 + (-x).exp()), APPROXIMATE),
        ("sqr", |x| x.sqr(), |x| x * x, 0.0),
        ("tanh", |x| x.tanh(), f32::tanh, APPROXIMATE),
        ("leaky_relu", |x| x.leaky_relu(0.2), |x| x.max(0.0) + 0.2 * x.min(0.0), 0.0),
        ("clamp", |x| x.clamp(-0.5, 1.0), |x| x.clamp(-0.5, 1.0), 0.0),
        ("scale", |x| x.scale(1.7), |x| x * 1.7, 0.0),
        ("scale_bias", |x| x.scale_bias(1.7, -0.3), |x| x * 1.7 - 0.3, ROUNDING),
        ("fill", |x| x.fill(0.25), |_| 0.25, 0.0),
    ];
    // A length that is no multiple of a vector register's.
    let x = Array::noise([67, 5, 3, 2], 3);
    for (name, build, by_hand, tolerance) in functions {
        println!("{name}");
        check(&[(&x).into()], &x.map(by_hand), tolerance, |_, t| build(t[0]));
    }
    let positive = x.map(f32::abs);
    check(&[(&positive).into()], &positive.map(f32::sqrt), ROUNDING, |_, t| t[0].sqrt());
}

#[test]
fn functions_of_a_strip_of_rows() {
    let x = Array::noise([5, 6, 3, 1], 4);
    let strip = Array::from_fn([5, 2, 3, 1], |[i, j, k, l]| x.at([i, j + 3, k, l]));
    let rows = |t: Tensor<'_>| [t.nb()[1], t.nb()[2]];
    check(&[(&x).into()], &strip.map(f32::abs), 0.0, |_, t| {
        t[0].view_3d([5, 2, 3], rows(t[0]), 3 * t[0].nb()[1])?.abs()
    });
}

#[test]
fn products_of_matrices() {
    let by_hand = |a: &Array, b: &Array| {
        Array::from_fn([a.ne[1], b.ne[1], b.ne[2], b.ne[3]], |[m, n, i2, i3]| {
            let (a2, a3) = (i2 * a.ne[2] / b.ne[2], i3 * a.ne[3] / b.ne[3]);
            (0..a.ne[0]).map(|k| f64::from(a.at([k, m, a2, a3])) * f64::from(b.at([k, n, i2, i3]))).sum::<f64>() as f32
        })
    };
    // K, M, N: whole and ragged tiles of the kernels, single rows and columns.
    for [k, m, n] in [[64, 48, 32], [576, 65, 33], [7, 3, 5], [32, 1, 17], [33, 16, 1], [256, 40, 24]] {
        let (a, b) = (Array::noise([k, m, 1, 1], 5), Array::noise([k, n, 1, 1], 6));
        check(&[(&a).into(), (&b).into()], &by_hand(&a, &b), ROUNDING, |_, t| t[0].mul_mat(t[1]));
        for dtype in [DType::F16, DType::BF16] {
            let tolerance = if dtype == DType::F16 { HALF } else { 8.0 * HALF };
            let expected = by_hand(&a.rounded_to(dtype), &b);
            check(&[typed(&a, dtype), (&b).into()], &expected, tolerance, |_, t| t[0].mul_mat(t[1]));
            check(&[typed(&a, dtype), typed(&b, dtype)], &expected, tolerance, |_, t| t[0].mul_mat(t[1]));
        }
    }
    let (a, b) = (Array::noise([8, 3, 2, 1], 5), Array::noise([8, 4, 6, 2], 6));
    check(&[(&a).into(), (&b).into()], &by_hand(&a, &b), ROUNDING, |_, t| t[0].mul_mat(t[1]));
}

#[test]
fn products_with_every_block_type() {
    let (noise, b) = (Array::noise([512, 24, 1, 1], 7), Array::noise([512, 18, 1, 1], 8));
    for &dtype in DType::ALL.iter().filter(|dtype| dtype.is_quantized() && dtype.can_dequantize()) {
        println!("{dtype}");
        let bytes = blocks(dtype, &noise);
        let mut a = Array { ne: noise.ne, data: vec![0.0; noise.data.len()] };
        dequantize(dtype, &bytes, &mut a.data).unwrap();
        let expected = Array::from_fn([24, 18, 1, 1], |[m, n, ..]| {
            (0..512).map(|k| a.at([k, m, 0, 0]) * b.at([k, n, 0, 0])).sum()
        });
        let inputs = || [Input { dtype, ne: a.ne, bytes: bytes.clone() }, (&b).into()];
        check(&inputs(), &expected, BYTE, |_, t| t[0].mul_mat(t[1]));
    }
}

/// Blocks of noise; for types that cannot be made from f32, or only after half a minute of setting up tables, arbitrary
/// bits with a scale of 1/8.
fn blocks(dtype: DType, noise: &Array) -> Vec<u8> {
    let scale = 0x3000u16.to_le_bytes();
    let scales: &[(usize, u8, u8)] = match dtype {
        DType::Iq2Xxs | DType::Iq2Xs | DType::Iq2S | DType::Iq1S => &[(0, 0, scale[0]), (1, 0, scale[1])],
        // The scale's bits are the upper halves of four bytes.
        DType::Iq1M => &[(49, 0x0f, 0), (51, 0x0f, 0), (53, 0x0f, 0), (55, 0x0f, scale[1])],
        _ => return noise.to_bytes(dtype),
    };
    let mut bytes = Array::noise([dtype.row_bytes(512).unwrap() as usize, 24, 1, 1], 9).map(|x| (x + 2.0) * 64.0);
    for block in bytes.data.chunks_mut(dtype.block_bytes()) {
        for &(at, kept, set) in scales {
            block[at] = f32::from(block[at] as u8 & kept | set);
        }
    }
    bytes.data.iter().map(|&byte| byte as u8).collect()
}

#[test]
fn patches_of_images() {
    let image = Array::noise([7, 6, 3, 2], 9);
    for (kernel, stride, padding, dilation) in [
        ([3, 3], [1, 1], [1, 1], [1, 1]),
        ([3, 2], [2, 1], [1, 0], [1, 2]),
        ([1, 1], [1, 1], [0, 0], [1, 1]),
        ([5, 5], [3, 2], [2, 2], [1, 1]),
    ] {
        let out = |d: usize| (image.ne[d] as i64 + 2 * padding[d] - dilation[d] * (kernel[d] - 1) - 1) / stride[d] + 1;
        let area = (kernel[0] * kernel[1]) as usize;
        let expected = Array::from_fn([area * 3, out(0) as usize, out(1) as usize, 2], |[k, x, y, n]| {
            let (channel, tap) = (k / area, (k % area) as i64);
            let at = |d: usize, out: usize, tap: i64| out as i64 * stride[d] + tap * dilation[d] - padding[d];
            let (x, y) = (at(0, x, tap % kernel[0]), at(1, y, tap / kernel[0]));
            let is_inside = (0..7).contains(&x) && (0..6).contains(&y);
            if is_inside { image.at([x as usize, y as usize, channel, n]) } else { 0.0 }
        });
        check(&[(&image).into()], &expected, 0.0, |_, t| t[0].im2col(kernel, stride, padding, dilation, DType::F32));
        check(&[(&image).into()], &expected.rounded_to(DType::F16), 0.0, |_, t| {
            t[0].im2col(kernel, stride, padding, dilation, DType::F16)?.cast(DType::F32)
        });
    }
}

#[test]
fn views_show_what_they_name() {
    let x = Array::noise([4, 5, 6, 2], 10);
    let [_, nb1, nb2, nb3] = [4, 16, 80, 480];
    check(&[(&x).into()], &Array::from_fn([3, 2, 4, 2], |[i, j, k, l]| x.at([i + 1, j + 2, k + 1, l])), 0.0, |_, t| {
        t[0].view_4d([3, 2, 4, 2], [nb1, nb2, nb3], 4 + 2 * nb1 + nb2)
    });
    check(&[(&x).into()], &Array::from_fn([3, 1, 1, 1], |[i, ..]| x.data[17 + i]), 0.0, |_, t| t[0].view_1d(3, 17 * 4));
    check(&[(&x).into()], &Array::from_fn([2, 3, 1, 1], |[i, j, ..]| x.at([i, j, 3, 1])), 0.0, |_, t| {
        t[0].view_2d([2, 3], nb1, 3 * nb2 + nb3)
    });
    // A view of a view starts where that starts.
    check(&[(&x).into()], &Array::from_fn([2, 2, 1, 1], |[i, j, ..]| x.at([i, j + 3, 2, 0])), 0.0, |_, t| {
        t[0].view_3d([4, 3, 2], [nb1, nb2], nb2 + 2 * nb1)?.view_2d([2, 2], nb1, nb2 + nb1)
    });
    // Repeated rows.
    check(&[(&x).into()], &Array::from_fn([4, 3, 1, 1], |[i, ..]| x.at([i, 0, 0, 0])), 0.0, |_, t| {
        t[0].view_2d([4, 3], 0, 0)
    });
    check(&[(&x).into()], &Array { ne: [20, 12, 1, 1], data: x.data.clone() }, 0.0, |_, t| {
        t[0].reshape([20, 12, 1, 1])
    });
    check(&[(&x).into()], &Array::from_fn([5, 6, 4, 2], |[i, j, k, l]| x.at([k, i, j, l])), 0.0, |_, t| {
        t[0].permute([2, 0, 1, 3])
    });
    check(&[(&x).into()], &Array::from_fn([5, 4, 6, 2], |[i, j, k, l]| x.at([j, i, k, l])), 0.0, |_, t| {
        t[0].transpose()
    });
}

#[test]
fn rows_of_block_types_can_be_permuted_and_copied() {
    let x = Array::noise([64, 3, 4, 1], 11);
    let expected = x.rounded_to(DType::Q8_0);
    let permuted = Array::from_fn([64, 4, 3, 1], |[i, j, k, l]| expected.at([i, k, j, l]));
    check(&[typed(&x, DType::Q8_0)], &permuted, 0.0, |_, t| t[0].permute([0, 2, 1, 3])?.cont()?.cast(DType::F32));
}

#[test]
fn tensors_side_by_side() {
    let a = Array::noise([3, 4, 5, 2], 12);
    for dim in 0..4 {
        let mut ne = a.ne;
        ne[dim] = 3;
        let b = Array::noise(ne, 13);
        let mut joined = a.ne;
        joined[dim] += 3;
        let expected = Array::from_fn(joined, |mut at| {
            if at[dim] < a.ne[dim] {
                return a.at(at);
            }
            at[dim] -= a.ne[dim];
            b.at(at)
        });
        check(&[(&a).into(), (&b).into()], &expected, 0.0, |_, t| t[0].concat(t[1], dim));
    }
}

#[test]
fn zeros_around_and_copies_beside() {
    let x = Array::noise([3, 4, 2, 2], 14);
    let expected = Array::from_fn([6, 5, 4, 2], |[i, j, k, l]| {
        let inside = (1..4).contains(&i) && (0..4).contains(&j) && (2..4).contains(&k);
        if inside { x.at([i - 1, j, k - 2, l]) } else { 0.0 }
    });
    check(&[(&x).into()], &expected, 0.0, |_, t| t[0].pad_ext([1, 0, 2, 0], [2, 1, 0, 0]));
    let expected = Array::from_fn([6, 4, 6, 2], |at| x.repeated(at));
    check(&[(&x).into()], &expected, 0.0, |_, t| t[0].repeat([6, 4, 6, 2]));
}

#[test]
fn conversions_are_about_as_exact_as_quantize() {
    let x = Array::noise([256, 3, 2, 1], 15);
    let quantizable = DType::ALL.iter().copied().filter(|dtype| dtype.is_quantized() && dtype.can_quantize());
    let mut n_kernels = 0;
    for dtype in quantizable.chain([DType::F16, DType::BF16]) {
        let build = |t: &[Tensor<'_>]| t[0].cast(dtype).is_ok();
        let (_, is_supported) =
            fresco_ggml::Graph::build(|scope| Ok(build(&[scope.new_input(DType::F32, [256, 1, 1, 1])?]))).unwrap();
        if is_supported {
            n_kernels += 1;
            // The kernels round halves differently and search less for the best scales.
            let rounded = x.rounded_to(dtype);
            let errors = rounded.data.iter().zip(&x.data).map(|(a, b)| (a - b).abs());
            let tolerance = errors.fold(0.0, f32::max);
            check(&[(&x).into()], &x, tolerance, |_, t| t[0].cast(dtype)?.cast(DType::F32));
        }
    }
    assert!(n_kernels > 15, "{n_kernels}");
    let (dtype, _, bytes) = eval(&[(&x.map(|x| x * 100.0)).into()], 2, |_, t| t[0].cast(DType::I32));
    assert_eq!(dtype, DType::I32);
    let expected: Vec<u8> = x.data.iter().flat_map(|x| ((x * 100.0) as i32).to_ne_bytes()).collect();
    assert_eq!(bytes, expected);
}

#[test]
fn writing_into_tensors() {
    let (base, part) = (Array::noise([4, 6, 3, 1], 16), Array::noise([4, 2, 3, 1], 17));
    let expected = Array::from_fn(base.ne, |[i, j, k, l]| match j {
        3..5 => part.at([i, j - 3, k, l]),
        _ => base.at([i, j, k, l]),
    });
    let inputs = [(&base).into(), (&part).into()];
    check(&inputs, &expected, 0.0, |_, t| {
        let [_, nb1, nb2, nb3] = t[0].nb();
        t[0].set_inplace(t[1], [nb1, nb2, nb3], 3 * nb1)
    });
    check(&inputs, &expected, 0.0, |_, t| {
        let [_, nb1, nb2, _] = t[0].nb();
        let rows = t[1].cpy(t[0].view_3d([4, 2, 3], [nb1, nb2], 3 * nb1)?)?;
        // Depends on the copy, and shows the whole.
        t[0].add(rows.view_1d(1, 0)?.scale(0.0)?)
    });
}

#[test]
fn planes_of_another_size() {
    let x = Array::noise([5, 4, 3, 2], 18);
    let expected = Array::from_fn([15, 12, 3, 2], |[i, j, k, l]| x.at([i / 3, j / 3, k, l]));
    check(&[(&x).into()], &expected, 0.0, |_, t| t[0].upscale_nearest(3));
    let cubic = |d: f32| {
        let (a, d) = (-0.75, d.abs());
        match d {
            d if d <= 1.0 => ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0,
            d if d < 2.0 => (((d - 5.0) * d + 8.0) * d - 4.0) * a,
            _ => 0.0,
        }
    };
    let linear = |d: f32| (1.0 - d.abs()).max(0.0);
    let kernels: [(Interpolation, &dyn Fn(f32) -> f32); 2] =
        [(Interpolation::Bicubic, &cubic), (Interpolation::Bilinear, &linear)];
    for (interpolation, kernel) in kernels {
        for size in [[10, 8], [7, 9], [3, 2]] {
            let expected = Array::from_fn([size[0], size[1], 3, 2], |[i, j, k, l]| {
                let place = |d: usize, out: usize| (out as f32 + 0.5) * x.ne[d] as f32 / size[d] as f32 - 0.5;
                let (x0, y0) = (place(0, i), place(1, j));
                let clamp = |d: usize, at: i64| at.clamp(0, x.ne[d] as i64 - 1) as usize;
                let mut sum = 0.0;
                for v in y0.floor() as i64 - 1..=y0.floor() as i64 + 2 {
                    for u in x0.floor() as i64 - 1..=x0.floor() as i64 + 2 {
                        let weight = kernel(u as f32 - x0) * kernel(v as f32 - y0);
                        sum += weight * x.at([clamp(0, u), clamp(1, v), k, l]);
                    }
                }
                sum
            });
            check(&[(&x).into()], &expected, ROUNDING, |_, t| {
                t[0].interpolate([size[0] as i64, size[1] as i64], interpolation)
            });
        }
    }
}

#[test]
fn normalisation() {
    let x = Array::noise([37, 6, 4, 2], 19);
    let moments = |values: &[f32]| {
        let n = values.len() as f64;
        let mean = values.iter().map(|&x| f64::from(x)).sum::<f64>() / n;
        let variance = values.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / n;
        (mean as f32, (variance as f32 + 1e-3).sqrt(), ((variance + mean * mean) as f32 + 1e-3).sqrt())
    };
    let normalised = |chunk: usize, f: &dyn Fn(f32, (f32, f32, f32)) -> f32| Array {
        ne: x.ne,
        data: x
            .data
            .chunks(chunk)
            .flat_map(|row| row.iter().map(|&x| f(x, moments(row))).collect::<Vec<_>>())
            .collect(),
    };
    let inputs = || [(&x).into()];
    let by_mean = |x: f32, (mean, deviation, _): (f32, f32, f32)| (x - mean) / deviation;
    check(&inputs(), &normalised(37, &by_mean), ROUNDING, |_, t| t[0].norm(1e-3));
    check(&inputs(), &normalised(37, &|x, (_, _, root)| x / root), ROUNDING, |_, t| t[0].rms_norm(1e-3));
    // Groups of two channels.
    check(&inputs(), &normalised(37 * 6 * 2, &by_mean), ROUNDING, |_, t| t[0].group_norm(2, 1e-3));
}

#[test]
fn sums_and_softmax_of_rows() {
    let x = Array::noise([37, 6, 4, 2], 20);
    let row = |at: [usize; 4]| (0..37).map(move |i| [i, at[1], at[2], at[3]]);
    let sums = Array::from_fn([1, 6, 4, 2], |at| row(at).map(|at| x.at(at)).sum());
    check(&[(&x).into()], &sums, ROUNDING, |_, t| t[0].sum_rows());
    check(&[(&x).into()], &sums.map(|x| x / 37.0), ROUNDING, |_, t| t[0].mean());
    let mask = Array::noise([37, 8, 2, 1], 21);
    let masked = |scale: f32, at: [usize; 4]| scale * x.at(at) + mask.at([at[0], at[1], at[2] % 2, 0]);
    let softmax = |logit: &dyn Fn([usize; 4]) -> f32| {
        Array::from_fn(x.ne, |at| logit(at).exp() / row(at).map(|at| logit(at).exp()).sum::<f32>())
    };
    check(&[(&x).into()], &softmax(&|at| 0.7 * x.at(at)), APPROXIMATE, |_, t| t[0].soft_max_ext(None, 0.7));
    let inputs = [(&x).into(), (&mask).into()];
    check(&inputs, &softmax(&|at| masked(0.7, at)), APPROXIMATE, |_, t| t[0].soft_max_ext(Some(t[1]), 0.7));
    let inputs = [(&x).into(), typed(&mask, DType::F16)];
    check(&inputs, &softmax(&|at| masked(0.7, at)), HALF, |_, t| t[0].soft_max_ext(Some(t[1]), 0.7));
}

#[test]
fn rows_by_number() {
    let table = Array::noise([32, 10, 1, 1], 22);
    let numbers = [3, 0, 9, 3, 7];
    let picked = |table: &Array| Array::from_fn([32, 5, 1, 1], |[i, j, ..]| table.at([i, numbers[j] as usize, 0, 0]));
    for dtype in [DType::F32, DType::F16, DType::BF16, DType::Q8_0, DType::Q4_0] {
        let inputs = [typed(&table, dtype), integers([5, 1, 1, 1], &numbers)];
        check(&inputs, &picked(&table.rounded_to(dtype)), 0.0, |_, t| t[0].get_rows(t[1]));
    }
}

#[test]
fn numbers_from_nothing() {
    let expected = Array::from_fn([7, 1, 1, 1], |[i, ..]| 0.5 + 0.25 * i as f32);
    check(&[], &expected, 0.0, |scope, _| scope.arange(0.5, 2.25, 0.25));
    let times = Array { ne: [3, 1, 1, 1], data: vec![0.0, 1.5, 999.0] };
    let expected = Array::from_fn([9, 3, 1, 1], |[i, j, ..]| {
        let frequency = (-(10000f32.ln()) * (i % 4) as f32 / 4.0).exp();
        let phase = times.data[j] * frequency;
        [phase.cos(), phase.sin(), 0.0][i / 4]
    });
    check(&[(&times).into()], &expected, APPROXIMATE, |_, t| t[0].timestep_embedding(9, 10000));
    check(&[], &Array::from_fn([5, 2, 1, 1], |_| -3.0), 0.0, |scope, _| {
        scope.new_scratch(DType::F32, [5, 2, 1, 1])?.fill(-3.0)
    });
}

#[test]
fn a_long_chain_does_not_overflow_the_stack() {
    let x = Array::noise([2, 1, 1, 1], 23);
    let (_, _, bytes) = eval(&[(&x).into()], 1, |_, t| {
        let mut sum = t[0];
        for _ in 0..50_000 {
            sum = sum.scale(1.0)?;
        }
        Ok(sum)
    });
    assert_close(&floats(&bytes), &x.data, 0.0);
}
