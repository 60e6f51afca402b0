//! From a graph to ggml operations: the one place that turns PyTorch's order of dimensions into ggml's.
//!
//! A shape `[N, C, H, W]` becomes `ne = [W, H, C, N]`. Only operations whose result depends on their operands alone are
//! emitted — not on the number of threads, and not on other nodes of the graph. ggml's CPU `CONV_2D`, whose batching
//! follows the graph's work buffer, and split-KV flash attention are therefore never used.

mod conv;
mod image;

use crate::ggml::{self, DType, GraphScope, Interpolation, Tensor, TensorId};
use crate::graph::{BinaryOp, Graph, Kind, Op, Origin, UnaryOp, ValueId};
use crate::residency::{ParamId, Shape};

/// A graph in ggml's terms, and which of its tensors are inputs, parameters and outputs.
pub(crate) struct Lowered {
    pub(crate) graph: ggml::Graph,
    /// In the order of the graph's inputs.
    pub(crate) inputs: Vec<TensorId>,
    /// Each parameter and its leaf.
    pub(crate) params: Vec<(ParamId, TensorId)>,
    /// In the order of the graph's outputs.
    pub(crate) outputs: Vec<TensorId>,
}

/// Lowers a whole graph.
pub(crate) fn lower(graph: &Graph) -> Result<Lowered, ggml::Error> {
    let (lowered, places) = ggml::Graph::build(|scope| {
        let mut tensors: Vec<Tensor<'_>> = Vec::with_capacity(graph.values.len());
        let mut places = Places::default();
        for value in &graph.values {
            let tensor = match &value.origin {
                Origin::Input => {
                    let tensor = scope.new_input(DType::F32, ne(value.kind.shape))?;
                    places.inputs.push(tensor.id());
                    tensor
                }
                Origin::Param(id) => {
                    let tensor = scope.new_external(value.kind.dtype, matrix_ne(value.kind.shape))?;
                    places.params.push((*id, tensor.id()));
                    tensor
                }
                Origin::Op(op, operands) => {
                    let tensor = lower_op(scope, graph, op, operands, value.kind, &tensors)?;
                    // In the graph's order, whatever the order in which later operations read.
                    scope.expand(tensor);
                    tensor
                }
            };
            tensors.push(tensor);
        }
        for (_, id) in &graph.outputs {
            let output = tensors[id.index()].cont()?;
            output.set_output();
            scope.expand(output);
            places.outputs.push(output.id());
        }
        Ok(places)
    })?;
    Ok(Lowered { graph: lowered, inputs: places.inputs, params: places.params, outputs: places.outputs })
}

#[derive(Default)]
struct Places {
    inputs: Vec<TensorId>,
    params: Vec<(ParamId, TensorId)>,
    outputs: Vec<TensorId>,
}

fn lower_op<'s>(
    scope: &GraphScope<'s>,
    graph: &Graph,
    op: &Op,
    operands: &[ValueId],
    result: Kind,
    tensors: &[Tensor<'s>],
) -> Result<Tensor<'s>, ggml::OpError> {
    let operand = |i: usize| tensors[operands[i].index()];
    let shape = |i: usize| graph.value(operands[i]).kind.shape;
    let x = operand(0);
    match op {
        Op::Binary(BinaryOp::Add) => x.add(operand(1)),
        Op::Binary(BinaryOp::Sub) => x.sub(operand(1)),
        Op::Binary(BinaryOp::Mul) => x.mul(operand(1)),
        Op::Unary(UnaryOp::Relu) => x.relu(),
        Op::Unary(UnaryOp::LeakyRelu { slope }) => x.leaky_relu(slope.0),
        Op::Unary(UnaryOp::Silu) => x.silu(),
        Op::Unary(UnaryOp::Sigmoid) => x.sigmoid(),
        Op::Unary(UnaryOp::Mish) => mish(x),
        Op::Scale { factor } => x.scale(factor.0),
        Op::Shift { term } => x.scale_bias(1.0, term.0),
        Op::NormChannels { epsilon } => {
            // The channels of a pixel become a row, and go back.
            let rows = x.permute([1, 2, 0, 3])?.cont()?.norm(epsilon.0)?;
            rows.mul(operand(1))?.add(operand(2))?.permute([2, 0, 1, 3])?.cont()
        }
        Op::Prelu => {
            // max(x, 0) + slope · (x − max(x, 0))
            let positive = x.relu()?;
            let slope = per_channel(operand(1))?;
            x.sub(positive)?.mul(slope)?.add(positive)
        }
        Op::Conv2d(conv) => {
            let bias = if operands.len() > 2 { Some(per_channel(operand(2))?) } else { None };
            conv::conv2d(scope, conv, x, operand(1), shape(1), bias, result.shape)
        }
        Op::Concat { dim } => {
            let parts: Vec<Tensor<'s>> = (0..operands.len()).map(operand).collect();
            image::concat(scope, &parts, ne_dim(result.shape, *dim))
        }
        Op::Slice { dim, start, len } => image::slice(x, ne_dim(result.shape, *dim), *start, *len),
        Op::UpsampleNearest { factor } => x.upscale_nearest(*factor as i64),
        Op::InterpolateBicubic { height, width } => {
            x.interpolate([*width as i64, *height as i64], Interpolation::Bicubic)
        }
        Op::PixelShuffle { factor } => image::pixel_shuffle(x, *factor as i64, ne(result.shape)),
        Op::PixelUnshuffle { factor } => image::pixel_unshuffle(x, *factor as i64, ne(result.shape)),
    }
}

/// With `s = sigmoid(x)` and `q = sigmoid(−x)`, `tanh(ln(1 + exp(x)))` is `(1 − q²) / (1 + q²)`, and `1 − q²` is `s · (1 + q)`:
/// nothing overflows and nothing cancels.
fn mish(x: Tensor<'_>) -> Result<Tensor<'_>, ggml::OpError> {
    let q = x.neg()?.sigmoid()?;
    let numerator = x.sigmoid()?.mul(q.scale_bias(1.0, 1.0)?)?;
    let denominator = q.sqr()?.scale_bias(1.0, 1.0)?;
    x.mul(numerator.div(denominator)?)
}

/// A shape in ggml's order; dimensions beyond the fourth are folded into the outermost.
///
/// Lengths fit, as a graph has no value of more than 2⁵⁶ elements.
fn ne(shape: Shape) -> [i64; 4] {
    let mut ne = [1; 4];
    for (i, &dim) in shape.dims().iter().rev().enumerate() {
        ne[i.min(3)] *= dim as i64;
    }
    ne
}

/// A parameter's shape in ggml's order, as the matrix it is stored as.
fn matrix_ne(shape: Shape) -> [i64; 4] {
    let [rows, row_len] = shape.as_matrix().unwrap_or_default();
    [row_len as i64, rows as i64, 1, 1]
}

/// ggml's number of a shape's dimension.
fn ne_dim(shape: Shape, dim: usize) -> usize {
    shape.rank() - 1 - dim
}

/// A vector `[C]` so that it repeats along a value `[N, C, H, W]`.
fn per_channel(vector: Tensor<'_>) -> Result<Tensor<'_>, ggml::OpError> {
    let n_channels = vector.ne()[0];
    vector.reshape([1, 1, n_channels, 1])
}
