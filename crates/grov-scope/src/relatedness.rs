//! Scores how closely a change is related to the goal, the expected scope and the earlier actions.
//!
//! Work on a goal is connected. The next changed file was named, was read before the first edit, is in the same folder as
//! earlier files, or its text shares words with the work so far. Drift is a change of a new file without such ties.
//! Only the first change of a file is judged, by the weighted sum of its ties ([`weights`]).
//!
//! Reading is never drift. A read file without ties is undecided until the next change, and then belongs to the work or to the
//! drift.

mod broad_request;
mod evidence;
mod expected_scope;
mod file_role;
mod reason;
mod request;
mod shown_text;
mod state;
mod terms;
mod tracked_file;
mod weights;
mod work_profile;

use crate::analyzed_action::AnalyzedAction;
use crate::association::{AssociatedFiles, Association};
use crate::contract::CompiledContract;
use crate::file_kind::FileKind;
use crate::normalized_path::{NormalizedPath, ProjectRoot};
use evidence::{Candidate, Evidence, evaluate};
use expected_scope::ExpectedScope;
use grov_domain::{ActionType, Finding, GoalContract};
use request::Request;
use serde::{Deserialize, Serialize};
use state::{ObservedAction, RelatednessState};
use terms::TextTerms;
use tracked_file::TrackedFile;
use weights::{BAND, BROAD, FLAG, FOREIGN, UNSEEN};
use work_profile::{NumberedFile, USER};

/// The number of characters of a command and of a written text that are analyzed. The weights were fitted with these limits.
const COMMAND_LETTERS: usize = 600;
const TEXT_LETTERS: usize = 400;

/// Scores in hundredths: of known files, of actions without files, of actions without files during a drift.
const KNOWN: u16 = 1000;
const NO_FILE: u16 = 950;
const NO_FILE_IN_DRIFT: u16 = 800;
/// The range of scores of related actions. Scores from 5 to 8 are left to other rules.
const RELATED: (f64, f64) = (8.0, 10.0);
/// The range of scores of unrelated changes. They stay above 2, because being unrelated alone must not block an action.
const UNRELATED: (f64, f64) = (2.01, 4.99);
/// The whole scores of unrelated changes.
const WHOLE_UNRELATED: (u8, u8) = (3, 4);

/// The score of a change that seems unrelated to a broad request, in hundredths.
const DOUBTFUL: u16 = 475;
/// The score of such a change shortly after another one, which is not reported.
const DOUBTED_LATELY: u16 = 510;

/// The relatedness of an action.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RelatednessScore {
    /// In hundredths, 201 to 1000; below 500 is off the goal. Reads that continue a drift also score below 500, but have
    /// no finding.
    pub(crate) score: u16,
    /// The finding for an unrelated change.
    pub(crate) finding: Option<Finding>,
    /// The log-odds that the action is off the goal, in hundredths, if there is a finding; else 0.
    pub(crate) log_odds: u16,
}

impl RelatednessScore {
    fn of(score: u16) -> Self {
        Self {
            score,
            finding: None,
            log_odds: 0,
        }
    }
}

/// The expected scope without entries that occur in the request. A name in the request is a separate tie and does not show
/// where the rest of the work is.
fn unnamed_scope(request: &Request, compiled: &CompiledContract, root: &ProjectRoot) -> ExpectedScope {
    let expected: Vec<_> = compiled
        .scope
        .iter()
        .filter(|entry| !request.mentions(entry.text()))
        .cloned()
        .collect();
    ExpectedScope::new(root, &expected)
}

/// Follows one conversation and scores its actions.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Relatedness {
    #[serde(skip)]
    request: Request,
    #[serde(skip)]
    expected: ExpectedScope,
    state: RelatednessState,
}

impl Relatedness {
    /// For a new conversation.
    pub(crate) fn new(contract: &GoalContract, compiled: &CompiledContract, root: &ProjectRoot) -> Self {
        let mut relatedness = Self::default();
        relatedness.compile(contract, compiled, root);
        let terms = relatedness.request.terms();
        relatedness.state.on.record(&terms, &[USER]);
        relatedness
    }

    /// Computes the parts that are not stored from the contract of the stored state.
    pub(crate) fn compile(
        &mut self,
        contract: &GoalContract,
        compiled: &CompiledContract,
        root: &ProjectRoot,
    ) {
        self.request = Request::new(contract);
        self.expected = unnamed_scope(&self.request, compiled, root);
    }

    /// Replaces the contract. New instructions of the user are on the goal, and they end a drift.
    pub(crate) fn set_contract(
        &mut self,
        contract: &GoalContract,
        compiled: &CompiledContract,
        root: &ProjectRoot,
    ) {
        let request = Request::new(contract);
        self.expected = unnamed_scope(&request, compiled, root);
        if !self.request.says_the_same(&request) {
            self.state
                .reopen(&request.terms(), self.request.is_new_task(&request));
            self.request = request;
        }
    }

    /// Starts a task: the agent may explore again.
    pub(crate) fn begin_task(&mut self) {
        self.state.begin_task();
    }

    /// Ends a drift, because the user sent a prompt.
    pub(crate) fn clear_drift(&mut self) {
        self.state.forgive();
    }

    /// Records a text that was shown to the agent.
    pub(crate) fn record_shown(&mut self, root: &ProjectRoot, text: &str) {
        self.state.shown.record(root, text);
    }

    /// Skips an action that violates a fact rule: it is not recorded as part of the work.
    pub(crate) fn skip(&mut self) -> RelatednessScore {
        self.state.next();
        RelatednessScore::of(KNOWN)
    }

    /// Scores the next action and records it.
    pub(crate) fn judge(
        &mut self,
        action: &AnalyzedAction<'_>,
        compiled: &CompiledContract,
        associated: &AssociatedFiles,
    ) -> RelatednessScore {
        let at = self.state.next();
        let sketch = action.sketch;
        let is_edit = sketch.action_type.modifies_files();
        let changes = is_edit || action.changes_files();
        let command = sketch.command.as_deref().unwrap_or_default();
        let terms = TextTerms::of([(command, COMMAND_LETTERS), (action.content(), TEXT_LETTERS)]);
        let places: &[NormalizedPath] = if action.removes && !is_edit {
            // Removed and moved files have no text. The rules for danger and constraints check them.
            &[]
        } else if changes {
            &action.changed
        } else {
            &action.touched
        };
        let Some(files) = self.numbered(places) else {
            // Too many files are recorded to recognise new ones.
            return RelatednessScore::of(KNOWN);
        };
        let seen = ObservedAction {
            files,
            changes,
            is_edit,
            has_text: sketch.content.is_some(),
            terms,
            at,
        };
        if seen.files.is_empty() {
            return self.without_files(seen, action.installs_packages());
        }
        let is_known = self
            .state
            .forms(&seen.files)
            .any(|id| !changes || self.state.on.has_edited(id));
        let is_allowed = places.iter().any(|place| compiled.is_allowed(place));
        if is_known || is_allowed || self.request.is_empty() || self.state.on.is_full() {
            self.state.go_on(seen);
            return RelatednessScore::of(KNOWN);
        }
        let touch = Candidate {
            files: &seen.files,
            terms: &seen.terms,
            is_command: sketch.action_type == ActionType::Bash,
            looks: !changes,
            writes: sketch.action_type == ActionType::Write,
            is_asked_place: places.iter().any(|place| compiled.is_in_named_folder(place)),
        };
        let evidence = evaluate(touch, &self.request, &self.expected, &self.state);
        let flag = self.flag(&seen);
        let is_associated = |place: &NormalizedPath| match associated.association(place, action) {
            Some(Association::Test) => FileKind::Test.is(place),
            Some(
                Association::Settings | Association::Index | Association::Imports | Association::Imported,
            ) => true,
            Some(Association::Docs | Association::Temporary) | None => false,
        };
        let is_named = seen.files.iter().any(|file| self.request.names(&file.file))
            || places.iter().any(|place| {
                is_associated(place) || compiled.is_agreed(place) || compiled.is_mentioned(place)
            });
        // Files that the user named are never unrelated.
        let excess = if is_named {
            (evidence.sum - flag).min(-0.1)
        } else {
            evidence.sum - flag
        };
        if changes {
            self.change(seen, &evidence, excess, is_named)
        } else {
            self.look(seen, excess)
        }
    }

    /// Records an action that the user allowed when asked: it is part of the work, and so are later changes of its files.
    pub(crate) fn accept(&mut self, action: &AnalyzedAction<'_>) {
        if action.removes {
            return;
        }
        let at = self.state.next();
        if let Some(files) = self.numbered(&action.changed).filter(|files| !files.is_empty()) {
            self.state.believe(ObservedAction {
                files,
                changes: true,
                is_edit: action.sketch.action_type.modifies_files(),
                has_text: action.sketch.content.is_some(),
                terms: TextTerms::of([(action.content(), TEXT_LETTERS)]),
                at,
            });
        }
    }

    fn numbered(&mut self, places: &[NormalizedPath]) -> Option<Vec<NumberedFile>> {
        let mut files: Vec<NumberedFile> = Vec::new();
        for file in places.iter().filter_map(TrackedFile::new) {
            let id = self.state.files.number(&file.path)?;
            if files.iter().all(|file| file.id != id) {
                files.push(NumberedFile { id, file });
            }
        }
        Some(files)
    }

    fn without_files(&mut self, seen: ObservedAction, installs: bool) -> RelatednessScore {
        if self.state.is_drifting() {
            return RelatednessScore::of(NO_FILE_IN_DRIFT);
        }
        if installs && self.state.has_edited() {
            // The next change tells whether the work needs the package.
            self.state.wait(seen);
            return RelatednessScore::of(NO_FILE);
        }
        self.state.on.record(&seen.terms, &[USER]);
        RelatednessScore::of(NO_FILE)
    }

    /// The sum above which an action is off the goal.
    fn flag(&self, seen: &ObservedAction) -> f64 {
        let blind = if seen.is_edit && !seen.has_text {
            1.0
        } else {
            self.state.unseen()
        };
        let foreign = if self.request.is_foreign() { FOREIGN } else { 0.0 };
        let broad = if self.request.is_broad() { BROAD } else { 0.0 };
        FLAG + UNSEEN * blind + foreign + broad
    }

    fn change(
        &mut self,
        seen: ObservedAction,
        evidence: &Evidence,
        excess: f64,
        is_named: bool,
    ) -> RelatednessScore {
        if excess > 0.0 && self.request.is_broad() {
            return self.doubt(seen, evidence, excess);
        }
        if excess > 0.0 {
            let score = unrelated(excess, self.state.odd());
            let file = shown(&seen);
            self.state.flag(seen);
            let finding = reason::finding(&file, evidence, self.state.odd(), whole_unrelated(score));
            return RelatednessScore {
                score,
                finding: Some(finding),
                log_odds: hundredths(excess),
            };
        }
        if excess > -BAND && self.state.has_edited() && !is_named {
            self.state.wait(seen);
        } else {
            self.state.believe(seen);
        }
        RelatednessScore::of(related(excess))
    }

    /// Scores an unrelated change under a broad request. It starts no drift, and only some are reported.
    fn doubt(&mut self, seen: ObservedAction, evidence: &Evidence, excess: f64) -> RelatednessScore {
        let file = shown(&seen);
        let at = seen.at;
        self.state.believe(seen);
        if !self.state.may_doubt(at) {
            return RelatednessScore::of(DOUBTED_LATELY);
        }
        let finding = reason::finding(&file, evidence, 1, whole_unrelated(DOUBTFUL));
        RelatednessScore {
            score: DOUBTFUL,
            finding: Some(finding),
            log_odds: hundredths(excess),
        }
    }

    fn look(&mut self, seen: ObservedAction, excess: f64) -> RelatednessScore {
        if self.state.is_drifting() {
            if excess > 0.0 {
                let score = unrelated(excess, self.state.odd());
                self.state.condemn(seen);
                return RelatednessScore::of(score);
            }
            if excess < -BAND {
                self.state.come_back(&seen);
            } else {
                self.state.look(seen);
            }
        } else if excess > 0.0 {
            self.state.look(seen);
        } else {
            self.state.learn(&seen);
        }
        RelatednessScore::of(related(excess))
    }
}

/// The file to name in the finding.
fn shown(seen: &ObservedAction) -> String {
    let file = seen.files.first();
    file.map(|file| file.file.shown.clone()).unwrap_or_default()
}

/// The score for an excess below zero: 8 to 10, in hundredths.
fn related(excess: f64) -> u16 {
    let (least, most) = RELATED;
    hundredths((least - 2.0 * (excess / 2.0).tanh()).clamp(least, most))
}

/// The score for an excess above zero, after `odd` changes of the same drift: between 2 and 5, in hundredths.
fn unrelated(excess: f64, odd: u32) -> u16 {
    let (least, most) = UNRELATED;
    hundredths((most - 1.99 * (excess / 3.0).tanh() - (0.25 * f64::from(odd)).min(1.0)).clamp(least, most))
}

/// Converts a score of 2 to 10, or log-odds above zero, to hundredths.
fn hundredths(score: f64) -> u16 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "both are between 0 and 100"
    )]
    let rounded = (score * 100.0).round() as u16;
    rounded
}

/// The whole score of an unrelated change.
fn whole_unrelated(score: u16) -> u8 {
    let (least, most) = WHOLE_UNRELATED;
    if score < 350 { least } else { most }
}

#[cfg(test)]
mod tests;
