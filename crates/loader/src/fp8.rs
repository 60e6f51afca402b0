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
