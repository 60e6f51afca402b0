//! `fresco inspect`

use std::collections::BTreeMap;
use std::path::Path;

use fresco::{Format, ModelInfo};
use serde::Serialize;

use crate::args::InspectArguments;
use crate::exit::Exit;
use crate::{exit, output, units};

#[derive(Serialize)]
struct Document<'i> {
    path: &'i Path,
    format: &'static str,
    /// The model, where it can be used.
    architecture: Option<Architecture<'i>>,
    /// Why it cannot be used, where it cannot.
    unsupported: Option<String>,
    n_parameters: u64,
    tensors: Vec<Tensor<'i>>,
    metadata: &'i BTreeMap<String, String>,
}

#[derive(Serialize)]
struct Architecture<'i> {
    name: &'i str,
    scale: u64,
    radius_px: u64,
}

#[derive(Serialize)]
struct Tensor<'i> {
    name: &'i str,
    dtype: &'static str,
    shape: &'i [u64],
    bytes: u64,
}

pub(crate) fn run(arguments: &InspectArguments) -> anyhow::Result<Exit> {
    let info = fresco::inspect(&arguments.model)?;
    let document = document(&arguments.model, &info);
    if arguments.json {
        output::json_document(&document)?;
    } else {
        write_text(&document)?;
    }
    Ok(Exit::Success)
}

fn document<'i>(path: &'i Path, info: &'i ModelInfo) -> Document<'i> {
    let tensors: Vec<_> = info
        .tensors
        .iter()
        .map(|tensor| Tensor { name: &tensor.name, dtype: tensor.dtype, shape: &tensor.shape, bytes: tensor.bytes })
        .collect();
    Document {
        path,
        format: match info.format {
            Format::Safetensors => "safetensors",
            Format::Ncnn => "ncnn",
            _ => "other",
        },
        architecture: info.architecture.as_ref().ok().map(|architecture| Architecture {
            name: &architecture.name,
            scale: architecture.scale,
            radius_px: architecture.radius_px,
        }),
        unsupported: info.architecture.as_ref().err().map(|error| exit::describe(error)),
        n_parameters: tensors.iter().map(|tensor| tensor.shape.iter().product::<u64>()).sum(),
        tensors,
        metadata: &info.metadata,
    }
}

fn write_text(document: &Document<'_>) -> anyhow::Result<()> {
    output::line(format_args!("file          {}", document.path.display()))?;
    output::line(format_args!("format        {}", document.format))?;
    match (&document.architecture, &document.unsupported) {
        (Some(Architecture { name, scale, .. }), _) => {
            output::line(format_args!("architecture  {name}, upscales {scale} times"))?;
        }
        (None, reason) => output::line(format_args!("architecture  {}", reason.as_deref().unwrap_or("unknown")))?,
    }
    let total_bytes = document.tensors.iter().map(|tensor| tensor.bytes).sum();
    output::line(format_args!("parameters    {} in {}", document.n_parameters, units::bytes(total_bytes)))?;
    for (key, value) in document.metadata {
        output::line(format_args!("metadata      {key}: {value}"))?;
    }
    let width = document.tensors.iter().map(|tensor| tensor.name.len()).max().unwrap_or(0);
    for Tensor { name, dtype, shape, .. } in &document.tensors {
        output::line(format_args!("{name:width$}  {dtype:6} {shape:?}"))?;
    }
    Ok(())
}
