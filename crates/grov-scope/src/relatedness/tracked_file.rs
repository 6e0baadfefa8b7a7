//! Files of the project, prepared for the relatedness rules.

use super::file_role::FileRole;
use super::terms::words;
use crate::file_kind::{FileKind, is_temporary};
use crate::normalized_path::NormalizedPath;
use serde::{Deserialize, Serialize};

/// Names that describe a file's role in its folder instead of its subject.
#[rustfmt::skip]
const ROLES: &[&str] = &[
    "index", "main", "mod", "lib", "types", "type", "utils", "util", "readme", "config", "package", "test", "tests",
    "common", "init", "__init__", "setup", "schema", "skill", "claude", "agents", "constants", "helpers", "api", "base",
    "core", "state", "data", "engine", "errors", "error",
];
/// Extensions of by-products of programs.
const BY_PRODUCTS: &[&str] = &["exe", "log", "tmp", "out"];
/// Endings of a stem that mark a test.
const TESTING: &[&str] = &["test", "tests", "spec", "mock", "e2e", "integration"];
/// The minimum length of a name; shorter names occur in texts by chance.
const MIN_NAME: usize = 5;

/// A file of the project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TrackedFile {
    /// The normalised path.
    pub(super) path: String,
    /// The path for display.
    pub(super) shown: String,
    /// The name without extensions and markers of a test.
    pub(super) stem: String,
    /// The words of the path.
    pub(super) words: Vec<String>,
    /// Manifest, lock or change log.
    pub(super) is_household: bool,
    /// What it is for, if it goes along with other files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) role: Option<FileRole>,
}

impl TrackedFile {
    /// The tracked file for a path. `None` for paths without evidence in either direction: outside the project, the project
    /// itself, temporary files and by-products.
    pub(super) fn new(place: &NormalizedPath) -> Option<Self> {
        let says_nothing = !place.is_in_project() || place.as_str().is_empty() || is_temporary(place);
        if says_nothing || BY_PRODUCTS.contains(&place.extension()) {
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
            role: FileRole::of(place),
        })
    }

    /// The last component of the path.
    pub(super) fn name(&self) -> &str {
        name(&self.path)
    }

    /// The containing folder; empty at the top.
    pub(super) fn parent(&self) -> &str {
        folder(&self.path)
    }

    /// The part of the project: the topmost folder.
    pub(super) fn part(&self) -> &str {
        self.path.split('/').next().unwrap_or_default()
    }

    /// The text after the last dot of the name; the whole name without a dot.
    pub(super) fn extension(&self) -> &str {
        self.name().rsplit('.').next().unwrap_or_default()
    }

    /// Whether the path looks like that of a folder.
    pub(super) fn is_folder(&self) -> bool {
        is_folder(&self.path)
    }

    /// Whether both paths may be the same file relative to different folders: one path ends with the other.
    pub(super) fn is_form_of(&self, other: &str) -> bool {
        let ends = |long: &str, short: &str| {
            long.strip_suffix(short)
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        ends(&self.path, other) || ends(other, &self.path)
    }

    /// Whether a folded text contains its path, or its name if that is long enough.
    pub(super) fn is_named_in(&self, text: &str) -> bool {
        text.contains(&self.path) || (self.name().len() >= MIN_NAME && text.contains(self.name()))
    }
}

/// Whether a stem describes the subject of a file.
pub(super) fn is_telling(stem: &str) -> bool {
    stem.len() >= MIN_NAME && !ROLES.contains(&stem)
}

pub(super) fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

pub(super) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Whether a path looks like that of a folder: its name has no extension.
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
