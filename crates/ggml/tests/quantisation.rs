//! Conversions in host memory: round trips of every type, lengths, addresses.
#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]
#![allow(unsafe_code, reason = "asks ggml for its table of types")]

use fresco_ggml::{DType, Error, dequantize, quantize};
use proptest::prelude::*;

/// Values between -1 and 1 with the spread of a layer's weights.
fn weights(n: usize) -> Vec<f32> {
    (0..n).map(|i| (i as f32 * 0.7131).sin() * (i as f32 * 0.0317).cos()).collect()
}

fn round_trip(dtype: DType, values: &[f32], row_len: usize) -> Vec<f32> {
    let mut bytes = vec![0; dtype.row_bytes(values.len() as u64).unwrap() as usize];
    quantize(dtype, values, row_len, &mut bytes).unwrap();
    let mut back = vec![f32::NAN; values.len()];
    dequantize(dtype, &bytes, &mut back).unwrap();
    back
}

/// The bits of a value decide how much of it comes back: root mean square of the error over that of the values.
#[test]
fn every_type_gives_back_what_its_bits_allow() {
    let values = weights(2 * 512);
    for &dtype in DType::ALL.iter().filter(|dtype| dtype.can_quantize()) {
        let bits = 8.0 * dtype.block_bytes() as f32 / dtype.block_len() as f32;
        let allowed = match dtype {
            DType::F32 => 0.0,
            DType::F16 => 5e-4,
            DType::BF16 => 4e-3,
            // Setting up the tables of these takes longer than all other tests together.
            DType::Iq2S | DType::Iq1M => continue,
            // One sign, and three levels of a scale that suits the largest value.
            DType::Q1_0 | DType::Tq1_0 | DType::Tq2_0 => 0.8,
            _ => 1.6 * 0.5f32.powf(bits - 1.0).max(0.005),
        };
        let back = round_trip(dtype, &values, 512);
        let power = |values: &mut dyn Iterator<Item = f32>| values.map(|x| x * x).sum::<f32>().sqrt();
        let error = power(&mut back.iter().zip(&values).map(|(a, b)| a - b)) / power(&mut values.iter().copied());
        assert!(error <= allowed, "{dtype}: {error} instead of at most {allowed}");
    }
}

#[test]
fn exact_values_come_back_exactly() {
    let values: Vec<f32> = (0..64).map(|i| (i % 16) as f32 - 8.0).collect();
    for dtype in [DType::F32, DType::F16, DType::BF16, DType::Q8_0] {
        let back = round_trip(dtype, &values, 64);
        let tolerance = if dtype == DType::Q8_0 { 0.04 } else { 0.0 };
        assert!(back.iter().zip(&values).all(|(a, b)| (a - b).abs() <= tolerance), "{dtype}: {back:?}");
    }
}

#[test]
fn bytes_may_lie_at_any_address() {
    let values = weights(256);
    for dtype in [DType::F32, DType::F16, DType::BF16, DType::Q8_0, DType::Q4_1, DType::Q4K, DType::Mxfp4] {
        let n_bytes = dtype.row_bytes(256).unwrap() as usize;
        let expected = round_trip(dtype, &values, 256);
        for shift in 1..4 {
            let mut bytes = vec![0; n_bytes + shift];
            quantize(dtype, &values, 256, &mut bytes[shift..]).unwrap();
            let mut back = vec![0.0; 256];
            dequantize(dtype, &bytes[shift..], &mut back).unwrap();
            assert_eq!(back, expected, "{dtype} at {shift}");
        }
    }
}

#[test]
fn nothing_is_nothing() {
    for &dtype in DType::ALL.iter().filter(|dtype| dtype.can_quantize()) {
        quantize(dtype, &[], 0, &mut []).unwrap();
        quantize(dtype, &[], dtype.block_len(), &mut []).unwrap();
        dequantize(dtype, &[], &mut []).unwrap();
    }
}

#[test]
fn lengths_that_do_not_fit_are_refused() {
    let (values, mut bytes) = (vec![0.0; 64], vec![0; 68]);
    let wrong = |result: Result<(), Error>| matches!(result, Err(Error::ConversionLength { dtype: DType::Q8_0, .. }));
    assert!(wrong(quantize(DType::Q8_0, &values, 64, &mut bytes[1..])));
    assert!(wrong(quantize(DType::Q8_0, &values, 48, &mut bytes)));
    assert!(wrong(quantize(DType::Q8_0, &values, 16, &mut bytes)));
    assert!(wrong(quantize(DType::Q8_0, &values, 0, &mut bytes)));
    assert!(wrong(quantize(DType::Q8_0, &values, 128, &mut bytes)));
    assert!(wrong(dequantize(DType::Q8_0, &bytes, &mut [0.0; 63])));
    assert!(wrong(dequantize(DType::Q8_0, &bytes, &mut [0.0; 96])));
    quantize(DType::Q8_0, &values, 32, &mut bytes).unwrap();
}

#[test]
fn types_without_a_conversion_are_refused() {
    for dtype in [DType::Q8K, DType::Q8_1, DType::I32, DType::F64] {
        assert!(matches!(dequantize(dtype, &[], &mut []), Err(Error::Conversion { .. })));
    }
    for dtype in [DType::Iq2Xxs, DType::Iq2Xs, DType::Iq1S, DType::Q8K, DType::I8] {
        assert!(matches!(quantize(dtype, &[], 0, &mut []), Err(Error::Conversion { .. })));
    }
}

#[test]
fn values_beyond_f16_are_refused_where_scales_are_f16() {
    for value in [f32::NAN, f32::INFINITY, -f32::INFINITY, 1e6, -70000.0] {
        let mut values = weights(64);
        values[40] = value;
        let error = quantize(DType::Q8_0, &values, 64, &mut [0; 68]).unwrap_err();
        assert!(matches!(error, Error::ValueOutOfRange { index: 40, .. }), "{error}");
        quantize(DType::BF16, &values, 64, &mut [0; 128]).unwrap();
    }
}

/// From denormal numbers to the largest, all alike or one among zeros.
fn extreme() -> impl Strategy<Value = f32> {
    prop_oneof![
        Just(0.0),
        Just(-0.0),
        -1f32..1.0,
        prop::sample::select(vec![65504f32, -65504.0, 1e-3, 1e-10, -1e-20, 1e-38, 1e-45, f32::MIN_POSITIVE]),
    ]
}

proptest! {
    #[test]
    fn any_values_in_range_become_blocks(
        values in prop_oneof![
            proptest::collection::vec(extreme(), 512),
            extreme().prop_map(|value| vec![value; 512]),
            (extreme(), extreme(), 0usize..512).prop_map(|(most, one, at)| {
                let mut values = vec![most; 512];
                values[at] = one;
                values
            }),
        ],
    ) {
        let is_slow = |dtype| matches!(dtype, DType::Iq2S | DType::Iq1M);
        for &dtype in DType::ALL.iter().filter(|&&dtype| dtype.can_quantize() && !is_slow(dtype)) {
            round_trip(dtype, &values, 256);
        }
    }
}

/// ggml's own table says the same as ours.
#[test]
fn the_table_of_types_is_ggmls() {
    use std::ffi::CStr;

    use fresco_ggml_sys as sys;
    for &dtype in DType::ALL {
        let raw = dtype.raw();
        // SAFETY: the number is one of ggml's.
        let (name, block_len, block_bytes, traits) = unsafe {
            (
                sys::ggml_type_name(raw),
                sys::ggml_blck_size(raw),
                sys::ggml_type_size(raw),
                *sys::ggml_get_type_traits(raw),
            )
        };
        // SAFETY: static text.
        assert_eq!(unsafe { CStr::from_ptr(name) }.to_str(), Ok(dtype.name()));
        assert_eq!((block_len, block_bytes), (dtype.block_len() as i64, dtype.block_bytes()), "{dtype}");
        assert_eq!(traits.is_quantized, dtype.is_quantized(), "{dtype}");
        assert_eq!(traits.to_float.is_some() || dtype == DType::F32, dtype.can_dequantize(), "{dtype}");
        // SAFETY: the number is one of ggml's.
        let needs_statistics = unsafe { sys::ggml_quantize_requires_imatrix(raw) };
        assert_eq!(dtype.can_dequantize() && !needs_statistics, dtype.can_quantize(), "{dtype}");
    }
}
