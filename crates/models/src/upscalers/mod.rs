//! Upscalers: nets that take an image and return it larger.
//!
//! [`detect`] finds out from a source's tensors (or an ncnn model's wiring) which net it holds and how wide and deep it
//! is. Files spell their tensors' names in several ways; [`Detected::rename`] gives them the canonical names, under which
//! [`UpscalerConfig::build`] declares the parameters. All nets read pixel values of 0 to 1 and return values around 0 to 1.

mod geometry;
mod mosr;
mod names;
mod ncnn;
mod rrdbnet;
mod srvgg;
mod tensors;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

pub use geometry::{Geometry, reflect};
pub use mosr::{Mosr, MosrConfig, MosrUpsampler};
pub use rrdbnet::{Rrdbnet, RrdbnetConfig};
pub use srvgg::{Srvgg, SrvggConfig};

use crate::engine::loader::{Catalogue, ModelSource};
use crate::engine::residency::{LoadReport, Mismatch, ParamScope, Residency};
use crate::engine::{Graph, GraphBuilder, GraphError, Shape, Value};
use crate::{Error, Fault};
use names::{Names, Net};
use tensors::Tensors;

/// What a net is, as far as its weights do not say it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UpscalerConfig {
    /// ESRGAN and Real-ESRGAN.
    Rrdbnet(RrdbnetConfig),
    /// The compact nets of Real-ESRGAN.
    Srvgg(SrvggConfig),
    /// MoSR.
    Mosr(MosrConfig),
}

/// A net whose parameters are declared.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Upscaler {
    /// ESRGAN and Real-ESRGAN.
    Rrdbnet(Box<Rrdbnet>),
    /// The compact nets of Real-ESRGAN.
    Srvgg(Box<Srvgg>),
    /// MoSR.
    Mosr(Box<Mosr>),
}

/// An upscaler found in a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detected {
    /// What the net is.
    pub config: UpscalerConfig,
    /// The canonical name of each tensor of the net, by its name in the file.
    pub names: BTreeMap<String, String>,
}

/// Finds out which upscaler a source holds. Reads no weights.
///
/// # Errors
/// [`Error::UnknownArchitecture`] and [`Error::UnsupportedArchitecture`] for other models; [`Error::Rejected`] for a net
/// that lacks a tensor, has one more, or has one of another shape than its definition says.
pub fn detect(source: &ModelSource) -> Result<Detected, Error> {
    let (net, names) = read_names(source)?;
    let catalogue = source.catalogue().renamed(|name| names.canonical.get(name).cloned())?;
    let config = infer(net, Tensors(&catalogue));
    match config.and_then(|config| check_parameters(&config, &catalogue, &names).map(|()| config)) {
        Ok(config) => Ok(Detected { config, names: names.canonical }),
        Err(fault) => Err(Error::Rejected {
            path: source.path().to_owned(),
            architecture: names.architecture,
            fault: in_file_spelling(fault, &names),
        }),
    }
}

impl Detected {
    /// The source with its tensors under their canonical names.
    ///
    /// # Errors
    /// Where a tensor that is no part of the net has the canonical name of one that is.
    pub fn rename(&self, source: ModelSource) -> Result<ModelSource, Error> {
        Ok(source.renamed(|name| self.names.get(name).cloned())?)
    }
}

impl UpscalerConfig {
    /// The architecture's name.
    #[must_use]
    pub fn architecture(&self) -> &'static str {
        match self {
            Self::Rrdbnet(_) => rrdbnet::ARCHITECTURE,
            Self::Srvgg(_) => srvgg::ARCHITECTURE,
            Self::Mosr(_) => mosr::ARCHITECTURE,
        }
    }

    /// How the net's output relates to its input.
    #[must_use]
    pub fn geometry(&self) -> Geometry {
        match self {
            Self::Rrdbnet(config) => config.geometry(),
            Self::Srvgg(config) => config.geometry(),
            Self::Mosr(config) => config.geometry(),
        }
    }

    /// Declares the net's parameters, which have their canonical names in `scope`.
    #[must_use]
    pub fn build(&self, scope: &ParamScope<'_>) -> Upscaler {
        match self {
            Self::Rrdbnet(config) => Upscaler::Rrdbnet(Rrdbnet::new(config, scope).into()),
            Self::Srvgg(config) => Upscaler::Srvgg(Srvgg::new(config, scope).into()),
            Self::Mosr(config) => Upscaler::Mosr(Mosr::new(config, scope).into()),
        }
    }
}

impl Upscaler {
    /// The net's graph for an input `x [N, C, H, W]`, whose sides are multiples of [`Geometry::cell_px`]; its output is
    /// `y [N, C', H · scale, W · scale]`.
    ///
    /// # Errors
    /// Where the net cannot work on an input of that shape.
    pub fn graph(&self, input: Shape) -> Result<Graph, GraphError> {
        let graph = GraphBuilder::new();
        let x = graph.input("x", input);
        graph.output("y", self.forward(&graph, x));
        graph.finish()
    }

    fn forward<'g>(&self, graph: &'g GraphBuilder, x: Value<'g>) -> Value<'g> {
        match self {
            Self::Rrdbnet(net) => net.forward(graph, x),
            Self::Srvgg(net) => net.forward(graph, x),
            Self::Mosr(net) => net.forward(graph, x),
        }
    }
}

/// Recognises a net by the names of its tensors or by its wiring.
fn read_names(source: &ModelSource) -> Result<(Net, Names), Error> {
    let (path, catalogue) = (source.path().to_owned(), source.catalogue());
    if let Some(net) = source.ncnn() {
        let read = ncnn::read(net, catalogue);
        return read.map_err(|(architecture, fault)| Error::Rejected { path, architecture, fault });
    }
    names::read(catalogue).map_err(|candidates| match names::unsupported_architecture(catalogue) {
        Some(architecture) => Error::UnsupportedArchitecture { path, architecture, supported: supported() },
        None => Error::UnknownArchitecture { path, candidates },
    })
}

/// The configuration that the tensors' shapes imply.
fn infer(net: Net, tensors: Tensors<'_>) -> Result<UpscalerConfig, Fault> {
    Ok(match net {
        Net::Rrdbnet => UpscalerConfig::Rrdbnet(RrdbnetConfig::infer(tensors)?),
        Net::Srvgg(factors) => UpscalerConfig::Srvgg(SrvggConfig::infer(tensors, factors)?),
        Net::Mosr => UpscalerConfig::Mosr(MosrConfig::infer(tensors)?),
    })
}

/// Compares the tensors of a net with what its model declares.
fn check_parameters(config: &UpscalerConfig, catalogue: &Catalogue, names: &Names) -> Result<(), Fault> {
    let mut residency = Residency::new();
    let declaration = residency.declare(catalogue, None);
    let _ = config.build(&declaration.root());
    let LoadReport { missing, mismatched, unused, .. } = declaration.report();
    if let Some(name) = missing.into_iter().next() {
        return Err(Fault::Missing { name });
    }
    if let Some(Mismatch { name, expected, found }) = mismatched.into_iter().next() {
        return Err(Fault::Mismatched { name, expected: expected.to_string(), found });
    }
    // Tensors beside the net, such as a second set of its weights, do no harm.
    let of_net: BTreeSet<&String> = names.canonical.values().collect();
    match unused.into_iter().find(|name| of_net.contains(name)) {
        Some(name) => Err(Fault::Unexpected { name }),
        None => Ok(()),
    }
}

/// The fault with its tensor named as in the file.
fn in_file_spelling(mut fault: Fault, names: &Names) -> Fault {
    if let Fault::Missing { name } | Fault::Mismatched { name, .. } | Fault::Unexpected { name } = &mut fault {
        *name = names.in_file(name);
    }
    fault
}

fn supported() -> String {
    [rrdbnet::ARCHITECTURE, srvgg::ARCHITECTURE, mosr::ARCHITECTURE].join(", ")
}
