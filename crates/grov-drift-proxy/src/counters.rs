//! Counters for health pages.

use grov_domain::{CorrectionLevel, CorrectionOutcome};

grov_live::counters! {
    /// The counters of drift detection.
    pub struct Counters {
        /// Actions judged by rules.
        assessed,
        /// Actions that scored below 5.
        off_goal,
        /// Corrections created at each level.
        nudge,
        correct,
        intervene,
        halt,
        forced,
        /// Corrections added to a request.
        delivered,
        /// Outcomes of corrections.
        followed,
        ignored,
        overtaken,
        /// Verdicts of a model.
        judged,
        /// Requests that waited for the rules.
        waited,
        /// Corrections that expired before they were delivered. They also count as overtaken.
        expired,
        /// Background jobs dropped because a queue was full.
        lost,
    }
}

impl Counters {
    pub(crate) fn correction_created(&self, level: CorrectionLevel) {
        let counter = match level {
            CorrectionLevel::Nudge => &self.nudge,
            CorrectionLevel::Correct => &self.correct,
            CorrectionLevel::Intervene => &self.intervene,
            CorrectionLevel::Halt => &self.halt,
            CorrectionLevel::Forced => &self.forced,
        };
        counter.increment();
    }

    pub(crate) fn correction_resolved(&self, outcome: CorrectionOutcome) {
        let counter = match outcome {
            CorrectionOutcome::Followed => &self.followed,
            CorrectionOutcome::Ignored => &self.ignored,
            CorrectionOutcome::Overtaken => &self.overtaken,
        };
        counter.increment();
    }
}
