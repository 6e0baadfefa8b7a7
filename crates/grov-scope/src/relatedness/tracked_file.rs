//! A file as relatedness looks at it.

use super::terms::words;
use crate::file_kind::{FileKind, is_temporary};
use crate::normalized_path::NormalizedPath;
use serde::{Deserialize, Serialize};

/// Names that tell a file's role in its folder, not what it is about.
#[rustfmt::skip]
const ROLES: &[&str] = &[
    "index", "main", "mod", "lib", "types", "type", "utils", "util", "readme", "config", "package", "test", "tests",
    "common", "init", "__init__", "setup", "schema", "skill", "claude", "agents", "constants", "helpers", "api", "base",
    "core", "state", "data", "engine", "errors", "error",
];
/// What programs write beside the work.
const BY_THE_WAY: &[&str] = &["exe", "log", "tmp", "out"];
/// Endings of a stem that tell that the file tests another one.
const TESTING: &[&str] = &["test", "tests", "spec", "mock", "e2e", "integration"];
/// Shorter names are found in texts by chance.
const MIN_NAME: usize = 5;

/// A file of the project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TrackedFile {
    /// The path in the one spelling that is compared.
    pub(super) path: String,
    /// The same for people.
    pub(super) shown: String,
    /// The name without its endings and what makes it a test.
    pub(super) stem: String,
    /// The words of the path.
    pub(super) words: Vec<String>,
    /// Manifest, lock or change log.
    pub(super) is_household: bool,
}

impl TrackedFile {
    /// The file of that place. `None` for what gives no evidence in either direction: places outside of the project, the
    /// project itself, what programs write beside the work.
    pub(super) fn new(place: &NormalizedPath) -> Option<Self> {
        let says_nothing = !place.is_in_project() || place.as_str().is_empty() || is_temporary(place);
        if says_nothing || BY_THE_WAY.contains(&place.extension()) {
            return None;
        }
        Some(Self {
            path: place.as_str().to_owned(),
            shown: place.display().to_owned(),
            stem: stem(place.name()),
            words: words(place.display()),
            is_household: FileKind::Lock.is(place)
                || FileKind::Manifest.is(place)
                || matches!(stem(place.name()).as_str(), "changelog" | "changes"),
        })
    }

    /// The last part of the path.
    pub(super) fn name(&self) -> &str {
        name(&self.path)
    }

    /// The folder that holds it; empty at the top.
    pub(super) fn parent(&self) -> &str {
        folder(&self.path)
    }

    /// The part of the project: the topmost folder.
    pub(super) fn part(&self) -> &str {
        self.path.split('/').next().unwrap_or_default()
    }

    /// What stands behind the last dot of the name.
    pub(super) fn extension(&self) -> &str {
        self.name().rsplit('.').next().unwrap_or_default()
    }

    /// Whether it looks like a folder.
    pub(super) fn is_folder(&self) -> bool {
        is_folder(&self.path)
    }

    /// Whether both are one file, seen from another folder: one path is the end of the other.
    pub(super) fn is_form_of(&self, other: &str) -> bool {
        let ends = |long: &str, short: &str| {
            long.strip_suffix(short)
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        ends(&self.path, other) || ends(other, &self.path)
    }

    /// Whether a text (folded) names it: by its path, or by a name that is no accident.
    pub(super) fn is_named_in(&self, text: &str) -> bool {
        text.contains(&self.path) || (self.name().len() >= MIN_NAME && text.contains(self.name()))
    }
}

/// Whether a stem tells what a file is about.
pub(super) fn is_telling(stem: &str) -> bool {
    stem.len() >= MIN_NAME && !ROLES.contains(&stem)
}

pub(super) fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

pub(super) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Whether a path looks like that of a folder: its name has no ending.
pub(super) fn is_folder(path: &str) -> bool {
    !name(path).trim_start_matches('.').contains('.')
}

fn stem(name: &str) -> String {
    let bare = name.trim_start_matches('.');
    let mut stem = bare.split('.').next().unwrap_or_default();
    while let Some((rest, ending)) = stem.rsplit_once(['_', '-']) {
        if !TESTING.contains(&ending) {
            break;
        }
        stem = rest;
    }
    stem.strip_prefix("test_").unwrap_or(stem).to_owned()
}
