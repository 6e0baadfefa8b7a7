//! Creates and ends the current correction.

use super::transition::{EventContext, Transition};
use super::{DriftStateMachine, MAX_EARLIER, goal_hash, push_bounded};
use crate::assessed_action::AssessedAction;
use crate::correction::{self, CorrectionInput};
use crate::findings::interpretations;
use crate::level::{level, lowered, raised};
use crate::violation::{Violation, forced_step};
use grov_domain::{
    Correction, CorrectionId, CorrectionLevel, CorrectionOutcome, GoalContract, RecoveryStep, SessionMode,
};

/// The reasons for a correction.
pub(super) struct CorrectionBasis {
    /// One sentence per issue, most severe first.
    pub(super) issues: Vec<String>,
    pub(super) plan: Vec<RecoveryStep>,
    /// Whether it is more than a doubt.
    pub(super) is_firm: bool,
    pub(super) min_level: Option<CorrectionLevel>,
}

impl DriftStateMachine {
    /// Creates the correction for an action.
    pub(super) fn correct(
        &mut self,
        index: Option<usize>,
        action: &AssessedAction,
        basis: CorrectionBasis,
        contract: &GoalContract,
        context: &EventContext,
        transition: &mut Transition,
    ) {
        let score = action.assessment.score;
        let replaces = self.pending_correction().is_some();
        let was_raised = replaces && self.raised_escalation;
        let escalation = self.state.escalation.saturating_sub(u8::from(was_raised));
        let Some(level) = level(score, escalation) else {
            return;
        };
        let interpretations = interpretations(&action.assessment);
        let is_strong = basis.is_firm && interpretations.is_empty();
        let mut level = if is_strong {
            level.max(basis.min_level.unwrap_or(level))
        } else {
            level.min(CorrectionLevel::Correct)
        };
        if replaces && !self.violation.is_firm {
            self.doubts.1 = self.doubts.1.saturating_sub(1);
        }
        let before = std::mem::replace(&mut self.violation, Violation::of(action, basis.is_firm));
        if replaces && before.is_hard {
            self.attached
                .extend(before.assessed(self.pending_correction().map_or(score, |pending| pending.score)));
        }
        self.push_earlier(before);
        self.state.is_fact = self.violation.is_hard;
        let mut plan = basis.plan;
        if self.state.mode == SessionMode::Forced {
            level = CorrectionLevel::Forced;
            plan = vec![forced_step(contract, &self.violation)];
            self.forced_demands = self.forced_demands.saturating_add(1);
        }
        // The agent has not read a pending one; whether it would follow a delivered one is no longer observed.
        self.end(CorrectionOutcome::Overtaken, transition);
        transition.expired += usize::from(replaces);
        push_bounded(&mut self.told, interpretations);
        let after = if is_strong {
            raised(escalation, level)
        } else {
            escalation
        };
        self.raised_escalation = after > escalation;
        self.state.escalation = after;
        if !basis.is_firm {
            self.doubts = (
                goal_hash(contract),
                self.doubts_reported(contract).saturating_add(1),
            );
            self.open_doubts.clear();
        }
        self.issues = basis.issues;
        let mut correction = Correction {
            id: self.next_id(context),
            client_session_id: self.state.client_session_id.clone(),
            session_id: context.task.clone(),
            step_id: action.step.clone(),
            tool_use_id: action.call.clone(),
            level,
            score,
            reason: self.issues.first().cloned().unwrap_or_default(),
            text: String::new(),
            recovery_plan: plan,
            made_at: context.at,
            delivered_at: None,
            outcome: None,
        };
        correction.text = self.render(&correction, &self.all_issues(), contract);
        self.since_correction = 0;
        self.state.correction = Some(correction.clone());
        transition.state_changed = true;
        transition.new_correction = Some((index, correction));
    }

    pub(super) fn render(
        &self,
        correction: &Correction,
        issues: &[String],
        contract: &GoalContract,
    ) -> String {
        let input = CorrectionInput {
            contract,
            level: correction.level,
            score: correction.score,
            escalation: self.state.escalation,
            failed: self.state.failed_recoveries,
            issues,
            plan: &correction.recovery_plan,
            instead: self.action_instead.as_deref(),
            is_doubt: !self.violation.is_firm,
        };
        correction::text(&input, self.policy.budget, &self.state.said)
    }

    /// Returns the id of the next correction. Several corrections of one event get different ids.
    fn next_id(&mut self, context: &EventContext) -> CorrectionId {
        let (id, times) = match self.newest_id.take() {
            Some((id, times)) if id == context.correction_id => (id, times + 1),
            _ => (context.correction_id.clone(), 0),
        };
        self.newest_id = Some((id.clone(), times));
        match times {
            0 => id,
            times => CorrectionId::new(format!("{id}-{times}")),
        }
    }

    pub(super) fn push_earlier(&mut self, violation: Violation) {
        if violation.action.is_none() {
            return;
        }
        if self.earlier_violations.len() >= MAX_EARLIER {
            self.earlier_violations.remove(0);
        }
        self.earlier_violations.push(violation);
    }

    /// Returns how many doubts were reported under this goal.
    pub(super) fn doubts_reported(&self, contract: &GoalContract) -> u8 {
        let (goal, times) = self.doubts;
        if goal == goal_hash(contract) { times } else { 0 }
    }

    /// Ends the current correction.
    pub(super) fn end(&mut self, outcome: CorrectionOutcome, transition: &mut Transition) {
        if let Some(mut correction) = self.state.correction.take() {
            correction.outcome = Some(outcome);
            transition.resolved.push(correction);
            self.raised_escalation = false;
        }
    }

    /// Ends the current correction as overtaken. One that was never delivered does not count for the escalation.
    pub(super) fn expire(&mut self, transition: &mut Transition) {
        if self.pending_correction().is_some() {
            transition.expired += 1;
            if !self.violation.is_firm {
                self.doubts.1 = self.doubts.1.saturating_sub(1);
            }
            if self.raised_escalation {
                self.state.escalation = lowered(self.state.escalation);
            }
            let untold = &self.violation.interpretations;
            self.told.retain(|one| !untold.contains(one));
        }
        self.end(CorrectionOutcome::Overtaken, transition);
    }
}
