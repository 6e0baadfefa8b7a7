//! Taking back what was changed against a constraint. That is what the user wants, and breaks nothing.

use crate::deed::Deed;
use crate::history::call_hash;
use crate::place::{Place, Root};
use grov_domain::Program;
use grov_domain::{ActionType, EffectKind, Finding, Rule, beginning_to};
use serde::{Deserialize, Serialize};

/// Files that are kept in mind.
const MOST: usize = 64;
/// So much of what was written is kept, in bytes.
const MOST_WRITTEN: usize = 200;
/// Taking back writes about as much as was there; going on tends to write more.
const MORE_THAN_BACK: usize = 80;

/// What was changed against a constraint and stands.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Breaches(Vec<Breach>);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Breach {
    place: String,
    call: Option<u64>,
    /// The file was not there before.
    is_made: bool,
    /// The beginning of what was written, where that was seen.
    written: Option<String>,
    /// The agent was told to take it back.
    is_told: bool,
}

impl Breaches {
    /// Keeps in mind what a deed changes against a constraint. `makes` tells whether nobody knew a place before.
    pub(super) fn note(
        &mut self,
        deed: &Deed<'_>,
        call: Option<&str>,
        findings: &[Finding],
        makes: impl Fn(&Place) -> bool,
    ) {
        let broken = |place: &&Place| {
            let mut constraints = findings.iter().filter(|finding| finding.rule == Rule::Constraint);
            constraints.any(|finding| finding.file.as_deref() == Some(place.shown()))
        };
        if deed.removes {
            return;
        }
        for place in deed.changed.iter().filter(broken) {
            let content = deed.action.content.as_deref().map(str::trim);
            let known = self.0.iter().position(|breach| breach.place == place.as_str());
            let was_made = known.is_some_and(|known| self.0.remove(known).is_made);
            if self.0.len() >= MOST {
                self.0.remove(0);
            }
            self.0.push(Breach {
                place: place.as_str().to_owned(),
                call: call.map(call_hash),
                is_made: was_made || creates(deed) && deed.made.contains(place) && makes(place),
                is_told: false,
                written: content
                    .map(|text| beginning_to(text, text.floor_char_boundary(MOST_WRITTEN)).to_owned()),
            });
        }
    }

    /// The agent was told to take back what stands.
    pub(super) fn told(&mut self) {
        for breach in &mut self.0 {
            breach.is_told = true;
        }
    }

    /// A call failed: it changed nothing.
    pub(super) fn failed(&mut self, call: &str) {
        let call = call_hash(call);
        self.0.retain(|breach| breach.call != Some(call));
    }

    /// The user allowed what was found: there is nothing to be taken back.
    pub(super) fn forget(&mut self, facts: &[Finding], root: &Root) {
        for file in facts.iter().filter_map(|finding| finding.file.as_deref()) {
            let place = Place::new(root, file);
            self.0.retain(|breach| breach.place != place.as_str());
        }
    }

    /// Takes out of the findings what a deed puts back, if it puts back all that it changes against a constraint. The files.
    pub(super) fn put_back(&mut self, deed: &Deed<'_>, findings: &mut Vec<Finding>) -> Vec<String> {
        let is_broken = |finding: &&Finding| finding.rule == Rule::Constraint;
        if self.0.is_empty() {
            return Vec::new();
        }
        if !findings.iter().any(|finding| is_broken(&finding)) {
            return self.cleared_by(deed);
        }
        let mut files = Vec::new();
        let mut back: Vec<String> = Vec::new();
        for finding in findings.iter().filter(is_broken) {
            let place = match finding.file.as_deref() {
                Some(file) => deed.changed.iter().find(|place| place.shown() == file),
                None => None,
            };
            let before = back.len();
            let undone = self.0.iter().filter(|breach| match place {
                Some(place) => breach.is_undone_at(place, deed),
                // `git stash` and `git checkout .` take back everything.
                None => finding.file.is_none() && deed.programs().iter().any(restores_all),
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

impl Breaches {
    /// Takes out what a deed puts back with all that is not committed: files that Git knows. `git stash` names none, so that
    /// nothing stands against it.
    fn cleared_by(&mut self, deed: &Deed<'_>) -> Vec<String> {
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
        if !deed.programs().iter().any(clears) || deed.programs().iter().any(brings_back) {
            return Vec::new();
        }
        let (kept, back) = std::mem::take(&mut self.0)
            .into_iter()
            .partition(|breach| breach.is_made);
        self.0 = kept;
        back.into_iter().map(|breach: Breach| breach.place).collect()
    }
}

impl Breach {
    /// Whether a deed that changes `place` puts this back.
    fn is_undone_at(&self, place: &Place, deed: &Deed<'_>) -> bool {
        let is_it = self.place == place.as_str();
        if deed.action.action_type.modifies_files() {
            return is_it && self.may_go_back_by(deed);
        }
        let below = || {
            let rest = self.place.strip_prefix(place.as_str());
            rest.is_some_and(|rest| rest.starts_with('/'))
                || place.as_str().is_empty()
                || place.as_str() == "."
        };
        let restores = deed.programs().iter().any(restores);
        restores && (is_it || below()) || is_it && self.is_made && is_removed(deed)
    }

    /// What stood there before is not known: of an agent that was told so, an edit that leaves out what was written, and
    /// writes no more than that, is believed, once for each change.
    fn may_go_back_by(&self, deed: &Deed<'_>) -> bool {
        let Some(new) = deed.action.content.as_deref().map(str::trim) else {
            return false;
        };
        match self.written.as_deref() {
            _ if new.is_empty() => true,
            _ if !self.is_told => false,
            Some(written) if !written.is_empty() => {
                !new.contains(written) && new.len() <= 2 * written.len() + MORE_THAN_BACK
            }
            _ => true,
        }
    }
}

/// Whether a deed may bring files into being.
fn creates(deed: &Deed<'_>) -> bool {
    let creates = |effect: &EffectKind| matches!(effect, EffectKind::Write | EffectKind::Copy);
    deed.action.action_type == ActionType::Write || deed.action.effects.iter().any(creates)
}

/// Whether a deed removes or moves what it changes, and nothing else.
fn is_removed(deed: &Deed<'_>) -> bool {
    let is_removal = |effect: &EffectKind| {
        matches!(
            effect,
            EffectKind::Delete | EffectKind::Move | EffectKind::Read | EffectKind::VersionControl
        )
    };
    deed.removes && deed.action.effects.iter().all(is_removal)
}

/// Whether a command puts files back as they were committed: `git checkout -- FILE`, `git restore FILE`.
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
            let behind = rest.iter().position(|word| word == "--").unwrap_or(rest.len());
            rest[..behind]
                .iter()
                .all(|word| matches!(word.as_str(), "HEAD" | "-q" | "--quiet" | "-f"))
        }
        _ => restores_all(command),
    }
}

/// Whether a command puts everything back: `git stash`, `git checkout .`.
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
