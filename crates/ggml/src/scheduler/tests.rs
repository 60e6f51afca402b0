//! The scheduler with two backends of the CPU, of which one pretends not to compute this or that.

use super::*;
use crate::{BackendOptions, CountingMeter, DType, GraphAllocator, OpError, Tensor};

const NE: [i64; 4] = [16, 6, 2, 1];

struct Built {
    graph: Graph,
    input: TensorId,
    weight: TensorId,
    outputs: [TensorId; 2],
}

/// Operations of every kind: in place and not, into views, casts, and a value used long after it was made.
fn build() -> Built {
    let (graph, (input, weight, outputs)) = Graph::build(|scope| {
        let x = scope.new_input(DType::F32, NE)?;
        let weight = scope.new_external(DType::F16, [16, 16, 1, 1])?;
        let early = x.silu()?;
        let product = weight.mul_mat(early)?;
        let halves = product.cast(DType::F16)?.cast(DType::F32)?;
        let [_, row, plane, volume] = halves.nb();
        let part = early.view_4d([16, 2, 2, 1], [row, plane, volume], row)?;
        let written = halves.scale(2.0)?.set_inplace(part.neg()?, [row, plane, volume], 3 * row)?;
        let copied = part.cpy(written.view_4d([16, 2, 2, 1], [row, plane, volume], 0)?)?;
        scope.expand(copied);
        let last = written.add(early)?.add(copied.view_1d(16, 0)?)?;
        let both = [last.soft_max_ext(None, 0.5)?, early];
        both.iter().for_each(Tensor::set_output);
        scope.expand(both[0]);
        Ok::<_, OpError>((x.id(), weight.id(), both.map(|output| output.id())))
    })
    .unwrap();
    Built { graph, input, weight, outputs }
}

fn bytes(n: usize, step: f32) -> Vec<u8> {
    (0..n).flat_map(|i| (i as f32 * step).sin().to_ne_bytes()).collect()
}

fn backend() -> Backend {
    Backend::new(&Device::cpu().unwrap(), BackendOptions { n_threads: 2 }).unwrap()
}

/// Two runs with other inputs, the second after the values moved; computed as `compute` does.
fn run(mut compute: impl FnMut(&mut Graph) -> Result<ComputeStatus, Error>) -> Vec<Vec<u8>> {
    let meter: Arc<dyn AllocationMeter> = Arc::new(CountingMeter::new());
    let cpu = Device::cpu().unwrap();
    let weights = cpu.alloc_buffer(512, BufferUsage::Weights, &meter).unwrap();
    let values: Vec<f32> = (0..256).map(|i| (i as f32 * 0.3).cos()).collect();
    let mut halves = vec![0; 512];
    crate::quantize(DType::F16, &values, 16, &mut halves).unwrap();
    weights.write(0, &halves).unwrap();
    let Built { mut graph, input, weight, outputs } = build();
    let mut results = Vec::new();
    for step in [0.1, 0.7] {
        let mut allocator = GraphAllocator::new(&cpu, &meter);
        allocator.allocate(&mut graph).unwrap();
        graph.bind(weight, &weights, 0).unwrap();
        graph.write(input, &bytes(192, step)).unwrap();
        assert_eq!(compute(&mut graph).unwrap(), ComputeStatus::Completed);
        for output in outputs {
            let mut result = vec![0; 768];
            graph.read(output, &mut result).unwrap();
            results.push(result);
        }
    }
    results
}

/// What the device declines, and how many nodes that is.
type Policy = (fn(&Device, &Record) -> bool, usize);

#[test]
fn any_declined_operations_leave_the_result_as_it_is() {
    let mut alone = backend();
    let expected = run(|graph| alone.compute(graph, None));
    let policies: [Policy; 5] = [
        (|_, _| false, 0),
        (|_, _| true, 11),
        (|_, node| matches!(node.op, Op::Set | Op::Copy), 2),
        (|_, node| matches!(node.op, Op::Cast | Op::MulMat), 3),
        (|_, node| node.op == Op::SoftMax, 1),
    ];
    for (declines, n_declined) in policies {
        let count = Arc::new(CountingMeter::new());
        let meter: Arc<dyn AllocationMeter> = count.clone();
        let mut scheduler = Scheduler::new(backend(), backend(), &meter).unwrap();
        scheduler.declines = declines;
        assert_eq!(scheduler.fallbacks(&build().graph).len(), n_declined);
        assert_eq!(run(|graph| scheduler.compute(graph, None)), expected, "{n_declined} declined");
        assert_eq!(count.peak_bytes() > 0, n_declined > 0);
        drop(scheduler);
        assert_eq!(count.held_bytes(), 0);
    }
}

#[test]
fn an_abort_flag_stops_between_parts() {
    let meter: Arc<dyn AllocationMeter> = Arc::new(CountingMeter::new());
    let mut scheduler = Scheduler::new(backend(), backend(), &meter).unwrap();
    scheduler.declines = |_, node| node.op == Op::SoftMax;
    let Built { mut graph, input, weight, .. } = build();
    let mut allocator = GraphAllocator::new(scheduler.device(), &meter);
    allocator.allocate(&mut graph).unwrap();
    let weights = scheduler.device().alloc_buffer(512, BufferUsage::Weights, &meter).unwrap();
    graph.bind(weight, &weights, 0).unwrap();
    graph.write(input, &bytes(192, 0.1)).unwrap();
    let status = scheduler.compute(&mut graph, Some(&AtomicBool::new(true))).unwrap();
    assert_eq!(status, ComputeStatus::Aborted);
    graph.write(input, &bytes(192, 0.1)).unwrap();
    assert_eq!(scheduler.compute(&mut graph, None).unwrap(), ComputeStatus::Completed);
}
