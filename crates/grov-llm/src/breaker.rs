//! The circuit breaker: a provider that fails again and again is left alone for a while.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// So many failed calls in a row open the breaker.
const FAILURES: u32 = 5;

/// How long it stays open after them.
const PAUSE: Duration = Duration::from_secs(60);

/// How long it stays open after the key was refused: that does not mend itself soon.
const KEY_PAUSE: Duration = Duration::from_secs(15 * 60);

/// Lets calls through, or not.
#[derive(Debug)]
pub(crate) struct Breaker {
    /// Who is left alone, for the log.
    provider: &'static str,
    /// What happens meanwhile, for the log.
    meanwhile: &'static str,
    state: Mutex<State>,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Closed { failures: u32 },
    Open { until: Instant, why: Why, probing: bool },
}

impl Default for State {
    fn default() -> Self {
        Self::Closed { failures: 0 }
    }
}

/// Why the breaker is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// Too many failures in a row.
    Failures,
    /// The key was refused.
    KeyRefused,
}

/// How a call ended, as far as the provider's health goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Health {
    /// The provider answered, usably or not.
    Works,
    /// It did not.
    Fails,
    /// It refused the key.
    RefusesKey,
}

/// Leave to make one call. Dropped without a report it changes nothing.
#[derive(Debug)]
pub(crate) struct Pass<'a> {
    breaker: &'a Breaker,
    probe: bool,
}

impl Breaker {
    /// A closed breaker before `provider`; while it is open, `meanwhile`.
    pub(crate) fn new(provider: &'static str, meanwhile: &'static str) -> Self {
        Self {
            provider,
            meanwhile,
            state: Mutex::default(),
        }
    }

    /// Leave to make a call: always while the breaker is closed, to one caller at a time once it was open long enough.
    pub(crate) fn admit(&self) -> Option<Pass<'_>> {
        let mut state = self.lock();
        let probe = match &mut *state {
            State::Closed { .. } => false,
            State::Open { until, probing, .. } if !*probing && Instant::now() >= *until => {
                *probing = true;
                true
            }
            State::Open { .. } => return None,
        };
        Some(Pass { breaker: self, probe })
    }

    /// Why no call would be let through now, if so.
    pub(crate) fn blocked(&self) -> Option<Why> {
        match *self.lock() {
            State::Open { until, why, probing } if probing || Instant::now() < until => Some(why),
            _ => None,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pass<'_> {
    /// Tells how the call ended.
    pub(crate) fn report(self, health: Health) {
        let mut state = self.breaker.lock();
        let (pause, why) = match (health, *state) {
            (Health::Works, _) => {
                *state = State::default();
                return;
            }
            (Health::RefusesKey, _) => (KEY_PAUSE, Why::KeyRefused),
            (Health::Fails, State::Closed { failures }) if failures + 1 < FAILURES => {
                *state = State::Closed {
                    failures: failures + 1,
                };
                return;
            }
            (Health::Fails, State::Open { .. }) if !self.probe => return,
            (Health::Fails, _) => (PAUSE, Why::Failures),
        };
        let known = matches!(*state, State::Open { why: known, .. } if known == why);
        *state = State::Open {
            until: Instant::now() + pause,
            why,
            probing: false,
        };
        drop(state);
        if known {
            return;
        }
        let Breaker {
            provider, meanwhile, ..
        } = self.breaker;
        match why {
            Why::KeyRefused => tracing::error!(
                pause_seconds = pause.as_secs(),
                "{provider} refused the API key; {meanwhile}. Check the key and restart, or wait"
            ),
            Why::Failures => tracing::warn!(
                pause_seconds = pause.as_secs(),
                "{provider} failed {FAILURES} times in a row; {meanwhile} until it works again"
            ),
        }
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        if self.probe
            && let State::Open { probing, .. } = &mut *self.breaker.lock()
        {
            *probing = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closed() -> Breaker {
        Breaker::new("the provider", "nobody answers")
    }

    fn fail(breaker: &Breaker, times: u32) {
        for _ in 0..times {
            breaker.admit().unwrap().report(Health::Fails);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn it_opens_after_failures_in_a_row_and_closes_after_one_success() {
        let breaker = closed();
        fail(&breaker, FAILURES - 1);
        breaker.admit().unwrap().report(Health::Works);
        fail(&breaker, FAILURES - 1);
        assert_eq!(breaker.blocked(), None);
        fail(&breaker, 1);
        assert_eq!(breaker.blocked(), Some(Why::Failures));
        assert!(breaker.admit().is_none());
        tokio::time::advance(PAUSE).await;
        assert_eq!(breaker.blocked(), None);
        breaker.admit().unwrap().report(Health::Works);
        fail(&breaker, FAILURES - 1);
        assert_eq!(breaker.blocked(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn one_probe_at_a_time_and_a_failed_one_opens_it_again() {
        let breaker = closed();
        fail(&breaker, FAILURES);
        tokio::time::advance(PAUSE).await;
        let probe = breaker.admit().unwrap();
        assert!(breaker.admit().is_none());
        probe.report(Health::Fails);
        assert!(breaker.admit().is_none());
        tokio::time::advance(PAUSE).await;
        assert!(breaker.admit().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_probe_that_was_given_up_makes_room_for_the_next() {
        let breaker = closed();
        fail(&breaker, FAILURES);
        tokio::time::advance(PAUSE).await;
        drop(breaker.admit().unwrap());
        assert!(breaker.admit().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_refused_key_opens_it_at_once_and_for_long() {
        let breaker = closed();
        let late = breaker.admit().unwrap();
        breaker.admit().unwrap().report(Health::RefusesKey);
        assert_eq!(breaker.blocked(), Some(Why::KeyRefused));
        // A call that began before and failed otherwise does not shorten the pause.
        late.report(Health::Fails);
        tokio::time::advance(PAUSE).await;
        assert_eq!(breaker.blocked(), Some(Why::KeyRefused));
        tokio::time::advance(KEY_PAUSE).await;
        assert_eq!(breaker.blocked(), None);
    }
}
