//! How a source file looks: a crate opens with its charter, a file stays small enough to be read.

use super::Finding;
use std::path::Path;

/// Lines of a source file without its tests. A file that outgrows this holds more than one idea.
const MOST_LINES: usize = 800;

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
    if holds_tests(file) {
        return None;
    }
    let lines = lines_without_tests(text);
    (lines > MOST_LINES).then(|| {
        Finding::at(
            file,
            format!("has {lines} lines without its tests, {MOST_LINES} is the most: split it by idea"),
        )
    })
}

fn holds_tests(file: &Path) -> bool {
    let folders = ["tests", "benches", "examples"];
    file.components()
        .any(|part| folders.iter().any(|folder| part.as_os_str() == *folder))
        || file.file_name().is_some_and(|name| name == "tests.rs")
}

/// Counts the lines outside of `#[cfg(test)] mod … { … }`, whose closing brace is the next one in the first column.
fn lines_without_tests(text: &str) -> usize {
    let mut lines = text.lines().peekable();
    let mut count = 0;
    while let Some(line) = lines.next() {
        let opens = |next: &&str| next.starts_with("mod ") && next.ends_with('{');
        if line == "#[cfg(test)]" && lines.peek().is_some_and(opens) {
            lines.by_ref().find(|line| *line == "}");
        } else {
            count += 1;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_opens_with_its_charter() {
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
    fn long_files_are_found_and_tests_do_not_count() {
        let long = "x\n".repeat(MOST_LINES + 1);
        assert!(length(Path::new("crates/a/src/b.rs"), &long).is_some());
        assert!(length(Path::new("crates/a/src/b.rs"), &"x\n".repeat(MOST_LINES)).is_none());
        assert!(length(Path::new("crates/a/tests/b.rs"), &long).is_none());
        assert!(length(Path::new("crates/a/src/b/tests.rs"), &long).is_none());
    }

    #[test]
    fn only_the_test_module_is_left_out() {
        let text = "a\n#[cfg(test)]\nmod tests {\n    b\n}\nc\n#[cfg(test)]\nmod elsewhere;\n";
        assert_eq!(lines_without_tests(text), 4);
    }
}
