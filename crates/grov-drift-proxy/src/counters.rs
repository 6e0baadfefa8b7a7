//! What is counted, for health and metrics.

use grov_domain::{CorrectionLevel, CorrectionOutcome};
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts what was judged, said and followed, since the program began.
#[derive(Debug, Default)]
pub struct Counters {
    pub(crate) assessed: AtomicU64,
    pub(crate) off_goal: AtomicU64,
    nudge: AtomicU64,
    correct: AtomicU64,
    intervene: AtomicU64,
    halt: AtomicU64,
    forced: AtomicU64,
    pub(crate) delivered: AtomicU64,
    followed: AtomicU64,
    ignored: AtomicU64,
    overtaken: AtomicU64,
    pub(crate) judged: AtomicU64,
    pub(crate) waited: AtomicU64,
    pub(crate) expired: AtomicU64,
    pub(crate) lost: AtomicU64,
}

impl Counters {
    /// The counters by name.
    pub fn all(&self) -> [(&'static str, u64); 15] {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        [
            // Actions that rules looked at.
            ("assessed", read(&self.assessed)),
            // Of these, those that scored below 5.
            ("off_goal", read(&self.off_goal)),
            // Corrections that were made, by level.
            ("nudge", read(&self.nudge)),
            ("correct", read(&self.correct)),
            ("intervene", read(&self.intervene)),
            ("halt", read(&self.halt)),
            ("forced", read(&self.forced)),
            // Corrections that were put into a request.
            ("delivered", read(&self.delivered)),
            // What became of corrections.
            ("followed", read(&self.followed)),
            ("ignored", read(&self.ignored)),
            ("overtaken", read(&self.overtaken)),
            // Verdicts of a model.
            ("judged", read(&self.judged)),
            // Requests that waited for the rules.
            ("waited", read(&self.waited)),
            // Corrections that were never said; they are among those overtaken.
            ("expired", read(&self.expired)),
            // Work for the background that there was no room for.
            ("lost", read(&self.lost)),
        ]
    }

    pub(crate) fn made(&self, level: CorrectionLevel) {
        let counter = match level {
            CorrectionLevel::Nudge => &self.nudge,
            CorrectionLevel::Correct => &self.correct,
            CorrectionLevel::Intervene => &self.intervene,
            CorrectionLevel::Halt => &self.halt,
            CorrectionLevel::Forced => &self.forced,
        };
        count(counter);
    }

    pub(crate) fn settled(&self, outcome: CorrectionOutcome) {
        let counter = match outcome {
            CorrectionOutcome::Followed => &self.followed,
            CorrectionOutcome::Ignored => &self.ignored,
            CorrectionOutcome::Overtaken => &self.overtaken,
        };
        count(counter);
    }
}

pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
