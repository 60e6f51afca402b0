//! Runs and their memory: what is counted, refused, reused, locked, and what each mistake is told.
#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod common;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use common::{Array, floats, meter};
use fresco_ggml::{
    AllocationMeter, Backend, BackendOptions, Buffer, BufferUsage, ComputeStatus, DType, Device, Error, Graph,
    GraphAllocator, Refused, TensorId,
};

fn cpu() -> Device {
    Device::cpu().unwrap()
}

fn backend(n_threads: usize) -> Backend {
    Backend::new(&cpu(), BackendOptions { n_threads }).unwrap()
}

/// `x · weight` per element, then `n_more` more operations that keep the value.
fn scaled_graph(ne: [i64; 4], n_more: usize) -> (Graph, Ids) {
    Graph::build(|scope| {
        let x = scope.new_input(DType::F32, ne)?;
        let weight = scope.new_external(DType::F32, [1, 1, 1, 1])?;
        let mut y = x.mul(weight)?;
        for _ in 0..n_more {
            y = y.add(weight.scale(0.0)?)?;
        }
        y.set_output();
        scope.expand(y);
        Ok(Ids { x: x.id(), weight: weight.id(), y: y.id() })
    })
    .unwrap()
}

struct Ids {
    x: TensorId,
    weight: TensorId,
    y: TensorId,
}

fn weight_buffer(value: f32, meter: &Arc<dyn AllocationMeter>) -> Buffer {
    let buffer = cpu().alloc_buffer(4, BufferUsage::Weights, meter).unwrap();
    buffer.write(0, &value.to_ne_bytes()).unwrap();
    buffer
}

fn read(graph: &Graph, id: TensorId, len: usize) -> Vec<f32> {
    let mut bytes = vec![0; len * 4];
    graph.read(id, &mut bytes).unwrap();
    floats(&bytes)
}

#[test]
fn a_graph_runs_again_with_other_inputs_and_weights() {
    let (_, meter) = meter();
    let (mut graph, ids) = scaled_graph([5, 3, 1, 1], 3);
    let mut allocator = GraphAllocator::new(&cpu(), &meter);
    allocator.allocate(&mut graph).unwrap();
    let mut backend = backend(2);
    for (seed, weight) in [(1, 2.0), (2, -3.0), (3, 0.5)] {
        let x = Array::noise([5, 3, 1, 1], seed);
        graph.bind(ids.weight, &weight_buffer(weight, &meter), 0).unwrap();
        graph.write(ids.x, &x.bytes()).unwrap();
        assert_eq!(backend.compute(&mut graph, None).unwrap(), ComputeStatus::Completed);
        assert_eq!(read(&graph, ids.y, 15), x.map(|x| x * weight).data);
        backend.set_n_threads(1).unwrap();
    }
}

#[test]
fn bindings_keep_their_buffers_alive() {
    let (count, meter) = meter();
    let (mut graph, ids) = scaled_graph([1, 1, 1, 1], 0);
    graph.bind(ids.weight, &weight_buffer(7.0, &meter), 0).unwrap();
    assert_eq!(count.held_bytes(), 4);
    let mut allocator = GraphAllocator::new(&cpu(), &meter);
    allocator.allocate(&mut graph).unwrap();
    graph.write(ids.x, &2f32.to_ne_bytes()).unwrap();
    backend(1).compute(&mut graph, None).unwrap();
    assert_eq!(read(&graph, ids.y, 1), [14.0]);
    drop(graph);
    assert_eq!(count.held_bytes(), allocator.bytes());
}

#[test]
fn measured_bytes_are_the_bytes_taken() {
    let (count, meter) = meter();
    let mut allocator = GraphAllocator::new(&cpu(), &meter);
    let (mut small, _) = scaled_graph([100, 10, 1, 1], 4);
    let (mut large, _) = scaled_graph([100, 40, 1, 1], 4);
    let small_bytes = allocator.measure(&small);
    let large_bytes = allocator.measure(&large);
    // The input, and the result in place of it or beside it.
    assert!((4_000..=8_192).contains(&small_bytes), "{small_bytes}");
    assert!(large_bytes > 3 * small_bytes);
    assert_eq!(count.peak_bytes(), 0, "measuring allocates");
    allocator.allocate(&mut small).unwrap();
    assert_eq!((allocator.bytes(), count.held_bytes()), (small_bytes, small_bytes));
    // Frees before it grows.
    allocator.allocate(&mut large).unwrap();
    assert_eq!((allocator.bytes(), count.held_bytes(), count.peak_bytes()), (large_bytes, large_bytes, large_bytes));
    // Large memory serves a small graph.
    allocator.allocate(&mut small).unwrap();
    assert_eq!((count.held_bytes(), count.peak_bytes()), (large_bytes, large_bytes));
    allocator.release();
    assert_eq!(count.held_bytes(), 0);
    allocator.allocate(&mut small).unwrap();
    drop(allocator);
    assert_eq!(count.held_bytes(), 0);
}

#[test]
fn a_chain_reuses_memory() {
    let chain = |n: usize| {
        let (graph, ()) = Graph::build(|scope| {
            let mut x = scope.new_input(DType::F32, [1000, 1, 1, 1])?;
            for _ in 0..n {
                // Not computed in place, so that each step needs memory of its own for a moment.
                x = x.leaky_relu(0.1)?;
            }
            x.set_output();
            scope.expand(x);
            Ok(())
        })
        .unwrap();
        GraphAllocator::new(&cpu(), &meter().1).measure(&graph)
    };
    assert_eq!(chain(2), chain(50));
    assert!(chain(50) <= 2 * 4096);
}

#[test]
fn scratch_leaves_take_memory_when_they_are_used() {
    let (graph, ()) = Graph::build(|scope| {
        let mut x = scope.new_input(DType::F32, [1000, 1, 1, 1])?;
        for _ in 0..20 {
            x = scope.new_scratch(DType::F32, [1000, 1, 1, 1])?.set_inplace(x, [4000; 3], 0)?;
        }
        x.set_output();
        scope.expand(x);
        Ok(())
    })
    .unwrap();
    let bytes = GraphAllocator::new(&cpu(), &meter().1).measure(&graph);
    assert!(bytes <= 2 * 4096, "{bytes}");
}

/// Refuses the n-th allocation.
struct RefuseNth {
    n_asked: AtomicU64,
    n_refused: u64,
    held_bytes: AtomicU64,
}

impl AllocationMeter for RefuseNth {
    fn acquire(&self, bytes: u64) -> Result<(), Refused> {
        if self.n_asked.fetch_add(1, Ordering::Relaxed) == self.n_refused {
            return Err(Refused { reason: "the test says no".into() });
        }
        self.held_bytes.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    fn release(&self, bytes: u64) {
        let before = self.held_bytes.fetch_sub(bytes, Ordering::Relaxed);
        assert!(before >= bytes, "more is released than was acquired");
    }
}

#[test]
fn any_refused_allocation_unwinds() {
    let mut n_refused = 0;
    loop {
        let refusing = Arc::new(RefuseNth { n_asked: 0.into(), n_refused, held_bytes: 0.into() });
        let meter: Arc<dyn AllocationMeter> = refusing.clone();
        let run = || -> Result<Vec<f32>, Error> {
            let weights = cpu().alloc_buffer(64, BufferUsage::Weights, &meter)?;
            weights.write(32, &3f32.to_ne_bytes())?;
            let (mut small, _) = scaled_graph([10, 1, 1, 1], 2);
            let (mut large, ids) = scaled_graph([50, 1, 1, 1], 2);
            let mut allocator = GraphAllocator::new(&cpu(), &meter);
            allocator.allocate(&mut small)?;
            allocator.allocate(&mut large)?;
            large.bind(ids.weight, &weights, 32)?;
            large.write(ids.x, &Array::from_fn([50, 1, 1, 1], |_| 2.0).bytes())?;
            backend(1).compute(&mut large, None)?;
            Ok(read(&large, ids.y, 50))
        };
        let result = run();
        assert_eq!(refusing.held_bytes.load(Ordering::Relaxed), 0, "a refusal leaks");
        match result {
            Ok(values) => {
                assert_eq!(values, [6.0; 50]);
                break;
            }
            Err(Error::Refused { device, bytes, source }) => {
                assert_eq!((device.as_str(), source.reason.as_str()), ("CPU", "the test says no"));
                assert!(bytes > 0);
            }
            Err(other) => panic!("{other}"),
        }
        n_refused += 1;
    }
    assert_eq!(n_refused, 3, "every allocation asks");
}

#[test]
fn impossible_sizes_are_out_of_memory() {
    let (count, meter) = meter();
    for bytes in [u64::MAX, 1 << 60, u64::MAX - 63] {
        let error = cpu().alloc_buffer(bytes, BufferUsage::Compute, &meter).unwrap_err();
        assert!(matches!(error, Error::OutOfMemory { bytes: asked, .. } if asked == bytes), "{error}");
        assert_eq!(count.held_bytes(), 0);
    }
}

#[test]
fn an_empty_buffer_is_a_buffer() {
    let (_, meter) = meter();
    let buffer = cpu().alloc_buffer(0, BufferUsage::Weights, &meter).unwrap();
    buffer.write(0, &[]).unwrap();
    assert!(matches!(buffer.write(0, &[1]), Err(Error::OutOfBounds { limit_bytes: 0, .. })));
}

#[test]
fn buffers_check_their_bounds() {
    let (_, meter) = meter();
    let buffer = cpu().alloc_buffer(100, BufferUsage::Weights, &meter).unwrap();
    buffer.write(90, &[1; 10]).unwrap();
    let mut data = [0; 10];
    buffer.read(90, &mut data).unwrap();
    assert_eq!(data, [1; 10]);
    for offset in [91, 100, 101, u64::MAX] {
        assert!(matches!(buffer.write(offset, &[0; 10]), Err(Error::OutOfBounds { .. })));
        assert!(matches!(buffer.read(offset, &mut data), Err(Error::OutOfBounds { .. })));
    }
}

#[test]
fn what_is_missing_is_named_before_ggml_sees_it() {
    let (_, meter) = meter();
    let (mut graph, ids) = scaled_graph([4, 1, 1, 1], 0);
    let (mut other, other_ids) = scaled_graph([4, 1, 1, 1], 0);
    let mut backend = backend(1);
    let mut allocator = GraphAllocator::new(&cpu(), &meter);
    let bytes = [0; 16];
    // Nothing is allocated yet.
    assert!(matches!(graph.write(ids.x, &bytes), Err(Error::NotPlaced { id, .. }) if id == ids.x));
    assert!(matches!(backend.compute(&mut graph, None), Err(Error::InputNotWritten { id }) if id == ids.x));
    allocator.allocate(&mut graph).unwrap();
    assert!(matches!(backend.compute(&mut graph, None), Err(Error::InputNotWritten { id }) if id == ids.x));
    graph.write(ids.x, &bytes).unwrap();
    assert!(matches!(backend.compute(&mut graph, None), Err(Error::NotPlaced { id, .. }) if id == ids.weight));
    // The wrong tensor, the wrong length, the wrong graph.
    assert!(matches!(graph.write(ids.y, &bytes), Err(Error::WrongRole { .. })));
    assert!(matches!(graph.write(ids.weight, &bytes), Err(Error::WrongRole { .. })));
    assert!(matches!(graph.read(ids.x, &mut [0; 16]), Err(Error::WrongRole { .. })));
    assert!(matches!(graph.write(ids.x, &bytes[1..]), Err(Error::OutOfBounds { n_bytes: 15, limit_bytes: 16, .. })));
    assert!(matches!(graph.read(ids.y, &mut [0; 17]), Err(Error::OutOfBounds { .. })));
    assert!(matches!(graph.write(other_ids.x, &bytes), Err(Error::ForeignTensor { .. })));
    // Binding where there is no room, at an odd address, or what cannot be bound.
    let buffer = cpu().alloc_buffer(8, BufferUsage::Weights, &meter).unwrap();
    assert!(matches!(graph.bind(ids.x, &buffer, 0), Err(Error::WrongRole { .. })));
    assert!(matches!(graph.bind(ids.weight, &buffer, 8), Err(Error::OutOfBounds { .. })));
    assert!(matches!(graph.bind(ids.weight, &buffer, u64::MAX - 3), Err(Error::OutOfBounds { .. })));
    assert!(matches!(graph.bind(ids.weight, &buffer, 2), Err(Error::Misaligned { alignment_bytes: 4, .. })));
    graph.bind(ids.weight, &buffer, 4).unwrap();
    backend.compute(&mut graph, None).unwrap();
    // A run uses the inputs up.
    assert!(matches!(backend.compute(&mut graph, None), Err(Error::InputNotWritten { .. })));
    // Another graph takes the memory over.
    allocator.allocate(&mut other).unwrap();
    assert!(matches!(graph.write(ids.x, &bytes), Err(Error::Stale)));
    assert!(matches!(graph.read(ids.y, &mut [0; 16]), Err(Error::Stale)));
    other.write(other_ids.x, &bytes).unwrap();
    drop(allocator);
    assert!(matches!(other.read(other_ids.y, &mut [0; 16]), Err(Error::Stale)));
    other.bind(other_ids.weight, &buffer, 0).unwrap();
    assert!(matches!(backend.compute(&mut other, None), Err(Error::Stale)));
}

#[test]
fn an_output_that_nothing_computes_cannot_be_read() {
    let (_, meter) = meter();
    let (mut graph, ids) = Graph::build(|scope| {
        let x = scope.new_input(DType::F32, [4, 1, 1, 1])?;
        let forgotten = x.scale(2.0)?;
        let scratch = scope.new_scratch(DType::F32, [4, 1, 1, 1])?;
        let external = scope.new_external(DType::F32, [4, 1, 1, 1])?;
        let outputs = [forgotten, scratch, external, forgotten.view_1d(4, 0)?];
        outputs.iter().for_each(fresco_ggml::Tensor::set_output);
        scope.expand(x.neg()?);
        Ok([x.id()].into_iter().chain(outputs.map(|output| output.id())).collect::<Vec<_>>())
    })
    .unwrap();
    let mut allocator = GraphAllocator::new(&cpu(), &meter);
    allocator.allocate(&mut graph).unwrap();
    graph.write(ids[0], &[0; 16]).unwrap();
    backend(1).compute(&mut graph, None).unwrap();
    for &id in &ids[1..] {
        assert!(matches!(graph.read(id, &mut [0; 16]), Err(Error::NotPlaced { .. })));
    }
}

#[test]
fn thread_counts_have_limits() {
    for n_threads in [0, 513, usize::MAX] {
        let error = Backend::new(&cpu(), BackendOptions { n_threads }).unwrap_err();
        assert!(matches!(error, Error::ThreadCount { .. }), "{error}");
    }
    assert!(backend(1).set_n_threads(0).is_err());
}

/// Bytes that start at a multiple of 64.
struct Page(Vec<u8>, usize);

impl Page {
    fn new(data: &[u8]) -> Page {
        let mut bytes = vec![0; data.len() + 64];
        let start = bytes.as_ptr().align_offset(64);
        bytes[start..start + data.len()].copy_from_slice(data);
        Page(bytes, start)
    }
}

impl AsRef<[u8]> for Page {
    fn as_ref(&self) -> &[u8] {
        &self.0[self.1..self.0.len() - 64 + self.1]
    }
}

#[test]
fn mapped_memory_is_computed_with_and_never_written() {
    let (count, meter) = meter();
    let page = Arc::new(Page::new(&[[0; 4], 5f32.to_ne_bytes()].concat()));
    let buffer = Buffer::from_host_mapping(&cpu(), page.clone(), &meter).unwrap();
    assert_eq!((buffer.bytes(), count.held_bytes(), buffer.is_read_only()), (8, 8, true));
    assert!(matches!(buffer.write(0, &[1]), Err(Error::ReadOnly { .. })));

    let (mut graph, ids) = scaled_graph([2, 1, 1, 1], 1);
    graph.bind(ids.weight, &buffer, 4).unwrap();
    drop(buffer);
    assert_eq!(Arc::strong_count(&page), 2, "the graph keeps the mapping");
    let mut allocator = GraphAllocator::new(&cpu(), &meter);
    allocator.allocate(&mut graph).unwrap();
    graph.write(ids.x, &[2f32.to_ne_bytes(), 3f32.to_ne_bytes()].concat()).unwrap();
    backend(1).compute(&mut graph, None).unwrap();
    assert_eq!(read(&graph, ids.y, 2), [10.0, 15.0]);
    drop((graph, allocator));
    assert_eq!((count.held_bytes(), Arc::strong_count(&page)), (0, 1));

    // A graph that would write into the mapping cannot be bound to it.
    let (mut writing, leaf) = Graph::build(|scope| {
        let state = scope.new_external(DType::F32, [2, 1, 1, 1])?;
        let x = scope.new_input(DType::F32, [1, 1, 1, 1])?;
        scope.expand(x.cpy(state.view_1d(1, 4)?)?);
        Ok(state.id())
    })
    .unwrap();
    let buffer = Buffer::from_host_mapping(&cpu(), page, &meter).unwrap();
    assert!(matches!(writing.bind(leaf, &buffer, 0), Err(Error::ReadOnly { .. })));
}

#[test]
fn a_mapping_at_an_odd_address_is_refused() {
    struct Odd(Page);
    impl AsRef<[u8]> for Odd {
        fn as_ref(&self) -> &[u8] {
            &self.0.as_ref()[4..]
        }
    }
    let (count, meter) = meter();
    let odd = Arc::new(Odd(Page::new(&[0; 64])));
    assert!(matches!(Buffer::from_host_mapping(&cpu(), odd, &meter), Err(Error::Misaligned { .. })));
    assert_eq!(count.held_bytes(), 0);
}

#[test]
fn state_in_a_buffer_is_written_and_kept() {
    let (_, meter) = meter();
    let state = cpu().alloc_buffer(64, BufferUsage::Compute, &meter).unwrap();
    let (mut graph, (leaf, x)) = Graph::build(|scope| {
        let state = scope.new_external(DType::F32, [4, 1, 1, 1])?;
        let x = scope.new_input(DType::F32, [1, 1, 1, 1])?;
        // Shifts the state by one and appends the input.
        let shifted = state.view_1d(3, 4)?.cont()?;
        let moved = shifted.cpy(state.view_1d(3, 0)?)?;
        scope.expand(moved);
        scope.expand(x.cpy(state.view_1d(1, 12)?)?);
        Ok((state.id(), x.id()))
    })
    .unwrap();
    graph.bind(leaf, &state, 16).unwrap();
    let mut allocator = GraphAllocator::new(&cpu(), &meter);
    allocator.allocate(&mut graph).unwrap();
    for value in 1..=6 {
        graph.write(x, &(value as f32).to_ne_bytes()).unwrap();
        backend(2).compute(&mut graph, None).unwrap();
    }
    let mut bytes = [0; 16];
    state.read(16, &mut bytes).unwrap();
    assert_eq!(floats(&bytes), [3.0, 4.0, 5.0, 6.0]);
}

#[test]
fn row_numbers_are_checked_when_they_are_written() {
    let (_, meter) = meter();
    let (mut graph, (rows, y)) = Graph::build(|scope| {
        let table = scope.arange(0.0, 6.0, 1.0)?.reshape([2, 3, 1, 1])?;
        let rows = scope.new_input(DType::I32, [2, 1, 1, 1])?;
        let y = table.get_rows(rows)?;
        y.set_output();
        scope.expand(y);
        Ok((rows.id(), y.id()))
    })
    .unwrap();
    let mut allocator = GraphAllocator::new(&cpu(), &meter);
    allocator.allocate(&mut graph).unwrap();
    let bytes = |rows: [i32; 2]| rows.map(i32::to_ne_bytes).concat();
    for wrong in [[0, 3], [-1, 0], [i32::MAX, 0], [0, i32::MIN]] {
        let error = graph.write(rows, &bytes(wrong)).unwrap_err();
        assert!(matches!(error, Error::RowOutOfRange { n_rows: 3, .. }), "{error}");
        assert!(matches!(backend(1).compute(&mut graph, None), Err(Error::InputNotWritten { .. })));
    }
    graph.write(rows, &bytes([2, 0])).unwrap();
    backend(1).compute(&mut graph, None).unwrap();
    assert_eq!(read(&graph, y, 4), [4.0, 5.0, 0.0, 1.0]);
}

#[test]
fn an_abort_flag_stops_before_and_within_a_run() {
    let (_, meter) = meter();
    let (mut graph, ids) = scaled_graph([256, 256, 1, 1], 300);
    graph.bind(ids.weight, &weight_buffer(1.0, &meter), 0).unwrap();
    let mut allocator = GraphAllocator::new(&cpu(), &meter);
    allocator.allocate(&mut graph).unwrap();
    let x = Array::noise([256, 256, 1, 1], 1);
    let mut backend = backend(2);
    graph.write(ids.x, &x.bytes()).unwrap();
    let status = backend.compute(&mut graph, Some(&AtomicBool::new(true))).unwrap();
    assert_eq!(status, ComputeStatus::Aborted);
    // From another thread, in the middle of as many runs as it takes to meet one.
    let flag = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(5));
            flag.store(true, Ordering::Relaxed);
        });
        loop {
            graph.write(ids.x, &x.bytes()).unwrap();
            if backend.compute(&mut graph, Some(&flag)).unwrap() == ComputeStatus::Aborted {
                break;
            }
        }
    });
    // The backend goes on afterwards, and no longer looks at the flag.
    graph.write(ids.x, &x.bytes()).unwrap();
    assert_eq!(backend.compute(&mut graph, None).unwrap(), ComputeStatus::Completed);
    assert_eq!(read(&graph, ids.y, 256 * 256), x.data);
}

#[test]
fn threads_that_share_memory_take_turns() {
    let (_, meter) = meter();
    let shared = weight_buffer(1.0, &meter);
    let allocator = Mutex::new(GraphAllocator::new(&cpu(), &meter));
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let (shared, allocator) = (&shared, &allocator);
            scope.spawn(move || {
                let (mut graph, ids) = scaled_graph([64, 64, 1, 1], 20);
                graph.bind(ids.weight, shared, 0).unwrap();
                let x = Array::noise([64, 64, 1, 1], seed);
                let mut backend = backend(1);
                let mut n_runs = 0;
                while n_runs < 10 {
                    allocator.lock().unwrap().allocate(&mut graph).unwrap();
                    // Another thread may take the memory at any point; then nothing wrong is read.
                    let run = |graph: &mut Graph, backend: &mut Backend| -> Result<Vec<f32>, Error> {
                        graph.write(ids.x, &x.bytes())?;
                        backend.compute(graph, None)?;
                        let mut bytes = vec![0; 64 * 64 * 4];
                        graph.read(ids.y, &mut bytes)?;
                        Ok(floats(&bytes))
                    };
                    match run(&mut graph, &mut backend) {
                        Ok(values) => {
                            assert!(values == x.data);
                            n_runs += 1;
                        }
                        Err(error) => assert!(matches!(error, Error::Stale), "{error}"),
                    }
                    shared.write(0, &1f32.to_ne_bytes()).unwrap();
                }
            });
        }
    });
}

#[test]
fn devices_are_found_and_described() {
    let devices = Device::all().unwrap();
    let cpu = cpu();
    assert!(devices.contains(&cpu));
    assert_eq!((cpu.name(), cpu.backend_name()), ("CPU", "CPU"));
    assert!(!cpu.description().is_empty());
    let memory = cpu.memory();
    assert!(0 < memory.free_bytes && memory.free_bytes < memory.total_bytes, "{memory:?}");
    assert_eq!(fresco_ggml::select_device(&devices, "cpu").unwrap(), cpu);
    assert_eq!(cpu.tensor_bytes(DType::Q8_0, [64, 3]), Some(204));
    assert_eq!(cpu.tensor_bytes(DType::Q8_0, [65, 3]), None);
    assert_eq!(cpu.tensor_bytes(DType::F32, [u64::MAX, 3]), None);
}
