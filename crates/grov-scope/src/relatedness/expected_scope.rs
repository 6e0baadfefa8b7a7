//! The distance of a file from the expected scope.

use super::tracked_file::{TrackedFile, folder, is_folder};
use crate::normalized_path::{NormalizedPath, ProjectRoot};
use crate::pattern::Pattern;

/// The nearness of a file below a listed folder, but not directly in it.
const DEEPER: f64 = 0.5;

/// An entry of the expected scope.
#[derive(Clone, Debug)]
enum Entry {
    /// A file or folder by its path.
    Path(String),
    /// A glob or an identifier.
    Pattern(Pattern),
}

/// The expected scope, prepared for comparison.
#[derive(Clone, Debug, Default)]
pub(super) struct ExpectedScope(Vec<Entry>);

impl ExpectedScope {
    pub(super) fn new(root: &ProjectRoot, scope: &[Pattern]) -> Self {
        let entry = |pattern: &Pattern| {
            let text = pattern.text();
            let bare = text
                .trim_end_matches("/**")
                .trim_end_matches("/*")
                .trim_end_matches('/');
            let place = NormalizedPath::new(root, bare);
            let is_name = !bare.contains(['/', '.']) && bare.contains(|letter: char| letter.is_uppercase());
            if is_name || bare.contains(['*', '?', '{', ':', '(']) || place.as_str().is_empty() {
                Entry::Pattern(pattern.clone())
            } else {
                Entry::Path(place.as_str().to_owned())
            }
        };
        Self(scope.iter().map(entry).collect())
    }

    /// Whether no scope was given.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// 1 for a listed file, a file directly in a listed folder or in the folder of a listed file; 0.5 deeper below; else 0.
    pub(super) fn nearness(&self, file: &TrackedFile) -> f64 {
        let mut best = 0.0;
        for entry in &self.0 {
            match entry {
                Entry::Path(path) => {
                    let is_sibling = !is_folder(path) && file.parent() == folder(path);
                    if file.path == *path || file.parent() == path || is_sibling {
                        return 1.0;
                    }
                    if file
                        .path
                        .strip_prefix(path.as_str())
                        .is_some_and(|rest| rest.starts_with('/'))
                    {
                        best = DEEPER;
                    }
                }
                Entry::Pattern(pattern) => {
                    if pattern.expects(&NormalizedPath::new(&ProjectRoot::default(), &file.path)) {
                        return 1.0;
                    }
                }
            }
        }
        best
    }
}
