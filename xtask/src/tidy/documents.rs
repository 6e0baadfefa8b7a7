//! Checks the documents: links must have existing targets, and the change log must have a section for the next change.

use super::Finding;
use std::path::{Component, Path, PathBuf};

/// Checks `CHANGELOG.md`.
pub(crate) fn changelog(text: &str) -> Option<Finding> {
    let open = text.lines().any(|line| line.trim_end() == "## [Unreleased]");
    (!open).then(|| Finding::new("CHANGELOG.md", "has no `## [Unreleased]` section"))
}

/// Checks the relative links of a Markdown file, given relative to the root; `exists` decides whether a path exists.
pub(crate) fn links(file: &Path, text: &str, exists: impl Fn(&Path) -> bool) -> Vec<Finding> {
    let folder = file.parent().unwrap_or(Path::new(""));
    let broken = |target: &&str| match resolve(folder, target) {
        Some(path) => !exists(&path),
        None => true,
    };
    targets(text)
        .into_iter()
        .filter(|target| is_relative(target))
        .filter(broken)
        .map(|target| Finding::at(file, format!("links to `{target}`, which is not there")))
        .collect()
}

/// The targets of all inline links outside of code.
fn targets(text: &str) -> Vec<&str> {
    let mut fenced = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        // Every second piece between backticks is code.
        for prose in line.split('`').step_by(2) {
            let after_brackets = prose.split("](").skip(1);
            found.extend(after_brackets.filter_map(|rest| rest.split([')', ' ']).next()));
        }
    }
    found
}

fn is_relative(target: &str) -> bool {
    !(target.is_empty() || target.starts_with('#') || target.contains("://") || target.starts_with("mailto:"))
}

/// The target of a link in `folder`, relative to the root; `None` if it is outside of the repository.
fn resolve(folder: &Path, target: &str) -> Option<PathBuf> {
    let file = target.split('#').next().unwrap_or(target);
    let mut path = PathBuf::new();
    for part in folder.join(file).components() {
        match part {
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                if !path.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_change_log_needs_an_unreleased_section() {
        assert_eq!(changelog("# Changelog\n\n## [Unreleased]\n"), None);
        assert!(changelog("# Changelog\n\n## 1.0.0\n").is_some());
    }

    fn broken(text: &str) -> Vec<String> {
        let there = [Path::new("README.md"), Path::new("docs/a.md")];
        let found = links(Path::new("docs/here.md"), text, |path| there.contains(&path));
        found.into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn links_with_existing_targets_pass() {
        assert!(
            broken("[a](a.md) and [b](../README.md#top), [c](#here), [d](https://example.org/x)").is_empty()
        );
        assert!(broken("`[a](nowhere.md)`\n```\n[a](nowhere.md)\n```\n").is_empty());
    }

    #[test]
    fn broken_links_are_found() {
        assert_eq!(broken("[a](b.md) [c](a.md)").len(), 1);
        assert_eq!(broken("[a](../../outside.md)").len(), 1);
        assert_eq!(broken("[a](/etc/passwd)").len(), 1);
    }
}
