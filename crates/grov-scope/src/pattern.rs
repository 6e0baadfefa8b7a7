//! Patterns of scopes, permissions and bans: paths, globs, file names, identifiers.

use crate::normalized_path::{NormalizedPath, ProjectRoot};
use crate::spaced_path::unescaped;
use crate::words::fold;

/// The maximum bytes of an entry that are read.
const MAX_BYTES: usize = 400;

/// The maximum number of alternatives of `{a,b}` in one entry.
const MAX_ALTERNATIVES: usize = 32;

/// A component of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// A literal component.
    Plain(String),
    /// A component with `*` or `?`.
    Glob(String),
    /// `**`: any number of components.
    Any,
}

impl Part {
    fn new(part: &str) -> Self {
        if part == "**" {
            Self::Any
        } else if part.contains(['*', '?']) {
            Self::Glob(part.to_owned())
        } else {
            Self::Plain(part.to_owned())
        }
    }

    /// Whether a single component matches; `**` never does.
    fn matches(&self, part: &str) -> bool {
        match self {
            Self::Plain(plain) => plain == part,
            Self::Glob(glob) => matches_glob(glob, part),
            Self::Any => false,
        }
    }
}

/// A parsed entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The entry as it was written.
    text: String,
    /// The parts of each alternative.
    alternatives: Vec<Vec<Part>>,
    /// The pattern starts at the root (or at `/`), not in any folder.
    anchored: bool,
    /// Words that name a file by its stem, for entries that are not paths.
    stems: Vec<String>,
}

impl Pattern {
    /// Parses an entry. A relative one matches below any folder, because people omit the current folder.
    pub fn new(root: &ProjectRoot, entry: &str) -> Self {
        let text = entry
            .trim()
            .trim_matches(['"', '\'', '`'])
            .trim_start_matches('@');
        let text = unescaped(&text[..text.floor_char_boundary(MAX_BYTES)]);
        let text = text.as_ref();
        let is_code = text.contains("::") || text.ends_with("()");
        let mut anchored = false;
        let alternatives = if is_code {
            Vec::new()
        } else {
            let alternatives = alternatives(text).into_iter().map(|text| {
                let place = NormalizedPath::new(root, text.trim_end_matches('/'));
                anchored |= !place.is_in_project();
                place.components().map(Part::new).collect::<Vec<Part>>()
            });
            alternatives.filter(|parts| !parts.is_empty()).collect()
        };
        let stems = fold(text)
            .split(['/', ':', '.', '(', ')', '\\', '*'])
            .filter(|word| word.len() >= 4)
            .map(str::to_owned)
            .collect();
        Self {
            text: text.to_owned(),
            alternatives,
            anchored,
            stems,
        }
    }

    /// The entry as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the pattern names the path or a folder that contains it.
    pub fn covers(&self, place: &NormalizedPath) -> bool {
        let starts = if self.anchored { 1 } else { place.depth() };
        self.alternatives
            .iter()
            .any(|pattern| (0..starts).any(|start| matches_parts(pattern, place, start)))
    }

    /// Whether each alternative names at least one part of a path, and not only `*` and `**`.
    pub(crate) fn names_something(&self) -> bool {
        let names = |part: &Part| match part {
            Part::Plain(text) | Part::Glob(text) => {
                text.chars().filter(|letter| letter.is_alphanumeric()).count() >= 2
            }
            Part::Any => false,
        };
        self.alternatives.iter().all(|pattern| pattern.iter().any(names))
    }

    /// Whether the path is covered, or has the name of the identifier: `crate::parser` is expected in `parser.rs`.
    pub fn expects(&self, place: &NormalizedPath) -> bool {
        if self.covers(place) {
            return true;
        }
        let stem = place.stem();
        stem.len() >= 4 && self.stems.iter().any(|word| word == stem)
    }
}

/// `a/{b,c}` as `a/b` and `a/c`.
fn alternatives(text: &str) -> Vec<String> {
    let mut done = Vec::new();
    let mut open = vec![text.to_owned()];
    while let Some(text) = open.pop() {
        let braces = text.find('{').and_then(|start| {
            let end = start + text[start..].find('}')?;
            text[start..end].contains(',').then_some((start, end))
        });
        let room = done.len() + open.len() < MAX_ALTERNATIVES;
        match braces.filter(|_| room) {
            Some((start, end)) => {
                let forms = text[start + 1..end].split(',').rev().take(MAX_ALTERNATIVES);
                open.extend(forms.map(|form| [&text[..start], form, &text[end + 1..]].concat()));
            }
            None => done.push(text),
        }
    }
    done
}

/// Whether the pattern matches the path from component `start`, or a folder that contains it.
fn matches_parts(pattern: &[Part], place: &NormalizedPath, start: usize) -> bool {
    let (mut at, mut part) = (0, start);
    // Where to continue after a mismatch: after the last `**`, one component further.
    let mut retry: Option<(usize, usize)> = None;
    loop {
        if at == pattern.len() {
            return true;
        }
        if pattern[at] == Part::Any {
            retry = Some((at + 1, part));
            at += 1;
            // A trailing `**` matches at least one component.
            if at == pattern.len() {
                return part < place.depth();
            }
            continue;
        }
        if part < place.depth() && pattern[at].matches(place.component(part)) {
            at += 1;
            part += 1;
            continue;
        }
        match retry {
            Some((behind, from)) if from < place.depth() => {
                retry = Some((behind, from + 1));
                at = behind;
                part = from + 1;
            }
            _ => return false,
        }
    }
}

/// Matches `*` and `?` within one component.
fn matches_glob(pattern: &str, part: &str) -> bool {
    let (pattern, part) = (pattern.as_bytes(), part.as_bytes());
    let (mut at, mut byte) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while byte < part.len() {
        match pattern.get(at) {
            Some(b'*') => {
                retry = Some((at + 1, byte));
                at += 1;
            }
            Some(b'?') => {
                at += 1;
                byte += 1;
            }
            Some(letter) if *letter == part[byte] => {
                at += 1;
                byte += 1;
            }
            _ => match retry {
                Some((behind, from)) => {
                    retry = Some((behind, from + 1));
                    at = behind;
                    byte = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|letter| *letter == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn covers(entry: &str, path: &str) -> bool {
        let root = ProjectRoot::new(Some("/home/me/p"));
        Pattern::new(&root, entry).covers(&NormalizedPath::new(&root, path))
    }

    #[test]
    fn entries_cover_what_they_name() {
        for (entry, path) in [
            ("src/a.rs", "src/a.rs"),
            ("src/a.rs", "SRC/A.rs"),
            ("src/a.rs", "/home/me/p/src/a.rs"),
            ("/home/me/p/src", "src/a.rs"),
            ("./src/", "src/x/y.rs"),
            ("Cargo.toml", "crates/x/Cargo.toml"),
            ("src/*.css", "src/site.css"),
            ("src/*", "src/a/b.rs"),
            ("src/**", "src/a/b.rs"),
            ("src/**/*.rs", "src/a.rs"),
            ("src/**/*.rs", "src/a/b/c.rs"),
            ("**/*.test.ts", "web/x/a.test.ts"),
            ("*.md", "docs/a.md"),
            ("a?.rs", "src/ab.rs"),
            ("src/{a,b}.rs", "src/b.rs"),
            ("{src,tests}/**", "tests/a.rs"),
            (r"src\auth\", "src/auth/a.rs"),
            ("~/p/src", "src/a.rs"),
            ("/etc/**", "/etc/hosts"),
            ("~/.ssh", "~/.ssh/config"),
            ("@src/a.rs", "src/a.rs"),
        ] {
            assert!(covers(entry, path), "{entry}: {path}");
        }
        for (entry, path) in [
            ("src/a.rs", "src/b.rs"),
            ("src/a", "src/ab.rs"),
            ("src/*.rs", "src/a.ts"),
            ("src/**", "lib/a.rs"),
            ("/home/me/q", "src/a.rs"),
            ("a?.rs", "src/a.rs"),
            ("crate::parser", "src/parser.rs"),
            ("", "src/a.rs"),
            ("/", "src/a.rs"),
        ] {
            assert!(!covers(entry, path), "{entry}: {path}");
        }
    }

    #[test]
    fn identifiers_are_expected_in_files_of_their_name() {
        let root = ProjectRoot::default();
        let expects =
            |entry: &str, path: &str| Pattern::new(&root, entry).expects(&NormalizedPath::new(&root, path));
        assert!(expects("crate::parser", "src/parser.rs"));
        assert!(expects("UserStore", "src/UserStore.ts"));
        assert!(expects("src/parser.rs", "tests/parser.rs"));
        assert!(!expects("crate::parser", "src/lexer.rs"));
        assert!(!expects("run()", "src/run.rs"), "too short a name to tell");
    }

    proptest! {
        #[test]
        fn any_entry_is_compared_with_any_path(entry in any::<String>(), path in any::<String>()) {
            let root = ProjectRoot::new(Some("/p"));
            let _ = Pattern::new(&root, &entry).expects(&NormalizedPath::new(&root, &path));
        }

        #[test]
        fn globs_of_stars_end(entry in "[*?a/{},]{0,60}", path in "[a/]{0,60}") {
            let root = ProjectRoot::default();
            let _ = Pattern::new(&root, &entry).covers(&NormalizedPath::new(&root, &path));
        }

        #[test]
        fn a_path_covers_itself(path in "[a-z]{1,5}(/[a-z]{1,5}){0,3}") {
            prop_assert!(covers(&path, &path));
        }
    }
}
