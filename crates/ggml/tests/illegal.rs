//! Arbitrary operations on arbitrary operands: each is refused with an error or computes. ggml answers what it does not
//! expect by aborting the process, and so this test, too.
#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod common;

use std::cell::RefCell;
use std::sync::Mutex;

use common::meter;
use fresco_ggml::{
    Backend, BackendOptions, BufferUsage, ComputeStatus, DType, Device, Error, Graph, GraphAllocator, GraphScope,
    Interpolation, Op, OpError, OpProblem, Tensor, TensorId,
};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

/// Kinds of operations in [`make`].
const N_OPS: usize = 40;

/// One operation: which, on what, with which numbers.
#[derive(Clone, Debug)]
struct Step {
    op: usize,
    operands: [usize; 2],
    numbers: [i64; 12],
    slope: f32,
}

/// A leaf: its type, its lengths, and which kind it is.
#[derive(Clone, Debug)]
struct Leaf {
    dtype: DType,
    ne: [i64; 4],
    kind: usize,
}

/// Lengths that divide each other often, with some that cannot be.
fn length() -> impl Strategy<Value = i64> {
    prop_oneof![
        8 => prop::sample::select(vec![1i64, 1, 1, 2, 3, 4, 6, 8]),
        3 => prop::sample::select(vec![32i64, 64, 256]),
        1 => prop::sample::select(vec![0i64, -1, 1 << 40, i64::MAX, i64::MIN]),
    ]
}

fn number() -> impl Strategy<Value = i64> {
    prop_oneof![
        10 => 0i64..6,
        4 => prop::sample::select(vec![8i64, 12, 16, 32, 64, 128, 256]),
        1 => prop::sample::select(vec![-1i64, -4, 1 << 31, 1 << 40, i64::MAX, i64::MIN]),
    ]
}

fn leaf() -> impl Strategy<Value = Leaf> {
    let float = prop::sample::select(vec![DType::F32, DType::F32, DType::F32, DType::F16, DType::BF16, DType::I32]);
    let dtype = prop_oneof![3 => float, 1 => prop::sample::select(DType::ALL.to_vec())];
    (dtype, prop::array::uniform4(length()), 0usize..3).prop_map(|(dtype, mut ne, kind)| {
        if dtype.is_quantized() {
            ne[0] = dtype.block_len() as i64 * (ne[0] % 3).abs().max(1);
        }
        Leaf { dtype, ne, kind }
    })
}

fn step() -> impl Strategy<Value = Step> {
    let slope = prop_oneof![4 => -2f32..2.0, 1 => prop::sample::select(vec![f32::NAN, f32::INFINITY, -0.0, 1e30])];
    (0..N_OPS, prop::array::uniform2(0usize..100), prop::array::uniform12(number()), slope)
        .prop_map(|(op, operands, numbers, slope)| Step { op, operands, numbers, slope })
}

/// Makes the operation of a step.
fn make<'g>(
    step: &Step,
    scope: &GraphScope<'g>,
    a: Tensor<'g>,
    b: Tensor<'g>,
    inputs: &mut Vec<(TensorId, u64)>,
) -> Result<Tensor<'g>, OpError> {
    let n = step.numbers;
    let bytes = |i: usize| n[i] as usize;
    let [n0, n1, n2, n3, ..] = n;
    let (mode, slope) = (n[11].rem_euclid(2), step.slope);
    match step.op {
        0 => a.add(b),
        1 => a.sub(b),
        2 => a.mul(b),
        3 => a.div(b),
        4 => a.scale_bias(slope, n0 as f32),
        5 => a.abs()?.sqr()?.sqrt()?.neg(),
        6 => [Tensor::exp, Tensor::tanh, Tensor::sigmoid, Tensor::relu][bytes(0) % 4](a),
        7 => [Tensor::gelu, Tensor::gelu_erf, Tensor::gelu_quick, Tensor::silu][bytes(0) % 4](a),
        8 => a.leaky_relu(slope),
        9 => a.clamp(slope, n0 as f32),
        10 | 11 => a.mul_mat(b),
        12 | 13 => {
            a.im2col([n0, n1], [n2.max(1), n3], [n[4], n[5]], [n[6].max(1), 1], [DType::F32, DType::F16][mode as usize])
        }
        14 => a.view_1d(n0, bytes(1)),
        15 => a.view_2d([n0, n1], bytes(2), bytes(3)),
        16 => a.view_3d([n0, n1, n2], [bytes(3), bytes(4)], bytes(5)),
        17 => match mode {
            0 => a.view_4d([n0, n1, n2, n3], [bytes(4), bytes(5), bytes(6)], bytes(7)),
            _ => {
                a.view_4d([a.ne()[0], n1, n2, n3], [bytes(4), bytes(5), bytes(6)].map(|n| n.wrapping_mul(a.nb()[0])), 0)
            }
        },
        // A strip of rows that is there.
        18 => a.view_4d(
            [a.ne()[0], 1, a.ne()[2], a.ne()[3]],
            [a.nb()[1], a.nb()[2], a.nb()[3]],
            (a.ne()[1] as usize - 1) * a.nb()[1],
        ),
        19 => match mode {
            0 => a.reshape([n0, n1, n2, n3]),
            _ => a.reshape([a.ne()[1], a.ne()[0], a.ne()[3], a.ne()[2]]),
        },
        20 => a.reshape([a.ne()[0], a.ne()[1..].iter().product(), 1, 1]),
        21 => match mode {
            0 => a.permute([n0, n1, n2, n3].map(|place| place as usize)),
            _ => a.permute([0usize, 1, 2, 3].map(|place| place.wrapping_add(bytes(0)) % 4)),
        },
        22 => a.permute([[1, 0, 2, 3], [0, 2, 1, 3], [3, 2, 1, 0], [2, 0, 1, 3]][bytes(0) % 4]),
        23 => a.transpose(),
        24 => a.cont(),
        25 => a.concat(b, bytes(0)),
        26 => a.pad_ext([n0, n1, n2, n3], [n[4], n[5], n[6], n[7]]),
        27 => match mode {
            0 => a.repeat([n0, n1, n2, n3]),
            _ => a.repeat([a.ne()[0], a.ne()[1].saturating_mul(n1), a.ne()[2], a.ne()[3].saturating_mul(n3)]),
        },
        28 => a.cast(DType::ALL[bytes(0) % DType::ALL.len()]),
        29 | 30 => a.cpy(b),
        31 => {
            let words = |i: usize| bytes(i).wrapping_mul(4);
            let part = if mode == 0 { b } else { b.view_2d([1, 1], b.nb()[1], 0)? };
            a.cont()?.set_inplace(part, [words(0), words(1), words(2)], words(3))
        }
        32 => a.set_inplace(b, [a.nb()[1], a.nb()[2], a.nb()[3]], bytes(0) % 4 * a.nb()[1]),
        33 => match mode {
            0 => a.upscale_nearest(n0),
            _ => a.interpolate([n0, n1], [Interpolation::Bilinear, Interpolation::Bicubic][bytes(2) % 2]),
        },
        34 => [Tensor::norm, Tensor::rms_norm][mode as usize](a, slope),
        35 => a.group_norm(n0, slope.abs()),
        36 => a.soft_max_ext((mode == 0).then_some(b), slope),
        37 => match mode {
            0 => a.get_rows(b),
            _ => {
                let rows = scope.new_input(DType::I32, [n0, a.ne()[2], a.ne()[3], 1])?;
                inputs.push((rows.id(), rows.n_bytes()));
                a.get_rows(rows)
            }
        },
        38 => [Tensor::sum_rows, Tensor::mean][mode as usize](a),
        39 => match mode {
            0 => a.fill(slope),
            _ if bytes(0) % 2 == 0 => scope.arange(slope, n1 as f32, n2 as f32),
            _ => a.timestep_embedding(n0, n1 as i32),
        },
        _ => unreachable!(),
    }
}

static BACKEND: Mutex<Option<Backend>> = Mutex::new(None);

/// Builds and computes the graph, and counts the operations that it has.
fn run(leaves: &[Leaf], steps: &[Step], made: &mut [usize; N_OPS]) {
    let cpu = Device::cpu().unwrap();
    let built = Graph::build(|scope| {
        let mut tensors = Vec::new();
        let (mut inputs, mut externals) = (Vec::new(), Vec::new());
        for Leaf { dtype, ne, kind } in leaves {
            let made = match kind {
                0 => scope.new_input(*dtype, *ne),
                1 => scope.new_external(*dtype, *ne),
                _ => scope.new_scratch(*dtype, *ne),
            };
            // Small, as the test is about kinds of operands and not about sizes; large ones must still be describable.
            let Ok(tensor) = made else { continue };
            if tensor.n_bytes() > 1 << 20 {
                continue;
            }
            match kind {
                0 => inputs.push((tensor.id(), tensor.n_bytes())),
                1 => externals.push((tensor.id(), tensor.n_bytes())),
                _ => {}
            }
            tensors.push(tensor);
        }
        if tensors.is_empty() {
            return Ok(None);
        }
        for step in steps {
            let [a, b] = step.operands.map(|operand| tensors[operand % tensors.len()]);
            match make(step, scope, a, b, &mut inputs) {
                Ok(tensor) if tensor.ne().iter().product::<i64>() <= 1 << 18 => {
                    made[step.op] += 1;
                    scope.expand(tensor);
                    tensors.push(tensor);
                }
                // Made, but too much to compute here.
                Ok(_) => {}
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
        Ok(Some((inputs, externals)))
    });
    let (mut graph, Some((inputs, externals))) = built.unwrap() else { return };
    let (_, meter) = meter();
    let mut allocator = GraphAllocator::new(&cpu, &meter);
    allocator.allocate(&mut graph).unwrap();
    assert_eq!(allocator.bytes(), allocator.measure(&graph));
    for (id, n_bytes) in inputs {
        // Zeros are row numbers of every table.
        graph.write(id, &vec![0; n_bytes as usize]).unwrap();
    }
    for (id, n_bytes) in externals {
        let buffer = cpu.alloc_buffer(n_bytes, BufferUsage::Weights, &meter).unwrap();
        buffer.write(0, &vec![0x2c; n_bytes as usize]).unwrap();
        graph.bind(id, &buffer, 0).unwrap();
    }
    let mut backend = BACKEND.lock().unwrap();
    let backend = backend.get_or_insert_with(|| Backend::new(&cpu, BackendOptions { n_threads: 1 }).unwrap());
    assert_eq!(backend.compute(&mut graph, None).unwrap(), ComputeStatus::Completed);
}

#[test]
fn arbitrary_graphs_are_refused_or_compute() {
    let config = ProptestConfig {
        cases: ProptestConfig::default().cases.max(1500),
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let strategy = (proptest::collection::vec(leaf(), 1..6), proptest::collection::vec(step(), 1..12));
    let made = RefCell::new([0; N_OPS]);
    let outcome = TestRunner::new(config).run(&strategy, |(leaves, steps)| {
        run(&leaves, &steps, &mut made.borrow_mut());
        Ok(())
    });
    outcome.unwrap();
    let made = made.into_inner();
    println!("{made:?}");
    assert!(made.iter().all(|&n| n > 0), "operations that never had possible operands: {made:?}");
}

#[test]
fn errors_name_operation_operands_and_problem() {
    let error = Graph::build(|scope| {
        let a = scope.new_input(DType::F16, [3, 5, 1, 1])?;
        let b = scope.new_input(DType::F32, [4, 2, 1, 1])?;
        a.mul_mat(b).map(|_| ())
    })
    .unwrap_err();
    let Error::Op(OpError { op: Op::MulMat, ref operands, problem: OpProblem::Shapes(_) }) = error else {
        panic!("{error}")
    };
    assert_eq!((operands[0].dtype, operands[1].ne), (DType::F16, [4, 2, 1, 1]));
    let text = error.to_string();
    assert!(text.starts_with("mul_mat: ") && text.contains("f16 [3, 5, 1, 1], f32 [4, 2, 1, 1]"), "{text}");
}
