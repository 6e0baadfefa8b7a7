//! Loads the stored history of a session while the session continues.
//!
//! Events are buffered until the history is loaded. The rules then replay them in order, so that each action is assessed
//! under the contract of its time. The steps of the caller:
//!
//! 1. [`SessionEngine::load_state`] with the stored drift state.
//! 2. [`SessionEngine::begin_load`], then [`PendingLoad::merge`] without locking the engine, then
//!    [`SessionEngine::finish_load`].
//! 3. [`SessionEngine::conclude`] with the result.

use crate::assessed_action::AssessedAction;
use crate::contract_builder::GoalContractBuilder;
use crate::contract_refresh::{BuilderCopy, ContractInputs};
use crate::engine::SessionEngine;
use crate::event::{Effects, ObservedAction};
use crate::findings::has_hard_finding;
use crate::judge_request::JudgeTrigger;
use crate::level::ON_GOAL_FROM;
use crate::state_machine::{EventContext, PromptSummary, Transition};
use crate::verdict::{certain_findings, verdicts};
use catch_up::CatchUp;
use grov_domain::{ActionSketch, DriftState, StepId};
use std::collections::HashSet;
use time::OffsetDateTime;

mod catch_up;

/// Maximum number of unresolved actions.
const MAX_UNRESOLVED: usize = 64;
/// Maximum number of prompts kept until the drift state is loaded, the oldest ones.
const MAX_PROMPTS: usize = 16;
/// Maximum number of buffered events. Later ones are not assessed again.
const MAX_BUFFERED: usize = 256;

/// A buffered event for the rules.
#[derive(Clone)]
pub(crate) enum BufferedEvent {
    /// A prompt.
    Prompt {
        /// The sanitized prompt.
        prompt: String,
        /// What it asks for by answering the agent's last text.
        orders: Option<String>,
    },
    /// An action.
    Action(ObservedAction),
    /// A tool call ended.
    Ended { call: String, failed: bool },
    /// Output shown to the agent.
    OutputShown(String),
    /// What the user asked for by answering a dialog.
    Consent(String),
    /// An action that the user allowed.
    Allowed {
        /// The action.
        action: ActionSketch,
        /// The id of the tool call.
        call: Option<String>,
    },
}

/// The progress of loading, and the events since.
#[derive(Default)]
pub(crate) struct Preload {
    is_loaded: bool,
    /// Whether the drift state is loaded, which may happen before the history is.
    is_state_loaded: bool,
    /// Events so far, oldest first.
    buffer: Vec<BufferedEvent>,
    /// Prompts that came before the drift state was loaded.
    prompts: Vec<PromptSummary>,
    /// Actions without findings, to be judged again once the history is loaded.
    unresolved: Vec<StepId>,
    /// Whether a prompt or a judged response came after the unresolved actions. They are not corrected then.
    is_unresolved_superseded: bool,
}

impl Preload {
    /// Whether the history is loaded, or there was none.
    pub(crate) fn is_loaded(&self) -> bool {
        self.is_loaded
    }

    /// Marks the history as loaded.
    pub(crate) fn mark_loaded(&mut self) {
        *self = Self {
            is_loaded: true,
            is_state_loaded: true,
            ..Self::default()
        };
    }

    /// Buffers an event until the history is loaded.
    pub(crate) fn push(&mut self, event: impl FnOnce() -> BufferedEvent) {
        if !self.is_loaded && self.buffer.len() < MAX_BUFFERED {
            self.buffer.push(event());
        }
    }

    /// Buffers a prompt until the drift state is loaded.
    pub(crate) fn push_prompt(&mut self, prompts: PromptSummary) {
        if !self.is_state_loaded && self.prompts.len() < MAX_PROMPTS {
            self.prompts.push(prompts);
        }
    }

    /// Records that a later event supersedes the unresolved actions.
    pub(crate) fn supersede_unresolved(&mut self) {
        self.is_unresolved_superseded |= !self.unresolved.is_empty();
    }

    /// Records that a response was judged or, if inconclusive, left unresolved.
    pub(crate) fn response_judged(&mut self, is_inconclusive: bool, response: &[AssessedAction]) {
        if is_inconclusive {
            let room = MAX_UNRESOLVED.saturating_sub(self.unresolved.len());
            let steps = response.iter().filter_map(|one| one.step.clone());
            self.unresolved.extend(steps.take(room));
        } else if !response.is_empty() {
            self.supersede_unresolved();
        }
    }

    /// Returns what the user agreed to since.
    fn consents(&self) -> impl Iterator<Item = &String> {
        self.buffer.iter().filter_map(|event| match event {
            BufferedEvent::Consent(orders) => Some(orders),
            _ => None,
        })
    }
}

/// The stored history of a session, without its drift state.
#[derive(Clone, Debug, Default)]
pub struct StoredHistory {
    /// Actions, oldest first.
    pub steps: Vec<ObservedAction>,
    /// The tool calls that ran after the user was asked about them.
    pub allowed: HashSet<String>,
    /// The inputs of its goal contract.
    pub inputs: ContractInputs,
}

/// A copy of the engine's data, to be merged with stored history.
pub struct PendingLoad {
    copy: BuilderCopy,
    root: Option<String>,
    consents: Vec<String>,
    events: Vec<BufferedEvent>,
}

/// Stored history that was merged with the buffered events.
pub struct MergedHistory {
    copy: BuilderCopy,
    inputs: ContractInputs,
    catch_up: CatchUp,
}

impl PendingLoad {
    /// Merges the stored history. Takes long for long histories; call it without locking the engine.
    pub fn merge(self, stored: StoredHistory) -> MergedHistory {
        let Self {
            mut copy,
            root,
            consents,
            events,
        } = self;
        let StoredHistory {
            steps,
            allowed,
            mut inputs,
        } = stored;
        // Buffered prompts may have been recorded since.
        inputs.prompts.retain(|prompt| {
            let mut events = events.iter();
            !events
                .any(|event| matches!(event, BufferedEvent::Prompt { prompt: typed, .. } if typed == prompt))
        });
        let before = resume(&mut copy.builder, inputs.clone());
        let mut catch_up = CatchUp::new(before, root.as_deref(), &consents, &allowed, steps, &events);
        catch_up.follow(&events);
        MergedHistory {
            copy,
            inputs,
            catch_up,
        }
    }
}

/// Adds the stored inputs to a builder. Returns the builder without the prompts since the session was observed.
fn resume(builder: &mut GoalContractBuilder, inputs: ContractInputs) -> GoalContractBuilder {
    let mut before = builder.resume(inputs.task, inputs.prompts);
    before.set_edits(inputs.edits.clone());
    builder.set_edits(inputs.edits);
    before
}

impl SessionEngine {
    /// Whether the history is loaded, or there was none.
    pub fn is_history_loaded(&self) -> bool {
        self.preload.is_loaded
    }

    /// Whether the drift state is loaded.
    pub fn is_state_loaded(&self) -> bool {
        self.preload.is_state_loaded
    }

    /// Whether the prompts are known from the start of the conversation.
    pub fn is_contract_complete(&self) -> bool {
        self.builder.is_complete()
    }

    /// Adds the prompts of the history before the session was observed, oldest first.
    pub fn inherit_prompts(&mut self, prompts: &[String]) {
        self.builder.inherit_prompts(prompts);
    }

    /// Another task is active: earlier instructions do not belong to it.
    pub fn switch_task(&mut self) {
        self.builder.switch_task();
    }

    /// Merges the stored drift state; `None` if none is stored. `state_changed` is set if the result has to be stored.
    pub fn load_state(&mut self, state: Option<DriftState>, at: OffsetDateTime) -> Transition {
        if self.preload.is_state_loaded {
            return Transition::default();
        }
        self.preload.is_state_loaded = true;
        let prompts = std::mem::take(&mut self.preload.prompts);
        match state {
            Some(state) => self.drift.resume(state, &prompts, at),
            None => Transition {
                state_changed: true,
                ..Transition::default()
            },
        }
    }

    /// Copies the data that has to be merged with stored history.
    pub fn begin_load(&self) -> PendingLoad {
        let mut consents = self.drift.state().consent.orders.clone();
        consents.retain(|words| self.preload.consents().all(|since| since != words));
        PendingLoad {
            copy: self.copy_builder(),
            root: self.root.clone(),
            consents,
            events: self.preload.buffer.clone(),
        }
    }

    /// Applies the merged history. Returns the assessments of unresolved actions, for [`conclude`](Self::conclude).
    pub fn finish_load(&mut self, loading: MergedHistory) -> Reassessed {
        if self.preload.is_loaded {
            // Another conversation started in the meantime.
            return Reassessed::default();
        }
        let MergedHistory {
            copy,
            inputs,
            mut catch_up,
        } = loading;
        if !self.replace_builder(copy) {
            resume(&mut self.builder, inputs);
        }
        let buffer = std::mem::take(&mut self.preload.buffer);
        catch_up.follow(&buffer);
        let CatchUp {
            mut rules, mut found, ..
        } = catch_up;
        rules.set_contract(self.builder.contract().clone());
        // They stay unresolved until `conclude`; a prompt may come before it.
        found.retain(&self.preload.unresolved);
        if rules.consents() != self.drift.state().consent.orders {
            let latest = self.drift.state().updated_at;
            self.drift.set_consents(rules.consents().to_vec(), latest);
            found.is_consent_new = true;
        }
        self.rules = Some(rules);
        self.rules_version = None;
        self.preload.is_loaded = true;
        found
    }

    /// Judges the actions from before the history was loaded, as if they happened now.
    ///
    /// Hard findings are not corrected if a prompt or another finding came later. Doubts are only sent to a judge, because
    /// stored steps lack details and the agent may have moved on. Failed calls are not corrected.
    pub fn conclude(&mut self, found: Reassessed, context: &EventContext) -> Effects {
        let Reassessed {
            done: mut unresolved,
            mut failed,
            is_consent_new,
        } = found;
        if !self.builder.is_complete() {
            for one in unresolved.iter_mut().chain(&mut failed) {
                one.assessment = certain_findings(one.assessment.clone(), true);
            }
        }
        self.preload.unresolved.clear();
        let is_overtaken = std::mem::take(&mut self.preload.is_unresolved_superseded);
        let is_guess =
            |one: &AssessedAction| one.assessment.score < ON_GOAL_FROM && !has_hard_finding(&one.assessment);
        let (guesses, facts): (Vec<AssessedAction>, Vec<AssessedAction>) =
            unresolved.into_iter().partition(is_guess);
        let is_on_goal = guesses.is_empty() && facts.iter().all(|one| one.assessment.score >= ON_GOAL_FROM);
        let mut effects = Effects::default();
        if is_on_goal || (!is_overtaken && facts.iter().any(|one| has_hard_finding(&one.assessment))) {
            let contract = self.builder.contract().clone();
            effects.transition = self.drift.on_response(&facts, &contract, context);
        }
        if !is_overtaken && !guesses.is_empty() && self.builder.is_complete() {
            effects
                .judge_requests
                .push((self.verdict_request(&guesses), Some(JudgeTrigger::Suspicion)));
        }
        let of_facts = facts.iter().zip(verdicts(&facts, &effects.transition));
        let of_guesses = guesses.iter().zip(verdicts(&guesses, &Transition::default()));
        let of_failed = failed.iter().zip(verdicts(&failed, &Transition::default()));
        effects.later_verdicts = of_facts
            .chain(of_guesses)
            .chain(of_failed)
            .filter_map(|(one, verdict)| one.step.clone().zip(verdict))
            .filter(|(_, verdict)| !verdict.findings.is_empty() || verdict.level.is_some())
            .collect();
        effects.transition.state_changed |= is_consent_new;
        effects
    }
}

/// Assessments of actions from before the history was loaded, oldest first.
#[derive(Debug, Default)]
pub struct Reassessed {
    /// Actions that may have taken effect.
    pub done: Vec<AssessedAction>,
    /// Actions that failed or were refused.
    pub failed: Vec<AssessedAction>,
    /// Whether the consents differ from the stored ones.
    pub is_consent_new: bool,
}

impl Reassessed {
    /// Keeps only these steps.
    fn retain(&mut self, steps: &[StepId]) {
        let is_one = |one: &AssessedAction| one.step.as_ref().is_some_and(|step| steps.contains(step));
        self.done.retain(is_one);
        self.failed.retain(is_one);
    }

    /// Moves a failed call to `failed`.
    fn fail(&mut self, call: &str) {
        let is_of = |one: &mut AssessedAction| one.call.as_deref() == Some(call);
        self.failed.extend(self.done.extract_if(.., is_of));
    }
}
