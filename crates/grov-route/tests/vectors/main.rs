//! Test vectors: what each input must become.
//!
//! Reads the files of the directory in `GROV_VECTORS`, or the project's own in `tests/cases`. A file is named after its
//! kind and contains an array of `{name, kind, input, options?, expect}`.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod choosing;
mod kinds;
mod matching;
mod stream;

use serde_json::Value;
use std::path::{Path, PathBuf};

/// Kinds that show the inner form of another implementation.
const SKIPPED: &[&str] = &["transform_stream"];

#[test]
fn vectors() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let given = std::env::var_os("GROV_VECTORS").map(PathBuf::from);
    let directory = given.as_deref().unwrap_or(&own);
    let mut failed = Vec::new();
    let mut sums = (0, 0);
    for path in files(directory) {
        let kind = path.file_stem().unwrap().to_string_lossy().into_owned();
        if SKIPPED.contains(&kind.as_str()) {
            continue;
        }
        let vectors: Vec<Value> = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let results = vectors.iter().map(|vector| (vector, kinds::check(&kind, vector)));
        let wrong: Vec<_> = results
            .filter_map(|(vector, result)| Some((vector, result.err()?)))
            .collect();
        println!("{kind}: {}/{}", vectors.len() - wrong.len(), vectors.len());
        sums = (sums.0 + vectors.len() - wrong.len(), sums.1 + vectors.len());
        failed.extend(
            wrong
                .into_iter()
                .map(|(vector, error)| format!("{kind} {}: {error}", vector["name"])),
        );
    }
    println!("passed {}/{}", sums.0, sums.1);
    assert!(
        failed.is_empty(),
        "{}\n{} of {} failed",
        failed.join("\n"),
        failed.len(),
        sums.1
    );
    assert!(sums.1 > 0, "no vectors in {}", directory.display());
}

/// The JSON files of a directory, by name.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    files
}
