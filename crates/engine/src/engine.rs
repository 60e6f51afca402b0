//! The engine: weights, and the sessions that compute with them.

use std::ops::ControlFlow;

use crate::cancel::CancelToken;
use crate::error::Error;
use crate::graph::{Graph, ValueId};
use crate::plan::Plan;
use crate::residency::{LoadProgress, Residency};
use crate::session::{Session, SessionOptions};

/// Owns the weights and runs graphs.
#[derive(Default)]
pub struct Engine {
    residency: Residency,
}

/// One run of a graph.
pub struct Task<'t> {
    /// What to compute.
    pub graph: &'t Graph,
    /// Every input by name, as contiguous f32 values of its shape.
    pub inputs: &'t [(&'t str, &'t [f32])],
    /// Every output by name, and where its f32 values go.
    pub outputs: &'t mut [(&'t str, &'t mut [f32])],
    /// Stops the run from another thread.
    pub cancel: &'t CancelToken,
    /// Hears of weights that the run has to load first.
    pub progress: &'t mut dyn FnMut(LoadProgress<'_>) -> ControlFlow<()>,
}

impl Engine {
    /// An engine without weights.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The weights.
    #[must_use]
    pub fn residency(&self) -> &Residency {
        &self.residency
    }

    /// The weights, to register and remove components.
    pub fn residency_mut(&mut self) -> &mut Residency {
        &mut self.residency
    }

    /// Starts a session.
    ///
    /// # Errors
    /// Where the device's backend cannot be started.
    pub fn session(&self, options: SessionOptions) -> Result<Session, Error> {
        Session::new(options, self.residency.ledger())
    }

    /// What running `graph` in `session` would do and need; allocates nothing on the device.
    ///
    /// # Errors
    /// Where the device lacks an operation of the graph.
    pub fn plan(&self, session: &Session, graph: &Graph) -> Result<Plan, Error> {
        session.plan(graph)
    }

    /// Runs a task: brings its weights home, computes, and fills its outputs.
    ///
    /// # Errors
    /// What loading, allocating or computing refused, or [`Error::Cancelled`]. The session is usable afterwards.
    pub fn execute(&mut self, session: &mut Session, task: Task<'_>) -> Result<(), Error> {
        let Task { graph, inputs, outputs, cancel, progress } = task;
        if cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        let input_places =
            places("input", graph, &graph.inputs, inputs.iter().map(|(name, data)| (*name, data.len())))?;
        let output_places =
            places("output", graph, &graph.outputs, outputs.iter().map(|(name, data)| (*name, data.len())))?;
        let inputs: Vec<_> = input_places.into_iter().zip(inputs).map(|(place, (_, data))| (place, *data)).collect();
        let mut outputs: Vec<_> =
            output_places.into_iter().zip(outputs).map(|(place, (_, data))| (place, &mut **data)).collect();
        let pins = self.residency.pin(graph.params(), progress)?;
        session.run(graph, &pins, &inputs, &mut outputs, cancel)
    }
}

/// The place among `declared` of each supplied value; an error unless each is supplied once and with its length.
fn places<'t>(
    what: &'static str,
    graph: &Graph,
    declared: &[(String, ValueId)],
    supplied: impl Iterator<Item = (&'t str, usize)>,
) -> Result<Vec<usize>, Error> {
    let wrong = |name: &str, expected: u64, found: u64| Error::Binding { what, name: name.to_owned(), expected, found };
    let n_elements = |place: usize| graph.value(declared[place].1).kind.shape.checked_n_elements().unwrap_or(0);
    let mut places = Vec::with_capacity(declared.len());
    for (name, len) in supplied {
        let found = len as u64;
        let place = declared.iter().position(|(other, _)| other == name).filter(|place| !places.contains(place));
        let place = place.ok_or_else(|| wrong(name, 0, found))?;
        if n_elements(place) != found {
            return Err(wrong(name, n_elements(place), found));
        }
        places.push(place);
    }
    match (0..declared.len()).find(|place| !places.contains(place)) {
        Some(place) => Err(wrong(&declared[place].0, n_elements(place), 0)),
        None => Ok(places),
    }
}
