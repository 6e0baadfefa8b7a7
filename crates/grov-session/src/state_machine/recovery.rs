//! Recognizes actions that follow a recovery plan.

use super::response::worst;
use super::{DriftStateMachine, push_bounded};
use crate::assessed_action::AssessedAction;
use crate::findings::has_hard_finding;
use crate::level::ON_GOAL_FROM;
use crate::violation::{StepMatch, Violation, fingerprint, match_step};
use grov_domain::Finding;
use serde::{Deserialize, Serialize};

/// An undo that extends over several responses.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct OngoingUndo {
    #[serde(rename = "offence")]
    pub(super) violation: Violation,
    /// Responses that it may still take.
    pub(super) left: u8,
}

impl DriftStateMachine {
    /// Returns the actions that follow the first step of the delivered correction.
    pub(super) fn followed(&mut self, response: &[AssessedAction]) -> Vec<usize> {
        let correction = self.state.correction.as_ref();
        let Some(step) = correction
            .filter(|correction| correction.delivered_at.is_some())
            .and_then(|correction| correction.recovery_plan.first())
        else {
            return Vec::new();
        };
        let mut followed = Vec::new();
        let mut undone = Vec::new();
        for (index, one) in response.iter().enumerate().filter(|(_, one)| !one.is_delegated) {
            if self.violation.is_undone_by(&one.put_back) {
                followed.push(index);
                continue;
            }
            let is_believed = || !one.action.files.iter().any(|file| self.undone.contains(file));
            match match_step(&one.action, step, &self.violation) {
                StepMatch::Yes => followed.push(index),
                StepMatch::Perhaps if is_believed() => {
                    followed.push(index);
                    undone.extend(one.action.files.iter().cloned());
                }
                StepMatch::Perhaps | StepMatch::No => {}
            }
        }
        push_bounded(&mut self.undone, undone);
        followed
    }

    /// Returns the actions that the user let pass or that continue an accepted undo.
    pub(super) fn exempt(&mut self, response: &[AssessedAction], followed: &[usize]) -> Vec<usize> {
        let is_exempt = |one: &AssessedAction| {
            // The user let pass the doubts along with the hard findings.
            let is_known = |finding: &Finding| {
                self.state.consent.facts.contains(&fingerprint(finding)) || finding.rule.is_doubt()
            };
            let is_allowed =
                has_hard_finding(&one.assessment) && one.assessment.findings.iter().all(is_known);
            let undoes = self
                .undoing
                .as_ref()
                .is_some_and(|undoing| undoing.violation.may_be_undone_by(&one.action));
            // Only after the newest correction was followed, and once per file: an edit alone does not prove an undo.
            let is_old = |file: &String| self.undone.contains(file) || self.violation.files.contains(file);
            let is_new = !one.action.files.iter().any(is_old);
            let is_free = is_new && self.state.correction.is_none();
            let takes_back = |violation: &Violation| is_free && violation.may_be_undone_by(&one.action);
            let undoes = undoes || self.earlier_violations.iter().any(takes_back);
            one.assessment.score < ON_GOAL_FROM && !one.is_delegated && (is_allowed || undoes)
        };
        let places = response.iter().enumerate();
        let exempt: Vec<usize> = places
            .filter(|(index, one)| !followed.contains(index) && is_exempt(one))
            .map(|(index, _)| index)
            .collect();
        let files = exempt
            .iter()
            .flat_map(|index| response[*index].action.files.clone());
        let files: Vec<String> = files
            .filter(|file| {
                self.earlier_violations
                    .iter()
                    .any(|violation| violation.files.contains(file))
            })
            .collect();
        push_bounded(&mut self.undone, files);
        if worst(response, followed).is_some()
            && let Some(undoing) = &mut self.undoing
        {
            let comes_back = |one: &AssessedAction| undoing.violation.is_repeated_by(&one.action);
            undoing.left = undoing.left.saturating_sub(1);
            if undoing.left == 0 || response.iter().any(comes_back) {
                self.undoing = None;
            }
        }
        exempt
    }
}
