//! When the next target of a chain is tried.

use std::time::{Duration, SystemTime};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc2822;

/// Whether a response with this status, of which nothing was sent to the client, is worth trying the next target: 408, 409, 429 and 5xx.
/// Connection errors are too.
pub fn is_retryable(status: u16) -> bool {
    matches!(status, 408 | 409 | 429 | 500..=599)
}

/// Whether a response with this status is the key's fault, so that another key may work: 401, 402, 403 and 429.
pub fn is_about_key(status: u16) -> bool {
    matches!(status, 401 | 402 | 403 | 429)
}

/// The pause that the header `retry-after` asks for: seconds, or a date, which is compared with `now`. A date in the past is no pause.
pub fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = OffsetDateTime::parse(value, &Rfc2822).ok()?;
    let pause = date - OffsetDateTime::from(now);
    Some(Duration::try_from(pause).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_faults_that_may_pass_are_retried() {
        let retried: Vec<u16> = (100..600).filter(|status| is_retryable(*status)).collect();
        assert_eq!(retried.len(), 3 + 100);
        for status in [200, 400, 401, 403, 404, 413, 422] {
            assert!(!is_retryable(status), "{status}");
        }
    }

    #[test]
    fn retry_after_in_both_forms() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        assert_eq!(retry_after(" 7 ", now), Some(Duration::from_secs(7)));
        assert_eq!(retry_after("0.5", now), Some(Duration::from_millis(500)));
        assert_eq!(
            retry_after("Tue, 14 Nov 2023 22:14:20 GMT", now),
            Some(Duration::from_secs(60))
        );
        assert_eq!(
            retry_after("Tue, 14 Nov 2022 22:14:20 GMT", now),
            Some(Duration::ZERO)
        );
        for value in ["", "soon", "-5", "NaN", "inf", "1e300"] {
            assert_eq!(retry_after(value, now), None, "{value}");
        }
    }
}
