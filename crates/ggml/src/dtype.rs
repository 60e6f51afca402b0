//! Element types: ggml's numbers for them, their names and their block layout.
//!
//! The table is written out here rather than read from ggml, so that a type is known at compile time and naming one
//! can neither fail nor reach into C. A test compares every row with ggml's own traits.

use std::fmt;

/// Declares the enum and its table from one list, so that a type cannot be in one and not in the other.
macro_rules! dtypes {
    ($( $(#[$doc:meta])* $variant:ident = $raw:literal, $name:literal, $block_len:literal => $block_bytes:literal; )+) => {
        /// The type of a tensor's elements. Discriminants are ggml's own numbers, which GGUF files store too.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u32)]
        pub enum DType {
            $( $(#[$doc])* $variant = $raw, )+
        }

        impl DType {
            /// Every type, in the order of their numbers.
            pub const ALL: &[DType] = &[ $( DType::$variant, )+ ];

            const fn layout(self) -> Layout {
                match self {
                    $( DType::$variant => Layout { name: $name, block_len: $block_len, block_bytes: $block_bytes }, )+
                }
            }
        }
    };
}

dtypes! {
    /// IEEE 754 single precision.
    F32 = 0, "f32", 1 => 4;
    /// IEEE 754 half precision.
    F16 = 1, "f16", 1 => 2;
    /// 4 bits with a scale for each 32 values.
    Q4_0 = 2, "q4_0", 32 => 18;
    /// 4 bits with a scale and a minimum for each 32 values.
    Q4_1 = 3, "q4_1", 32 => 20;
    /// 5 bits with a scale for each 32 values.
    Q5_0 = 6, "q5_0", 32 => 22;
    /// 5 bits with a scale and a minimum for each 32 values.
    Q5_1 = 7, "q5_1", 32 => 24;
    /// 8 bits with a scale for each 32 values.
    Q8_0 = 8, "q8_0", 32 => 34;
    /// 8 bits with a scale and a sum for each 32 values: the other operand of a product with `q4_1` or `q5_1`.
    Q8_1 = 9, "q8_1", 32 => 36;
    /// 2 bits in super-blocks of 256.
    Q2K = 10, "q2_K", 256 => 84;
    /// 3 bits in super-blocks of 256.
    Q3K = 11, "q3_K", 256 => 110;
    /// 4 bits in super-blocks of 256.
    Q4K = 12, "q4_K", 256 => 144;
    /// 5 bits in super-blocks of 256.
    Q5K = 13, "q5_K", 256 => 176;
    /// 6 bits in super-blocks of 256.
    Q6K = 14, "q6_K", 256 => 210;
    /// 8 bits in super-blocks of 256: the other operand of a product with a super-block type.
    Q8K = 15, "q8_K", 256 => 292;
    /// 2.06 bits, codebook.
    Iq2Xxs = 16, "iq2_xxs", 256 => 66;
    /// 2.31 bits, codebook.
    Iq2Xs = 17, "iq2_xs", 256 => 74;
    /// 3.06 bits, codebook.
    Iq3Xxs = 18, "iq3_xxs", 256 => 98;
    /// 1.56 bits, codebook.
    Iq1S = 19, "iq1_s", 256 => 50;
    /// 4 bits, non-linear levels, a scale for each 32 values.
    Iq4Nl = 20, "iq4_nl", 32 => 18;
    /// 3.44 bits, codebook.
    Iq3S = 21, "iq3_s", 256 => 110;
    /// 2.56 bits, codebook.
    Iq2S = 22, "iq2_s", 256 => 82;
    /// 4 bits, non-linear levels, in super-blocks of 256.
    Iq4Xs = 23, "iq4_xs", 256 => 136;
    /// Signed 8-bit integer.
    I8 = 24, "i8", 1 => 1;
    /// Signed 16-bit integer.
    I16 = 25, "i16", 1 => 2;
    /// Signed 32-bit integer.
    I32 = 26, "i32", 1 => 4;
    /// Signed 64-bit integer.
    I64 = 27, "i64", 1 => 8;
    /// IEEE 754 double precision.
    F64 = 28, "f64", 1 => 8;
    /// 1.75 bits, codebook.
    Iq1M = 29, "iq1_m", 256 => 56;
    /// The upper half of single precision.
    BF16 = 30, "bf16", 1 => 2;
    /// Ternary, 1.69 bits.
    Tq1_0 = 34, "tq1_0", 256 => 54;
    /// Ternary, 2.06 bits.
    Tq2_0 = 35, "tq2_0", 256 => 66;
    /// OCP micro-scaling 4-bit floats, a power-of-two scale for each 32 values.
    Mxfp4 = 39, "mxfp4", 32 => 17;
    /// NVIDIA 4-bit floats, an E4M3 scale for each 16 values.
    Nvfp4 = 40, "nvfp4", 64 => 36;
    /// 1 bit with a scale for each 128 values.
    Q1_0 = 41, "q1_0", 128 => 18;
    /// 2 bits with a scale for each 64 values.
    Q2_0 = 42, "q2_0", 64 => 18;
}

/// A row of the table: how elements are named and packed.
struct Layout {
    name: &'static str,
    block_len: usize,
    block_bytes: usize,
}

impl DType {
    /// ggml's name: `f32`, `bf16`, `q8_0`, `q4_K`.
    pub const fn name(self) -> &'static str {
        self.layout().name
    }

    /// The type of that name; case does not matter.
    pub fn from_name(name: &str) -> Option<DType> {
        DType::ALL.iter().copied().find(|dtype| dtype.name().eq_ignore_ascii_case(name))
    }

    /// ggml's number of the type.
    pub const fn raw(self) -> u32 {
        self as u32
    }

    /// The type of that number; `None` for numbers that ggml never gave or took back.
    pub fn from_raw(raw: u32) -> Option<DType> {
        DType::ALL.iter().copied().find(|dtype| dtype.raw() == raw)
    }

    /// Elements a block holds; 1 for the plain types.
    pub const fn block_len(self) -> usize {
        self.layout().block_len
    }

    /// Bytes a block takes.
    pub const fn block_bytes(self) -> usize {
        self.layout().block_bytes
    }

    /// Whether elements are packed in blocks that share scales.
    pub const fn is_quantized(self) -> bool {
        self.block_len() > 1
    }

    /// Bytes of a row of `n` elements; `None` when `n` is no whole number of blocks or the size overflows.
    pub const fn row_bytes(self, n: u64) -> Option<u64> {
        if !n.is_multiple_of(self.block_len() as u64) {
            return None;
        }
        (n / self.block_len() as u64).checked_mul(self.block_bytes() as u64)
    }

    /// What addresses of elements, or blocks, are multiples of.
    pub(crate) const fn alignment(self) -> usize {
        // A struct's size is a multiple of its alignment, and blocks hold nothing wider than f32.
        let widest = if self.is_quantized() { 4 } else { 8 };
        let divisor = 1 << self.block_bytes().trailing_zeros();
        if divisor < widest { divisor } else { widest }
    }

    /// Whether [`dequantize`](crate::dequantize) turns it into `f32`: the floating-point types but `f64`, and every
    /// block type but the two that only serve as operands inside a product.
    pub const fn can_dequantize(self) -> bool {
        !matches!(self, DType::I8 | DType::I16 | DType::I32 | DType::I64 | DType::F64 | DType::Q8_1 | DType::Q8K)
    }

    /// Whether [`quantize`](crate::quantize) makes it from `f32`. `iq2_xxs`, `iq2_xs` and `iq1_s` need statistics of
    /// the activations, which nothing here has.
    pub const fn can_quantize(self) -> bool {
        self.can_dequantize() && !matches!(self, DType::Iq2Xxs | DType::Iq2Xs | DType::Iq1S)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_lead_back_to_the_type() {
        for &dtype in DType::ALL {
            assert_eq!(DType::from_name(dtype.name()), Some(dtype));
            assert_eq!(DType::from_name(&dtype.name().to_uppercase()), Some(dtype));
            assert_eq!(DType::from_raw(dtype.raw()), Some(dtype));
        }
        assert_eq!(DType::from_name("q9_9"), None);
        for removed in [4, 5, 31, 32, 33, 36, 37, 38, 43, u32::MAX] {
            assert_eq!(DType::from_raw(removed), None, "{removed}");
        }
    }

    #[test]
    fn a_row_is_a_whole_number_of_blocks() {
        assert_eq!(DType::F16.row_bytes(7), Some(14));
        assert_eq!(DType::Q8_0.row_bytes(64), Some(68));
        assert_eq!(DType::Q8_0.row_bytes(48), None);
        assert_eq!(DType::Q4K.row_bytes(0), Some(0));
        assert_eq!(DType::F32.row_bytes(u64::MAX), None);
        assert_eq!(DType::Q4K.row_bytes(u64::MAX - 255), Some((u64::MAX - 255) / 256 * 144));
    }
}
