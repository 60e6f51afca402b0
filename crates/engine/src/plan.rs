//! What a run will do, as data: which values are computed together, what they need and how much memory that takes.

use std::fmt;

use crate::graph::{Graph, Origin, ValueId};
use crate::residency::ParamId;

/// How a graph is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Parts that run one after the other.
    pub segments: Vec<Segment>,
    /// Bytes of the largest segment's compute buffer.
    pub workspace_bytes: u64,
}

/// Values that are computed together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The values computed, in order.
    pub values: Vec<ValueId>,
    /// The inputs read.
    pub inputs: Vec<ValueId>,
    /// The parameters read.
    pub params: Vec<ParamId>,
    /// The values that leave the segment.
    pub outputs: Vec<ValueId>,
}

impl Plan {
    /// The plan that computes the whole graph at once.
    #[must_use]
    pub fn monolithic(graph: &Graph, workspace_bytes: u64) -> Self {
        let of = |wanted: fn(&Origin) -> bool| {
            let ids = (0..graph.values.len() as u32).map(ValueId);
            ids.filter(|&id| wanted(&graph.value(id).origin)).collect::<Vec<_>>()
        };
        let segment = Segment {
            values: of(|origin| matches!(origin, Origin::Op(..))),
            inputs: of(|origin| matches!(origin, Origin::Input)),
            params: graph.params(),
            outputs: graph.outputs.iter().map(|(_, id)| *id).collect(),
        };
        Self { segments: vec![segment], workspace_bytes }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, segment) in self.segments.iter().enumerate() {
            let Segment { values, inputs, params, outputs } = segment;
            writeln!(
                f,
                "segment {i}: {} values from {} inputs and {} parameters to {} outputs",
                values.len(),
                inputs.len(),
                params.len(),
                outputs.len()
            )?;
        }
        writeln!(f, "workspace: {} bytes", self.workspace_bytes)
    }
}
