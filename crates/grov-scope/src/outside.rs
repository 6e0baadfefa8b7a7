//! A change outside of what the work is expected to touch.
//!
//! A told scope is incomplete by nature, so this alone is a hint and no verdict.

use crate::contract::Compiled;
use crate::deed::Deed;
use crate::history::History;
use crate::neighbours::Neighbourhood;
use crate::place::Place;
use grov_domain::{Finding, Rule};

/// The score of a change outside of the scope.
const OUTSIDE: u8 = 8;

/// What is found of an action.
pub(crate) fn findings(
    deed: &Deed<'_>,
    compiled: &Compiled,
    around: &Neighbourhood,
    history: &History,
) -> Option<Finding> {
    let outside = |place: &&Place| !history.has_changed(place) && is_outside(place, deed, compiled, around);
    let place = deed.changed.iter().find(outside)?;
    Some(Finding {
        rule: Rule::Scope,
        file: Some(place.shown().to_owned()),
        reason: format!(
            "{} is outside of what the work is expected to touch",
            place.shown()
        ),
        at_most: OUTSIDE,
    })
}

/// Whether a changed place lies in the project, outside of the told scope, and is no neighbour of it.
fn is_outside(place: &Place, deed: &Deed<'_>, compiled: &Compiled, around: &Neighbourhood) -> bool {
    !compiled.scope.is_empty()
        && place.is_inside()
        && !compiled.is_in_scope(place)
        && !compiled.is_allowed(place)
        && !compiled.is_named(place)
        && around.neighbour(place, deed).is_none()
}
