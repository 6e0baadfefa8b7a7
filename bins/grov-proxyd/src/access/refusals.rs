//! Log lines about refused requests, few however many there are.

use grov_runtime::{TokenFault, printable};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Time between two log lines of a kind.
const LOG_EVERY: Duration = Duration::from_secs(10);

/// Counts refused requests and logs them from time to time. The metrics count them too.
#[derive(Default)]
pub(super) struct Refusals {
    unauthenticated: Kind,
    limited: Kind,
}

/// Refusals of a kind that are not logged yet.
struct Kind {
    start: Instant,
    /// Milliseconds from `start` to the time from which on a line may be logged.
    quiet_until: AtomicU64,
    unlogged: AtomicU64,
}

impl Default for Kind {
    fn default() -> Self {
        Self {
            start: Instant::now(),
            quiet_until: AtomicU64::new(0),
            unlogged: AtomicU64::new(0),
        }
    }
}

impl Refusals {
    /// Notes a request without a valid token. `fault` is `None` if it showed none, or several.
    pub(super) fn unauthenticated(&self, fault: Option<&TokenFault>, from: IpAddr) {
        let Some(count) = self.unauthenticated.count() else {
            return;
        };
        let why = match fault {
            None => "no token, or several".to_owned(),
            Some(TokenFault::Unknown) => "an unknown token".to_owned(),
            Some(TokenFault::Expired(name)) => format!("the expired token {name}"),
            Some(TokenFault::Revoked(name)) => format!("the revoked token {name}"),
        };
        tracing::warn!(count, %from, "refused requests without a valid token, the last with {}", printable(&why));
    }

    /// Notes a request beyond the rate limit.
    pub(super) fn limited(&self, user: Option<&str>, from: IpAddr) {
        let Some(count) = self.limited.count() else { return };
        let user = user.unwrap_or("-");
        tracing::warn!(count, %from, user, "refused requests beyond proxy.rate_limit");
    }

    /// Logs what was refused since the last line, if it is time for another one.
    pub(super) fn log_rest(&self) {
        for (kind, what) in [
            (&self.unauthenticated, "refused requests without a valid token"),
            (&self.limited, "refused requests beyond proxy.rate_limit"),
        ] {
            if kind.unlogged.load(Ordering::Relaxed) > 0
                && let Some(count) = kind.due()
            {
                tracing::warn!(count, "{what}");
            }
        }
    }
}

impl Kind {
    /// Counts a refusal. Returns the number to log, if it is time for a line.
    fn count(&self) -> Option<u64> {
        self.unlogged.fetch_add(1, Ordering::Relaxed);
        self.due()
    }

    fn due(&self) -> Option<u64> {
        let now = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        let quiet_until = self.quiet_until.load(Ordering::Relaxed);
        if now < quiet_until {
            return None;
        }
        let next = now.saturating_add(u64::try_from(LOG_EVERY.as_millis()).unwrap_or(u64::MAX));
        let exchanged =
            self.quiet_until
                .compare_exchange(quiet_until, next, Ordering::Relaxed, Ordering::Relaxed);
        // Another thread logs.
        exchanged.ok()?;
        Some(self.unlogged.swap(0, Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_refusals_are_few_lines() {
        let kind = Kind::default();
        assert_eq!(kind.count(), Some(1));
        let due = (0..1000).filter_map(|_| kind.count()).count();
        assert_eq!(due, 0);
        kind.quiet_until.store(0, Ordering::Relaxed);
        assert_eq!(kind.due(), Some(1000));
    }
}
