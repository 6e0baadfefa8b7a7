//! Facts that are found while a correction waits: they are said with it, and none is lost when that one turns out moot.

use super::corrections::CorrectionBasis;
use super::response::{facts, reasons, worst};
use super::transition::{EventContext, Transition};
use super::{DriftStateMachine, MAX_EARLIER};
use crate::assessed_action::AssessedAction;
use crate::recovery_plan::recovery_plan;
use crate::violation::Violation;
use grov_domain::GoalContract;

impl DriftStateMachine {
    /// Has these facts said with the correction that waits. Whether that changed its words.
    pub(super) fn attach(&mut self, facts: &[&AssessedAction], contract: &GoalContract) -> bool {
        let is_own = |one: &AssessedAction| self.violation.call.is_some() && self.violation.call == one.call;
        let mut is_new = false;
        for one in facts.iter().filter(|one| !is_own(one)) {
            let is_known = self
                .attached
                .iter()
                .any(|known| known.call.is_some() && known.call == one.call);
            if self.pending_correction().is_some() && !is_known && self.attached.len() < MAX_EARLIER {
                self.attached.push((*one).clone());
                is_new = true;
            }
        }
        is_new && self.rebuild_text(contract)
    }

    /// Whether facts are to be said beside the correction of the state, or after it.
    pub(crate) fn has_attached_facts(&self) -> bool {
        !self.attached.is_empty()
    }

    /// The issues of the correction of the state, with the facts that are said with it, each once.
    pub(super) fn all_issues(&self) -> Vec<String> {
        let mut issues = self.issues.clone();
        for reason in self.attached.iter().flat_map(facts) {
            if !issues.contains(&reason) {
                issues.push(reason);
            }
        }
        issues
    }

    /// Puts the correction that waits into words again. Whether there is one.
    fn rebuild_text(&mut self, contract: &GoalContract) -> bool {
        let Some(mut correction) = self.pending_correction().cloned() else {
            return false;
        };
        correction.text = self.render(&correction, &self.all_issues(), contract);
        self.state.correction = Some(correction);
        true
    }

    /// Drops facts that are said with the correction that waits, unless `stands`. Whether that changed its words.
    pub(crate) fn retain_attached(
        &mut self,
        contract: &GoalContract,
        stands: impl Fn(&AssessedAction) -> bool,
    ) -> bool {
        let before = self.attached.len();
        self.attached.retain(stands);
        self.attached.len() < before && self.rebuild_text(contract)
    }

    /// Makes a correction of the gravest fact that was to be said with one that ended unsaid.
    pub(crate) fn promote_attached(&mut self, contract: &GoalContract, context: &EventContext) -> Transition {
        let mut transition = Transition::default();
        if self.state.correction.is_some() || !self.may_correct() {
            return transition;
        }
        let Some(place) = worst(&self.attached, &[]) else {
            return transition;
        };
        let action = self.attached.remove(place);
        let ground = CorrectionBasis {
            issues: reasons(&action),
            plan: recovery_plan(contract, &action.action, &action.assessment.findings, true),
            is_firm: true,
            min_level: None,
        };
        self.correct(None, &action, ground, contract, context, &mut transition);
        transition.state_changed = true;
        self.touch(true, context.at);
        transition
    }

    /// Drops what waits to be said of files that these actions put back.
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
        transition.state_changed |=
            self.retain_attached(contract, |one| !Violation::of(one, true).is_undone_by(&back));
        if self.violation.is_undone_by(&back) && self.pending_correction().is_some() {
            let dismissed = self.drop_pending(context.at);
            transition.add(dismissed);
            transition.add(self.promote_attached(contract, context));
        }
    }
}
