//! Element types as files store them: ggml's own, and those that ggml lacks.

use std::fmt;

use crate::ggml::DType;

/// The type of a tensor's elements in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoredType {
    /// A type that ggml has too, in ggml's layout, little-endian.
    Ggml(DType),
    /// One byte each, 0 or 1; other values that a file may hold are read as they are.
    Bool,
    /// Unsigned 8-bit integer.
    U8,
    /// Unsigned 16-bit integer.
    U16,
    /// Unsigned 32-bit integer.
    U32,
    /// Unsigned 64-bit integer.
    U64,
    /// 8-bit float of 4 exponent and 3 mantissa bits, bias 7, without infinities (OCP E4M3, PyTorch `float8_e4m3fn`).
    F8E4M3,
    /// 8-bit float of 5 exponent and 2 mantissa bits, bias 15, with infinities (OCP E5M2, PyTorch `float8_e5m2`).
    F8E5M2,
    /// E4M3 with bias 8, no infinities and no negative zero, whose code is the only NaN (`float8_e4m3fnuz`).
    F8E4M3Fnuz,
    /// E5M2 with bias 16, no infinities and no negative zero, whose code is the only NaN (`float8_e5m2fnuz`).
    F8E5M2Fnuz,
    /// A power of two from its exponent alone, bias 127 (OCP E8M0, PyTorch `float8_e8m0fnu`).
    F8E8M0,
}

impl StoredType {
    /// A short name: ggml's where ggml has the type (`f16`, `q8_0`), else in the same style (`u8`, `f8_e4m3`).
    pub fn name(self) -> &'static str {
        match self {
            Self::Ggml(dtype) => dtype.name(),
            Self::Bool => "bool",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::F8E4M3 => "f8_e4m3",
            Self::F8E5M2 => "f8_e5m2",
            Self::F8E4M3Fnuz => "f8_e4m3fnuz",
            Self::F8E5M2Fnuz => "f8_e5m2fnuz",
            Self::F8E8M0 => "f8_e8m0",
        }
    }

    /// Elements in a block; 1 but for ggml's quantised types.
    pub fn block_len(self) -> usize {
        match self {
            Self::Ggml(dtype) => dtype.block_len(),
            _ => 1,
        }
    }

    /// Bytes of a block.
    pub fn block_bytes(self) -> usize {
        match self {
            Self::Ggml(dtype) => dtype.block_bytes(),
            Self::Bool
            | Self::U8
            | Self::F8E4M3
            | Self::F8E5M2
            | Self::F8E4M3Fnuz
            | Self::F8E5M2Fnuz
            | Self::F8E8M0 => 1,
            Self::U16 => 2,
            Self::U32 => 4,
            Self::U64 => 8,
        }
    }

    /// Bytes of a tensor of that shape; `None` when the number of elements or bytes does not fit 64 bits (a zero
    /// among the dimensions excuses nothing), or when the innermost dimension is no whole number of blocks.
    pub fn tensor_bytes(self, shape: &[u64]) -> Option<u64> {
        let n_elements = shape.iter().try_fold(1u64, |product, &dim| match dim {
            // Dimensions beside a zero must still be possible by themselves.
            0 => Some(product),
            dim => product.checked_mul(dim),
        })?;
        let block_len = self.block_len() as u64;
        let row_len = shape.last().copied().unwrap_or(1);
        if !row_len.is_multiple_of(block_len) {
            return None;
        }
        let bytes = (n_elements / block_len).checked_mul(self.block_bytes() as u64)?;
        Some(if shape.contains(&0) { 0 } else { bytes })
    }
}

impl From<DType> for StoredType {
    fn from(dtype: DType) -> Self {
        Self::Ggml(dtype)
    }
}

impl fmt::Display for StoredType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_checked() {
        let f32 = StoredType::Ggml(DType::F32);
        assert_eq!(f32.tensor_bytes(&[]), Some(4));
        assert_eq!(f32.tensor_bytes(&[2, 3]), Some(24));
        assert_eq!(f32.tensor_bytes(&[2, 0, 3]), Some(0));
        assert_eq!(f32.tensor_bytes(&[1 << 32, 1 << 32]), None, "product wraps to 0");
        assert_eq!(f32.tensor_bytes(&[(1 << 63) + 3, 2]), None, "product wraps to 6");
        assert_eq!(f32.tensor_bytes(&[(1 << 62) + 6]), None, "bytes wrap to 24");
        assert_eq!(f32.tensor_bytes(&[0, 1 << 40, 1 << 40]), None, "a zero excuses nothing");
        assert_eq!(StoredType::Ggml(DType::Q8_0).tensor_bytes(&[2, 32]), Some(68));
        assert_eq!(StoredType::Ggml(DType::Q8_0).tensor_bytes(&[32, 2]), None);
    }
}
