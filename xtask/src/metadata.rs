//! What `cargo metadata` says about the workspace and everything it depends on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::Context as _;
use serde::Deserialize;
use xshell::cmd;

use crate::process;

/// The resolved workspace: every package that any feature, target or kind of build can bring in.
#[derive(Deserialize)]
pub(crate) struct Metadata {
    pub packages: Vec<Package>,
    pub workspace_members: BTreeSet<PackageId>,
    resolve: Resolve,
}

pub(crate) type PackageId = String;

/// One version of one package.
#[derive(Deserialize)]
pub(crate) struct Package {
    pub id: PackageId,
    pub name: String,
    pub version: String,
    /// An SPDX expression.
    pub license: Option<String>,
    pub manifest_path: PathBuf,
    pub dependencies: Vec<Dependency>,
}

/// A dependency as a manifest states it, of whatever kind.
#[derive(Deserialize)]
pub(crate) struct Dependency {
    pub name: String,
    /// The folder of a dependency that comes from a path.
    pub path: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: PackageId,
    deps: Vec<Edge>,
}

#[derive(Deserialize)]
struct Edge {
    pkg: PackageId,
    dep_kinds: Vec<EdgeKind>,
}

#[derive(Deserialize)]
struct EdgeKind {
    /// Nothing for a normal dependency, else `dev` or `build`.
    kind: Option<String>,
}

impl Metadata {
    /// Reads the metadata of the workspace with all features, from the lock file as it is.
    pub(crate) fn read() -> anyhow::Result<Self> {
        let shell = process::shell()?;
        let json = cmd!(shell, "cargo metadata --format-version 1 --all-features --locked")
            .quiet()
            .read()
            .context("cannot read the metadata of the workspace")?;
        serde_json::from_str(&json).context("cannot parse the output of cargo metadata")
    }

    /// The packages of the workspace, in the order of their names.
    pub(crate) fn members(&self) -> BTreeMap<&str, &Package> {
        let members = self.packages.iter().filter(|package| self.workspace_members.contains(&package.id));
        members.map(|package| (package.name.as_str(), package)).collect()
    }

    /// The names of all packages that a user of `package` builds: its normal and build dependencies and theirs.
    pub(crate) fn tree(&self, package: &Package) -> BTreeSet<&str> {
        let nodes: BTreeMap<&str, &Node> = self.resolve.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
        let mut reached = BTreeSet::from([package.id.as_str()]);
        let mut open = vec![package.id.as_str()];
        while let Some(id) = open.pop() {
            for edge in nodes.get(id).into_iter().flat_map(|node| &node.deps) {
                let for_users = edge.dep_kinds.iter().any(|kind| kind.kind.as_deref() != Some("dev"));
                if for_users && reached.insert(&edge.pkg) {
                    open.push(&edge.pkg);
                }
            }
        }
        let reached = self.packages.iter().filter(|package| reached.contains(package.id.as_str()));
        reached.map(|package| package.name.as_str()).collect()
    }
}
