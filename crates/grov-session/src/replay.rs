//! Replays recorded actions through the engine, without clock, store or model.

use crate::contract_builder::IntentReader;
use crate::engine::{CheckResult, SessionEngine};
use crate::event::{CallResult, ObservedAction, SessionEvent};
use crate::policy::{Delivery, Policy};
use crate::recheck::NewPrompt;
use crate::state_machine::{EventContext, PromptSummary};
use grov_domain::{
    ActionSketch, AskedCall, ClientSessionId, Correction, CorrectionId, GoalContract, Intent, IntentQuestion,
    PromptReading, Rule,
};
use std::sync::Arc;
use time::{Duration, OffsetDateTime};

/// The result of [`replay`] and of [`SessionReplay`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replay {
    /// The score of each action by the rules, with its fraction, in hundredths: 100 to 1000.
    ///
    /// The fraction ranks actions of equal score. The score does not depend on when corrections are delivered. A read
    /// that continues a drift scores below 500 here, although it is recorded as on goal, and following a correction
    /// adds nothing, because the recorded agent never received one.
    pub scores: Vec<u16>,
    /// The corrections, in the order of delivery.
    pub delivered: Vec<DeliveredCorrection>,
    /// The check with each prompt, and the number of actions before it.
    pub checks: Vec<(usize, CheckResult)>,
}

/// A correction that the agent would receive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveredCorrection {
    /// The index of the action that caused it.
    pub action: usize,
    /// The number of actions before its delivery.
    pub after: usize,
    /// The correction.
    pub correction: Correction,
}

/// Replays actions under a fixed contract, each as a response of its own.
///
/// A prompt without content follows every `prompt_every` actions and the last one; with 0 there are no prompts.
/// Corrections are delivered after the action or with the next prompt, depending on the policy. The result of an action is
/// known when the next one is assessed. The replay is deterministic, and scores do not depend on when corrections are
/// delivered.
pub fn replay(
    contract: GoalContract,
    actions: &[ActionSketch],
    policy: Policy,
    prompt_every: usize,
) -> Replay {
    let reader: IntentReader = Arc::new(|_: &IntentQuestion| Intent::default());
    let mut player = Player::new(policy, reader, |engine| engine.with_contract(contract));
    for (index, action) in actions.iter().enumerate() {
        player.act(index, action);
        let done = index + 1;
        let is_prompt = prompt_every > 0 && (done.is_multiple_of(prompt_every) || done == actions.len());
        if is_prompt {
            player.empty_prompt(done);
        }
    }
    player.replay
}

/// Replays a session entry by entry, prompts and actions, as it happened: the contract is what the prompts so far say.
///
/// Entries are counted from 0, prompts included: [`DeliveredCorrection::action`] is the number of an entry. Unlike
/// [`replay`], an action is assessed before its result is known, and a failed one is not corrected.
pub struct SessionReplay {
    player: Player,
    /// The number of entries so far.
    entries: usize,
    /// The number of actions since the last prompt.
    since_prompt: usize,
    /// The number of actions after which a prompt without content follows; 0 for none.
    prompt_every: usize,
}

impl SessionReplay {
    /// Starts a session. A prompt without content follows every `prompt_every` actions; with 0 there are none.
    pub fn new(reader: IntentReader, policy: Policy, prompt_every: usize) -> Self {
        Self {
            player: Player::new(policy, reader, |engine| engine.start_with(Vec::new(), &[], 0)),
            entries: 0,
            since_prompt: 0,
            prompt_every,
        }
    }

    /// The contract so far.
    pub fn contract(&self) -> &GoalContract {
        self.player.engine.contract()
    }

    /// Whether the user lifted a constraint to change nothing.
    pub fn is_released(&self) -> bool {
        self.player.engine.is_released()
    }

    /// The corrections delivered so far.
    pub fn delivered(&self) -> &[DeliveredCorrection] {
        &self.player.replay.delivered
    }

    /// Submits a prompt.
    pub fn prompt(&mut self, text: &str) {
        let context = self.player.context(self.entries);
        let arrived_at = context.at;
        self.player
            .engine
            .apply(SessionEvent::Prompt { text, arrived_at }, &context);
        self.player.check(self.entries, arrived_at);
        self.entries += 1;
        self.since_prompt = 0;
    }

    /// Takes the text with which the agent ended its turn.
    pub fn answer(&mut self, text: &str) {
        let context = self.player.context(self.entries);
        self.player
            .engine
            .apply(SessionEvent::AssistantText(text), &context);
        self.player.engine.apply(SessionEvent::TurnEnded, &context);
        self.entries += 1;
    }

    /// What of the agent's texts the user agreed to.
    pub fn consents(&self) -> &[String] {
        self.player.engine.consents()
    }

    /// Takes what a model read in the prompts so far.
    pub fn read(&mut self, reading: PromptReading) {
        let context = self.player.context(self.entries);
        let newest = self.contract().newest_instruction().to_owned();
        let event = SessionEvent::PromptsRead {
            read_to: &newest,
            reading,
        };
        self.player.engine.apply(event, &context);
    }

    /// Takes an action with its output. `was_asked` tells that the guard asked the user about it: if it ran, they allowed it. Returns
    /// whether it broke a constraint.
    pub fn act(&mut self, action: &ActionSketch, output: Option<&str>, was_asked: bool) -> bool {
        let index = self.entries;
        let called = ActionSketch {
            failed: None,
            ..action.clone()
        };
        let broke_constraint = self.player.respond(index, called);
        if was_asked {
            self.player.ask(index, action.failed != Some(true));
        }
        self.player
            .end_call(index, action.failed.unwrap_or_default(), output);
        self.player.deliver_per_action(index);
        self.entries += 1;
        self.since_prompt += 1;
        if self.since_prompt == self.prompt_every {
            self.empty_prompt();
        }
        broke_constraint
    }

    /// Ends the session. A pending correction is delivered with a last prompt, if there are any.
    pub fn finish(mut self) -> Replay {
        if self.prompt_every > 0 && self.since_prompt > 0 {
            self.empty_prompt();
        }
        self.player.replay
    }

    fn empty_prompt(&mut self) {
        self.player.empty_prompt(self.entries);
        self.since_prompt = 0;
    }
}

/// A running replay.
struct Player {
    engine: SessionEngine,
    session: ClientSessionId,
    delivery: Delivery,
    replay: Replay,
}

impl Player {
    fn new(policy: Policy, reader: IntentReader, start: impl FnOnce(SessionEngine) -> SessionEngine) -> Self {
        let session = ClientSessionId::new("replay");
        let engine = SessionEngine::new(session.clone(), None, policy, reader, OffsetDateTime::UNIX_EPOCH);
        Self {
            engine: start(engine),
            session,
            delivery: policy.delivery,
            replay: Replay::default(),
        }
    }

    fn context(&self, index: usize) -> EventContext {
        let seconds = i64::try_from(index).unwrap_or(i64::MAX / 4);
        EventContext {
            at: OffsetDateTime::UNIX_EPOCH + Duration::seconds(seconds),
            correction_id: CorrectionId::new(format!("replay-{index}")),
            task: self.session.first_task(),
        }
    }

    fn act(&mut self, index: usize, action: &ActionSketch) {
        self.respond(index, action.clone());
        self.deliver_per_action(index);
        if let Some(failed) = action.failed {
            self.end_call(index, failed, None);
        }
    }

    /// Takes an action as a response of its own. Returns whether it broke a constraint.
    fn respond(&mut self, index: usize, action: ActionSketch) -> bool {
        let observed = ObservedAction {
            action,
            call: Some(index.to_string()),
            step: None,
            is_delegated: false,
        };
        let context = self.context(index);
        let effects = self
            .engine
            .apply(SessionEvent::Response(vec![observed]), &context);
        self.replay.scores.push(self.engine.fine_score());
        let mut findings = effects
            .assessed
            .iter()
            .flat_map(|assessed| &assessed.assessment.findings);
        findings.any(|finding| finding.rule == Rule::Constraint)
    }

    /// Records that the user was asked about an action.
    fn ask(&mut self, index: usize, ran: bool) {
        let asked = AskedCall {
            tool_use_id: index.to_string(),
            ran,
        };
        let context = self.context(index);
        self.engine
            .apply(SessionEvent::PermissionAsked(&[asked]), &context);
    }

    fn end_call(&mut self, index: usize, failed: bool, output: Option<&str>) {
        let ended = CallResult {
            call: &index.to_string(),
            failed,
            output,
            is_delegated: false,
        };
        let context = self.context(index);
        self.engine.apply(SessionEvent::CallEnded(ended), &context);
    }

    fn deliver_per_action(&mut self, index: usize) {
        if self.delivery == Delivery::PerAction {
            self.deliver(index + 1, self.context(index).at);
        }
    }

    /// Submits a prompt without content.
    fn empty_prompt(&mut self, done: usize) {
        let context = self.context(done.saturating_sub(1));
        self.engine.on_empty_prompt(&context);
        self.check(done, context.at);
    }

    /// Checks the actions before a prompt, and delivers the pending correction with it.
    fn check(&mut self, done: usize, at: OffsetDateTime) {
        self.replay
            .checks
            .extend(self.engine.check().map(|look| (done, look)));
        self.deliver(done, at);
    }

    /// Delivers the pending correction.
    fn deliver(&mut self, done: usize, at: OffsetDateTime) {
        let Some(correction) = self.engine.drift().deliverable_correction(at, false).cloned() else {
            return;
        };
        self.engine.assume_delivered(&correction, at);
        let action = correction.tool_use_id.as_deref();
        self.replay.delivered.push(DeliveredCorrection {
            action: action
                .and_then(|call| call.parse().ok())
                .unwrap_or(done.saturating_sub(1)),
            after: done,
            correction,
        });
    }
}

impl SessionEngine {
    /// Returns the score of the last assessed action with its fraction, in hundredths.
    fn fine_score(&self) -> u16 {
        self.rules
            .as_ref()
            .map_or(1000, grov_scope::Rules::score_hundredths)
    }

    /// Processes a prompt without content. The rules are not informed, so that the score of an action does not depend
    /// on prompts.
    fn on_empty_prompt(&mut self, context: &EventContext) {
        let prompt = PromptSummary {
            has_objection: false,
            arrived_at: context.at,
        };
        let mut transition = self.drift.on_prompt(prompt, context.at);
        let new_prompt = NewPrompt {
            has_content: false,
            prompt: "",
            last_answer: None,
        };
        self.recheck_pending(&new_prompt, context, &mut transition);
    }

    /// Marks a correction as delivered without informing the rules: the recorded agent never received it, so its next
    /// action is not a reaction to it.
    fn assume_delivered(&mut self, delivered: &Correction, at: OffsetDateTime) {
        self.drift.mark_delivered(delivered, at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{edit, read};

    #[test]
    fn there_is_one_score_per_action() {
        let actions = [read("a.rs"), edit("a.rs", "x"), read("b.rs")];
        let replay = replay(GoalContract::default(), &actions, Policy::default(), 0);
        assert_eq!(replay.scores.len(), 3);
        assert!(replay.scores.iter().all(|score| (100..=1000).contains(score)));
    }

    /// A contract that forbids a folder, and actions that change it repeatedly.
    fn against_the_goal() -> (GoalContract, Vec<ActionSketch>) {
        let contract = GoalContract {
            goal: "Fix the token refresh in src/auth/token.ts".to_owned(),
            forbidden: vec!["src/styles/**".to_owned()],
            ..GoalContract::default()
        };
        let file = |number: usize| match number % 3 {
            0 => edit("src/auth/token.ts", &format!("const ttl = {number};")),
            1 => edit(&format!("src/styles/part{number}.css"), "a {}"),
            _ => read("src/auth/token.ts"),
        };
        (contract, (0..12).map(file).collect())
    }

    #[test]
    fn scores_do_not_depend_on_the_delivery_of_corrections() {
        let (contract, actions) = against_the_goal();
        let by_action = replay(contract.clone(), &actions, Policy::PER_ACTION, 0);
        assert_eq!(
            by_action
                .delivered
                .first()
                .map(|delivered| (delivered.action, delivered.after)),
            Some((1, 2))
        );
        for every in [1, 5, 100] {
            let by_prompt = replay(contract.clone(), &actions, Policy::PER_PROMPT, every);
            assert_eq!(by_prompt.scores, by_action.scores, "{every}");
            assert_eq!(by_prompt.checks.len(), actions.len().div_ceil(every));
        }
    }

    #[test]
    fn per_prompt_corrections_are_delivered_with_the_next_prompt() {
        let (contract, actions) = against_the_goal();
        let replay = replay(contract, &actions, Policy::PER_PROMPT, 5);
        let after: Vec<usize> = replay.delivered.iter().map(|delivered| delivered.after).collect();
        assert_eq!(after, [5, 10, 12]);
        let (done, look) = &replay.checks[0];
        assert_eq!((*done, look.actions), (5, 5));
        assert!(look.score <= 3, "{look:?}");
    }

    #[test]
    fn per_prompt_nothing_is_delivered_without_a_prompt() {
        let (contract, actions) = against_the_goal();
        let replay = replay(contract, &actions, Policy::PER_PROMPT, 0);
        assert_eq!((replay.delivered.len(), replay.checks.len()), (0, 0));
    }

    fn session(policy: Policy, prompt_every: usize) -> SessionReplay {
        SessionReplay::new(Arc::new(crate::testing::read_intent), policy, prompt_every)
    }

    #[test]
    fn an_action_is_assessed_by_the_prompts_before_it() {
        let mut session = session(Policy::PER_ACTION, 0);
        session.prompt("Fix the login in src/auth.rs. Do not touch docs/");
        assert!(session.act(&edit("docs/guide.md", "# Guide"), None, false));
        session.prompt("Now do update docs/guide.md with the new login");
        assert!(!session.act(&edit("docs/guide.md", "# Login"), None, false));
        let replay = session.finish();
        let delivered: Vec<(usize, usize)> = replay
            .delivered
            .iter()
            .map(|one| (one.action, one.after))
            .collect();
        assert_eq!((replay.scores.len(), delivered), (2, vec![(1, 2)]));
    }

    #[test]
    fn per_prompt_a_session_delivers_with_typed_prompts_every_n_actions_and_at_the_end() {
        let after = |next: Option<&str>, more: usize| {
            let mut session = session(Policy::PER_PROMPT, 3);
            session.prompt("Fix the login in src/auth.rs. Do not touch docs/");
            session.act(&edit("docs/guide.md", "# Guide"), None, false);
            next.into_iter().for_each(|text| session.prompt(text));
            (0..more).for_each(|_| {
                session.act(&read("src/auth.rs"), None, false);
            });
            let delivered = session.finish().delivered;
            delivered
                .iter()
                .map(|one| (one.action, one.after))
                .collect::<Vec<_>>()
        };
        assert_eq!(after(Some("Continue with the login"), 0), [(1, 2)]);
        assert_eq!(after(None, 5), [(1, 4)]);
        assert_eq!(after(None, 1), [(1, 3)]);
    }

    #[test]
    fn a_failed_action_of_a_session_is_not_corrected() {
        let mut session = session(Policy::PER_ACTION, 0);
        session.prompt("Fix the login in src/auth.rs. Do not touch docs/");
        let failed = ActionSketch {
            failed: Some(true),
            ..edit("docs/guide.md", "# Guide")
        };
        assert!(session.act(&failed, Some("permission denied"), false));
        assert!(session.finish().delivered.is_empty());
    }

    #[test]
    fn an_action_that_the_user_allowed_is_not_corrected() {
        for was_asked in [false, true] {
            let mut session = session(Policy::PER_ACTION, 0);
            session.prompt("Fix the login in src/auth.rs. Do not touch docs/");
            session.act(&edit("docs/guide.md", "# Guide"), Some(""), was_asked);
            assert_eq!(session.finish().delivered.is_empty(), was_asked);
        }
    }

    #[test]
    fn no_actions_have_no_scores() {
        assert!(
            replay(GoalContract::default(), &[], Policy::default(), 0)
                .scores
                .is_empty()
        );
    }
}
