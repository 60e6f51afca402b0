//! The spellings of tensor names in upscaler checkpoints, as tables.
//!
//! Canonical names are those of BasicSR, which Real-ESRGAN publishes. Older ESRGAN checkpoints number the layers of a
//! sequence (`model.3` is the first convolution after the trunk); those of KAIR and of the first PyTorch release after
//! that have names of their own. Training code nests the weights under a key, averaged weights under another.

use std::collections::{BTreeMap, BTreeSet};

use super::ncnn::SrvggTail;
use super::{mosr, rrdbnet, srvgg};
use crate::engine::loader::Catalogue;
use crate::{Candidate, Fault};

/// A spelling: how its files are told from others, and the canonical name of each module.
#[derive(Debug)]
pub(super) struct Scheme {
    /// For messages.
    pub(super) architecture: &'static str,
    /// The net that is spelt so.
    pub(super) net: Net,
    /// A tensor that no other spelling has.
    mark: &'static str,
    /// Modules in the file's spelling and in ours; `{}` stands for a number. Empty where both are the same.
    modules: &'static [(&'static str, &'static str)],
    /// Modules whose place depends on the net's factor: the table that fits the file best is used.
    tails: &'static [&'static [(&'static str, &'static str)]],
    /// The module, by its blocks' number, that stands behind the last block.
    behind_blocks: Option<(&'static str, &'static str)>,
}

/// The nets that names and wirings are read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Net {
    Rrdbnet,
    /// With what an ncnn model says of its factors, which names alone do not.
    Srvgg(Option<SrvggTail>),
    Mosr,
}

const SCHEMES: &[Scheme] = &[
    Scheme {
        architecture: rrdbnet::ARCHITECTURE,
        net: Net::Rrdbnet,
        mark: "body.0.rdb1.conv1.weight",
        modules: &[],
        tails: &[],
        behind_blocks: None,
    },
    Scheme {
        architecture: "RRDBNet (ESRGAN, numbered layers)",
        net: Net::Rrdbnet,
        mark: "model.1.sub.0.RDB1.conv1.0.weight",
        modules: &[("model.0", "conv_first"), ("model.1.sub.{}.RDB{}.conv{}.0", "body.{}.rdb{}.conv{}")],
        tails: &[
            &[("model.2", "conv_hr"), ("model.4", "conv_last")],
            &[("model.3", "conv_up1"), ("model.5", "conv_hr"), ("model.7", "conv_last")],
            &[("model.3", "conv_up1"), ("model.6", "conv_up2"), ("model.8", "conv_hr"), ("model.10", "conv_last")],
            &[
                ("model.3", "conv_up1"),
                ("model.6", "conv_up2"),
                ("model.9", "conv_up3"),
                ("model.11", "conv_hr"),
                ("model.13", "conv_last"),
            ],
        ],
        behind_blocks: Some(("model.1.sub.{}", "conv_body")),
    },
    Scheme {
        architecture: "RRDBNet (ESRGAN, trunk names)",
        net: Net::Rrdbnet,
        mark: "RRDB_trunk.0.RDB1.conv1.weight",
        modules: &[
            ("RRDB_trunk.{}.RDB{}.conv{}", "body.{}.rdb{}.conv{}"),
            ("trunk_conv", "conv_body"),
            ("upconv{}", "conv_up{}"),
            ("HRconv", "conv_hr"),
        ],
        tails: &[],
        behind_blocks: None,
    },
    Scheme {
        architecture: srvgg::ARCHITECTURE,
        net: Net::Srvgg(None),
        mark: "body.0.weight",
        modules: &[],
        tails: &[],
        behind_blocks: None,
    },
    Scheme {
        architecture: mosr::ARCHITECTURE,
        net: Net::Mosr,
        mark: "gblocks.1.fc1.weight",
        modules: &[],
        tails: &[],
        behind_blocks: None,
    },
];

/// Keys under which training code keeps a net's weights, the preferred ones first: averaged weights are what is published.
const ROOTS: &[&str] = &["params_ema.", "params-ema.", "params.", "model_state_dict.", "state_dict."];

/// Prefixes that wrappers of PyTorch give to every name.
const WRAPPERS: &[&str] = &["module.", "netG."];

/// Architectures that are told by a tensor, but not supported.
const UNSUPPORTED: &[(&str, &str)] = &[
    ("ESRGAN+", "model.1.sub.0.RDB1.conv1x1.weight"),
    ("HAT", "layers.0.residual_group.overlap_attn.qkv.weight"),
    ("ATD", "layers.0.residual_group.td"),
    ("DAT", "layers.0.blocks.0.attn.channel_interaction.1.weight"),
    ("Swin2SR", "layers.0.residual_group.blocks.0.attn.logit_scale"),
    ("SwinIR", "layers.0.residual_group.blocks.0.attn.relative_position_bias_table"),
    ("SPAN", "block_1.c1_r.eval_conv.weight"),
    ("PLKSR", "feats.1.lk.conv.weight"),
    ("OmniSR", "residual_layer.0.residual_layer.0.layer.0.fn.0.weight"),
    ("SAFMN", "feats.0.safm.aggr.weight"),
    ("Real-CUGAN", "unet1.conv_bottom.weight"),
];

/// The names of one file.
#[derive(Debug)]
pub(super) struct Names {
    /// What they are the names of, for messages.
    pub(super) architecture: &'static str,
    /// The canonical name of each tensor of the net. What the table does not know keeps its name without the prefix.
    pub(super) canonical: BTreeMap<String, String>,
    prefix: String,
    rows: Vec<(String, String)>,
}

/// Recognises the spelling, or says what each one misses first.
pub(super) fn read(catalogue: &Catalogue) -> Result<(Net, Names), Vec<Candidate>> {
    let (prefix, local) = net_tensors(catalogue);
    let Some(scheme) = SCHEMES.iter().find(|scheme| local.contains(scheme.mark)) else {
        let candidate = |scheme: &Scheme| Candidate {
            architecture: scheme.architecture,
            fault: Fault::Missing { name: format!("{prefix}{}", scheme.mark) },
        };
        return Err(SCHEMES.iter().map(candidate).collect());
    };
    let rows = scheme.rows(&local);
    let canonical = local.iter().map(|name| {
        let ours = rows.iter().find_map(|(theirs, ours)| translate_tensor(name, theirs, ours));
        (format!("{prefix}{name}"), ours.unwrap_or_else(|| (*name).to_owned()))
    });
    let canonical = canonical.collect();
    Ok((scheme.net, Names { architecture: scheme.architecture, canonical, prefix, rows }))
}

impl Names {
    /// Names that follow no table.
    pub(super) fn given(architecture: &'static str, canonical: BTreeMap<String, String>) -> Self {
        Self { architecture, canonical, prefix: String::new(), rows: Vec::new() }
    }

    /// The spelling in the file of a canonical name, also of a tensor that the file lacks.
    pub(super) fn in_file(&self, canonical: &str) -> String {
        if let Some((theirs, _)) = self.canonical.iter().find(|(_, ours)| *ours == canonical) {
            return theirs.clone();
        }
        let theirs = self.rows.iter().find_map(|(theirs, ours)| translate_tensor(canonical, ours, theirs));
        format!("{}{}", self.prefix, theirs.as_deref().unwrap_or(canonical))
    }
}

/// The architecture of a source that no spelling fits, where it is known at all.
pub(super) fn unsupported_architecture(catalogue: &Catalogue) -> Option<&'static str> {
    let (_, local) = net_tensors(catalogue);
    UNSUPPORTED.iter().find(|(_, mark)| local.contains(mark)).map(|(architecture, _)| *architecture)
}

impl Scheme {
    /// The table for a file with these tensors.
    fn rows(&self, local: &BTreeSet<&str>) -> Vec<(String, String)> {
        let modules: BTreeSet<&str> = local.iter().filter_map(|name| Some(name.rsplit_once('.')?.0)).collect();
        let n_found = |tail: &&&[(&str, &str)]| tail.iter().filter(|(theirs, _)| modules.contains(theirs)).count();
        let tail = self.tails.iter().max_by_key(n_found).copied().unwrap_or_default();
        let mut rows: Vec<_> =
            self.modules.iter().chain(tail).map(|&(theirs, ours)| (theirs.into(), ours.into())).collect();
        if let Some((theirs, ours)) = self.behind_blocks {
            let blocks = theirs.replace("{}", "");
            let block = |module: &&str| module.strip_prefix(&blocks)?.split_once('.')?.0.parse::<u32>().ok();
            let n_blocks = modules.iter().filter_map(block).max().map_or(0, |last| u64::from(last) + 1);
            rows.push((theirs.replace("{}", &n_blocks.to_string()), ours.into()));
        }
        rows
    }
}

/// The prefix of the net's tensors, and their names without it.
fn net_tensors(catalogue: &Catalogue) -> (String, BTreeSet<&str>) {
    let holds = |root: &&&str| catalogue.names().any(|name| name.starts_with(**root));
    let mut prefix = ROOTS.iter().find(holds).map_or_else(String::new, |&root| root.to_owned());
    let mut local: BTreeSet<&str> = catalogue.names().filter_map(|name| name.strip_prefix(&prefix)).collect();
    for wrapper in WRAPPERS {
        if !local.is_empty() && local.iter().all(|name| name.starts_with(wrapper)) {
            local = local.iter().filter_map(|name| name.strip_prefix(wrapper)).collect();
            prefix.push_str(wrapper);
        }
    }
    (prefix, local)
}

/// A tensor's name in another spelling, where its module has the form `from`; see [`translate`].
fn translate_tensor(name: &str, from: &str, to: &str) -> Option<String> {
    let (module, leaf) = name.rsplit_once('.')?;
    Some(format!("{}.{leaf}", translate(module, from, to)?))
}

/// `name` in another spelling, where it has the form `from`: each `{}` of `from` is a number, which takes the place of the
/// `{}` of `to` in the same order.
fn translate(name: &str, from: &str, to: &str) -> Option<String> {
    let mut literals = from.split("{}");
    let mut rest = name.strip_prefix(literals.next()?)?;
    let mut result = to.to_owned();
    for literal in literals {
        let (number, behind) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()));
        if number.is_empty() {
            return None;
        }
        result = result.replacen("{}", number, 1);
        rest = behind.strip_prefix(literal)?;
    }
    rest.is_empty().then_some(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_move_to_the_same_places() {
        let dense = ("model.1.sub.{}.RDB{}.conv{}.0", "body.{}.rdb{}.conv{}");
        assert_eq!(translate("model.1.sub.22.RDB3.conv5.0", dense.0, dense.1).as_deref(), Some("body.22.rdb3.conv5"));
        assert_eq!(translate("body.22.rdb3.conv5", dense.1, dense.0).as_deref(), Some("model.1.sub.22.RDB3.conv5.0"));
        for other in
            ["model.1.sub.22.RDB3.conv1x1.0", "model.1.sub..RDB3.conv5.0", "model.1.sub.2.RDB3.conv5.0.1", "", "x"]
        {
            assert_eq!(translate(other, dense.0, dense.1), None, "{other}");
        }
        assert_eq!(translate("model.10", "model.1", "conv_up1"), None);
    }

    #[test]
    fn every_table_can_be_read_backwards() {
        for (theirs, ours) in
            SCHEMES.iter().flat_map(|scheme| scheme.modules.iter().chain(scheme.tails.iter().copied().flatten()))
        {
            assert_eq!(theirs.matches("{}").count(), ours.matches("{}").count(), "{theirs}");
        }
    }
}
