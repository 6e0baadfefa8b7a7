//! A session whose actions, prompts and verdicts a test gives by hand, with its own clock.

mod corrections;
mod delivery;
mod escalation;
mod interpreted_limits;
mod prompts;
mod properties;
mod recovery;
mod resuming;
mod verdicts;

use super::*;
use crate::testing::{action, assessed, bash, edit, read};
use grov_domain::{
    ActionType, ClientSessionId, CorrectionLevel, CorrectionOutcome, DriftType, DriftVerdict, EffectKind,
    RecoveryStep, Rule, SessionId, StepId,
};

/// A session with its own clock and ids.
struct Session {
    drift: DriftStateMachine,
    contract: GoalContract,
    time: i64,
}

fn contract() -> GoalContract {
    GoalContract {
        goal: "Fix the token refresh".to_owned(),
        instructions: vec!["Fix the token refresh in src/auth/token.ts".to_owned()],
        scope: vec!["src/auth/token.ts".to_owned()],
        ..GoalContract::default()
    }
}

impl Session {
    fn new() -> Self {
        Self::with_policy(Policy::default())
    }

    fn with_policy(policy: Policy) -> Self {
        let state = DriftState::new(ClientSessionId::new("s"), OffsetDateTime::UNIX_EPOCH);
        Self {
            drift: DriftStateMachine::new(state, policy),
            contract: contract(),
            time: 0,
        }
    }

    fn context(&mut self) -> EventContext {
        self.time += 1;
        EventContext {
            at: OffsetDateTime::UNIX_EPOCH + Duration::seconds(self.time),
            correction_id: CorrectionId::new(format!("c{}", self.time)),
            task: SessionId::new("s"),
        }
    }

    fn on_response(&mut self, response: &[AssessedAction]) -> Transition {
        let context = self.context();
        let contract = self.contract.clone();
        self.drift.on_response(response, &contract, &context)
    }

    /// Applies a change with this score.
    fn change(&mut self, file: &str, rule: Rule, score: u8) -> Transition {
        self.on_response(&[assessed(edit(file, "x"), rule, score)])
    }

    fn deliver(&mut self) -> Option<Correction> {
        let context = self.context();
        let pending = self.drift.deliverable_correction(context.at, false)?.clone();
        assert!(self.drift.mark_delivered(&pending, context.at));
        Some(pending)
    }

    /// Applies two doubts, so that the next one is reported.
    fn two_doubts(&mut self) {
        for file in ["web/first.css", "web/second.css"] {
            let transition = self.change(file, Rule::Tangent, 3);
            assert_eq!(level_of(&transition), None, "{file}");
        }
    }

    /// Applies a change with this score and delivers its correction.
    fn corrected(&mut self, file: &str, rule: Rule, score: u8) {
        if rule.is_doubt() {
            self.two_doubts();
        }
        self.change(file, rule, score);
        assert!(self.deliver().is_some());
    }

    /// Applies a model's verdict on a response.
    fn judge(&mut self, response: &[AssessedAction], score: u8) -> Transition {
        let asked_at = self.drift.position();
        self.judge_at(response, score, asked_at)
    }

    /// Applies a model's verdict that was requested at this position.
    fn judge_at(&mut self, response: &[AssessedAction], score: u8, asked_at: Position) -> Transition {
        let context = self.context();
        let contract = self.contract.clone();
        self.drift
            .apply_verdict(response, &verdict(score), asked_at, &contract, &context)
    }

    fn prompt(&mut self) -> Transition {
        self.prompt_with(false)
    }

    fn prompt_with(&mut self, has_objection: bool) -> Transition {
        let at = self.context().at;
        let summary = PromptSummary {
            has_objection,
            arrived_at: at,
        };
        self.drift.on_prompt(summary, at)
    }

    fn mode(&self) -> SessionMode {
        self.drift.state().mode
    }
}

/// A command of git on a file.
fn git(command: &str, file: &str) -> ActionSketch {
    bash(
        &format!("git {command} {file}"),
        EffectKind::VersionControl,
        &[file],
    )
}

fn level_of(transition: &Transition) -> Option<CorrectionLevel> {
    transition
        .new_correction
        .as_ref()
        .map(|(_, correction)| correction.level)
}

fn outcomes(transition: &Transition) -> Vec<CorrectionOutcome> {
    transition.resolved.iter().filter_map(|one| one.outcome).collect()
}

fn verdict(score: u8) -> DriftVerdict {
    DriftVerdict {
        score,
        drift_type: DriftType::of_score(score),
        diagnostic: "The theme is not part of the goal.".to_owned(),
        recovery_plan: vec![RecoveryStep {
            file: Some("src/auth/token.ts".to_owned()),
            action: "Go back to src/auth/token.ts".to_owned(),
        }],
    }
}
