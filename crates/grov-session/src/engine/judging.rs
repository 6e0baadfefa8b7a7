//! Questions to a judge, and the application of its answers.

use super::SessionEngine;
use crate::assessed_action::AssessedAction;
use crate::findings::has_hard_finding;
use crate::judge_request::{JudgeRequest, JudgeTrigger, RequestKind, is_suspicious};
use crate::judged_words::{safe_recovery, safe_verdict};
use crate::level::ON_GOAL_FROM;
use crate::state_machine::{EventContext, Transition};
use grov_domain::{Correction, DriftVerdict, ForcedRecovery, SessionMode};
use time::OffsetDateTime;

/// Maximum number of suspicions per prompt for which a judge is asked, so that a long turn does not use up the daily
/// budget.
const MAX_SUSPICIONS: u8 = 2;

impl SessionEngine {
    /// Returns the reason to ask a judge about a response, if there is one.
    pub(super) fn trigger_for(&mut self, response: &[AssessedAction]) -> Option<JudgeTrigger> {
        let scores = response
            .iter()
            .filter(|one| one.action.is_change() || one.assessment.score < ON_GOAL_FROM);
        let score = scores.map(|one| one.assessment.score).min()?;
        let before = self.last_score.replace(score);
        if !self.builder.is_complete() || !self.preload.is_loaded() {
            return None;
        }
        let state = self.drift.state();
        let interval = u64::from(self.drift.policy.check_interval.max(1));
        let is_due = state.prompts.saturating_sub(state.judged_at_prompt) >= interval;
        let is_hard = response.iter().any(|one| has_hard_finding(&one.assessment));
        let is_suspicious = is_suspicious(score, before, is_hard)
            && self.suspicions < MAX_SUSPICIONS
            && state.mode != SessionMode::Forced;
        // Suspicion comes first: callers queue it while a judge is being asked, unlike an interval question.
        is_suspicious
            .then_some(JudgeTrigger::Suspicion)
            .or(is_due.then_some(JudgeTrigger::Interval))
    }

    /// Builds the question to a judge whether a response is on goal.
    pub fn verdict_request(&self, response: &[AssessedAction]) -> JudgeRequest {
        let position = self.drift.position();
        self.request(response, RequestKind::Verdict { position })
    }

    /// Builds the question to a judge which action to force.
    pub(super) fn forced_recovery_request(
        &self,
        response: &[AssessedAction],
        correction: &Correction,
    ) -> JudgeRequest {
        let asked = RequestKind::ForcedRecovery {
            correction: correction.id.clone(),
            reason: correction.reason.clone(),
        };
        self.request(response, asked)
    }

    fn request(&self, response: &[AssessedAction], asked: RequestKind) -> JudgeRequest {
        let contract = self.builder.contract().clone();
        JudgeRequest::new(contract, self.root.as_deref(), response, asked)
    }

    /// Records that a judge is asked because of `trigger`.
    pub fn judge_requested(&mut self, trigger: JudgeTrigger, at: OffsetDateTime) {
        if trigger == JudgeTrigger::Suspicion {
            self.suspicions += 1;
        }
        self.drift.judge_requested(at);
    }

    /// Applies a model's verdict on a response. A late verdict, after later responses or prompts, creates no correction.
    pub fn apply_verdict(
        &mut self,
        request: &JudgeRequest,
        verdict: &DriftVerdict,
        context: &EventContext,
    ) -> Transition {
        let RequestKind::Verdict { position } = *request.kind() else {
            return Transition::default();
        };
        let contract = self.builder.contract();
        let verdict = safe_verdict(verdict, request.response(), contract);
        self.drift
            .apply_verdict(request.response(), &verdict, position, contract, context)
    }

    /// Replaces the pending forced action by that of a model. Returns `false` if it is not pending anymore.
    pub fn apply_forced_recovery(
        &mut self,
        request: &JudgeRequest,
        recovery: &ForcedRecovery,
        at: OffsetDateTime,
    ) -> bool {
        let RequestKind::ForcedRecovery { correction, reason } = request.kind() else {
            return false;
        };
        let contract = request.contract();
        let recovery = safe_recovery(recovery, request.response(), contract, reason);
        self.drift
            .apply_forced_recovery(correction, &recovery, contract, at)
    }
}
