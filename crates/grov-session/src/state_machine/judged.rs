//! Applies the answers of a model: verdicts on responses, and forced actions.

use super::DriftStateMachine;
use super::corrections::CorrectionBasis;
use super::response::{combined, reasons, worst};
use super::transition::{EventContext, Position, Transition};
use crate::assessed_action::AssessedAction;
use crate::findings::has_hard_finding;
use crate::recovery_plan::recovery_plan;
use grov_domain::{
    Assessment, CorrectionId, DriftVerdict, ForcedRecovery, GoalContract, OFF_GOAL_BELOW, SessionMode,
};
use time::OffsetDateTime;

impl DriftStateMachine {
    /// Applies a model's verdict on a response that the rules have assessed. `asked_at` is the position at the time of the
    /// question; later events may outdate the verdict.
    pub fn apply_verdict(
        &mut self,
        response: &[AssessedAction],
        verdict: &DriftVerdict,
        asked_at: Position,
        contract: &GoalContract,
        context: &EventContext,
    ) -> Transition {
        let mut transition = Transition::default();
        let Some(index) = worst(response, &[]) else {
            return transition;
        };
        let action = &response[index];
        let is_hard = has_hard_finding(&action.assessment);
        let before = action.assessment.score;
        let score = combined(&action.assessment, verdict.score);
        let is_current = self.position() == asked_at;
        if score < OFF_GOAL_BELOW && is_current {
            if self.state.mode == SessionMode::Normal {
                self.state.mode = SessionMode::Drifted;
                transition.state_changed = true;
            }
            self.replace_last_score(before, score);
            let is_doubt_of_rules = self.state.correction.is_some() && !self.violation.is_firm;
            if is_doubt_of_rules && self.pending_correction().is_none() && self.violation.is_same_step(action)
            {
                // It was delivered as a doubt; from now on it is firm.
                self.violation.is_firm = true;
            }
            let is_free =
                self.state.correction.is_none() || (is_doubt_of_rules && self.pending_correction().is_some());
            if is_free && !is_hard && self.may_correct() && !self.is_permitted(&action.action) {
                let judged = AssessedAction {
                    assessment: Assessment {
                        score,
                        findings: action.assessment.findings.clone(),
                    },
                    ..action.clone()
                };
                let plan = if verdict.recovery_plan.is_empty() {
                    recovery_plan(contract, &action.action, &action.assessment.findings, true)
                } else {
                    verdict.recovery_plan.clone()
                };
                let mut issues = reasons(action);
                if !verdict.diagnostic.trim().is_empty() {
                    issues.insert(0, verdict.diagnostic.clone());
                }
                let basis = CorrectionBasis {
                    issues,
                    plan,
                    is_firm: true,
                    min_level: None,
                };
                self.correct(Some(index), &judged, basis, contract, context, &mut transition);
                if transition.new_correction.is_some() {
                    self.violation.judged_under = Some(contract.goal.clone());
                }
            }
        } else if score >= OFF_GOAL_BELOW && before < OFF_GOAL_BELOW && is_current {
            // The rules were wrong about it.
            self.replace_last_score(before, score);
            let about_it =
                self.state.correction.as_ref().is_some_and(|correction| {
                    correction.step_id.is_some() && correction.step_id == action.step
                });
            if about_it {
                self.expire(&mut transition);
                transition.add(self.promote_attached(contract, context));
            }
            self.reset_to_normal();
            transition.state_changed = true;
        }
        self.touch(transition.state_changed, context.at);
        transition
    }

    /// Replaces the pending forced action and its text by those of a model.
    pub fn apply_forced_recovery(
        &mut self,
        id: &CorrectionId,
        recovery: &ForcedRecovery,
        contract: &GoalContract,
        at: OffsetDateTime,
    ) -> bool {
        let pending = self.state.correction.as_mut();
        let Some(correction) = pending.filter(|one| one.id == *id && one.delivered_at.is_none()) else {
            return false;
        };
        correction.recovery_plan = vec![recovery.mandatory_action.clone()];
        correction.reason.clone_from(&recovery.recovery_prompt);
        self.issues = vec![recovery.recovery_prompt.clone()];
        self.touch(true, at);
        self.rebuild_text(contract)
    }
}
