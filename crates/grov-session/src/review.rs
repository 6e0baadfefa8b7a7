//! Decides whether a saved task needs a review because of drift.

use grov_domain::{
    Correction, CorrectionLevel, DriftEvent, OFF_GOAL_BELOW, StepRow, Task, TaskStatus, TriggerReason,
};
use time::OffsetDateTime;

/// Tag of a task that had drift.
const HAD_DRIFT: &str = "had-drift";
/// Tag of a task that needs a review.
const NEEDS_REVIEW: &str = "needs-review";
/// Prefix of the lines in the trace that explain a halt.
const HALT_PREFIX: &str = "Warning (halt): ";

/// Number of delivered corrections from which a review is needed.
const REVIEW_FROM_CORRECTIONS: usize = 3;
/// Mean score of changes below which a review is needed.
const MIN_MEAN: usize = 6;
/// Minimum number of scores for a mean.
const MIN_SCORES: usize = 2;
/// Final escalation from which a review is needed.
const REVIEW_FROM_ESCALATION: u32 = 2;
/// Maximum number of halts listed.
const MAX_HALTS: usize = 3;

/// The text for a halt that was recorded without a reason.
const NO_REASON: &str = "its actions were far off the goal";

/// The evidence for a review.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Scored actions, oldest first.
    pub scored: Vec<Scored>,
    /// Corrections, oldest first.
    pub corrections: Vec<CorrectionRecord>,
    /// The final escalation, 0 to 3.
    pub escalation: u32,
}

/// An action, or several that were checked together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scored {
    /// 1 to 10; `None` if it was not scored.
    pub score: Option<u8>,
    /// Whether the action was off goal.
    pub is_off_goal: bool,
    /// Whether it changed something. Only changes count for the mean score, because reads are always on goal.
    pub is_change: bool,
}

impl Scored {
    /// Creates an entry from a score.
    pub fn new(score: Option<u8>, is_change: bool) -> Self {
        Self {
            score,
            is_off_goal: score.is_some_and(|score| score < OFF_GOAL_BELOW),
            is_change,
        }
    }
}

/// A correction, as evidence for a review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorrectionRecord {
    /// The level.
    pub level: CorrectionLevel,
    /// The deviation, if known.
    pub reason: Option<String>,
    /// Whether the agent received it.
    pub is_delivered: bool,
}

impl Evidence {
    /// Collects evidence from stored records: the steps of a task, its off-goal actions, all corrections of its client
    /// session, and the final escalation.
    pub fn of_records(
        steps: &[StepRow],
        events: &[DriftEvent],
        corrections: &[Correction],
        escalation: u32,
    ) -> Self {
        let is_own = |correction: &&Correction| {
            let id = correction.step_id.as_ref();
            steps.iter().any(|step| Some(&step.id) == id)
                || id.is_some() && events.iter().any(|event| event.step_id.as_ref() == id)
        };
        let own: Vec<&Correction> = corrections.iter().filter(is_own).collect();
        let of_steps = steps.iter().map(|step| {
            let scored = Scored::new(step.drift_score, step.sketch().is_change());
            (step.timestamp, scored)
        });
        let of_events = events.iter().map(|event| {
            let scored = Scored {
                score: event.drift_score,
                is_off_goal: true,
                is_change: true,
            };
            (event.timestamp, scored)
        });
        let record = own.iter().map(|correction| {
            let record = CorrectionRecord {
                level: correction.level,
                reason: Some(correction.reason.clone()),
                is_delivered: correction.delivered_at.is_some(),
            };
            (correction.made_at, record)
        });
        // Off-goal actions without a stored correction.
        let is_alone = |event: &&DriftEvent| {
            let mut corrections = own.iter();
            !corrections.any(|correction| correction.step_id.is_some() && correction.step_id == event.step_id)
        };
        let of_alone = events.iter().filter(is_alone).filter_map(|event| {
            let level = event.level.as_deref().and_then(CorrectionLevel::from_name)?;
            let record = CorrectionRecord {
                level,
                reason: event.reason.clone(),
                is_delivered: false,
            };
            Some((event.timestamp, record))
        });
        Self {
            scored: in_order(of_steps.chain(of_events)),
            corrections: in_order(record.chain(of_alone)),
            escalation,
        }
    }

    /// Returns the scores of changes.
    fn scores(&self) -> Vec<usize> {
        let changes = self.scored.iter().filter(|scored| scored.is_change);
        changes
            .filter_map(|scored| scored.score)
            .map(usize::from)
            .collect()
    }

    /// Returns the number of delivered corrections.
    fn delivered(&self) -> usize {
        self.corrections
            .iter()
            .filter(|record| record.is_delivered)
            .count()
    }

    /// Returns the reasons of halts, each once.
    fn halts(&self) -> Vec<String> {
        let mut halts: Vec<String> = Vec::new();
        for record in &self.corrections {
            let reason = record.reason.as_deref().unwrap_or(NO_REASON);
            if record.level >= CorrectionLevel::Halt && !halts.iter().any(|known| known == reason) {
                halts.push(reason.to_owned());
            }
        }
        halts
    }

    /// Returns one line with the number of scored changes and delivered corrections, the mean and the last score. Returns
    /// `None` without scored changes.
    pub fn summary(&self) -> Option<String> {
        let scores = self.scores();
        let last = scores.last()?;
        let tenths = scores.iter().sum::<usize>() * 10 / scores.len();
        Some(format!(
            "Drift: {} checks, {} corrections, mean score {}.{}, last score {last}",
            scores.len(),
            self.delivered(),
            tenths / 10,
            tenths % 10,
        ))
    }
}

fn in_order<T>(items: impl Iterator<Item = (OffsetDateTime, T)>) -> Vec<T> {
    let mut items: Vec<(OffsetDateTime, T)> = items.collect();
    items.sort_by_key(|(at, _)| *at);
    items.into_iter().map(|(_, item)| item).collect()
}

/// The result of a review.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Review {
    /// Whether an action was off goal.
    pub had_drift: bool,
    /// Whether a person should review the task.
    pub needs_review: bool,
    /// The reasons of halts, each once, oldest first.
    pub halts: Vec<String>,
}

impl Review {
    /// Reviews the evidence.
    ///
    /// The task had drift if an action was off goal. It needs a review if the agent received three corrections or more,
    /// if its changes (two or more) have a mean score below 6, if it was halted or an action was forced, or if it ended
    /// with an escalation of 2 or more.
    pub fn of(evidence: &Evidence) -> Self {
        let scores = evidence.scores();
        let is_low = scores.len() >= MIN_SCORES && scores.iter().sum::<usize>() < MIN_MEAN * scores.len();
        let halts = evidence.halts();
        Self {
            had_drift: evidence.scored.iter().any(|scored| scored.is_off_goal),
            needs_review: evidence.delivered() >= REVIEW_FROM_CORRECTIONS
                || is_low
                || !halts.is_empty()
                || evidence.escalation >= REVIEW_FROM_ESCALATION,
            halts,
        }
    }

    /// Marks a task: adds tags, changes the status from complete to partial if a review is needed, and adds a warning
    /// to the trace for each halt.
    pub fn annotate(&self, mut task: Task) -> Task {
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
        for reason in self.halts.iter().take(MAX_HALTS) {
            task.reasoning_trace.push(format!("{HALT_PREFIX}{reason}"));
        }
        let more = self.halts.len().saturating_sub(MAX_HALTS);
        if more > 0 {
            task.reasoning_trace
                .push(format!("{HALT_PREFIX}{more} more times"));
        }
        task
    }

    /// Replaces the marks of an earlier review, because later verdicts can add and remove them.
    pub fn reannotate(&self, mut task: Task) -> Task {
        let was_to_be_reviewed = task.tags.iter().any(|tag| tag == NEEDS_REVIEW);
        let is_partial = task.status == TaskStatus::Partial;
        if was_to_be_reviewed && is_partial && task.trigger_reason == Some(TriggerReason::Complete) {
            task.status = TaskStatus::Complete;
        }
        task.tags.retain(|tag| tag != HAD_DRIFT && tag != NEEDS_REVIEW);
        task.reasoning_trace.retain(|line| !line.starts_with(HALT_PREFIX));
        self.annotate(task)
    }
}

/// Returns the time up to which the steps of a task belong to its saved record. Later steps belong to the next turn,
/// which has no verdict yet. `judged_at` is the time of the last verdict that assigned a turn to the task.
pub fn saved_until(task: &Task, judged_at: Option<OffsetDateTime>) -> OffsetDateTime {
    let is_complete = task.trigger_reason == Some(TriggerReason::Complete);
    judged_at
        .filter(|judged_at| is_complete && *judged_at <= task.created_at)
        .unwrap_or(task.created_at)
}

#[cfg(test)]
mod tests;
