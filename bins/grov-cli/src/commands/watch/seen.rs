//! Which changes were shown.

use std::collections::HashMap;
use time::{Duration, OffsetDateTime};

/// How long a change is remembered. The store returns changes again for half a minute, and rows by number for longer.
const MEMORY: Duration = Duration::hours(2);
/// Number of changes above which old ones are forgotten.
const MAX_REMEMBERED: usize = 20_000;

/// The changes that were shown, by their keys.
#[derive(Debug, Default)]
pub(in crate::commands) struct Seen {
    keys: HashMap<String, OffsetDateTime>,
}

impl Seen {
    /// Remembers a change, and says whether it is new.
    pub(in crate::commands) fn is_new(&mut self, key: String, at: OffsetDateTime) -> bool {
        self.keys.insert(key, at).is_none()
    }

    /// Forgets changes that are too old to be returned again.
    pub(in crate::commands) fn forget(&mut self, now: OffsetDateTime) {
        if self.keys.len() > MAX_REMEMBERED {
            self.keys.retain(|_, at| now - *at < MEMORY);
        }
    }
}
