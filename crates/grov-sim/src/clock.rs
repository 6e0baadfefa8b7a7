//! A clock that only advances when a test advances it.

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
    /// A clock set to this time.
    pub fn at(now: OffsetDateTime) -> Self {
        Self {
            now: Arc::new(Mutex::new(now)),
        }
    }

    /// Advances the time.
    pub fn advance(&self, by: Duration) {
        *lock(&self.now) += by;
    }
}

impl Clock for ManualClock {
    fn now(&self) -> OffsetDateTime {
        *lock(&self.now)
    }
}
