//! The values of all codes of the 8-bit floats.
//!
//! E4M3 and E5M2: "OCP 8-bit Floating Point Specification (OFP8)", revision 1.0. E8M0: "OCP Microscaling Formats",
//! revision 1.0. FNUZ ("finite, no unsigned zero"): Noune et al., "8-bit Numerical Formats for Deep Neural Networks".

/// OCP E4M3: no infinities, NaN where exponent and mantissa are all ones.
pub(crate) static E4M3: [f32; 256] = table(4, 7, Specials::NanOnly);
/// OCP E5M2: infinities and NaN as in IEEE 754.
pub(crate) static E5M2: [f32; 256] = table(5, 15, Specials::Ieee);
/// E4M3 with bias 8 and its only NaN at the code of negative zero.
pub(crate) static E4M3_FNUZ: [f32; 256] = table(4, 8, Specials::Fnuz);
/// E5M2 with bias 16 and its only NaN at the code of negative zero.
pub(crate) static E5M2_FNUZ: [f32; 256] = table(5, 16, Specials::Fnuz);
/// Powers of two from 2^-127 on; the last code is NaN.
pub(crate) static E8M0: [f32; 256] = powers_of_two();

/// How a format marks what is no finite number.
#[derive(Clone, Copy)]
enum Specials {
    Ieee,
    NanOnly,
    Fnuz,
}

const fn table(exponent_bits: u32, bias: i32, specials: Specials) -> [f32; 256] {
    let mut values = [0.0; 256];
    let mut code = 0;
    while code < 256 {
        values[code] = decode(code as u32, exponent_bits, bias, specials);
        code += 1;
    }
    values
}

const fn decode(code: u32, exponent_bits: u32, bias: i32, specials: Specials) -> f32 {
    let mantissa_bits = 7 - exponent_bits;
    let exponent_mask = (1 << exponent_bits) - 1;
    let mantissa_mask = (1 << mantissa_bits) - 1;
    let is_negative = code >> 7 == 1;
    let exponent = code >> mantissa_bits & exponent_mask;
    let mantissa = code & mantissa_mask;
    let magnitude = match specials {
        Specials::Ieee if exponent == exponent_mask && mantissa == 0 => f32::INFINITY,
        Specials::Ieee if exponent == exponent_mask => return f32::NAN,
        Specials::NanOnly if exponent == exponent_mask && mantissa == mantissa_mask => return f32::NAN,
        Specials::Fnuz if code == 0x80 => return f32::NAN,
        // Subnormal: the smallest exponent without the leading one.
        _ if exponent == 0 => mantissa as f32 * power_of_two(1 - bias - mantissa_bits as i32),
        _ => (mantissa | 1 << mantissa_bits) as f32 * power_of_two(exponent as i32 - bias - mantissa_bits as i32),
    };
    if is_negative { -magnitude } else { magnitude }
}

/// 2^exponent, for exponents of normal numbers.
const fn power_of_two(exponent: i32) -> f32 {
    f32::from_bits(((exponent + 127) as u32) << 23)
}

const fn powers_of_two() -> [f32; 256] {
    let mut values = [f32::NAN; 256];
    // 2^-127 is subnormal: half of the smallest normal number.
    values[0] = f32::MIN_POSITIVE / 2.0;
    let mut code = 1;
    while code < 255 {
        values[code] = power_of_two(code as i32 - 127);
        code += 1;
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_same(values: &[f32; 256], expected: impl Fn(u8) -> f32) {
        for code in 0..=255 {
            let (value, expected) = (values[usize::from(code)], expected(code));
            let is_same = value.to_bits() == expected.to_bits() || (value.is_nan() && expected.is_nan());
            assert!(is_same, "{code:#04x}: {value} instead of {expected}");
        }
    }

    /// The formulas of the specifications in `f64`, which holds every intermediate value.
    fn formula(code: u8, mantissa_bits: i32, bias: i32) -> f32 {
        let sign = if code & 0x80 == 0 { 1.0 } else { -1.0 };
        let exponent = i32::from(code & 0x7f) >> mantissa_bits;
        let fraction = f64::from(i32::from(code) & ((1 << mantissa_bits) - 1)) / f64::from(1 << mantissa_bits);
        let magnitude =
            if exponent == 0 { fraction * 2f64.powi(1 - bias) } else { (1.0 + fraction) * 2f64.powi(exponent - bias) };
        (sign * magnitude) as f32
    }

    #[test]
    fn ocp_formats_agree_with_another_implementation() {
        assert_same(&E4M3, |code| float8::F8E4M3::from_bits(code).to_f32());
        assert_same(&E5M2, |code| float8::F8E5M2::from_bits(code).to_f32());
    }

    #[test]
    fn every_code_follows_its_formula() {
        assert_same(&E4M3, |code| if code & 0x7f == 0x7f { f32::NAN } else { formula(code, 3, 7) });
        assert_same(&E5M2, |code| match code & 0x7f {
            0x7c => f32::INFINITY.copysign(formula(code & 0x80 | 1, 2, 15)),
            0x7d.. => f32::NAN,
            _ => formula(code, 2, 15),
        });
        assert_same(&E4M3_FNUZ, |code| if code == 0x80 { f32::NAN } else { formula(code, 3, 8) });
        assert_same(&E5M2_FNUZ, |code| if code == 0x80 { f32::NAN } else { formula(code, 2, 16) });
        assert_same(&E8M0, |code| if code == 0xff { f32::NAN } else { 2f64.powi(i32::from(code) - 127) as f32 });
    }

    #[test]
    fn the_largest_values_are_those_of_the_specifications() {
        assert_eq!(E4M3[0x7e], 448.0);
        assert_eq!(E5M2[0x7b], 57344.0);
        assert_eq!(E4M3_FNUZ[0x7f], 240.0);
        assert_eq!(E5M2_FNUZ[0x7f], 57344.0);
    }
}
