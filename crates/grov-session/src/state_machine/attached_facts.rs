//! Hard findings that occur while a correction is pending. They are delivered with it, or after it if it is dropped.

use super::corrections::CorrectionBasis;
use super::response::{facts, reasons, worst};
use super::transition::{EventContext, Transition};
use super::{DriftStateMachine, MAX_EARLIER};
use crate::assessed_action::AssessedAction;
use crate::findings::{is_certainly_off, rests_on};
use crate::recovery_plan::recovery_plan;
use crate::violation::Violation;
use grov_domain::{GoalContract, SessionMode};

impl DriftStateMachine {
    /// Attaches hard findings to the pending correction. Returns whether its text changed.
    pub(super) fn attach(&mut self, facts: &[&AssessedAction], contract: &GoalContract) -> bool {
        let is_own = |one: &AssessedAction| self.violation.call.is_some() && self.violation.call == one.call;
        let mut is_new = false;
        for one in facts.iter().filter(|one| !is_own(one)) {
            let is_known = self
                .attached
                .iter()
                .any(|known| known.call.is_some() && known.call == one.call);
            if self.pending_correction().is_none() || is_known {
                continue;
            }
            // What is certain takes the place of what is understood.
            let uncertain = self
                .attached
                .iter()
                .position(|known| !is_certainly_off(&known.assessment));
            if self.attached.len() >= MAX_EARLIER
                && is_certainly_off(&one.assessment)
                && let Some(uncertain) = uncertain
            {
                self.attached.remove(uncertain);
            }
            if self.attached.len() < MAX_EARLIER {
                self.attached.push((*one).clone());
                is_new = true;
            }
        }
        is_new && self.rebuild_text(contract)
    }

    /// Whether facts are attached that remain to be delivered.
    pub(crate) fn has_attached_facts(&self) -> bool {
        !self.attached.is_empty()
    }

    /// Returns the issues of the current correction and of the attached facts, each once.
    pub(super) fn all_issues(&self) -> Vec<String> {
        let mut issues = self.issues.clone();
        for reason in self.attached.iter().flat_map(facts) {
            if !issues.contains(&reason) {
                issues.push(reason);
            }
        }
        issues
    }

    /// Writes the text of the pending correction again. Returns whether there is one.
    pub(super) fn rebuild_text(&mut self, contract: &GoalContract) -> bool {
        let Some(mut correction) = self.pending_correction().cloned() else {
            return false;
        };
        correction.text = self.render(&correction, &self.all_issues(), contract);
        self.state.correction = Some(correction);
        true
    }

    /// Keeps the attached facts for which `keep` returns true. Returns whether the text changed.
    pub(crate) fn retain_attached(
        &mut self,
        contract: &GoalContract,
        keep: impl Fn(&AssessedAction) -> bool,
    ) -> bool {
        let before = self.attached.len();
        self.attached.retain(keep);
        self.attached.len() < before && self.rebuild_text(contract)
    }

    /// Creates a correction for the most severe attached fact, if no correction is left to deliver it with.
    pub(crate) fn promote_attached(&mut self, contract: &GoalContract, context: &EventContext) -> Transition {
        let mut transition = Transition::default();
        if self.state.correction.is_some() || !self.may_correct() {
            return transition;
        }
        let is_told = |one: &u64| self.told.contains(one) || self.state.mode == SessionMode::Forced;
        let spent = |one: &AssessedAction| rests_on(&one.assessment, is_told);
        self.attached = std::mem::take(&mut self.attached)
            .into_iter()
            .filter(|one| !spent(one))
            .collect();
        let Some(index) = worst(&self.attached, &[]) else {
            return transition;
        };
        let action = self.attached.remove(index);
        let basis = CorrectionBasis {
            issues: reasons(&action),
            plan: recovery_plan(contract, &action.action, &action.assessment.findings, true),
            is_firm: true,
            min_level: None,
        };
        self.correct(None, &action, basis, contract, context, &mut transition);
        transition.state_changed = true;
        self.touch(true, context.at);
        transition
    }

    /// Drops pending corrections and facts about files that these actions restore.
    pub(super) fn drop_restored(
        &mut self,
        response: &[AssessedAction],
        contract: &GoalContract,
        context: &EventContext,
        transition: &mut Transition,
    ) {
        let back: Vec<String> = response.iter().flat_map(|one| one.put_back.clone()).collect();
        if back.is_empty() {
            return;
        }
        self.earlier_violations
            .retain(|violation| !violation.is_undone_by(&back));
        transition.state_changed |=
            self.retain_attached(contract, |one| !Violation::of(one, true).is_undone_by(&back));
        if self.violation.is_undone_by(&back) && self.pending_correction().is_some() {
            let dismissed = self.drop_pending(context.at);
            transition.add(dismissed);
            transition.add(self.promote_attached(contract, context));
        }
    }
}
