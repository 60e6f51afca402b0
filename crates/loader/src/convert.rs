//! Turns stored elements into wanted ones, by way of `f32`.
//!
//! Every stored type becomes `f32` exactly where `f32` can hold the value; `f64` and wide integers are rounded to the
//! nearest, and `f64` beyond the range of `f32` becomes infinite. From `f32`, `f16` and `bf16` are rounded to the
//! nearest, ties to even, and NaN stays NaN; block types take finite values only.

use half::slice::{HalfBitsSliceExt, HalfFloatSliceExt};
use half::{bf16, f16};

use crate::ggml::{self, DType};
use crate::{StoredType, fp8};

/// Whether a tensor of type `stored` can be read as `wanted`: always when they are the same, else by way of `f32`.
pub(crate) fn is_defined(stored: StoredType, wanted: DType) -> bool {
    let has_to_f32 = match stored {
        StoredType::Ggml(dtype) => !dtype.is_quantized() || dtype.can_dequantize(),
        _ => true,
    };
    let has_from_f32 = match wanted {
        DType::F32 | DType::F16 | DType::BF16 => true,
        _ => wanted.is_quantized() && wanted.can_quantize(),
    };
    stored == StoredType::Ggml(wanted) || (has_to_f32 && has_from_f32)
}

/// Reads whole blocks of `stored` elements; `dst` is as long as `src` has elements.
pub(crate) fn to_f32(stored: StoredType, src: &[u8], dst: &mut [f32]) -> Result<(), ggml::Error> {
    match stored {
        StoredType::Ggml(dtype) => match dtype {
            DType::F32 => widen(src, dst, f32::from_le_bytes),
            DType::F16 => widen_f16(src, dst),
            DType::BF16 => widen(src, dst, |bytes| bf16::from_le_bytes(bytes).to_f32()),
            DType::F64 => widen(src, dst, |bytes| f64::from_le_bytes(bytes) as f32),
            DType::I8 => widen(src, dst, |bytes| i8::from_le_bytes(bytes).into()),
            DType::I16 => widen(src, dst, |bytes| i16::from_le_bytes(bytes).into()),
            DType::I32 => widen(src, dst, |bytes| i32::from_le_bytes(bytes) as f32),
            DType::I64 => widen(src, dst, |bytes| i64::from_le_bytes(bytes) as f32),
            _ => return ggml::dequantize(dtype, src, dst),
        },
        StoredType::Bool | StoredType::U8 => widen(src, dst, |[byte]| byte.into()),
        StoredType::U16 => widen(src, dst, |bytes| u16::from_le_bytes(bytes).into()),
        StoredType::U32 => widen(src, dst, |bytes| u32::from_le_bytes(bytes) as f32),
        StoredType::U64 => widen(src, dst, |bytes| u64::from_le_bytes(bytes) as f32),
        StoredType::F8E4M3 => widen(src, dst, |[code]| fp8::E4M3[usize::from(code)]),
        StoredType::F8E5M2 => widen(src, dst, |[code]| fp8::E5M2[usize::from(code)]),
        StoredType::F8E4M3Fnuz => widen(src, dst, |[code]| fp8::E4M3_FNUZ[usize::from(code)]),
        StoredType::F8E5M2Fnuz => widen(src, dst, |[code]| fp8::E5M2_FNUZ[usize::from(code)]),
        StoredType::F8E8M0 => widen(src, dst, |[code]| fp8::E8M0[usize::from(code)]),
    }
    Ok(())
}

/// Writes whole blocks of `wanted` elements; `dst` is exactly as long as they are.
pub(crate) fn from_f32(wanted: DType, src: &[f32], dst: &mut [u8]) -> Result<(), ggml::Error> {
    match wanted {
        DType::F32 => narrow(src, dst, f32::to_le_bytes),
        DType::F16 => narrow_f16(src, dst),
        DType::BF16 => narrow(src, dst, |value| bf16::from_f32(value).to_le_bytes()),
        // Blocks are packed one by one, so where rows end does not matter.
        _ => return ggml::quantize(wanted, src, src.len(), dst),
    }
    Ok(())
}

fn widen<const N: usize>(src: &[u8], dst: &mut [f32], decode: impl Fn([u8; N]) -> f32) {
    for (dst, src) in dst.iter_mut().zip(src.as_chunks().0) {
        *dst = decode(*src);
    }
}

fn narrow<const N: usize>(src: &[f32], dst: &mut [u8], encode: impl Fn(f32) -> [u8; N]) {
    for (dst, src) in dst.as_chunks_mut().0.iter_mut().zip(src) {
        *dst = encode(*src);
    }
}

/// The slice form uses the processor's own conversion where it has one; that needs aligned data.
fn widen_f16(src: &[u8], dst: &mut [f32]) {
    match bytemuck::try_cast_slice::<u8, u16>(src) {
        Ok(src) => src.reinterpret_cast::<f16>().convert_to_f32_slice(dst),
        Err(_) => widen(src, dst, |bytes| f16::from_le_bytes(bytes).to_f32()),
    }
}

fn narrow_f16(src: &[f32], dst: &mut [u8]) {
    match bytemuck::try_cast_slice_mut::<u8, u16>(dst) {
        Ok(dst) => dst.reinterpret_cast_mut::<f16>().convert_from_f32_slice(src),
        Err(_) => narrow(src, dst, |value| f16::from_f32(value).to_le_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to_f32_one(stored: StoredType, bytes: &[u8]) -> f32 {
        let mut value = [0.0];
        to_f32(stored, bytes, &mut value).unwrap();
        value[0]
    }

    /// The value of a binary16 code by its definition.
    fn f16_value(code: u16) -> f32 {
        let sign = if code >> 15 == 1 { -1.0 } else { 1.0 };
        let (exponent, mantissa) = (i32::from(code >> 10 & 0x1f), f64::from(code & 0x3ff));
        let magnitude = match exponent {
            0x1f if mantissa != 0.0 => f64::NAN,
            0x1f => f64::INFINITY,
            0 => mantissa * 2f64.powi(-24),
            _ => (1024.0 + mantissa) * 2f64.powi(exponent - 25),
        };
        (sign * magnitude) as f32
    }

    fn is_same(a: f32, b: f32) -> bool {
        a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
    }

    #[test]
    fn every_half_precision_code_is_exact_there_and_back() {
        let codes: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
        let code_of = |pair: &[u8]| u16::from_le_bytes([pair[0], pair[1]]);
        let mut values = vec![0.0; 1 << 16];
        // Once aligned, as the reader has it, and once from an odd address.
        let unaligned: Vec<u8> = [&[0], codes.as_slice()].concat();
        for src in [codes.as_slice(), &unaligned[1..]] {
            for (dtype, value_of) in
                [(DType::F16, f16_value as fn(u16) -> f32), (DType::BF16, |code| f32::from_bits(u32::from(code) << 16))]
            {
                to_f32(dtype.into(), src, &mut values).unwrap();
                for (code, &value) in (0..=u16::MAX).zip(&values) {
                    assert!(is_same(value, value_of(code)), "{dtype} {code:#06x} became {value}");
                }
                let mut back = vec![0; 1 << 17];
                from_f32(dtype, &values, &mut back).unwrap();
                for (code, pair) in (0..=u16::MAX).zip(back.chunks(2)) {
                    let is_kept =
                        code_of(pair) == code || (value_of(code).is_nan() && value_of(code_of(pair)).is_nan());
                    assert!(is_kept, "{dtype} {code:#06x} came back as {:#06x}", code_of(pair));
                }
            }
        }
    }

    #[test]
    fn narrowing_rounds_to_nearest_even() {
        let mut half = [0; 2];
        for (value, code) in [
            (1.0 + 1.0 / 2048.0, 0x3c00_u16), // halfway, down to even
            (1.0 + 3.0 / 2048.0, 0x3c02),     // halfway, up to even
            (65519.0, 0x7bff),
            (65520.0, 0x7c00), // beyond the range: infinite
            (2f32.powi(-25), 0x0000),
            (1.5 * 2f32.powi(-25), 0x0001),
            (-0.0, 0x8000),
        ] {
            from_f32(DType::F16, &[value], &mut half).unwrap();
            assert_eq!(u16::from_le_bytes(half), code, "{value}");
        }
        for (bits, code) in [(0x3f80_8000, 0x3f80_u16), (0x3f81_8000, 0x3f82), (0x3f80_8001, 0x3f81)] {
            from_f32(DType::BF16, &[f32::from_bits(bits)], &mut half).unwrap();
            assert_eq!(u16::from_le_bytes(half), code, "{bits:#x}");
        }
    }

    #[test]
    fn wide_types_round_and_narrow_ones_are_exact() {
        let f64_value = |value: f64| to_f32_one(DType::F64.into(), &value.to_le_bytes());
        assert_eq!(f64_value(0.1), 0.1);
        assert_eq!(f64_value(1e300), f32::INFINITY);
        assert_eq!(f64_value(f64::MIN_POSITIVE), 0.0);
        assert!(f64_value(f64::NAN).is_nan());
        assert_eq!(to_f32_one(DType::I64.into(), &i64::MIN.to_le_bytes()), -9.223_372e18);
        assert_eq!(to_f32_one(DType::I32.into(), &16_777_217_i32.to_le_bytes()), 16_777_216.0);
        assert_eq!(to_f32_one(DType::I16.into(), &i16::MIN.to_le_bytes()), -32768.0);
        assert_eq!(to_f32_one(DType::I8.into(), &(-128_i8).to_le_bytes()), -128.0);
        assert_eq!(to_f32_one(StoredType::U8, &[255]), 255.0);
        assert_eq!(to_f32_one(StoredType::Bool, &[1]), 1.0);
        assert_eq!(to_f32_one(StoredType::U16, &[255, 255]), 65535.0);
        assert_eq!(to_f32_one(StoredType::U32, &u32::MAX.to_le_bytes()), 4_294_967_296.0);
        assert_eq!(to_f32_one(StoredType::U64, &u64::MAX.to_le_bytes()), 18_446_744_073_709_551_616.0);
        assert_eq!(to_f32_one(StoredType::F8E4M3Fnuz, &[0x7f]), 240.0);
        assert_eq!(to_f32_one(StoredType::F8E8M0, &[128]), 2.0);
    }

    /// Pseudo-random values in -1..1.
    fn noise(n: usize) -> Vec<f32> {
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / 8_388_608.0 - 1.0
        };
        (0..n).map(|_| next()).collect()
    }

    #[test]
    fn blocks_are_packed_one_by_one() {
        let values = noise(8 * 256);
        // The tables of the two left out take ggml a minute to build.
        let is_tried = |dtype: &DType| !matches!(dtype, DType::Iq1M | DType::Iq2S);
        let block_types = DType::ALL.iter().copied().filter(|dtype| dtype.is_quantized() && dtype.can_quantize());
        for dtype in block_types.filter(is_tried) {
            let n_bytes = dtype.row_bytes(values.len() as u64).unwrap() as usize;
            let (mut at_once, mut in_rows) = (vec![0; n_bytes], vec![0; n_bytes]);
            from_f32(dtype, &values, &mut at_once).unwrap();
            ggml::quantize(dtype, &values, 256, &mut in_rows).unwrap();
            assert!(at_once == in_rows, "{dtype}");
            let mut back = vec![0.0; values.len()];
            to_f32(dtype.into(), &at_once, &mut back).unwrap();
            let error: f32 = values.iter().zip(&back).map(|(a, b)| (a - b).powi(2)).sum();
            let power: f32 = values.iter().map(|value| value * value).sum();
            assert!(error < 0.7 * power, "{dtype} loses everything");
        }
    }

    #[test]
    fn a_conversion_is_defined_where_both_halves_are() {
        let ggml = StoredType::Ggml;
        assert!(is_defined(ggml(DType::Q4K), DType::F16));
        assert!(is_defined(ggml(DType::Q4K), DType::Q8_0));
        assert!(is_defined(StoredType::F8E4M3, DType::Q8_0));
        assert!(is_defined(ggml(DType::I32), DType::I32));
        assert!(!is_defined(ggml(DType::F32), DType::I32));
        assert!(!is_defined(ggml(DType::F32), DType::F64));
        assert!(!is_defined(ggml(DType::F32), DType::Iq2Xxs), "needs statistics");
        assert!(!is_defined(ggml(DType::Q8K), DType::F32), "only an operand");
    }
}
