//! Words that do not belong into the repository: paths of one machine, hosts of package registries.
//!
//! A registry is chosen by whoever installs; a path works for whoever has it.

use super::Finding;
use std::path::Path;

const FORBIDDEN: &[(&str, &str)] = &[
    ("/work/", "a path of one machine"),
    ("/root/", "a path of one machine"),
    ("registry.npmjs", "the host of a package registry"),
    ("registry.yarnpkg", "the host of a package registry"),
    ("index.crates.io", "the host of a package registry"),
    ("static.crates.io", "the host of a package registry"),
    ("files.pythonhosted", "the host of a package registry"),
];

/// This file names them all.
const SELF: &str = "xtask/src/tidy/words.rs";

/// Checks one text file, given relative to the root.
pub(crate) fn check(file: &Path, text: &str) -> Vec<Finding> {
    if file == Path::new(SELF) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for (word, what) in FORBIDDEN {
            if names(line, word) {
                let place = format!("{}:{}", file.display(), index + 1);
                findings.push(Finding::new(place, format!("names {what} (`{word}`)")));
            }
        }
    }
    findings
}

/// Whether a line holds the word; a path only as an absolute one, not as the end of another.
fn names(line: &str, word: &str) -> bool {
    let inside =
        |before: &str| before.ends_with(|last: char| last.is_alphanumeric() || "~._-}".contains(last));
    line.match_indices(word)
        .any(|(at, _)| !word.starts_with('/') || !inside(&line[..at]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machine_paths_and_registry_hosts_are_found_with_their_line() {
        let found = check(
            Path::new("a.md"),
            "fine\nsee /work/x\nhttps://registry.npmjs.org/\n",
        );
        let places: Vec<&str> = found.iter().map(|finding| finding.place.as_str()).collect();
        assert_eq!(places, ["a.md:2", "a.md:3"]);
    }

    #[test]
    fn ordinary_text_passes() {
        assert_eq!(
            check(Path::new("a.md"), "network/ roots and /workspace, crates.io"),
            []
        );
        assert_eq!(check(Path::new(SELF), "/work/"), []);
    }
}
