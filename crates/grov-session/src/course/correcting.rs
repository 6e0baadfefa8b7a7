//! Makes the correction of the state, and ends it.

use super::nouns::{Moment, Progress};
use super::{Course, MOST_EARLIER, goal_of};
use crate::assessed::Assessed;
use crate::correction::{self, Situation};
use crate::level::{level, lowered, raised};
use crate::offence::{Offence, demanded};
use grov_domain::{
    Correction, CorrectionId, CorrectionLevel, CorrectionOutcome, GoalContract, RecoveryStep, SessionMode,
};

/// Why something is said, and how.
pub(super) struct Ground {
    /// The gravest first, one sentence each.
    pub(super) issues: Vec<String>,
    pub(super) plan: Vec<RecoveryStep>,
    /// It is more than a doubt.
    pub(super) is_firm: bool,
    pub(super) least: Option<CorrectionLevel>,
}

impl Course {
    /// Makes the correction for an action.
    pub(super) fn correct(
        &mut self,
        place: Option<usize>,
        action: &Assessed,
        ground: Ground,
        contract: &GoalContract,
        moment: &Moment,
        progress: &mut Progress,
    ) {
        let score = action.assessment.score;
        let replaces = self.pending().is_some();
        let was_raised = replaces && self.has_raised;
        let escalation = self.state.escalation.saturating_sub(u8::from(was_raised));
        let Some(level) = level(score, escalation) else {
            return;
        };
        let mut level = if ground.is_firm {
            level.max(ground.least.unwrap_or(level))
        } else {
            level.min(CorrectionLevel::Correct)
        };
        if replaces && !self.offence.is_firm {
            self.doubts.1 = self.doubts.1.saturating_sub(1);
        }
        let before = std::mem::replace(&mut self.offence, Offence::of(action, ground.is_firm));
        if replaces && before.is_hard {
            self.also
                .extend(before.assessed(self.pending().map_or(score, |pending| pending.score)));
        }
        self.remember_earlier(before);
        self.state.is_fact = self.offence.is_hard;
        let mut plan = ground.plan;
        if self.state.mode == SessionMode::Forced {
            level = CorrectionLevel::Forced;
            plan = vec![demanded(contract, &self.offence)];
            self.demands = self.demands.saturating_add(1);
        }
        // Nobody has read a pending one yet; of one that was said nobody will know any more whether it was followed.
        self.end(CorrectionOutcome::Overtaken, progress);
        progress.expired += usize::from(replaces);
        let after = if ground.is_firm {
            raised(escalation, level)
        } else {
            escalation
        };
        self.has_raised = after > escalation;
        self.state.escalation = after;
        if !ground.is_firm {
            self.doubts = (goal_of(contract), self.doubts_under(contract).saturating_add(1));
            self.open_doubts.settled();
        }
        self.issues = ground.issues;
        let mut correction = Correction {
            id: self.next_id(moment),
            client_session_id: self.state.client_session_id.clone(),
            session_id: moment.task.clone(),
            step_id: action.step.clone(),
            tool_use_id: action.call.clone(),
            level,
            score,
            reason: self.issues.first().cloned().unwrap_or_default(),
            text: String::new(),
            recovery_plan: plan,
            made_at: moment.at,
            delivered_at: None,
            outcome: None,
        };
        correction.text = self.worded(&correction, &self.said_issues(), contract);
        self.since = 0;
        self.state.correction = Some(correction.clone());
        progress.changed = true;
        progress.made = Some((place, correction));
    }

    pub(super) fn worded(
        &self,
        correction: &Correction,
        issues: &[String],
        contract: &GoalContract,
    ) -> String {
        let situation = Situation {
            contract,
            level: correction.level,
            score: correction.score,
            escalation: self.state.escalation,
            failed: self.state.failed_recoveries,
            issues,
            plan: &correction.recovery_plan,
            instead: self.instead.as_deref(),
            is_doubt: !self.offence.is_firm,
        };
        correction::text(&situation, self.policy.budget, &self.state.said)
    }

    /// The id of the next correction: of several in one moment each has its own.
    fn next_id(&mut self, moment: &Moment) -> CorrectionId {
        let (id, times) = match self.newest_id.take() {
            Some((id, times)) if id == moment.id => (id, times + 1),
            _ => (moment.id.clone(), 0),
        };
        self.newest_id = Some((id.clone(), times));
        match times {
            0 => id,
            times => CorrectionId::new(format!("{id}-{times}")),
        }
    }

    pub(super) fn remember_earlier(&mut self, offence: Offence) {
        if offence.action.is_none() {
            return;
        }
        if self.earlier.len() >= MOST_EARLIER {
            self.earlier.remove(0);
        }
        self.earlier.push(offence);
    }

    /// How many doubts were said under the goal of a contract.
    pub(super) fn doubts_under(&self, contract: &GoalContract) -> u8 {
        let (goal, times) = self.doubts;
        if goal == goal_of(contract) { times } else { 0 }
    }

    /// Ends the correction of the state.
    pub(super) fn end(&mut self, outcome: CorrectionOutcome, progress: &mut Progress) {
        if let Some(mut correction) = self.state.correction.take() {
            correction.outcome = Some(outcome);
            progress.settled.push(correction);
            self.has_raised = false;
        }
    }

    /// The correction of the state is of no use any more; one that was never said leaves no trace in the escalation.
    pub(super) fn overtake(&mut self, progress: &mut Progress) {
        if self.pending().is_some() {
            progress.expired += 1;
            if !self.offence.is_firm {
                self.doubts.1 = self.doubts.1.saturating_sub(1);
            }
            if self.has_raised {
                self.state.escalation = lowered(self.state.escalation);
            }
        }
        self.end(CorrectionOutcome::Overtaken, progress);
    }
}
