//! Running graphs: bindings, reuse, cancellation and what is left in the ledger.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::ops::ControlFlow;

use common::{Fixture, Weight, noise};
use fresco_engine::residency::{ParamRole, Purpose};
use fresco_engine::{CancelToken, Conv2d, DType, Error, Graph, GraphBuilder, Task, residency};

fn fixture(n_threads: usize) -> Fixture {
    let weight = Weight { name: "w", role: ParamRole::ConvWeight, shape: vec![4, 4, 3, 3], values: noise(5, 144) };
    Fixture::new(&[weight], Some(DType::F16), n_threads)
}

fn graph(fixture: &Fixture, side: u64, n_layers: usize) -> Graph {
    let builder = GraphBuilder::new();
    let x = builder.input("x", [1, 4, side, side]);
    let y = (0..n_layers).fold(x, |h, _| h.conv2d(&fixture.params[0], None, Conv2d::same(3)).leaky_relu(0.1));
    builder.output("y", y);
    builder.finish().unwrap()
}

#[test]
fn runs_repeat_bit_for_bit_in_one_workspace() {
    let mut fixture = fixture(2);
    let (small, large) = (graph(&fixture, 8, 3), graph(&fixture, 20, 3));
    let (x_small, x_large) = (noise(1, 4 * 64), noise(2, 4 * 400));
    let first = fixture.run(&small, &x_small).unwrap();
    let workspace_bytes = fixture.session.workspace_bytes();
    assert_eq!(fixture.run(&small, &x_small).unwrap(), first);
    assert_eq!(fixture.session.workspace_bytes(), workspace_bytes);
    fixture.run(&large, &x_large).unwrap();
    assert_eq!(fixture.run(&small, &x_small).unwrap(), first);
}

#[test]
fn one_workspace_is_freed_before_the_next_is_allocated() {
    let mut fixture = fixture(1);
    for side in [40, 41] {
        let graph = graph(&fixture, side, 2);
        fixture.run(&graph, &noise(1, 4 * (side * side) as usize)).unwrap();
    }
    let balance = fixture.engine.residency().ledger().balance("CPU");
    assert_eq!(balance.peak_bytes, balance.total_bytes());
}

#[test]
fn the_plan_tells_the_workspace() {
    let mut fixture = fixture(1);
    let graph = graph(&fixture, 16, 2);
    let plan = fixture.engine.plan(&fixture.session, &graph).unwrap();
    assert_eq!(fixture.session.workspace_bytes(), 0, "planning allocates nothing");
    assert_eq!(fixture.engine.residency().ledger().balance("CPU").total_bytes(), 0);
    fixture.run(&graph, &noise(1, 4 * 256)).unwrap();
    assert_eq!(fixture.session.workspace_bytes(), plan.workspace_bytes);
}

#[test]
fn the_ledger_returns_to_its_baseline() {
    let mut fixture = fixture(1);
    let ledger = fixture.engine.residency().ledger().clone();
    let graph = graph(&fixture, 16, 2);
    fixture.run(&graph, &noise(1, 4 * 256)).unwrap();
    let balance = ledger.balance("CPU");
    assert_eq!(balance.current_bytes[&Purpose::Workspace], fixture.session.workspace_bytes());
    assert!(balance.current_bytes[&Purpose::Weights] >= 288, "144 weights of two bytes");
    fixture.engine.residency_mut().remove(fixture.params[0].id.component).unwrap();
    assert_eq!(ledger.balance("CPU").current_bytes[&Purpose::Weights], 0, "an idle session keeps no weight");
    fixture.session.release_workspace();
    assert_eq!(ledger.balance("CPU").current_bytes[&Purpose::Workspace], 0);
    drop(fixture);
    let balance = ledger.balance("CPU");
    assert_eq!(balance.total_bytes(), 0);
    assert!(balance.peak_bytes > 0);
}

#[test]
fn wrong_bindings_are_named() {
    let mut fixture = fixture(1);
    let graph = graph(&fixture, 4, 1);
    let x = noise(1, 64);
    let mut message = |inputs: &[(&str, &[f32])], output: (&str, usize)| {
        let mut y = vec![0.0; output.1];
        let task = Task {
            graph: &graph,
            inputs,
            outputs: &mut [(output.0, &mut y)],
            cancel: &CancelToken::new(),
            progress: &mut |_| ControlFlow::Continue(()),
        };
        fixture.engine.execute(&mut fixture.session, task).unwrap_err().to_string()
    };
    assert_eq!(message(&[("x", &x[1..])], ("y", 64)), "input 'x' needs 64 elements, not 63");
    assert_eq!(message(&[], ("y", 64)), "input 'x' needs 64 elements, not 0");
    assert_eq!(message(&[("x", &x), ("z", &x)], ("y", 64)), "input 'z' needs 0 elements, not 64");
    assert_eq!(message(&[("x", &x), ("x", &x)], ("y", 64)), "input 'x' needs 0 elements, not 64");
    assert_eq!(message(&[("x", &x)], ("y", 65)), "output 'y' needs 64 elements, not 65");
    assert_eq!(message(&[("x", &x)], ("result", 64)), "output 'result' needs 0 elements, not 64");
}

#[test]
fn cancelling_leaves_the_session_usable() {
    let mut fixture = fixture(2);
    let graph = graph(&fixture, 128, 300);
    let x = noise(1, 4 * 128 * 128);
    let cancel = CancelToken::new();
    cancel.cancel();
    assert!(matches!(fixture.run_cancellable(&graph, &x, &cancel), Err(Error::Cancelled)));
    cancel.reset();
    let stopped = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            cancel.cancel();
        });
        fixture.run_cancellable(&graph, &x, &cancel)
    });
    assert!(matches!(stopped, Err(Error::Cancelled)), "three hundred layers take longer than twenty milliseconds");
    assert_eq!(fixture.session.workspace_bytes(), 0, "a stopped run gives its workspace back");
    let small = self::graph(&fixture, 8, 1);
    assert!(fixture.run(&small, &noise(1, 4 * 64)).is_ok());
}

#[test]
fn loading_can_be_stopped() {
    let mut fixture = fixture(1);
    let graph = graph(&fixture, 4, 1);
    let mut y = vec![0.0; 64];
    let task = Task {
        graph: &graph,
        inputs: &[("x", &noise(1, 64))],
        outputs: &mut [("y", &mut y)],
        cancel: &CancelToken::new(),
        progress: &mut |progress| {
            assert_eq!((progress.component, progress.done_bytes, progress.total_bytes), ("test", 288, 288));
            ControlFlow::Break(())
        },
    };
    let error = fixture.engine.execute(&mut fixture.session, task).unwrap_err();
    assert!(matches!(error, Error::Residency(residency::Error::Cancelled)));
    assert_eq!(fixture.engine.residency().ledger().balance("CPU").total_bytes(), 0);
    assert!(fixture.run(&graph, &noise(1, 64)).is_ok());
}
