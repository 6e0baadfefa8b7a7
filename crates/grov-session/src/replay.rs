//! Replays recorded actions through the engine, without clock, store or model.

use crate::engine::{CheckResult, SessionEngine};
use crate::event::{CallResult, ObservedAction, SessionEvent};
use crate::policy::{Delivery, Policy};
use crate::recheck::NewPrompt;
use crate::state_machine::{EventContext, PromptSummary};
use grov_domain::{ActionSketch, ClientSessionId, Correction, CorrectionId, GoalContract, Intent};
use std::sync::Arc;
use time::{Duration, OffsetDateTime};

/// The result of [`replay`].
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
    let mut player = Player::new(contract, policy);
    for (index, action) in actions.iter().enumerate() {
        player.act(index, action);
        let done = index + 1;
        let is_prompt = prompt_every > 0 && (done.is_multiple_of(prompt_every) || done == actions.len());
        if is_prompt {
            player.prompt(done);
        }
    }
    player.replay
}

/// A running replay.
struct Player {
    engine: SessionEngine,
    session: ClientSessionId,
    delivery: Delivery,
    replay: Replay,
}

impl Player {
    fn new(contract: GoalContract, policy: Policy) -> Self {
        let session = ClientSessionId::new("replay");
        let reader = Arc::new(|_: &_| Intent::default());
        let engine = SessionEngine::new(session.clone(), None, policy, reader, OffsetDateTime::UNIX_EPOCH);
        Self {
            engine: engine.with_contract(contract),
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
        let call = index.to_string();
        let context = self.context(index);
        let observed = ObservedAction {
            action: action.clone(),
            call: Some(call.clone()),
            step: None,
            is_delegated: false,
        };
        self.engine
            .apply(SessionEvent::Response(vec![observed]), &context);
        self.replay.scores.push(self.engine.fine_score());
        if self.delivery == Delivery::PerAction {
            self.deliver(index + 1, context.at);
        }
        if let Some(failed) = action.failed {
            let ended = CallResult {
                call: &call,
                failed,
                output: None,
                is_delegated: false,
            };
            self.engine.apply(SessionEvent::CallEnded(ended), &context);
        }
    }

    /// Submits a prompt without content.
    fn prompt(&mut self, done: usize) {
        let context = self.context(done - 1);
        self.engine.on_empty_prompt(&context);
        self.replay
            .checks
            .extend(self.engine.check().map(|look| (done, look)));
        self.deliver(done, context.at);
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

    #[test]
    fn no_actions_have_no_scores() {
        assert!(
            replay(GoalContract::default(), &[], Policy::default(), 0)
                .scores
                .is_empty()
        );
    }
}
