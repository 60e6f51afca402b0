//! Shape inference: what an operation yields for operands of given shapes and types, or why it cannot.

use super::op::Op;
use super::{Conv2d, Kind};
use crate::{DType, Shape};

/// Returns the shape and type that `op` yields; the error says what is wrong with the operands.
pub(super) fn infer(op: &Op, operands: &[Kind]) -> Result<Kind, String> {
    match op {
        Op::Binary(_) => {
            let [a, b] = exactly(operands)?;
            floats(operands)?;
            if a.shape.rank() != b.shape.rank() {
                return Err("both operands must have the same rank".into());
            }
            let repeats = a.shape.dims().iter().zip(b.shape.dims()).all(|(&a, &b)| b == a || b == 1);
            if !repeats {
                return Err("each dimension of the second operand must be 1 or equal to the first's".into());
            }
            Ok(a)
        }
        Op::Unary(_) | Op::Scale { .. } | Op::Shift { .. } => {
            let [x] = exactly(operands)?;
            floats(operands)?;
            Ok(x)
        }
        Op::NormChannels { epsilon } => {
            let [x, weight, bias] = exactly(operands)?;
            floats(operands)?;
            let [_, channels, _, _] = planes(x)?;
            if [weight.shape, bias.shape] != [Shape::from([channels]); 2] {
                return Err(format!("the weight and the bias must have shape [{channels}]"));
            }
            if !(epsilon.0.is_finite() && epsilon.0 >= 0.0) {
                return Err("epsilon must be finite and not negative".into());
            }
            Ok(x)
        }
        Op::Prelu => {
            let [x, slope] = exactly(operands)?;
            floats(operands)?;
            let [_, channels, _, _] = planes(x)?;
            if slope.shape != Shape::from([channels]) {
                return Err(format!("the slope must have shape [{channels}]"));
            }
            Ok(x)
        }
        Op::Conv2d(conv) => infer_conv2d(conv, operands),
        Op::Concat { dim } => infer_concat(*dim, operands),
        Op::Slice { dim, start, len } => {
            let [x] = exactly(operands)?;
            floats(operands)?;
            let full = *x.shape.dims().get(*dim).ok_or("no such dimension")?;
            if *len == 0 || start.checked_add(*len).is_none_or(|end| end > full) {
                return Err(format!("elements {start}..{start}+{len} of a dimension of length {full}"));
            }
            Ok(Kind { shape: x.shape.with_dim(*dim, *len), ..x })
        }
        Op::UpsampleNearest { factor } => {
            let [n, c, h, w] = image(operands)?;
            float([n, c, times(h, *factor)?, times(w, *factor)?])
        }
        Op::InterpolateBicubic { height, width } => {
            let [n, c, _, _] = image(operands)?;
            float([n, c, *height, *width])
        }
        Op::PixelShuffle { factor } => {
            let [n, c, h, w] = image(operands)?;
            let block = times(*factor, *factor)?;
            if block == 0 || c % block != 0 {
                return Err(format!("the channels must be a multiple of {block}"));
            }
            float([n, c / block, times(h, *factor)?, times(w, *factor)?])
        }
        Op::PixelUnshuffle { factor } => {
            let [n, c, h, w] = image(operands)?;
            if *factor == 0 || h % factor != 0 || w % factor != 0 {
                return Err(format!("height and width must be multiples of {factor}"));
            }
            float([n, times(c, times(*factor, *factor)?)?, h / factor, w / factor])
        }
    }
}

fn infer_conv2d(conv: &Conv2d, operands: &[Kind]) -> Result<Kind, String> {
    let (x, weight, bias) = match *operands {
        [x, weight] => (x, weight, None),
        [x, weight, bias] => (x, weight, Some(bias)),
        _ => return Err("takes an input, a weight and perhaps a bias".into()),
    };
    floats(&[x])?;
    let [n, c, h, w] = planes(x)?;
    let [out, per_group, kernel_h, kernel_w] = planes(weight)?;
    if conv.groups == 0 || !c.is_multiple_of(conv.groups) || !out.is_multiple_of(conv.groups) {
        return Err("the groups must divide the input's and the output's channels".into());
    }
    if per_group != c / conv.groups {
        return Err(format!("the weight must have {} input channels a group", c / conv.groups));
    }
    if let Some(bias) = bias {
        floats(&[bias])?;
        if bias.shape != Shape::from([out]) {
            return Err(format!("the bias must have shape [{out}]"));
        }
    }
    let side = |axis, input, kernel| {
        conv.output_len(axis, input, kernel).ok_or_else(|| "the kernel does not fit into the padded input".to_string())
    };
    float([n, out, side(0, h, kernel_h)?, side(1, w, kernel_w)?])
}

fn infer_concat(dim: usize, operands: &[Kind]) -> Result<Kind, String> {
    let (&first, rest) = operands.split_first().ok_or("takes at least one operand")?;
    floats(operands)?;
    let mut len = *first.shape.dims().get(dim).ok_or("no such dimension")?;
    for operand in rest {
        let other = *operand.shape.dims().get(dim).ok_or("no such dimension")?;
        if operand.shape.rank() != first.shape.rank() || operand.shape.with_dim(dim, 1) != first.shape.with_dim(dim, 1)
        {
            return Err(format!("all operands must agree but in dimension {dim}"));
        }
        len = len.checked_add(other).ok_or("the result is too large")?;
    }
    Ok(Kind { shape: first.shape.with_dim(dim, len), ..first })
}

fn exactly<const N: usize>(operands: &[Kind]) -> Result<[Kind; N], String> {
    operands.try_into().map_err(|_| format!("takes {N} operands, not {}", operands.len()))
}

fn image(operands: &[Kind]) -> Result<[u64; 4], String> {
    let [x] = exactly(operands)?;
    floats(operands)?;
    planes(x)
}

fn planes(x: Kind) -> Result<[u64; 4], String> {
    x.shape.to_array().ok_or_else(|| format!("needs four dimensions, not {}", x.shape.rank()))
}

fn floats(operands: &[Kind]) -> Result<(), String> {
    match operands.iter().find(|operand| operand.dtype != DType::F32) {
        None => Ok(()),
        Some(other) => Err(format!("computes in f32, not {}", other.dtype.name())),
    }
}

fn float(dims: [u64; 4]) -> Result<Kind, String> {
    Ok(Kind { shape: Shape::from(dims), dtype: DType::F32 })
}

fn times(a: u64, b: u64) -> Result<u64, String> {
    a.checked_mul(b).ok_or_else(|| "the result is too large".to_string())
}
