//! ncnn models: the wirings that are recognised, and small changes that are not.

use std::fmt::Write as _;
use std::fs;

use super::checkpoints::{TINY, X4PLUS};
use crate::Error;
use crate::engine::loader::ModelSource;
use crate::upscalers::{Detected, RrdbnetConfig, SrvggConfig, UpscalerConfig, detect};

/// An ncnn model under construction. Blobs that are read more than once are split, as ncnn asks for.
#[derive(Default)]
struct Model {
    /// Kind, inputs and parameters of each layer; layer `i` makes blob `b<i>`.
    layers: Vec<(String, Vec<usize>, String)>,
}

impl Model {
    fn layer(&mut self, kind: &str, inputs: &[usize], params: &str) -> usize {
        self.layers.push((kind.into(), inputs.into(), params.into()));
        self.layers.len() - 1
    }

    fn conv(&mut self, input: usize, [n_in, n_out]: [u64; 2], activation: &str) -> usize {
        let n_weights = n_in * n_out * 9;
        self.layer("Convolution", &[input], &format!("0={n_out} 1=3 4=1 5=1 6={n_weights}{activation}"))
    }

    fn param(&self) -> String {
        let mut lines = Vec::new();
        let mut n_blobs = 0;
        // How many readers of each blob have been given their copy.
        let mut n_given = vec![0; self.layers.len()];
        let n_read =
            |i: usize| self.layers.iter().flat_map(|(_, inputs, _)| inputs).filter(|&&input| input == i).count();
        for (i, (kind, inputs, params)) in self.layers.iter().enumerate() {
            let mut line = format!("{kind} l{i} {} 1", inputs.len());
            for &input in inputs {
                match n_read(input) {
                    1 => write!(line, " b{input}").unwrap(),
                    _ => write!(line, " b{input}_{}", n_given[input]).unwrap(),
                }
                n_given[input] += 1;
            }
            lines.push(format!("{line} b{i} {params}"));
            n_blobs += 1;
            if n_read(i) > 1 {
                let copies: String = (0..n_read(i)).map(|copy| format!(" b{i}_{copy}")).collect();
                lines.push(format!("Split s{i} 1 {} b{i}{copies}", n_read(i)));
                n_blobs += n_read(i);
            }
        }
        format!("7767517\n{} {n_blobs}\n{}\n", lines.len(), lines.join("\n"))
    }
}

const LEAKY: &str = " 9=2 -23310=1,2.000000e-01";

fn rrdbnet(net: &RrdbnetConfig) -> String {
    let &RrdbnetConfig { in_channels, out_channels, n_features: n, growth, n_blocks, n_doublings, .. } = net;
    let mut model = Model::default();
    let image = model.layer("Input", &[], "");
    let first = model.conv(image, [in_channels, n], "");
    let mut h = first;
    for _ in 0..n_blocks {
        let block = h;
        for _ in 0..3 {
            let mut features = vec![h];
            for k in 0..5 {
                let joined = if k == 0 { h } else { model.layer("Concat", &features, "") };
                let (n_out, activation) = if k == 4 { (n, "") } else { (growth, LEAKY) };
                features.push(model.conv(joined, [n + k * growth, n_out], activation));
            }
            h = model.layer("Eltwise", &[features[5], h], "0=1 -23301=2,2.000000e-01,1.000000e+00");
        }
        h = model.layer("Eltwise", &[h, block], "0=1 -23301=2,2.000000e-01,1.000000e+00");
    }
    let body = model.conv(h, [n, n], "");
    h = model.layer("BinaryOp", &[first, body], "");
    for _ in 0..n_doublings {
        h = model.layer("Interp", &[h], "0=1 1=2.000000e+00 2=2.000000e+00");
        h = model.conv(h, [n, n], LEAKY);
    }
    h = model.conv(h, [n, n], LEAKY);
    model.conv(h, [n, out_channels], "");
    model.param()
}

fn srvgg(net: &SrvggConfig) -> String {
    let &SrvggConfig { n_channels, n_features, n_pairs, shuffle, scale } = net;
    let mut model = Model::default();
    let image = model.layer("Input", &[], "");
    let mut h = image;
    for i in 0..n_pairs {
        h = model.conv(h, [if i == 0 { n_channels } else { n_features }, n_features], "");
        h = model.layer("PReLU", &[h], &format!("0={n_features}"));
    }
    h = model.conv(h, [n_features, n_channels * shuffle * shuffle], "");
    h = model.layer("PixelShuffle", &[h], &format!("0={shuffle}"));
    let repeated = model.layer("Interp", &[image], &format!("0=1 1={shuffle}.0 2={shuffle}.0"));
    h = model.layer("BinaryOp", &[h, repeated], "");
    if scale != shuffle {
        let factor = scale as f32 / shuffle as f32;
        model.layer("Interp", &[h], &format!("0=3 1={factor:e} 2={factor:e}"));
    }
    model.param()
}

/// The model of a `.param` text, with weights of zero.
fn open(param: &str) -> ModelSource {
    let folder = tempfile::tempdir().unwrap();
    let number = |line: &str, id: &str| -> usize {
        let value = line.split(' ').find_map(|part| part.strip_prefix(id)).unwrap_or("0");
        value.parse().unwrap()
    };
    let n_floats = |line: &str| match line.split(' ').next() {
        Some("Convolution") => 1 + number(line, "6=") + number(line, "5=") * number(line, "0="),
        Some("PReLU") => number(line, "0="),
        _ => 0,
    };
    let n_bytes = 4 * param.lines().map(n_floats).sum::<usize>();
    let path = folder.path().join("net.param");
    fs::write(&path, param).unwrap();
    fs::write(folder.path().join("net.bin"), vec![0; n_bytes]).unwrap();
    ModelSource::open(path).unwrap()
}

fn detected(param: &str) -> Detected {
    detect(&open(param)).unwrap()
}

/// The message for a model with the first occurrence of `old` replaced, without the path.
#[track_caller]
fn refused(param: &str, old: &str, new: &str) -> String {
    assert!(param.contains(old), "{param}");
    match detect(&open(&param.replacen(old, new, 1))) {
        Err(Error::Rejected { fault, .. }) => fault.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn rrdbnets_of_several_sizes() {
    for (n_blocks, n_doublings) in [(1, 0), (2, 1), (3, 2), (1, 3)] {
        let net = RrdbnetConfig { n_blocks, n_doublings, ..TINY };
        let found = detected(&rrdbnet(&net));
        assert_eq!(found.config, UpscalerConfig::Rrdbnet(net));
        assert_eq!(found.names["l1.weight"], "conv_first.weight");
        assert_eq!(found.names["l2.bias"], "body.0.rdb1.conv1.bias");
    }
}

#[test]
fn srvggs_with_and_without_a_reduction() {
    for (shuffle, scale) in [(4, 4), (4, 3), (4, 2), (4, 1), (2, 2), (1, 1)] {
        let net = SrvggConfig { n_channels: 3, n_features: 4, n_pairs: 3, shuffle, scale };
        let found = detected(&srvgg(&net));
        assert_eq!(found.config, UpscalerConfig::Srvgg(net));
        assert_eq!(found.names["l2.slope"], "body.1.weight");
    }
}

#[test]
fn tensors_get_their_canonical_names() {
    let source = open(&rrdbnet(&TINY));
    let found = detect(&source).unwrap();
    let renamed = found.rename(source).unwrap();
    let names: Vec<&str> = renamed.catalogue().names().collect();
    assert_eq!(names.len(), 2 * (15 + 6));
    assert!(names.contains(&"body.0.rdb3.conv5.weight") && names.contains(&"conv_up2.bias"));
    assert_eq!(renamed.catalogue().get("conv_last.weight").unwrap().shape, [3, 4, 3, 3]);
}

#[test]
fn coefficients_must_be_those_of_rrdbnet() {
    let param = rrdbnet(&TINY);
    let slope = refused(&param, "-23310=1,2.000000e-01", "-23310=1,1.000000e-01");
    assert_eq!(
        slope,
        "its layer 'l2' (line 6 of the .param file) is Convolution 0=2 1=3 4=1 5=1 6=72 9=2 10=[0.1] \
         where the architecture has a 3x3 convolution with a leaky ReLU of slope 0.2"
    );
    assert!(refused(&param, " 9=2 -23310=1,2.000000e-01", " 9=1").contains("a leaky ReLU of slope 0.2"));
    assert!(refused(&param, " 9=2 -23310=1,2.000000e-01", "").contains("a leaky ReLU of slope 0.2"));
    assert!(
        refused(&param, "-23301=2,2.000000e-01,", "-23301=2,3.000000e-01,").contains("0.2 times a result plus another")
    );
    assert!(refused(&param, "0=1 -23301=", "0=2 -23301=").contains("0.2 times a result plus another"));
    assert!(refused(&param, "0=1 1=2.000000e+00", "0=2 1=2.000000e+00").contains("a nearest resize by 2"));
    assert!(refused(&param, "1=2.000000e+00 2=2.0", "1=2.000000e+00 2=3.0").contains("a nearest resize by 2"));
    assert!(refused(&param, "0=1 1=2.000000e+00", "0=1 6=1 1=2.000000e+00").contains("a nearest resize by 2"));
    assert!(refused(&param, "1=3 4=1", "1=3 3=2 4=1").contains("a plain 3x3 convolution"));
    assert!(refused(&param, "1=3 4=1", "1=3 4=1 30=1").contains("a plain 3x3 convolution"));
    assert!(refused(&param, "1=3 4=1", "1=3").contains("a plain 3x3 convolution"));
}

#[test]
fn the_wiring_must_be_that_of_rrdbnet() {
    let param = rrdbnet(&RrdbnetConfig { n_blocks: 2, ..TINY });
    // The first dense block's second convolution reads its parts in another order.
    let concat = "Concat l3 2 1 b1_1 b2_0";
    assert!(refused(&param, concat, "Concat l3 2 1 b2_0 b1_1").contains("'l4' (line 9"));
    assert!(refused(&param, concat, "Concat l3 2 1 b1_1 b1_1").contains("a single result"));
    // The first block's second dense block adds the block's input, not its own.
    let sum = param.lines().filter(|line| line.starts_with("Eltwise")).nth(1).unwrap();
    let own_input = sum.split(' ').nth(5).unwrap();
    assert!(refused(&param, sum, &sum.replace(own_input, "b1_0")).contains("where the architecture has"));
    let add = param.lines().find(|line| line.starts_with("BinaryOp")).unwrap();
    assert!(refused(&param, add, &format!("{add}0=1")).contains("is BinaryOp 0=1 where the architecture has a sum"));
}

#[test]
fn a_second_result_is_refused() {
    let param = rrdbnet(&TINY);
    let extra = param.replacen("7767517\n", "", 1);
    let (counts, layers) = extra.split_once('\n').unwrap();
    let (n_layers, n_blobs) = counts.split_once(' ').unwrap();
    let number = |text: &str| text.parse::<u32>().unwrap();
    let (n_layers, n_blobs) = (number(n_layers) + 1, number(n_blobs) + 1);
    let param = format!("7767517\n{n_layers} {n_blobs}\n{layers}ReLU extra 1 1 b1_0 extra\n");
    assert!(matches!(detect(&open(&param)), Err(Error::Rejected { .. })));
}

#[test]
fn coefficients_must_be_those_of_srvgg() {
    let net = SrvggConfig { n_channels: 3, n_features: 4, n_pairs: 2, shuffle: 4, scale: 3 };
    let param = srvgg(&net);
    assert!(refused(&param, "0=3 1=7.5e-1", "0=2 1=7.5e-1").contains("a bicubic resize by 0.75"));
    assert!(refused(&param, "1=7.5e-1 2=7.5e-1", "1=7.5e-1 2=5.0e-1").contains("a bicubic resize by 0.75"));
    assert!(refused(&param, "1=7.5e-1 2=7.5e-1", "1=7.0e-1 2=7.0e-1").contains("a resize to a whole factor"));
    assert!(refused(&param, "0=1 1=4.0", "0=3 1=4.0").contains("a nearest resize by 4"));
    assert!(refused(&param, "0=1 1=4.0 2=4.0", "0=1 1=2.0 2=2.0").contains("a nearest resize by 4"));
    let shuffle_only = SrvggConfig { scale: 4, ..net };
    let param = srvgg(&shuffle_only).replace("0=1 1=4.0 2=4.0", "0=1 1=2.0 2=2.0");
    assert!(
        refused(&param, "PixelShuffle l6 1 1 b5 b6 0=4", "PixelShuffle l6 1 1 b5 b6 0=2").contains("[3 · 2², 4, 3, 3]")
    );
}

#[test]
fn a_published_depth_is_walked() {
    assert_eq!(detected(&rrdbnet(&X4PLUS)).config, UpscalerConfig::Rrdbnet(X4PLUS));
}
