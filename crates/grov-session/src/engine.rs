//! The story of a session, told once: events in, effects out.

use crate::assessed::Assessed;
use crate::course::{Course, Moment, Progress, Spoken, Standing};
use crate::event::{Effects, Observed, Outcome, Question, SessionEvent};
use crate::holding::{Agreement, IntentReader, TaskGoal};
use crate::inquiry::{Asked, Inquiry, Occasion, is_suspicious};
use crate::level::ON_GOAL_FROM;
use crate::objection::{agreed, objects};
use crate::past::{Event, Past};
use crate::permissions::Permissions;
use crate::policy::{Delivery, Policy};
use crate::reconsider::{Prompted, Reconsidered, consent, stands};
use crate::stretch::Stretch;
use crate::verdict::{acquitted, certain, verdicts};
use crate::way_back::has_hard;
use grov_domain::{
    AskedCall, Assessment, ClientSessionId, Correction, CorrectionId, DriftState, DriftVerdict,
    ForcedRecovery, GoalContract, GoalEdit, SessionMode, both_ends,
};
use grov_redact::Redactor;
use grov_scope::Rules;
use time::OffsetDateTime;

/// Bytes kept of each end of words that the user said yes to.
const CONSENT_END: usize = 1024;
/// Questions to the user that are not answered yet.
const MOST_QUESTIONS: usize = 8;
/// Suspicions for which a judge is asked, per prompt: a long turn must not use up the day's budget.
const MOST_SUSPICIONS: u8 = 2;

/// Follows one session: what the agent is held to, what it did, where it stands, what it is to hear.
///
/// Deterministic: the same events give the same effects. Time, ids and what is stored are handed in.
pub struct SessionEngine {
    pub(crate) policy: Policy,
    pub(crate) root: Option<String>,
    pub(crate) agreement: Agreement,
    pub(crate) rules: Option<Rules>,
    /// The version of the agreement that the rules are held to.
    pub(crate) held: Option<u64>,
    pub(crate) course: Course,
    /// What the agent said last: what a "yes" says yes to.
    pub(crate) last_answer: Option<String>,
    /// What the user was asked and has not answered yet.
    pub(crate) questions: Vec<Question>,
    pub(crate) permissions: Permissions,
    /// What was done since the last look.
    pub(crate) stretch: Stretch,
    /// What was before, as long as it is not known.
    pub(crate) past: Past,
    /// Suspicions for which a judge was asked since the newest prompt.
    pub(crate) suspicions: u8,
    /// The score of the newest changing response.
    pub(crate) last_score: Option<u8>,
}

impl SessionEngine {
    /// A session of which nothing is known yet. What lies before has to be handed in, see [`Stored`](crate::Stored); a
    /// conversation that [began](SessionEvent::Began) has nothing before it.
    pub fn new(
        id: ClientSessionId,
        root: Option<&str>,
        policy: Policy,
        reader: IntentReader,
        at: OffsetDateTime,
    ) -> Self {
        Self {
            course: Course::new(DriftState::new(id, at), policy),
            policy,
            root: root.map(str::to_owned),
            agreement: Agreement::new(reader),
            rules: None,
            held: None,
            last_answer: None,
            questions: Vec::new(),
            permissions: Permissions::default(),
            stretch: Stretch::default(),
            past: Past::default(),
            suspicions: 0,
            last_score: None,
        }
    }

    /// A session that begins, or goes on without its past: what was typed so far, where it is known, and what a person changed
    /// of the contract, oldest first. `escalation` is 0 to 3.
    pub fn begun(mut self, typed: Vec<String>, edits: &[GoalEdit], escalation: u8) -> Self {
        self.began();
        if !typed.is_empty() {
            self.agreement.work_on(TaskGoal::default(), typed);
        }
        self.agreement.edited(edits.to_vec());
        self.course.escalate_to(escalation);
        self.rules();
        self
    }

    /// A session that is held to this contract from its beginning to its end, whatever is typed.
    pub fn held_to(mut self, contract: GoalContract) -> Self {
        self.began();
        self.agreement = Agreement::on(contract);
        self.rules();
        self
    }

    /// Takes in what happened.
    pub fn apply(&mut self, event: SessionEvent<'_>, moment: &Moment) -> Effects {
        match event {
            SessionEvent::Began => self.began(),
            SessionEvent::Prompted { text, arrived_at } => self.prompted(text, arrived_at, moment),
            SessionEvent::Acted(actions) => self.acted(actions, moment),
            SessionEvent::ActedBefore(action) => Effects {
                assessed: vec![self.assessed(action)],
                ..Effects::default()
            },
            SessionEvent::Ended(outcome) => self.ended(outcome, moment),
            SessionEvent::Asks(question) => self.asks(question),
            SessionEvent::Said(text) => {
                self.last_answer = Some(text.to_owned());
                Effects::default()
            }
            SessionEvent::TurnEnded => {
                self.agreement.turn_ended();
                Effects::default()
            }
            SessionEvent::PermissionAsked(calls) => self.permission_asked(calls, moment),
            SessionEvent::GoalEdited(edits) => {
                self.agreement.edited(edits);
                Effects::default()
            }
            SessionEvent::Corrects(corrects) => {
                self.policy.corrects = corrects;
                self.course.set_corrects(corrects);
                Effects::of(if corrects {
                    Progress::default()
                } else {
                    self.course.dismiss(moment.at)
                })
            }
        }
    }

    fn began(&mut self) -> Effects {
        if self.past.is_known() {
            if !self.agreement.contract().instructions.is_empty() {
                self.agreement.begin();
            }
        } else {
            self.agreement.is_new();
            self.past.holds_nothing();
        }
        Effects::default()
    }

    fn prompted(&mut self, text: &str, arrived_at: OffsetDateTime, moment: &Moment) -> Effects {
        let answer = self.last_answer.take();
        self.past.keep(|| Event::Typed {
            prompt: crate::holding::kept_of(text),
            agrees_to: consent(false, text, answer.as_deref()).map(kept_consent),
        });
        let says_something = self.agreement.prompted(text);
        self.rules().prompted();
        if says_something {
            self.course.asked_anew();
        }
        if let Some(words) = consent(says_something, text, answer.as_deref()) {
            self.consented(words, moment.at);
        }
        let spoken = Spoken {
            objects: objects(text),
            arrived_at,
        };
        self.past.keep_spoken(spoken);
        let mut progress = self.course.prompted(spoken, moment.at);
        let prompted = Prompted {
            says_something,
            prompt: text,
            last_answer: answer.as_deref(),
        };
        self.reconsider(&prompted, moment, &mut progress);
        self.suspicions = 0;
        self.past.overtake();
        Effects::of(progress)
    }

    /// Drops what waits to be said, and what was done off the goal, where it is right no more under what was just typed.
    pub(crate) fn reconsider(&mut self, prompted: &Prompted<'_>, moment: &Moment, progress: &mut Progress) {
        let waits = self.course.unsaid().cloned();
        if waits.is_none() && !self.stretch.is_off_goal() && !self.course.has_more_to_say() {
            return;
        }
        let rules = self.rules().clone();
        let contract = self.agreement.contract();
        if prompted.says_something {
            self.stretch.reconsider(&rules);
        }
        let still = |one: &Assessed| has_hard(&rules.without_history().assess_delegated(&one.action));
        progress.changed |= self.course.keep_also(contract, still);
        if waits.is_some_and(|offence| !stands(&offence, contract, rules.clone(), prompted)) {
            progress.add(self.course.dismiss(moment.at));
        }
        progress.add(self.course.promote(contract, moment));
    }

    /// What the rules say of an action; it is in their memory from now on.
    fn assessed(&mut self, observed: Observed) -> Assessed {
        let Observed {
            action,
            call,
            step,
            is_delegated,
        } = observed;
        self.past
            .keep_action(&action, call.as_deref(), step.as_ref(), is_delegated);
        let is_allowed = call
            .as_deref()
            .is_some_and(|call| self.permissions.was_allowed(call));
        let rules = self.rules();
        if is_allowed {
            rules.allow(&action, call.as_deref());
        }
        let assessment = if is_delegated {
            rules.assess_delegated(&action)
        } else {
            rules.assess(&action, call.as_deref())
        };
        let put_back = rules.put_back().to_vec();
        let is_known = self.past.is_known() && self.agreement.is_whole();
        Assessed {
            action,
            step,
            call,
            assessment: if is_allowed {
                Assessment::on_goal()
            } else if is_known {
                assessment
            } else {
                certain(assessment, self.past.is_known())
            },
            is_delegated,
            put_back,
        }
    }

    fn acted(&mut self, actions: Vec<Observed>, moment: &Moment) -> Effects {
        let is_main = actions.iter().all(|action| !action.is_delegated);
        let mut response = Vec::with_capacity(actions.len());
        for action in actions {
            let assessed = self.assessed(action);
            if has_hard(&assessed.assessment) {
                self.permissions.add(assessed.clone());
            }
            response.push(assessed);
        }
        // Until what was done before is known, only a finding says anything; that there is none does not yet.
        let is_blind = !self.past.is_known() && response.iter().all(|one| one.assessment.findings.is_empty());
        self.past.concluded(is_blind, &response);
        let judged = if is_blind { &[][..] } else { &response };
        let contract = self.agreement.contract();
        let progress = self.course.respond(judged, contract, moment.clone());
        let mut effects = Effects {
            verdicts: verdicts(&response, &progress),
            ..Effects::default()
        };
        self.stretch.add_all(&response, &effects.verdicts);
        if self.policy.delivery == Delivery::PerAction {
            self.stretch.taken();
        }
        let asks_judge = self.policy.check_interval > 0;
        if progress.is_forced_now
            && asks_judge
            && let Some((_, correction)) = &progress.made
        {
            effects.inquiries.push((self.demand(&response, correction), None));
        }
        if is_main
            && asks_judge
            && let Some(occasion) = self.occasion(&response)
        {
            effects.inquiries.push((self.inquiry(&response), Some(occasion)));
        }
        effects.progress = progress;
        effects.progress.changed |= self.drop_consents(moment.at);
        effects.assessed = response;
        effects
    }

    fn ended(&mut self, outcome: Outcome<'_>, moment: &Moment) -> Effects {
        let Outcome {
            call,
            failed,
            output,
            is_delegated,
        } = outcome;
        let mut effects = Effects::default();
        self.rules().ended(call, failed);
        self.past.keep(|| Event::Ended {
            call: call.to_owned(),
            failed,
        });
        if failed && self.permissions.may_be_refused(call) {
            // They said no, unless it ran and failed by itself.
            self.rules().disallow(call);
        }
        if !is_delegated {
            if let Some(output) = output {
                self.rules().heard(output);
                self.past.keep(|| Event::Heard(output.to_owned()));
            }
            let asked = self.questions.iter().position(|question| question.call == call);
            if let Some(question) = asked.map(|place| self.questions.swap_remove(place))
                && let Some(words) = agreed(question.plan.as_deref(), failed, output)
            {
                self.consented(words, moment.at);
                if question.plan.is_some() {
                    self.rules().release();
                }
                effects.progress.changed = true;
            }
        }
        effects.wants_permissions = self.permissions.ended(call, failed);
        let allowed = self.permissions.answered();
        effects.wants_permissions &= allowed.is_empty();
        self.allowed(allowed, moment, &mut effects);
        if failed {
            // It changed nothing, so there is nothing to be said of it.
            self.stretch.drop_call(call);
            self.course.failed(call);
            let is_about_it = self.course.pending_call() == Some(call);
            let contract = self.agreement.contract();
            effects.progress.changed |= self
                .course
                .keep_also(contract, |one| one.call.as_deref() != Some(call));
            if is_about_it {
                effects.progress.add(self.course.dismiss(moment.at));
                effects.progress.add(self.course.promote(contract, moment));
            }
        }
        effects
    }

    fn asks(&mut self, question: Question) -> Effects {
        if self.questions.len() >= MOST_QUESTIONS {
            self.questions.remove(0);
        }
        self.questions.push(question);
        Effects::default()
    }

    fn permission_asked(&mut self, calls: &[AskedCall], moment: &Moment) -> Effects {
        let mut effects = Effects::default();
        let allowed = self.permissions.asked(calls);
        self.allowed(allowed, moment, &mut effects);
        effects
    }

    /// The user was asked about these actions, and they ran.
    fn allowed(&mut self, actions: Vec<Assessed>, moment: &Moment, effects: &mut Effects) {
        let is_allowed = |also: &Assessed| actions.iter().any(|one| one.call == also.call);
        let contract = self.agreement.contract();
        effects.progress.changed |= self.course.keep_also(contract, |also| !is_allowed(also));
        for one in actions {
            effects
                .later_verdicts
                .extend(one.step.clone().map(|step| (step, acquitted())));
            self.rules().allow(&one.action, one.call.as_deref());
            self.past.keep(|| Event::Allowed {
                action: one.action.clone(),
                call: one.call.clone(),
            });
            if let Some(call) = &one.call {
                self.stretch.drop_call(call);
            }
            effects.progress.add(self.course.allowed(&one, moment.at));
            effects.progress.changed = true;
        }
        let contract = self.agreement.contract();
        effects.progress.add(self.course.promote(contract, moment));
    }

    /// The user said yes to these words of the agent.
    fn consented(&mut self, words: &str, at: OffsetDateTime) {
        self.rules().consented(words);
        let kept = kept_consent(words);
        self.past.keep(|| Event::Agreed(kept.clone()));
        let mut all = self.course.state().consent.words.clone();
        all.retain(|known| *known != kept);
        all.push(kept);
        if let Some(rules) = self.rules.as_ref().filter(|_| self.past.is_known()) {
            all.drain(..all.len().saturating_sub(rules.consents().len()));
        }
        self.course.consented(all, at);
    }

    /// Drops what the user said yes to where another task ended it. Whether there was anything.
    fn drop_consents(&mut self, at: OffsetDateTime) -> bool {
        let rules = self.rules.as_ref();
        let is_over = self.past.is_known()
            && rules.is_some_and(|rules| rules.consents().is_empty())
            && !self.course.state().consent.words.is_empty();
        if is_over {
            self.course.consented(Vec::new(), at);
        }
        is_over
    }

    /// The reason to ask a judge about a response, if there is one.
    fn occasion(&mut self, response: &[Assessed]) -> Option<Occasion> {
        let scores = response
            .iter()
            .filter(|one| one.action.is_change() || one.assessment.score < ON_GOAL_FROM);
        let score = scores.map(|one| one.assessment.score).min()?;
        let before = self.last_score.replace(score);
        if !self.agreement.is_whole() || !self.past.is_known() {
            return None;
        }
        let state = self.course.state();
        let interval = u64::from(self.policy.check_interval.max(1));
        let is_due = state.prompts.saturating_sub(state.judged_at_prompt) >= interval;
        let is_hard = response.iter().any(|one| has_hard(&one.assessment));
        let is_suspicious = is_suspicious(score, before, is_hard)
            && self.suspicions < MOST_SUSPICIONS
            && state.mode != SessionMode::Forced;
        // A suspicion waits where a judge is being asked; what is merely due does not.
        is_suspicious
            .then_some(Occasion::Suspicion)
            .or(is_due.then_some(Occasion::Interval))
    }

    /// The rules, held to the contract as it is now.
    pub(crate) fn rules(&mut self) -> &mut Rules {
        let (contract, version) = (self.agreement.contract(), self.agreement.version());
        let rules = self
            .rules
            .get_or_insert_with(|| Rules::new(contract.clone(), self.root.as_deref()));
        // Contracts are long, and seldom other ones.
        if self.held.replace(version) != Some(version) && rules.contract() != contract {
            rules.hold_to(contract.clone());
        }
        rules
    }
}

/// What is looked at from outside, and what a judge and the delivery report back.
impl SessionEngine {
    /// What the agent is held to, with what a person changed.
    pub fn contract(&self) -> &GoalContract {
        self.agreement.contract()
    }

    /// The same, without what a person changed.
    pub fn typed(&self) -> &GoalContract {
        self.agreement.typed()
    }

    /// The same, as if these prompts were typed now. The engine does not take them in.
    pub fn typed_with<'a>(&self, prompts: impl IntoIterator<Item = &'a str>) -> GoalContract {
        let mut prompts = prompts.into_iter().peekable();
        if prompts.peek().is_none() {
            return self.agreement.typed().clone();
        }
        let mut agreement = self.agreement.clone();
        for prompt in prompts {
            agreement.prompted(prompt);
        }
        agreement.typed().clone()
    }

    /// Where the session stands.
    pub fn state(&self) -> &DriftState {
        self.course.state()
    }

    /// At which point the session is, for verdicts that come later.
    pub fn standing(&self) -> Standing {
        self.course.standing()
    }

    /// The folder that relative paths are meant from.
    pub fn root(&self) -> Option<&str> {
        self.root.as_deref()
    }

    /// Sets the folder that relative paths are meant from, unless it is known.
    pub fn set_root(&mut self, root: impl FnOnce() -> Option<String>) {
        if self.root.is_none() {
            self.root = root();
        }
    }

    /// The agent's own words that the user said yes to and that still hold, oldest first.
    pub fn consents(&self) -> &[String] {
        self.rules.as_ref().map_or(&[], Rules::consents)
    }

    /// Whether the user let go of the wish that nothing be changed, by a "yes" to a question or a plan.
    pub fn is_released(&self) -> bool {
        self.rules
            .as_ref()
            .is_some_and(|rules| rules.released().is_some())
    }

    /// The correction that waits to be said.
    pub fn pending(&self) -> Option<&Correction> {
        self.course.pending()
    }

    /// The tool call that the correction which waits to be said is about.
    pub fn pending_call(&self) -> Option<&str> {
        self.course.pending_call()
    }

    /// The correction that is to be said now, if one is; `with_prompt`: together with a prompt that was not taken in yet.
    pub fn due(&self, now: OffsetDateTime, with_prompt: bool) -> Option<&Correction> {
        self.course.sayable(now, with_prompt)
    }

    /// What waits to be said, to be looked at under a prompt that was not taken in yet. `None`: the prompt has no bearing.
    pub fn reconsidered(&self) -> Option<Reconsidered> {
        Some(Reconsidered {
            agreement: self.agreement.clone(),
            rules: self.rules.clone().filter(|_| self.past.is_known()),
            last_answer: self.last_answer.clone(),
            offence: self.course.unsaid()?.clone(),
        })
    }

    /// Whether a subagent did what the correction that waits to be said is about.
    pub fn is_pending_delegated(&self) -> bool {
        self.course.is_pending_delegated()
    }

    /// Whether it is not known yet if the user allowed this call, though a fact is found of it.
    pub fn is_permission_open(&self, call: &str) -> bool {
        self.permissions.is_open(call)
    }

    /// A call ended, as far as what waits to be said goes: its exchange comes later.
    pub fn note_run(&mut self, call: &str, failed: bool) {
        self.permissions.ended(call, failed);
        if failed {
            let contract = self.agreement.contract();
            self.course
                .keep_also(contract, |one| one.call.as_deref() != Some(call));
        }
    }

    /// A correction was put before the agent, as it is given here. Whether it is still the one of the state.
    pub fn delivered(&mut self, said: &Correction, at: OffsetDateTime) -> bool {
        self.rules().told_to_undo();
        self.course.delivered(said, at)
    }

    /// What was said last was taken back before the agent read it. Whether anything was.
    pub fn taken_back(&mut self, at: OffsetDateTime) -> bool {
        self.course.taken_back(at)
    }

    /// A person had the correction of the state forgotten.
    pub fn forget_correction(&mut self, at: OffsetDateTime) {
        self.course.forget(at);
    }

    /// The question whether a response is on goal.
    pub fn inquiry(&self, response: &[Assessed]) -> Inquiry {
        let since = self.course.standing();
        self.asked(response, Asked::Verdict { since })
    }

    /// The question for the words of a demand.
    fn demand(&self, response: &[Assessed], correction: &Correction) -> Inquiry {
        let asked = Asked::Demand {
            correction: correction.id.clone(),
            reason: correction.reason.clone(),
        };
        self.asked(response, asked)
    }

    fn asked(&self, response: &[Assessed], asked: Asked) -> Inquiry {
        let contract = self.agreement.contract().clone();
        Inquiry::new(contract, self.root.as_deref(), response, asked)
    }

    /// A judge is being asked, for this reason.
    pub fn asked_judge(&mut self, occasion: Occasion, at: OffsetDateTime) {
        if occasion == Occasion::Suspicion {
            self.suspicions += 1;
        }
        self.course.asked_judge(at);
    }

    /// A model's verdict on a response.
    pub fn judged(&mut self, inquiry: &Inquiry, verdict: &DriftVerdict, moment: &Moment) -> Progress {
        let Asked::Verdict { since } = *inquiry.asked() else {
            return Progress::default();
        };
        let contract = self.agreement.contract();
        self.course
            .judged(inquiry.response(), verdict, since, contract, moment.clone())
    }

    /// A model's words for the demand that waits to be said. Whether it still waits.
    pub fn reword(&mut self, inquiry: &Inquiry, recovery: &ForcedRecovery, at: OffsetDateTime) -> bool {
        let Asked::Demand { correction, .. } = inquiry.asked() else {
            return false;
        };
        let id: &CorrectionId = correction;
        self.course.reword(id, recovery, inquiry.contract(), at)
    }

    /// Looks at everything that was done since the last look. `None`: nothing was.
    pub fn look(&mut self) -> Option<Look> {
        if self.stretch.actions == 0 {
            return None;
        }
        let stretch = self.stretch.taken();
        Some(Look {
            actions: stretch.actions,
            score: stretch.score(),
            reason: stretch.reason(),
            files: stretch.files(),
        })
    }

    /// What a look would give as its score.
    pub fn score_of_look(&self) -> u8 {
        self.stretch.score()
    }

    /// Whether anything was done since the last look.
    pub fn is_to_be_looked_at(&self) -> bool {
        self.stretch.actions > 0
    }
}

/// What the actions since the last look come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    /// Their number.
    pub actions: u64,
    /// 1 (far off) to 10 (on goal).
    pub score: u8,
    /// What deviates most, one sentence.
    pub reason: Option<String>,
    /// The files that deviate.
    pub files: Vec<String>,
}

/// What is kept of words that the user said yes to: of long ones both ends. Half a secret is none to the redactor, so they
/// are cut afterwards.
fn kept_consent(words: &str) -> String {
    let safe = Redactor::shared().redact(words);
    both_ends(&safe, CONSENT_END, "\n").into_owned()
}

#[cfg(test)]
mod tests;
