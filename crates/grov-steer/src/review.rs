//! Whether a task that is saved has to be looked at, because the agent left its goal.

use grov_domain::{Task, TaskStatus};

/// The tag of a task in which the agent left its goal.
const HAD_DRIFT: &str = "had-drift";
/// The tag of a task that somebody should look at.
const NEEDS_REVIEW: &str = "needs-review";

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
            task.reasoning_trace.push(format!("Warning (halt): {reason}"));
        }
        let more = self.halts.len().saturating_sub(MOST_HALTS);
        if more > 0 {
            task.reasoning_trace
                .push(format!("Warning (halt): {more} more times"));
        }
        task
    }
}
