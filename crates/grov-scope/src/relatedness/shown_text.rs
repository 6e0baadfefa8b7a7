//! The files and words in texts that were shown to the agent: plans, logs, review comments.
//!
//! Listings are ignored, because they name all files alike. A name counts only in a line that contains more than the name.

use super::terms::TextTerms;
use super::tracked_file::{TrackedFile, is_telling, name};
use crate::names::paths;
use crate::normalized_path::{NormalizedPath, ProjectRoot};
use crate::words::fold;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// The maximum numbers of recorded names and words.
const MAX_NAMES: usize = 2_000;
const MAX_WORDS: usize = 6_000;
/// The number of lines of a text that are read.
const MAX_LINES: usize = 200;

/// The files and words shown so far.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct ShownText {
    /// Normalised paths.
    files: HashSet<String>,
    words: HashSet<String>,
    /// Compound identifiers and the last parts of dotted names: `PluginHost::discover`, `shop.orders`.
    #[serde(default)]
    identifiers: HashSet<String>,
}

impl ShownText {
    /// Records a text.
    pub(super) fn record(&mut self, root: &ProjectRoot, text: &str) {
        let lines: Vec<&str> = text.lines().take(MAX_LINES).collect();
        for (at, line) in lines.iter().enumerate() {
            let is_listed = line.split_whitespace().nth(1).is_none();
            // Linters print the file's name above their messages.
            let is_headed = lines.get(at + 1).is_some_and(|next| is_remark(next));
            if is_listed && !is_headed && !has_number(line) || is_status(line) {
                continue;
            }
            // `src/a.ts(12,3): error`
            let numbered = line.contains('(').then(|| line.replace('(', " "));
            for path in paths(line)
                .into_iter()
                .chain(numbered.iter().flat_map(|line| paths(line)))
            {
                if self.files.len() < MAX_NAMES {
                    self.files
                        .insert(NormalizedPath::new(root, &path).as_str().to_owned());
                }
            }
            let terms = TextTerms::of([(*line, line.len())]);
            for word in terms.words {
                if self.words.len() < MAX_WORDS {
                    self.words.insert(word);
                }
            }
            for identifier in terms.identifiers.into_iter().chain(modules(line)) {
                if self.identifiers.len() < MAX_NAMES {
                    self.identifiers.insert(identifier);
                }
            }
        }
    }

    /// Whether a text named the file.
    pub(super) fn names(&self, file: &TrackedFile) -> bool {
        self.names_path(file) || self.names_symbol(file)
    }

    /// Whether a text named a symbol or a module after which the file is called.
    fn names_symbol(&self, file: &TrackedFile) -> bool {
        if self.identifiers.is_empty() {
            return false;
        }
        let stem = file.stem.replace(['_', '-'], "");
        let module = format!("{}.{stem}", name(file.parent()).replace(['_', '-'], ""));
        is_telling(&stem) && self.identifiers.contains(&stem) || self.identifiers.contains(&module)
    }

    fn names_path(&self, file: &TrackedFile) -> bool {
        if self.files.is_empty() {
            return false;
        }
        let is_lone = !file.path.contains('/') || is_telling(&file.stem);
        let mut rest = file.path.as_str();
        loop {
            if (rest.contains('/') || is_lone) && self.files.contains(rest) {
                return true;
            }
            match rest.split_once('/') {
                Some((_, shorter)) => rest = shorter,
                None => return false,
            }
        }
    }

    /// How many of the words were shown.
    pub(super) fn count<'a>(&self, words: impl Iterator<Item = &'a str>) -> usize {
        if self.words.is_empty() {
            return 0;
        }
        words.filter(|word| self.words.contains(*word)).count()
    }
}

/// The last two parts of dotted names of modules, folded, without `_`: `shop.orders` of `app.shop.orders`.
fn modules(line: &str) -> impl Iterator<Item = String> {
    let is_part = |part: &&str| {
        part.len() >= 2 && part.starts_with(|letter: char| letter.is_alphabetic() || letter == '_')
    };
    line.split(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '_' | '.')))
        .filter_map(move |run| {
            let mut parts = run.trim_matches('.').rsplit('.');
            let (last, before) = (parts.next().filter(is_part)?, parts.next().filter(is_part)?);
            Some(fold(&format!("{before}.{last}")).replace('_', ""))
        })
}

/// Whether a line is a message about the file above: `12:3  warning …`.
fn is_remark(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with(|letter: char| letter.is_ascii_digit())
        && line.split_once(':').is_some_and(|(line, column)| {
            line.bytes().all(|byte| byte.is_ascii_digit())
                && column.starts_with(|letter: char| letter.is_ascii_digit())
        })
}

/// Whether a line contains a position in a file: `src/a.rs:12:3`.
fn has_number(line: &str) -> bool {
    line.as_bytes()
        .windows(2)
        .any(|pair| pair[0] == b':' && pair[1].is_ascii_digit())
}

/// Whether a line is part of a listing: ` M src/a.rs`, `-rw-r--r-- … a.rs`.
fn is_status(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let first = words.next().unwrap_or_default();
    let mode = first.len() == 10 && first.starts_with(['-', 'd', 'l']) && first[1..].starts_with(['r', '-']);
    let letters = first.len() <= 2
        && first
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte == b'?');
    mode || letters && words.next().is_some() && words.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str, file: &str) -> bool {
        let mut shown = ShownText::default();
        let root = ProjectRoot::new(Some("/home/me/p"));
        shown.record(&root, text);
        shown.names(&TrackedFile::new(&NormalizedPath::new(&root, file)).unwrap())
    }

    #[test]
    fn files_of_which_something_is_said_are_named() {
        assert!(names("error: x\n  --> src/ws/chat.rs:10:5\n", "src/ws/chat.rs"));
        assert!(names(
            "/home/me/p/web/page.tsx\n  12:3  warning  unused",
            "web/page.tsx"
        ));
        assert!(names(
            "3. Send it by mail in `src/mail/send.ts`",
            "src/mail/send.ts"
        ));
    }

    #[test]
    fn a_listing_names_nothing() {
        assert!(!names("src/a.rs\nsrc/chat.rs\nweb/x.css\n", "src/chat.rs"));
        assert!(!names(" M src/chat.rs\n?? web/x.css", "src/chat.rs"));
        assert!(!names(
            "-rw-r--r-- 1 me me 12 Jan 1 10:00 src/chat.rs",
            "src/chat.rs"
        ));
        assert!(!names("error in src/chat.rs:1", "web/other.rs"));
    }
}
