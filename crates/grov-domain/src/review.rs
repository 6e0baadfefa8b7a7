//! Whether a task that is saved has to be looked at, because the agent left its goal.

use crate::{
    Correction, CorrectionLevel, DriftEvent, OFF_GOAL_BELOW, StepRow, Task, TaskStatus, TriggerReason,
};
use time::OffsetDateTime;

/// The tag of a task in which the agent left its goal.
const HAD_DRIFT: &str = "had-drift";
/// The tag of a task that somebody should look at.
const NEEDS_REVIEW: &str = "needs-review";
/// How the lines of a trace begin that tell why the agent was to stop.
const HALTED: &str = "Warning (halt): ";

/// So many corrections that the agent was told.
const WARNINGS: usize = 3;
/// A mean of the changes' scores below this.
const LEAST_MEAN: usize = 6;
/// The mean counts from so many scores on.
const LEAST_SCORES: usize = 2;
/// Escalation from this on.
const ESCALATION: u32 = 2;
/// Halts that are told one by one.
const MOST_HALTS: usize = 3;

/// What drift leaves with a task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Review {
    /// The agent left its goal.
    pub had_drift: bool,
    /// Somebody should look at what came of it.
    pub needs_review: bool,
    /// Why the agent was told to stop, each reason once, oldest first.
    pub halts: Vec<String>,
}

/// Whether somebody should look at what came of a piece of work: the agent was told three corrections or more, the scores of
/// its changes have a mean below 6 (from two on), it was told to stop, or it ended with an escalation of 2 or more.
pub fn is_to_be_reviewed(corrections: usize, scores: &[usize], has_halts: bool, escalation: u32) -> bool {
    let is_low = scores.len() >= LEAST_SCORES && scores.iter().sum::<usize>() < LEAST_MEAN * scores.len();
    corrections >= WARNINGS || is_low || has_halts || escalation >= ESCALATION
}

impl Review {
    /// Reviews a task by its steps, by its actions that were judged off goal, by all corrections of its client session, and
    /// by the escalation it ended with (0 to 3).
    ///
    /// It had drift if an action was off goal. It needs a review if the agent was told three corrections or more, if its
    /// changes have a mean score below 6 (from two on; reading is always on goal and would hide them), if it was told to
    /// stop or an action was demanded of it, or if it ended with an escalation of 2 or more.
    pub fn of(steps: &[StepRow], events: &[DriftEvent], corrections: &[Correction], escalation: u32) -> Self {
        let is_known = |correction: &&Correction| {
            let id = correction.step_id.as_ref();
            steps.iter().any(|step| Some(&step.id) == id)
                || id.is_some() && events.iter().any(|event| event.step_id.as_ref() == id)
        };
        let own: Vec<&Correction> = corrections.iter().filter(is_known).collect();
        let told = own.iter().filter(|correction| correction.delivered_at.is_some());
        let off = |score: Option<u8>| score.is_some_and(|score| score < OFF_GOAL_BELOW);
        let changes = steps.iter().filter(|step| changes(step));
        let scores: Vec<usize> = changes
            .filter_map(|step| step.drift_score)
            .chain(events.iter().filter_map(|event| event.drift_score))
            .map(usize::from)
            .collect();
        let halts = halts(events, &own);
        Self {
            had_drift: !events.is_empty() || steps.iter().any(|step| off(step.drift_score)),
            needs_review: is_to_be_reviewed(told.count(), &scores, !halts.is_empty(), escalation),
            halts,
        }
    }

    /// The task with what drift leaves with it: tags, a status that says that it is not simply done, and a warning for
    /// each halt in the trace.
    pub fn marked(&self, mut task: Task) -> Task {
        let mut tag = |name: &str| {
            if !task.tags.iter().any(|tag| tag == name) {
                task.tags.push(name.to_owned());
            }
        };
        if self.had_drift {
            tag(HAD_DRIFT);
        }
        if self.needs_review {
            tag(NEEDS_REVIEW);
            if task.status == TaskStatus::Complete {
                task.status = TaskStatus::Partial;
            }
        }
        for reason in self.halts.iter().take(MOST_HALTS) {
            task.reasoning_trace.push(format!("{HALTED}{reason}"));
        }
        let more = self.halts.len().saturating_sub(MOST_HALTS);
        if more > 0 {
            task.reasoning_trace.push(format!("{HALTED}{more} more times"));
        }
        task
    }

    /// A task that was saved with what an earlier review left with it, marked by this one instead: what came to light later
    /// may convict it and may acquit it.
    pub fn marked_anew(&self, mut task: Task) -> Task {
        let was_to_be_reviewed = task.tags.iter().any(|tag| tag == NEEDS_REVIEW);
        let is_partial = task.status == TaskStatus::Partial;
        if was_to_be_reviewed && is_partial && task.trigger_reason == Some(TriggerReason::Complete) {
            task.status = TaskStatus::Complete;
        }
        task.tags.retain(|tag| tag != HAD_DRIFT && tag != NEEDS_REVIEW);
        task.reasoning_trace.retain(|line| !line.starts_with(HALTED));
        self.marked(task)
    }
}

/// Until when what is recorded in a task belongs to what was saved of it. What came later belongs to the next turn, and is
/// recorded there only until that is judged. `judged_at` is when a verdict last put a turn into the task.
pub fn saved_until(task: &Task, judged_at: Option<OffsetDateTime>) -> OffsetDateTime {
    let is_complete = task.trigger_reason == Some(TriggerReason::Complete);
    judged_at
        .filter(|judged_at| is_complete && *judged_at <= task.created_at)
        .unwrap_or(task.created_at)
}

fn changes(step: &StepRow) -> bool {
    step.action_type.modifies_files() || step.effects.iter().any(|effect| effect.kind.is_change())
}

/// Why the agent was to stop: by corrections, and by events whose correction is not kept.
fn halts(events: &[DriftEvent], corrections: &[&Correction]) -> Vec<String> {
    let is_halt = |level: CorrectionLevel| level >= CorrectionLevel::Halt;
    let mut found: Vec<(OffsetDateTime, &str)> = corrections
        .iter()
        .filter(|correction| is_halt(correction.level))
        .map(|correction| (correction.made_at, correction.reason.as_str()))
        .collect();
    let corrected = |event: &DriftEvent| {
        let mut corrections = corrections.iter();
        corrections.any(|correction| correction.step_id.is_some() && correction.step_id == event.step_id)
    };
    for event in events.iter().filter(|event| !corrected(event)) {
        let level = event.level.as_deref().and_then(CorrectionLevel::from_name);
        if level.is_some_and(is_halt) {
            let reason = event
                .reason
                .as_deref()
                .unwrap_or("what it did was far off the goal");
            found.push((event.timestamp, reason));
        }
    }
    found.sort_by_key(|(at, _)| *at);
    let mut reasons: Vec<String> = Vec::new();
    for (_, reason) in found {
        if !reasons.iter().any(|known| known == reason) {
            reasons.push(reason.to_owned());
        }
    }
    reasons
}

#[cfg(test)]
mod tests;
