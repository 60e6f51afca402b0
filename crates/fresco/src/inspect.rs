//! What a model's file holds, without loading it.

use std::collections::BTreeMap;
use std::path::Path;

use crate::error::Error;
use crate::loader::{Format, ModelSource};
use crate::models::{self, upscalers};

/// What a model's file holds.
#[derive(Debug)]
#[non_exhaustive]
pub struct ModelInfo {
    /// The file's format.
    pub format: Format,
    /// What the model is, or why it cannot be used.
    pub architecture: Result<Architecture, models::Error>,
    /// The tensors in the order of their names.
    pub tensors: Vec<TensorSummary>,
    /// Texts that the file carries about itself.
    pub metadata: BTreeMap<String, String>,
}

/// What a model is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Architecture {
    /// The name of the net.
    pub name: String,
    /// How many times larger it makes an image.
    pub scale: u64,
    /// How far it sees around a pixel.
    pub radius_px: u64,
}

/// A tensor of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorSummary {
    /// Its name in the file.
    pub name: String,
    /// The type of its elements, such as `f16`.
    pub dtype: &'static str,
    /// Its dimensions in PyTorch order, outermost first.
    pub shape: Vec<u64>,
    /// The bytes that it takes in the file.
    pub bytes: u64,
}

/// Reads what a model's file says about itself, but no weights.
///
/// # Errors
///
/// [`Error::Load`] for a file that cannot be read or is no model. One that can be read but not used is no error: the field
/// [`architecture`](ModelInfo::architecture) then says why.
pub fn inspect(path: impl AsRef<Path>) -> Result<ModelInfo, Error> {
    let source = ModelSource::open(path)?;
    let architecture = upscalers::detect(&source).map(|detected| {
        let geometry = detected.config.geometry();
        Architecture {
            name: detected.config.architecture().to_owned(),
            scale: geometry.scale,
            radius_px: geometry.radius_cells * geometry.cell_px,
        }
    });
    let summary = |(name, tensor): (&str, &crate::loader::TensorInfo)| TensorSummary {
        name: name.to_owned(),
        dtype: tensor.dtype.name(),
        shape: tensor.shape.clone(),
        bytes: tensor.bytes,
    };
    Ok(ModelInfo {
        format: source.format(),
        architecture,
        tensors: source.catalogue().iter().map(summary).collect(),
        metadata: source.metadata().clone(),
    })
}
