//! Running small graphs, and arrays to compute the same by hand.
#![allow(dead_code, reason = "each test binary uses some of it")]
#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use std::sync::Arc;

use fresco_ggml::{
    AllocationMeter, Backend, BackendOptions, ComputeStatus, CountingMeter, DType, Device, Graph, GraphAllocator,
    GraphScope, OpError, Tensor,
};

/// Values with lengths in ggml's order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Array {
    pub(crate) ne: [usize; 4],
    pub(crate) data: Vec<f32>,
}

impl Array {
    /// Values that a function gives at each position.
    pub(crate) fn from_fn(ne: [usize; 4], mut value: impl FnMut([usize; 4]) -> f32) -> Array {
        let mut data = Vec::with_capacity(ne.iter().product());
        for i3 in 0..ne[3] {
            for i2 in 0..ne[2] {
                for i1 in 0..ne[1] {
                    data.extend((0..ne[0]).map(|i0| value([i0, i1, i2, i3])));
                }
            }
        }
        Array { ne, data }
    }

    /// Values between -2 and 2 that look random and are the same for the same seed.
    pub(crate) fn noise(ne: [usize; 4], seed: u32) -> Array {
        let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(12345);
        Array::from_fn(ne, |_| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            (state >> 8) as f32 / (1 << 22) as f32 - 2.0
        })
    }

    pub(crate) fn at(&self, [i0, i1, i2, i3]: [usize; 4]) -> f32 {
        self.data[((i3 * self.ne[2] + i2) * self.ne[1] + i1) * self.ne[0] + i0]
    }

    /// The value at a position that repeats beyond the lengths.
    pub(crate) fn repeated(&self, at: [usize; 4]) -> f32 {
        self.at(std::array::from_fn(|d| at[d] % self.ne[d]))
    }

    pub(crate) fn map(&self, f: impl Fn(f32) -> f32) -> Array {
        Array { ne: self.ne, data: self.data.iter().map(|&x| f(x)).collect() }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.data.iter().flat_map(|x| x.to_ne_bytes()).collect()
    }

    /// As elements of another type; rows are whole blocks.
    pub(crate) fn to_bytes(&self, dtype: DType) -> Vec<u8> {
        let mut bytes = vec![0; dtype.row_bytes(self.data.len() as u64).unwrap() as usize];
        fresco_ggml::quantize(dtype, &self.data, self.ne[0], &mut bytes).unwrap();
        bytes
    }

    /// What remains of the values in another type.
    pub(crate) fn rounded_to(&self, dtype: DType) -> Array {
        let mut data = vec![0.0; self.data.len()];
        fresco_ggml::dequantize(dtype, &self.to_bytes(dtype), &mut data).unwrap();
        Array { ne: self.ne, data }
    }
}

/// An input of a graph.
pub(crate) struct Input {
    pub(crate) dtype: DType,
    pub(crate) ne: [usize; 4],
    pub(crate) bytes: Vec<u8>,
}

impl From<&Array> for Input {
    fn from(array: &Array) -> Input {
        Input { dtype: DType::F32, ne: array.ne, bytes: array.bytes() }
    }
}

/// An input of another type than f32.
pub(crate) fn typed(array: &Array, dtype: DType) -> Input {
    Input { dtype, ne: array.ne, bytes: array.to_bytes(dtype) }
}

pub(crate) fn integers(ne: [usize; 4], values: &[i32]) -> Input {
    Input { dtype: DType::I32, ne, bytes: values.iter().flat_map(|value| value.to_ne_bytes()).collect() }
}

pub(crate) fn signed(ne: [usize; 4]) -> [i64; 4] {
    ne.map(|len| len as i64)
}

pub(crate) fn meter() -> (Arc<CountingMeter>, Arc<dyn AllocationMeter>) {
    let meter = Arc::new(CountingMeter::new());
    (meter.clone(), meter)
}

/// Computes the contiguous copy of what `build` makes of the inputs, on the CPU.
pub(crate) fn eval(
    inputs: &[Input],
    n_threads: usize,
    build: impl for<'g> FnOnce(&GraphScope<'g>, &[Tensor<'g>]) -> Result<Tensor<'g>, OpError>,
) -> (DType, [i64; 4], Vec<u8>) {
    eval_on(&Device::cpu().unwrap(), inputs, n_threads, build)
}

/// Computes on a device.
pub(crate) fn eval_on(
    device: &Device,
    inputs: &[Input],
    n_threads: usize,
    build: impl for<'g> FnOnce(&GraphScope<'g>, &[Tensor<'g>]) -> Result<Tensor<'g>, OpError>,
) -> (DType, [i64; 4], Vec<u8>) {
    let (mut graph, (ids, output, dtype, ne, n_bytes)) = Graph::build(|scope| {
        let leaves = inputs.iter().map(|input| scope.new_input(input.dtype, signed(input.ne)));
        let leaves = leaves.collect::<Result<Vec<_>, _>>()?;
        let result = build(scope, &leaves)?;
        let output = if result.is_contiguous() { result } else { result.cont()? };
        output.set_output();
        scope.expand(output);
        let ids: Vec<_> = leaves.iter().map(Tensor::id).collect();
        Ok((ids, output.id(), output.dtype(), output.ne(), output.n_bytes()))
    })
    .unwrap();
    let mut allocator = GraphAllocator::new(device, &meter().1);
    allocator.allocate(&mut graph).unwrap();
    for (input, id) in inputs.iter().zip(ids) {
        graph.write(id, &input.bytes).unwrap();
    }
    let mut backend = Backend::new(device, BackendOptions { n_threads }).unwrap();
    assert_eq!(backend.compute(&mut graph, None).unwrap(), ComputeStatus::Completed);
    let mut bytes = vec![0; n_bytes as usize];
    graph.read(output, &mut bytes).unwrap();
    (dtype, ne, bytes)
}

pub(crate) fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_ne_bytes(*bytes)).collect()
}

/// Checks an f32 result on 1, 2 and 3 threads, which agree in every bit, and are as expected within a tolerance
/// relative to the largest expected value.
#[track_caller]
pub(crate) fn check(
    inputs: &[Input],
    expected: &Array,
    tolerance: f32,
    build: impl for<'g> Fn(&GraphScope<'g>, &[Tensor<'g>]) -> Result<Tensor<'g>, OpError>,
) {
    let (dtype, ne, bytes) = eval(inputs, 1, &build);
    assert_eq!((dtype, ne), (DType::F32, signed(expected.ne)));
    assert_close(&floats(&bytes), &expected.data, tolerance);
    for n_threads in [2, 3] {
        assert!(eval(inputs, n_threads, &build).2 == bytes, "{n_threads} threads differ from one");
    }
}

#[track_caller]
pub(crate) fn assert_close(found: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(found.len(), expected.len());
    let scale = expected.iter().fold(1.0f32, |max, x| max.max(x.abs()));
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= tolerance * scale, "element {i}: {a} instead of {b}");
    }
}
