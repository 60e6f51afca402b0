//! `cargo xtask tidy`: house rules that neither the compiler nor clippy knows.
//!
//! Rules on single files stand in `tidy/rules.rs`, those on the whole workspace here. Where a rule needs an exception,
//! it is named in a table with its reason, and an exception that is no longer needed is a problem too.

mod rules;
mod source;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use xshell::cmd;

use crate::metadata::Metadata;
use crate::process;

/// Crates that contain `unsafe` code; every other one forbids it.
const UNSAFE_CRATES: [&str; 3] = ["fresco-ggml-sys", "fresco-ggml", "fresco-loader"];

/// Packages that speak to a network; a library that loads models must not contain them.
const NETWORK_PACKAGES: [&str; 13] = [
    "attohttpc",
    "curl",
    "hf-hub",
    "hyper",
    "isahc",
    "minreq",
    "native-tls",
    "openssl",
    "reqwest",
    "rustls",
    "surf",
    "tokio",
    "ureq",
];

/// The crate whose tree holds every library of the workspace.
const FACADE: &str = "fresco";

pub(crate) fn run() -> anyhow::Result<()> {
    let metadata = Metadata::read()?;
    let root = process::workspace_root();
    let mut problems = members(&metadata)?;
    problems.extend(network(&metadata));

    let mut sizes = Vec::new();
    for path in files()? {
        let Ok(text) = fs::read_to_string(root.join(&path)) else {
            // Pictures and other data.
            continue;
        };
        problems.extend(rules::absolute_paths(&path, &text));
        if path.extension().is_some_and(|extension| extension == "rs") {
            let lines = source::lines(&path, &text);
            sizes.push((path.clone(), lines.iter().filter(|line| !line.is_test).count()));
            problems.extend(rules::header(&path, &text));
            problems.extend(rules::unfinished(&path, &lines));
            problems.extend(rules::unproved_unwraps(&path, &lines));
            problems.extend(rules::forbidden_names(&path, &lines));
            problems.extend(rules::misplaced_unsafe(&path, &lines));
        }
    }
    let (notes, oversized) = rules::sizes(&sizes, rules::LONG_FILES);
    problems.extend(oversized);
    for note in notes {
        println!("{note}");
    }
    process::conclude("tidy", &problems)
}

/// Every file that git tracks or would track, relative to the root of the workspace.
fn files() -> anyhow::Result<Vec<PathBuf>> {
    let shell = process::shell()?;
    let list = cmd!(shell, "git ls-files --cached --others --exclude-standard")
        .quiet()
        .read()
        .context("cannot list the files of the workspace")?;
    Ok(list.lines().map(PathBuf::from).collect())
}

/// Each member takes the lints of the workspace, and forbids `unsafe` code unless it is one of the few that need it.
fn members(metadata: &Metadata) -> anyhow::Result<Vec<String>> {
    let mut problems = Vec::new();
    for (name, package) in metadata.members() {
        let manifest = fs::read_to_string(&package.manifest_path)
            .with_context(|| format!("cannot read {}", package.manifest_path.display()))?;
        if !manifest.contains("[lints]\nworkspace = true") {
            problems.push(format!("{name} does not take the lints of the workspace; add `[lints] workspace = true`"));
        }
        let folder = package.manifest_path.parent().unwrap_or(Path::new("")).join("src");
        for file in ["lib.rs", "main.rs"].iter().filter(|_| !UNSAFE_CRATES.contains(&name)) {
            if fs::read_to_string(folder.join(file)).is_ok_and(|text| !text.contains("#![forbid(unsafe_code)]")) {
                problems.push(format!("{name}: src/{file} must say `#![forbid(unsafe_code)]`"));
            }
        }
    }
    Ok(problems)
}

fn network(metadata: &Metadata) -> Vec<String> {
    let Some(facade) = metadata.members().remove(FACADE) else {
        return vec![format!("the workspace has no crate {FACADE}, whose dependencies must not use a network")];
    };
    let tree = metadata.tree(facade);
    let found = NETWORK_PACKAGES.iter().filter(|name| tree.contains(*name));
    found.map(|name| format!("{name} is among the dependencies of the libraries, which do no network")).collect()
}
