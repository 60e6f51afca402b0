//! Building graphs: what is recorded, what is refused and where the message points.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{Fixture, Weight, noise};
use expect_test::expect;
use fresco_engine::residency::ParamRole;
use fresco_engine::{Conv2d, DType, GraphBuilder, GraphError, Plan};

fn weight(name: &'static str, role: ParamRole, shape: &[u64]) -> Weight {
    let n = shape.iter().product::<u64>() as usize;
    Weight { name, role, shape: shape.into(), values: noise(1, n) }
}

#[test]
fn a_forward_reads_like_mathematics() {
    let weights = [
        weight("first.weight", ParamRole::ConvWeight, &[8, 3, 3, 3]),
        weight("first.bias", ParamRole::Vector, &[8]),
        weight("body.weight", ParamRole::ConvWeight, &[8, 16, 1, 1]),
    ];
    let fixture = Fixture::new(&weights, Some(DType::F16), 1);
    let [first, bias, body] = fixture.params[..] else { unreachable!() };
    let graph = GraphBuilder::new();
    let x = graph.input("x", [1, 3, 6, 5]);
    let h = x.conv2d(&first, Some(&bias), Conv2d::same(3)).leaky_relu(0.2);
    graph.cut("head", h);
    let joined = h.concat(&[h * 0.5], 1);
    let y = h + joined.conv2d(&body, None, Conv2d::default());
    graph.cut("body.0", y);
    graph.output("y", y.upsample_nearest(2));
    let graph = graph.finish().unwrap();
    expect![[r#"
        %0 = input 'x' : [1, 3, 6, 5]
        %3 = conv2d(padding [1, 1]) %0 p0.0:f16 p0.1 : [1, 8, 6, 5]
        %4 = leaky_relu(0.2) %3 : [1, 8, 6, 5] | cut head
        %5 = scale(0.5) %4 : [1, 8, 6, 5]
        %6 = concat(dim 1) %4 %5 : [1, 16, 6, 5]
        %8 = conv2d(padding [0, 0]) %6 p0.2:f16 : [1, 8, 6, 5]
        %9 = add %4 %8 : [1, 8, 6, 5] | cut body.0
        %10 = upsample_nearest(2) %9 : [1, 8, 12, 10]
        output 'y' = %10
    "#]]
    .assert_eq(&graph.to_string());
    assert_eq!(graph.params(), [first.id, bias.id, body.id]);
    assert_eq!(graph.n_flops(), 2 * 30 * (8 * 27 + 8 * 16));
    expect![[r#"
        segment 0: 7 values from 1 inputs and 3 parameters to 1 outputs
        workspace: 4096 bytes
    "#]]
    .assert_eq(&Plan::monolithic(&graph, 4096).to_string());
}

#[test]
fn the_first_error_is_kept_and_names_the_callers_line() {
    let graph = GraphBuilder::new();
    let a = graph.input("a", [1, 3, 4, 4]);
    let b = graph.input("b", [1, 3, 4, 5]);
    let line = line!() + 1;
    let sum = a + b;
    let worse = sum.pixel_shuffle(7).slice(9, 0, 1);
    graph.output("y", worse);
    let error = graph.finish().unwrap_err();
    let GraphError::Operands { op, location, .. } = &error else { panic!("{error}") };
    assert_eq!((op.as_str(), location.line()), ("add", line));
    assert!(location.file().ends_with("graph.rs"));
    assert!(error.to_string().contains("add of f32 [1, 3, 4, 4], f32 [1, 3, 4, 5]: each dimension"), "{error}");
}

#[test]
fn impossible_operands_are_refused() {
    let refused = |forward: fn(&GraphBuilder)| {
        let graph = GraphBuilder::new();
        forward(&graph);
        graph.finish().unwrap_err().to_string()
    };
    assert!(refused(|g| g.output("y", g.input("x", [1, 0, 2, 2]))).contains("has no element"));
    assert!(refused(|g| g.output("y", g.input("x", [1 << 30, 1 << 30, 2, 2]))).contains("too many elements"));
    assert!(
        refused(|g| g.output("y", g.input("x", [1, 3, 1 << 20, 1 << 20]).upsample_nearest(1 << 20)))
            .contains("elements")
    );
    assert!(refused(|g| g.output("y", g.input("x", [1, 3, 2, 2]).upsample_nearest(0))).contains("has no element"));
    assert!(refused(|g| g.output("y", g.input("x", [1, 3, 2, 2]).pixel_shuffle(0))).contains("multiple of 0"));
    assert!(refused(|g| g.output("y", g.input("x", [1, 3, 2, 3]).pixel_unshuffle(2))).contains("multiples of 2"));
    assert!(
        refused(|g| g.output("y", g.input("x", [1, 3, 2, 3]).slice(3, 2, 2))).contains("of a dimension of length 3")
    );
    assert!(refused(|g| g.output("y", g.input("x", [1, 3, 2, 3]).slice(3, u64::MAX, 2))).contains("of a dimension"));
    assert!(refused(|g| g.output("y", g.input("x", [4]).upsample_nearest(2))).contains("four dimensions, not 1"));
    assert!(
        refused(|g| {
            g.input("x", [1]);
        })
        .contains("no output")
    );
    assert!(
        refused(|g| {
            g.input("x", [1]);
            g.output("y", g.input("x", [1]));
        })
        .contains("'x' is declared twice")
    );
}

#[test]
fn convolutions_refuse_weights_that_do_not_fit() {
    let weights = [
        weight("weight", ParamRole::ConvWeight, &[6, 2, 3, 3]),
        weight("bias", ParamRole::Vector, &[5]),
        weight("vector", ParamRole::Vector, &[6]),
    ];
    let fixture = Fixture::new(&weights, None, 1);
    let [weight, bias, vector] = fixture.params[..] else { unreachable!() };
    let refused = |shape: [u64; 4], conv: Conv2d, with_bias: bool| {
        let graph = GraphBuilder::new();
        let y = graph.input("x", shape).conv2d(&weight, with_bias.then_some(&bias), conv);
        graph.output("y", y);
        graph.finish().unwrap_err().to_string()
    };
    assert!(refused([1, 3, 8, 8], Conv2d::same(3), false).contains("3 input channels a group"));
    assert!(refused([1, 2, 8, 8], Conv2d { groups: 0, ..Conv2d::same(3) }, false).contains("groups"));
    assert!(refused([1, 8, 8, 8], Conv2d { groups: 4, ..Conv2d::same(3) }, false).contains("groups"));
    assert!(refused([1, 2, 8, 8], Conv2d { stride: [0, 1], ..Conv2d::same(3) }, false).contains("does not fit"));
    assert!(refused([1, 2, 2, 2], Conv2d::default(), false).contains("does not fit"));
    assert!(refused([1, 2, 8, 8], Conv2d::same(3), true).contains("bias must have shape [6]"));
    let graph = GraphBuilder::new();
    graph.output("y", graph.input("x", [1, 2, 4, 4]).conv2d(&vector, None, Conv2d::same(3)));
    assert!(graph.finish().unwrap_err().to_string().contains("four dimensions, not 1"));
}
