//! The radius that each net states, against the one that follows from its graph.

use proptest::prelude::*;

use super::checkpoints::{MOSR, Spelling, VIDEO, X4PLUS, any_mosr, any_rrdbnet, any_srvgg, mosr, rrdbnet, srvgg};
use crate::engine::residency::Residency;
use crate::engine::{Graph, Op, Origin, Shape};
use crate::testing::{Spec, source};
use crate::upscalers::{Geometry, SrvggConfig, UpscalerConfig};

/// The rows of the input that row `p` of the output depends on, were the image endless: the first and the last.
fn rows_read(graph: &Graph, p: i64) -> (i64, i64) {
    let mut needed: Vec<Option<(i64, i64)>> = vec![None; graph.values.len()];
    needed[graph.outputs[0].1.index()] = Some((p, p));
    for (i, value) in graph.values.iter().enumerate().rev() {
        let (Some((first, last)), Origin::Op(op, operands)) = (needed[i], &value.origin) else { continue };
        let rows = |operand: usize| graph.value(operands[operand]).kind.shape.dims()[2] as i64;
        let (first, last) = match op {
            Op::Conv2d(_) => (first - rows(1) / 2, last + rows(1) / 2),
            Op::UpsampleNearest { factor } | Op::PixelShuffle { factor } => {
                (first.div_euclid(*factor as i64), last.div_euclid(*factor as i64))
            }
            Op::PixelUnshuffle { factor } => (first * *factor as i64, last * *factor as i64 + *factor as i64 - 1),
            Op::InterpolateBicubic { height, .. } => {
                let centre = |row: i64| (row as f64 + 0.5) * rows(0) as f64 / *height as f64 - 0.5;
                (centre(first).floor() as i64 - 1, centre(last).floor() as i64 + 2)
            }
            _ => (first, last),
        };
        for operand in operands {
            let known = needed[operand.index()].unwrap_or((first, last));
            needed[operand.index()] = Some((known.0.min(first), known.1.max(last)));
        }
    }
    needed[graph.inputs[0].1.index()].unwrap()
}

/// The farthest cell that any output row of a few cells depends on.
fn radius_cells(graph: &Graph, geometry: &Geometry) -> u64 {
    let cell_of = |row: i64| row.div_euclid(geometry.cell_px as i64);
    let (cell_rows, first_cell) = ((geometry.cell_px * geometry.scale) as i64, 1000);
    let distance = |p: i64| {
        let (first, last) = rows_read(graph, p);
        let own = p.div_euclid(cell_rows);
        (own - cell_of(first)).max(cell_of(last) - own)
    };
    (first_cell * cell_rows..(first_cell + 4) * cell_rows).map(distance).max().unwrap() as u64
}

fn check(config: &UpscalerConfig, tensors: &[Spec]) -> u64 {
    let (source, geometry) = (source(tensors), config.geometry());
    let mut residency = Residency::new();
    let declaration = residency.declare(source.catalogue(), None);
    let side = 4 * geometry.cell_px;
    let graph = config.build(&declaration.root()).graph(Shape::from([1, geometry.in_channels, side, side])).unwrap();
    let result = graph.value(graph.outputs[0].1).kind.shape;
    assert_eq!(result, Shape::from([1, geometry.out_channels, side * geometry.scale, side * geometry.scale]));
    assert_eq!(radius_cells(&graph, &geometry), geometry.radius_cells, "{config:?}");
    geometry.radius_cells
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn of_any_rrdbnet(net in any_rrdbnet()) {
        let tensors = rrdbnet(&net, Spelling::BasicSr);
        check(&UpscalerConfig::Rrdbnet(net), &tensors);
    }

    #[test]
    fn of_any_srvgg(net in any_srvgg()) {
        let tensors = srvgg(&net);
        check(&UpscalerConfig::Srvgg(net), &tensors);
    }

    #[test]
    fn of_any_mosr(net in any_mosr()) {
        let tensors = mosr(&net);
        check(&UpscalerConfig::Mosr(net), &tensors);
    }
}

#[test]
fn of_published_nets() {
    assert_eq!(check(&UpscalerConfig::Rrdbnet(X4PLUS), &rrdbnet(&X4PLUS, Spelling::BasicSr)), 349);
    assert_eq!(check(&UpscalerConfig::Mosr(MOSR), &mosr(&MOSR)), 124);
    for (scale, radius) in [(4, 18), (3, 19), (2, 19)] {
        assert_eq!(check(&UpscalerConfig::Srvgg(SrvggConfig { scale, ..VIDEO }), &srvgg(&VIDEO)), radius);
    }
}
