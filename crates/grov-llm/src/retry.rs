//! Retry with exponential backoff.

use crate::model::ModelError;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

/// The number of failed calls after which a question fails.
const MAX_FAILURES: u32 = 3;

/// The pause after the first failure; doubled after each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// The pause before the next call after `error`, the `failures`th of this question; `None` to give up. At least the provider's
/// `retry-after`; gives up if the pause would exceed `remaining`.
pub(crate) fn pause(error: &ModelError, failures: u32, remaining: Duration) -> Option<Duration> {
    if !error.may_pass() || failures >= MAX_FAILURES {
        return None;
    }
    let doubled = FIRST_PAUSE * 2_u32.pow(failures.saturating_sub(1).min(8));
    // Jitter, so that many processes do not retry at the same time.
    let jittered = doubled / 2 + doubled / 2 * (random() % 1024) / 1024;
    let pause = jittered.max(error.retry_after().unwrap_or_default());
    (pause < remaining).then_some(pause)
}

/// A random number. Not for secrets.
fn random() -> u32 {
    // The lower half of 64 random bits is enough.
    RandomState::new().build_hasher().finish() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn busy(retry_after: Option<u64>) -> ModelError {
        ModelError::Unavailable {
            status: 529,
            retry_after: retry_after.map(Duration::from_secs),
        }
    }

    #[test]
    fn pauses_grow_until_the_limit() {
        for _ in 0..100 {
            let first = pause(&busy(None), 1, MINUTE).unwrap();
            assert!((250..=500).contains(&first.as_millis()), "{first:?}");
            let second = pause(&busy(None), 2, MINUTE).unwrap();
            assert!((500..=1000).contains(&second.as_millis()), "{second:?}");
        }
        assert_eq!(pause(&busy(None), 3, MINUTE), None);
    }

    #[test]
    fn a_retry_waits_for_retry_after() {
        assert_eq!(pause(&busy(Some(7)), 1, MINUTE), Some(Duration::from_secs(7)));
        assert_eq!(pause(&busy(Some(70)), 1, MINUTE), None);
        assert!(pause(&busy(Some(0)), 1, MINUTE).unwrap() >= FIRST_PAUSE / 2);
    }

    #[test]
    fn permanent_errors_are_not_retried() {
        for error in [
            ModelError::KeyRefused(401),
            ModelError::Rejected {
                status: 404,
                kind: String::new(),
            },
            ModelError::TimedOut(MINUTE),
        ] {
            assert_eq!(pause(&error, 1, MINUTE), None, "{error}");
        }
    }
}
