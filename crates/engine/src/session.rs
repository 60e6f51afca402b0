//! A session: one stream of runs on one device, with the workspace that they share.
//!
//! The graph that ran last stays lowered and allocated, so that runs of the same graph only copy inputs, compute and copy
//! outputs. Dropping the session frees its workspace; weights belong to residency and stay.

use std::sync::Arc;

use crate::cancel::CancelToken;
use crate::error::{Error, Phase};
use crate::ggml::{AllocationMeter, Backend, BackendOptions, ComputeStatus, Device, GraphAllocator};
use crate::graph::Graph;
use crate::lower::{Lowered, lower};
use crate::plan::Plan;
use crate::residency::{Ledger, Pins, Purpose};

/// Where a session runs.
#[derive(Clone)]
pub struct SessionOptions {
    /// The device that computes.
    pub device: Device,
    /// Threads, where the device computes on the host.
    pub n_threads: usize,
}

/// A stream of runs on one device.
pub struct Session {
    device: Device,
    backend: Backend,
    account: Arc<dyn AllocationMeter>,
    prepared: Option<Prepared>,
}

/// A graph ready to run, in a workspace of its size.
struct Prepared {
    graph: Graph,
    lowered: Lowered,
    /// Owns the workspace in which the lowered graph's values lie.
    workspace: GraphAllocator,
}

impl Session {
    pub(crate) fn new(options: SessionOptions, ledger: &Ledger) -> Result<Self, Error> {
        let SessionOptions { device, n_threads } = options;
        let backend = Backend::new(&device, BackendOptions { n_threads });
        let backend = backend.map_err(|source| device_error(&device, Phase::Start, source))?;
        let account = ledger.account(&device, Purpose::Workspace);
        Ok(Self { device, backend, account, prepared: None })
    }

    /// The device that computes.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Bytes of workspace held now.
    #[must_use]
    pub fn workspace_bytes(&self) -> u64 {
        self.prepared.as_ref().map_or(0, |prepared| prepared.workspace.bytes())
    }

    /// Frees the workspace; the next run makes it anew.
    pub fn release_workspace(&mut self) {
        self.prepared = None;
    }

    /// Plans a graph without allocating anything on the device.
    pub(crate) fn plan(&self, graph: &Graph) -> Result<Plan, Error> {
        let lowered = self.lower(graph)?;
        let workspace_bytes = GraphAllocator::new(&self.device, &self.account).measure(&lowered.graph);
        Ok(Plan::monolithic(graph, workspace_bytes))
    }

    /// Runs a graph whose parameters are pinned. Inputs and outputs are given by their place in the graph and have its
    /// lengths. A failure drops the workspace.
    pub(crate) fn run(
        &mut self,
        graph: &Graph,
        pins: &Pins,
        inputs: &[(usize, &[f32])],
        outputs: &mut [(usize, &mut [f32])],
        cancel: &CancelToken,
    ) -> Result<(), Error> {
        // Another graph's workspace is freed before the next is allocated: the two never add up.
        let reusable = self.prepared.take().filter(|prepared| prepared.graph == *graph);
        let mut prepared = match reusable {
            Some(prepared) => prepared,
            None => self.prepare(graph)?,
        };
        self.run_prepared(&mut prepared, pins, inputs, outputs, cancel)?;
        // Only residency decides how long weights stay.
        prepared.lowered.graph.unbind();
        self.prepared = Some(prepared);
        Ok(())
    }

    fn prepare(&self, graph: &Graph) -> Result<Prepared, Error> {
        let mut lowered = self.lower(graph)?;
        let mut workspace = GraphAllocator::new(&self.device, &self.account);
        let workspace_bytes = workspace.measure(&lowered.graph);
        workspace.allocate(&mut lowered.graph).map_err(|source| Error::OutOfMemory {
            device: self.device.name().to_owned(),
            workspace_bytes,
            source,
        })?;
        tracing::debug!(device = self.device.name(), n_values = graph.values.len(), workspace_bytes, "graph is ready");
        Ok(Prepared { graph: graph.clone(), lowered, workspace })
    }

    fn run_prepared(
        &mut self,
        prepared: &mut Prepared,
        pins: &Pins,
        inputs: &[(usize, &[f32])],
        outputs: &mut [(usize, &mut [f32])],
        cancel: &CancelToken,
    ) -> Result<(), Error> {
        let Lowered { graph, inputs: input_ids, params, outputs: output_ids } = &mut prepared.lowered;
        for (param, leaf) in params {
            let resident = pins.resident(*param).ok_or(crate::residency::Error::UnknownParam(*param))?;
            let bound = graph.bind(*leaf, &resident.buffer, resident.offset_bytes);
            bound.map_err(|source| device_error(&self.device, Phase::Inputs, source))?;
        }
        for (place, data) in inputs {
            graph
                .write(input_ids[*place], bytemuck::cast_slice(data))
                .map_err(|source| device_error(&self.device, Phase::Inputs, source))?;
        }
        let status = self.backend.compute(graph, Some(cancel.flag()));
        match status.map_err(|source| device_error(&self.device, Phase::Compute, source))? {
            ComputeStatus::Completed if !cancel.is_cancelled() => {}
            _ => return Err(Error::Cancelled),
        }
        for (place, data) in outputs {
            graph
                .read(output_ids[*place], bytemuck::cast_slice_mut(data))
                .map_err(|source| device_error(&self.device, Phase::Outputs, source))?;
        }
        Ok(())
    }

    fn lower(&self, graph: &Graph) -> Result<Lowered, Error> {
        lower(graph).map_err(|source| device_error(&self.device, Phase::Lowering, source))
    }
}

fn device_error(device: &Device, phase: Phase, source: crate::ggml::Error) -> Error {
    Error::Device { device: device.name().to_owned(), phase, source }
}
