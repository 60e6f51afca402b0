//! A convolution as the engine lowers it: strips of rows, each a view, its patches, a product, and a write into the
//! accumulator. The bits of the result depend on the operands alone: not on threads, and not on other nodes.
#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod common;

use common::{Array, assert_close, eval, floats, signed, typed};
use fresco_ggml::{DType, OpError, Tensor};

/// A 3 x 3 convolution with padding 1 in strips of `n_rows` output rows.
fn convolve<'g>(x: Tensor<'g>, weight: Tensor<'g>, n_rows: i64) -> Result<Tensor<'g>, OpError> {
    let [width, height, channels, _] = x.ne();
    let [row_len, n_out, ..] = weight.ne();
    let [_, row, plane, _] = x.nb();
    let strip = |first: i64| {
        let n = n_rows.min(height - first);
        let (start, end) = ((first - 1).max(0), (first + n + 1).min(height));
        let rows = x.view_3d([width, end - start, channels], [row, plane], start as usize * row)?;
        let (above, below) = (start - (first - 1), first + n + 1 - end);
        let rows = match above + below {
            0 => rows,
            _ => rows.pad_ext([0, above, 0, 0], [0, below, 0, 0])?,
        };
        let patches = rows.im2col([3, 3], [1, 1], [1, 0], [1, 1], DType::F32)?;
        patches.reshape([row_len, width * n, 1, 1])?.mul_mat(weight)?.reshape([width, n, n_out, 1])
    };
    let mut joined = strip(0)?;
    if n_rows < height {
        joined = joined.pad_ext([0; 4], [0, height - n_rows, 0, 0])?;
        for first in (n_rows..height).step_by(n_rows as usize) {
            let [_, row, plane, volume] = joined.nb();
            joined = joined.set_inplace(strip(first)?, [row, plane, volume], first as usize * row)?;
        }
    }
    Ok(joined)
}

fn by_hand(x: &Array, weight: &Array) -> Array {
    Array::from_fn([x.ne[0], x.ne[1], weight.ne[1], 1], |[i, j, o, _]| {
        let mut sum = 0.0;
        for c in 0..x.ne[2] {
            for v in 0..3 {
                for u in 0..3 {
                    let (px, py) = ((i + u).wrapping_sub(1), (j + v).wrapping_sub(1));
                    if px < x.ne[0] && py < x.ne[1] {
                        let tap = f64::from(weight.at([(c * 3 + v) * 3 + u, o, 0, 0]));
                        sum += tap * f64::from(x.at([px, py, c, 0]));
                    }
                }
            }
        }
        sum as f32
    })
}

#[test]
fn strips_join_to_the_convolution_bit_by_bit() {
    let (x, weight) = (Array::noise([19, 14, 5, 1], 1), Array::noise([45, 12, 1, 1], 2));
    let expected = by_hand(&x, &weight);
    for n_rows in [1, 3, 4, 13, 14] {
        let inputs = || [(&x).into(), (&weight).into()];
        let (_, ne, one) = eval(&inputs(), 1, |_, t| convolve(t[0], t[1], n_rows));
        assert_eq!(ne, signed(expected.ne));
        assert_close(&floats(&one), &expected.data, 1e-5);
        for n_threads in [2, 3, 4] {
            let (_, _, bits) = eval(&inputs(), n_threads, |_, t| convolve(t[0], t[1], n_rows));
            assert!(bits == one, "{n_rows} rows on {n_threads} threads");
        }
    }
}

#[test]
fn a_larger_node_beside_changes_no_bit() {
    let (x, weight) = (Array::noise([19, 14, 5, 1], 1), Array::noise([45, 12, 1, 1], 2));
    let (big, wide) = (Array::noise([640, 300, 1, 1], 3), Array::noise([640, 70, 1, 1], 4));
    let (_, _, alone) = eval(&[(&x).into(), (&weight).into()], 1, |_, t| convolve(t[0], t[1], 4));
    for n_threads in [1, 2, 3] {
        let inputs = [(&x).into(), (&weight).into(), (&big).into(), (&wide).into()];
        let (_, _, beside) = eval(&inputs, n_threads, |scope, t| {
            let before = t[2].mul_mat(t[3])?.soft_max_ext(None, 1.0)?;
            scope.expand(before);
            let result = convolve(t[0], t[1], 4)?;
            scope.expand(result);
            scope.expand(t[3].mul_mat(t[2])?.add(before.transpose()?.cont()?)?);
            Ok(result)
        });
        assert!(beside == alone, "{n_threads} threads");
    }
}

#[test]
fn products_of_fours_of_rows_have_the_bits_of_the_whole() {
    let weight = Array::noise([576, 64, 1, 1], 6);
    for dtype in [DType::F32, DType::F16, DType::Q8_0] {
        for n_out in [64, 3] {
            let product = |rows: &Array, n_threads: usize| {
                let inputs = [rows.into(), typed(&weight, dtype)];
                let (_, _, bytes) = eval(&inputs, n_threads, |_, t| {
                    t[0].mul_mat(t[1].view_2d([576, n_out], t[1].nb()[1], 0)?.cast(DType::F32)?)
                });
                floats(&bytes)
            };
            // More rows than one tile of any kernel, and a number that leaves a remainder.
            let whole = Array::noise([576, 148, 1, 1], 5);
            let expected = product(&whole, 1);
            for (first, n) in [(0, 32), (32, 100), (132, 16), (8, 4), (4, 48)] {
                let strip = Array::from_fn([576, n, 1, 1], |[k, row, ..]| whole.at([k, first + row, 0, 0]));
                for n_threads in [1, 2, 3] {
                    let found = product(&strip, n_threads);
                    for channel in 0..n_out as usize {
                        let expected = &expected[channel * 148 + first..][..n];
                        assert_eq!(&found[channel * n..][..n], expected, "{dtype}, {n} rows, {n_threads} threads");
                    }
                }
            }
        }
    }
}
