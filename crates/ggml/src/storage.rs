//! Which tensors of a graph share memory, how much each wants, and from when to when: the demands of its plan.

use std::collections::BTreeMap;

use crate::graph::Graph;
use crate::plan::Demand;
use crate::scope::{Record, Role};

/// Which tensors of a graph share memory, and how much is wanted when.
pub(crate) struct Storages {
    pub(crate) demands: Vec<Demand>,
    /// The demand of each tensor that owns memory of the workspace. Where a result takes over an operand's memory,
    /// both have one demand.
    pub(crate) of_tensor: BTreeMap<u32, usize>,
}

impl Storages {
    /// Of everything that is computed, and every leaf but the external ones. `bytes_of` says how much memory a tensor
    /// takes. What is there from the start comes first, where it divides nothing when it stays.
    pub(crate) fn new(graph: &Graph, bytes_of: impl Fn(&Record) -> u64) -> Storages {
        let records = graph.records();
        let mut storages = Storages { demands: Vec::new(), of_tensor: BTreeMap::new() };
        let lasts = last_uses(graph);
        let leaves = (0u32..).zip(records).filter(|(_, record)| matches!(record.role, Role::Input | Role::Shape));
        for (index, record) in leaves {
            storages.add(index, Demand { bytes: bytes_of(record), first: 0, last: lasts[index as usize] });
        }
        for (step, &index) in graph.order().iter().enumerate() {
            let record = &records[index as usize];
            // Scratch leaves take memory when they are first used, be it by what writes into them.
            for &source in &record.sources {
                storages.add_scratch(records, records[source as usize].root, step, &lasts, &bytes_of);
            }
            if record.root != index || record.role != Role::Computed {
                continue;
            }
            let last = lasts[index as usize];
            match storages.reusable(records, index, step) {
                Some(demand) => {
                    storages.demands[demand].last = last;
                    storages.of_tensor.insert(index, demand);
                }
                None => storages.add(index, Demand { bytes: bytes_of(record), first: step, last }),
            }
        }
        storages
    }

    fn add(&mut self, index: u32, demand: Demand) {
        self.of_tensor.insert(index, self.demands.len());
        self.demands.push(demand);
    }

    fn add_scratch(
        &mut self,
        records: &[Record],
        root: u32,
        step: usize,
        lasts: &[usize],
        bytes_of: &impl Fn(&Record) -> u64,
    ) {
        let record = &records[root as usize];
        if record.role == Role::Scratch && !self.of_tensor.contains_key(&root) {
            self.add(root, Demand { bytes: bytes_of(record), first: step, last: lasts[root as usize] });
        }
    }

    /// An operand's memory that the result can take over: used here for the last time, by one operand of the result's
    /// layout that starts where the memory does.
    fn reusable(&self, records: &[Record], index: u32, step: usize) -> Option<usize> {
        let record = &records[index as usize];
        if !record.op.can_be_in_place() {
            return None;
        }
        let demand_of = |source: &u32| self.of_tensor.get(&records[*source as usize].root).copied();
        record.sources.iter().find_map(|source| {
            let operand = &records[*source as usize];
            let demand = demand_of(source)?;
            let is_only_use = record.sources.iter().filter(|other| demand_of(other) == Some(demand)).count() == 1;
            let fits = operand.root_offset == 0 && operand.layout == record.layout;
            (self.demands[demand].last == step && is_only_use && fits).then_some(demand)
        })
    }
}

/// The last step that uses each tensor's memory, views included; outputs are used for good.
fn last_uses(graph: &Graph) -> Vec<usize> {
    let records = graph.records();
    let mut lasts = vec![0; records.len()];
    for (step, &index) in graph.order().iter().enumerate() {
        let record = &records[index as usize];
        lasts[record.root as usize] = step;
        for &source in &record.sources {
            lasts[records[source as usize].root as usize] = step;
        }
    }
    for (last, record) in lasts.iter_mut().zip(records) {
        if record.is_output {
            *last = usize::MAX;
        }
    }
    lasts
}
