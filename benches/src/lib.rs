//! What the benchmarks share: loading a network and timing its runs.
//!
//! A benchmark is a program that prints one line a measurement. Whole networks take seconds a run, so the median of a few
//! runs says all there is to say, and is printed as the rate of floating-point operations that the network's graph asks
//! for.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use fresco::models::engine::loader::ModelSource;
use fresco::models::engine::residency::{ComponentOptions, Pins};
use fresco::models::engine::{DType, Engine, Graph, Session, SessionOptions, Shape, Task};
use fresco::models::upscalers;
use fresco::{CancelToken, Runtime};

/// A network on the CPU, ready to run on inputs of one shape.
pub struct Net {
    /// The network for inputs of that shape.
    pub graph: Graph,
    engine: Engine,
    session: Session,
    input: Vec<f32>,
    output: Vec<f32>,
    /// Keeps the weights in memory while the network lives.
    _pins: Pins,
}

impl Net {
    /// Loads an upscaler for inputs of `[n, c, h, w]` values, with weights of the type `dtype`.
    ///
    /// # Errors
    ///
    /// If the file cannot be loaded or its network cannot take such inputs.
    pub fn upscaler(path: &Path, dtype: DType, input: Shape, n_threads: usize) -> anyhow::Result<Self> {
        let device = Runtime::new()?.device("cpu")?;
        let source = ModelSource::open(path)?;
        let detected = upscalers::detect(&source)?;
        let source = Arc::new(detected.rename(source)?);

        let mut engine = Engine::new();
        let declaration = engine.residency_mut().declare(source.catalogue(), Some(dtype));
        let net = detected.config.build(&declaration.root());
        let component = ComponentOptions { name: "upscaler".into(), source: source.clone(), device: device.clone() };
        engine.residency_mut().register(declaration, component)?;

        let graph = net.graph(input)?;
        let pins = engine.residency_mut().pin(graph.params(), &mut |_| std::ops::ControlFlow::Continue(()))?;
        let session = engine.session(SessionOptions { device, n_threads })?;
        let (_, output) = graph.outputs.first().context("the network has an output")?;
        let n_outputs = graph.value(*output).kind.shape.checked_n_elements().context("the output is too large")?;
        let n_inputs = input.checked_n_elements().context("the input is too large")?;
        // Some picture: the time does not depend on the values.
        let input = (0..n_inputs).map(|index| (index % 97) as f32 / 96.0).collect();
        Ok(Self { graph, engine, session, input, output: vec![0.0; n_outputs as usize], _pins: pins })
    }

    /// Runs the network once.
    ///
    /// # Errors
    ///
    /// If the device fails.
    pub fn run(&mut self) -> anyhow::Result<()> {
        let task = Task {
            graph: &self.graph,
            inputs: &[("x", &self.input)],
            outputs: &mut [("y", &mut self.output)],
            cancel: &CancelToken::new(),
            progress: &mut |_| std::ops::ControlFlow::Continue(()),
        };
        Ok(self.engine.execute(&mut self.session, task)?)
    }
}

/// The median of `n_runs` durations in seconds, after a run that warms caches up.
///
/// # Errors
///
/// What `run` returns.
pub fn median_seconds(n_runs: usize, mut run: impl FnMut() -> anyhow::Result<()>) -> anyhow::Result<f64> {
    run()?;
    let mut seconds = Vec::new();
    for _ in 0..n_runs {
        let start = Instant::now();
        run()?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    seconds.sort_by(f64::total_cmp);
    Ok(seconds[n_runs / 2])
}

/// The file of a published model.
///
/// # Errors
///
/// If it has not been fetched.
pub fn published(model: &str) -> anyhow::Result<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/models").join(model).with_extension("param");
    ensure!(path.is_file(), "{} is missing; run `cargo xtask testdata`", path.display());
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_run_is_not_counted() {
        let mut n_runs = 0;
        let seconds = median_seconds(3, || {
            n_runs += 1;
            Ok(())
        });
        assert!(seconds.unwrap() >= 0.0);
        assert_eq!(n_runs, 4);
    }

    #[test]
    fn a_failed_run_ends_the_measurement() {
        assert!(median_seconds(3, || anyhow::bail!("no device")).is_err());
    }
}
