//! Building a graph so that a forward pass reads like mathematics.
//!
//! A [`Value`] is a handle into its builder: `first + block(x) * 0.2` adds nodes. An operation given impossible operands
//! *poisons* the builder: the first error is kept with the caller's file and line, every later operation yields the same
//! dead value, and [`GraphBuilder::finish`] returns the error. Forwards therefore need no error handling of their own.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Display;
use std::ops;
use std::panic::Location;

use super::infer::infer;
use super::{BinaryOp, Conv2d, Cut, Graph, GraphError, Kind, Op, Origin, Scalar, UnaryOp, ValueId, ValueInfo};
use crate::residency::{Param, ParamId};
use crate::{DType, Shape};

/// A graph under construction.
#[derive(Default)]
pub struct GraphBuilder {
    state: RefCell<State>,
}

/// A value of a graph under construction.
#[derive(Clone, Copy)]
pub struct Value<'g> {
    builder: &'g GraphBuilder,
    id: ValueId,
}

impl GraphBuilder {
    /// An empty graph.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A value that each run supplies under `name`, in f32.
    #[track_caller]
    pub fn input(&self, name: &str, shape: impl Into<Shape>) -> Value<'_> {
        let location = Location::caller();
        let kind = Kind { shape: shape.into(), dtype: DType::F32 };
        let mut state = self.state.borrow_mut();
        if state.graph.inputs.iter().any(|(other, _)| other == name) {
            state.poison(GraphError::DuplicateName { what: "input", name: name.into(), location });
        } else if let Err(reason) = check_size(kind) {
            state.poison(GraphError::Operands {
                op: format!("input '{name}'"),
                operands: vec![kind],
                reason,
                location,
            });
        }
        let id = state.push(kind, Origin::Input);
        state.graph.inputs.push((name.into(), id));
        Value { builder: self, id }
    }

    /// A parameter's value; asking again for the same parameter gives the same value.
    #[track_caller]
    pub fn param(&self, param: &Param) -> Value<'_> {
        let location = Location::caller();
        let mut state = self.state.borrow_mut();
        if let Some(&id) = state.params.get(&param.id) {
            return Value { builder: self, id };
        }
        let kind = Kind { shape: param.shape, dtype: param.dtype };
        if let Err(reason) = check_size(kind) {
            state.poison(GraphError::Operands { op: "parameter".into(), operands: vec![kind], reason, location });
        }
        let id = state.push(kind, Origin::Param(param.id));
        state.params.insert(param.id, id);
        Value { builder: self, id }
    }

    /// Marks `value` as a segment border of `group`.
    pub fn cut(&self, group: impl Display, value: Value<'_>) {
        let value = self.own(value);
        self.state.borrow_mut().graph.cuts.push(Cut { group: group.to_string(), value });
    }

    /// Declares `value` as a result of each run, under `name`.
    #[track_caller]
    pub fn output(&self, name: &str, value: Value<'_>) {
        let location = Location::caller();
        let value = self.own(value);
        let mut state = self.state.borrow_mut();
        if state.graph.outputs.iter().any(|(other, _)| other == name) {
            state.poison(GraphError::DuplicateName { what: "output", name: name.into(), location });
        }
        state.graph.outputs.push((name.into(), value));
    }

    /// The finished graph.
    ///
    /// # Errors
    /// The first error of any operation, or [`GraphError::NoOutput`].
    pub fn finish(self) -> Result<Graph, GraphError> {
        let state = self.state.into_inner();
        match state.error {
            Some(error) => Err(error),
            None if state.graph.outputs.is_empty() => Err(GraphError::NoOutput),
            None => Ok(state.graph),
        }
    }

    #[track_caller]
    fn apply(&self, op: Op, operands: &[Value<'_>]) -> Value<'_> {
        let location = Location::caller();
        let ids: Vec<ValueId> = operands.iter().map(|&operand| self.own(operand)).collect();
        let mut state = self.state.borrow_mut();
        if state.error.is_some() {
            return Value { builder: self, id: ids.first().copied().unwrap_or(ValueId(0)) };
        }
        let kinds: Vec<Kind> = ids.iter().map(|&id| state.graph.value(id).kind).collect();
        let inferred = infer(&op, &kinds).and_then(|kind| check_size(kind).map(|()| kind));
        let id = match inferred {
            Ok(kind) => state.push(kind, Origin::Op(op, ids)),
            Err(reason) => {
                state.poison(GraphError::Operands { op: op.to_string(), operands: kinds, reason, location });
                ids.first().copied().unwrap_or(ValueId(0))
            }
        };
        Value { builder: self, id }
    }

    /// The value's place, for a value of this builder.
    ///
    /// # Panics
    /// For a value of another builder, which is a mistake in the forward pass and not of its inputs.
    #[track_caller]
    fn own(&self, value: Value<'_>) -> ValueId {
        assert!(std::ptr::eq(self, value.builder), "a value of one graph was used in another");
        value.id
    }
}

impl<'g> Value<'g> {
    /// The shape, in PyTorch order.
    #[must_use]
    pub fn shape(self) -> Shape {
        self.builder.state.borrow().graph.value(self.id).kind.shape
    }

    /// Convolves `[N, C, H, W]` with `weight [O, C / groups, KH, KW]` and adds `bias [O]`.
    #[track_caller]
    #[must_use]
    pub fn conv2d(self, weight: &Param, bias: Option<&Param>, conv: Conv2d) -> Self {
        let weight = self.builder.param(weight);
        match bias {
            Some(bias) => self.builder.apply(Op::Conv2d(conv), &[self, weight, self.builder.param(bias)]),
            None => self.builder.apply(Op::Conv2d(conv), &[self, weight]),
        }
    }

    /// `max(x, 0)`
    #[track_caller]
    #[must_use]
    pub fn relu(self) -> Self {
        self.unary(UnaryOp::Relu)
    }

    /// `max(x, 0) + slope · min(x, 0)`
    #[track_caller]
    #[must_use]
    pub fn leaky_relu(self, slope: f32) -> Self {
        self.unary(UnaryOp::LeakyRelu { slope: Scalar(slope) })
    }

    /// `x · sigmoid(x)`
    #[track_caller]
    #[must_use]
    pub fn silu(self) -> Self {
        self.unary(UnaryOp::Silu)
    }

    /// `1 / (1 + exp(−x))`
    #[track_caller]
    #[must_use]
    pub fn sigmoid(self) -> Self {
        self.unary(UnaryOp::Sigmoid)
    }

    /// `x · tanh(ln(1 + exp(x)))` ([Misra 2019](https://arxiv.org/abs/1908.08681)).
    #[track_caller]
    #[must_use]
    pub fn mish(self) -> Self {
        self.unary(UnaryOp::Mish)
    }

    /// The channels of each pixel of `[N, C, H, W]` to mean 0 and variance 1, then times `weight [C]` and plus `bias [C]`.
    #[track_caller]
    #[must_use]
    pub fn norm_channels(self, weight: &Param, bias: &Param, epsilon: f32) -> Self {
        let operands = [self, self.builder.param(weight), self.builder.param(bias)];
        self.builder.apply(Op::NormChannels { epsilon: Scalar(epsilon) }, &operands)
    }

    /// `max(x, 0) + slope · min(x, 0)` with one slope a channel, for `[N, C, H, W]` and `[C]`.
    #[track_caller]
    #[must_use]
    pub fn prelu(self, slope: &Param) -> Self {
        self.builder.apply(Op::Prelu, &[self, self.builder.param(slope)])
    }

    /// This value and `others` joined along `dim`, in order.
    #[track_caller]
    #[must_use]
    pub fn concat(self, others: &[Self], dim: usize) -> Self {
        let operands: Vec<Self> = std::iter::once(self).chain(others.iter().copied()).collect();
        self.builder.apply(Op::Concat { dim }, &operands)
    }

    /// Elements `start .. start + len` of dimension `dim`.
    #[track_caller]
    #[must_use]
    pub fn slice(self, dim: usize, start: u64, len: u64) -> Self {
        self.builder.apply(Op::Slice { dim, start, len }, &[self])
    }

    /// `[N, C, H, W]` to `[N, C, H · factor, W · factor]`, each pixel repeated.
    #[track_caller]
    #[must_use]
    pub fn upsample_nearest(self, factor: u64) -> Self {
        self.builder.apply(Op::UpsampleNearest { factor }, &[self])
    }

    /// `[N, C, H, W]` to `[N, C, height, width]`: bicubic with a = −0.75, half-pixel centres, no antialiasing (as
    /// PyTorch's `interpolate(mode="bicubic", align_corners=False)`).
    #[track_caller]
    #[must_use]
    pub fn interpolate_bicubic(self, [height, width]: [u64; 2]) -> Self {
        self.builder.apply(Op::InterpolateBicubic { height, width }, &[self])
    }

    /// `[N, C · r², H, W]` to `[N, C, H · r, W · r]`, as PyTorch's `pixel_shuffle`.
    #[track_caller]
    #[must_use]
    pub fn pixel_shuffle(self, factor: u64) -> Self {
        self.builder.apply(Op::PixelShuffle { factor }, &[self])
    }

    /// `[N, C, H · r, W · r]` to `[N, C · r², H, W]`, as PyTorch's `pixel_unshuffle`.
    #[track_caller]
    #[must_use]
    pub fn pixel_unshuffle(self, factor: u64) -> Self {
        self.builder.apply(Op::PixelUnshuffle { factor }, &[self])
    }

    #[track_caller]
    fn unary(self, op: UnaryOp) -> Self {
        self.builder.apply(Op::Unary(op), &[self])
    }

    #[track_caller]
    fn binary(self, op: BinaryOp, other: Self) -> Self {
        self.builder.apply(Op::Binary(op), &[self, other])
    }
}

impl ops::Add for Value<'_> {
    type Output = Self;

    #[track_caller]
    fn add(self, other: Self) -> Self {
        self.binary(BinaryOp::Add, other)
    }
}

impl ops::Add<f32> for Value<'_> {
    type Output = Self;

    #[track_caller]
    fn add(self, term: f32) -> Self {
        self.builder.apply(Op::Shift { term: Scalar(term) }, &[self])
    }
}

impl ops::Sub for Value<'_> {
    type Output = Self;

    #[track_caller]
    fn sub(self, other: Self) -> Self {
        self.binary(BinaryOp::Sub, other)
    }
}

impl ops::Mul for Value<'_> {
    type Output = Self;

    #[track_caller]
    fn mul(self, other: Self) -> Self {
        self.binary(BinaryOp::Mul, other)
    }
}

impl ops::Mul<f32> for Value<'_> {
    type Output = Self;

    #[track_caller]
    fn mul(self, factor: f32) -> Self {
        self.builder.apply(Op::Scale { factor: Scalar(factor) }, &[self])
    }
}

#[derive(Default)]
struct State {
    graph: Graph,
    params: HashMap<ParamId, ValueId>,
    error: Option<GraphError>,
}

impl State {
    fn push(&mut self, kind: Kind, origin: Origin) -> ValueId {
        // A graph of 2³² values would not fit into memory.
        let id = ValueId(self.graph.values.len() as u32);
        self.graph.values.push(ValueInfo { kind, origin });
        id
    }

    fn poison(&mut self, error: GraphError) {
        self.error.get_or_insert(error);
    }
}

/// Refuses values that no machine could hold, so that later byte counts cannot overflow.
fn check_size(kind: Kind) -> Result<(), String> {
    const MAX_ELEMENTS: u64 = 1 << 56;
    match kind.shape.checked_n_elements() {
        Some(0) => Err(format!("{} has no element", kind.shape)),
        Some(n) if n <= MAX_ELEMENTS => Ok(()),
        _ => Err(format!("{} has too many elements", kind.shape)),
    }
}
