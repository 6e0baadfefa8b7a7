//! Where a session stands, as a state machine: normal, drifted, forced, and back by a recovery that was seen.
//!
//! Pure: what was done and found goes in, what is to be said and what became of what was said comes out.
//!
//! # When something is said
//!
//! A score below 8 is not yet a reason to speak, for a false alarm costs more than a miss.
//!
//! - What is a matter of fact (a constraint, danger) is said at once, at every score below 8.
//! - So is every other score below 5 that is no doubt.
//! - Other scores of 5 to 7 are said when three of the last four changing responses were no better, or when the session is
//!   escalated, and then not within four changing responses of the last correction.
//! - What is *firm* (a fact, repetition, what a model agrees with) escalates: after a correction that was not followed, the
//!   next one comes at once and stronger, up to forced. An action is demanded [`MOST_DEMANDS`] times; then there is silence
//!   until the session is back on its goal or the user speaks.
//! - What is *soft* (a change that only does not look related to the goal) is a doubt. It is told when several stand together
//!   (see [`crate::doubt`]): never stronger than [`CorrectionLevel::Correct`], nothing is to be undone, no escalation,
//!   at most [`MOST_DOUBTS`] times under one goal.
//! - Facts that are found while a correction waits are said with it.
//! - What the user let pass after a correction (they spoke, and did not object) is not corrected again.
//! - A call that failed or was denied changed nothing: what was to be said of it is not said. Nor is what was put back before
//!   it was said, were it in the same response.

use crate::assessed::Assessed;
use crate::correction::{self, MOST_ISSUES};
use crate::doubt::OpenDoubts;
use crate::level::{MAX_ESCALATION, MOST_DOUBTS, ON_GOAL_FROM, lowered, stronger};
use crate::offence::Offence;
use crate::policy::Policy;
use crate::way_back::{has_hard, is_same_file, is_soft, way_back};
use correcting::Ground;
use grov_domain::{
    ActionSketch, Assessment, Correction, CorrectionId, CorrectionLevel, CorrectionOutcome, DriftState,
    DriftVerdict, GoalContract, OFF_GOAL_BELOW, SessionMode,
};
use response::{described, eased_of, facts, put_back_at_once, reasons, worst};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use time::{Duration, OffsetDateTime};
use undoing::Undoing;

mod also;
mod correcting;
mod nouns;
mod response;
mod undoing;

pub(crate) use nouns::Spoken;
pub use nouns::{Moment, Progress, Standing};
pub(crate) use response::combined;

/// Failed recoveries after which an action is demanded.
const FAILURES_TO_FORCE: u8 = 3;
/// How often an action is demanded.
const MOST_DEMANDS: u8 = 2;
/// Changing responses that are kept in mind.
const WINDOW: usize = 4;
/// Changing responses between two mild corrections.
const PAUSE: usize = 4;
/// Responses in which the undoing of one file may go on.
const UNDOING: u8 = 3;
/// Texts whose hashes are kept.
const MOST_SAID: usize = 64;
/// Files that the user let pass, and files whose undoing was seen, kept at most.
const MOST_FILES: usize = 64;
/// Earlier offences kept at most.
const MOST_EARLIER: usize = 8;

/// The course of a session.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Course {
    state: DriftState,
    #[serde(skip)]
    policy: Policy,
    /// Scores of the newest changing responses, oldest first.
    recent: VecDeque<u8>,
    /// What the correction of the state is about.
    offence: Offence,
    /// The correction of the state raised the escalation.
    has_raised: bool,
    /// Changing responses since the last correction was made.
    since: usize,
    /// Changing responses so far.
    responses: u64,
    demands: u8,
    /// What was done instead of following the last correction.
    instead: Option<String>,
    /// The goal, as a hash, and how many doubts were said under it.
    doubts: (u64, u8),
    /// The doubts that stand together.
    open_doubts: OpenDoubts,
    undoing: Option<Undoing>,
    /// What earlier corrections since the user's last words were about: undoing that is on the way back as well.
    earlier: Vec<Offence>,
    /// Files of which a change was taken for undoing; the next one has to prove it.
    undone: Vec<String>,
    /// What the correction of the state says was found, the gravest first, without the facts that are said with it.
    issues: Vec<String>,
    /// Facts that were found while the correction of the state waited, and are said with it.
    also: Vec<Assessed>,
    /// The id that the newest correction was made with, and how many others were.
    #[serde(default)]
    newest_id: Option<(CorrectionId, u32)>,
}

impl Course {
    /// Goes on from a state.
    pub fn new(state: DriftState, policy: Policy) -> Self {
        Self {
            state,
            policy,
            recent: VecDeque::new(),
            offence: Offence::default(),
            has_raised: false,
            since: PAUSE,
            responses: 0,
            demands: 0,
            instead: None,
            doubts: (0, 0),
            open_doubts: OpenDoubts::default(),
            undoing: None,
            earlier: Vec::new(),
            undone: Vec::new(),
            issues: Vec::new(),
            also: Vec::new(),
            newest_id: None,
        }
    }

    /// Goes on with a stored course under a policy.
    pub fn under(self, policy: Policy) -> Self {
        Self { policy, ..self }
    }

    /// Where the session stands.
    pub fn state(&self) -> &DriftState {
        &self.state
    }

    /// Goes on with an escalation of 0 to 3.
    pub fn escalate_to(&mut self, escalation: u8) {
        self.state.escalation = escalation.min(MAX_ESCALATION);
    }

    /// Whether corrections are made from now on.
    pub fn set_corrects(&mut self, corrects: bool) {
        self.policy.corrects = corrects;
        if !corrects {
            self.also.clear();
        }
    }

    /// At which point the session is, for verdicts that come later.
    pub fn standing(&self) -> Standing {
        Standing {
            responses: self.responses,
            prompts: self.state.prompts,
        }
    }

    /// The correction that waits to be said.
    pub fn pending(&self) -> Option<&Correction> {
        let correction = self.state.correction.as_ref();
        correction.filter(|correction| correction.delivered_at.is_none())
    }

    /// The correction that waits to be said, unless it waited too long or the prompt that comes with it overtakes it: a
    /// fact may still be one under what the prompt says, and a model's verdict may come between two prompts.
    pub fn sayable(&self, now: OffsetDateTime, with_prompt: bool) -> Option<&Correction> {
        let pending = self.pending()?;
        let is_overtaken = with_prompt && !self.outlives_prompts();
        (!is_overtaken && !self.is_late(pending, now)).then_some(pending)
    }

    fn is_late(&self, pending: &Correction, now: OffsetDateTime) -> bool {
        let most = self.policy.waits_at_most();
        most.is_some_and(|most| now - pending.made_at > most)
    }

    /// Whether the correction of the state may still be right under the next prompt.
    fn outlives_prompts(&self) -> bool {
        self.offence.outlives_prompts() || self.policy.doubts_outlive_prompts()
    }

    /// Judges one response by what was found of its actions. The worst one decides.
    pub fn respond(&mut self, response: &[Assessed], contract: &GoalContract, moment: Moment) -> Progress {
        let mut progress = Progress::default();
        let before = (
            self.state.mode,
            self.state.escalation,
            self.state.failed_recoveries,
        );
        self.put_back(response, contract, &moment, &mut progress);
        let obeyed = self.followed(response);
        let exempt = self.exempt(response, &obeyed);
        let eased: Vec<Assessed>;
        let response = if exempt.is_empty() {
            response
        } else {
            eased = eased_of(response, &exempt);
            &eased
        };
        for one in response.iter().filter(|one| !one.is_delegated) {
            self.open_doubts
                .acted(&one.action, &one.assessment, one.call.as_deref());
        }
        let moot = put_back_at_once(response);
        let skipped: Vec<usize> = obeyed.iter().chain(&moot).copied().collect();
        let worst = worst(response, &skipped);
        if worst.is_none() && obeyed.is_empty() {
            self.touch(progress.changed, moment.at);
            return progress;
        }
        let found = worst.map(|place| (place, &response[place]));
        let score = found.map(|(_, action)| action.assessment.score);
        let is_delegated = found.is_some_and(|(_, action)| action.is_delegated);
        let mut ignored = None;
        if !is_delegated {
            self.responses += 1;
            self.since = self.since.saturating_add(1);
            ignored = self.settle(score, !obeyed.is_empty(), moment.at, &mut progress);
            if let Some(score) = score {
                self.remember(score);
            }
            if ignored.is_some() {
                self.instead = found.map(|(_, action)| described(&action.action));
            }
        }
        let is_firm = found.is_some_and(|(_, action)| !is_soft(&action.assessment));
        self.move_on(score, is_firm, ignored.is_some(), is_delegated, &mut progress);
        let is_said = found.is_some_and(|(_, action)| self.is_said(action, contract));
        if let Some((place, action)) = found.filter(|_| is_said) {
            let least = ignored
                .filter(|_| is_firm && action.assessment.score < OFF_GOAL_BELOW)
                .map(stronger);
            let ground = Ground {
                issues: reasons(action),
                plan: way_back(contract, &action.action, &action.assessment.findings, is_firm),
                is_firm,
                least,
            };
            self.correct(Some(place), action, ground, contract, &moment, &mut progress);
        }
        let beside = |(place, _): &(usize, &Assessed)| {
            let made = progress.made.as_ref();
            !skipped.contains(place) && made.is_none_or(|(about, _)| *about != Some(*place))
        };
        let facts = response.iter().enumerate().filter(beside);
        let facts: Vec<&Assessed> = facts
            .map(|(_, one)| one)
            .filter(|one| has_hard(&one.assessment))
            .collect();
        progress.changed |= self.say_with_it(&facts, contract);
        progress.add(self.promote(contract, &moment));
        if let (Some((_, made)), Some(pending)) = (&mut progress.made, self.pending())
            && made.id == pending.id
        {
            made.clone_from(pending);
        }
        progress.followed = obeyed;
        progress.followed.extend(exempt);
        let after = (
            self.state.mode,
            self.state.escalation,
            self.state.failed_recoveries,
        );
        progress.changed |= before != after || progress.made.is_some() || !progress.settled.is_empty();
        self.touch(progress.changed, moment.at);
        progress
    }

    /// Takes in what a model says of a response that the rules have judged already. `since` is [`Course::standing`] when
    /// it was judged: what came after may have overtaken the verdict.
    pub fn judged(
        &mut self,
        response: &[Assessed],
        verdict: &DriftVerdict,
        since: Standing,
        contract: &GoalContract,
        moment: Moment,
    ) -> Progress {
        let mut progress = Progress::default();
        let Some(place) = worst(response, &[]) else {
            return progress;
        };
        let action = &response[place];
        let is_hard = has_hard(&action.assessment);
        let before = action.assessment.score;
        let score = combined(&action.assessment, verdict.score);
        let is_current = self.standing() == since;
        if score < OFF_GOAL_BELOW && is_current {
            if self.state.mode == SessionMode::Normal {
                self.state.mode = SessionMode::Drifted;
                progress.changed = true;
            }
            self.amend(before, score);
            let is_doubt_of_rules = self.state.correction.is_some() && !self.offence.is_firm;
            if is_doubt_of_rules && self.pending().is_none() && self.offence.is_of(action) {
                // It was told already; from now on it is more than a doubt.
                self.offence.is_firm = true;
            }
            let is_free = self.state.correction.is_none() || (is_doubt_of_rules && self.pending().is_some());
            if is_free && !is_hard && self.may_speak() && !self.is_let_pass(&action.action) {
                let judged = Assessed {
                    assessment: Assessment {
                        score,
                        findings: action.assessment.findings.clone(),
                    },
                    ..action.clone()
                };
                let plan = if verdict.recovery_plan.is_empty() {
                    way_back(contract, &action.action, &action.assessment.findings, true)
                } else {
                    verdict.recovery_plan.clone()
                };
                let mut issues = reasons(action);
                if !verdict.diagnostic.trim().is_empty() {
                    issues.insert(0, verdict.diagnostic.clone());
                }
                let ground = Ground {
                    issues,
                    plan,
                    is_firm: true,
                    least: None,
                };
                self.correct(Some(place), &judged, ground, contract, &moment, &mut progress);
                if progress.made.is_some() {
                    self.offence.judged_under = Some(contract.goal.clone());
                }
            }
        } else if score >= OFF_GOAL_BELOW && before < OFF_GOAL_BELOW && is_current {
            // The rules were wrong about it.
            self.amend(before, score);
            let about_it =
                self.state.correction.as_ref().is_some_and(|correction| {
                    correction.step_id.is_some() && correction.step_id == action.step
                });
            if about_it {
                self.overtake(&mut progress);
                progress.add(self.promote(contract, &moment));
            }
            self.back_to_normal();
            progress.changed = true;
        }
        self.touch(progress.changed, moment.at);
        progress
    }

    /// The user said something.
    pub fn prompted(&mut self, spoken: Spoken, at: OffsetDateTime) -> Progress {
        let mut progress = Progress::default();
        self.state.prompts = self.state.prompts.saturating_add(1);
        self.recent.clear();
        self.earlier.clear();
        let delivered_at = self.state.correction.as_ref().and_then(|one| one.delivered_at);
        let was_read = delivered_at.is_some_and(|delivered_at| delivered_at < spoken.arrived_at);
        if was_read && !spoken.objects {
            keep(&mut self.state.consent.facts, self.offence.facts.clone());
            if !self.offence.is_hard {
                keep(&mut self.state.consent.files, self.offence.files.clone());
            }
        }
        // What a fact or a model says waits until it is looked at again, see [`Course::unsaid`].
        if was_read || (self.pending().is_some() && !self.outlives_prompts()) {
            self.overtake(&mut progress);
        }
        if self.state.correction.is_none() {
            self.back_to_normal();
        }
        progress.changed = true;
        self.touch(true, at);
        progress
    }

    /// What the correction is about that waits to be said and may outlive a prompt: whoever knows the prompt has to look
    /// whether it does.
    pub(crate) fn unsaid(&self) -> Option<&Offence> {
        self.pending()?;
        Some(&self.offence).filter(|_| self.outlives_prompts())
    }

    /// What the user said yes to and still holds, in the agent's own words.
    pub fn consented(&mut self, words: Vec<String>, at: OffsetDateTime) {
        self.state.consent.words = words;
        self.touch(true, at);
    }

    /// The user was asked about an action and let it run.
    pub(crate) fn allowed(&mut self, one: &Assessed, at: OffsetDateTime) -> Progress {
        self.amend(one.assessment.score, ON_GOAL_FROM);
        if self.offence.call.is_some() && self.offence.call == one.call {
            if self.pending().is_some() {
                return self.dismiss(at);
            }
            let mut progress = Progress::default();
            self.overtake(&mut progress);
        }
        if self.state.correction.is_none() && self.state.mode != SessionMode::Forced {
            self.back_to_normal();
        }
        self.touch(true, at);
        Progress::default()
    }

    /// The user asked for something new.
    pub fn asked_anew(&mut self) {
        self.open_doubts.settled();
    }

    /// A call failed: it changed nothing.
    pub fn failed(&mut self, call: &str) {
        self.open_doubts.failed(call);
    }

    /// What waits to be said is right no more: the user allowed it meanwhile, or it did not happen.
    pub fn dismiss(&mut self, at: OffsetDateTime) -> Progress {
        let mut progress = Progress::default();
        let Some(score) = self.pending().map(|pending| pending.score) else {
            return progress;
        };
        if self.recent.back() == Some(&score) {
            self.recent.pop_back();
        }
        self.overtake(&mut progress);
        if self.state.mode != SessionMode::Forced {
            self.back_to_normal();
        }
        progress.changed = true;
        self.touch(true, at);
        progress
    }

    /// The tool call that the correction which waits to be said is about.
    pub fn pending_call(&self) -> Option<&str> {
        self.pending()?;
        self.offence.call.as_deref()
    }

    /// Whether a subagent did what the correction that waits to be said is about.
    pub fn is_pending_delegated(&self) -> bool {
        self.pending().is_some() && self.offence.is_delegated
    }

    /// A person had the correction of the state forgotten.
    pub fn forget(&mut self, at: OffsetDateTime) {
        self.state.correction = None;
        self.offence = Offence::default();
        self.issues.clear();
        self.also.clear();
        self.instead = None;
        self.touch(true, at);
    }

    /// A judge was asked.
    pub fn asked_judge(&mut self, at: OffsetDateTime) {
        self.state.judged_at_prompt = self.state.prompts;
        self.touch(true, at);
    }

    /// A correction was put into a request, as it is given here. Whether it is still the one of the state.
    pub fn delivered(&mut self, said: &Correction, at: OffsetDateTime) -> bool {
        let Some(correction) = self.state.correction.as_mut().filter(|one| one.id == said.id) else {
            return false;
        };
        // It may have got other words meanwhile, which the agent has not read.
        let is_whole = correction.text == said.text;
        correction.clone_from(said);
        correction.delivered_at = Some(at);
        // What there was no room for, or came after the words went out, is still to be said.
        let issues = self.said_issues();
        let shown = &issues[..issues.len().min(MOST_ISSUES)];
        let is_said = |one: &Assessed| is_whole && facts(one).iter().all(|reason| shown.contains(reason));
        let (told, left): (Vec<Assessed>, Vec<Assessed>) =
            std::mem::take(&mut self.also).into_iter().partition(is_said);
        self.also = left;
        for one in &told {
            self.remember_earlier(Offence::of(one, true));
        }
        let Some(correction) = &self.state.correction else {
            return false;
        };
        let hash = correction::hash(&correction.text);
        self.state.said.push(hash);
        let surplus = self.state.said.len().saturating_sub(MOST_SAID);
        self.state.said.drain(..surplus);
        self.touch(true, at);
        true
    }

    /// What was said last was taken back before anybody read it.
    pub fn taken_back(&mut self, at: OffsetDateTime) -> bool {
        let Some(correction) = self
            .state
            .correction
            .as_mut()
            .filter(|one| one.delivered_at.is_some())
        else {
            return false;
        };
        correction.delivered_at = None;
        self.state.said.pop();
        self.touch(true, at);
        true
    }

    /// A model's words for the demand that waits to be said.
    pub fn reword(
        &mut self,
        id: &CorrectionId,
        recovery: &grov_domain::ForcedRecovery,
        contract: &GoalContract,
        at: OffsetDateTime,
    ) -> bool {
        let Some(mut correction) = self.pending().filter(|one| one.id == *id).cloned() else {
            return false;
        };
        correction.recovery_plan = vec![recovery.mandatory_action.clone()];
        correction.reason.clone_from(&recovery.recovery_prompt);
        self.issues = vec![recovery.recovery_prompt.clone()];
        correction.text = self.worded(&correction, &self.said_issues(), contract);
        self.state.correction = Some(correction);
        self.touch(true, at);
        true
    }

    /// Takes over what was known of the session before this program saw it. What was `spoken` since, as far as it is known,
    /// counts for it as if it were spoken now. Changed is the state if it is another one than the stored one.
    pub fn resume(&mut self, stored: DriftState, spoken: &[Spoken], at: OffsetDateTime) -> Progress {
        let live = &mut self.state;
        let is_untouched = live.mode == SessionMode::Normal && live.correction.is_none();
        let mut progress = Progress {
            changed: !is_untouched || live.prompts > 0,
            ..Progress::default()
        };
        let spoken = if is_untouched { spoken } else { &[] };
        let since = u64::try_from(spoken.len()).unwrap_or(u64::MAX);
        live.prompts = live.prompts.saturating_sub(since).saturating_add(stored.prompts);
        live.judged_at_prompt = live.judged_at_prompt.max(stored.judged_at_prompt);
        live.escalation = live.escalation.max(stored.escalation);
        let mut said = stored.said;
        said.append(&mut live.said);
        live.said = said;
        let since = std::mem::replace(&mut live.consent, stored.consent);
        keep(&mut live.consent.files, since.files);
        keep(&mut live.consent.facts, since.facts);
        keep(&mut live.consent.words, since.words);
        live.updated_at = live.updated_at.max(stored.updated_at);
        if is_untouched {
            live.mode = stored.mode;
            live.failed_recoveries = stored.failed_recoveries;
            live.correction = stored.correction;
            live.is_fact = stored.is_fact;
            let is_hard = live.is_fact;
            if let Some(correction) = &live.correction {
                let files = correction.recovery_plan.iter().take(1);
                self.offence = Offence {
                    files: files.filter_map(|step| step.file.clone()).collect(),
                    // A doubt is never that strong.
                    is_firm: is_hard || correction.level > CorrectionLevel::Correct,
                    is_hard,
                    call: correction.tool_use_id.clone(),
                    step: correction.step_id.clone(),
                    ..Offence::default()
                };
                self.demands = u8::from(correction.level == CorrectionLevel::Forced);
            }
        }
        let latest = self.state.updated_at;
        self.touch(progress.changed, latest);
        for one in spoken {
            let came = self.prompted(*one, at);
            progress.settled.extend(came.settled);
            progress.expired += came.expired;
        }
        progress
    }
}

impl Course {
    /// What became of the correction of the state. The level of a firm one that was not followed.
    fn settle(
        &mut self,
        score: Option<u8>,
        is_followed: bool,
        at: OffsetDateTime,
        progress: &mut Progress,
    ) -> Option<CorrectionLevel> {
        let correction = self.state.correction.as_ref()?;
        if correction.delivered_at.is_none() {
            let is_stale = self.is_late(correction, at);
            let is_moot = score.is_none_or(|score| score >= ON_GOAL_FROM) && !self.offence.is_hard;
            if is_stale {
                self.also.clear();
            }
            if is_stale || is_moot {
                self.overtake(progress);
            }
            return None;
        }
        let enough = if correction.score < OFF_GOAL_BELOW {
            OFF_GOAL_BELOW
        } else {
            ON_GOAL_FROM
        };
        let is_back = is_followed || score.is_none_or(|score| score >= enough);
        let level = correction.level;
        // Work on the goal goes on while what a constraint forbids still stands: that is no undoing.
        let is_left = self.offence.is_hard && !self.offence.files.is_empty() && !is_followed;
        let outcome = if is_back && !is_left {
            CorrectionOutcome::Followed
        } else {
            CorrectionOutcome::Ignored
        };
        if is_followed {
            self.undoing = Some(Undoing {
                offence: self.offence.clone(),
                left: UNDOING,
            });
        }
        self.end(outcome, progress);
        (!is_back && self.offence.is_firm).then_some(level)
    }

    /// Mode, failures and escalation after a response.
    fn move_on(
        &mut self,
        score: Option<u8>,
        is_firm: bool,
        is_ignored: bool,
        is_delegated: bool,
        progress: &mut Progress,
    ) {
        let state = &mut self.state;
        let is_off = score.is_some_and(|score| score < OFF_GOAL_BELOW);
        if is_ignored && is_off {
            state.failed_recoveries = state.failed_recoveries.saturating_add(1).min(FAILURES_TO_FORCE);
        }
        if is_off && state.mode != SessionMode::Forced {
            let is_forced = is_firm && state.failed_recoveries >= FAILURES_TO_FORCE;
            progress.is_forced_now = is_forced;
            state.mode = if is_forced {
                SessionMode::Forced
            } else {
                SessionMode::Drifted
            };
        }
        if !is_off
            && !is_delegated
            && self
                .pending()
                .is_none_or(|pending| pending.score >= OFF_GOAL_BELOW)
        {
            self.back_to_normal();
        }
        if !is_delegated && score.is_some_and(|score| score >= ON_GOAL_FROM) {
            self.state.escalation = lowered(self.state.escalation);
        }
    }

    /// Whether something is said about an action, see the head of this module.
    fn is_said(&self, action: &Assessed, contract: &GoalContract) -> bool {
        let score = action.assessment.score;
        if score >= ON_GOAL_FROM || !self.may_speak() {
            return false;
        }
        let is_hard = has_hard(&action.assessment);
        if let Some(pending) = self.pending()
            && (pending.score <= score && (self.offence.is_hard || !is_hard))
        {
            return false;
        }
        if is_hard {
            return true;
        }
        if self.is_let_pass(&action.action) {
            return false;
        }
        if is_soft(&action.assessment) {
            return self.open_doubts.are_due()
                && self.doubts_under(contract) < MOST_DOUBTS
                && self.state.mode != SessionMode::Forced;
        }
        if score < OFF_GOAL_BELOW {
            return true;
        }
        let doubtful = self.recent.iter().filter(|score| **score < ON_GOAL_FROM);
        let persists = self.state.escalation > 0 || doubtful.count() >= 3;
        persists && self.since >= PAUSE
    }

    fn may_speak(&self) -> bool {
        self.policy.corrects && (self.state.mode != SessionMode::Forced || self.demands < MOST_DEMANDS)
    }

    fn is_let_pass(&self, action: &ActionSketch) -> bool {
        let passes = |file: &String| {
            let let_pass = &self.state.consent.files;
            let_pass.iter().any(|own| is_same_file(own, file))
        };
        !action.files.is_empty() && action.files.iter().all(passes)
    }

    fn back_to_normal(&mut self) {
        self.state.mode = SessionMode::Normal;
        self.state.failed_recoveries = 0;
        self.demands = 0;
        self.instead = None;
    }

    fn remember(&mut self, score: u8) {
        if self.recent.len() >= WINDOW {
            self.recent.pop_front();
        }
        self.recent.push_back(score);
    }

    /// The newest score is another one than was thought.
    fn amend(&mut self, before: u8, score: u8) {
        if let Some(newest) = self.recent.back_mut().filter(|newest| **newest == before) {
            *newest = score;
        }
    }

    /// The time of a change is later than that of the one before, also when the clock was put back, in milliseconds: of two
    /// states that arrive in another order the later one is kept.
    fn touch(&mut self, changed: bool, at: OffsetDateTime) {
        if changed {
            let next = self.state.updated_at.saturating_add(Duration::milliseconds(1));
            self.state.updated_at = at.max(next);
        }
    }
}

/// How a goal is known again.
fn goal_of(contract: &GoalContract) -> u64 {
    correction::hash(contract.goal.trim())
}

/// Adds to a bounded list; the oldest go.
fn keep<T: PartialEq>(list: &mut Vec<T>, more: Vec<T>) {
    for one in more {
        if !list.contains(&one) {
            list.push(one);
        }
    }
    let surplus = list.len().saturating_sub(MOST_FILES);
    list.drain(..surplus);
}

#[cfg(test)]
mod tests;
