//! The provider file: providers, their models by label, and the rules that choose one.

mod entry;
mod fallback;
mod key;
mod node;
mod problem;
mod providers;
mod reader;
mod rules;

use crate::rules::Rules;
use crate::target::Target;
pub use entry::{EntryError, NewProvider};
use node::{Node, NodeValue};
pub(crate) use problem::nearest;
pub use problem::{Problem, ProviderFileError};
use reader::Reader;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// The end of the path of claude-hybrid's provider file, which may have keys that have no meaning here.
const FOREIGN_FILE: &str = ".claude-hybrid/config.yaml";

/// Keys at the top of the file.
const TOP_KEYS: &[&str] = &["providers", "rules"];

/// A provider file without problems.
#[derive(Clone, Debug, Default)]
pub struct ProviderFile {
    targets: Vec<Arc<Target>>,
    by_label: HashMap<String, usize>,
    rules: Rules,
    warnings: Vec<Problem>,
    /// The line of the first key that is written in the file itself.
    literal_key: Option<u64>,
}

/// The permissions of others than the owner to read a file.
const READABLE_BY_OTHERS: u32 = 0o044;

impl ProviderFile {
    /// Reads the text of a file. `environment` returns the value of a variable that an API key refers to as `${VAR}`.
    ///
    /// # Errors
    ///
    /// All problems of the file. If the YAML itself is invalid, only the first one is known.
    pub fn read(text: &str, environment: &dyn Fn(&str) -> Option<String>) -> Result<Self, ProviderFileError> {
        Self::read_at(Path::new(""), text, environment)
    }

    /// Reads the text of the file at a path. In the file of claude-hybrid (`.claude-hybrid/config.yaml`), unknown keys are
    /// warnings.
    ///
    /// # Errors
    ///
    /// As [`ProviderFile::read`].
    pub fn read_at(
        path: &Path,
        text: &str,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ProviderFileError> {
        let root: Node =
            serde_saphyr::from_str_with_options(text, options()).map_err(|error| invalid_yaml(&error))?;
        let mut reader = Reader {
            environment,
            allows_unknown_keys: path.ends_with(FOREIGN_FILE),
            problems: Vec::new(),
            warnings: Vec::new(),
            literal_key: None,
        };
        let mut file = Self::default();
        if root.value == NodeValue::Null {
            reader.warning(1, "the file has no providers", "add one with `grov route add`");
        } else if let Some(top) = reader.section(&root, "the file", TOP_KEYS) {
            if let Some(list) = top.get("providers") {
                file.add_targets(reader.providers(list));
            } else {
                reader.warning(
                    top.line,
                    "the file has no providers",
                    "add one with `grov route add`",
                );
            }
            reader.check_fallbacks(&file);
            if let Some(rules) = top.get("rules") {
                file.rules = reader.rules(rules, &file);
            }
        }
        if !reader.problems.is_empty() {
            reader.problems.sort_by_key(|problem| problem.line);
            return Err(ProviderFileError {
                problems: reader.problems,
            });
        }
        file.warnings = reader.warnings;
        file.literal_key = reader.literal_key;
        Ok(file)
    }

    fn add_targets(&mut self, targets: Vec<Target>) {
        for target in targets {
            self.by_label.insert(target.label.clone(), self.targets.len());
            self.targets.push(Arc::new(target));
        }
    }

    /// All targets, in the order of the file.
    pub fn targets(&self) -> &[Arc<Target>] {
        &self.targets
    }

    /// The target of a label.
    pub fn target(&self, label: &str) -> Option<&Arc<Target>> {
        self.targets.get(*self.by_label.get(label)?)
    }

    /// The target of a label, followed by its fallbacks and theirs, in the order in which they are tried; empty for an unknown label.
    pub fn chain(&self, label: &str) -> Vec<Arc<Target>> {
        let mut chain: Vec<Arc<Target>> = Vec::new();
        let mut pending = vec![label];
        while let Some(label) = pending.pop() {
            let Some(target) = self.target(label) else {
                continue;
            };
            if chain.iter().any(|earlier| earlier.label == target.label) {
                continue;
            }
            chain.push(Arc::clone(target));
            pending.extend(target.fallback.iter().rev().map(String::as_str));
        }
        chain
    }

    /// The label that is most similar to an unknown one.
    pub fn nearest_label(&self, label: &str) -> Option<&str> {
        nearest(label, self.targets.iter().map(|target| target.label.as_str()))
    }

    /// The rules.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Adds a warning if the file contains a key and others can read it. `mode` are the permissions of the file.
    pub fn check_permissions(&mut self, mode: u32) {
        let Some(line) = self.literal_key.filter(|_| mode & READABLE_BY_OTHERS != 0) else {
            return;
        };
        self.warnings.push(Problem {
            line,
            message: "the file contains a key, and other users of this machine can read it".to_owned(),
            hint: Some("run `chmod 600` on it, or write ${NAME} and set the variable in .env".to_owned()),
        });
    }

    /// What works but is probably not meant.
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }
}

/// As YAML 1.2: `yes`, `no`, `on`, `off`, `y` and `n` are texts.
fn options() -> serde_saphyr::Options {
    let mut options = serde_saphyr::Options::default();
    options.strict_booleans = true;
    options
}

fn invalid_yaml(error: &serde_saphyr::Error) -> ProviderFileError {
    let error = error.without_snippet();
    let message = error.to_string();
    let location = error.location();
    // The position is reported as a field.
    let at = location.map(|at| format!(" at line {}, column {}", at.line(), at.column()));
    let stripped = at.and_then(|at| Some(message.strip_suffix(&at)?.to_owned()));
    let hint = if message.contains("tabs disallowed") {
        Some("indent with spaces")
    } else if message.contains("duplicate mapping key") {
        Some("give each label and key once")
    } else if message.contains("multiple YAML documents") {
        Some("remove the `---` line and what follows it")
    } else {
        None
    };
    let message = stripped.unwrap_or(message);
    let message = message
        .split(", set DuplicateKeyPolicy")
        .next()
        .unwrap_or_default();
    ProviderFileError {
        problems: vec![Problem {
            line: location.map_or(1, |at| at.line().max(1)),
            message: format!("invalid YAML: {message}"),
            hint: hint.map(str::to_owned),
        }],
    }
}

#[cfg(test)]
mod schema_tests;
#[cfg(test)]
mod tests;
