//! Changes outside the expected scope.
//!
//! An expected scope is rarely complete, so this is only a hint.

use crate::analyzed_action::AnalyzedAction;
use crate::association::AssociatedFiles;
use crate::contract::CompiledContract;
use crate::finding::finding;
use crate::history::History;
use crate::normalized_path::NormalizedPath;
use grov_domain::{Finding, Rule};

/// The score of a change outside the scope.
const OUTSIDE: u8 = 8;

/// The findings for an action.
pub(crate) fn findings(
    action: &AnalyzedAction<'_>,
    compiled: &CompiledContract,
    associated: &AssociatedFiles,
    history: &History,
) -> Option<Finding> {
    let outside = |place: &&NormalizedPath| {
        !history.has_changed(place) && is_outside(place, action, compiled, associated)
    };
    let place = action.changed.iter().find(outside)?;
    let name = place.display();
    let reason = format!("{name} is outside the expected scope");
    Some(finding(Rule::Scope, OUTSIDE, Some(name), reason))
}

/// Whether a changed path is in the project, outside the expected scope, and not associated with it.
fn is_outside(
    place: &NormalizedPath,
    action: &AnalyzedAction<'_>,
    compiled: &CompiledContract,
    associated: &AssociatedFiles,
) -> bool {
    !compiled.scope.is_empty()
        && place.is_in_project()
        && !compiled.is_in_scope(place)
        && !compiled.is_allowed(place)
        && !compiled.is_named(place)
        && associated.association(place, action).is_none()
}
