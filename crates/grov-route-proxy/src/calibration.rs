//! Compares our token counts with those of providers, in the background: counting takes about 0.1 s per MB, and its vocabulary
//! tens of megabytes of memory. So nothing is compared until a client asks for a count.

use crate::provider::Provider;
use bytes::Bytes;
use grov_route::count_tokens;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

/// A request that a provider has counted.
struct Sample {
    body: Bytes,
    reported: u64,
    provider: Arc<Provider>,
}

/// Compares one request at a time. While it works, further ones are skipped.
#[derive(Default)]
pub(crate) struct Calibrator {
    next: Mutex<Option<Sample>>,
    added: Notify,
    /// Whether a client has asked for a count.
    is_needed: AtomicBool,
}

impl Calibrator {
    /// Notes that a client asks for a count. From now on requests are compared.
    pub(crate) fn count_was_asked(&self) {
        self.is_needed.store(true, Ordering::Relaxed);
    }

    /// Adds a request, unless one is waiting. `reported` is the provider's count.
    pub(crate) fn add(&self, body: &Bytes, reported: u64, provider: &Arc<Provider>) {
        if !self.is_needed.load(Ordering::Relaxed) {
            return;
        }
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        if next.is_none() && reported > 0 && provider.wants_comparison() {
            *next = Some(Sample {
                body: body.clone(),
                reported,
                provider: Arc::clone(provider),
            });
            self.added.notify_one();
        }
    }

    /// Compares the next request, once there is one.
    pub(crate) async fn run(&self) {
        self.added.notified().await;
        let sample = self.next.lock().unwrap_or_else(PoisonError::into_inner).take();
        let compare = move || {
            if let Some(sample) = sample
                && let Some(counted) = count_tokens(&sample.body)
            {
                sample.provider.compare(counted, sample.reported);
            }
        };
        // Fails only while the process is going down.
        let _ = tokio::task::spawn_blocking(compare).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_compared_before_a_client_asks_for_a_count() {
        let provider = Arc::new(Provider::new("p", "http://p", &[]));
        let calibrator = Calibrator::default();
        let is_waiting = || calibrator.next.lock().unwrap().is_some();
        calibrator.add(&Bytes::from_static(b"{}"), 9, &provider);
        assert!(!is_waiting());
        calibrator.count_was_asked();
        calibrator.add(&Bytes::from_static(b"{}"), 9, &provider);
        assert!(is_waiting());
    }
}
