//! Checkpoints as the training code of each era writes them: names and shapes, written out independently of the tables and
//! models under test.

use proptest::prelude::*;

use crate::testing::{Spec, conv3x3};
use crate::upscalers::{MosrConfig, MosrUpsampler, RrdbnetConfig, SrvggConfig};

/// The three spellings of RRDBNet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelling {
    /// `conv_first`, `body.0.rdb1.conv1`, …
    BasicSr,
    /// `model.0`, `model.1.sub.0.RDB1.conv1.0`, …
    Numbered,
    /// `conv_first`, `RRDB_trunk.0.RDB1.conv1`, …
    Trunk,
}

pub(super) fn rrdbnet(config: &RrdbnetConfig, spelling: Spelling) -> Vec<Spec> {
    let &RrdbnetConfig { in_channels, out_channels, n_features: n, growth, n_blocks, n_doublings, unshuffle } = config;
    let names = |basicsr: &str, numbered: String, trunk: &str| match spelling {
        Spelling::BasicSr => basicsr.to_owned(),
        Spelling::Numbered => numbered,
        Spelling::Trunk => trunk.to_owned(),
    };
    let mut tensors = Vec::new();
    let mut conv = |name: String, input, output| tensors.extend(conv3x3(&name, input, output));
    conv(names("conv_first", "model.0".into(), "conv_first"), in_channels * unshuffle * unshuffle, n);
    for b in 0..n_blocks {
        for r in 1..=3 {
            for k in 1..=5 {
                let name = names(
                    &format!("body.{b}.rdb{r}.conv{k}"),
                    format!("model.1.sub.{b}.RDB{r}.conv{k}.0"),
                    &format!("RRDB_trunk.{b}.RDB{r}.conv{k}"),
                );
                conv(name, n + (k - 1) * growth, if k == 5 { n } else { growth });
            }
        }
    }
    conv(names("conv_body", format!("model.1.sub.{n_blocks}"), "trunk_conv"), n, n);
    // Each doubling is an up-sampling, a convolution and a rectifier: three places of the sequence from the second on.
    let behind = 2 + 3 * n_doublings;
    for k in 1..=n_doublings {
        conv(names(&format!("conv_up{k}"), format!("model.{}", 3 * k), &format!("upconv{k}")), n, n);
    }
    conv(names("conv_hr", format!("model.{behind}"), "HRconv"), n, n);
    conv(names("conv_last", format!("model.{}", behind + 2), "conv_last"), n, out_channels);
    tensors
}

pub(super) fn srvgg(config: &SrvggConfig) -> Vec<Spec> {
    let &SrvggConfig { n_channels, n_features, n_pairs, shuffle, .. } = config;
    let mut tensors = Vec::new();
    for i in 0..n_pairs {
        tensors.extend(conv3x3(&format!("body.{}", 2 * i), if i == 0 { n_channels } else { n_features }, n_features));
        tensors.push((format!("body.{}.weight", 2 * i + 1), vec![n_features]));
    }
    tensors.extend(conv3x3(&format!("body.{}", 2 * n_pairs), n_features, n_channels * shuffle * shuffle));
    tensors
}

pub(super) fn mosr(config: &MosrConfig) -> Vec<Spec> {
    let &MosrConfig { n_channels, n_features: n, n_hidden, n_mixed, kernel, n_blocks, upsampler, scale } = config;
    let mut tensors = Vec::from(conv3x3("gblocks.0", n_channels, n));
    let vector = |name: String, len| (name, vec![len]);
    for i in 1..=n_blocks {
        tensors.push(vector(format!("gblocks.{i}.norm.weight"), n));
        tensors.push(vector(format!("gblocks.{i}.norm.bias"), n));
        tensors.extend(conv3x3(&format!("gblocks.{i}.fc1"), n, 2 * n_hidden));
        tensors.push((format!("gblocks.{i}.conv.weight"), vec![n_mixed, 1, kernel, kernel]));
        tensors.push(vector(format!("gblocks.{i}.conv.bias"), n_mixed));
        tensors.extend(conv3x3(&format!("gblocks.{i}.fc2"), n_hidden, n));
    }
    tensors.extend(conv3x3(&format!("gblocks.{}", n_blocks + 1), n, 2 * n));
    tensors.extend(conv3x3(&format!("gblocks.{}", n_blocks + 3), 2 * n, n));
    tensors.push((format!("gblocks.{}.weight", n_blocks + 5), vec![n, n, 1, 1]));
    tensors.push(vector(format!("gblocks.{}.bias", n_blocks + 5), n));
    tensors.extend(conv3x3("shortcut.block.0", n_channels, n));
    tensors.extend(conv3x3("shortcut.block.2", n, n));
    tensors.push(("shortcut.conv11.weight".into(), vec![n, n_channels, 1, 1]));
    tensors.push(vector("shortcut.conv11.bias".into(), n));
    tensors.extend(match upsampler {
        MosrUpsampler::Shuffle => conv3x3("upsampler.0", n, n_channels * scale * scale),
        MosrUpsampler::Ensemble => conv3x3("upsampler.in_to_k", n, 8 * n_channels * scale * scale),
    });
    tensors
}

/// The published ×4 net of Real-ESRGAN.
pub(super) const X4PLUS: RrdbnetConfig = RrdbnetConfig {
    in_channels: 3,
    out_channels: 3,
    n_features: 64,
    growth: 32,
    n_blocks: 23,
    n_doublings: 2,
    unshuffle: 1,
};

/// A net small enough to look at.
pub(super) const TINY: RrdbnetConfig = RrdbnetConfig { n_features: 4, growth: 2, n_blocks: 1, ..X4PLUS };

/// The published ×4 net for video.
pub(super) const VIDEO: SrvggConfig = SrvggConfig { n_channels: 3, n_features: 64, n_pairs: 17, shuffle: 4, scale: 4 };

/// The size of MoSR that its code makes unless told otherwise.
pub(super) const MOSR: MosrConfig = MosrConfig {
    n_channels: 3,
    n_features: 64,
    n_hidden: 96,
    n_mixed: 64,
    kernel: 7,
    n_blocks: 24,
    upsampler: MosrUpsampler::Shuffle,
    scale: 4,
};

prop_compose! {
    pub(super) fn any_mosr()(
        n_channels in 1..4u64,
        n_features in 1..12u64,
        n_hidden in 1..12u64,
        mixed in any::<prop::sample::Index>(),
        half_kernel in 0..4u64,
        n_blocks in 1..5u64,
        is_ensemble in any::<bool>(),
        scale in 1..5u64,
    ) -> MosrConfig {
        MosrConfig {
            n_channels, n_features, n_hidden, n_blocks, scale,
            n_mixed: 1 + mixed.index(n_hidden as usize) as u64,
            kernel: 2 * half_kernel + 1,
            upsampler: if is_ensemble { MosrUpsampler::Ensemble } else { MosrUpsampler::Shuffle },
        }
    }
}

prop_compose! {
    pub(super) fn any_rrdbnet()(
        channels in 1..4u64,
        n_features in 1..24u64,
        growth in 1..12u64,
        n_blocks in 1..5u64,
        (n_doublings, unshuffle) in prop::sample::select(vec![(0, 1), (1, 1), (2, 1), (3, 1), (1, 2), (2, 2), (3, 2), (2, 4), (3, 4)]),
    ) -> RrdbnetConfig {
        RrdbnetConfig { in_channels: channels, out_channels: channels, n_features, growth, n_blocks, n_doublings, unshuffle }
    }
}

prop_compose! {
    pub(super) fn any_srvgg()(
        n_channels in 1..5u64,
        n_features in 1..40u64,
        n_pairs in 1..8u64,
        shuffle in 1..9u64,
    ) -> SrvggConfig {
        SrvggConfig { n_channels, n_features, n_pairs, shuffle, scale: shuffle }
    }
}

pub(super) fn any_spelling() -> impl Strategy<Value = Spelling> {
    prop::sample::select(vec![Spelling::BasicSr, Spelling::Numbered, Spelling::Trunk])
}
