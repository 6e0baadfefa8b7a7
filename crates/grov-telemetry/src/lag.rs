//! How long the oldest record waits to be stored.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Submission times that are kept. With more records waiting, the lag is at least that of the oldest known one.
const MAX_KNOWN: usize = 4096;

/// The times at which records were submitted, newest last. Records are stored in this order.
#[derive(Debug, Default)]
pub(crate) struct StoreLag {
    submitted: Mutex<VecDeque<Instant>>,
}

impl StoreLag {
    pub(crate) fn submitted(&self, now: Instant) {
        let mut submitted = self.submitted.lock().unwrap_or_else(PoisonError::into_inner);
        if submitted.len() == MAX_KNOWN {
            submitted.pop_front();
        }
        submitted.push_back(now);
    }

    /// The age of the oldest of `queued` records that are not stored.
    pub(crate) fn of(&self, queued: u64, now: Instant) -> Duration {
        let mut submitted = self.submitted.lock().unwrap_or_else(PoisonError::into_inner);
        let queued = usize::try_from(queued).unwrap_or(usize::MAX);
        // Those before are stored.
        let stored = submitted.len().saturating_sub(queued);
        submitted.drain(..stored);
        submitted
            .front()
            .map_or(Duration::ZERO, |oldest| now.saturating_duration_since(*oldest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lag_is_the_age_of_the_oldest_record_that_is_not_stored() {
        let lag = StoreLag::default();
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(lag.of(0, at(1)), Duration::ZERO);
        for seconds in [1, 2, 3] {
            lag.submitted(at(seconds));
        }
        assert_eq!(lag.of(2, at(5)), Duration::from_secs(3));
        assert_eq!(lag.of(1, at(5)), Duration::from_secs(2));
        assert_eq!(lag.of(0, at(5)), Duration::ZERO);
        lag.submitted(at(6));
        assert_eq!(
            lag.of(7, at(8)),
            Duration::from_secs(2),
            "more wait than are known"
        );
    }
}
