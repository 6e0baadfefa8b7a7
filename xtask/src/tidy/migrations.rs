//! Migrations are numbered from 1 without gaps, and a number is used once.

use super::Finding;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Checks the files under `migrations/BACKEND/`, given relative to the root.
pub(crate) fn check(files: &[PathBuf]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut backends: BTreeMap<&Path, Vec<(u32, &Path)>> = BTreeMap::new();
    for file in files.iter().filter(|file| file.starts_with("migrations")) {
        if file.extension().is_none_or(|extension| extension != "sql") {
            continue;
        }
        match (file.parent(), number(file)) {
            (Some(backend), Some(number)) => backends.entry(backend).or_default().push((number, file)),
            _ => findings.push(Finding::at(file, "is not named NNNN_what_it_does.sql")),
        }
    }
    for migrations in backends.values_mut() {
        migrations.sort();
        for (expected, (number, file)) in (1..).zip(migrations) {
            if *number != expected {
                findings.push(Finding::at(
                    file,
                    format!("should have number {expected:04}: numbers have no gaps"),
                ));
                break;
            }
        }
    }
    findings
}

/// The number of `0001_name.sql`.
fn number(file: &Path) -> Option<u32> {
    let (digits, name) = file.file_stem()?.to_str()?.split_once('_')?;
    (digits.len() == 4 && !name.is_empty())
        .then(|| digits.parse().ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(names: &[&str]) -> Vec<String> {
        let files: Vec<PathBuf> = names.iter().map(PathBuf::from).collect();
        check(&files).into_iter().map(|finding| finding.place).collect()
    }

    #[test]
    fn migrations_numbered_from_one_pass() {
        let files = [
            "migrations/sqlite/0001_a.sql",
            "migrations/sqlite/0002_b.sql",
            "migrations/other/0001_a.sql",
        ];
        assert!(found(&files).is_empty());
    }

    #[test]
    fn gaps_duplicates_and_other_names_are_found() {
        assert_eq!(
            found(&["migrations/sqlite/0002_b.sql"]),
            ["migrations/sqlite/0002_b.sql"]
        );
        let gap = ["migrations/sqlite/0003_c.sql", "migrations/sqlite/0001_a.sql"];
        assert_eq!(found(&gap), ["migrations/sqlite/0003_c.sql"]);
        let double = ["migrations/sqlite/0001_a.sql", "migrations/sqlite/0001_b.sql"];
        assert_eq!(found(&double), ["migrations/sqlite/0001_b.sql"]);
        assert_eq!(
            found(&["migrations/sqlite/1_a.sql"]),
            ["migrations/sqlite/1_a.sql"]
        );
        assert_eq!(
            found(&["migrations/sqlite/init.sql"]),
            ["migrations/sqlite/init.sql"]
        );
    }
}
