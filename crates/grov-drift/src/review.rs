//! What a session leaves behind: whether somebody should look at what came of it.

use grov_domain::{CorrectionLevel, HookCheck, OFF_GOAL_BELOW, Task, TaskStatus};

/// The tag of a task in which the agent left its goal.
const HAD_DRIFT: &str = "had-drift";
/// The tag of a task that somebody should look at.
const NEEDS_REVIEW: &str = "needs-review";
/// So many corrections.
const WARNINGS: usize = 3;
/// A mean of the checks' scores below this.
const LEAST_MEAN: usize = 6;
/// The mean counts from so many checks on.
const LEAST_SCORES: usize = 2;
/// Escalation from this on.
const ESCALATION: u8 = 2;
/// Halts that are told one by one.
const MOST_HALTS: usize = 3;

/// What drift leaves with a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Review {
    /// The agent left its goal.
    pub had_drift: bool,
    /// Somebody should look at what came of it.
    pub needs_review: bool,
    /// Checks after which the agent was corrected.
    pub corrections: usize,
    /// The score of the newest check.
    pub last_score: Option<u8>,
    /// Why the agent was told to stop, each reason once, oldest first.
    pub halts: Vec<String>,
}

/// Reviews a session by its checks, oldest first, and by the escalation it ended with (0 to 3).
///
/// It needs a review after three corrections, by a mean score below 6 from two checks on, after any halt, and with an
/// escalation of 2 or more.
pub fn review(checks: &[HookCheck], escalation: u8) -> Review {
    let corrections = checks.iter().filter(|check| check.correction.is_some()).count();
    let sum: usize = checks.iter().map(|check| usize::from(check.score)).sum();
    let is_low = checks.len() >= LEAST_SCORES && sum < LEAST_MEAN * checks.len();
    let mut halts: Vec<String> = Vec::new();
    for check in checks
        .iter()
        .filter(|check| check.level >= Some(CorrectionLevel::Halt))
    {
        let reason = check
            .reason
            .as_deref()
            .unwrap_or("what it did was far off the goal");
        if !halts.iter().any(|known| known == reason) {
            halts.push(reason.to_owned());
        }
    }
    Review {
        had_drift: checks.iter().any(|check| check.score < OFF_GOAL_BELOW),
        needs_review: corrections >= WARNINGS || is_low || !halts.is_empty() || escalation >= ESCALATION,
        corrections,
        last_score: checks.last().map(|check| check.score),
        halts,
    }
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
