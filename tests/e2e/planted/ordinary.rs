//! How much ordinary source code is mistaken for a secret.

use anyhow::{Context, Result};
use grov_redact::Redactor;
use std::fs;
use std::path::{Path, PathBuf};

/// The maximum number of bytes read from foreign sources.
const ENOUGH: usize = 4_000_000;

/// Source files of a folder in the order of their names, without tests, which contain secrets on purpose.
fn sources(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    entries.sort();
    for path in entries {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if ["tests", "tests.rs", "benches", "target", "grov-redact"].contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() {
            sources(&path, files)?;
        } else if name.ends_with(".rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// The number of bytes read, and the parts mistaken for secrets.
fn findings(folders: &[PathBuf]) -> Result<(usize, Vec<String>)> {
    let mut files = Vec::new();
    for folder in folders {
        sources(folder, &mut files)?;
    }
    let (mut bytes, mut found) = (0, Vec::new());
    for file in files {
        if bytes >= ENOUGH {
            break;
        }
        let Ok(text) = fs::read_to_string(&file) else {
            continue;
        };
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        bytes += text.len();
        for finding in Redactor::shared().findings(text) {
            let shown: String = text[finding.range].chars().take(60).collect();
            found.push(format!("{} in {}: {shown:?}", finding.rule, file.display()));
        }
    }
    Ok((bytes, found))
}

#[test]
fn ordinary_source_code_is_not_masked() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .context("the tests have no parent directory")?;
    let (bytes, found) = findings(&["crates", "bins", "xtask"].map(|folder| root.join(folder)))?;
    eprintln!(
        "{} findings in {bytes} bytes of our own:\n{}",
        found.len(),
        found.join("\n")
    );
    assert!(bytes >= 1_000_000, "{bytes} bytes are too few to tell");
    // The findings there are the examples in comments and tables of the crates that search for secrets and addresses.
    assert!(found.len() * 1_000_000 <= 20 * bytes, "{} findings", found.len());

    let cargo_home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let cargo_home = cargo_home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let registry = cargo_home
        .map(|home| home.join("registry/src"))
        .filter(|folder| folder.is_dir());
    let Some(registry) = registry else {
        eprintln!("SKIPPED: there are no sources of dependencies");
        return Ok(());
    };
    let (bytes, found) = findings(&[registry])?;
    eprintln!(
        "{} findings in {bytes} bytes of others:\n{}",
        found.len(),
        found.join("\n")
    );
    assert!(found.len() * 1_000_000 <= 5 * bytes, "{} findings", found.len());
    Ok(())
}
