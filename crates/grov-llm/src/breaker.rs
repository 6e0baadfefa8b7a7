//! A circuit breaker: a provider that fails repeatedly gets no calls for a while.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The number of consecutive failures that opens the breaker.
const FAILURES: u32 = 5;

/// How long it then stays open.
const PAUSE: Duration = Duration::from_secs(60);

/// How long it stays open after the key was refused.
const KEY_REFUSED_PAUSE: Duration = Duration::from_secs(15 * 60);

/// How long it stays open while the user's client has no login: asking again costs nothing but a process.
const LOGGED_OUT_PAUSE: Duration = Duration::from_secs(5 * 60);

/// How long it stays open while there is no client: a look costs nothing, and an updater removes the old one first.
const MISSING_PAUSE: Duration = Duration::from_secs(30);

/// The breaker of one provider.
#[derive(Debug)]
pub(crate) struct Breaker {
    /// The provider's name, for the log.
    provider: &'static str,
    /// What happens while it is open, for the log.
    meanwhile: &'static str,
    state: Mutex<State>,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Closed {
        failures: u32,
    },
    Open {
        until: Instant,
        why: OpenReason,
        probing: bool,
    },
}

impl Default for State {
    fn default() -> Self {
        Self::Closed { failures: 0 }
    }
}

/// Why the breaker is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenReason {
    /// Too many failures in a row.
    Failures,
    /// The key was refused.
    KeyRefused,
    /// The user's client is not installed.
    NotInstalled,
    /// The user's client is not logged in.
    LoggedOut,
}

/// The result of a call, as far as the provider's health is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Health {
    /// The provider gave a usable answer, or refused to answer.
    Success,
    /// The provider did not answer, or gave an answer that cannot be used.
    Failure,
    /// The provider refused the key.
    KeyRefused,
    /// The user's client is not installed.
    NotInstalled,
    /// The user's client is not logged in.
    LoggedOut,
}

/// Permission for one call. Dropped without a report, it leaves the state unchanged.
#[derive(Debug)]
pub(crate) struct Permit<'a> {
    breaker: &'a Breaker,
    probe: bool,
}

impl Breaker {
    /// A closed breaker for `provider`. `meanwhile` says what happens while it is open.
    pub(crate) fn new(provider: &'static str, meanwhile: &'static str) -> Self {
        Self {
            provider,
            meanwhile,
            state: Mutex::default(),
        }
    }

    /// A permit for a call: always while closed; after the pause, one probe at a time.
    pub(crate) fn try_acquire(&self) -> Option<Permit<'_>> {
        let mut state = self.lock();
        let probe = match &mut *state {
            State::Closed { .. } => false,
            State::Open { until, probing, .. } if !*probing && Instant::now() >= *until => {
                *probing = true;
                true
            }
            State::Open { .. } => return None,
        };
        Some(Permit { breaker: self, probe })
    }

    /// Why the breaker is open now; `None` if calls are permitted.
    pub(crate) fn blocked(&self) -> Option<OpenReason> {
        match *self.lock() {
            State::Open { until, why, probing } if probing || Instant::now() < until => Some(why),
            _ => None,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Permit<'_> {
    /// Reports the result of the call.
    pub(crate) fn report(self, health: Health) {
        let mut state = self.breaker.lock();
        let (pause, why) = match (health, *state) {
            (Health::Success, _) => {
                *state = State::default();
                return;
            }
            (Health::KeyRefused, _) => (KEY_REFUSED_PAUSE, OpenReason::KeyRefused),
            (Health::NotInstalled, _) => (MISSING_PAUSE, OpenReason::NotInstalled),
            (Health::LoggedOut, _) => (LOGGED_OUT_PAUSE, OpenReason::LoggedOut),
            (Health::Failure, State::Closed { failures }) if failures + 1 < FAILURES => {
                *state = State::Closed {
                    failures: failures + 1,
                };
                return;
            }
            (Health::Failure, State::Open { .. }) if !self.probe => return,
            (Health::Failure, _) => (PAUSE, OpenReason::Failures),
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
            OpenReason::KeyRefused => tracing::error!(
                pause_seconds = pause.as_secs(),
                "{provider} refused the API key; {meanwhile}. Check the key and restart, or wait"
            ),
            OpenReason::NotInstalled => tracing::error!(
                pause_seconds = pause.as_secs(),
                "{provider} is the client `claude`, which is not installed or not in PATH; {meanwhile}. Install Claude Code"
            ),
            OpenReason::LoggedOut => tracing::error!(
                pause_seconds = pause.as_secs(),
                "{provider} is the client `claude`, which is not logged in; {meanwhile}. Run `claude` and log in"
            ),
            OpenReason::Failures => tracing::warn!(
                pause_seconds = pause.as_secs(),
                "{provider} gave no usable answer {FAILURES} times in a row; {meanwhile} until it works again"
            ),
        }
    }
}

impl Drop for Permit<'_> {
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
        Breaker::new("the provider", "no calls are made")
    }

    fn fail(breaker: &Breaker, times: u32) {
        for _ in 0..times {
            breaker.try_acquire().unwrap().report(Health::Failure);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_breaker_opens_after_consecutive_failures_and_closes_after_a_success() {
        let breaker = closed();
        fail(&breaker, FAILURES - 1);
        breaker.try_acquire().unwrap().report(Health::Success);
        fail(&breaker, FAILURES - 1);
        assert_eq!(breaker.blocked(), None);
        fail(&breaker, 1);
        assert_eq!(breaker.blocked(), Some(OpenReason::Failures));
        assert!(breaker.try_acquire().is_none());
        tokio::time::advance(PAUSE).await;
        assert_eq!(breaker.blocked(), None);
        breaker.try_acquire().unwrap().report(Health::Success);
        fail(&breaker, FAILURES - 1);
        assert_eq!(breaker.blocked(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn one_probe_is_permitted_at_a_time_and_a_failed_one_reopens_the_breaker() {
        let breaker = closed();
        fail(&breaker, FAILURES);
        tokio::time::advance(PAUSE).await;
        let probe = breaker.try_acquire().unwrap();
        assert!(breaker.try_acquire().is_none());
        probe.report(Health::Failure);
        assert!(breaker.try_acquire().is_none());
        tokio::time::advance(PAUSE).await;
        assert!(breaker.try_acquire().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_its_updater_replaces_is_soon_asked_again() {
        let breaker = closed();
        breaker.try_acquire().unwrap().report(Health::NotInstalled);
        assert_eq!(breaker.blocked(), Some(OpenReason::NotInstalled));
        tokio::time::advance(MISSING_PAUSE).await;
        breaker.try_acquire().unwrap().report(Health::Success);
        assert_eq!(breaker.blocked(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_dropped_probe_permits_the_next_one() {
        let breaker = closed();
        fail(&breaker, FAILURES);
        tokio::time::advance(PAUSE).await;
        drop(breaker.try_acquire().unwrap());
        assert!(breaker.try_acquire().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_refused_key_opens_the_breaker_immediately_for_longer() {
        let breaker = closed();
        let late = breaker.try_acquire().unwrap();
        breaker.try_acquire().unwrap().report(Health::KeyRefused);
        assert_eq!(breaker.blocked(), Some(OpenReason::KeyRefused));
        // A call that started earlier and failed for another reason does not shorten the pause.
        late.report(Health::Failure);
        tokio::time::advance(PAUSE).await;
        assert_eq!(breaker.blocked(), Some(OpenReason::KeyRefused));
        tokio::time::advance(KEY_REFUSED_PAUSE).await;
        assert_eq!(breaker.blocked(), None);
    }
}
