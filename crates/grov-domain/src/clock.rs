//! The clock port.

use time::OffsetDateTime;

/// Tells the time. A port, so that tests can set it.
pub trait Clock: Send + Sync {
    /// The current time, UTC.
    fn now(&self) -> OffsetDateTime;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> OffsetDateTime {
        OffsetDateTime::now_utc()
    }
}
