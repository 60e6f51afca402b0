//! What the tests of models share: a net of a file, run on the CPU.

#![allow(dead_code, unreachable_pub, reason = "each test file is a crate that uses a part of this module")]

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use fresco::models::engine::ggml::Device;
use fresco::models::engine::loader::{ModelSource, ReadOptions, ReadRequest, read_tensors};
use fresco::models::engine::residency::{ComponentOptions, LoadReport};
use fresco::models::engine::{CancelToken, DType, Engine, Graph, Session, SessionOptions, Shape, Task};
use fresco::models::upscalers::{Upscaler, UpscalerConfig, detect};

/// An upscaler with its weights, ready to run on the CPU.
pub struct Net {
    pub config: UpscalerConfig,
    pub report: LoadReport,
    engine: Engine,
    session: Session,
    upscaler: Upscaler,
}

impl Net {
    /// Loads a model file; `wanted` is the weights' type where it is not that of the file.
    pub fn load(path: &Path, wanted: Option<DType>) -> Self {
        let source = ModelSource::open(path).unwrap();
        let detected = detect(&source).unwrap();
        let source = Arc::new(detected.rename(source).unwrap());
        let device = Device::cpu().unwrap();
        let mut engine = Engine::new();
        let declaration = engine.residency_mut().declare(source.catalogue(), wanted);
        let upscaler = detected.config.build(&declaration.root());
        let options = ComponentOptions { name: "upscaler".into(), source: source.clone(), device: device.clone() };
        let report = engine.residency_mut().register(declaration, options).unwrap();
        let session = engine.session(SessionOptions { device, n_threads: 1 }).unwrap();
        Self { config: detected.config, report, engine, session, upscaler }
    }

    /// The net's graph for an input of shape `[N, C, H, W]`.
    pub fn graph(&self, shape: [u64; 4]) -> Graph {
        self.upscaler.graph(Shape::from(shape)).unwrap()
    }

    /// The net's output for an input of shape `[N, C, H, W]`.
    pub fn run(&mut self, shape: [u64; 4], x: &[f32]) -> Vec<f32> {
        let graph = self.graph(shape);
        let n_outputs = graph.value(graph.outputs[0].1).kind.shape.checked_n_elements().unwrap();
        let mut y = vec![f32::NAN; n_outputs as usize];
        let task = Task {
            graph: &graph,
            inputs: &[("x", x)],
            outputs: &mut [("y", &mut y)],
            cancel: &CancelToken::new(),
            progress: &mut |_| ControlFlow::Continue(()),
        };
        self.engine.execute(&mut self.session, task).unwrap();
        y
    }
}

/// The shape and the values of a tensor of a file.
pub fn read(source: &ModelSource, name: &str) -> (Vec<u64>, Vec<f32>) {
    let shape = source.catalogue().get(name).unwrap_or_else(|| panic!("no tensor {name}")).shape.clone();
    let mut bytes = vec![0; 4 * shape.iter().product::<u64>() as usize];
    let row_len = *shape.last().unwrap();
    let request = ReadRequest { name, wanted: DType::F32, row_len, destination: &mut bytes };
    read_tensors(source, &mut [request], ReadOptions::default()).unwrap();
    (shape, bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect())
}

/// The largest difference, relative to the largest expected value.
pub fn relative_error(found: &[f32], expected: &[f32]) -> f32 {
    assert_eq!(found.len(), expected.len());
    let scale = expected.iter().fold(f32::MIN_POSITIVE, |max, v| max.max(v.abs()));
    let error = |(a, b): (&f32, &f32)| if (a - b).is_nan() { f32::INFINITY } else { (a - b).abs() };
    found.iter().zip(expected).map(error).fold(0.0, f32::max) / scale
}
