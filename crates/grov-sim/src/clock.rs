//! A clock that only advances when it is told to.

use crate::state::lock;
use grov_domain::Clock;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use time::OffsetDateTime;

/// A settable clock. Clones share the time.
#[derive(Clone, Debug)]
pub struct ManualClock {
    now: Arc<Mutex<OffsetDateTime>>,
}

impl ManualClock {
    /// A clock that shows this time.
    pub fn at(now: OffsetDateTime) -> Self {
        Self {
            now: Arc::new(Mutex::new(now)),
        }
    }

    /// Moves the time on.
    pub fn advance(&self, by: Duration) {
        *lock(&self.now) += by;
    }
}

impl Clock for ManualClock {
    fn now(&self) -> OffsetDateTime {
        *lock(&self.now)
    }
}
