//! Whether a task that is saved has to be looked at, because the agent left its goal.

use grov_domain::{
    Correction, CorrectionLevel, DriftEvent, OFF_GOAL_BELOW, StepRow, Task, TaskStatus, TriggerReason,
};
use time::OffsetDateTime;

/// The tag of a task in which the agent left its goal.
const HAD_DRIFT: &str = "had-drift";
/// The tag of a task that somebody should look at.
const NEEDS_REVIEW: &str = "needs-review";
/// How the lines of a trace begin that tell why the agent was to stop.
const HALT_PREFIX: &str = "Warning (halt): ";

/// So many corrections that the agent was told.
const MAX_CORRECTIONS: usize = 3;
/// A mean of the changes' scores below this.
const MIN_MEAN: usize = 6;
/// The mean counts from so many scores on.
const MIN_SCORES: usize = 2;
/// Escalation from this on.
const MAX_FINAL_ESCALATION: u32 = 2;
/// Halts that are told one by one.
const MAX_HALTS: usize = 3;

/// What a check that gave no reason says.
const NO_REASON: &str = "what it did was far off the goal";

/// What is known of a piece of work when it is reviewed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// What was scored, oldest first.
    pub scored: Vec<Scored>,
    /// The corrections made, oldest first.
    pub corrections: Vec<CorrectionRecord>,
    /// The escalation that the work ended with, 0 to 3.
    pub escalation: u32,
}

/// An action, or several that were checked together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scored {
    /// 1 to 10; `None` where it was not scored.
    pub score: Option<u8>,
    /// It was off goal.
    pub is_off_goal: bool,
    /// It changed something. Reading is always on goal and would hide changes that are not.
    pub is_change: bool,
}

impl Scored {
    /// Work with this score.
    pub fn new(score: Option<u8>, is_change: bool) -> Self {
        Self {
            score,
            is_off_goal: score.is_some_and(|score| score < OFF_GOAL_BELOW),
            is_change,
        }
    }
}

/// A correction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorrectionRecord {
    /// How strong it is.
    pub level: CorrectionLevel,
    /// What deviates, where that is known.
    pub reason: Option<String>,
    /// The agent received it.
    pub is_delivered: bool,
}

impl Evidence {
    /// From records: the steps of a task, its actions that were judged off goal, all corrections of its client session, and
    /// the escalation it ended with.
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
        let said = own.iter().map(|correction| {
            let said = CorrectionRecord {
                level: correction.level,
                reason: Some(correction.reason.clone()),
                is_delivered: correction.delivered_at.is_some(),
            };
            (correction.made_at, said)
        });
        // An event whose correction is not kept.
        let is_alone = |event: &&DriftEvent| {
            let mut corrections = own.iter();
            !corrections.any(|correction| correction.step_id.is_some() && correction.step_id == event.step_id)
        };
        let of_alone = events.iter().filter(is_alone).filter_map(|event| {
            let level = event.level.as_deref().and_then(CorrectionLevel::from_name)?;
            let said = CorrectionRecord {
                level,
                reason: event.reason.clone(),
                is_delivered: false,
            };
            Some((event.timestamp, said))
        });
        Self {
            scored: in_order(of_steps.chain(of_events)),
            corrections: in_order(said.chain(of_alone)),
            escalation,
        }
    }

    /// The scores of the changes.
    fn scores(&self) -> Vec<usize> {
        let changes = self.scored.iter().filter(|scored| scored.is_change);
        changes
            .filter_map(|scored| scored.score)
            .map(usize::from)
            .collect()
    }

    /// How many corrections the agent received.
    fn delivered(&self) -> usize {
        self.corrections.iter().filter(|said| said.is_delivered).count()
    }

    /// Why the agent was to stop, each reason once.
    fn halts(&self) -> Vec<String> {
        let mut halts: Vec<String> = Vec::new();
        for said in &self.corrections {
            let reason = said.reason.as_deref().unwrap_or(NO_REASON);
            if said.level >= CorrectionLevel::Halt && !halts.iter().any(|known| known == reason) {
                halts.push(reason.to_owned());
            }
        }
        halts
    }

    /// The scores in one line: how many there are, how many corrections were made, the mean and the last one. `None`: there
    /// are none.
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

impl Review {
    /// Reviews a piece of work.
    ///
    /// It had drift if an action was off goal. It needs a review if the agent received three corrections or more, if its
    /// changes have a mean score below 6 (from two on), if it was told to stop or an action was demanded of it, or if it
    /// ended with an escalation of 2 or more.
    pub fn of(evidence: &Evidence) -> Self {
        let scores = evidence.scores();
        let is_low = scores.len() >= MIN_SCORES && scores.iter().sum::<usize>() < MIN_MEAN * scores.len();
        let halts = evidence.halts();
        Self {
            had_drift: evidence.scored.iter().any(|scored| scored.is_off_goal),
            needs_review: evidence.delivered() >= MAX_CORRECTIONS
                || is_low
                || !halts.is_empty()
                || evidence.escalation >= MAX_FINAL_ESCALATION,
            halts,
        }
    }

    /// The task with what drift leaves with it: tags, a status that says that it is not simply done, and a warning for
    /// each halt in the trace.
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

    /// A task that was saved with what an earlier review left with it, marked by this one instead: what came to light later
    /// may convict it and may acquit it.
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

/// Until when what is recorded in a task belongs to what was saved of it. What came later belongs to the next turn, and is
/// recorded there only until that is judged. `judged_at` is when a verdict last put a turn into the task.
pub fn saved_until(task: &Task, judged_at: Option<OffsetDateTime>) -> OffsetDateTime {
    let is_complete = task.trigger_reason == Some(TriggerReason::Complete);
    judged_at
        .filter(|judged_at| is_complete && *judged_at <= task.created_at)
        .unwrap_or(task.created_at)
}

#[cfg(test)]
mod tests;
