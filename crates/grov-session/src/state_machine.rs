//! The drift state machine: tracks the mode of a session (normal, drifted or forced) and its current correction.
//!
//! # When a correction is created
//!
//! A score below 8 alone is not enough, because a false alarm costs more than a miss.
//!
//! - A hard finding (constraint, danger) is corrected at once, at every score below 8.
//! - So is every other score below 5 that is not a doubt.
//! - Other scores of 5 to 7 are corrected if three of the last four changing responses were no better, or if the
//!   session is escalated, and not within four changing responses of the last correction.
//! - A *firm* finding (hard, repetition, or confirmed by a model) escalates: after a correction that was ignored, the
//!   next one comes at once and is stronger, up to a forced action. A forced action is demanded [`MAX_FORCED`] times;
//!   then no correction is created until the session is back on its goal or the user types a prompt.
//! - A finding that rests on an interpretation (of words that name no path and no command) is corrected once, at most at the
//!   level [`Correct`](grov_domain::CorrectionLevel::Correct), without escalation: an agent that goes on reads the user's
//!   words for itself. Once more after the next request, or if the user objects.
//! - A *doubt* (a change that only looks unrelated to the goal) is corrected once several are open (see
//!   [`crate::doubt`]): at most at the level [`Correct`](grov_domain::CorrectionLevel::Correct), without an undo or
//!   escalation, and only once per goal.
//! - Hard findings that occur while a correction is pending are attached to it.
//! - What the user tolerated after a correction (a prompt without an objection) is not corrected again.
//! - A call that failed or was refused changed nothing and is not corrected. The same holds for files that were
//!   restored before a correction was delivered, also within one response.

use crate::assessed_action::AssessedAction;
use crate::correction;
use crate::doubt::OpenDoubts;
use crate::findings::{has_hard_finding, interpretations, is_certainly_off, is_doubt_only, rests_on};
use crate::level::{MAX_DOUBTS, MAX_ESCALATION, ON_GOAL_FROM, lowered, stronger};
use crate::policy::Policy;
use crate::recovery_plan::{is_same_file, recovery_plan};
use crate::violation::Violation;
use corrections::CorrectionBasis;
use grov_domain::{
    ActionSketch, Correction, CorrectionId, DriftState, GoalContract, OFF_GOAL_BELOW, SessionMode,
};
use recovery::OngoingUndo;
use response::{described, reasons, restored_within, with_exemptions, worst};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use time::{Duration, OffsetDateTime};

mod attached_facts;
mod corrections;
mod delivery;
mod judged;
mod recovery;
mod response;
mod resume;
mod transition;

pub(crate) use response::combined;
pub(crate) use transition::PromptSummary;
pub use transition::{EventContext, Position, Transition};

/// Ignored corrections after which an action is forced.
const FAILURES_TO_FORCE: u8 = 3;
/// Maximum number of forced actions that are demanded in a row.
const MAX_FORCED: u8 = 2;
/// Number of changing responses whose scores are kept.
const WINDOW: usize = 4;
/// Changing responses between two mild corrections.
const MIN_PAUSE: usize = 4;
/// Maximum number of files kept in each list of files.
const MAX_FILES: usize = 64;
/// Maximum number of earlier violations and of attached facts.
const MAX_EARLIER: usize = 8;

/// Tracks whether a session is on goal, and its current correction.
///
/// Renamed fields are serialized under the names of earlier versions.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DriftStateMachine {
    state: DriftState,
    /// Not serialized; the caller supplies it.
    #[serde(skip)]
    pub(crate) policy: Policy,
    /// Scores of the newest changing responses, oldest first.
    recent: VecDeque<u8>,
    /// The violation that the current correction is about.
    #[serde(rename = "offence")]
    violation: Violation,
    /// Whether the current correction raised the escalation.
    #[serde(rename = "has_raised")]
    raised_escalation: bool,
    /// Changing responses since the last correction was created.
    #[serde(rename = "since")]
    since_correction: usize,
    /// Number of changing responses.
    responses: u64,
    /// How often a forced action was demanded.
    #[serde(rename = "demands")]
    forced_demands: u8,
    /// What the agent did instead of following the last correction.
    #[serde(rename = "instead")]
    action_instead: Option<String>,
    /// The hash of a goal, and how many doubts were reported under it.
    doubts: (u64, u8),
    /// Doubts that were not reported yet.
    open_doubts: OpenDoubts,
    /// An undo that takes several responses.
    undoing: Option<OngoingUndo>,
    /// Violations of earlier corrections since the last prompt; undoing those is progress, too.
    #[serde(rename = "earlier")]
    earlier_violations: Vec<Violation>,
    /// Files whose change was accepted as an undo once. The next change must prove to be one.
    undone: Vec<String>,
    /// The issues of the current correction, most severe first, without the attached facts.
    issues: Vec<String>,
    /// Facts found while the current correction was pending; delivered with it.
    #[serde(rename = "also")]
    attached: Vec<AssessedAction>,
    /// The interpretations that the agent was told; it is not told again before the next request, unless the user objects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    told: Vec<u64>,
    /// The base id of the newest correction, and how many further corrections used it.
    #[serde(default)]
    newest_id: Option<(CorrectionId, u32)>,
}

impl DriftStateMachine {
    /// Starts from a state.
    pub fn new(state: DriftState, policy: Policy) -> Self {
        Self {
            state,
            policy,
            recent: VecDeque::new(),
            violation: Violation::default(),
            raised_escalation: false,
            since_correction: MIN_PAUSE,
            responses: 0,
            forced_demands: 0,
            action_instead: None,
            doubts: (0, 0),
            open_doubts: OpenDoubts::default(),
            undoing: None,
            earlier_violations: Vec::new(),
            undone: Vec::new(),
            issues: Vec::new(),
            attached: Vec::new(),
            told: Vec::new(),
            newest_id: None,
        }
    }

    /// Returns the state of the session.
    pub fn state(&self) -> &DriftState {
        &self.state
    }

    /// Sets the escalation, 0 to 3.
    pub fn set_escalation(&mut self, escalation: u8) {
        self.state.escalation = escalation.min(MAX_ESCALATION);
    }

    /// Switches corrections on or off.
    pub fn set_corrections_enabled(&mut self, corrects: bool) {
        self.policy.corrects = corrects;
        if !corrects {
            self.attached.clear();
        }
    }

    /// Returns the current position, to detect verdicts that arrive late.
    pub fn position(&self) -> Position {
        Position {
            responses: self.responses,
            prompts: self.state.prompts,
        }
    }

    /// Returns the correction that was not delivered yet.
    pub fn pending_correction(&self) -> Option<&Correction> {
        let correction = self.state.correction.as_ref();
        correction.filter(|correction| correction.delivered_at.is_none())
    }

    /// Returns the pending correction if it can be delivered at `now`: it has not expired, and, if it would be delivered
    /// with a new prompt (`with_prompt`), that prompt does not drop it.
    pub fn deliverable_correction(&self, now: OffsetDateTime, with_prompt: bool) -> Option<&Correction> {
        let pending = self.pending_correction()?;
        let is_overtaken = with_prompt && !self.survives_prompts();
        (!is_overtaken && !self.has_expired(pending, now)).then_some(pending)
    }

    fn has_expired(&self, pending: &Correction, now: OffsetDateTime) -> bool {
        let max_age = self.policy.max_pending_age();
        max_age.is_some_and(|max_age| now - pending.made_at > max_age)
    }

    /// Whether the current correction may still apply after the next prompt.
    fn survives_prompts(&self) -> bool {
        self.violation.survives_prompts() || self.policy.doubts_survive_prompts()
    }

    /// Processes a response. Its worst action decides.
    pub fn on_response(
        &mut self,
        response: &[AssessedAction],
        contract: &GoalContract,
        context: &EventContext,
    ) -> Transition {
        let mut transition = Transition::default();
        let standing = |state: &DriftState| (state.mode, state.escalation, state.failed_recoveries);
        let before = standing(&self.state);
        self.drop_restored(response, contract, context, &mut transition);
        let followed = self.followed(response);
        let is_undone = response
            .iter()
            .any(|one| self.violation.is_undone_by(&one.put_back));
        let exempt = self.exempt(response, &followed);
        let eased: Vec<AssessedAction>;
        let response = if exempt.is_empty() {
            response
        } else {
            eased = with_exemptions(response, &exempt);
            &eased
        };
        for one in response.iter().filter(|one| !one.is_delegated) {
            self.open_doubts.record(one);
        }
        let moot = restored_within(response);
        let told = self.told_again(response);
        let counted: Vec<usize> = followed.iter().chain(&moot).copied().collect();
        let skipped: Vec<usize> = counted.iter().chain(&told).copied().collect();
        let found = worst(response, &skipped);
        if found.is_none() && followed.is_empty() && told.is_empty() {
            self.touch(transition.state_changed, context.at);
            return transition;
        }
        // What the agent was told is not corrected again, but it is no return to the goal either.
        let going_on = worst(response, &counted).map(|index| response[index].assessment.score);
        let found = found.map(|index| (index, &response[index]));
        let score = found.map(|(_, action)| action.assessment.score);
        let is_delegated = found.is_some_and(|(_, action)| action.is_delegated);
        let mut ignored = None;
        if !is_delegated {
            self.responses += 1;
            self.since_correction = self.since_correction.saturating_add(1);
            let is_back = !followed.is_empty() || response.iter().any(|one| self.is_elsewhere(one));
            let resolved = (going_on, !followed.is_empty(), is_back);
            ignored = self.resolve_correction(resolved, context.at, &mut transition);
            if let Some(score) = score {
                self.push_score(score);
            }
            if ignored.is_some() {
                self.action_instead = found.map(|(_, action)| described(&action.action));
            }
        }
        if is_undone && self.state.correction.is_none() {
            // Nothing is left to undo, so a later change of the same files is a new violation.
            self.violation = Violation::default();
            self.undoing = None;
        }
        let is_firm = found.is_some_and(|(_, action)| !is_doubt_only(&action.assessment));
        let is_certain =
            is_firm && found.is_some_and(|(_, action)| interpretations(&action.assessment).is_empty());
        self.update_mode(
            going_on,
            is_certain,
            ignored.is_some(),
            is_delegated,
            &mut transition,
        );
        let should_correct = found.is_some_and(|(_, action)| self.should_correct(action, contract));
        if let Some((index, action)) = found.filter(|_| should_correct) {
            let min_level = ignored
                .filter(|_| is_firm && action.assessment.score < OFF_GOAL_BELOW)
                .map(stronger);
            let basis = CorrectionBasis {
                issues: reasons(action),
                plan: recovery_plan(contract, &action.action, &action.assessment.findings, is_firm),
                is_firm,
                min_level,
            };
            self.correct(Some(index), action, basis, contract, context, &mut transition);
        }
        let is_other = |(index, _): &(usize, &AssessedAction)| {
            let new_correction = transition.new_correction.as_ref();
            !skipped.contains(index) && new_correction.is_none_or(|(about, _)| *about != Some(*index))
        };
        let facts = response.iter().enumerate().filter(is_other);
        let facts: Vec<&AssessedAction> = facts
            .map(|(_, one)| one)
            .filter(|one| has_hard_finding(&one.assessment))
            .collect();
        transition.state_changed |= self.attach(&facts, contract);
        transition.add(self.promote_attached(contract, context));
        if let (Some((_, new_correction)), Some(pending)) =
            (&mut transition.new_correction, self.pending_correction())
            && new_correction.id == pending.id
        {
            new_correction.clone_from(pending);
        }
        transition.exempt = followed;
        transition.exempt.extend(exempt);
        transition.state_changed |= before != standing(&self.state)
            || transition.new_correction.is_some()
            || !transition.resolved.is_empty();
        self.touch(transition.state_changed, context.at);
        transition
    }

    /// Processes a prompt.
    pub fn on_prompt(&mut self, prompt: PromptSummary, at: OffsetDateTime) -> Transition {
        let mut transition = Transition::default();
        self.state.prompts = self.state.prompts.saturating_add(1);
        self.recent.clear();
        self.earlier_violations.clear();
        if prompt.has_objection {
            self.told.clear();
        }
        let delivered_at = self.state.correction.as_ref().and_then(|one| one.delivered_at);
        let was_read = delivered_at.is_some_and(|delivered_at| delivered_at < prompt.arrived_at);
        if was_read && !prompt.has_objection {
            push_bounded(&mut self.state.consent.facts, self.violation.facts.clone());
            if !self.violation.is_hard {
                push_bounded(&mut self.state.consent.files, self.violation.files.clone());
            }
        }
        // A hard finding or a model's verdict stays pending until it is rechecked, see
        // [`DriftStateMachine::pending_violation`].
        if was_read || (self.pending_correction().is_some() && !self.survives_prompts()) {
            self.expire(&mut transition);
        }
        if self.state.correction.is_none() {
            self.reset_to_normal();
        }
        transition.state_changed = true;
        self.touch(true, at);
        transition
    }

    /// Returns the violation of a pending correction that may survive a prompt. The caller rechecks it against the
    /// prompt.
    pub(crate) fn pending_violation(&self) -> Option<&Violation> {
        self.pending_correction()?;
        Some(&self.violation).filter(|_| self.survives_prompts())
    }

    /// Sets the texts of the agent that the user agreed to and that are still in force.
    pub fn set_consents(&mut self, orders: Vec<String>, at: OffsetDateTime) {
        self.state.consent.orders = orders;
        self.touch(true, at);
    }

    /// Processes the user's permission for an action.
    pub(crate) fn on_allowed(&mut self, one: &AssessedAction, at: OffsetDateTime) -> Transition {
        self.replace_last_score(one.assessment.score, ON_GOAL_FROM);
        if self.violation.call.is_some() && self.violation.call == one.call {
            if self.pending_correction().is_some() {
                return self.drop_pending(at);
            }
            let mut transition = Transition::default();
            self.expire(&mut transition);
        }
        if self.state.correction.is_none() && self.state.mode != SessionMode::Forced {
            self.reset_to_normal();
        }
        self.touch(true, at);
        Transition::default()
    }

    /// Clears open doubts, and what the agent was told of interpreted limits: the user asked for something new.
    pub fn on_new_request(&mut self) {
        self.open_doubts.clear();
        self.told.clear();
    }

    /// Drops all findings about a failed call, which changed nothing.
    pub(crate) fn on_call_failed(
        &mut self,
        call: &str,
        contract: &GoalContract,
        context: &EventContext,
    ) -> Transition {
        self.open_doubts.remove_call(call);
        let mut transition = Transition {
            state_changed: self.retain_attached(contract, |one| one.call.as_deref() != Some(call)),
            ..Transition::default()
        };
        // That it failed again is what a repetition is about.
        if self.pending_call() == Some(call) && !self.violation.is_repetition() {
            transition.add(self.drop_pending(context.at));
            transition.add(self.promote_attached(contract, context));
        }
        transition
    }

    /// Drops the pending correction, because the user allowed the action or it had no effect.
    pub fn drop_pending(&mut self, at: OffsetDateTime) -> Transition {
        let mut transition = Transition::default();
        let Some(score) = self.pending_correction().map(|pending| pending.score) else {
            return transition;
        };
        if self.recent.back() == Some(&score) {
            self.recent.pop_back();
        }
        self.expire(&mut transition);
        if self.state.mode != SessionMode::Forced {
            self.reset_to_normal();
        }
        transition.state_changed = true;
        self.touch(true, at);
        transition
    }

    /// Returns the tool call that the pending correction is about.
    pub fn pending_call(&self) -> Option<&str> {
        self.pending_correction()?;
        self.violation.call.as_deref()
    }

    /// Whether the pending correction is about an action of a subagent.
    pub fn is_pending_delegated(&self) -> bool {
        self.pending_correction().is_some() && self.violation.is_delegated
    }

    /// Removes the current correction, because a person had its text forgotten.
    pub fn clear_correction(&mut self, at: OffsetDateTime) {
        self.state.correction = None;
        self.violation = Violation::default();
        self.issues.clear();
        self.attached.clear();
        self.action_instead = None;
        self.touch(true, at);
    }

    /// Records that a judge was asked.
    pub fn judge_requested(&mut self, at: OffsetDateTime) {
        self.state.judged_at_prompt = self.state.prompts;
        self.touch(true, at);
    }
}

impl DriftStateMachine {
    /// Updates mode, failed recoveries and escalation after a response.
    fn update_mode(
        &mut self,
        score: Option<u8>,
        is_certain: bool,
        is_ignored: bool,
        is_delegated: bool,
        transition: &mut Transition,
    ) {
        let state = &mut self.state;
        let is_off = score.is_some_and(|score| score < OFF_GOAL_BELOW);
        if is_ignored && is_off {
            state.failed_recoveries = state.failed_recoveries.saturating_add(1).min(FAILURES_TO_FORCE);
        }
        if is_off && state.mode != SessionMode::Forced {
            let is_forced = is_certain && state.failed_recoveries >= FAILURES_TO_FORCE;
            transition.entered_forced_mode = is_forced;
            state.mode = if is_forced {
                SessionMode::Forced
            } else {
                SessionMode::Drifted
            };
        }
        if !is_off
            && !is_delegated
            && self
                .pending_correction()
                .is_none_or(|pending| pending.score >= OFF_GOAL_BELOW)
        {
            self.reset_to_normal();
        }
        if !is_delegated && score.is_some_and(|score| score >= ON_GOAL_FROM) {
            self.state.escalation = lowered(self.state.escalation);
        }
    }

    /// Whether to correct an action, see the module documentation.
    fn should_correct(&self, action: &AssessedAction, contract: &GoalContract) -> bool {
        let score = action.assessment.score;
        if score >= ON_GOAL_FROM || !self.may_correct() {
            return false;
        }
        let is_hard = has_hard_finding(&action.assessment);
        if self.state.mode == SessionMode::Forced && !interpretations(&action.assessment).is_empty() {
            return false;
        }
        let is_more_certain =
            is_certainly_off(&action.assessment) && !self.violation.interpretations.is_empty();
        if let Some(pending) = self.pending_correction()
            && !is_more_certain
            && (pending.score <= score && (self.violation.is_hard || !is_hard))
        {
            return false;
        }
        if is_hard {
            return true;
        }
        if self.is_permitted(&action.action) {
            return false;
        }
        if is_doubt_only(&action.assessment) {
            return self.open_doubts.should_report()
                && self.doubts_reported(contract) < MAX_DOUBTS
                && self.state.mode != SessionMode::Forced;
        }
        if score < OFF_GOAL_BELOW {
            return true;
        }
        let doubtful = self.recent.iter().filter(|score| **score < ON_GOAL_FROM);
        let persists = self.state.escalation > 0 || doubtful.count() >= 3;
        persists && self.since_correction >= MIN_PAUSE
    }

    /// Returns the actions that rest on interpretations of which the agent was told. Facts found while that text is pending
    /// are attached to it.
    fn told_again(&self, response: &[AssessedAction]) -> Vec<usize> {
        let is_pending = self.pending_correction().is_some();
        let is_known = |one: &u64| {
            self.told.contains(one) && !(is_pending && self.violation.interpretations.contains(one))
        };
        let is_told = |one: &AssessedAction| rests_on(&one.assessment, is_known);
        let all = response.iter().enumerate();
        all.filter(|(_, one)| is_told(one))
            .map(|(index, _)| index)
            .collect()
    }

    fn may_correct(&self) -> bool {
        self.policy.corrects && (self.state.mode != SessionMode::Forced || self.forced_demands < MAX_FORCED)
    }

    fn is_permitted(&self, action: &ActionSketch) -> bool {
        let passes = |file: &String| {
            let let_pass = &self.state.consent.files;
            let_pass.iter().any(|own| is_same_file(own, file))
        };
        !action.files.is_empty() && action.files.iter().all(passes)
    }

    fn reset_to_normal(&mut self) {
        self.state.mode = SessionMode::Normal;
        self.state.failed_recoveries = 0;
        self.forced_demands = 0;
        self.action_instead = None;
    }

    fn push_score(&mut self, score: u8) {
        if self.recent.len() >= WINDOW {
            self.recent.pop_front();
        }
        self.recent.push_back(score);
    }

    /// Replaces the newest score.
    fn replace_last_score(&mut self, before: u8, score: u8) {
        if let Some(newest) = self.recent.back_mut().filter(|newest| **newest == before) {
            *newest = score;
        }
    }

    /// Sets the time of a change: at least one millisecond after the previous one, even if the clock was set back, so
    /// that stores keep the newer of two states.
    fn touch(&mut self, changed: bool, at: OffsetDateTime) {
        if changed {
            let next = self.state.updated_at.saturating_add(Duration::milliseconds(1));
            self.state.updated_at = at.max(next);
        }
    }
}

/// Returns a hash that identifies a goal.
fn goal_hash(contract: &GoalContract) -> u64 {
    correction::hash(contract.goal.trim())
}

/// Adds new values to a bounded list and removes the oldest.
fn push_bounded<T: PartialEq>(list: &mut Vec<T>, more: Vec<T>) {
    for one in more {
        if !list.contains(&one) {
            list.push(one);
        }
    }
    let surplus = list.len().saturating_sub(MAX_FILES);
    list.drain(..surplus);
}

#[cfg(test)]
mod tests;
