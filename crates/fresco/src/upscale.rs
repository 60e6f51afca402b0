//! Upscaling: a net that makes images larger, run over them in tiles.

mod fill;
mod options;
mod planes;
mod tiles;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

pub use options::{DEFAULT_MEMORY_LIMIT_BYTES, TileSize, UpscaleRequest, UpscalerOptions};
pub use options::{Pass, UpscalePlan, Upscaled};

use crate::engine::{CancelToken, Engine, Graph, Origin, Session, SessionOptions, Shape, Task, ValueInfo};
use crate::error::Error;
use crate::event::{Event, Phase};
use crate::ggml::{DType, Device};
use crate::image::{Image, n_samples};
use crate::loader::ModelSource;
use crate::models::upscalers::{self, Geometry};
use crate::residency::{ComponentOptions, Pins};
use crate::runtime::Runtime;
use fill::TransparentFill;
use tiles::Tiling;

/// Where the events of a call go.
type Events<'e> = dyn FnMut(Event) -> ControlFlow<()> + 'e;

/// A loaded upscaler. Between calls it holds its weights and nothing else.
pub struct Upscaler {
    engine: Engine,
    session: Session,
    net: upscalers::Upscaler,
    geometry: Geometry,
    architecture: &'static str,
    memory_limit_bytes: u64,
    n_threads: usize,
    weights_bytes: BTreeMap<DType, u64>,
    /// Keeps the weights on the device while the upscaler lives.
    _pins: Pins,
}

impl Upscaler {
    /// Loads the model at `path`: a safetensors file, or either file of an ncnn pair (`.param`, `.bin`).
    ///
    /// # Errors
    ///
    /// [`Error::Load`] for a file that cannot be read, [`Error::UnsupportedModel`] for one that holds no known upscaler,
    /// [`Error::Device`] for a device that there is not, [`Error::Request`] for options that cannot be, and
    /// [`Error::Cancelled`] where `events` breaks.
    pub fn load(
        runtime: &Runtime,
        path: impl AsRef<Path>,
        options: &UpscalerOptions,
        events: &mut Events<'_>,
    ) -> Result<Self, Error> {
        options.check()?;
        let device = runtime.device(&options.device)?;
        tell(events, Event::Phase(Phase::Loading))?;
        let source = ModelSource::open(path)?;
        let detected = upscalers::detect(&source)?;
        let geometry = detected.config.geometry();
        let source = Arc::new(detected.rename(source)?);

        let mut engine = Engine::new();
        let declaration = engine.residency_mut().declare(source.catalogue(), options.weight_type);
        let net = detected.config.build(&declaration.root());
        let component = ComponentOptions { name: "upscaler".into(), source: source.clone(), device: device.clone() };
        engine.residency_mut().register(declaration, component)?;

        let smallest = net.graph(input_shape(&geometry, [geometry.cell_px; 2])).map_err(crate::engine::Error::from)?;
        let pins = engine.residency_mut().pin(smallest.params(), &mut |progress| {
            events(Event::Weights { done_bytes: progress.done_bytes, total_bytes: progress.total_bytes })
        })?;
        let session = engine.session(SessionOptions { device: device.clone(), n_threads: options.n_threads() })?;
        Ok(Self {
            engine,
            session,
            net,
            geometry,
            architecture: detected.config.architecture(),
            memory_limit_bytes: options.memory_limit_bytes(&device),
            n_threads: options.n_threads(),
            weights_bytes: weights_bytes(&smallest),
            _pins: pins,
        })
    }

    /// How many times larger the net makes an image.
    #[must_use]
    pub fn scale(&self) -> u32 {
        factor(self.geometry.scale)
    }

    /// The name of the net's architecture.
    #[must_use]
    pub fn architecture(&self) -> &'static str {
        self.architecture
    }

    /// The device that computes.
    #[must_use]
    pub fn device(&self) -> &Device {
        self.session.device()
    }

    /// How many threads compute, where the device computes on the host.
    #[must_use]
    pub fn n_threads(&self) -> usize {
        self.n_threads
    }

    /// The bytes of the weights by the type that they are kept in.
    #[must_use]
    pub fn weights_bytes(&self) -> &BTreeMap<DType, u64> {
        &self.weights_bytes
    }

    /// What [`upscale`](Self::upscale) would do: sizes, tiles and memory.
    ///
    /// # Errors
    ///
    /// [`Error::Request`] for a request that cannot be, [`Error::OutOfMemory`] where the images or the smallest tile exceed
    /// the memory there is.
    pub fn plan(&self, image: &Image, request: &UpscaleRequest) -> Result<UpscalePlan, Error> {
        request.check()?;
        let mut input_px = [image.width_px(), image.height_px()];
        let mut passes = Vec::new();
        for _ in 0..request.n_repeats {
            let output_px = self.output_px(input_px, request.n_repeats)?;
            self.check_host_memory(image, input_px, output_px)?;
            let mut workspace_bytes = |tile_px: [u32; 2]| self.workspace_bytes(tile_px);
            let overlap_px = request.overlap_px.unwrap_or_else(|| default_overlap_px(&self.geometry));
            let limit_bytes = self.memory_limit_bytes;
            let tiling =
                Tiling::new(input_px, self.geometry, request.tile, overlap_px, limit_bytes, &mut workspace_bytes)?;
            passes.push(Pass { input_px, output_px, tiling });
            input_px = output_px;
        }
        let mut groups = planes::groups(image.channels(), self.geometry.in_channels as usize);
        let has_constant_alpha = planes::has_constant_alpha(image);
        if has_constant_alpha {
            groups.pop();
        }
        Ok(UpscalePlan { passes, groups, has_constant_alpha })
    }

    /// Upscales an image. The result has the channels and the depth of the image.
    ///
    /// - Colours go through the net together. Gray goes through as a gray picture, and the mean of the resulting channels is
    ///   taken. So does alpha, by itself; alpha that is the same everywhere stays that without the net.
    /// - The colour of fully transparent pixels is of no account: they are seen with the colours of visible pixels nearby.
    /// - Repeating does what calling again with the result would do.
    ///
    /// Memory beyond image and result depends on the tile size, save for some rows of 32-bit values as wide as the result.
    ///
    /// # Errors
    ///
    /// As [`plan`](Self::plan), and [`Error::Compute`] or [`Error::OutOfMemory`] where the device fails,
    /// [`Error::Cancelled`] where `events` breaks or the request's token was raised. The upscaler stays usable.
    pub fn upscale(
        &mut self,
        image: &Image,
        request: &UpscaleRequest,
        events: &mut Events<'_>,
    ) -> Result<Upscaled, Error> {
        let started = Instant::now();
        let plan = self.plan(image, request)?;
        let result = self.run(image, &plan, request, events);
        self.session.release_workspace();
        Ok(Upscaled { image: result?, plan, elapsed: started.elapsed() })
    }

    fn run(
        &mut self,
        image: &Image,
        plan: &UpscalePlan,
        request: &UpscaleRequest,
        events: &mut Events<'_>,
    ) -> Result<Image, Error> {
        let mut progress = Progress { done: 0, total: plan.n_tiles(), events };
        let mut upscaled: Option<Image> = None;
        for (repeat, pass) in (1..).zip(&plan.passes) {
            tell(progress.events, Event::Phase(Phase::Upscaling { repeat, n_repeats: request.n_repeats }))?;
            let image = upscaled.as_ref().unwrap_or(image);
            upscaled = Some(self.run_pass(image, pass, plan, &request.cancel, &mut progress)?);
        }
        // A request repeats at least once.
        Ok(upscaled.unwrap_or_else(|| image.clone()))
    }

    fn run_pass(
        &mut self,
        image: &Image,
        pass: &Pass,
        plan: &UpscalePlan,
        cancel: &CancelToken,
        progress: &mut Progress<'_, '_>,
    ) -> Result<Image, Error> {
        let [width_px, height_px] = pass.output_px;
        let n = n_samples(width_px, height_px, image.channels()).unwrap_or(usize::MAX);
        let samples = image.samples().zeros_like(n, "the upscaled image")?;
        let mut upscaled = Image::new(width_px, height_px, image.channels(), samples)?;

        let graph = self.net.graph(input_shape(&self.geometry, pass.tile_px().map(u64::from)));
        let graph = graph.map_err(crate::engine::Error::from)?;
        let (engine, session) = (&mut self.engine, &mut self.session);
        let mut run_net = |input: &[f32], output: &mut [f32]| {
            let task = Task {
                graph: &graph,
                inputs: &[("x", input)],
                outputs: &mut [("y", output)],
                cancel,
                progress: &mut |_| ControlFlow::Continue(()),
            };
            engine.execute(session, task)?;
            progress.tile_done()
        };
        let fill = TransparentFill::of(image);
        if plan.has_constant_alpha {
            planes::copy_first_alpha(image, &mut upscaled);
        }
        for group in &plan.groups {
            pass.tiling.upscale(image, group.clone(), fill.as_ref(), &mut upscaled, &mut run_net)?;
        }
        Ok(upscaled)
    }

    fn output_px(&self, input_px: [u32; 2], n_repeats: u32) -> Result<[u32; 2], Error> {
        let scale = self.scale();
        match input_px.map(|px| px.checked_mul(scale)) {
            [Some(width), Some(height)] => Ok([width, height]),
            _ => Err(Error::Request {
                option: "the number of repeats",
                value: n_repeats.to_string(),
                reason: format!("{scale} times {} x {} pixels cannot be addressed", input_px[0], input_px[1]),
            }),
        }
    }

    /// Whether input and output of a pass fit into the host's memory; the caller's image is there already.
    fn check_host_memory(&self, image: &Image, input_px: [u32; 2], output_px: [u32; 2]) -> Result<(), Error> {
        let bytes_per_px = image.channels().count() as u64 * image.samples().sample_bytes();
        let bytes =
            |[width, height]: [u32; 2]| u64::from(width).saturating_mul(u64::from(height)).saturating_mul(bytes_per_px);
        let is_first = input_px == [image.width_px(), image.height_px()];
        let wanted_bytes = bytes(output_px).saturating_add(if is_first { 0 } else { bytes(input_px) });
        let available_bytes = Device::cpu()?.memory().free_bytes;
        if wanted_bytes > available_bytes {
            return Err(Error::OutOfMemory {
                what: format!("an upscaled image of {} x {} pixels", output_px[0], output_px[1]),
                wanted_bytes,
                available_bytes: Some(available_bytes),
                advice: "use a smaller image or fewer repeats",
                source: None,
            });
        }
        Ok(())
    }

    fn workspace_bytes(&self, tile_px: [u32; 2]) -> Result<u64, Error> {
        let graph = self.net.graph(input_shape(&self.geometry, tile_px.map(u64::from)));
        let graph = graph.map_err(crate::engine::Error::from)?;
        Ok(self.engine.plan(&self.session, &graph)?.workspace_bytes)
    }
}

/// Counts tiles.
struct Progress<'p, 'e> {
    done: u64,
    total: u64,
    events: &'p mut Events<'e>,
}

impl Progress<'_, '_> {
    fn tile_done(&mut self) -> Result<(), Error> {
        self.done += 1;
        tell(self.events, Event::Tile { done: self.done, total: self.total })
    }
}

fn tell(events: &mut Events<'_>, event: Event) -> Result<(), Error> {
    match events(event) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::Cancelled),
    }
}

fn input_shape(geometry: &Geometry, [width_px, height_px]: [u64; 2]) -> Shape {
    Shape::from([1, geometry.in_channels, height_px, width_px])
}

/// The bytes of a graph's parameters by their type.
fn weights_bytes(graph: &Graph) -> BTreeMap<DType, u64> {
    let mut bytes = BTreeMap::new();
    for ValueInfo { kind, origin } in &graph.values {
        if let (Origin::Param(_), Some([n_rows, row_len])) = (origin, kind.shape.as_matrix()) {
            *bytes.entry(kind.dtype).or_default() += n_rows * kind.dtype.row_bytes(row_len).unwrap_or(0);
        }
    }
    bytes
}

/// A net's factors are small: the loader refuses others.
fn factor(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// How many pixels neighbouring tiles share: twice what the net sees, so that tiling changes nothing, or, where that is
/// far, what keeps the difference out of sight. A deep net's values depend little on what is far away.
fn default_overlap_px(geometry: &Geometry) -> u32 {
    const MOST_PX: u64 = 48;
    factor((2 * geometry.radius_cells * geometry.cell_px).min(MOST_PX))
}
