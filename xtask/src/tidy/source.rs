//! A Rust file cut into lines, each with its code and its comment apart.
//!
//! This is no parser: it knows comments, string and character literals, and the layout that rustfmt gives to
//! `#[cfg(test)] mod tests { … }`. That is all the rules need.

use std::path::Path;

/// Folders and files that hold nothing but test code.
const TEST_FOLDERS: [&str; 3] = ["tests", "benches", "fuzz"];
const TEST_FILES: [&str; 2] = ["tests.rs", "testing.rs"];

/// A line of a Rust file.
pub(super) struct Line {
    /// Counted from 1.
    pub number: usize,
    /// The code, with the contents of string and character literals left out.
    pub code: String,
    /// The text of a comment, with its slashes.
    pub comment: String,
    /// Whether only tests see it.
    pub is_test: bool,
}

/// Cuts a file into lines. The path tells whether all of it is test code.
pub(super) fn lines(path: &Path, text: &str) -> Vec<Line> {
    let is_test_file = TEST_FILES.iter().any(|name| path.ends_with(name))
        || path.iter().any(|folder| TEST_FOLDERS.iter().any(|name| folder == *name));
    let mut state = State::Code;
    let mut lines: Vec<Line> = text
        .lines()
        .enumerate()
        .map(|(index, text)| {
            let (code, comment) = split(text, &mut state);
            Line { number: index + 1, code, comment, is_test: is_test_file }
        })
        .collect();
    mark_test_modules(&mut lines);
    lines
}

/// Where a line starts.
enum State {
    Code,
    /// In a block comment this many levels deep.
    Comment(usize),
    /// In a string literal that ends with a quote and this many hashes.
    Text {
        is_raw: bool,
        n_hashes: usize,
    },
}

/// Splits a line into code and comment, and leaves the state in which the next one starts.
fn split(line: &str, state: &mut State) -> (String, String) {
    let (mut code, mut comment) = (String::new(), String::new());
    let chars: Vec<char> = line.chars().collect();
    let mut at = 0;
    while at < chars.len() {
        let rest = &chars[at..];
        match state {
            State::Comment(depth) => {
                let n = match rest {
                    ['*', '/', ..] => {
                        *depth -= 1;
                        2
                    }
                    ['/', '*', ..] => {
                        *depth += 1;
                        2
                    }
                    _ => 1,
                };
                comment.extend(&rest[..n]);
                if *depth == 0 {
                    *state = State::Code;
                }
                at += n;
            }
            State::Text { is_raw, n_hashes } => match rest {
                ['\\', ..] if !*is_raw => at += 2,
                ['"', tail @ ..] if tail.len() >= *n_hashes && tail[..*n_hashes].iter().all(|c| *c == '#') => {
                    at += 1 + *n_hashes;
                    code.push('"');
                    *state = State::Code;
                }
                _ => at += 1,
            },
            State::Code => match rest {
                ['/', '/', ..] => {
                    comment.extend(rest);
                    return (code, comment);
                }
                ['/', '*', ..] => {
                    comment.push_str("/*");
                    *state = State::Comment(1);
                    at += 2;
                }
                ['"', ..] => {
                    let n_hashes = code.chars().rev().take_while(|c| *c == '#').count();
                    let prefix = &code[..code.len() - n_hashes];
                    *state = State::Text { is_raw: prefix.ends_with('r'), n_hashes };
                    code.push('"');
                    at += 1;
                }
                // A character literal; a lifetime has no quote behind it.
                ['\'', '\\', ..] => {
                    let end = rest.iter().skip(3).position(|c| *c == '\'').map_or(rest.len(), |n| n + 4);
                    code.push_str("''");
                    at += end;
                }
                ['\'', _, '\'', ..] => {
                    code.push_str("''");
                    at += 3;
                }
                [other, ..] => {
                    code.push(*other);
                    at += 1;
                }
                [] => unreachable!("the loop ends at the end of the line"),
            },
        }
    }
    (code, comment)
}

/// Marks the lines from `#[cfg(test)]` to the closing brace of the module behind it.
fn mark_test_modules(lines: &mut [Line]) {
    let mut at = 0;
    while at < lines.len() {
        let start = at;
        at += 1;
        if !lines[start].code.starts_with("#[cfg(test)]") {
            continue;
        }
        let opening = lines[at..].iter().find(|line| !line.code.starts_with("#["));
        if opening.is_some_and(|line| line.code.starts_with("mod ") && line.code.ends_with('{')) {
            let n = lines[start..].iter().take_while(|line| line.code != "}").count();
            at = (start + n + 1).min(lines.len());
            lines[start..at].iter_mut().for_each(|line| line.is_test = true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(text: &str) -> Vec<String> {
        lines(Path::new("src/lib.rs"), text).into_iter().map(|line| line.code).collect()
    }

    #[test]
    fn comments_and_literals_are_taken_out_of_the_code() {
        assert_eq!(codes("let a = \"x // y\"; // z"), ["let a = \"\"; "]);
        assert_eq!(codes("f('\"', '\\'', '\\u{7f}', b'a'); g::<'a>()"), ["f('', '', '', b''); g::<'a>()"]);
        assert_eq!(codes("a /* b\n/* c */ d */ e"), ["a ", " e"]);
        assert_eq!(codes("r#\"a \"quoted\" \\\"# + \"b\\\"c\" + d"), ["r#\"\" + \"\" + d"]);
        assert_eq!(codes("\"one\ntwo\" + x"), ["\"", "\" + x"]);
    }

    #[test]
    fn the_comment_is_kept() {
        assert_eq!(lines(Path::new("a.rs"), "code(); // why")[0].comment, "// why");
    }

    #[test]
    fn test_modules_and_test_files_are_marked() {
        let text = "fn a() {\n}\n#[cfg(test)]\nmod tests {\n    fn b() {\n    }\n}\nfn c() {}";
        let marks: Vec<bool> = lines(Path::new("src/a.rs"), text).iter().map(|line| line.is_test).collect();
        assert_eq!(marks, [false, false, true, true, true, true, true, false]);
        assert!(lines(Path::new("crates/a/tests/b.rs"), "x").iter().all(|line| line.is_test));
        assert!(!lines(Path::new("src/a.rs"), "#[cfg(test)]\nuse b;")[1].is_test);
    }
}
