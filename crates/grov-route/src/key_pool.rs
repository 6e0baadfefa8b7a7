//! The keys of a provider, used in turn.

use std::time::{Duration, Instant};

/// How long a key rests that the provider refused.
const REFUSED_PAUSE: Duration = Duration::from_secs(15 * 60);

/// How long a key rests that reached a limit, if the provider does not say.
const LIMITED_PAUSE: Duration = Duration::from_secs(30);

/// Which of a provider's keys is next. Knows only their positions in [`Target::keys`](crate::Target::keys).
#[derive(Clone, Debug, Default)]
pub struct KeyPool {
    resting_until: Vec<Option<Instant>>,
    next: usize,
}

impl KeyPool {
    /// A pool of `count` keys.
    pub fn new(count: usize) -> Self {
        Self {
            resting_until: vec![None; count],
            next: 0,
        }
    }

    /// The position of the next key that does not rest; if all rest, of the one that is available first. `None` without keys.
    pub fn pick(&mut self, now: Instant) -> Option<usize> {
        let count = self.resting_until.len();
        let in_turn = (0..count).map(|offset| (self.next + offset) % count);
        // The first one wins among equals.
        let key = in_turn.min_by_key(|key| self.rest_left(*key, now))?;
        self.next = (key + 1) % count;
        Some(key)
    }

    /// Whether a key is available that does not rest.
    pub fn has_rested(&self, now: Instant) -> bool {
        (0..self.resting_until.len()).any(|key| self.rest_left(key, now).is_zero())
    }

    /// Lets a key rest after a response with this status, if it is about the key; see [`is_about_key`](crate::is_about_key).
    pub fn report(&mut self, key: usize, status: u16, retry_after: Option<Duration>, now: Instant) {
        let pause = match status {
            429 => retry_after.unwrap_or(LIMITED_PAUSE).min(REFUSED_PAUSE),
            status if crate::is_about_key(status) => REFUSED_PAUSE,
            _ => return,
        };
        if let Some(resting) = self.resting_until.get_mut(key) {
            *resting = Some(now + pause);
        }
    }

    fn rest_left(&self, key: usize, now: Instant) -> Duration {
        let until = self.resting_until.get(key).copied().flatten();
        until.map_or(Duration::ZERO, |until| until.saturating_duration_since(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_used_in_turn() {
        let now = Instant::now();
        let mut pool = KeyPool::new(3);
        let picked: Vec<_> = (0..5).filter_map(|_| pool.pick(now)).collect();
        assert_eq!(picked, [0, 1, 2, 0, 1]);
        assert_eq!(KeyPool::new(0).pick(now), None);
        assert!(!KeyPool::new(0).has_rested(now));
    }

    #[test]
    fn a_key_rests_after_a_limit_and_a_refused_one_longer() {
        let now = Instant::now();
        let mut pool = KeyPool::new(2);
        pool.report(0, 429, Some(Duration::from_secs(5)), now);
        assert_eq!([pool.pick(now), pool.pick(now)], [Some(1), Some(1)]);
        pool.report(1, 401, None, now);
        assert!(!pool.has_rested(now));
        assert_eq!(pool.pick(now), Some(0));
        let later = now + Duration::from_secs(6);
        assert!(pool.has_rested(later));
        assert_eq!([pool.pick(later), pool.pick(later)], [Some(0), Some(0)]);
    }

    #[test]
    fn other_errors_are_not_the_keys_fault() {
        let now = Instant::now();
        let mut pool = KeyPool::new(1);
        pool.report(0, 500, None, now);
        pool.report(7, 429, None, now);
        assert!(pool.has_rested(now));
    }
}
