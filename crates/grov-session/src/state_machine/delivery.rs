//! Delivers corrections and resolves them: followed, ignored or overtaken.

use super::recovery::OngoingUndo;
use super::response::facts;
use super::transition::Transition;
use super::{DriftStateMachine, push_bounded};
use crate::assessed_action::AssessedAction;
use crate::correction::{self, MAX_ISSUES};
use crate::doubt::shows_work;
use crate::findings::interpretations;
use crate::level::ON_GOAL_FROM;
use crate::recovery_plan::is_same_file;
use crate::violation::Violation;
use grov_domain::{Correction, CorrectionLevel, CorrectionOutcome, OFF_GOAL_BELOW};
use time::OffsetDateTime;

/// Responses over which an undo may extend.
const MAX_UNDO_RESPONSES: u8 = 3;
/// Maximum number of hashes of delivered texts.
pub(super) const MAX_DELIVERED_HASHES: usize = 64;

impl DriftStateMachine {
    /// Records the delivery of a correction. Returns whether it is the current one.
    pub fn mark_delivered(&mut self, said: &Correction, at: OffsetDateTime) -> bool {
        let Some(correction) = self.state.correction.as_mut().filter(|one| one.id == said.id) else {
            return false;
        };
        // Its text may have changed meanwhile; the agent has not read the new text.
        let is_complete = correction.text == said.text;
        correction.clone_from(said);
        correction.delivered_at = Some(at);
        // Facts that were left out for lack of room, or were found later, remain to be delivered.
        let issues = self.all_issues();
        let shown = &issues[..issues.len().min(MAX_ISSUES)];
        let was_shown =
            |one: &AssessedAction| is_complete && facts(one).iter().all(|reason| shown.contains(reason));
        let (shown_facts, left): (Vec<AssessedAction>, Vec<AssessedAction>) =
            std::mem::take(&mut self.attached)
                .into_iter()
                .partition(was_shown);
        self.attached = left;
        for one in &shown_facts {
            push_bounded(&mut self.told, interpretations(&one.assessment));
            self.push_earlier(Violation::of(one, true));
        }
        let Some(correction) = &self.state.correction else {
            return false;
        };
        let hash = correction::hash(&correction.text);
        self.state.said.push(hash);
        let surplus = self.state.said.len().saturating_sub(MAX_DELIVERED_HASHES);
        self.state.said.drain(..surplus);
        self.touch(true, at);
        true
    }

    /// Reverts the last delivery, which the agent has not read. Returns whether there was one.
    pub fn mark_undelivered(&mut self, at: OffsetDateTime) -> bool {
        let Some(correction) = self
            .state
            .correction
            .as_mut()
            .filter(|one| one.delivered_at.is_some())
        else {
            return false;
        };
        correction.delivered_at = None;
        self.state.said.pop();
        self.touch(true, at);
        true
    }

    /// Whether an action changes other files than the violation, on the goal. A commit or an installation does not show
    /// that the agent is back.
    pub(super) fn is_elsewhere(&self, one: &AssessedAction) -> bool {
        let is_same = |file: &String| self.violation.files.iter().any(|own| is_same_file(own, file));
        let action = &one.action;
        !one.is_delegated
            && one.assessment.score >= ON_GOAL_FROM
            && shows_work(action)
            && !action.files.iter().all(is_same)
    }

    /// Resolves the current correction, by the score of the response, whether it followed, and whether it changed
    /// something else on the goal. Returns the level of the correction if it is firm and was ignored.
    pub(super) fn resolve_correction(
        &mut self,
        (score, is_followed, is_elsewhere): (Option<u8>, bool, bool),
        at: OffsetDateTime,
        transition: &mut Transition,
    ) -> Option<CorrectionLevel> {
        let correction = self.state.correction.as_ref()?;
        if correction.delivered_at.is_none() {
            let is_stale = self.has_expired(correction, at);
            let is_moot = score.is_none_or(|score| score >= ON_GOAL_FROM)
                && !self.violation.is_hard
                && (self.violation.is_firm || is_elsewhere);
            if is_stale {
                self.attached.clear();
            }
            if is_stale || is_moot {
                self.expire(transition);
            }
            return None;
        }
        let enough = if correction.score < OFF_GOAL_BELOW {
            OFF_GOAL_BELOW
        } else {
            ON_GOAL_FROM
        };
        let is_back = is_followed || score.is_none_or(|score| score >= enough);
        let level = correction.level;
        // Other work on the goal does not undo a broken constraint.
        let is_left = self.violation.breaks_constraint() && !is_followed;
        let outcome = if is_back && !is_left {
            CorrectionOutcome::Followed
        } else {
            CorrectionOutcome::Ignored
        };
        if is_followed {
            self.undoing = Some(OngoingUndo {
                violation: self.violation.clone(),
                left: MAX_UNDO_RESPONSES,
            });
        }
        self.end(outcome, transition);
        (!is_back && self.violation.escalates()).then_some(level)
    }
}
