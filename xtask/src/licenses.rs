//! `cargo xtask licenses`: every dependency may be shipped under its licence, and none is built in two versions.

use std::collections::{BTreeMap, BTreeSet};

use crate::metadata::{Metadata, Package};
use crate::process;

/// Licences that ask for no more than their notice, by SPDX identifier.
const ALLOWED: [&str; 10] =
    ["0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "ISC", "MIT", "Unicode-3.0", "Unlicense", "Zlib"];

/// Packages that may be present in several versions, with the reason.
const DUPLICATES: &[(&str, &str)] = &[
    ("miniz_oxide", "png has not moved to the version that flate2 uses"),
    ("shlex", "bindgen, which only `cargo xtask bindings` builds, has not moved to the version that cc uses"),
    ("syn", "only procedural macros use it, and they move to version 3 one by one"),
];

pub(crate) fn run() -> anyhow::Result<()> {
    let metadata = Metadata::read()?;
    let mut problems = forbidden_licences(&metadata.packages);
    problems.extend(duplicates(&metadata.packages, DUPLICATES));
    process::conclude("licenses", &problems)
}

fn forbidden_licences(packages: &[Package]) -> Vec<String> {
    let mut problems = Vec::new();
    for Package { name, version, license, .. } in packages {
        match license {
            None => problems.push(format!("{name} {version} states no licence")),
            Some(expression) if !is_allowed(expression) => {
                problems.push(format!("{name} {version} is licensed under '{expression}', which is not on the list"));
            }
            Some(_) => {}
        }
    }
    problems
}

fn duplicates(packages: &[Package], exceptions: &[(&str, &str)]) -> Vec<String> {
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in packages {
        versions.entry(&package.name).or_default().insert(&package.version);
    }
    versions.retain(|_, versions| versions.len() > 1);
    let is_excepted = |name: &str| exceptions.iter().any(|(excepted, _)| *excepted == name);
    let new = versions.iter().filter(|(name, _)| !is_excepted(name));
    let new = new.map(|(name, versions)| format!("{name} is present in the versions {versions:?}"));
    let stale = exceptions.iter().filter(|(name, _)| !versions.contains_key(name));
    let stale = stale.map(|(name, _)| format!("{name} has one version now; remove its exception"));
    new.chain(stale).collect()
}

/// Whether an SPDX expression can be satisfied with allowed licences alone. Older manifests write `/` for `OR`.
fn is_allowed(expression: &str) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut tokens = spaced.split_whitespace().peekable();
    let verdict = alternatives(&mut tokens);
    verdict == Some(true) && tokens.next().is_none()
}

type Tokens<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

/// `conjunction (OR conjunction)*`, or nothing where the expression is malformed.
fn alternatives(tokens: &mut Tokens<'_>) -> Option<bool> {
    let mut allowed = conjunction(tokens)?;
    while tokens.next_if_eq(&"OR").is_some() {
        allowed |= conjunction(tokens)?;
    }
    Some(allowed)
}

/// `licence (AND licence)*`.
fn conjunction(tokens: &mut Tokens<'_>) -> Option<bool> {
    let mut allowed = licence(tokens)?;
    while tokens.next_if_eq(&"AND").is_some() {
        allowed &= licence(tokens)?;
    }
    Some(allowed)
}

/// `identifier [WITH exception]` or an expression in parentheses. An exception only grants more.
fn licence(tokens: &mut Tokens<'_>) -> Option<bool> {
    match tokens.next()? {
        "(" => {
            let allowed = alternatives(tokens)?;
            (tokens.next()? == ")").then_some(allowed)
        }
        "OR" | "AND" | "WITH" | ")" => None,
        identifier => {
            if tokens.next_if_eq(&"WITH").is_some() {
                tokens.next()?;
            }
            Some(ALLOWED.contains(&identifier))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_allowed_if_some_choice_is() {
        for expression in [
            "MIT",
            "MIT/Apache-2.0",
            "GPL-3.0 OR MIT",
            "(MIT OR GPL-3.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception",
        ] {
            assert!(is_allowed(expression), "{expression}");
        }
        for expression in
            ["GPL-3.0", "MIT AND GPL-3.0", "MIT AND (GPL-3.0 OR LGPL-2.1)", "", "MIT OR", "(MIT", "MIT MIT"]
        {
            assert!(!is_allowed(expression), "{expression}");
        }
    }

    fn package(name: &str, version: &str, license: Option<&str>) -> Package {
        Package {
            id: format!("{name}@{version}"),
            name: name.to_owned(),
            version: version.to_owned(),
            license: license.map(str::to_owned),
            manifest_path: "Cargo.toml".into(),
            dependencies: Vec::new(),
        }
    }

    #[test]
    fn a_missing_or_forbidden_licence_is_a_problem() {
        let packages = [
            package("good", "1.0.0", Some("MIT")),
            package("silent", "1.0.0", None),
            package("strict", "2.0.0", Some("GPL-3.0")),
        ];
        let problems = forbidden_licences(&packages);
        assert_eq!(problems.len(), 2);
        assert!(problems[0].starts_with("silent 1.0.0") && problems[1].starts_with("strict 2.0.0"), "{problems:?}");
    }

    #[test]
    fn two_versions_need_an_exception_and_one_must_have_none() {
        let packages = [package("a", "1.0.0", None), package("a", "2.0.0", None), package("b", "1.0.0", None)];
        assert_eq!(duplicates(&packages, &[("a", "reason")]), Vec::<String>::new());
        assert!(duplicates(&packages, &[])[0].starts_with("a is present"));
        assert!(duplicates(&packages, &[("a", "reason"), ("b", "reason")])[0].starts_with("b has one version"));
    }
}
