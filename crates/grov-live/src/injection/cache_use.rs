//! When the prompt caches of conversations were used last. A conversation is identified by its first part, so that sessions
//! that were forked from one another count as one.

use super::LedgerBackend;
use grov_domain::StoreError;
use grov_wire::{Key128, RequestIndex};
use memchr::memmem;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use time::{Duration, OffsetDateTime};

/// The lifetime of a cache entry, with a margin.
const FIVE_MINUTES: Duration = Duration::seconds(5 * 60 + 30);
const HOUR: Duration = Duration::seconds(60 * 60 + 30);

/// Entries beyond which old ones are removed.
const MAX_ENTRIES: usize = 1024;

/// When the prompt caches were used last.
#[derive(Debug, Default)]
pub(super) struct CacheUse {
    used: Mutex<HashMap<CachedConversation, OffsetDateTime>>,
    /// The time of the newest request before this process started; `None` if there was none.
    before_start: OnceLock<Option<OffsetDateTime>>,
    /// The time of the first request.
    first_request: OnceLock<OffsetDateTime>,
}

/// A conversation. All models count as one: a change in the history is one for each of them, and the conversation may go back
/// to a model whose cache is warm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct CachedConversation {
    pub(super) first_part: Key128,
}

impl CacheUse {
    /// Loads the time of the newest stored request, once.
    pub(super) async fn load(&self, store: &dyn LedgerBackend) -> Result<(), StoreError> {
        if self.before_start.get().is_none() {
            let newest = store.last_request().await?;
            // A concurrent call may have set it.
            let _ = self.before_start.set(newest);
        }
        Ok(())
    }

    /// Records a request that arrived.
    pub(super) fn arrived(&self, at: OffsetDateTime) {
        self.first_request.get_or_init(|| at);
    }

    /// Records that the cache of a conversation was in use until `at`.
    pub(super) fn used(&self, conversation: CachedConversation, at: OffsetDateTime) {
        let mut used = self.entries();
        if used.len() >= MAX_ENTRIES {
            used.retain(|_, last| *last + HOUR > at);
        }
        let last = used.entry(conversation).or_insert(at);
        *last = at.max(*last);
    }

    /// Returns whether no prefix of the conversation's messages can be in the prompt cache. `is_known`: whether an earlier
    /// request of it came through Grov; without one, its cache may have been used elsewhere.
    pub(super) fn is_cold(
        &self,
        conversation: &CachedConversation,
        index: &RequestIndex,
        now: OffsetDateTime,
        is_known: bool,
    ) -> bool {
        // In a text, the quotes are escaped.
        let is_hour = memmem::find(index.body(), br#""ttl":"1h""#).is_some();
        let lifetime = if is_hour { HOUR } else { FIVE_MINUTES };
        if let Some(last) = self.entries().get(conversation) {
            return *last + lifetime <= now;
        }
        let Some(before_start) = self.before_start.get() else {
            return false;
        };
        // Requests that are repeated are not stored, so the newest one may be later than its stored time.
        let is_long_ago = before_start.is_none_or(|newest| newest + lifetime * 2 <= now);
        let runs_long = self
            .first_request
            .get()
            .is_some_and(|first| *first + lifetime <= now);
        is_known && (is_long_ago || runs_long)
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<CachedConversation, OffsetDateTime>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use time::macros::datetime;

    const NOON: OffsetDateTime = datetime!(2026-01-01 12:00 UTC);

    fn minutes(count: i64) -> OffsetDateTime {
        NOON + Duration::minutes(count)
    }

    fn of(number: u128) -> CachedConversation {
        CachedConversation {
            first_part: Key128::from_u128(number),
        }
    }

    fn index(ttl: &str) -> RequestIndex {
        let body = format!(
            r#"{{"system":[{{"type":"text","text":"s","cache_control":{{"type":"ephemeral"{ttl}}}}}]}}"#
        );
        RequestIndex::parse(&Bytes::from(body)).unwrap()
    }

    #[test]
    fn a_cache_is_cold_after_its_lifetime() {
        let caches = CacheUse::default();
        caches.used(of(7), NOON);
        let cold = |ttl: &str, at| caches.is_cold(&of(7), &index(ttl), at, true);
        assert!(!cold("", minutes(5)) && cold("", minutes(6)));
        let hour = r#","ttl":"1h""#;
        assert!(!cold(hour, minutes(60)) && cold(hour, minutes(61)));
        caches.used(of(7), minutes(-1));
        assert!(!cold("", minutes(5)), "an earlier use changes nothing");
    }

    #[test]
    fn what_was_before_the_start_may_be_warm() {
        let caches = CacheUse::default();
        let cold = |number, at, is_known| caches.is_cold(&of(number), &index(""), at, is_known);
        assert!(!cold(7, minutes(600), true), "nothing is loaded");
        caches.before_start.set(Some(minutes(-5))).unwrap();
        caches.arrived(NOON);
        assert!(!cold(7, NOON, true));
        assert!(cold(7, minutes(6), true) && !cold(7, minutes(6), false));
        caches.used(of(7), minutes(6));
        assert!(cold(8, minutes(7), true) && !cold(7, minutes(7), true));
    }
}
