//! The dependencies that manifests declare, and those that an edit adds.

mod lines;
#[cfg(test)]
mod tests;

use crate::analyzed_action::AnalyzedAction;
use crate::edits::FileChange;
use crate::file_kind::FileKind;
use crate::normalized_path::NormalizedPath;

/// A dependency that an edit of a manifest adds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AddedDependency {
    pub(crate) name: String,
    /// The former text of the manifest is known and does not declare it.
    pub(crate) is_certain: bool,
}

/// The dependencies that an action adds to manifests. A changed version adds none.
pub(crate) fn added_dependencies(
    action: &AnalyzedAction<'_>,
    counts: impl Fn(&NormalizedPath) -> bool,
) -> Vec<AddedDependency> {
    let mut found = Vec::new();
    if !action.changed.iter().any(|place| FileKind::Manifest.is(place)) {
        return found;
    }
    for change in FileChange::of_action(action) {
        let place = change.place;
        if !FileKind::Manifest.is(place) || !counts(place) {
            continue;
        }
        let known = change
            .before
            .as_deref()
            .map(|before| lines::dependencies(place, before));
        for name in lines::dependencies(place, &change.after) {
            if !known.as_ref().is_some_and(|known| known.contains(&name)) {
                found.push(AddedDependency {
                    name,
                    is_certain: known.is_some(),
                });
            }
        }
    }
    found
}
