//! Checks manifests: lints and versions come from the workspace, every dependency is used and explained.

use super::Finding;
use crate::workspace::Package;
use std::path::Path;
use toml::{Table, Value};

const DEPENDENCY_TABLES: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

/// Checks one member's `Cargo.toml`.
pub(crate) fn member(place: &Path, text: &str) -> Vec<Finding> {
    let manifest = match text.parse::<Table>() {
        Ok(manifest) => manifest,
        Err(error) => return vec![Finding::at(place, format!("is no TOML: {error}"))],
    };
    let mut findings = Vec::new();
    if !inherits(manifest.get("lints")) {
        findings.push(Finding::at(
            place,
            "does not inherit the lints: add `[lints]` with `workspace = true`",
        ));
    }
    let targets = manifest
        .get("target")
        .and_then(Value::as_table)
        .into_iter()
        .flat_map(|target| target.values());
    for table in targets.filter_map(Value::as_table).chain([&manifest]) {
        for kind in DEPENDENCY_TABLES {
            for (name, dependency) in table.get(kind).and_then(Value::as_table).into_iter().flatten() {
                if !inherits(Some(dependency)) && !is_itself(dependency) {
                    let message =
                        format!("declares `{name}` itself: put it into the root's [workspace.dependencies]");
                    findings.push(Finding::at(place, message));
                }
            }
        }
    }
    findings
}

fn inherits(value: Option<&Value>) -> bool {
    value
        .and_then(|value| value.get("workspace"))
        .and_then(Value::as_bool)
        == Some(true)
}

/// A crate may turn on its own features for its tests.
fn is_itself(dependency: &Value) -> bool {
    dependency.get("path").and_then(Value::as_str) == Some(".")
}

/// Checks the root manifest: each external dependency is used by a member, and `docs/dependencies.md` names it, as
/// code, with the reason for it.
pub(crate) fn dependencies(root_manifest: &str, document: &str, packages: &[Package]) -> Vec<Finding> {
    let manifest = match root_manifest.parse::<Table>() {
        Ok(manifest) => manifest,
        Err(error) => return vec![Finding::new("Cargo.toml", format!("is no TOML: {error}"))],
    };
    let dependencies = manifest
        .get("workspace")
        .and_then(|workspace| workspace.get("dependencies"));
    let names = dependencies
        .and_then(Value::as_table)
        .into_iter()
        .flatten()
        .filter(|(_, dependency)| dependency.get("path").is_none())
        .map(|(name, _)| name);
    let mut findings = Vec::new();
    for name in names {
        let used = |package: &Package| {
            package
                .dependencies
                .iter()
                .any(|dependency| dependency.name == *name)
        };
        if !packages.iter().any(used) {
            findings.push(Finding::new(
                "Cargo.toml",
                format!("`{name}` is used by no member"),
            ));
        } else if !document.contains(&format!("`{name}`")) {
            let message = format!("does not say why `{name}` is needed");
            findings.push(Finding::new("docs/dependencies.md", message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Dependency;
    use std::path::PathBuf;

    const GOOD: &str = "[lints]\nworkspace = true\n[dependencies]\na.workspace = true\nb = { workspace = true }\n\
                        [dev-dependencies]\nitself = { path = \".\", features = [\"x\"] }\n";

    #[test]
    fn a_member_that_inherits_lints_and_versions_passes() {
        assert_eq!(member(Path::new("Cargo.toml"), GOOD), []);
    }

    #[test]
    fn own_lints_and_own_versions_are_found() {
        let own = "[lints.rust]\nunsafe_code = \"allow\"\n[dev-dependencies]\na = \"1\"\n\
                   [target.'cfg(unix)'.dependencies]\nb = { version = \"2\" }\n";
        let places: Vec<String> = member(Path::new("x/Cargo.toml"), own)
            .into_iter()
            .map(|found| found.message)
            .collect();
        assert_eq!(places.len(), 3, "{places:?}");
        assert!(places.iter().any(|message| message.contains("`a`")), "{places:?}");
        assert!(places.iter().any(|message| message.contains("`b`")), "{places:?}");
    }

    #[test]
    fn every_external_dependency_needs_a_user_and_a_reason() {
        let root = "[workspace.dependencies]\nours = { path = \"crates/ours\" }\nbytes = \"1\"\ntime = { version = \"0.3\" }\n";
        let user = |names: &[&str]| Package {
            name: "ours".to_owned(),
            manifest: PathBuf::new(),
            dependencies: names
                .iter()
                .map(|&name| Dependency {
                    name: name.to_owned(),
                    dev: false,
                })
                .collect(),
            roots: Vec::new(),
            examples: Vec::new(),
        };
        let found = |document: &str, names: &[&str]| -> Vec<String> {
            let findings = dependencies(root, document, &[user(names)]);
            findings.into_iter().map(|found| found.message).collect()
        };
        let both = "| `bytes` | … |\n| `time` | … |";
        assert!(found(both, &["bytes", "time"]).is_empty());
        assert_eq!(found(both, &["bytes"]), ["`time` is used by no member"]);
        let undocumented = found("bytes without backticks, `time`", &["bytes", "time"]);
        assert_eq!(undocumented, ["does not say why `bytes` is needed"]);
    }
}
