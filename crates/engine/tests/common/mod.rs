//! What the engine's tests share: weights in a file, a one-call run, and naive mathematics to compare with.

#![allow(dead_code, unreachable_pub, reason = "each test file is a crate that uses a part of this module")]

use std::ops::ControlFlow;
use std::sync::Arc;

use fresco_engine::ggml::Device;
use fresco_engine::loader::ModelSource;
use fresco_engine::residency::{ComponentOptions, Param, ParamRole};
use fresco_engine::{CancelToken, Conv2d, DType, Engine, Error, Graph, Session, SessionOptions, Task};

/// A weight of a test: name, role, shape and values.
pub struct Weight {
    pub name: &'static str,
    pub role: ParamRole,
    pub shape: Vec<u64>,
    pub values: Vec<f32>,
}

/// An engine with registered weights and a session on the CPU.
pub struct Fixture {
    pub engine: Engine,
    pub session: Session,
    pub params: Vec<Param>,
    _folder: tempfile::TempDir,
}

impl Fixture {
    pub fn new(weights: &[Weight], wanted: Option<DType>, n_threads: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("weights.safetensors");
        std::fs::write(&path, safetensors(weights)).unwrap();
        let source = Arc::new(ModelSource::open(&path).unwrap());
        let device = Device::cpu().unwrap();
        let mut engine = Engine::new();
        let declaration = engine.residency_mut().declare(source.catalogue(), wanted);
        let root = declaration.root();
        let shape = |weight: &Weight| fresco_engine::Shape::new(&weight.shape).unwrap();
        let params = weights.iter().map(|weight| root.param(weight.name, weight.role, shape(weight))).collect();
        let options = ComponentOptions { name: "test".into(), source: source.clone(), device: device.clone() };
        engine.residency_mut().register(declaration, options).unwrap();
        let session = engine.session(SessionOptions { device, n_threads }).unwrap();
        Self { engine, session, params, _folder: folder }
    }

    /// Runs a graph of one input `x` and one output `y`.
    pub fn run(&mut self, graph: &Graph, x: &[f32]) -> Result<Vec<f32>, Error> {
        self.run_cancellable(graph, x, &CancelToken::new())
    }

    pub fn run_cancellable(&mut self, graph: &Graph, x: &[f32], cancel: &CancelToken) -> Result<Vec<f32>, Error> {
        let n_outputs = graph.value(graph.outputs[0].1).kind.shape.checked_n_elements().unwrap();
        let mut y = vec![f32::NAN; n_outputs as usize];
        let task = Task {
            graph,
            inputs: &[("x", x)],
            outputs: &mut [("y", &mut y)],
            cancel,
            progress: &mut |_| ControlFlow::Continue(()),
        };
        self.engine.execute(&mut self.session, task)?;
        Ok(y)
    }
}

/// Values in −1..1 that differ from seed to seed.
pub fn noise(seed: u64, len: usize) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    std::iter::repeat_with(next).take(len).collect()
}

/// Convolution by its definition, in f64.
pub fn naive_conv2d(
    x: &[f32],
    [n, c, h, w]: [usize; 4],
    weight: &[f32],
    [out, per_group, kernel_h, kernel_w]: [usize; 4],
    bias: &[f32],
    conv: &Conv2d,
) -> Vec<f32> {
    let out_h = conv.output_len(0, h as u64, kernel_h as u64).unwrap() as usize;
    let out_w = conv.output_len(1, w as u64, kernel_w as u64).unwrap() as usize;
    let at = |axis: usize, o: usize, k: usize| {
        (o as u64 * conv.stride[axis] + k as u64 * conv.dilation[axis]).checked_sub(conv.padding[axis])
    };
    let mut y = Vec::with_capacity(n * out * out_h * out_w);
    for image in 0..n {
        for o in 0..out {
            let first = o / (out / conv.groups as usize) * per_group;
            for oy in 0..out_h {
                for ox in 0..out_w {
                    let mut sum = f64::from(bias[o]);
                    for i in 0..per_group {
                        for ky in 0..kernel_h {
                            for kx in 0..kernel_w {
                                let (Some(iy), Some(ix)) = (at(0, oy, ky), at(1, ox, kx)) else { continue };
                                let (iy, ix) = (iy as usize, ix as usize);
                                if iy < h && ix < w {
                                    let tap = weight[((o * per_group + i) * kernel_h + ky) * kernel_w + kx];
                                    sum += f64::from(tap) * f64::from(x[((image * c + first + i) * h + iy) * w + ix]);
                                }
                            }
                        }
                    }
                    y.push(sum as f32);
                }
            }
        }
    }
    y
}

/// The largest difference, relative to the largest expected value.
pub fn relative_error(found: &[f32], expected: &[f32]) -> f32 {
    assert_eq!(found.len(), expected.len());
    let scale = expected.iter().fold(f32::MIN_POSITIVE, |max, v| max.max(v.abs()));
    let error = |(a, b): (&f32, &f32)| if (a - b).is_nan() { f32::INFINITY } else { (a - b).abs() };
    found.iter().zip(expected).map(error).fold(0.0, f32::max) / scale
}

fn safetensors(weights: &[Weight]) -> Vec<u8> {
    let mut header = String::from("{");
    let mut data = Vec::new();
    for (i, Weight { name, shape, values, .. }) in weights.iter().enumerate() {
        assert_eq!(shape.iter().product::<u64>(), values.len() as u64);
        let start = data.len();
        data.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        let comma = if i == 0 { "" } else { "," };
        let end = data.len();
        header += &format!(r#"{comma}"{name}":{{"dtype":"F32","shape":{shape:?},"data_offsets":[{start},{end}]}}"#);
    }
    header += "}";
    header += &" ".repeat(header.len().next_multiple_of(8) - header.len());
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.as_bytes());
    file.extend(data);
    file
}
