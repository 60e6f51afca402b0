//! Rules on single files. Each returns its problems as lines that start with the place.

use std::path::{Path, PathBuf};

use super::source::Line;

/// Files longer than [`HARD_LIMIT`], with the reason.
pub(super) const LONG_FILES: &[(&str, &str)] = &[];

/// Lines outside tests above which a file is mentioned.
const SOFT_LIMIT: usize = 400;

/// Lines outside tests above which a file needs an exception.
const HARD_LIMIT: usize = 800;

/// How far above a call its proof may begin: the attribute, the comment, and the lines of one statement.
const PROOF_DISTANCE: usize = 10;

/// Where `unsafe` may stand.
const UNSAFE_PLACES: [&str; 3] = ["crates/ggml-sys", "crates/ggml", "crates/loader/src/mmap.rs"];

/// Names that code below a folder must not contain, and the invariant of `docs/architecture.md` behind it.
const FORBIDDEN_NAMES: &[(&str, &[&str], &str)] = &[
    (
        "crates/models/src",
        &["ggml", "Backend", "Buffer", "Device", "fs", "io", "File", "Path", "PathBuf"],
        "models never names a backend, a buffer or a file",
    ),
    (
        "crates/engine/src",
        &["esrgan", "rrdb", "srvgg", "flux", "sdxl", "unet", "clip_l"],
        "engine never names a model family",
    ),
    ("crates/loader/src", &["Device", "Backend", "BackendOptions"], "loader never names a device"),
];

/// Every Rust file says what it is for.
pub(super) fn header(path: &Path, text: &str) -> Option<String> {
    let opens = text.starts_with("//!");
    (!opens).then(|| format!("{}:1: a file opens with `//!` and what it is for", path.display()))
}

/// Files beyond the soft limit as notes, those beyond the hard one and needless exceptions as problems.
pub(super) fn sizes(sizes: &[(PathBuf, usize)], exceptions: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
    let (mut notes, mut problems) = (Vec::new(), Vec::new());
    for (path, n_lines) in sizes {
        let is_excepted = exceptions.iter().any(|(excepted, _)| Path::new(excepted) == path);
        match *n_lines {
            n if n > HARD_LIMIT && !is_excepted => {
                problems.push(format!("{}: {n} lines outside tests; split it at {HARD_LIMIT}", path.display()));
            }
            n if n > SOFT_LIMIT && !is_excepted => {
                notes.push(format!("note: {}: {n} lines outside tests", path.display()))
            }
            _ => {}
        }
    }
    for (excepted, _) in exceptions {
        let needs_it = |(path, n_lines): &(PathBuf, usize)| Path::new(excepted) == path && *n_lines > HARD_LIMIT;
        if !sizes.iter().any(needs_it) {
            problems.push(format!("{excepted}: needs no exception from the size limit"));
        }
    }
    (notes, problems)
}

/// No mark of unfinished work, and no code kept in comments.
pub(super) fn unfinished(path: &Path, lines: &[Line]) -> Vec<String> {
    let mut problems = Vec::new();
    for line in lines {
        for mark in ["todo!", "unimplemented!", "dbg!", "#[ignore"] {
            if line.code.contains(mark) {
                problems.push(at(path, line, &format!("`{mark}` marks unfinished work")));
            }
        }
        for mark in ["TODO", "FIXME", "XXX"] {
            if has_word(&line.comment, mark) {
                problems.push(at(path, line, &format!("`{mark}` marks unfinished work")));
            }
        }
        let is_doc = ["///", "//!", "/*"].iter().any(|start| line.comment.starts_with(start));
        let text = line.comment.trim_start_matches('/').trim();
        if !is_doc && (text.ends_with([';', '{']) || text == "}") {
            problems.push(at(path, line, "this comment looks like code"));
        }
    }
    problems
}

/// Outside tests, `unwrap` and `expect` stand right below the attribute that allows them, with the proof as its reason.
/// (That they need the attribute at all is clippy's rule.) Build scripts are free to panic, since that is how they fail.
pub(super) fn unproved_unwraps(path: &Path, lines: &[Line]) -> Vec<String> {
    if path.ends_with("build.rs") || path.iter().any(|folder| folder == "build") {
        return Vec::new();
    }
    let is_call = |code: &str| code.contains(".unwrap()") || code.contains(".expect(\"") || code.ends_with(".expect(");
    let names_lint =
        |line: &Line| line.code.contains("clippy::unwrap_used") || line.code.contains("clippy::expect_used");
    let mut problems = Vec::new();
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_test) {
        let above = &lines[index.saturating_sub(PROOF_DISTANCE)..index];
        if is_call(&line.code) && !above.iter().any(names_lint) {
            problems.push(at(path, line, "`unwrap` or `expect` without a proof beside it"));
        }
        if line.code.starts_with("#![") && names_lint(line) {
            problems.push(at(path, line, "the exemption must stand beside the call that it is for"));
        }
    }
    problems
}

/// What an invariant says is absent is absent.
pub(super) fn forbidden_names(path: &Path, lines: &[Line]) -> Vec<String> {
    let mut problems = Vec::new();
    for (_, names, invariant) in FORBIDDEN_NAMES.iter().filter(|(folder, ..)| path.starts_with(folder)) {
        for line in lines.iter().filter(|line| !line.is_test) {
            for name in names.iter().filter(|name| has_word(&line.code, name)) {
                problems.push(at(path, line, &format!("`{name}`: {invariant}")));
            }
        }
    }
    problems
}

/// `unsafe` stands only where the architecture has a place for it.
pub(super) fn misplaced_unsafe(path: &Path, lines: &[Line]) -> Vec<String> {
    if UNSAFE_PLACES.iter().any(|place| path.starts_with(place)) {
        return Vec::new();
    }
    let found = lines.iter().filter(|line| has_word(&line.code, "unsafe"));
    found.map(|line| at(path, line, "`unsafe` has no place here")).collect()
}

/// No path of the machine that a line was written on.
pub(super) fn absolute_paths(path: &Path, text: &str) -> Vec<String> {
    let is_absolute = |line: &str, folder: &str| {
        let start = format!("/{folder}/");
        line.match_indices(&start).any(|(index, _)| {
            // Behind a letter or a dot it is the middle of a relative path or of an address.
            !line[..index].ends_with(|c: char| c.is_alphanumeric() || "._-}*".contains(c))
        })
    };
    let mut problems = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for folder in ["home", "root", "tmp", "Users", "work"].iter().filter(|folder| is_absolute(line, folder)) {
            problems.push(format!(
                "{}:{}: a path below /{folder} exists on one machine only",
                path.display(),
                index + 1
            ));
        }
    }
    problems
}

fn at(path: &Path, line: &Line, problem: &str) -> String {
    format!("{}:{}: {problem}", path.display(), line.number)
}

/// Whether the text contains the word, not as a part of a longer identifier.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word)
        .any(|(index, _)| !text[..index].ends_with(is_part) && !text[index + word.len()..].starts_with(is_part))
}

#[cfg(test)]
mod tests {
    use super::super::source;
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<Line> {
        source::lines(Path::new(path), text)
    }

    #[test]
    fn a_file_without_header_is_a_problem() {
        let path = Path::new("a.rs");
        assert_eq!(header(path, "//! What.\nuse a;"), None);
        assert!(header(path, "use a;").unwrap().starts_with("a.rs:1:"));
    }

    #[test]
    fn long_files_are_noted_then_refused_unless_excepted() {
        let files = [("short.rs", 400), ("long.rs", 401), ("table.rs", 801)].map(|(path, n)| (PathBuf::from(path), n));
        let (notes, problems) = sizes(&files, &[("table.rs", "a table")]);
        assert!(notes.len() == 1 && notes[0].contains("long.rs"), "{notes:?}");
        assert_eq!(problems, Vec::<String>::new());

        let (_, problems) = sizes(&files, &[("long.rs", "a table")]);
        assert_eq!(problems.len(), 2);
        assert!(
            problems[0].starts_with("table.rs: 801") && problems[1].starts_with("long.rs: needs no"),
            "{problems:?}"
        );
    }

    #[test]
    fn unfinished_work_and_dead_code_are_found() {
        for text in ["// TODO: more", "todo!()", "dbg!(x)", "// let a = b;", "    // }", "// if a {"] {
            assert_eq!(unfinished(Path::new("a.rs"), &lines("a.rs", text)).len(), 1, "{text}");
        }
        for text in ["// A sentence.", "let todo = \"TODO\";", "/// let a = b;", "let a = 1; // counted from zero"] {
            assert_eq!(unfinished(Path::new("a.rs"), &lines("a.rs", text)), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn an_unwrap_needs_its_proof_beside_it() {
        let check = |text: &str| unproved_unwraps(Path::new("src/a.rs"), &lines("src/a.rs", text)).len();
        assert_eq!(check("a.unwrap();"), 1);
        assert_eq!(check("a.expect(\"b\");"), 1);
        assert_eq!(check("a.expect(\n    \"b\",\n);"), 1);
        assert_eq!(check("#[expect(clippy::unwrap_used, reason = \"proof\")]\na.unwrap();"), 0);
        assert_eq!(check(&format!("#[expect(clippy::unwrap_used)]\n{}a.unwrap();", "b();\n".repeat(20))), 1);
        assert_eq!(check("#![allow(clippy::unwrap_used)]"), 1);
        assert_eq!(check("#[cfg(test)]\nmod tests {\n    a.unwrap();\n}"), 0);
        assert_eq!(unproved_unwraps(Path::new("build.rs"), &lines("build.rs", "a.unwrap();")), Vec::<String>::new());
        assert_eq!(check("parser.expect(Token::Comma)?; b.unwrap_or(1); \".unwrap()\""), 0);
    }

    #[test]
    fn forbidden_names_are_found_as_words_of_code() {
        let check = |path: &str, text: &str| forbidden_names(Path::new(path), &lines(path, text)).len();
        assert_eq!(check("crates/models/src/a.rs", "use std::fs;"), 1);
        assert_eq!(check("crates/models/src/a.rs", "let x: PathBuf = b; // a Backend"), 1);
        assert_eq!(check("crates/models/src/a.rs", "let path = offset(\"Path\"); // fs"), 0);
        assert_eq!(check("crates/fresco/src/a.rs", "use std::fs;"), 0);
        assert_eq!(check("crates/loader/src/a.rs", "fn read(device: &Device)"), 1);
    }

    #[test]
    fn unsafe_code_stands_in_its_places_only() {
        let check = |path: &str| misplaced_unsafe(Path::new(path), &lines(path, "unsafe { f() } // unsafe")).len();
        assert_eq!(check("crates/ggml/src/a.rs"), 0);
        assert_eq!(check("crates/loader/src/mmap.rs"), 0);
        assert_eq!(check("crates/loader/src/read.rs"), 1);
        assert_eq!(
            misplaced_unsafe(Path::new("a.rs"), &lines("a.rs", "#![forbid(unsafe_code)]")),
            Vec::<String>::new()
        );
    }

    #[test]
    fn paths_of_a_machine_are_found() {
        let check = |text: &str| absolute_paths(Path::new("a.md"), text).len();
        for folder in ["home", "root", "tmp"] {
            assert_eq!(check(&format!("see \"/{folder}/me/x\"")), 1);
            assert_eq!(check(&format!("see docs/{folder}/x and https://a.b/{folder}/x")), 0);
        }
    }
}
