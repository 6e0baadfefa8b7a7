//! The state of a provider: circuit breaker, keys, and what its token counts are like.

use grov_redact::Secret;
use grov_route::{Breaker, BreakerState, Calibration, Health, KeyPool, is_about_key, is_retryable};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A provider. It survives changes of the provider file that do not change its endpoint and keys.
pub(crate) struct Provider {
    pub(crate) name: String,
    pub(crate) endpoint: String,
    pub(crate) keys: Arc<[Secret]>,
    state: Mutex<State>,
}

struct State {
    breaker: Breaker,
    keys: KeyPool,
    calibration: Calibration,
    /// How many counts were compared.
    compared: u32,
    /// Whether a request was sent.
    is_contacted: bool,
    /// What was wrong with the newest result that says something about the provider; `None` if nothing was.
    fault: Option<String>,
}

/// The permit of a request that decides whether a provider is used again. Dropped without a report, it lets the next request decide.
pub(crate) struct Probe {
    provider: Arc<Provider>,
    since: Instant,
}

impl Drop for Probe {
    fn drop(&mut self) {
        let mut state = self.provider.state();
        state.breaker.release(self.since, Instant::now());
    }
}

impl Provider {
    pub(crate) fn new(name: &str, endpoint: &str, keys: &[Secret]) -> Self {
        Self {
            name: name.to_owned(),
            endpoint: endpoint.to_owned(),
            keys: keys.into(),
            state: Mutex::new(State {
                breaker: Breaker::default(),
                keys: KeyPool::new(keys.len()),
                calibration: Calibration::default(),
                compared: 0,
                is_contacted: false,
                fault: None,
            }),
        }
    }

    /// Whether this is the same provider.
    pub(crate) fn is(&self, name: &str, endpoint: &str, keys: &[Secret]) -> bool {
        self.name == name && self.endpoint == endpoint && *self.keys == *keys
    }

    /// Allows one request, which decides whether the provider is used again; `None` while another one is under way.
    pub(crate) fn probe(self: &Arc<Self>, now: Instant) -> Option<Probe> {
        self.state().breaker.try_acquire(now).then(|| Probe {
            provider: Arc::clone(self),
            since: now,
        })
    }

    /// The state of the circuit breaker.
    pub(crate) fn circuit(&self, now: Instant) -> BreakerState {
        self.state().breaker.state(now)
    }

    /// The keys to try, the next in turn first; a single `None` if the provider wants no key.
    pub(crate) fn keys_in_turn(&self, now: Instant) -> Vec<Option<usize>> {
        let Some(first) = self.state().keys.pick(now) else {
            return vec![None];
        };
        let count = self.keys.len();
        (0..count).map(|offset| Some((first + offset) % count)).collect()
    }

    /// Reports a response. `is_observed` tells whether the end of an accepted request will be [reported](Self::ended).
    pub(crate) fn answered(
        &self,
        key: Option<usize>,
        status: u16,
        retry_after: Option<Duration>,
        is_observed: bool,
        now: Instant,
    ) {
        let mut state = self.state();
        state.is_contacted = true;
        if let Some(key) = key {
            state.keys.report(key, status, retry_after, now);
        }
        match status {
            200..300 => state.fault = None,
            // 404 is a wrong endpoint or model. Other refusals may be the request's fault.
            status if status == 404 || is_about_key(status) || is_retryable(status) => {
                state.fault = Some(format!("status {status}"));
            }
            _ => {}
        }
        let health = match status {
            // Another key may still be usable.
            429 if state.keys.has_rested(now) => return,
            429 => Health::Limited { retry_after },
            500.. if retry_after.is_some() => Health::Limited { retry_after },
            500.. => Health::Failure,
            200..300 if is_observed => Health::Accepted,
            status if is_about_key(status) && state.keys.has_rested(now) => return,
            _ => Health::Success,
        };
        state.breaker.report(now, health);
    }

    /// Reports that there was no usable response, and why.
    pub(crate) fn failed(&self, why: &str, now: Instant) {
        let mut state = self.state();
        state.is_contacted = true;
        state.fault = Some(why.to_owned());
        state.breaker.report(now, Health::Failure);
    }

    /// Reports how an answer ended whose status was a success: why it was of no use, or `None`.
    pub(crate) fn ended(&self, fault: Option<&str>, now: Instant) {
        let mut state = self.state();
        state.fault = fault.map(str::to_owned);
        let health = match fault {
            Some(_) => Health::Failure,
            None => Health::Success,
        };
        state.breaker.report(now, health);
    }

    /// What was wrong with the newest result that says something about the provider.
    pub(crate) fn fault(&self) -> Option<String> {
        self.state().fault.clone()
    }

    /// Whether a request was sent since the daemon or the provider's entry began.
    pub(crate) fn is_contacted(&self) -> bool {
        self.state().is_contacted
    }

    /// Whether it gets no requests because it asked to wait.
    pub(crate) fn is_limited(&self) -> bool {
        self.state().breaker.is_limited()
    }

    /// The probable token count of the provider for our count.
    pub(crate) fn adjust(&self, counted: u64) -> u64 {
        self.state().calibration.adjust(counted)
    }

    /// Whether the next count is worth comparing: the first ones, then one of 16.
    pub(crate) fn wants_comparison(&self) -> bool {
        let mut state = self.state();
        state.compared = state.compared.wrapping_add(1);
        state.compared <= 4 || state.compared.is_multiple_of(16)
    }

    /// Learns from a response.
    pub(crate) fn compare(&self, counted: u64, reported: u64) {
        self.state().calibration.observe(counted, reported);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_keys(count: usize) -> Arc<Provider> {
        let keys: Vec<Secret> = (0..count).map(|key| Secret::new(format!("key-{key}"))).collect();
        Arc::new(Provider::new("p", "http://p", &keys))
    }

    #[test]
    fn keys_take_turns_and_a_limited_one_comes_last() {
        let now = Instant::now();
        let provider = with_keys(3);
        assert_eq!(provider.keys_in_turn(now), [Some(0), Some(1), Some(2)]);
        assert_eq!(provider.keys_in_turn(now), [Some(1), Some(2), Some(0)]);
        provider.answered(Some(2), 429, None, true, now);
        assert_eq!(provider.keys_in_turn(now)[0], Some(0));
        assert_eq!(with_keys(0).keys_in_turn(now), [None]);
    }

    #[test]
    fn limit_of_the_last_key_opens_the_circuit() {
        let now = Instant::now();
        let provider = with_keys(2);
        let pause = Some(Duration::from_secs(7));
        provider.answered(Some(0), 429, pause, true, now);
        assert_eq!(provider.circuit(now), BreakerState::Closed);
        provider.answered(Some(1), 429, pause, true, now);
        assert!(matches!(provider.circuit(now), BreakerState::Open { .. }));
        assert!(provider.is_limited() && provider.is_contacted() && !with_keys(1).is_contacted());
        assert!(provider.probe(now).is_none());
        assert!(provider.probe(now + Duration::from_secs(7)).is_some());
    }

    #[test]
    fn failures_open_the_circuit_and_refusals_do_not() {
        let now = Instant::now();
        let provider = with_keys(1);
        for _ in 0..5 {
            provider.answered(Some(0), 400, None, true, now);
        }
        assert!(provider.probe(now).is_some());
        for _ in 0..3 {
            provider.failed("timed out", now);
        }
        assert!(provider.probe(now).is_none());
    }

    #[test]
    fn a_provider_that_refuses_or_fails_is_not_healthy() {
        let now = Instant::now();
        for status in [401, 403, 404, 429, 500] {
            let provider = with_keys(1);
            provider.answered(Some(0), 200, None, true, now);
            assert_eq!(provider.fault(), None);
            provider.answered(Some(0), status, None, true, now);
            assert_eq!(provider.fault(), Some(format!("status {status}")));
            // A request that it refuses says nothing about the provider.
            provider.answered(Some(0), 400, None, true, now);
            assert!(provider.fault().is_some());
            provider.answered(Some(0), 200, None, true, now);
            assert_eq!(provider.fault(), None);
        }
        let provider = with_keys(1);
        provider.failed("timed out", now);
        assert_eq!(provider.fault().as_deref(), Some("timed out"));
    }

    #[test]
    fn empty_answers_open_the_circuit_although_their_status_is_a_success() {
        let now = Instant::now();
        let provider = with_keys(1);
        for _ in 0..3 {
            assert!(provider.probe(now).is_some());
            provider.answered(Some(0), 200, None, true, now);
            provider.ended(Some("the answer is empty"), now);
        }
        assert!(provider.probe(now).is_none());
        assert_eq!(provider.fault().as_deref(), Some("the answer is empty"));
        provider.ended(None, now);
        assert!(provider.probe(now).is_some() && provider.fault().is_none());
    }

    #[test]
    fn an_accepted_answer_that_nobody_observes_is_a_success() {
        let now = Instant::now();
        let later = now + Duration::from_secs(3600);
        for (is_observed, state) in [(false, BreakerState::Closed), (true, BreakerState::HalfOpen)] {
            let provider = with_keys(1);
            for _ in 0..3 {
                provider.answered(Some(0), 200, None, true, now);
                provider.ended(Some("the answer is empty"), now);
            }
            let _probe = provider.probe(later);
            provider.answered(Some(0), 200, None, is_observed, later);
            provider.failed("timed out", later);
            let after = provider.circuit(later + Duration::from_secs(60));
            assert_eq!(after, state);
        }
    }

    #[test]
    fn an_answer_that_is_no_answer_after_all_counts_as_a_failure() {
        let now = Instant::now();
        let provider = with_keys(1);
        for _ in 0..3 {
            provider.answered(Some(0), 200, None, true, now);
            provider.failed("the answer is no JSON", now);
        }
        assert!(provider.probe(now).is_none());
    }

    #[test]
    fn a_server_error_may_ask_to_wait() {
        let now = Instant::now();
        for status in [500, 503, 529] {
            let provider = with_keys(1);
            provider.answered(Some(0), status, Some(Duration::from_secs(60)), true, now);
            assert!(provider.is_limited() && provider.probe(now).is_none(), "{status}");
        }
    }

    #[test]
    fn a_probe_without_result_does_not_block_the_provider() {
        let now = Instant::now();
        let provider = with_keys(1);
        for _ in 0..3 {
            provider.failed("timed out", now);
        }
        let later = now + Duration::from_secs(3600);
        let probe = provider.probe(later);
        assert!(probe.is_some() && provider.probe(later).is_none());
        drop(probe);
        assert!(provider.probe(later).is_some());
    }
}
