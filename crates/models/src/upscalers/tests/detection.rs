//! What is inferred from names and shapes, and how other files are refused.

use proptest::prelude::*;

use super::checkpoints::{
    MOSR, Spelling, TINY, VIDEO, X4PLUS, any_mosr, any_rrdbnet, any_spelling, any_srvgg, mosr as mosr_tensors,
    rrdbnet as rrdbnet_tensors, srvgg as srvgg_tensors,
};
use crate::testing::{Spec, source};
use crate::upscalers::{Detected, MosrConfig, RrdbnetConfig, SrvggConfig, UpscalerConfig, detect};
use crate::{Error, Fault};

fn detected(tensors: &[Spec]) -> Result<Detected, Error> {
    detect(&source(tensors))
}

fn config(tensors: &[Spec]) -> UpscalerConfig {
    detected(tensors).unwrap().config
}

fn fault(tensors: &[Spec]) -> Fault {
    match detected(tensors) {
        Err(Error::Rejected { fault, .. }) => fault,
        other => panic!("{other:?}"),
    }
}

fn prefixed(prefix: &str, tensors: &[Spec]) -> Vec<Spec> {
    tensors.iter().map(|(name, shape)| (format!("{prefix}{name}"), shape.clone())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn rrdbnet_of_any_size_and_spelling(net in any_rrdbnet(), spelling in any_spelling()) {
        let found = detected(&rrdbnet_tensors(&net, spelling)).unwrap();
        prop_assert_eq!(found.config, UpscalerConfig::Rrdbnet(net));
    }

    #[test]
    fn srvgg_of_any_size(net in any_srvgg()) {
        prop_assert_eq!(config(&srvgg_tensors(&net)), UpscalerConfig::Srvgg(net));
    }

    #[test]
    fn mosr_of_any_size(net in any_mosr()) {
        prop_assert_eq!(config(&mosr_tensors(&net)), UpscalerConfig::Mosr(net));
    }

    #[test]
    fn a_missing_tensor_of_mosr_is_named(net in any_mosr(), at in any::<prop::sample::Index>()) {
        let mut tensors = mosr_tensors(&net);
        let (gone, _) = tensors.remove(at.index(tensors.len()));
        match detected(&tensors) {
            Err(Error::Rejected { fault, .. }) => prop_assert_eq!(fault, Fault::Missing { name: gone }),
            Err(Error::UnknownArchitecture { .. }) => prop_assert_eq!(gone, "gblocks.1.fc1.weight"),
            other => prop_assert!(false, "{other:?}"),
        }
    }

    /// Whatever tensor is gone, the error says which; only without the one that tells the architecture it lists them all.
    #[test]
    fn a_missing_tensor_is_named(net in any_rrdbnet(), spelling in any_spelling(), at in any::<prop::sample::Index>()) {
        let mut tensors = rrdbnet_tensors(&net, spelling);
        let (gone, _) = tensors.remove(at.index(tensors.len()));
        match detected(&tensors) {
            Err(Error::Rejected { fault, .. }) => prop_assert_eq!(fault, Fault::Missing { name: gone }),
            Err(Error::UnknownArchitecture { candidates, .. }) => {
                let missing = Fault::Missing { name: gone };
                prop_assert!(candidates.iter().any(|candidate| candidate.fault == missing));
            }
            other => prop_assert!(false, "{other:?}"),
        }
    }

    #[test]
    fn a_missing_tensor_of_srvgg_is_named(net in any_srvgg(), at in any::<prop::sample::Index>()) {
        let mut tensors = srvgg_tensors(&net);
        let (gone, _) = tensors.remove(at.index(tensors.len()));
        match detected(&tensors) {
            Err(Error::Rejected { fault, .. }) => prop_assert_eq!(fault, Fault::Missing { name: gone }),
            Err(Error::UnknownArchitecture { .. }) => prop_assert_eq!(gone, "body.0.weight"),
            other => prop_assert!(false, "{other:?}"),
        }
    }

    /// A tensor of another shape is an error that names a tensor: that one, or one that its shape would imply.
    #[test]
    fn another_shape_is_refused(
        net in any_rrdbnet(), spelling in any_spelling(), at in any::<prop::sample::Index>(), dim in any::<prop::sample::Index>(),
    ) {
        let mut tensors = rrdbnet_tensors(&net, spelling);
        let at = at.index(tensors.len());
        let shape = &mut tensors[at].1;
        let dim = dim.index(shape.len());
        shape[dim] += 1;
        let changed = tensors[at].0.clone();
        match detected(&tensors) {
            Err(Error::Rejected { fault: Fault::Mismatched { .. } | Fault::Unsupported { .. }, .. }) => {}
            // The channels of the input alone may be anything.
            Ok(_) => prop_assert!(matches!(changed.as_str(), "conv_first.weight" | "model.0.weight") && dim == 1),
            other => prop_assert!(false, "{other:?}"),
        }
    }

    #[test]
    fn any_names_and_shapes_are_survived(
        names in prop::collection::btree_set(
            "(params\\.|module\\.)?(model\\.|body\\.|RRDB_trunk\\.|conv_up|upconv)?[0-9]{0,25}(\\.sub|\\.rdb1|\\.RDB1)?(\\.[0-9]{0,12})?(\\.conv1)?(\\.0)?\\.(weight|bias)",
            0..12,
        ),
        shape in prop::collection::vec(0..4u64, 0..5),
        mark in prop::sample::select(vec!["body.0.rdb1.conv1.weight", "model.1.sub.0.RDB1.conv1.0.weight", "body.0.weight", "x"]),
    ) {
        let mut tensors: Vec<Spec> = names.into_iter().filter(|name| name != mark).map(|name| (name, shape.clone())).collect();
        tensors.push((mark.into(), shape));
        prop_assert!(detected(&tensors).is_err());
    }
}

#[test]
fn published_nets() {
    assert_eq!(config(&rrdbnet_tensors(&X4PLUS, Spelling::Numbered)), UpscalerConfig::Rrdbnet(X4PLUS));
    let x2plus = RrdbnetConfig { unshuffle: 2, ..X4PLUS };
    assert_eq!(config(&rrdbnet_tensors(&x2plus, Spelling::BasicSr)), UpscalerConfig::Rrdbnet(x2plus.clone()));
    assert_eq!((x2plus.geometry().scale, x2plus.geometry().cell_px), (2, 2));
    let x1 = RrdbnetConfig { unshuffle: 4, ..X4PLUS };
    assert_eq!((x1.geometry().scale, x1.geometry().cell_px), (1, 4));
    assert_eq!(config(&srvgg_tensors(&VIDEO)), UpscalerConfig::Srvgg(VIDEO));
    assert_eq!(config(&mosr_tensors(&MOSR)), UpscalerConfig::Mosr(MOSR));
}

/// leejet/stable-diffusion.cpp#1204: realesr-general-x4v3 was not supported.
#[test]
fn the_compact_net_for_general_images() {
    let general = SrvggConfig { n_pairs: 33, ..VIDEO };
    let tensors = prefixed("params.", &srvgg_tensors(&general));
    assert_eq!(config(&tensors), UpscalerConfig::Srvgg(general));
}

#[test]
fn the_up_sampler_of_mosr_that_gathers_is_refused() {
    let mut tensors = mosr_tensors(&MOSR);
    tensors.retain(|(name, _)| !name.starts_with("upsampler."));
    tensors.push(("upsampler.init_pos".into(), vec![1, 128, 1, 1]));
    for (module, n_out) in [("offset", 128), ("scope", 128), ("end_conv", 3)] {
        tensors.push((format!("upsampler.{module}.weight"), vec![n_out, 64, 1, 1]));
    }
    let message = detected(&tensors).unwrap_err().to_string();
    assert!(
        message.ends_with("looks like MoSR, but it ends in the up-sampler DySample, which is not supported"),
        "{message}"
    );
}

#[test]
fn mosr_kernels_must_be_odd() {
    let message = |net| fault(&mosr_tensors(&net)).to_string();
    let even = message(MosrConfig { kernel: 4, ..MOSR });
    assert_eq!(even, "its tensor 'gblocks.1.conv.weight' has shape [64, 1, 4, 4], not [at most 96, 1, odd, odd]");
}

#[test]
fn weights_may_be_nested() {
    for prefix in ["params_ema.", "params.", "state_dict.", "module.", "params.module.", "netG."] {
        for spelling in [Spelling::BasicSr, Spelling::Numbered, Spelling::Trunk] {
            let tensors = prefixed(prefix, &rrdbnet_tensors(&TINY, spelling));
            let found = detected(&tensors).unwrap();
            assert_eq!(found.config, UpscalerConfig::Rrdbnet(TINY));
            assert_eq!(found.names[&tensors[0].0], "conv_first.weight");
        }
    }
}

#[test]
fn averaged_weights_are_preferred() {
    let plain = rrdbnet_tensors(&RrdbnetConfig { n_features: 8, ..TINY }, Spelling::BasicSr);
    let averaged = rrdbnet_tensors(&TINY, Spelling::BasicSr);
    let tensors = [prefixed("params.", &plain), prefixed("params_ema.", &averaged)].concat();
    let found = detected(&tensors).unwrap();
    assert_eq!(found.config, UpscalerConfig::Rrdbnet(TINY));
    let renamed = found.rename(source(&tensors)).unwrap();
    assert_eq!(renamed.catalogue().get("conv_first.weight").unwrap().shape, [4, 3, 3, 3]);
    assert_eq!(renamed.catalogue().get("params.conv_first.weight").unwrap().shape, [8, 3, 3, 3]);
}

#[test]
fn faults_name_tensors_as_the_file_does() {
    let mut tensors = prefixed("params.", &rrdbnet_tensors(&TINY, Spelling::Numbered));
    let name = "params.model.1.sub.0.RDB2.conv3.0.bias";
    tensors.iter_mut().find(|(other, _)| other == name).unwrap().1 = vec![7];
    assert_eq!(
        detected(&tensors).unwrap_err().to_string().split_once(" looks like ").unwrap().1,
        format!("RRDBNet (ESRGAN, numbered layers), but its tensor '{name}' has shape [7], not [2]")
    );
}

#[test]
fn block_numbers_must_count_up() {
    let mut tensors = rrdbnet_tensors(&TINY, Spelling::BasicSr);
    tensors.push(("body.4000000000.rdb1.conv1.weight".into(), vec![2, 4, 3, 3]));
    assert_eq!(fault(&tensors), Fault::Missing { name: "body.1.rdb1.conv1.weight".into() });
    let mut tensors = rrdbnet_tensors(&TINY, Spelling::Numbered);
    tensors.push((format!("model.1.sub.{}.RDB1.conv1.0.weight", u64::MAX), vec![2, 4, 3, 3]));
    assert_eq!(fault(&tensors), Fault::Missing { name: "model.1.sub.1.RDB1.conv1.0.weight".into() });
}

#[test]
fn depths_are_limited() {
    let block = |i| (format!("body.{i}.rdb1.conv1.weight"), vec![2, 4, 3, 3]);
    let tensors = [vec![("conv_first.weight".into(), vec![4, 3, 3, 3])], (0..5000).map(block).collect()].concat();
    assert_eq!(fault(&tensors).to_string(), "it has 5000 modules 'body.…', more than 1024, which is not supported");
}

#[test]
fn a_variant_that_computes_something_else_is_refused() {
    let mut tensors = rrdbnet_tensors(&TINY, Spelling::Numbered);
    tensors.push(("model.1.sub.0.RDB1.conv1x1.weight".into(), vec![2, 4, 1, 1]));
    assert_eq!(fault(&tensors), Fault::Unexpected { name: "model.1.sub.0.RDB1.conv1x1.weight".into() });
}

#[test]
fn factors_that_no_net_has_are_refused() {
    let message = |net: RrdbnetConfig| fault(&rrdbnet_tensors(&net, Spelling::BasicSr)).to_string();
    let too_often = message(RrdbnetConfig { n_doublings: 4, ..TINY });
    assert_eq!(too_often, "it doubles the size 4 times, which is not supported");
    let smaller = message(RrdbnetConfig { n_doublings: 1, unshuffle: 4, ..TINY });
    assert_eq!(smaller, "it reduces the size by 4 and enlarges it by 2 only, which is not supported");
}

#[test]
fn a_compact_net_must_end_in_whole_blocks_of_pixels() {
    let mut tensors = srvgg_tensors(&VIDEO);
    let last = tensors.len() - 2;
    tensors[last].1[0] = 47;
    assert_eq!(
        fault(&tensors).to_string(),
        "its tensor 'body.34.weight' has shape [47, 64, 3, 3], not [3 · scale², 64, 3, 3]"
    );
}

#[test]
fn other_architectures_are_named() {
    let tensors = [
        ("conv_first.weight".into(), vec![96, 3, 3, 3]),
        ("params.layers.0.residual_group.blocks.0.attn.relative_position_bias_table".into(), vec![225, 6]),
    ];
    let message = detected(&tensors).unwrap_err().to_string();
    assert!(message.contains("is a SwinIR model: that architecture is not supported, RRDBNet"), "{message}");
}

#[test]
fn unknown_models_list_what_they_lack() {
    let message = detected(&[("lm_head.weight".into(), vec![8, 8])]).unwrap_err().to_string();
    assert!(message.contains("not RRDBNet (ESRGAN), as it has no tensor 'body.0.rdb1.conv1.weight'"), "{message}");
    assert!(message.contains("not SRVGGNetCompact, as it has no tensor 'body.0.weight'"), "{message}");
}
