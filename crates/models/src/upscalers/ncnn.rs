//! Recognises the published nets in ncnn models.
//!
//! An ncnn model has no named modules: its `.param` file wires layers of arbitrary names. The wiring is followed from the
//! output back to the input, and each layer must be, with all its coefficients, what the architecture has in that place;
//! its weights then get the canonical names. Whatever else a file holds is refused, with the layer and its line.
//!
//! Parameters are numbered per kind of layer, as ncnn's documentation of its operators lists them.

use std::collections::{BTreeMap, BTreeSet};

use super::names::{Names, Net};
use super::{rrdbnet, srvgg};
use crate::Fault;
use crate::engine::loader::{Catalogue, NcnnLayer, NcnnNet, NcnnValue};

/// What the wiring of an SRVGGNetCompact says of its factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SrvggTail {
    /// The factor of the pixel shuffle.
    pub(super) shuffle: u64,
    /// The factor of the whole net.
    pub(super) scale: u64,
}

/// Which net a model is; the error is the architecture it resembles and the first layer that does not fit.
pub(super) fn read(net: &NcnnNet, catalogue: &Catalogue) -> Result<(Net, Names), (&'static str, Fault)> {
    // Only the compact nets have slopes and end in a shuffle.
    let is_srvgg = net.layers.iter().any(|layer| matches!(layer.kind.as_str(), "PReLU" | "PixelShuffle"));
    let architecture = if is_srvgg { srvgg::ARCHITECTURE } else { rrdbnet::ARCHITECTURE };
    let walk = || {
        let (mut wiring, result) = Wiring::of(net, catalogue)?;
        let found = if is_srvgg {
            Net::Srvgg(Some(wiring.srvgg(result)?))
        } else {
            wiring.rrdbnet(result)?;
            Net::Rrdbnet
        };
        Ok((found, Names::given(architecture, wiring.names)))
    };
    walk().map_err(|fault| (architecture, fault))
}

/// The convolutions of a dense block.
type DenseConvs<'n> = [&'n NcnnLayer; rrdbnet::N_DENSE_CONVS];

/// The layers by what they make.
struct Wiring<'n> {
    makers: BTreeMap<&'n str, &'n NcnnLayer>,
    /// The canonical names of the net's tensors.
    names: BTreeMap<String, String>,
}

impl<'n> Wiring<'n> {
    /// The wiring, and the layer that makes the result.
    fn of(net: &'n NcnnNet, catalogue: &Catalogue) -> Result<(Self, &'n NcnnLayer), Fault> {
        let blobs = || net.layers.iter().flat_map(|layer| layer.outputs.iter().map(move |blob| (blob.as_str(), layer)));
        // What the walk never meets keeps its name, under which it is found to be out of place.
        let names = catalogue.names().map(|name| (name.to_owned(), name.to_owned())).collect();
        let wiring = Self { makers: blobs().collect(), names };
        let read: BTreeSet<&str> = net.layers.iter().flat_map(|layer| &layer.inputs).map(String::as_str).collect();
        let mut results = blobs().filter(|(blob, _)| !read.contains(blob));
        match (results.next().and_then(|(blob, _)| wiring.maker(blob)), results.next()) {
            (Some(result), None) => Ok((wiring, result)),
            (_, Some((_, second))) => Err(misplaced(second, "a single result")),
            (None, None) => Err(Fault::Unsupported { what: "it has no result".into() }),
        }
    }

    /// Walks an RRDBNet back from its result and names its tensors.
    fn rrdbnet(&mut self, conv_last: &'n NcnnLayer) -> Result<(), Fault> {
        let conv_hr = self.conv(conv_last, Activation::None)?;
        let mut h = self.conv(conv_hr, Activation::LeakyRelu)?;
        let mut conv_ups = Vec::new();
        while h.kind == "Convolution" {
            conv_ups.push(h);
            let resize = self.conv(h, Activation::LeakyRelu)?;
            h = self.resized(resize, Interpolation::Nearest, 2.0)?;
        }
        let [a, b] = self.sum(h)?;
        let reads_image = |layer| self.inputs(layer).is_some_and(|inputs| inputs.iter().any(|i| i.kind == "Input"));
        let (conv_first, conv_body) = if reads_image(a) { (a, b) } else { (b, a) };
        image(self.conv(conv_first, Activation::None)?)?;
        let mut h = self.conv(conv_body, Activation::None)?;
        let mut blocks = Vec::new();
        while !std::ptr::eq(h, conv_first) {
            let (block, input) = self.residual_in_residual(h)?;
            blocks.push(block);
            h = input;
        }

        for (i, dense) in blocks.iter().rev().enumerate() {
            for (r, convs) in dense.iter().enumerate() {
                for (k, conv) in convs.iter().enumerate() {
                    self.name_conv(conv, &format!("body.{i}.rdb{}.conv{}", r + 1, k + 1));
                }
            }
        }
        for (k, conv) in conv_ups.iter().rev().enumerate() {
            self.name_conv(conv, &format!("conv_up{}", k + 1));
        }
        self.name_conv(conv_first, "conv_first");
        self.name_conv(conv_body, "conv_body");
        self.name_conv(conv_hr, "conv_hr");
        self.name_conv(conv_last, "conv_last");
        Ok(())
    }

    /// The dense blocks of a residual-in-residual block with the result `end`, and the block's input.
    fn residual_in_residual(
        &self,
        end: &'n NcnnLayer,
    ) -> Result<([DenseConvs<'n>; rrdbnet::N_DENSE_BLOCKS], &'n NcnnLayer), Fault> {
        let [mut h, input] = self.scaled_sum(end)?;
        let mut dense = [[end; rrdbnet::N_DENSE_CONVS]; rrdbnet::N_DENSE_BLOCKS];
        for convs in dense.iter_mut().rev() {
            let [conv5, dense_input] = self.scaled_sum(h)?;
            *convs = self.dense_block(conv5, dense_input)?;
            h = dense_input;
        }
        if std::ptr::eq(h, input) {
            Ok((dense, input))
        } else {
            Err(misplaced(end, "its block's result plus its input"))
        }
    }

    /// The convolutions of the dense block that reads `input` and ends in `conv5`.
    fn dense_block(&self, conv5: &'n NcnnLayer, input: &'n NcnnLayer) -> Result<DenseConvs<'n>, Fault> {
        let features = self.joined(self.conv(conv5, Activation::None)?)?;
        let &[x, conv1, conv2, conv3, conv4] = features.as_slice() else {
            return Err(misplaced(conv5, "a convolution of a dense block's input and its four results"));
        };
        let mut seen = vec![input];
        for (part, conv) in [x, conv1, conv2, conv3].into_iter().zip([conv1, conv2, conv3, conv4]) {
            let read = self.joined(self.conv(conv, Activation::LeakyRelu)?)?;
            if !std::ptr::eq(part, seen[seen.len() - 1]) || !same_layers(&read, &seen) {
                return Err(misplaced(conv, "a convolution of its dense block's input and all results so far"));
            }
            seen.push(conv);
        }
        Ok([conv1, conv2, conv3, conv4, conv5])
    }

    /// Walks an SRVGGNetCompact back from its result and names its tensors.
    fn srvgg(&mut self, result: &'n NcnnLayer) -> Result<SrvggTail, Fault> {
        let reduction = (result.kind == "Interp").then(|| factor(result));
        let sum = match reduction {
            Some(factor) => self.resized(result, Interpolation::Bicubic, factor)?,
            None => result,
        };
        let [a, b] = self.sum(sum)?;
        let (shuffled, repeated) = if a.kind == "PixelShuffle" { (a, b) } else { (b, a) };
        let params = [(0, Param::Any), (1, Param::OrAbsent(0.0))];
        let [last] = self.inputs_of(shuffled, "PixelShuffle", &params, "a pixel shuffle")?;
        let shuffle = factor(shuffled);
        let scale = shuffle * reduction.unwrap_or(1.0);
        if [shuffle, scale].iter().any(|factor| factor.fract() != 0.0 || *factor < 1.0) {
            return Err(misplaced(result, "a resize to a whole factor"));
        }
        image(self.resized(repeated, Interpolation::Nearest, shuffle)?)?;

        let mut h = self.conv(last, Activation::None)?;
        let mut pairs = Vec::new();
        while h.kind != "Input" {
            let [conv] = self.inputs_of(h, "PReLU", &[(0, Param::Any)], "a PReLU")?;
            pairs.push((conv, h));
            h = self.conv(conv, Activation::None)?;
        }
        for (i, (conv, prelu)) in pairs.iter().rev().enumerate() {
            self.name_conv(conv, &format!("body.{}", 2 * i));
            self.names.insert(format!("{}.slope", prelu.name), format!("body.{}.weight", 2 * i + 1));
        }
        self.name_conv(last, &format!("body.{}", 2 * pairs.len()));
        Ok(SrvggTail { shuffle: shuffle as u64, scale: scale as u64 })
    }

    fn name_conv(&mut self, conv: &NcnnLayer, canonical: &str) {
        for leaf in ["weight", "bias"] {
            self.names.insert(format!("{}.{leaf}", conv.name), format!("{canonical}.{leaf}"));
        }
    }

    /// What a 3×3 convolution with bias, stride 1 and as much padding as keeps the size reads.
    fn conv(&self, layer: &NcnnLayer, activation: Activation) -> Result<&'n NcnnLayer, Fault> {
        // 0 and 6 are the numbers of channels and weights, 1 and 11 the kernel's sides, 2 and 12 dilations, 3 and 13
        // strides, 4 and 14 to 16 paddings, 5 whether there is a bias, 8 whether weights are 8-bit, 9 and 10 the
        // activation, 18 the padding's value, 19 whether weights are an input.
        let plain = [
            (0, Param::Any),
            (1, Param::Is(3.0)),
            (2, Param::OrAbsent(1.0)),
            (3, Param::OrAbsent(1.0)),
            (4, Param::Is(1.0)),
            (5, Param::Is(1.0)),
            (6, Param::Any),
            (8, Param::OrAbsent(0.0)),
            (11, Param::OrAbsent(3.0)),
            (12, Param::OrAbsent(1.0)),
            (13, Param::OrAbsent(1.0)),
            (14, Param::OrAbsent(1.0)),
            (15, Param::OrAbsent(1.0)),
            (16, Param::OrAbsent(1.0)),
            (18, Param::OrAbsent(0.0)),
            (19, Param::OrAbsent(0.0)),
        ];
        let (activation, expected): (&[_], _) = match activation {
            Activation::None => (&[(9, Param::OrAbsent(0.0))], "a plain 3x3 convolution"),
            Activation::LeakyRelu => (
                &[(9, Param::Is(LEAKY_RELU)), (10, Param::Array(&[rrdbnet::SLOPE]))],
                "a 3x3 convolution with a leaky ReLU of slope 0.2",
            ),
        };
        let params: Vec<_> = plain.iter().chain(activation).copied().collect();
        let [input] = self.inputs_of(layer, "Convolution", &params, expected)?;
        Ok(input)
    }

    /// What a resize by `factor` of both sides reads.
    fn resized(&self, layer: &NcnnLayer, by: Interpolation, factor: f32) -> Result<&'n NcnnLayer, Fault> {
        let (mode, expected) = match by {
            Interpolation::Nearest => (1.0, format!("a nearest resize by {factor}")),
            Interpolation::Bicubic => (3.0, format!("a bicubic resize by {factor}")),
        };
        // 3 and 4 are a fixed size, 5 whether the size comes as an input, 6 whether corners are aligned.
        let params = [
            (0, Param::Is(mode)),
            (1, Param::Is(factor)),
            (2, Param::Is(factor)),
            (3, Param::OrAbsent(0.0)),
            (4, Param::OrAbsent(0.0)),
            (5, Param::OrAbsent(0.0)),
            (6, Param::OrAbsent(0.0)),
        ];
        let [input] = self.inputs_of(layer, "Interp", &params, &expected)?;
        Ok(input)
    }

    /// The two layers whose results are added.
    fn sum(&self, layer: &NcnnLayer) -> Result<[&'n NcnnLayer; 2], Fault> {
        self.inputs_of(layer, "BinaryOp", &[(0, Param::OrAbsent(0.0)), (1, Param::OrAbsent(0.0))], "a sum")
    }

    /// The two layers of which 0.2 times the first and the second are added.
    fn scaled_sum(&self, layer: &NcnnLayer) -> Result<[&'n NcnnLayer; 2], Fault> {
        let params = [(0, Param::Is(1.0)), (1, Param::Array(&[rrdbnet::RESIDUAL_SCALE, 1.0]))];
        self.inputs_of(layer, "Eltwise", &params, "0.2 times a result plus another")
    }

    /// The layers whose results are joined along the channels; a layer that is no concatenation stands for itself.
    fn joined(&self, layer: &'n NcnnLayer) -> Result<Vec<&'n NcnnLayer>, Fault> {
        if layer.kind != "Concat" {
            return Ok(vec![layer]);
        }
        let expected = "a concatenation of channels";
        check(layer, "Concat", &[(0, Param::OrAbsent(0.0))], expected)?;
        self.inputs(layer).ok_or_else(|| misplaced(layer, expected))
    }

    /// Checks a layer and returns the layers that it reads.
    fn inputs_of<const N: usize>(
        &self,
        layer: &NcnnLayer,
        kind: &str,
        params: &[(i32, Param)],
        expected: &str,
    ) -> Result<[&'n NcnnLayer; N], Fault> {
        check(layer, kind, params, expected)?;
        let inputs = self.inputs(layer).and_then(|inputs| inputs.try_into().ok());
        inputs.ok_or_else(|| misplaced(layer, expected))
    }

    fn inputs(&self, layer: &NcnnLayer) -> Option<Vec<&'n NcnnLayer>> {
        layer.inputs.iter().map(|blob| self.maker(blob)).collect()
    }

    /// The layer that makes a blob; a `Split` only hands on.
    fn maker(&self, blob: &str) -> Option<&'n NcnnLayer> {
        let mut maker = *self.makers.get(blob)?;
        while maker.kind == "Split" {
            maker = self.makers.get(maker.inputs.first()?.as_str())?;
        }
        Some(maker)
    }
}

/// `Convolution` parameter 9 for a leaky ReLU.
const LEAKY_RELU: f32 = 2.0;

/// What is computed on a convolution's result.
#[derive(Clone, Copy)]
enum Activation {
    None,
    LeakyRelu,
}

#[derive(Clone, Copy)]
enum Interpolation {
    Nearest,
    Bicubic,
}

/// What a layer's parameter must be.
#[derive(Clone, Copy)]
enum Param {
    /// Anything: the weights' shapes are compared later.
    Any,
    /// This number.
    Is(f32),
    /// This number, which is also what ncnn takes where the parameter is absent.
    OrAbsent(f32),
    /// These numbers.
    Array(&'static [f32]),
}

impl Param {
    fn accepts(self, value: Option<&NcnnValue>) -> bool {
        match (self, value) {
            (Self::Any, _) | (Self::OrAbsent(_), None) => true,
            (Self::Is(expected) | Self::OrAbsent(expected), Some(value)) => value.as_float() == Some(expected),
            (Self::Array(expected), Some(value)) => value.as_floats().as_deref() == Some(expected),
            (Self::Is(_) | Self::Array(_), None) => false,
        }
    }
}

/// Checks kind and parameters of a layer; a parameter that is not listed is one too many.
fn check(layer: &NcnnLayer, kind: &str, params: &[(i32, Param)], expected: &str) -> Result<(), Fault> {
    let is_listed = |id: &i32| params.iter().any(|(listed, _)| listed == id);
    let fits = layer.kind == kind
        && params.iter().all(|(id, param)| param.accepts(layer.params.get(id)))
        && layer.params.keys().all(is_listed);
    if fits { Ok(()) } else { Err(misplaced(layer, expected)) }
}

/// Checks that a layer is the image.
fn image(layer: &NcnnLayer) -> Result<(), Fault> {
    if layer.kind == "Input" { Ok(()) } else { Err(misplaced(layer, "the input image")) }
}

/// The factor that a layer claims to resize by: parameter 0 of a shuffle, parameter 1 of an interpolation.
fn factor(layer: &NcnnLayer) -> f32 {
    let id = if layer.kind == "PixelShuffle" { 0 } else { 1 };
    layer.params.get(&id).and_then(NcnnValue::as_float).unwrap_or(0.0)
}

fn same_layers(a: &[&NcnnLayer], b: &[&NcnnLayer]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| std::ptr::eq(*a, *b))
}

fn misplaced(layer: &NcnnLayer, expected: &str) -> Fault {
    let params = layer.params.iter().map(|(id, value)| match value {
        NcnnValue::Int(value) => format!(" {id}={value}"),
        NcnnValue::Float(value) => format!(" {id}={value}"),
        NcnnValue::Ints(values) => format!(" {id}={values:?}"),
        NcnnValue::Floats(values) => format!(" {id}={values:?}"),
    });
    Fault::Layer {
        layer: layer.name.clone(),
        line: layer.line,
        found: format!("{}{}", layer.kind, params.collect::<String>()),
        expected: expected.to_owned(),
    }
}
