//! Reverts of changes that violate a constraint. A revert is not itself a violation.

use crate::analyzed_action::AnalyzedAction;
use crate::history::call_hash;
use crate::normalized_path::{NormalizedPath, ProjectRoot};
use grov_domain::Program;
use grov_domain::{ActionType, EffectKind, Finding, Rule, beginning_to};
use serde::{Deserialize, Serialize};

/// The maximum number of recorded changes.
const MAX_CHANGES: usize = 64;
/// The bytes kept of the written text.
const MAX_WRITTEN: usize = 200;
/// The bytes by which a revert may exceed twice the text that it replaces; other edits tend to write more.
const MAX_REVERT_SURPLUS: usize = 80;

/// Changes that violate a constraint and were not reverted.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct UnrevertedChanges(Vec<UnrevertedChange>);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct UnrevertedChange {
    place: String,
    call: Option<u64>,
    /// The change created the file.
    is_made: bool,
    /// The beginning of the written text, if known.
    written: Option<String>,
    /// The agent was asked to revert it.
    #[serde(rename = "is_told")]
    is_revert_requested: bool,
}

impl UnrevertedChanges {
    /// Records the violations of an action. `makes` says whether a path was unknown before.
    pub(super) fn note(
        &mut self,
        action: &AnalyzedAction<'_>,
        call: Option<&str>,
        findings: &[Finding],
        makes: impl Fn(&NormalizedPath) -> bool,
    ) {
        let broken = |place: &&NormalizedPath| {
            let mut constraints = findings.iter().filter(|finding| finding.rule == Rule::Constraint);
            constraints.any(|finding| finding.file.as_deref() == Some(place.display()))
        };
        if action.removes {
            return;
        }
        for place in action.changed.iter().filter(broken) {
            let content = action.sketch.content.as_deref().map(str::trim);
            let known = self.0.iter().position(|breach| breach.place == place.as_str());
            let was_made = known.is_some_and(|known| self.0.remove(known).is_made);
            if self.0.len() >= MAX_CHANGES {
                self.0.remove(0);
            }
            self.0.push(UnrevertedChange {
                place: place.as_str().to_owned(),
                call: call.map(call_hash),
                is_made: was_made || creates(action) && action.created.contains(place) && makes(place),
                is_revert_requested: false,
                written: content
                    .map(|text| beginning_to(text, text.floor_char_boundary(MAX_WRITTEN)).to_owned()),
            });
        }
    }

    /// Records that the agent was asked to revert all changes.
    pub(super) fn mark_requested(&mut self) {
        for breach in &mut self.0 {
            breach.is_revert_requested = true;
        }
    }

    /// Drops the changes of a call that failed.
    pub(super) fn failed(&mut self, call: &str) {
        let call = call_hash(call);
        self.0.retain(|breach| breach.call != Some(call));
    }

    /// Drops changes that the user permitted.
    pub(super) fn forget(&mut self, facts: &[Finding], root: &ProjectRoot) {
        for file in facts.iter().filter_map(|finding| finding.file.as_deref()) {
            let place = NormalizedPath::new(root, file);
            self.0.retain(|breach| breach.place != place.as_str());
        }
    }

    /// Removes the constraint findings of an action if it reverts all of them. Returns the reverted files.
    pub(super) fn take_reverted(
        &mut self,
        action: &AnalyzedAction<'_>,
        findings: &mut Vec<Finding>,
    ) -> Vec<String> {
        let is_broken = |finding: &&Finding| finding.rule == Rule::Constraint;
        if self.0.is_empty() {
            return Vec::new();
        }
        if !findings.iter().any(|finding| is_broken(&finding)) {
            return self.take_discarded(action);
        }
        let mut files = Vec::new();
        let mut back: Vec<String> = Vec::new();
        for finding in findings.iter().filter(is_broken) {
            let place = match finding.file.as_deref() {
                Some(file) => action.changed.iter().find(|place| place.display() == file),
                None => None,
            };
            let before = back.len();
            let undone = self.0.iter().filter(|breach| match place {
                Some(place) => breach.is_reverted_by(place, action),
                // `git stash` and `git checkout .` revert everything.
                None => finding.file.is_none() && action.programs().iter().any(restores_all),
            });
            back.extend(undone.map(|breach| breach.place.clone()));
            if back.len() == before {
                return Vec::new();
            }
            files.extend(finding.file.clone());
        }
        findings.retain(|finding| !is_broken(&finding));
        self.0.retain(|breach| !back.contains(&breach.place));
        if files.is_empty() {
            files = back;
        }
        files
    }
}

impl UnrevertedChanges {
    /// Drops the changes that an action discards with all uncommitted changes, such as `git stash`, which names no files.
    /// Created files are untracked and stay. Returns the reverted files.
    fn take_discarded(&mut self, action: &AnalyzedAction<'_>) -> Vec<String> {
        let brings_back = |command: &Program| matches!(command.git(), ("stash", rest) if rest.first().is_some_and(|word| word == "pop" || word == "apply"));
        let clears = |command: &Program| match command.git() {
            ("stash", rest) => rest.iter().all(|word| word == "push" || word == "-u"),
            ("checkout" | "restore", rest) => {
                rest.iter().any(|word| word == ".")
                    && rest
                        .iter()
                        .all(|word| matches!(word.as_str(), "." | "--" | "HEAD" | "-q" | "-f"))
            }
            _ => false,
        };
        if !action.programs().iter().any(clears) || action.programs().iter().any(brings_back) {
            return Vec::new();
        }
        let (kept, back) = std::mem::take(&mut self.0)
            .into_iter()
            .partition(|breach| breach.is_made);
        self.0 = kept;
        back.into_iter()
            .map(|breach: UnrevertedChange| breach.place)
            .collect()
    }
}

impl UnrevertedChange {
    /// Whether an action that changes `place` reverts this change.
    fn is_reverted_by(&self, place: &NormalizedPath, action: &AnalyzedAction<'_>) -> bool {
        let is_it = self.place == place.as_str();
        if action.sketch.action_type.modifies_files() {
            return is_it && self.may_revert(action);
        }
        let below = || {
            let rest = self.place.strip_prefix(place.as_str());
            rest.is_some_and(|rest| rest.starts_with('/'))
                || place.as_str().is_empty()
                || place.as_str() == "."
        };
        let restores = action.programs().iter().any(restores);
        restores && (is_it || below()) || is_it && self.is_made && is_removed(action)
    }

    /// Whether an edit may be the revert. The previous content is unknown, so an edit is accepted once per change if the
    /// agent was asked to revert, and the edit drops the written text and writes no more than that.
    fn may_revert(&self, action: &AnalyzedAction<'_>) -> bool {
        let Some(new) = action.sketch.content.as_deref().map(str::trim) else {
            return false;
        };
        match self.written.as_deref() {
            _ if new.is_empty() => true,
            _ if !self.is_revert_requested => false,
            Some(written) if !written.is_empty() => {
                !new.contains(written) && new.len() <= 2 * written.len() + MAX_REVERT_SURPLUS
            }
            _ => true,
        }
    }
}

/// Whether an action may create files.
fn creates(action: &AnalyzedAction<'_>) -> bool {
    let creates = |effect: &EffectKind| matches!(effect, EffectKind::Write | EffectKind::Copy);
    action.sketch.action_type == ActionType::Write || action.sketch.effects.iter().any(creates)
}

/// Whether an action removes or moves files and does nothing else.
fn is_removed(action: &AnalyzedAction<'_>) -> bool {
    let is_removal = |effect: &EffectKind| {
        matches!(
            effect,
            EffectKind::Delete | EffectKind::Move | EffectKind::Read | EffectKind::VersionControl
        )
    };
    action.removes && action.sketch.effects.iter().all(is_removal)
}

/// Whether a command restores committed files: `git checkout -- FILE`, `git restore FILE`.
fn restores(command: &Program) -> bool {
    match command.git() {
        ("restore", rest) => rest.iter().all(|word| {
            !word.starts_with('-')
                || matches!(
                    word.as_str(),
                    "-W" | "-S" | "--" | "--worktree" | "--staged" | "-q"
                )
                || word.as_str() == "--source=HEAD"
        }),
        ("checkout", rest) => {
            let after = rest.iter().position(|word| word == "--").unwrap_or(rest.len());
            rest[..after]
                .iter()
                .all(|word| matches!(word.as_str(), "HEAD" | "-q" | "--quiet" | "-f"))
        }
        _ => restores_all(command),
    }
}

/// Whether a command restores all files: `git stash`, `git checkout .`.
fn restores_all(command: &Program) -> bool {
    match command.git() {
        ("stash", rest) => rest
            .first()
            .is_none_or(|word| word.starts_with('-') || word == "push"),
        ("checkout" | "restore", rest) => rest
            .iter()
            .all(|word| word.starts_with('-') || word == "." || word == "HEAD"),
        _ => false,
    }
}
