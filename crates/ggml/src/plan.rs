//! Where the values of a run lie: a pure function of how large they are and when they live.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Memory wanted by one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Demand {
    pub(crate) bytes: u64,
    /// The step that first writes it.
    pub(crate) first: usize,
    /// The last step that reads or writes it; `usize::MAX` keeps it for good.
    pub(crate) last: usize,
}

/// Where a value lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) chunk: usize,
    pub(crate) offset: u64,
}

/// The places of all demands, and the sizes of the buffers that hold them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MemoryPlan {
    pub(crate) places: Vec<Place>,
    pub(crate) chunk_bytes: Vec<u64>,
}

impl MemoryPlan {
    pub(crate) fn total_bytes(&self) -> u64 {
        self.chunk_bytes.iter().sum()
    }
}

/// Places every demand so that no two that live at the same step meet. Values go where they fit best among what was
/// freed, else where a buffer grows least; buffers stay within `max_chunk_bytes` unless one value alone is larger.
pub(crate) fn plan(demands: &[Demand], alignment: u64, max_chunk_bytes: u64) -> MemoryPlan {
    let mut order: Vec<usize> = (0..demands.len()).collect();
    order.sort_by_key(|&i| (demands[i].first, i));
    let mut plan = MemoryPlan { places: vec![Place { chunk: 0, offset: 0 }; demands.len()], chunk_bytes: Vec::new() };
    let mut chunks: Vec<Chunk> = Vec::new();
    let mut living: BinaryHeap<Reverse<(usize, usize)>> = BinaryHeap::new();
    for i in order {
        let demand = demands[i];
        while let Some(&Reverse((last, gone))) = living.peek()
            && last < demand.first
        {
            living.pop();
            let Place { chunk, offset } = plan.places[gone];
            chunks[chunk].free(offset, padded(demands[gone].bytes, alignment));
        }
        plan.places[i] = place(&mut chunks, padded(demand.bytes, alignment), max_chunk_bytes);
        living.push(Reverse((demand.last, i)));
    }
    plan.chunk_bytes = chunks.iter().map(|chunk| chunk.peak).collect();
    plan
}

fn padded(bytes: u64, alignment: u64) -> u64 {
    bytes.max(1).next_multiple_of(alignment)
}

fn place(chunks: &mut Vec<Chunk>, bytes: u64, max_chunk_bytes: u64) -> Place {
    let holes = chunks
        .iter()
        .enumerate()
        .flat_map(|(chunk, state)| state.holes.iter().enumerate().map(move |(hole, &(_, size))| (size, chunk, hole)));
    if let Some((_, chunk, hole)) = holes.filter(|&(size, ..)| size >= bytes).min() {
        return Place { chunk, offset: chunks[chunk].fill(hole, bytes) };
    }
    let growths = chunks.iter().enumerate().filter(|(_, state)| state.end + bytes <= max_chunk_bytes);
    let least = growths.map(|(chunk, state)| ((state.end + bytes).saturating_sub(state.peak), chunk)).min();
    let chunk = match least {
        Some((_, chunk)) => chunk,
        None => {
            chunks.push(Chunk::default());
            chunks.len() - 1
        }
    };
    Place { chunk, offset: chunks[chunk].append(bytes) }
}

/// A buffer being filled.
#[derive(Default)]
struct Chunk {
    /// Start and size of what is free below the end, by start; no two adjoin.
    holes: Vec<(u64, u64)>,
    /// Where what is used ends.
    end: u64,
    /// The furthest end so far.
    peak: u64,
}

impl Chunk {
    fn fill(&mut self, hole: usize, bytes: u64) -> u64 {
        let (start, size) = self.holes[hole];
        match size > bytes {
            true => self.holes[hole] = (start + bytes, size - bytes),
            false => drop(self.holes.remove(hole)),
        }
        start
    }

    fn append(&mut self, bytes: u64) -> u64 {
        let start = self.end;
        self.end += bytes;
        self.peak = self.peak.max(self.end);
        start
    }

    fn free(&mut self, start: u64, size: u64) {
        let next = self.holes.partition_point(|&(hole, _)| hole < start);
        self.holes.insert(next, (start, size));
        for left in [next, next.wrapping_sub(1)] {
            if let Some(&[(hole, size), (after, more)]) =
                self.holes.get(left..left.wrapping_add(2)).and_then(|pair| pair.first_chunk())
                && hole + size == after
            {
                self.holes[left] = (hole, size + more);
                self.holes.remove(left + 1);
            }
        }
        // A hole at the end is no hole: what comes next may be larger than it.
        if let Some(&(hole, size)) = self.holes.last()
            && hole + size == self.end
        {
            self.end = hole;
            self.holes.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn demand(bytes: u64, first: usize, last: usize) -> Demand {
        Demand { bytes, first, last }
    }

    #[test]
    fn a_chain_needs_two_values() {
        let chain: Vec<Demand> = (0..10).map(|step| demand(100, step, step + 1)).collect();
        assert_eq!(plan(&chain, 4, u64::MAX).chunk_bytes, [200]);
    }

    #[test]
    fn freed_neighbours_join() {
        let plan = plan(&[demand(64, 0, 1), demand(64, 0, 2), demand(64, 0, 9), demand(128, 3, 4)], 64, u64::MAX);
        assert_eq!(plan.places[3], Place { chunk: 0, offset: 0 });
        assert_eq!(plan.chunk_bytes, [192]);
    }

    #[test]
    fn buffers_stay_within_their_limit() {
        let plan = plan(&[demand(60, 0, 5), demand(60, 0, 5), demand(150, 1, 5), demand(30, 2, 5)], 1, 100);
        assert_eq!(plan.chunk_bytes, [90, 60, 150]);
    }

    proptest! {
        #[test]
        fn values_that_live_together_do_not_meet(
            demands in proptest::collection::vec((0u64..300, 0usize..20, 0usize..20), 1..60),
            alignment in prop::sample::select(vec![1u64, 4, 32]),
            limit in prop::sample::select(vec![200u64, 1000, u64::MAX]),
        ) {
            let demands: Vec<Demand> = demands
                .into_iter()
                .map(|(bytes, first, length)| demand(bytes, first, if length == 19 { usize::MAX } else { first + length }))
                .collect();
            let plan = plan(&demands, alignment, limit);
            for (i, (a, at)) in demands.iter().zip(&plan.places).enumerate() {
                prop_assert!(at.offset % alignment == 0);
                prop_assert!(at.offset + a.bytes <= plan.chunk_bytes[at.chunk]);
                for (b, other) in demands.iter().zip(&plan.places).skip(i + 1) {
                    let together = a.first <= b.last && b.first <= a.last;
                    let meet = at.chunk == other.chunk
                        && at.offset < other.offset + b.bytes
                        && other.offset < at.offset + a.bytes;
                    prop_assert!(!(together && meet), "{:?} {:?} {:?} {:?}", a, at, b, other);
                }
            }
            for &bytes in &plan.chunk_bytes {
                prop_assert!(bytes <= limit.max(300u64.next_multiple_of(alignment)));
            }
        }
    }
}
