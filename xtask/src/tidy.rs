//! `cargo xtask tidy`: project rules that the compiler does not check.
//!
//! Each module contains one kind of rule as a function from plain data to a list of findings; only [`check`] reads
//! files.

mod documents;
mod edges;
mod manifests;
mod migrations;
mod sources;
mod walls;

use crate::workspace::Workspace;
use anyhow::{Result, bail};
use std::path::Path;

/// One broken rule: where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// File or package.
    pub(crate) place: String,
    /// The problem and its fix.
    pub(crate) message: String,
}

impl Finding {
    fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            message: message.into(),
        }
    }

    fn at(path: &Path, message: impl Into<String>) -> Self {
        Self::new(path.display().to_string(), message)
    }
}

/// Checks everything and prints the findings; any finding is a failure.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let findings = check(workspace)?;
    for finding in &findings {
        eprintln!("tidy: {}: {}", finding.place, finding.message);
    }
    if findings.is_empty() {
        return Ok(());
    }
    bail!(
        "{} finding{}",
        findings.len(),
        if findings.len() == 1 { "" } else { "s" }
    )
}

/// Applies every rule to the workspace.
pub(crate) fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let packages = workspace.packages()?;
    let files = workspace.files()?;
    let mut findings = edges::check(&packages);
    findings.extend(walls::closures(&packages));

    let root_manifest = workspace.read(Path::new("Cargo.toml"))?;
    for package in &packages {
        let place = package
            .manifest
            .strip_prefix(&workspace.root)
            .unwrap_or(&package.manifest);
        findings.extend(manifests::member(place, &workspace.read(&package.manifest)?));
        for root in &package.roots {
            let place = root.strip_prefix(&workspace.root).unwrap_or(root);
            findings.extend(sources::crate_root(place, &workspace.read(root)?));
        }
    }
    match workspace.read(Path::new("docs/dependencies.md")) {
        Ok(document) => findings.extend(manifests::dependencies(&root_manifest, &document, &packages)),
        Err(error) => findings.push(Finding::new("docs/dependencies.md", format!("{error:#}"))),
    }
    match workspace.read(Path::new("CHANGELOG.md")) {
        Ok(changelog) => findings.extend(documents::changelog(&changelog)),
        Err(error) => findings.push(Finding::new("CHANGELOG.md", format!("{error:#}"))),
    }

    findings.extend(migrations::check(&files));
    for file in &files {
        // Files that are not UTF-8 are neither sources nor documents.
        let Ok(text) = workspace.read(file) else { continue };
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("rs") => {
                findings.extend(sources::length(file, &text));
                findings.extend(walls::imports(file, &text));
            }
            Some("md") => findings.extend(documents::links(file, &text, |target| {
                workspace.root.join(target).exists()
            })),
            _ => {}
        }
    }
    Ok(findings)
}
