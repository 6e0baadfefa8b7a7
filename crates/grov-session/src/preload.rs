//! What lies before an engine, while it is not known: what happens meanwhile is kept in its order, and rules go through it
//! again once the past is known. What was done is judged by what was asked for then, not by what was asked for before it or
//! after.

use crate::assessed_action::AssessedAction;
use crate::contract_builder::{GoalContractBuilder, TaskGoal};
use crate::engine::SessionEngine;
use crate::event::Effects;
use crate::judge_request::JudgeTrigger;
use crate::level::ON_GOAL_FROM;
use crate::recovery_plan::has_hard_finding;
use crate::state_machine::{EventContext, PromptSummary, Transition};
use crate::verdict::{certain_findings, verdicts};
use grov_domain::{ActionSketch, DriftState, GoalEdit, StepId};
use grov_scope::Rules;
use std::collections::HashSet;
use time::OffsetDateTime;

/// Actions of which nothing is concluded until what was before is known.
const MAX_UNRESOLVED: usize = 64;
/// Prompts of which is kept what they mean for what waits to be said, until it is known what waits; the first ones.
const MAX_PROMPTS: usize = 16;
/// So much is kept. What comes later is not judged any more.
const MAX_BUFFERED: usize = 256;

/// An action that was done before.
#[derive(Clone, Debug)]
pub struct StoredAction {
    /// The step it is recorded as.
    pub step: StepId,
    /// What was done.
    pub action: ActionSketch,
    /// The tool call.
    pub call: Option<String>,
    /// A subagent did it.
    pub is_delegated: bool,
}

/// Something that rules are told of.
#[derive(Clone)]
pub(crate) enum BufferedEvent {
    /// The user typed it.
    Prompt {
        /// As it is kept in a contract.
        prompt: String,
        /// What the agent had said, if the user says yes to it where the prompt is a mere "yes".
        consents_to: Option<String>,
    },
    /// The agent did it.
    Action(StoredAction),
    /// A call ended.
    Ended { call: String, failed: bool },
    /// The agent was shown it.
    OutputShown(String),
    /// The user said yes to it.
    Consent(String),
    /// The user was asked about it and let it run.
    Allowed {
        /// What it is.
        action: ActionSketch,
        /// Its tool call.
        call: Option<String>,
    },
}

/// What was before, as far as it is known, and what happened while it is not.
#[derive(Default)]
pub(crate) struct Preload {
    is_loaded: bool,
    /// It is known where the session stood, though maybe not what was done in it.
    is_state_loaded: bool,
    /// What happened since, oldest first.
    buffer: Vec<BufferedEvent>,
    /// What was typed before it was known where the session stood.
    prompts: Vec<PromptSummary>,
    /// Early actions of which nothing was found and from which nothing was concluded.
    unresolved: Vec<StepId>,
    /// Something was typed or concluded since: nothing is said of the open ones any more.
    is_unresolved_superseded: bool,
}

impl Preload {
    /// Whether what was before is known, or nothing was.
    pub(crate) fn is_loaded(&self) -> bool {
        self.is_loaded
    }

    /// Nothing was before, or it is known already.
    pub(crate) fn mark_loaded(&mut self) {
        *self = Self {
            is_loaded: true,
            is_state_loaded: true,
            ..Self::default()
        };
    }

    /// Keeps what happened until what was before is known.
    pub(crate) fn push(&mut self, event: impl FnOnce() -> BufferedEvent) {
        if !self.is_loaded && self.buffer.len() < MAX_BUFFERED {
            self.buffer.push(event());
        }
    }

    /// Keeps an action that is recorded as a step.
    pub(crate) fn push_action(
        &mut self,
        action: &ActionSketch,
        call: Option<&str>,
        step: Option<&StepId>,
        is_delegated: bool,
    ) {
        if let Some(step) = step {
            self.push(|| {
                BufferedEvent::Action(StoredAction {
                    step: step.clone(),
                    action: action.clone(),
                    call: call.map(str::to_owned),
                    is_delegated,
                })
            });
        }
    }

    /// Keeps what a prompt means for what was said, until it is known what was.
    pub(crate) fn push_prompt(&mut self, prompts: PromptSummary) {
        if !self.is_state_loaded && self.prompts.len() < MAX_PROMPTS {
            self.prompts.push(prompts);
        }
    }

    /// A prompt overtakes what is open.
    pub(crate) fn supersede_unresolved(&mut self) {
        self.is_unresolved_superseded |= !self.unresolved.is_empty();
    }

    /// A response was judged, or, where that `is_inconclusive`, left open.
    pub(crate) fn response_judged(&mut self, is_inconclusive: bool, response: &[AssessedAction]) {
        if is_inconclusive {
            let room = MAX_UNRESOLVED.saturating_sub(self.unresolved.len());
            let steps = response.iter().filter_map(|one| one.step.clone());
            self.unresolved.extend(steps.take(room));
        } else if !response.is_empty() {
            self.supersede_unresolved();
        }
    }

    /// The words that the user said yes to meanwhile.
    fn consents(&self) -> impl Iterator<Item = &String> {
        self.buffer.iter().filter_map(|event| match event {
            BufferedEvent::Consent(words) => Some(words),
            _ => None,
        })
    }
}

/// What a session is held to by what is stored.
#[derive(Clone, Debug, Default)]
pub struct ContractInputs {
    /// The task in work.
    pub task: TaskGoal,
    /// Prompts that say something, oldest first, see [`instructions`](crate::instructions).
    pub prompts: Vec<String>,
    /// What a person changed, oldest first.
    pub edits: Vec<GoalEdit>,
}

/// What is stored of a session but where it stood.
#[derive(Clone, Debug, Default)]
pub struct StoredHistory {
    /// What was done, oldest first.
    pub steps: Vec<StoredAction>,
    /// Calls that ran after the user was asked about them.
    pub allowed: HashSet<String>,
    /// What it is held to.
    pub inputs: ContractInputs,
}

/// What an engine has in mind, copied out to be brought together with what is stored: that takes long, and the engine goes on
/// meanwhile.
pub struct PendingLoad {
    builder: GoalContractBuilder,
    version: u64,
    root: Option<String>,
    consents: Vec<String>,
    events: Vec<BufferedEvent>,
}

/// What is stored of a session, half taken over.
pub struct MergedHistory {
    /// What the session is held to by all that is known, if it is still at that version.
    builder: GoalContractBuilder,
    version: u64,
    inputs: ContractInputs,
    catch_up: CatchUp,
}

impl PendingLoad {
    /// Brings it together with what is stored.
    pub fn merge(self, stored: StoredHistory) -> MergedHistory {
        let Self {
            mut builder,
            version,
            root,
            consents,
            events,
        } = self;
        let StoredHistory {
            steps,
            allowed,
            mut inputs,
        } = stored;
        // What was typed since may be recorded by now.
        inputs.prompts.retain(|prompt| {
            let mut events = events.iter();
            !events
                .any(|event| matches!(event, BufferedEvent::Prompt { prompt: typed, .. } if typed == prompt))
        });
        let before = resume(&mut builder, inputs.clone());
        let mut catch_up = CatchUp::new(before, root.as_deref(), &consents, &allowed, steps, &events);
        catch_up.follow(&events);
        MergedHistory {
            builder,
            version,
            inputs,
            catch_up,
        }
    }
}

/// What is stored about an agreement from before it was seen. How it stood then is returned.
fn resume(builder: &mut GoalContractBuilder, inputs: ContractInputs) -> GoalContractBuilder {
    let mut before = builder.resume(inputs.task, inputs.prompts);
    before.set_edits(inputs.edits.clone());
    builder.set_edits(inputs.edits);
    before
}

fn refresh_contract(builder: &mut GoalContractBuilder, inputs: ContractInputs) {
    builder.set_task(inputs.task, inputs.prompts);
    builder.set_edits(inputs.edits);
}

/// A contract that is read again: prompts are read without the engine, which goes on meanwhile.
pub struct ContractRefresh {
    builder: GoalContractBuilder,
    version: u64,
    inputs: ContractInputs,
}

impl SessionEngine {
    /// Whether what was before is known.
    pub fn is_history_loaded(&self) -> bool {
        self.preload.is_loaded
    }

    /// Whether it is known where the session stood.
    pub fn is_state_loaded(&self) -> bool {
        self.preload.is_state_loaded
    }

    /// Whether what the conversation is about is known from its beginning on.
    pub fn is_contract_complete(&self) -> bool {
        self.builder.is_complete()
    }

    /// What was typed in this history before anything of it was seen, oldest first.
    pub fn inherit_prompts(&mut self, prompts: &[String]) {
        self.builder.inherit_prompts(prompts);
    }

    /// Another task is in work: what was typed for the last one is none of its.
    pub fn switch_task(&mut self) {
        self.builder.switch_task();
    }

    /// Reads again what the session is held to.
    pub fn begin_contract_refresh(&self, inputs: ContractInputs) -> ContractRefresh {
        ContractRefresh {
            builder: self.builder.clone(),
            version: self.builder.version(),
            inputs,
        }
    }

    /// Takes over a contract that was read again.
    pub fn finish_contract_refresh(&mut self, refresh: ContractRefresh) {
        if self.builder.version() == refresh.version {
            self.builder = refresh.builder;
            self.rules_version = None;
        } else {
            refresh_contract(&mut self.builder, refresh.inputs);
        }
    }

    /// Takes over where the session stood; `None`: nothing is stored of it. Changed is the state if it is another one than the
    /// stored one now.
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

    /// What is to be brought together with what is stored.
    pub fn begin_load(&self) -> PendingLoad {
        let mut consents = self.drift.state().consent.words.clone();
        consents.retain(|words| self.preload.consents().all(|since| since != words));
        PendingLoad {
            builder: self.builder.clone(),
            version: self.builder.version(),
            root: self.root.clone(),
            consents,
            events: self.preload.buffer.clone(),
        }
    }

    /// Takes over what was stored, with what happened meanwhile, and returns what is found of early actions from which
    /// nothing was concluded yet.
    pub fn finish_load(&mut self, loading: MergedHistory) -> Reassessed {
        if self.preload.is_loaded {
            // Another conversation began in its place.
            return Reassessed::default();
        }
        let MergedHistory {
            builder,
            version,
            inputs,
            mut catch_up,
        } = loading;
        if self.builder.version() == version {
            self.builder = builder;
            self.rules_version = None;
        } else {
            resume(&mut self.builder, inputs);
        }
        let buffer = std::mem::take(&mut self.preload.buffer);
        catch_up.follow(&buffer);
        let (mut rules, mut found) = catch_up.into_parts();
        rules.set_contract(self.builder.contract().clone());
        // They stay open until something is concluded: something may be typed before that.
        found.retain(&self.preload.unresolved);
        if rules.consents() != self.drift.state().consent.words {
            let latest = self.drift.state().updated_at;
            self.drift.set_consents(rules.consents().to_vec(), latest);
            found.is_consent_new = true;
        }
        self.rules = Some(rules);
        self.rules_version = None;
        self.preload.is_loaded = true;
        found
    }

    /// Concludes from actions that were seen before the past was known, as if they were done now. Of what is off the goal as
    /// a fact nothing is said where something was typed or found since. What is a guess is said by a judge alone: the stored
    /// steps tell less than there was, and the agent may be further by now. Of what failed nothing is said.
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
            effects.transition = self.drift.on_response(&facts, &contract, context.clone());
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

impl ContractRefresh {
    /// Reads the prompts, which takes long.
    pub fn parse(mut self) -> Self {
        refresh_contract(&mut self.builder, self.inputs.clone());
        self
    }
}

/// Rules that know what is stored of a session, on their way through what happened since.
struct CatchUp {
    /// What the session was held to before, then what it is held to now.
    builder: GoalContractBuilder,
    rules: Rules,
    /// What was done before.
    known: HashSet<StepId>,
    taken: usize,
    found: Reassessed,
}

/// What rules say of what was done before the session was loaded, oldest first.
#[derive(Debug, Default)]
pub struct Reassessed {
    /// Of what took place, as far as is known.
    pub done: Vec<AssessedAction>,
    /// Of what failed or was denied: it changed nothing.
    pub failed: Vec<AssessedAction>,
    /// What the user said yes to is not what is stored of it.
    pub is_consent_new: bool,
}

impl Reassessed {
    /// Leaves out all but these steps.
    fn retain(&mut self, steps: &[StepId]) {
        let is_one = |one: &AssessedAction| one.step.as_ref().is_some_and(|step| steps.contains(step));
        self.done.retain(is_one);
        self.failed.retain(is_one);
    }

    /// A call failed.
    fn fail(&mut self, call: &str) {
        let is_of = |one: &mut AssessedAction| one.call.as_deref() == Some(call);
        self.failed.extend(self.done.extract_if(.., is_of));
    }
}

impl CatchUp {
    /// From a session as it stood before, whose actions are `steps`. Those that are among `events` come with these.
    fn new(
        builder: GoalContractBuilder,
        root: Option<&str>,
        consents: &[String],
        allowed: &HashSet<String>,
        mut steps: Vec<StoredAction>,
        events: &[BufferedEvent],
    ) -> Self {
        let mut rules = Rules::new(builder.contract().clone(), root);
        for words in consents {
            rules.record_consent(words);
        }
        let seen: HashSet<&StepId> = events
            .iter()
            .filter_map(|event| match event {
                BufferedEvent::Action(done) => Some(&done.step),
                _ => None,
            })
            .collect();
        // They come last, with what they write.
        steps.retain(|one| !seen.contains(&one.step));
        for one in &steps {
            if one.call.as_ref().is_some_and(|call| allowed.contains(call)) {
                rules.grant(&one.action, one.call.as_deref());
            }
            rules.assess(&one.action, one.call.as_deref());
        }
        Self {
            builder,
            rules,
            known: steps.into_iter().map(|one| one.step).collect(),
            taken: 0,
            found: Reassessed::default(),
        }
    }

    /// Follows what it has not followed yet of all that happened.
    fn follow(&mut self, events: &[BufferedEvent]) {
        for event in events.iter().skip(self.taken) {
            match event {
                BufferedEvent::Prompt { prompt, consents_to } => {
                    let says_something = self.builder.add_prompt(prompt);
                    self.rules.set_contract(self.builder.contract().clone());
                    self.rules.record_prompt();
                    // Whoever knew nothing of the session took a "yes" for what it is about.
                    if let Some(words) = consents_to.as_ref().filter(|_| !says_something) {
                        self.rules.record_consent(words);
                    }
                }
                BufferedEvent::Action(done) => self.assess(done),
                BufferedEvent::Ended { call, failed } => {
                    self.rules.record_result(call, *failed);
                    if *failed {
                        self.found.fail(call);
                    }
                }
                BufferedEvent::OutputShown(text) => self.rules.record_output(text),
                BufferedEvent::Consent(words) => self.rules.record_consent(words),
                BufferedEvent::Allowed { action, call } => self.rules.grant(action, call.as_deref()),
            }
        }
        self.taken = self.taken.max(events.len());
    }

    fn assess(&mut self, done: &StoredAction) {
        if self.known.contains(&done.step) {
            return;
        }
        let call = done.call.as_deref();
        let assessment = if done.is_delegated {
            self.rules.assess_subagent(&done.action)
        } else {
            self.rules.assess(&done.action, call)
        };
        self.found.done.push(AssessedAction {
            action: done.action.clone(),
            step: Some(done.step.clone()),
            call: done.call.clone(),
            assessment,
            is_delegated: done.is_delegated,
            put_back: self.rules.reverted_files().to_vec(),
        });
    }

    /// The rules, and what they say of what was done since.
    fn into_parts(self) -> (Rules, Reassessed) {
        (self.rules, self.found)
    }
}
