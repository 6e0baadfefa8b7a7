//! A circuit breaker: a provider that fails repeatedly gets no requests for a while.

use std::time::{Duration, Instant};

/// Consecutive failures that open the breaker.
const FAILURES: u32 = 3;

/// How long it stays open at first; doubled after each failed probe.
const FIRST_PAUSE: Duration = Duration::from_secs(10);

/// The longest pause, also for a provider's `retry-after`.
const MAX_PAUSE: Duration = Duration::from_secs(5 * 60);

/// After this time without a report, a probe counts as lost and another one is allowed.
const PROBE_LIFETIME: Duration = Duration::from_secs(60);

/// The breaker of one provider. A state machine without a clock: every method takes the time.
#[derive(Clone, Debug, Default)]
pub struct Breaker {
    state: State,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Closed {
        failures: u32,
        /// How long it will be open if it opens.
        pause: Duration,
    },
    Open {
        until: Instant,
        pause: Duration,
        is_limit: bool,
    },
    Probing {
        since: Instant,
        pause: Duration,
    },
}

impl Default for State {
    fn default() -> Self {
        Self::Closed {
            failures: 0,
            pause: FIRST_PAUSE,
        }
    }
}

/// How a request to a provider ended, as far as its health is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// It answered, also with an error that is the request's fault.
    Success,
    /// It accepted the request; the end of its answer, which is reported too, decides.
    Accepted,
    /// It could not be reached, broke off, or answered with a server error.
    Failure,
    /// It asked to wait: status 429, or 503 with `retry-after`.
    Limited {
        /// Its `retry-after`.
        retry_after: Option<Duration>,
    },
}

/// The state of a breaker, as shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BreakerState {
    /// All requests are allowed.
    Closed,
    /// No requests are allowed.
    Open {
        /// Until one request is allowed.
        remaining: Duration,
    },
    /// The next request, or the one that is under way, decides.
    HalfOpen,
}

impl BreakerState {
    /// The state's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open { .. } => "open",
            Self::HalfOpen => "half-open",
        }
    }
}

impl Breaker {
    /// Whether a request may be sent now. If this returns `true`, the result must be reported or the request released: after a pause,
    /// one request at a time is allowed.
    pub fn try_acquire(&mut self, now: Instant) -> bool {
        let (allowed_from, pause) = match self.state {
            State::Closed { .. } => return true,
            State::Open { until, pause, .. } => (until, pause),
            State::Probing { since, pause } => (since + PROBE_LIFETIME, pause),
        };
        if now < allowed_from {
            return false;
        }
        self.state = State::Probing { since: now, pause };
        true
    }

    /// Gives up the probe that was acquired at `since` and has no result. The next request may probe at `now`.
    pub fn release(&mut self, since: Instant, now: Instant) {
        if let State::Probing { since: began, pause } = self.state
            && began == since
        {
            self.state = State::Open {
                until: now,
                pause,
                is_limit: false,
            };
        }
    }

    /// Reports how a request ended.
    pub fn report(&mut self, now: Instant, health: Health) {
        self.state = match (health, self.state) {
            (Health::Success, _) => State::default(),
            // An answer that flows lets other requests through. If it breaks off, the breaker opens again.
            (Health::Accepted, State::Probing { pause, .. }) => State::Closed {
                failures: FAILURES - 1,
                pause: longer(pause),
            },
            (Health::Accepted, state) => state,
            (
                Health::Limited {
                    retry_after: Some(pause),
                },
                _,
            ) => State::Open {
                until: now + pause.min(MAX_PAUSE),
                pause: pause.min(MAX_PAUSE),
                is_limit: true,
            },
            (_, State::Closed { failures, pause }) if failures + 1 < FAILURES => State::Closed {
                failures: failures + 1,
                pause,
            },
            (_, State::Closed { pause, .. }) => open(now, pause),
            (_, State::Probing { pause, .. }) => open(now, longer(pause)),
            // A request that was sent before the breaker opened.
            (_, open @ State::Open { .. }) => open,
        };
    }

    /// Whether it is open because the provider asked to wait, and not because it failed repeatedly.
    pub fn is_limited(&self) -> bool {
        matches!(self.state, State::Open { is_limit: true, .. })
    }

    /// The state now.
    pub fn state(&self, now: Instant) -> BreakerState {
        match self.state {
            State::Closed { .. } => BreakerState::Closed,
            State::Open { until, .. } if now < until => BreakerState::Open {
                remaining: until - now,
            },
            State::Open { .. } | State::Probing { .. } => BreakerState::HalfOpen,
        }
    }
}

/// The pause after another failed probe.
fn longer(pause: Duration) -> Duration {
    (pause * 2).clamp(FIRST_PAUSE, MAX_PAUSE)
}

fn open(now: Instant, pause: Duration) -> State {
    State::Open {
        until: now + pause,
        pause,
        is_limit: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn opened(now: Instant) -> Breaker {
        let mut breaker = Breaker::default();
        for _ in 0..FAILURES {
            assert!(breaker.try_acquire(now));
            breaker.report(now, Health::Failure);
        }
        breaker
    }

    #[test]
    fn consecutive_failures_open_it_and_a_success_forgets_them() {
        let now = Instant::now();
        let mut breaker = Breaker::default();
        for health in [
            Health::Failure,
            Health::Failure,
            Health::Success,
            Health::Failure,
            Health::Failure,
        ] {
            breaker.report(now, health);
        }
        assert_eq!(breaker.state(now), BreakerState::Closed);
        breaker.report(now, Health::Limited { retry_after: None });
        assert_eq!(
            breaker.state(now),
            BreakerState::Open {
                remaining: FIRST_PAUSE
            }
        );
        assert!(!breaker.try_acquire(now));
    }

    #[test]
    fn after_the_pause_one_request_decides() {
        let now = Instant::now();
        let mut breaker = opened(now);
        let later = now + FIRST_PAUSE;
        assert_eq!(breaker.state(later), BreakerState::HalfOpen);
        assert!(breaker.try_acquire(later));
        assert!(!breaker.try_acquire(later));
        breaker.report(later, Health::Success);
        assert_eq!(breaker.state(later), BreakerState::Closed);
        assert!(breaker.try_acquire(later));
    }

    #[test]
    fn an_accepted_probe_lets_others_through_and_its_end_decides() {
        let now = Instant::now();
        let later = now + FIRST_PAUSE;
        for (end, state) in [
            (Health::Success, BreakerState::Closed),
            (
                Health::Failure,
                BreakerState::Open {
                    remaining: FIRST_PAUSE * 2,
                },
            ),
        ] {
            let mut breaker = opened(now);
            assert!(breaker.try_acquire(later));
            breaker.report(later, Health::Accepted);
            assert!(breaker.try_acquire(later) && breaker.try_acquire(later));
            breaker.report(later, end);
            assert_eq!(breaker.state(later), state);
        }
    }

    #[test]
    fn answers_that_begin_and_break_off_open_it() {
        let now = Instant::now();
        let mut breaker = Breaker::default();
        for _ in 0..FAILURES {
            assert!(breaker.try_acquire(now));
            breaker.report(now, Health::Accepted);
            breaker.report(now, Health::Failure);
        }
        assert!(!breaker.try_acquire(now));
    }

    #[test]
    fn pauses_double_up_to_a_limit() {
        let mut now = Instant::now();
        let mut breaker = opened(now);
        let mut pauses = Vec::new();
        for _ in 0..7 {
            let BreakerState::Open { remaining } = breaker.state(now) else {
                panic!("{breaker:?}");
            };
            pauses.push(remaining.as_secs());
            now += remaining;
            assert!(breaker.try_acquire(now));
            breaker.report(now, Health::Failure);
        }
        assert_eq!(pauses, [10, 20, 40, 80, 160, 300, 300]);
    }

    #[test]
    fn retry_after_opens_it_at_once_but_not_for_ever() {
        let now = Instant::now();
        let mut breaker = Breaker::default();
        breaker.report(
            now,
            Health::Limited {
                retry_after: Some(seconds(30)),
            },
        );
        assert!(breaker.is_limited() && !opened(now).is_limited());
        assert!(!breaker.try_acquire(now + seconds(29)));
        assert!(breaker.try_acquire(now + seconds(30)));
        breaker.report(
            now,
            Health::Limited {
                retry_after: Some(seconds(86_400)),
            },
        );
        assert_eq!(breaker.state(now), BreakerState::Open { remaining: MAX_PAUSE });
    }

    #[test]
    fn a_lost_probe_does_not_block_the_provider() {
        let now = Instant::now();
        let mut breaker = opened(now);
        let probe = now + FIRST_PAUSE;
        assert!(breaker.try_acquire(probe));
        assert!(!breaker.try_acquire(probe + PROBE_LIFETIME - seconds(1)));
        assert!(breaker.try_acquire(probe + PROBE_LIFETIME));
    }

    #[test]
    fn a_released_probe_does_not_block_the_provider() {
        let now = Instant::now();
        let mut breaker = opened(now);
        let probe = now + FIRST_PAUSE;
        assert!(breaker.try_acquire(probe));
        breaker.release(now, probe);
        assert!(!breaker.try_acquire(probe), "the probe of another request");
        breaker.release(probe, probe + seconds(1));
        assert!(breaker.try_acquire(probe + seconds(1)));
        breaker.report(probe + seconds(2), Health::Failure);
        breaker.release(probe + seconds(1), probe + seconds(2));
        let remaining = FIRST_PAUSE * 2;
        assert_eq!(
            breaker.state(probe + seconds(2)),
            BreakerState::Open { remaining }
        );
    }

    #[test]
    fn late_failures_do_not_prolong_the_pause() {
        let now = Instant::now();
        let mut breaker = opened(now);
        breaker.report(now + seconds(5), Health::Failure);
        assert!(breaker.try_acquire(now + FIRST_PAUSE));
    }
}
