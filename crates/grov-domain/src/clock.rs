//! The clock port.

use std::time::SystemTime;
use time::OffsetDateTime;
use time::macros::datetime;

/// The range of times that a clock returns. A wrong clock must not stop anything, and sums and differences with these
/// times can still be formatted.
const LATEST: OffsetDateTime = datetime!(9000-01-01 00:00 UTC);
const EARLIEST: OffsetDateTime = datetime!(1000-01-01 00:00 UTC);

/// A source of the current time. A port, so that tests can set it.
pub trait Clock: Send + Sync {
    /// The current time, UTC.
    fn now(&self) -> OffsetDateTime;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> OffsetDateTime {
        of_system(SystemTime::now())
    }
}

/// Clamps a system time to the range of a clock.
fn of_system(time: SystemTime) -> OffsetDateTime {
    let since = |length: std::time::Duration| time::Duration::try_from(length).unwrap_or(time::Duration::MAX);
    let time = match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => OffsetDateTime::UNIX_EPOCH.saturating_add(since(after)),
        Err(before) => OffsetDateTime::UNIX_EPOCH.saturating_sub(since(before.duration())),
    };
    time.clamp(EARLIEST, LATEST)
}

/// Returns `time` minus `length`, or the earliest time.
pub fn time_before(time: OffsetDateTime, length: std::time::Duration) -> OffsetDateTime {
    time::Duration::try_from(length).map_or(EARLIEST, |length| time.saturating_sub(length).max(EARLIEST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn wrong_system_times_are_clamped() {
        let year = Duration::from_secs(365 * 24 * 3600);
        let epoch = SystemTime::UNIX_EPOCH;
        assert_eq!(of_system(epoch), OffsetDateTime::UNIX_EPOCH);
        assert_eq!(
            of_system(epoch - Duration::from_millis(1500)),
            datetime!(1969-12-31 23:59:58.5 UTC)
        );
        for years in [20_000, 1_000_000] {
            assert_eq!(of_system(epoch - year * years), EARLIEST);
            assert_eq!(of_system(epoch + year * years), LATEST);
        }
    }

    #[test]
    fn subtracting_a_huge_duration_gives_the_earliest_time() {
        let now = datetime!(2026-05-01 12:00 UTC);
        assert_eq!(
            time_before(now, Duration::from_secs(60)),
            datetime!(2026-05-01 11:59 UTC)
        );
        for absurd in [
            Duration::MAX,
            Duration::from_secs(u64::MAX / 2),
            Duration::from_secs(1 << 40),
        ] {
            assert_eq!(time_before(now, absurd), EARLIEST);
        }
    }
}
