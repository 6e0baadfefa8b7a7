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

/// The name of a forbidden commit among reverted files.
pub const FORBIDDEN_COMMIT: &str = "git commit";
/// The most other paths of a move that are recorded.
const MAX_MOVED: usize = 8;

/// Changes that violate a constraint and were not reverted.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct UnrevertedChanges(Vec<UnrevertedChange>);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct UnrevertedChange {
    place: String,
    call: Option<u64>,
    /// The change created the file.
    is_made: bool,
    /// The change removed the file, or moved it here or away.
    #[serde(default)]
    is_removed: bool,
    /// The other paths of a move, sorted.
    #[serde(default)]
    moved: Vec<String>,
    /// The hashes of the replaced and the written text, if both are known.
    #[serde(default)]
    texts: Option<(u64, u64)>,
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
        let constraints = || findings.iter().filter(|finding| finding.rule == Rule::Constraint);
        if constraints().any(|finding| finding.file.is_none()) && action.programs().iter().any(commits) {
            self.push(UnrevertedChange::new(FORBIDDEN_COMMIT, call));
        }
        let broken = |place: &&NormalizedPath| {
            constraints().any(|finding| finding.file.as_deref() == Some(place.display()))
        };
        for place in action.changed.iter().filter(broken) {
            let content = action.sketch.content.as_deref().map(str::trim);
            let known = self.0.iter().position(|breach| breach.place == place.as_str());
            let was_made = known.is_some_and(|known| self.0.remove(known).is_made);
            // What the agent made and removed again is as before.
            if was_made && action.removes {
                continue;
            }
            let is_new = || creates(action) && action.created.contains(place) && makes(place);
            self.push(UnrevertedChange {
                is_made: was_made || !action.removes && is_new(),
                is_removed: action.removes,
                moved: moved_with(action, place),
                texts: replaced_texts(action),
                written: content
                    .map(|text| beginning_to(text, text.floor_char_boundary(MAX_WRITTEN)).to_owned()),
                ..UnrevertedChange::new(place.as_str(), call)
            });
        }
    }

    fn push(&mut self, change: UnrevertedChange) {
        if self.0.len() >= MAX_CHANGES {
            self.0.remove(0);
        }
        self.0.push(change);
    }

    /// Whether there is nothing to revert.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
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

    /// Removes the constraint findings of an action if it reverts all of them. Returns the reverted files, and
    /// [`FORBIDDEN_COMMIT`] for a commit.
    pub(super) fn take_reverted(
        &mut self,
        action: &AnalyzedAction<'_>,
        findings: &mut Vec<Finding>,
    ) -> Vec<String> {
        if self.0.is_empty() {
            return Vec::new();
        }
        if let Some(commit) = self
            .newest_commit()
            .filter(|_| action.programs().iter().any(takes_back))
        {
            findings.retain(|finding| finding.rule != Rule::Constraint || finding.file.is_some());
            self.0.remove(commit);
            return vec![FORBIDDEN_COMMIT.to_owned()];
        }
        let is_broken = |finding: &&Finding| finding.rule == Rule::Constraint;
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
            let mut is_reverted = false;
            for breach in &self.0 {
                let is_whole = match place {
                    Some(place) => breach.is_reverted_by(place, action),
                    // `git stash` and `git checkout .` revert everything.
                    None => finding.file.is_none() && action.programs().iter().any(restores_all),
                };
                // Restoring one file of a removed folder leaves the others removed.
                is_reverted |=
                    is_whole || place.is_some_and(|place| breach.is_partly_restored_by(place, action));
                if is_whole {
                    back.push(breach.place.clone());
                }
            }
            if !is_reverted {
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

    fn newest_commit(&self) -> Option<usize> {
        self.0.iter().rposition(|breach| breach.place == FORBIDDEN_COMMIT)
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
            .partition(|breach| breach.is_made || breach.place == FORBIDDEN_COMMIT);
        self.0 = kept;
        back.into_iter()
            .map(|breach: UnrevertedChange| breach.place)
            .collect()
    }
}

impl UnrevertedChange {
    fn new(place: &str, call: Option<&str>) -> Self {
        Self {
            place: place.to_owned(),
            call: call.map(call_hash),
            is_made: false,
            is_removed: false,
            moved: Vec::new(),
            texts: None,
            written: None,
            is_revert_requested: false,
        }
    }

    /// Whether an action restores a file of a removed folder.
    fn is_partly_restored_by(&self, place: &NormalizedPath, action: &AnalyzedAction<'_>) -> bool {
        let rest = place.as_str().strip_prefix(self.place.as_str());
        self.is_removed
            && rest.is_some_and(|rest| rest.starts_with('/'))
            && action.programs().iter().any(|command| restores(command, place))
    }

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
        let restores = action.programs().iter().any(|command| restores(command, place));
        let moves_back = || !self.moved.is_empty() && moved_with(action, place) == self.moved;
        restores && (is_it || below())
            || is_it && is_removed(action) && (self.is_made || self.is_removed && moves_back())
    }

    /// Whether an edit may be the revert. It is if it puts the replaced text back. Where that is unknown, an edit is
    /// accepted once per change if the agent was asked to revert, and the edit drops the written text and writes no more
    /// than that.
    fn may_revert(&self, action: &AnalyzedAction<'_>) -> bool {
        let Some(new) = action.sketch.content.as_deref().map(str::trim) else {
            return false;
        };
        let puts_back = |(replaced, written)| replaced_texts(action) == Some((written, replaced));
        match self.written.as_deref() {
            _ if self.texts.is_some_and(puts_back) => true,
            _ if new.is_empty() && !self.is_removed => true,
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

/// The hashes of the texts that an edit replaces and writes, if both are known.
fn replaced_texts(action: &AnalyzedAction<'_>) -> Option<(u64, u64)> {
    let change = action.sketch.change.as_ref()?;
    let replaced = change.before.as_deref()?;
    Some((call_hash(replaced.trim()), call_hash(change.after.trim())))
}

/// The other paths of a move, sorted; empty for other actions.
fn moved_with(action: &AnalyzedAction<'_>, place: &NormalizedPath) -> Vec<String> {
    if !action.sketch.effects.contains(&EffectKind::Move) {
        return Vec::new();
    }
    let others = action.changed.iter().filter(|other| *other != place);
    let mut moved: Vec<String> = others
        .map(|other| other.as_str().to_owned())
        .take(MAX_MOVED)
        .collect();
    moved.sort_unstable();
    moved
}

/// Whether an action restores committed files and changes nothing else.
pub(super) fn only_restores(action: &AnalyzedAction<'_>) -> bool {
    let is_restored =
        |place: &NormalizedPath| action.programs().iter().any(|command| restores(command, place));
    let changes = |command: &Program| !command.changes.is_empty() && !matches!(command.name(), "git");
    !action.changed.is_empty()
        && !action.programs().iter().any(changes)
        && action.changed.iter().all(is_restored)
}

/// Whether a command line makes a commit.
pub fn makes_commit(command: &str) -> bool {
    grov_actions::command_line(command).programs.iter().any(commits)
}

/// Whether a command makes a commit.
fn commits(command: &Program) -> bool {
    matches!(command.git().0, "commit" | "cherry-pick" | "merge" | "am")
}

/// Whether a command takes back a commit: `git revert HEAD`, `git reset HEAD~1`. A hard reset is a danger, too.
fn takes_back(command: &Program) -> bool {
    let is_before = |word: &str| {
        let rest = word.strip_prefix("HEAD").or_else(|| word.strip_prefix('@'));
        rest.is_some_and(|rest| rest.starts_with(['~', '^'])) || word == "ORIG_HEAD"
    };
    match command.git() {
        ("revert", rest) => rest.iter().any(|word| !word.starts_with('-')),
        ("reset", rest) => rest.iter().any(|word| is_before(word)),
        _ => false,
    }
}

/// Whether a command restores committed files: `git checkout -- FILE`, `git restore FILE`. `place` is a changed file.
fn restores(command: &Program, place: &NormalizedPath) -> bool {
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
            // Without `--`, a word may be a file or a branch.
            let is_file =
                |word: &str| after == rest.len() && place.as_str().ends_with(word.trim_start_matches("./"));
            rest[..after]
                .iter()
                .all(|word| matches!(word.as_str(), "HEAD" | "-q" | "--quiet" | "-f") || is_file(word))
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
