//! A change outside of what the work is expected to touch.
//!
//! A told scope is incomplete by nature, so this alone is a hint and no verdict.

use crate::analyzed_action::AnalyzedAction;
use crate::association::AssociatedFiles;
use crate::contract::CompiledContract;
use crate::history::History;
use crate::normalized_path::NormalizedPath;
use grov_domain::{Finding, Rule};

/// The score of a change outside of the scope.
const OUTSIDE: u8 = 8;

/// What is found of an action.
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
    Some(Finding {
        rule: Rule::Scope,
        file: Some(place.display().to_owned()),
        reason: format!(
            "{} is outside of what the work is expected to touch",
            place.display()
        ),
        at_most: OUTSIDE,
    })
}

/// Whether a changed place lies in the project, outside of the told scope, and is no neighbour of it.
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
