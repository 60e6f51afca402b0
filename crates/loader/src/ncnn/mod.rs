//! ncnn's pair of files: the `.param` text describes the layers, the `.bin` holds their weights one after the other.
//!
//! The text begins with a magic number and the counts of layers and blobs; then each line is a layer:
//! `kind name n_inputs n_outputs inputs… outputs… id=value…`, where a blob is the value between two layers and an id
//! of -23300 or less announces an array (`-23310=1,0.2` is the array 10 of one element). Nothing in the `.bin` says
//! whose weights begin where: that follows from the layers alone, so a layer of an unknown kind makes the rest
//! unreadable and is an error.
//!
//! Format: <https://github.com/Tencent/ncnn/wiki/param-and-model-file-structure>.

mod param;
mod weights;

use std::collections::BTreeMap;

pub use param::{MAX_PARAM_BYTES, parse_param};
pub(crate) use weights::{TAG_F16, find_weights};

/// The number that a text `.param` file begins with.
pub const MAGIC: u32 = 7_767_517;

/// The layers of an ncnn model in the order in which they run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NcnnNet {
    /// The layers; each reads only blobs that earlier ones make.
    pub layers: Vec<NcnnLayer>,
}

/// One layer of an ncnn model. Its weights are in the source's catalogue, as `<name>.weight`, `<name>.bias` and
/// `<name>.slope`.
#[derive(Clone, Debug, PartialEq)]
pub struct NcnnLayer {
    /// What it does: `Convolution`, `PReLU`, `Interp`, …
    pub kind: String,
    /// Its name, unique in the model.
    pub name: String,
    /// The blobs it reads.
    pub inputs: Vec<String>,
    /// The blobs it makes.
    pub outputs: Vec<String>,
    /// Its parameters by their number; ncnn's documentation of the kind says what each means and what an absent one is.
    pub params: BTreeMap<i32, NcnnValue>,
    /// Its line in the `.param` file, counted from 1, for messages.
    pub line: usize,
}

/// The value of a layer's parameter. A number with a decimal point or an exponent is a float.
#[derive(Clone, Debug, PartialEq)]
pub enum NcnnValue {
    /// An integer.
    Int(i32),
    /// A float.
    Float(f32),
    /// An array of integers.
    Ints(Vec<i32>),
    /// An array with at least one float.
    Floats(Vec<f32>),
}

impl NcnnValue {
    /// The integer, if it is one.
    pub fn as_int(&self) -> Option<i32> {
        match self {
            Self::Int(value) => Some(*value),
            _ => None,
        }
    }

    /// The number as a float, if it is a single number.
    pub fn as_float(&self) -> Option<f32> {
        match self {
            Self::Int(value) => Some(*value as f32),
            Self::Float(value) => Some(*value),
            Self::Ints(_) | Self::Floats(_) => None,
        }
    }

    /// The elements as floats, if it is an array.
    pub fn as_floats(&self) -> Option<Vec<f32>> {
        match self {
            Self::Int(_) | Self::Float(_) => None,
            Self::Ints(values) => Some(values.iter().map(|&value| value as f32).collect()),
            Self::Floats(values) => Some(values.clone()),
        }
    }
}
