//! The session engine: events in, effects out.

use crate::action_batch::ActionBatch;
use crate::assessed_action::{AssessedAction, assess};
use crate::contract_builder::{GoalContractBuilder, IntentReader};
use crate::event::{CallResult, Effects, ObservedAction, PendingQuestion, SessionEvent};
use crate::findings::has_hard_finding;
use crate::objection::{approved_orders, has_objection};
use crate::permissions::Permissions;
use crate::policy::{Delivery, Policy};
use crate::preload::{BufferedEvent, Preload};
use crate::recheck::{NewPrompt, PendingRecheck, agreed_orders, still_applies};
use crate::state_machine::{DriftStateMachine, EventContext, PromptSummary, Transition};
use crate::verdict::{certain_findings, step_verdict, verdicts};
use grov_domain::{
    AskedCall, Assessment, ClientSessionId, Correction, DriftState, GoalContract, GoalEdit, Intent, JudgedBy,
    PromptReading, both_ends,
};
use grov_redact::Redactor;
use grov_scope::{Rules, is_assent};
use time::OffsetDateTime;

mod judging;

/// Bytes kept of each end of a text that the user agreed to.
const MAX_CONSENT_END: usize = 1024;
/// Maximum number of unanswered questions.
const MAX_QUESTIONS: usize = 8;
/// Follows one session: its goal contract, its actions, its drift state and its corrections.
///
/// [`apply`](Self::apply) takes the events of the session in the order in which they happened. The other methods query
/// the result, report deliveries and judge verdicts, and load stored history.
///
/// The engine is deterministic, does no I/O and has no errors: the same events have the same effects. The caller
/// supplies times, ids and stored data, and stores what the effects say.
pub struct SessionEngine {
    pub(crate) root: Option<String>,
    pub(crate) builder: GoalContractBuilder,
    pub(crate) rules: Option<Rules>,
    /// The version of the contract that the rules use.
    pub(crate) rules_version: Option<u64>,
    pub(crate) drift: DriftStateMachine,
    /// The agent's last text, which a "yes" agrees to.
    pub(crate) last_answer: Option<String>,
    /// Questions that the user has not answered.
    pub(crate) questions: Vec<PendingQuestion>,
    pub(crate) permissions: Permissions,
    /// Actions since the last check.
    pub(crate) batch: ActionBatch,
    /// Loading of the stored history.
    pub(crate) preload: Preload,
    /// Suspicions since the newest prompt for which a judge was asked.
    pub(crate) suspicions: u8,
    /// The score of the newest changing response.
    pub(crate) last_score: Option<u8>,
}

impl SessionEngine {
    /// Creates an engine for a session with unknown history. `root` is the absolute path of the project, to which paths
    /// are relative; `reader` extracts the intent of prompts.
    ///
    /// Until the history is known, only repetition and the worst dangers are found. It becomes known by
    /// [`start_with`](Self::start_with), by [`SessionEvent::Started`], or by [`begin_load`](Self::begin_load) and
    /// [`finish_load`](Self::finish_load).
    pub fn new(
        id: ClientSessionId,
        root: Option<&str>,
        policy: Policy,
        reader: IntentReader,
        at: OffsetDateTime,
    ) -> Self {
        Self {
            drift: DriftStateMachine::new(DriftState::new(id, at), policy),
            root: root.map(str::to_owned),
            builder: GoalContractBuilder::new(reader),
            rules: None,
            rules_version: None,
            last_answer: None,
            questions: Vec::new(),
            permissions: Permissions::default(),
            batch: ActionBatch::default(),
            preload: Preload::default(),
            suspicions: 0,
            last_score: None,
        }
    }

    /// Starts without loading history. `typed` are the instructions so far, if known, and `edits` all contract edits,
    /// both oldest first; `escalation` is 0 to 3.
    #[must_use]
    pub fn start_with(mut self, typed: Vec<String>, edits: &[GoalEdit], escalation: u8) -> Self {
        self.on_start();
        if !typed.is_empty() {
            self.builder.set_task(Intent::default(), typed);
        }
        self.builder.set_edits(edits.to_vec());
        self.drift.set_escalation(escalation);
        self.current_rules();
        self
    }

    /// Starts with a given contract, for a session without prompts.
    pub(crate) fn with_contract(mut self, contract: GoalContract) -> Self {
        self.on_start();
        self.builder = GoalContractBuilder::with_contract(contract);
        self.current_rules();
        self
    }

    /// Processes an event. Returns what the caller has to do.
    pub fn apply(&mut self, event: SessionEvent<'_>, context: &EventContext) -> Effects {
        match event {
            SessionEvent::Started => self.on_start(),
            SessionEvent::Prompt { text, arrived_at } => self.on_prompt(text, arrived_at, context),
            SessionEvent::Response(actions) => self.on_response(actions, context),
            SessionEvent::PriorAction(action) => Effects {
                assessed: vec![self.assess(action)],
                ..Effects::default()
            },
            SessionEvent::CallEnded(outcome) => self.on_call_ended(outcome, context),
            SessionEvent::QuestionAsked(question) => self.on_question(question),
            SessionEvent::AssistantText(text) => {
                self.last_answer = Some(text.to_owned());
                Effects::default()
            }
            SessionEvent::TurnEnded => {
                self.builder.turn_ended();
                Effects::default()
            }
            SessionEvent::PermissionAsked(calls) => self.on_permissions_asked(calls, context),
            SessionEvent::GoalEdited(edits) => {
                self.builder.set_edits(edits);
                Effects::default()
            }
            SessionEvent::PromptsRead { read_to, reading } => self.on_prompts_read(read_to, reading, context),
            SessionEvent::CorrectionsEnabled(corrects) => {
                self.drift.set_corrections_enabled(corrects);
                Effects::of(if corrects {
                    Transition::default()
                } else {
                    self.drift.drop_pending(context.at)
                })
            }
        }
    }

    fn on_start(&mut self) -> Effects {
        if self.preload.is_loaded() {
            if !self.builder.contract().instructions.is_empty() {
                self.builder.reset();
            }
        } else {
            self.builder.mark_complete();
            self.preload.mark_loaded();
        }
        Effects::default()
    }

    fn on_prompt(&mut self, text: &str, arrived_at: OffsetDateTime, context: &EventContext) -> Effects {
        let answer = self.last_answer.take();
        self.preload.push(|| BufferedEvent::Prompt {
            prompt: crate::contract_builder::sanitize_prompt(text),
            orders: agreed_orders(text, answer.as_deref()).map(|orders| sanitize_consent(&orders)),
        });
        let has_content = self.builder.add_prompt(text);
        self.current_rules().record_prompt();
        if has_content {
            self.drift.on_new_request();
        }
        if !is_assent(text) {
            // A yes holds until the user says more than another yes.
            self.current_rules().forget_consents();
            self.drift.set_consents(Vec::new(), context.at);
        } else if let Some(answer) = &answer {
            self.current_rules().record_output(answer);
        }
        if let Some(orders) = agreed_orders(text, answer.as_deref()) {
            self.add_consent(&orders, context.at);
        }
        let summary = PromptSummary {
            has_objection: has_objection(text),
            arrived_at,
        };
        self.preload.push_prompt(summary);
        let mut transition = self.drift.on_prompt(summary, context.at);
        let new_prompt = NewPrompt {
            has_content,
            prompt: text,
            last_answer: answer.as_deref(),
        };
        self.recheck_pending(&new_prompt, context, &mut transition);
        self.suspicions = 0;
        self.preload.supersede_unresolved();
        Effects::of(transition)
    }

    /// A correction that waits is dropped if the model read that the user permits the action.
    fn on_prompts_read(&mut self, read_to: &str, reading: PromptReading, context: &EventContext) -> Effects {
        let mut transition = Transition::default();
        if self.builder.set_reading(read_to, reading) {
            let no_prompt = NewPrompt {
                has_content: false,
                prompt: "",
                last_answer: None,
            };
            self.recheck_pending(&no_prompt, context, &mut transition);
        }
        Effects::of(transition)
    }

    /// Drops the pending correction and off-goal actions that the new prompt permits.
    pub(crate) fn recheck_pending(
        &mut self,
        new_prompt: &NewPrompt<'_>,
        context: &EventContext,
        transition: &mut Transition,
    ) {
        let pending = self.drift.pending_violation().cloned();
        if pending.is_none() && !self.batch.is_off_goal() && !self.drift.has_attached_facts() {
            return;
        }
        let rules = self.current_rules().clone();
        let contract = self.builder.contract();
        if new_prompt.has_content {
            self.batch.recheck(&rules);
        }
        let is_still_violation =
            |one: &AssessedAction| has_hard_finding(&rules.without_history().assess_subagent(&one.action));
        transition.state_changed |= self.drift.retain_attached(contract, is_still_violation);
        if pending.is_some_and(|violation| !still_applies(&violation, contract, rules.clone(), new_prompt)) {
            transition.add(self.drift.drop_pending(context.at));
        }
        transition.add(self.drift.promote_attached(contract, context));
    }

    /// Assesses an action. Without history, only certain findings count.
    fn assess(&mut self, observed: ObservedAction) -> AssessedAction {
        if observed.step.is_some() {
            self.preload.push(|| BufferedEvent::Action(observed.clone()));
        }
        let call = observed.call.as_deref();
        let is_allowed = call.is_some_and(|call| self.permissions.was_allowed(call));
        let rules = self.current_rules();
        if is_allowed {
            rules.grant(&observed.action, call);
        }
        let mut assessed = assess(rules, observed);
        if is_allowed {
            assessed.assessment = Assessment::on_goal();
        } else if !self.preload.is_loaded() || !self.builder.is_complete() {
            assessed.assessment = certain_findings(assessed.assessment, self.preload.is_loaded());
        }
        assessed
    }

    fn on_response(&mut self, actions: Vec<ObservedAction>, context: &EventContext) -> Effects {
        let is_main = actions.iter().all(|action| !action.is_delegated);
        let mut response = Vec::with_capacity(actions.len());
        for action in actions {
            let assessed = self.assess(action);
            if has_hard_finding(&assessed.assessment) {
                self.permissions.add(assessed.clone());
            }
            response.push(assessed);
        }
        // Without the history, an action without findings may still be a violation.
        let is_inconclusive =
            !self.preload.is_loaded() && response.iter().all(|one| one.assessment.findings.is_empty());
        self.preload.response_judged(is_inconclusive, &response);
        let judged = if is_inconclusive { &[][..] } else { &response };
        let contract = self.builder.contract();
        let transition = self.drift.on_response(judged, contract, context);
        let mut effects = Effects {
            verdicts: verdicts(&response, &transition),
            ..Effects::default()
        };
        self.batch.add_all(&response, &effects.verdicts);
        if self.drift.policy.delivery == Delivery::PerAction {
            self.batch.take();
        }
        let asks_judge = self.drift.policy.check_interval > 0;
        if transition.entered_forced_mode
            && asks_judge
            && let Some((_, correction)) = &transition.new_correction
        {
            effects
                .judge_requests
                .push((self.forced_recovery_request(&response, correction), None));
        }
        if is_main
            && asks_judge
            && let Some(trigger) = self.trigger_for(&response)
        {
            effects
                .judge_requests
                .push((self.verdict_request(&response), Some(trigger)));
        }
        effects.transition = transition;
        effects.transition.state_changed |= self.expire_consents(context.at);
        effects.assessed = response;
        effects
    }

    fn on_call_ended(&mut self, outcome: CallResult<'_>, context: &EventContext) -> Effects {
        let CallResult {
            call,
            failed,
            output,
            is_delegated,
        } = outcome;
        let mut effects = Effects::default();
        self.current_rules().record_result(call, failed);
        self.preload.push(|| BufferedEvent::Ended {
            call: call.to_owned(),
            failed,
        });
        if failed && self.permissions.may_be_refused(call) {
            // The user was asked about the call and may have refused it.
            self.current_rules().revoke(call);
        }
        if !is_delegated {
            if let Some(output) = output {
                self.current_rules().record_output(output);
                self.preload
                    .push(|| BufferedEvent::OutputShown(output.to_owned()));
            }
            let asked = self.questions.iter().position(|question| question.call == call);
            if let Some(question) = asked.map(|index| self.questions.swap_remove(index))
                && let Some(orders) = approved_orders(question.plan.as_deref(), failed, output)
            {
                self.add_consent(&orders, context.at);
                if question.plan.is_some() {
                    self.current_rules().lift_read_only();
                }
                effects.transition.state_changed = true;
            }
        }
        effects.needs_permission_lookup = self.permissions.ended(call, failed);
        let allowed = self.permissions.answered();
        effects.needs_permission_lookup &= allowed.is_empty();
        self.on_allowed(allowed, context, &mut effects);
        if failed {
            // A failed call changed nothing, so it is not corrected.
            self.batch.drop_call(call);
            let contract = self.builder.contract();
            let dropped = self.drift.on_call_failed(call, contract, context);
            effects.transition.add(dropped);
        }
        effects
    }

    fn on_question(&mut self, question: PendingQuestion) -> Effects {
        if self.questions.len() >= MAX_QUESTIONS {
            self.questions.remove(0);
        }
        self.questions.push(question);
        Effects::default()
    }

    fn on_permissions_asked(&mut self, calls: &[AskedCall], context: &EventContext) -> Effects {
        let mut effects = Effects::default();
        let allowed = self.permissions.asked(calls);
        self.on_allowed(allowed, context, &mut effects);
        effects
    }

    /// Processes actions that ran after the user was asked about them.
    fn on_allowed(&mut self, actions: Vec<AssessedAction>, context: &EventContext, effects: &mut Effects) {
        let is_allowed = |also: &AssessedAction| actions.iter().any(|one| one.call == also.call);
        let contract = self.builder.contract();
        effects.transition.state_changed |= self.drift.retain_attached(contract, |also| !is_allowed(also));
        for one in actions {
            effects.later_verdicts.extend(
                one.step
                    .clone()
                    .map(|step| (step, step_verdict(10, JudgedBy::Rules, Vec::new(), None))),
            );
            self.current_rules().grant(&one.action, one.call.as_deref());
            self.preload.push(|| BufferedEvent::Allowed {
                action: one.action.clone(),
                call: one.call.clone(),
            });
            if let Some(call) = &one.call {
                self.batch.drop_call(call);
            }
            effects.transition.add(self.drift.on_allowed(&one, context.at));
            effects.transition.state_changed = true;
        }
        let contract = self.builder.contract();
        effects
            .transition
            .add(self.drift.promote_attached(contract, context));
    }

    /// Records what the user asked for by agreeing to a question or plan of the agent.
    fn add_consent(&mut self, orders: &str, at: OffsetDateTime) {
        self.current_rules().record_consent(orders);
        let kept = sanitize_consent(orders);
        self.preload.push(|| BufferedEvent::Consent(kept.clone()));
        let mut all = self.drift.state().consent.orders.clone();
        all.retain(|known| *known != kept);
        all.push(kept);
        if let Some(rules) = self.rules.as_ref().filter(|_| self.preload.is_loaded()) {
            all.drain(..all.len().saturating_sub(rules.consents().len()));
        }
        self.drift.set_consents(all, at);
    }

    /// Drops consents that ended with another task. Returns whether there were any.
    fn expire_consents(&mut self, at: OffsetDateTime) -> bool {
        let rules = self.rules.as_ref();
        let is_over = self.preload.is_loaded()
            && rules.is_some_and(|rules| rules.consents().is_empty())
            && !self.drift.state().consent.orders.is_empty();
        if is_over {
            self.drift.set_consents(Vec::new(), at);
        }
        is_over
    }

    /// Returns the rules with the current contract.
    pub(crate) fn current_rules(&mut self) -> &mut Rules {
        let (contract, version) = (self.builder.contract(), self.builder.version());
        let rules = self
            .rules
            .get_or_insert_with(|| Rules::new(contract.clone(), self.root.as_deref()));
        // Comparing contracts is slow, and they rarely change.
        if self.rules_version.replace(version) != Some(version) && rules.contract() != contract {
            rules.set_contract(contract.clone());
        }
        rules
    }
}

/// Queries, and reports of deliveries and judge verdicts.
impl SessionEngine {
    /// Returns the goal contract, including edits.
    pub fn contract(&self) -> &GoalContract {
        self.builder.contract()
    }

    /// Returns the goal contract without edits that would result from adding these prompts. The engine is not changed.
    pub fn typed_contract_with<'a>(&self, prompts: impl IntoIterator<Item = &'a str>) -> GoalContract {
        let mut prompts = prompts.into_iter().peekable();
        if prompts.peek().is_none() {
            return self.builder.typed_contract().clone();
        }
        let mut builder = self.builder.clone();
        for prompt in prompts {
            builder.add_prompt(prompt);
        }
        builder.typed_contract().clone()
    }

    /// Returns the drift state machine, which has the drift state of the session and the pending correction.
    pub fn drift(&self) -> &DriftStateMachine {
        &self.drift
    }

    /// Sets the folder to which paths are relative, unless it is known. `root` is called only if needed.
    pub fn set_root(&mut self, root: impl FnOnce() -> Option<String>) {
        if self.root.is_none() {
            self.root = root();
        }
    }

    /// What of the agent's questions and plans the user agreed to, oldest first; nothing after a "stop".
    pub fn consents(&self) -> &[String] {
        self.rules.as_ref().map_or(&[], Rules::consents)
    }

    /// Whether the user lifted a constraint to change nothing, by agreeing to a question or approving a plan.
    pub fn is_released(&self) -> bool {
        self.rules
            .as_ref()
            .is_some_and(|rules| rules.lifted_read_only().is_some())
    }

    /// Returns a check of the pending correction against a prompt that the engine has not processed yet. Returns `None`
    /// if no correction is pending, or if the next prompt drops it in any case.
    pub fn pending_recheck(&self) -> Option<PendingRecheck> {
        Some(PendingRecheck {
            builder: self.builder.clone(),
            rules: self.rules.clone().filter(|_| self.preload.is_loaded()),
            last_answer: self.last_answer.clone(),
            violation: self.drift.pending_violation()?.clone(),
        })
    }

    /// Whether this call has a hard finding, and it is unknown whether the user allowed the call.
    pub fn is_permission_open(&self, call: &str) -> bool {
        self.permissions.is_open(call)
    }

    /// Reports the end of a call before the exchange with its result is processed. A failed call changed nothing, so what
    /// was found about it is removed from the pending correction.
    pub fn note_call_ended(&mut self, call: &str, failed: bool) {
        self.permissions.ended(call, failed);
        if failed {
            let contract = self.builder.contract();
            self.drift
                .retain_attached(contract, |one| one.call.as_deref() != Some(call));
        }
    }

    /// Records that a correction was delivered to the agent. Returns `false` if another correction has replaced it.
    pub fn mark_delivered(&mut self, delivered: &Correction, at: OffsetDateTime) -> bool {
        self.current_rules().request_revert();
        self.drift.mark_delivered(delivered, at)
    }

    /// Reverts the last delivery, because the agent has not received it. Returns `false` if there was none.
    pub fn mark_undelivered(&mut self, at: OffsetDateTime) -> bool {
        self.drift.mark_undelivered(at)
    }

    /// Removes the current correction, because a person deleted its text.
    pub fn clear_correction(&mut self, at: OffsetDateTime) {
        self.drift.clear_correction(at);
    }

    /// Checks all actions since the last check together. Returns `None` if there are none.
    pub fn check(&mut self) -> Option<CheckResult> {
        if self.batch.actions == 0 {
            return None;
        }
        let batch = self.batch.take();
        Some(CheckResult {
            actions: batch.actions,
            score: batch.score(),
            reason: batch.reason(),
            files: batch.files(),
        })
    }

    /// Returns the score that [`check`](Self::check) would return now, 1 to 10.
    pub fn check_score(&self) -> u8 {
        self.batch.score()
    }

    /// Whether there are actions since the last check.
    pub fn has_unchecked_actions(&self) -> bool {
        self.batch.actions > 0
    }
}

/// The result of [`SessionEngine::check`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckResult {
    /// The number of checked actions.
    pub actions: u64,
    /// 1 (far off) to 10 (on goal).
    pub score: u8,
    /// The most severe deviation, one sentence.
    pub reason: Option<String>,
    /// The files that deviate.
    pub files: Vec<String>,
}

/// Redacts a text that the user agreed to and shortens a long one to both ends. It is cut after redaction: the redactor
/// does not recognize half a secret.
fn sanitize_consent(text: &str) -> String {
    let safe = Redactor::shared().redact(text);
    both_ends(&safe, MAX_CONSENT_END, "\n").into_owned()
}

#[cfg(test)]
mod tests;
