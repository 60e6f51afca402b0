//! The register of all components and the homes of their weights.
//!
//! A component's weights come home when one of them is first pinned: a weight whose stored bytes are the wanted bytes
//! stays in a mapping of its file where the device computes in host memory, all others are read and converted into one
//! storage block on the device. A [`Pins`] guard keeps what it pinned where it is.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::declaration::{Declaration, Declared, LoadReport};
use crate::ggml::{self, AllocationMeter, Buffer, BufferUsage, DType, Device};
use crate::ledger::{Ledger, Purpose};
use crate::loader::{self, Catalogue, FileId, ModelSource, ReadOptions, ReadRequest};
use crate::param::{ComponentId, ParamId};

/// Host memory that reading may take beside the weights' own; a larger tensor takes what it needs.
const READ_BATCH_BYTES: usize = 64 << 20;

/// Where a mapped weight may start: ggml's CPU code reads whole elements, which are at most this long.
const MAPPED_ALIGNMENT: usize = 4;

/// Every registered weight, and where it is.
#[derive(Default)]
pub struct Residency {
    ledger: Ledger,
    components: BTreeMap<ComponentId, Component>,
    n_declared: u32,
}

/// Where a component comes from and where it computes.
#[derive(Clone)]
pub struct ComponentOptions {
    /// What it is called in messages, such as `upscaler`.
    pub name: String,
    /// The model files.
    pub source: Arc<ModelSource>,
    /// The device that computes with the weights and keeps them.
    pub device: Device,
}

/// Weights that stay where they are while this lives.
#[derive(Clone)]
pub struct Pins {
    homes: BTreeMap<ComponentId, Arc<Home>>,
}

/// Where a pinned weight is.
#[derive(Clone)]
pub struct Resident {
    /// The buffer that holds it.
    pub buffer: Buffer,
    /// Where it starts in the buffer.
    pub offset_bytes: u64,
}

/// How far loading a component has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadProgress<'a> {
    /// The component.
    pub component: &'a str,
    /// Bytes of its weights that are home.
    pub done_bytes: u64,
    /// Bytes of all its weights.
    pub total_bytes: u64,
}

/// Why weights could not be registered or brought home.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The source does not hold what the model needs.
    #[error("the weights of the {component} do not fit its model: {report}")]
    Incomplete {
        /// The component.
        component: String,
        /// What was found and what was not.
        report: Box<LoadReport>,
    },
    /// A parameter of no registered component.
    #[error("parameter {0} belongs to no registered component")]
    UnknownParam(ParamId),
    /// The component's weights are in use.
    #[error("the weights of the {component} are in use")]
    Pinned {
        /// The component.
        component: String,
    },
    /// A weight is larger than any buffer can be.
    #[error("the weights of the {component} are too large to address")]
    TooLarge {
        /// The component.
        component: String,
    },
    /// The caller stopped the loading.
    #[error("loading the weights was cancelled")]
    Cancelled,
    /// Reading or converting failed.
    #[error("cannot read the weights of the {component}")]
    Read {
        /// The component.
        component: String,
        /// Why.
        source: loader::Error,
    },
    /// The device could not hold the weights.
    #[error("cannot place the weights of the {component} on {device}")]
    Device {
        /// The component.
        component: String,
        /// The device.
        device: String,
        /// Why.
        source: ggml::Error,
    },
}

impl Residency {
    /// A register without components.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What is held on each device.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Starts a component whose parameters are declared against `catalogue`; weights take the `wanted` type where given
    /// and their role allows it.
    pub fn declare<'c>(&mut self, catalogue: &'c Catalogue, wanted: Option<DType>) -> Declaration<'c> {
        let component = ComponentId(self.n_declared);
        self.n_declared += 1;
        Declaration::new(component, catalogue, wanted)
    }

    /// Registers the declared parameters; nothing is read yet.
    ///
    /// # Errors
    /// [`Error::Incomplete`] where the source lacks a parameter or holds it in another shape.
    pub fn register(&mut self, declaration: Declaration<'_>, options: ComponentOptions) -> Result<LoadReport, Error> {
        let report = declaration.report();
        if !report.is_complete() {
            return Err(Error::Incomplete { component: options.name, report: report.into() });
        }
        let id = declaration.component;
        let params = declaration.into_declared();
        self.components.insert(id, Component { options, params, home: None });
        Ok(report)
    }

    /// Brings the components of `params` home where they are not, and keeps them there while the guard lives.
    ///
    /// # Errors
    /// What reading, converting or the device refused; [`Error::Cancelled`] where `progress` breaks. Nothing stays
    /// allocated for a component that failed.
    pub fn pin(
        &mut self,
        params: impl IntoIterator<Item = ParamId>,
        progress: &mut dyn FnMut(LoadProgress<'_>) -> ControlFlow<()>,
    ) -> Result<Pins, Error> {
        let mut homes = BTreeMap::new();
        for param in params {
            let component = self.components.get_mut(&param.component).ok_or(Error::UnknownParam(param))?;
            if param.index as usize >= component.params.len() {
                return Err(Error::UnknownParam(param));
            }
            if homes.contains_key(&param.component) {
                continue;
            }
            let home = match &component.home {
                Some(home) => home.clone(),
                None => component.home.insert(Arc::new(component.bring_home(&self.ledger, progress)?)).clone(),
            };
            homes.insert(param.component, home);
        }
        Ok(Pins { homes })
    }

    /// Forgets a component and frees its weights.
    ///
    /// # Errors
    /// [`Error::Pinned`] while a guard keeps them.
    pub fn remove(&mut self, component: ComponentId) -> Result<(), Error> {
        let Some(found) = self.components.get(&component) else { return Ok(()) };
        if found.home.as_ref().is_some_and(|home| Arc::strong_count(home) > 1) {
            return Err(Error::Pinned { component: found.options.name.clone() });
        }
        self.components.remove(&component);
        Ok(())
    }
}

impl Pins {
    /// Where a pinned parameter is, or `None` for one that is not pinned.
    #[must_use]
    pub fn resident(&self, id: ParamId) -> Option<&Resident> {
        self.homes.get(&id.component)?.residents.get(id.index as usize)
    }
}

struct Component {
    options: ComponentOptions,
    params: Vec<Declared>,
    home: Option<Arc<Home>>,
}

/// The weights of a component, all in their places.
struct Home {
    residents: Vec<Resident>,
}

/// A weight on its way into the storage block.
struct Placed {
    param: usize,
    offset_bytes: u64,
    n_bytes: usize,
    row_len: u64,
}

impl Component {
    fn bring_home(
        &self,
        ledger: &Ledger,
        progress: &mut dyn FnMut(LoadProgress<'_>) -> ControlFlow<()>,
    ) -> Result<Home, Error> {
        let mut residents: Vec<Option<Resident>> = self.map_files(ledger)?;
        let (placed, block_bytes) = self.lay_out(&residents)?;
        if block_bytes > 0 {
            let account = ledger.account(&self.options.device, Purpose::Weights);
            let block = self.allocate(block_bytes, &account)?;
            self.fill(&block, &placed, progress)?;
            for place in placed {
                residents[place.param] = Some(Resident { buffer: block.clone(), offset_bytes: place.offset_bytes });
            }
        }
        tracing::debug!(
            component = self.options.name,
            device = self.options.device.name(),
            block_bytes,
            "weights are home"
        );
        // Every parameter is either mapped or was placed above.
        Ok(Home { residents: residents.into_iter().flatten().collect() })
    }

    /// Weights whose stored bytes are the wanted bytes, on a device that computes in host memory.
    fn map_files(&self, ledger: &Ledger) -> Result<Vec<Option<Resident>>, Error> {
        let mut buffers: BTreeMap<FileId, Buffer> = BTreeMap::new();
        let mut residents = Vec::with_capacity(self.params.len());
        for Declared { name, file, dtype, .. } in &self.params {
            let mapped = match self.options.device.computes_in_host_memory() {
                true => self.options.source.mappable(name, *dtype, MAPPED_ALIGNMENT),
                false => None,
            };
            let Some(mapped) = mapped else {
                residents.push(None);
                continue;
            };
            let buffer = match buffers.get(file) {
                Some(buffer) => buffer.clone(),
                None => {
                    let account = ledger.account(&self.options.device, Purpose::Mapping);
                    let buffer = Buffer::from_host_mapping(&self.options.device, mapped.mapping, &account)
                        .map_err(|source| self.device_error(source))?;
                    buffers.entry(*file).or_insert(buffer).clone()
                }
            };
            residents.push(Some(Resident { buffer, offset_bytes: mapped.offset as u64 }));
        }
        Ok(residents)
    }

    /// Places in one storage block for the weights that are not mapped, and the block's size.
    fn lay_out(&self, residents: &[Option<Resident>]) -> Result<(Vec<Placed>, u64), Error> {
        let alignment = self.options.device.alignment() as u64;
        let mut placed = Vec::new();
        let mut end = 0u64;
        for (param, declared) in self.params.iter().enumerate().filter(|(param, _)| residents[*param].is_none()) {
            let place = declared.shape.as_matrix().and_then(|[n_rows, row_len]| {
                let n_bytes = declared.dtype.row_bytes(row_len)?.checked_mul(n_rows)?;
                let taken_bytes = self.options.device.tensor_bytes(declared.dtype, [row_len, n_rows])?;
                let offset_bytes = end.checked_next_multiple_of(alignment)?;
                let end = offset_bytes.checked_add(taken_bytes.max(n_bytes))?;
                Some((Placed { param, offset_bytes, n_bytes: usize::try_from(n_bytes).ok()?, row_len }, end))
            });
            let (place, next) = place.ok_or_else(|| self.too_large())?;
            placed.push(place);
            end = next;
        }
        Ok((placed, end))
    }

    fn allocate(&self, bytes: u64, account: &Arc<dyn AllocationMeter>) -> Result<Buffer, Error> {
        let buffer = self.options.device.alloc_buffer(bytes, BufferUsage::Weights, account);
        buffer.map_err(|source| self.device_error(source))
    }

    /// Reads and converts weights batch by batch and copies them into their block.
    fn fill(
        &self,
        block: &Buffer,
        placed: &[Placed],
        progress: &mut dyn FnMut(LoadProgress<'_>) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let total_bytes = placed.iter().map(|place| place.n_bytes as u64).sum();
        let mut done_bytes = 0;
        let mut scratch = Vec::new();
        let mut rest = placed;
        while !rest.is_empty() {
            let (batch, remaining) = rest.split_at(batch_len(rest));
            let batch_bytes: usize = batch.iter().map(|place| place.n_bytes).sum();
            scratch.resize(batch_bytes, 0u8);
            self.read_batch(batch, &mut scratch)?;
            let mut start = 0;
            for place in batch {
                block
                    .write(place.offset_bytes, &scratch[start..start + place.n_bytes])
                    .map_err(|source| self.device_error(source))?;
                start += place.n_bytes;
            }
            done_bytes += batch_bytes as u64;
            let event = LoadProgress { component: &self.options.name, done_bytes, total_bytes };
            if progress(event).is_break() {
                return Err(Error::Cancelled);
            }
            rest = remaining;
        }
        Ok(())
    }

    fn read_batch(&self, batch: &[Placed], mut scratch: &mut [u8]) -> Result<(), Error> {
        let mut requests = Vec::with_capacity(batch.len());
        for place in batch {
            let (destination, rest) = scratch.split_at_mut(place.n_bytes);
            scratch = rest;
            let Declared { name, dtype, .. } = &self.params[place.param];
            requests.push(ReadRequest { name, wanted: *dtype, row_len: place.row_len, destination });
        }
        loader::read_tensors(&self.options.source, &mut requests, ReadOptions::default())
            .map_err(|source| self.read_error(source))
    }

    fn too_large(&self) -> Error {
        Error::TooLarge { component: self.options.name.clone() }
    }

    fn read_error(&self, source: loader::Error) -> Error {
        Error::Read { component: self.options.name.clone(), source }
    }

    fn device_error(&self, source: ggml::Error) -> Error {
        let device = self.options.device.name().to_owned();
        Error::Device { component: self.options.name.clone(), device, source }
    }
}

/// How many of the first places are read together: as many as fit the batch, and at least one.
fn batch_len(placed: &[Placed]) -> usize {
    let mut bytes = 0usize;
    let fits = |place: &&Placed| {
        bytes = bytes.saturating_add(place.n_bytes);
        bytes <= READ_BATCH_BYTES
    };
    placed.iter().take_while(fits).count().max(1)
}
