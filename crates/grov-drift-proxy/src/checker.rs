//! Translates live exchanges into events of the session engine, before they are recorded.

use crate::monitor::{DriftMonitor, Shared};
use crate::session::{Session, Slot};
use crate::work::Job;
use grov_domain::{ExchangeKind, OFF_GOAL_BELOW, StepVerdict};
use grov_live::{ActionChecker, CheckResult, PendingExchange};
use grov_session::{CallResult, Effects, EventContext, ObservedAction, PendingQuestion, SessionEvent};
use std::path::Path;
use std::sync::Arc;

impl ActionChecker for DriftMonitor {
    fn check(&self, exchange: &PendingExchange<'_>) -> CheckResult {
        let record = exchange.record;
        if record.project.path.is_none() || !record.kind.is_turn() {
            return CheckResult::default();
        }
        let slot = self.shared.slot(&record.client_session_id);
        let mut session = slot.session();
        let result = ExchangeCheck {
            context: self.shared.context(&session),
            shared: &self.shared,
            slot: &slot,
            exchange,
            is_main: record.kind == ExchangeKind::Main && record.agent_id.is_none(),
        }
        .run(&mut session);
        drop(session);
        slot.changed.notify_waiters();
        result
    }
}

struct ExchangeCheck<'a> {
    context: EventContext,
    shared: &'a Shared,
    slot: &'a Arc<Slot>,
    exchange: &'a PendingExchange<'a>,
    is_main: bool,
}

impl ExchangeCheck<'_> {
    fn run(&self, session: &mut Session) -> CheckResult {
        self.prepare(session);
        let mut changed = self.apply_results(session);
        if self.is_main {
            changed |= self.apply_prompts(session);
        }
        let (verdicts, is_changed) = self.apply_actions(session);
        changed |= is_changed;
        if self.is_main {
            self.apply_end(session);
        }
        let calls = self.exchange.record.steps.iter();
        for call in calls.filter_map(|step| step.action.tool_use_id.as_ref()) {
            session.mark_assessed(call);
        }
        CheckResult {
            verdicts,
            // Before the stored state is loaded, this state is incomplete and must not replace it.
            state: (changed && session.engine.is_state_loaded())
                .then(|| session.engine.drift().state().clone()),
        }
    }

    /// Starts loading the session if needed and follows a change of its task.
    fn prepare(&self, session: &mut Session) {
        session.is_observed = true;
        session
            .engine
            .set_root(|| root(self.exchange).map(|root| root.to_string_lossy().into_owned()));
        if !session.engine.is_history_loaded() && self.is_main && self.exchange.begins {
            self.apply(session, SessionEvent::Started);
        }
        self.shared.request_load(self.slot, session);
        if self.is_main && !session.engine.is_contract_complete() && !session.has_read_history {
            session.has_read_history = true;
            session.engine.inherit_prompts(&(self.exchange.earlier_prompts)());
        }
        let task = &self.exchange.record.session_id;
        // The record is then under the first task, which may not be the current one.
        if !self.exchange.task_is_known {
            return;
        }
        session.is_task_known |= self.is_main;
        if self.is_main && session.task != *task {
            session.task = task.clone();
            session.engine.switch_task();
            self.shared.request_refresh(self.slot, session);
        }
    }

    /// Applies whether corrections are enabled, and the results of tool calls. Returns whether the drift state changed.
    fn apply_results(&self, session: &mut Session) -> bool {
        let record = self.exchange.record;
        let is_off = self
            .shared
            .watcher
            .is_switched_off(&record.client_session_id, record.project.key());
        let corrects = self.shared.policy.corrects && !is_off;
        let mut changed = self.apply(session, SessionEvent::CorrectionsEnabled(corrects)).1;
        for result in self.exchange.results {
            session.mark_assessed(&result.tool_use_id);
            let outcome = CallResult {
                call: &result.tool_use_id,
                failed: result.failed,
                output: result.output.as_deref(),
                is_delegated: !self.is_main,
            };
            changed |= self.apply(session, SessionEvent::CallEnded(outcome)).1;
        }
        changed
    }

    /// Applies the user's prompts. Returns whether there were any.
    fn apply_prompts(&self, session: &mut Session) -> bool {
        let prompts = &self.exchange.record.prompts;
        if prompts.is_empty() {
            return false;
        }
        if self.exchange.begins {
            self.apply(session, SessionEvent::Started);
        }
        for prompt in prompts {
            let event = SessionEvent::Prompt {
                text: &prompt.text,
                arrived_at: self.exchange.record.started_at,
            };
            self.apply(session, event);
        }
        self.shared.request_refresh(self.slot, session);
        self.shared.enqueue(Job::ReadLimits(Arc::clone(self.slot)));
        true
    }

    /// Applies the agent's actions. Returns the verdicts on the steps, and whether the drift state changed.
    fn apply_actions(&self, session: &mut Session) -> (Vec<Option<StepVerdict>>, bool) {
        let steps = self.exchange.record.steps.iter().zip(self.exchange.actions);
        let observed = steps.map(|(step, action)| ObservedAction {
            action: action.clone(),
            call: step.action.tool_use_id.clone(),
            step: Some(step.id.clone()),
            is_delegated: !self.is_main,
        });
        let (effects, changed) = self.apply(session, SessionEvent::Response(observed.collect()));
        for assessed in &effects.assessed {
            self.shared.counters.assessed.increment();
            if assessed.assessment.score < OFF_GOAL_BELOW {
                self.shared.counters.off_goal.increment();
            }
        }
        (effects.verdicts, changed)
    }

    /// Applies the end of the response.
    fn apply_end(&self, session: &mut Session) {
        if self.exchange.ends_turn {
            self.apply(session, SessionEvent::TurnEnded);
        }
        if let Some(answer) = self.exchange.answer {
            self.apply(session, SessionEvent::AssistantText(answer));
        }
        for question in self.exchange.questions {
            let question = PendingQuestion {
                call: question.tool_use_id.clone(),
                plan: question.plan.clone(),
            };
            self.apply(session, SessionEvent::QuestionAsked(question));
        }
        // The request is complete, so a correction that was offered to it was not sent.
        session.offered = None;
    }

    /// Applies an event and executes its effects. Returns them, and whether the drift state changed.
    fn apply(&self, session: &mut Session, event: SessionEvent<'_>) -> (Effects, bool) {
        let context = EventContext {
            task: session.task.clone(),
            ..self.context.clone()
        };
        let mut effects = session.engine.apply(event, &context);
        let changed = self.shared.apply_effects(self.slot, session, &mut effects);
        if effects.needs_permission_lookup {
            self.shared.enqueue(Job::Permissions(Arc::clone(self.slot)));
        }
        (effects, changed)
    }
}

/// Returns the directory that file names are relative to: the root of the repository, or the working directory if that
/// is outside.
fn root<'a>(exchange: &PendingExchange<'a>) -> Option<&'a Path> {
    let repository = exchange.record.project.path.as_deref().map(Path::new);
    match (repository, exchange.working_directory) {
        (Some(root), Some(directory)) if !directory.starts_with(root) => Some(directory),
        (Some(root), _) => Some(root),
        (None, directory) => directory,
    }
}
