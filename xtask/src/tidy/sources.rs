//! Checks source files: a crate starts with its purpose, and files stay small.

use super::Finding;
use crate::lines;
use std::path::Path;

/// Lines of a source file without its tests.
const MAX_LINES: usize = 800;

/// Checks the root file of a library or a binary.
pub(crate) fn crate_root(place: &Path, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let charter = text
        .lines()
        .next()
        .and_then(|line| line.strip_prefix("//! "))
        .map(str::trim);
    if charter.is_none_or(str::is_empty) {
        findings.push(Finding::at(
            place,
            "does not open with its charter: one sentence after `//! `",
        ));
    }
    if !text.lines().any(|line| line.trim() == "#![forbid(unsafe_code)]") {
        findings.push(Finding::at(place, "does not say `#![forbid(unsafe_code)]`"));
    }
    findings
}

/// Checks that a file of shipped code is not too long.
pub(crate) fn length(file: &Path, text: &str) -> Option<Finding> {
    if lines::is_test(file) {
        return None;
    }
    let lines = lines::outside_tests(text).len();
    (lines > MAX_LINES).then(|| {
        Finding::at(
            file,
            format!("has {lines} lines without its tests, more than {MAX_LINES}: split it by topic"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_root_starts_with_its_purpose() {
        assert_eq!(
            crate_root(Path::new("lib.rs"), "//! What it is.\n#![forbid(unsafe_code)]\n"),
            []
        );
        assert_eq!(
            crate_root(Path::new("lib.rs"), "#![forbid(unsafe_code)]\n//! Late.\n").len(),
            1
        );
        assert_eq!(crate_root(Path::new("lib.rs"), "//! \nuse std::fs;\n").len(), 2);
        assert_eq!(
            crate_root(Path::new("lib.rs"), "//! Words about #![forbid(unsafe_code)]\n").len(),
            1
        );
    }

    #[test]
    fn long_files_are_found_without_counting_tests() {
        let long = "x\n".repeat(MAX_LINES + 1);
        assert!(length(Path::new("crates/a/src/b.rs"), &long).is_some());
        assert!(length(Path::new("crates/a/src/b.rs"), &"x\n".repeat(MAX_LINES)).is_none());
        assert!(length(Path::new("crates/a/tests/b.rs"), &long).is_none());
        assert!(length(Path::new("crates/a/src/b/tests.rs"), &long).is_none());
    }
}
