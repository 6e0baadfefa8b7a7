//! `cargo xtask lines`: counts the lines of shipped code.
//!
//! Counts the Rust sources under `crates/` and `bins/`, without blank lines, comment lines, tests, benches, examples,
//! the simulator and the store's contract suite.

use crate::workspace::Workspace;
use anyhow::{Result, bail};
use std::collections::BTreeMap;
use std::path::Path;

/// Folders and files that hold tests or are only used by them.
const TEST_FOLDERS: [&str; 3] = ["tests", "benches", "examples"];
const TEST_FILE: &str = "tests.rs";

/// Code that is not a test but does not ship either.
const UNSHIPPED_FOLDERS: [&str; 2] = ["contract", "grov-sim"];
const UNSHIPPED_SUFFIX: &str = "contract.rs";

/// Prints the lines of each crate and their sum, as text or as one JSON object.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<()> {
    let json = match arguments {
        [] => false,
        [flag] if flag == "--json" => true,
        _ => bail!("usage: cargo xtask lines [--json]"),
    };
    let counts = count(workspace)?;
    let total: usize = counts.values().sum();
    if json {
        println!("{}", serde_json::json!({ "crates": counts, "total": total }));
        return Ok(());
    }
    for (name, lines) in &counts {
        println!("{name:<26}{lines:>7}");
    }
    println!("{:<26}{total:>7}", "total");
    Ok(())
}

/// The number of lines of each crate, by its directory.
fn count(workspace: &Workspace) -> Result<BTreeMap<String, usize>> {
    let mut counts = BTreeMap::new();
    for file in workspace.files()? {
        if let Some(name) = shipped_crate(&file) {
            *counts.entry(name).or_default() += code_lines(&workspace.read(&file)?);
        }
    }
    Ok(counts)
}

/// The crate directory that a shipped source file belongs to; `None` for every other file.
fn shipped_crate(file: &Path) -> Option<String> {
    let folder = file.parent()?;
    let name = file.file_name()?.to_str()?;
    let is_unshipped = |part: &str| UNSHIPPED_FOLDERS.contains(&part);
    let rust = name.ends_with(".rs") && !name.ends_with(UNSHIPPED_SUFFIX);
    if !rust || is_test(file) || folder.iter().any(|part| part.to_str().is_some_and(is_unshipped)) {
        return None;
    }
    let parts: Vec<&str> = folder.iter().filter_map(|part| part.to_str()).take(2).collect();
    matches!(parts.first(), Some(&("crates" | "bins"))).then(|| parts.join("/"))
}

/// Whether a source file holds tests, benches or examples.
pub(crate) fn is_test(file: &Path) -> bool {
    file.iter()
        .any(|part| TEST_FOLDERS.iter().any(|folder| part == *folder))
        || file.file_name().is_some_and(|name| name == TEST_FILE)
}

fn code_lines(text: &str) -> usize {
    let is_code = |line: &&&str| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with("//")
    };
    outside_tests(text).iter().filter(is_code).count()
}

/// The lines of a source file without its `#[cfg(test)]` items.
///
/// Relies on rustfmt: an item starts in the first column, and so does its closing brace.
pub(crate) fn outside_tests(text: &str) -> Vec<&str> {
    let mut kept = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if !line.starts_with("#[cfg(test)]") && !line.starts_with("#[cfg(all(test") {
            kept.push(line);
            continue;
        }
        match lines.next() {
            Some(item) if opens_block(item) => {
                lines.by_ref().find(|line| *line == "}");
            }
            Some(item) if item.starts_with("mod ") && item.ends_with(';') => {}
            Some(item) => kept.push(item),
            None => {}
        }
    }
    kept
}

/// Whether a line opens a module, function, implementation or struct in the first column.
fn opens_block(line: &str) -> bool {
    let item = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ").map_or("", |(_, item)| item),
        Some(rest) => rest.trim_start(),
        None => line,
    };
    let keywords = ["mod ", "fn ", "impl ", "struct "];
    line.ends_with('{') && keywords.iter().any(|keyword| item.starts_with(keyword))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_and_comments_are_not_counted() {
        assert_eq!(
            code_lines("//! Crate.\n\nuse a;\n\n    // why\n    /// what\nfn f() {}\n"),
            2
        );
    }

    #[test]
    fn test_items_are_not_counted() {
        let text = "a\n#[cfg(test)]\npub(crate) mod tests {\n    b\n}\nc\n#[cfg(test)]\nmod elsewhere;\nd\n";
        assert_eq!(outside_tests(text), ["a", "c", "d"]);
        let text = "#[cfg(all(test, unix))]\nfn f() {\n    b\n}\na\n";
        assert_eq!(outside_tests(text), ["a"]);
    }

    #[test]
    fn only_shipped_sources_are_counted() {
        let crate_of = |file: &str| shipped_crate(Path::new(file));
        assert_eq!(crate_of("crates/a/src/b/c.rs").as_deref(), Some("crates/a"));
        assert_eq!(crate_of("bins/link.rs").as_deref(), Some("bins"));
        for other in [
            "xtask/src/main.rs",
            "crates/a/Cargo.toml",
            "crates/a/tests/it/main.rs",
            "crates/a/benches/b.rs",
            "crates/a/examples/b.rs",
            "crates/a/src/b/tests.rs",
            "crates/grov-store/src/contract/steps.rs",
            "crates/grov-store/src/contract.rs",
            "crates/grov-sim/src/lib.rs",
        ] {
            assert_eq!(crate_of(other), None, "{other}");
        }
    }
}
