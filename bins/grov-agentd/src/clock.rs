//! The clock of the service.

use grov_domain::{Clock, SystemClock};
use time::OffsetDateTime;

/// The machine's clock in microseconds, as the database keeps times: an answer shows the same time now and later.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MicrosecondClock;

impl Clock for MicrosecondClock {
    fn now(&self) -> OffsetDateTime {
        let now = SystemClock.now();
        // The rounded number is in range, as the one before was.
        now.replace_microsecond(now.microsecond()).unwrap_or(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_no_part_that_the_database_loses() {
        let now = MicrosecondClock.now();
        assert_eq!(now.nanosecond() % 1_000, 0);
        assert!(SystemClock.now() - now < time::Duration::minutes(1));
    }
}
