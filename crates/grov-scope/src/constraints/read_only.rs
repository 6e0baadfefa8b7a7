//! The constraint to change nothing, and the actions that violate it. It ends when the user requests a change.

use super::command_effects;
use super::limit::ForbiddenCommand;
use super::request::Sentence;
use crate::analyzed_action::AnalyzedAction;
use crate::file_kind::{is_build_output, is_temporary};
use crate::normalized_path::NormalizedPath;
use grov_domain::EffectKind;

/// Git commands that change files or the local history.
#[rustfmt::skip]
const GIT: &[&str] = &[
    "add", "am", "apply", "checkout", "cherry-pick", "clean", "commit", "merge", "mv", "pull", "push", "rebase", "reset", "restore", "revert",
    "rm", "stash", "switch",
];

/// A constraint to change nothing, as the user's sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReadOnlyConstraint(String);

impl ReadOnlyConstraint {
    /// The constraint, unless one of the later sentences ended it.
    pub(super) fn new(constraint: &str, later: &[Sentence]) -> Option<Self> {
        (!later.iter().any(Sentence::asks_for_change)).then(|| Self(constraint.to_owned()))
    }

    /// The user's sentence.
    pub(super) fn text(&self) -> &str {
        &self.0
    }

    /// The project files that an action changes, and whether it also changes the repository.
    pub(super) fn breaches<'d>(&self, action: &'d AnalyzedAction<'_>) -> (Vec<&'d NormalizedPath>, bool) {
        let counts = |place: &&NormalizedPath| {
            place.is_in_project() && !is_temporary(place) && !is_build_output(place)
        };
        let changed: Vec<&NormalizedPath> = action.changed.iter().filter(counts).collect();
        let effects = &action.sketch.effects;
        let is_git = effects.contains(&EffectKind::VersionControl)
            && action
                .programs()
                .iter()
                .any(|command| GIT.contains(&command.git().0));
        // A formatter without file arguments changes all files.
        let is_wide = action.sketch.files.is_empty() && effects.contains(&EffectKind::Modify);
        let acts = |what| command_effects::is_run(&what, action);
        let is_outside = acts(ForbiddenCommand::Infrastructure) || acts(ForbiddenCommand::DatabaseWrite);
        (changed, is_git || is_wide || is_outside)
    }
}
