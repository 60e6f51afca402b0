//! Where each weight lies in the `.bin` file.
//!
//! Only a convolution's weights carry a tag that tells their type; biases and slopes are plain `f32`. Everything lies
//! in the order of the layers, 16-bit weights padded to 4 bytes.

use std::path::Path;

use super::{NcnnLayer, NcnnNet};
use crate::catalogue::{Catalogue, FileId, TensorInfo};
use crate::file::SourceFile;
use crate::ggml::DType;
use crate::{Error, StoredType};

/// Tag of 16-bit floats; 0 means 32-bit ones.
pub(crate) const TAG_F16: u32 = 0x0130_6b47;
/// Tag of 8-bit integers.
const TAG_INT8: u32 = 0x000d_4b38;
/// Tag of 32-bit floats with an extra scale.
const TAG_F32_SCALED: u32 = 0x0002_c056;

/// Layers without weights. Every other kind but `Convolution` and `PReLU` is refused.
const WEIGHTLESS: &[&str] = &[
    "AbsVal",
    "BinaryOp",
    "Clip",
    "Concat",
    "Crop",
    "DeepCopy",
    "Dropout",
    "ELU",
    "Eltwise",
    "Flatten",
    "GELU",
    "HardSigmoid",
    "HardSwish",
    "Input",
    "Interp",
    "Mish",
    "Noop",
    "Packing",
    "Permute",
    "PixelShuffle",
    "Pooling",
    "ReLU",
    "Reduction",
    "Reorg",
    "Reshape",
    "SELU",
    "Sigmoid",
    "Slice",
    "Softmax",
    "Softplus",
    "Split",
    "Swish",
    "TanH",
    "UnaryOp",
];

/// Walks the layers and lists their weights, in PyTorch's shapes, with their places in `bin`.
pub(crate) fn find_weights(net: &NcnnNet, param: &Path, bin: &SourceFile, id: FileId) -> Result<Catalogue, Error> {
    let mut walk = Walk { param, bin, id, offset: 0, tensors: Catalogue::default() };
    for layer in &net.layers {
        match layer.kind.as_str() {
            "Convolution" => walk.convolution(layer)?,
            "PReLU" => walk.prelu(layer)?,
            kind if WEIGHTLESS.contains(&kind) => {}
            _ => {
                return Err(Error::UnsupportedLayer {
                    path: param.to_owned(),
                    line: layer.line,
                    layer: layer.name.clone(),
                    kind: layer.kind.clone(),
                });
            }
        }
    }
    if walk.offset != bin.bytes() {
        return Err(Error::UnusedBytes {
            path: bin.path().to_owned(),
            offset: walk.offset,
            bytes: bin.bytes() - walk.offset,
        });
    }
    Ok(walk.tensors)
}

/// The place in the `.bin` file that the layers so far lead to.
struct Walk<'a> {
    param: &'a Path,
    bin: &'a SourceFile,
    id: FileId,
    offset: u64,
    tensors: Catalogue,
}

impl Walk<'_> {
    /// Ids: 0 output channels, 1 and 11 kernel width and height, 5 whether there is a bias, 6 number of weights,
    /// 8 whether they are 8-bit integers with scales, 19 whether they come as an input.
    fn convolution(&mut self, layer: &NcnnLayer) -> Result<(), Error> {
        let out_channels = self.size(layer, 0, None)?;
        let kernel_w = self.size(layer, 1, None)?;
        let kernel_h = self.size(layer, 11, Some(kernel_w))?;
        let n_weights = self.size(layer, 6, None)?;
        let has_bias = self.flag(layer, 5)?;
        if self.flag(layer, 8)? {
            return Err(self.unsupported_type(&format!("{}.weight", layer.name), "8-bit integers with scales"));
        }
        if self.flag(layer, 19)? {
            return Err(self.invalid(layer, "weights that are an input (19=1) are not supported".to_owned()));
        }
        // Three numbers below 2^31 may exceed 64 bits.
        let in_channels = out_channels
            .checked_mul(kernel_w)
            .and_then(|area| area.checked_mul(kernel_h))
            .filter(|&per_input| n_weights.is_multiple_of(per_input))
            .map(|per_input| n_weights / per_input);
        let Some(in_channels) = in_channels else {
            let problem =
                format!("{n_weights} weights are no multiple of {out_channels} outputs x {kernel_h} x {kernel_w}");
            return Err(self.invalid(layer, problem));
        };
        let name = format!("{}.weight", layer.name);
        let dtype = self.tag(&name)?;
        self.tensor(name, dtype, vec![out_channels, in_channels, kernel_h, kernel_w])?;
        if has_bias {
            self.tensor(format!("{}.bias", layer.name), DType::F32, vec![out_channels])?;
        }
        Ok(())
    }

    /// Id 0: the number of slopes.
    fn prelu(&mut self, layer: &NcnnLayer) -> Result<(), Error> {
        let n_slopes = self.size(layer, 0, None)?;
        self.tensor(format!("{}.slope", layer.name), DType::F32, vec![n_slopes])
    }

    /// Reads the tag before a convolution's weights.
    fn tag(&mut self, tensor: &str) -> Result<DType, Error> {
        let mut tag = [0; 4];
        self.check_fits(tensor, tag.len() as u64)?;
        self.bin.read_exact_at(&mut tag, self.offset, tensor)?;
        self.offset += tag.len() as u64;
        match u32::from_le_bytes(tag) {
            0 => Ok(DType::F32),
            TAG_F16 => Ok(DType::F16),
            TAG_INT8 => Err(self.unsupported_type(tensor, "8-bit integers")),
            TAG_F32_SCALED => Err(self.unsupported_type(tensor, "32-bit floats with a scale")),
            // ncnn takes every other tag for the start of a table of 256 values, a form long out of use.
            tag => Err(Error::UnknownNcnnTag {
                path: self.bin.path().to_owned(),
                tensor: tensor.to_owned(),
                tag,
                offset: self.offset - 4,
            }),
        }
    }

    /// Notes a tensor at the current place and steps over it.
    fn tensor(&mut self, name: String, dtype: DType, shape: Vec<u64>) -> Result<(), Error> {
        let dtype = StoredType::Ggml(dtype);
        let sizes = dtype.tensor_bytes(&shape).and_then(|bytes| Some((bytes, bytes.checked_next_multiple_of(4)?)));
        let Some((bytes, padded_bytes)) = sizes else {
            return Err(Error::ShapeOverflow { path: self.param.to_owned(), tensor: name, shape });
        };
        self.check_fits(&name, padded_bytes)?;
        let info = TensorInfo { dtype, shape, file: self.id, offset: self.offset, bytes };
        self.offset += padded_bytes;
        if self.tensors.insert(name.clone(), info) {
            Ok(())
        } else {
            // Layers have unique names, and each kind names each of its tensors once.
            Err(Error::DuplicateName { path: self.param.to_owned(), name })
        }
    }

    fn check_fits(&self, part: &str, bytes: u64) -> Result<(), Error> {
        if bytes <= self.bin.bytes() - self.offset {
            return Ok(());
        }
        Err(Error::Truncated {
            path: self.bin.path().to_owned(),
            part: part.to_owned(),
            expected_bytes: self.offset.saturating_add(bytes),
            found_bytes: self.bin.bytes(),
        })
    }

    /// A parameter that must be a positive integer.
    fn size(&self, layer: &NcnnLayer, id: i32, default: Option<u64>) -> Result<u64, Error> {
        match (layer.params.get(&id), default) {
            (None, Some(default)) => Ok(default),
            (value, _) => value
                .and_then(|value| value.as_int())
                .and_then(|value| u64::try_from(value).ok())
                .filter(|&value| value > 0)
                .ok_or_else(|| self.invalid_param(layer, id, "a positive integer")),
        }
    }

    /// A parameter that is 0 (also when absent) or 1.
    fn flag(&self, layer: &NcnnLayer, id: i32) -> Result<bool, Error> {
        match layer.params.get(&id).map(|value| value.as_int()) {
            None | Some(Some(0)) => Ok(false),
            Some(Some(_)) => Ok(true),
            Some(None) => Err(self.invalid_param(layer, id, "an integer")),
        }
    }

    fn invalid_param(&self, layer: &NcnnLayer, id: i32, expected: &str) -> Error {
        let found = layer.params.get(&id).map_or_else(|| "missing".to_owned(), |value| format!("{value:?}"));
        self.invalid(layer, format!("parameter {id} must be {expected}, it is {found}"))
    }

    fn invalid(&self, layer: &NcnnLayer, problem: String) -> Error {
        Error::InvalidNcnn {
            path: self.param.to_owned(),
            line: layer.line,
            problem: format!("{} {:?}: {problem}", layer.kind, layer.name),
        }
    }

    fn unsupported_type(&self, tensor: &str, dtype: &'static str) -> Error {
        Error::UnsupportedType { path: self.bin.path().to_owned(), tensor: tensor.to_owned(), dtype }
    }
}
