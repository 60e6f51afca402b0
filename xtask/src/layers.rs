//! `cargo xtask layers`: no crate depends on another than the crate map allows.
//!
//! Two things must hold: every edge between members of the workspace is one that the layering below allows, and the
//! table in `docs/architecture.md` shows exactly the members and edges that exist.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::Context as _;

use crate::metadata::Metadata;
use crate::process;

/// From the bottom to the top; each may depend on the one before it.
const STACK: [&str; 8] = [
    "fresco-ggml-sys",
    "fresco-ggml",
    "fresco-loader",
    "fresco-residency",
    "fresco-engine",
    "fresco-models",
    "fresco",
    "fresco-cli",
];

/// The other allowed edges: who depends on whom.
const BESIDE_THE_STACK: [(&str, &str); 3] =
    [("fresco", "fresco-sampling"), ("fresco-tests", "fresco"), ("fresco-benches", "fresco")];

/// Members that nothing depends on and that depend on none: they are known by name alone.
const ALONE: [&str; 1] = ["xtask"];

/// Members of the workspace and the members that each depends on, in any kind of dependency.
type Edges = BTreeMap<String, BTreeSet<String>>;

pub(crate) fn run() -> anyhow::Result<()> {
    let metadata = Metadata::read()?;
    let page = process::workspace_root().join("docs/architecture.md");
    let page = fs::read_to_string(&page).with_context(|| format!("cannot read {}", page.display()))?;
    let edges = edges_of(&metadata);
    let mut problems = forbidden(&edges);
    problems.extend(differences(&edges, &crate_map(&page)));
    process::conclude("layers", &problems)
}

fn edges_of(metadata: &Metadata) -> Edges {
    let members = metadata.members();
    let dependencies = |name: &str| {
        let names = members[name].dependencies.iter().filter(|dependency| dependency.path.is_some());
        names.map(|dependency| dependency.name.clone()).collect()
    };
    members.keys().map(|name| ((*name).to_owned(), dependencies(name))).collect()
}

fn forbidden(edges: &Edges) -> Vec<String> {
    let mut problems = Vec::new();
    for (from, dependencies) in edges {
        let known = STACK.contains(&from.as_str())
            || ALONE.contains(&from.as_str())
            || BESIDE_THE_STACK.iter().any(|(user, used)| from == user || from == used);
        if !known {
            problems.push(format!("{from} has no place in the layers; give it one in xtask/src/layers.rs"));
        }
        for to in dependencies {
            let next_below = STACK.windows(2).any(|pair| pair == [to.as_str(), from.as_str()]);
            if !next_below && !BESIDE_THE_STACK.contains(&(from, to)) {
                problems.push(format!(
                    "{from} must not depend on {to}: each layer sees the one directly below it and reaches the rest \
                     through its re-exports"
                ));
            }
        }
    }
    problems
}

/// A row of the table in `docs/architecture.md`.
#[derive(Debug, PartialEq)]
struct Row {
    package: String,
    depends_on: BTreeSet<String>,
    is_planned: bool,
}

/// Reads the crate map: the table whose first column is headed by `crate`.
fn crate_map(page: &str) -> Vec<Row> {
    let table = page.lines().skip_while(|line| !line.starts_with("| crate"));
    let rows: Vec<Vec<&str>> = table
        .take_while(|line| line.starts_with('|'))
        .skip(2)
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let package_of = |cells: &[&str]| {
        let named = cells.get(1).and_then(|cell| code_words(cell).next());
        named.or_else(|| code_words(cells[0]).next()).unwrap_or_default().to_owned()
    };
    // The map names crates by folder, the manifests by package.
    let packages: BTreeMap<String, String> = rows
        .iter()
        .filter_map(|cells| Some((code_words(cells[0]).next()?.trim_end_matches('/').to_owned(), package_of(cells))))
        .collect();
    let row = |cells: &Vec<&str>| Row {
        package: package_of(cells),
        depends_on: code_words(cells.get(3).copied().unwrap_or_default())
            .map(|folder| packages.get(folder).cloned().unwrap_or_else(|| folder.to_owned()))
            .collect(),
        is_planned: cells.get(2).is_some_and(|purpose| purpose.starts_with("planned")),
    };
    rows.iter().map(row).collect()
}

/// The words in back quotes.
fn code_words(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

fn differences(edges: &Edges, map: &[Row]) -> Vec<String> {
    let mut problems = Vec::new();
    for (package, dependencies) in edges {
        match map.iter().find(|row| row.package == *package) {
            None => problems.push(format!("docs/architecture.md: the crate map has no row for {package}")),
            Some(row) if row.is_planned => {
                problems.push(format!("docs/architecture.md: {package} exists, but the crate map calls it planned"));
            }
            Some(row) if row.depends_on != *dependencies => problems.push(format!(
                "docs/architecture.md: {package} depends on {dependencies:?}, but the crate map says {:?}",
                row.depends_on
            )),
            Some(_) => {}
        }
    }
    for row in map.iter().filter(|row| !row.is_planned && !edges.contains_key(&row.package)) {
        problems.push(format!("docs/architecture.md: the crate map lists {}, which does not exist", row.package));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(list: &[(&str, &[&str])]) -> Edges {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        list.iter().map(|(from, to)| ((*from).to_owned(), names(to))).collect()
    }

    const MAP: &str = "\
# A page

| crate (folder) | package | purpose | depends on | not here |
|---|---|---|---|---|
| `fresco` | `fresco` | facade | `models` (+ leaf `sampling`) | |
| `models` | `fresco-models` | networks | nothing | |
| `sampling` (leaf) | `fresco-sampling` | mathematics | nothing | |
| `kernels` | `fresco-kernels` | planned: convolutions | nothing | |
| `xtask` | | tasks | | |

| another | `table` | | `fresco` |
";

    #[test]
    fn the_stack_and_its_leaves_are_allowed() {
        let allowed = edges(&[
            ("fresco", &["fresco-models", "fresco-sampling"]),
            ("fresco-ggml", &["fresco-ggml-sys"]),
            ("fresco-tests", &["fresco"]),
            ("xtask", &[]),
        ]);
        assert_eq!(forbidden(&allowed), Vec::<String>::new());
    }

    #[test]
    fn skipping_a_layer_and_pointing_upwards_are_forbidden() {
        for edge in [("fresco-models", "fresco-loader"), ("fresco-ggml", "fresco-loader"), ("xtask", "fresco")] {
            let problems = forbidden(&edges(&[(edge.0, &[edge.1])]));
            assert_eq!(problems.len(), 1, "{edge:?}: {problems:?}");
        }
    }

    #[test]
    fn an_unknown_member_is_a_problem() {
        assert!(forbidden(&edges(&[("fresco-new", &[])]))[0].starts_with("fresco-new has no place"));
    }

    #[test]
    fn the_crate_map_is_read_by_package() {
        let map = crate_map(MAP);
        let packages: Vec<&str> = map.iter().map(|row| row.package.as_str()).collect();
        assert_eq!(packages, ["fresco", "fresco-models", "fresco-sampling", "fresco-kernels", "xtask"]);
        assert_eq!(map[0].depends_on, BTreeSet::from(["fresco-models".to_owned(), "fresco-sampling".to_owned()]));
        assert!(map[3].is_planned && !map[2].is_planned);
    }

    #[test]
    fn the_crate_map_must_show_what_exists() {
        let members: &[(&str, &[&str])] =
            &[("fresco", &["fresco-models", "fresco-sampling"]), ("fresco-models", &[]), ("xtask", &[])];
        let mut existing = edges(members);
        existing.insert("fresco-sampling".to_owned(), BTreeSet::new());
        assert_eq!(differences(&existing, &crate_map(MAP)), Vec::<String>::new());

        let missing = differences(&edges(members), &crate_map(MAP));
        assert!(missing.len() == 1 && missing[0].contains("lists fresco-sampling"), "{missing:?}");

        existing.insert("fresco-kernels".to_owned(), BTreeSet::new());
        existing.insert("fresco-cli".to_owned(), BTreeSet::new());
        existing.insert("fresco-models".to_owned(), BTreeSet::from(["fresco-sampling".to_owned()]));
        let problems = differences(&existing, &crate_map(MAP));
        for part in ["no row for fresco-cli", "calls it planned", "fresco-models depends on"] {
            assert!(problems.iter().any(|problem| problem.contains(part)), "{part}: {problems:?}");
        }
    }
}
