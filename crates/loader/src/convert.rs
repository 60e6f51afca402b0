//! Turns stored elements into wanted ones, by way of `f32`.
//!
//! Every stored type becomes `f32` exactly where `f32` can hold the value; `f64` and wide integers are rounded to the
//! nearest, and `f64` beyond the range of `f32` becomes infinite. From `f32`, `f16` and `bf16` are rounded to the
//! nearest, ties to even. NaN stays NaN.

use half::slice::{HalfBitsSliceExt, HalfFloatSliceExt};
use half::{bf16, f16};

use crate::ggml::DType;
use crate::{StoredType, fp8};

/// Whether a tensor of type `stored` can be read as `wanted`: always when they are the same, else by way of `f32`.
pub(crate) fn is_defined(stored: StoredType, wanted: DType) -> bool {
    let has_to_f32 = match stored {
        StoredType::Ggml(dtype) => !dtype.is_quantized(),
        _ => true,
    };
    stored == StoredType::Ggml(wanted) || (has_to_f32 && matches!(wanted, DType::F32 | DType::F16 | DType::BF16))
}

/// Reads whole blocks of `stored` elements; `dst` is as long as `src` has elements.
pub(crate) fn to_f32(stored: StoredType, src: &[u8], dst: &mut [f32]) {
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
            _ => unreachable!("is_defined"),
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
}

/// Writes whole blocks of `wanted` elements; `dst` is exactly as long as they are.
pub(crate) fn from_f32(wanted: DType, src: &[f32], dst: &mut [u8]) {
    match wanted {
        DType::F32 => narrow(src, dst, f32::to_le_bytes),
        DType::F16 => narrow_f16(src, dst),
        DType::BF16 => narrow(src, dst, |value| bf16::from_f32(value).to_le_bytes()),
        _ => unreachable!("is_defined"),
    }
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
