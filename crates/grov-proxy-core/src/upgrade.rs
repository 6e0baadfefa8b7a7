//! Connections that change their protocol (RFC 9110 §7.8), such as to WebSocket.
//!
//! The request goes to the upstream on a connection of its own. After a 101 both connections have left HTTP, and the client
//! connection's task copies bytes between them.

use crate::connection_state::{ConnectionState, RequestGuard, Signal};
use crate::metrics::Metrics;
use crate::tunnel::copy_both;
use http::header::{self, HeaderMap, HeaderValue};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;
use tokio::io::split;

/// After shutdown began, a connection whose peers are silent for so long is closed.
const SHUTDOWN_PAUSE: Duration = Duration::from_secs(1);

/// The protocols that a client offers to change to: the values of `upgrade`.
pub(crate) struct Protocols(Vec<HeaderValue>);

impl Protocols {
    /// Returns what a request offers, or `None` if it asks for no change of protocol, or for one to another version of HTTP or
    /// to TLS: these concern the connection to the proxy alone.
    pub(crate) fn offered(headers: &HeaderMap) -> Option<Self> {
        let is_announced =
            tokens(headers, &header::CONNECTION).any(|token| token.eq_ignore_ascii_case("upgrade"));
        let mut protocols = tokens(headers, &header::UPGRADE).peekable();
        protocols.peek()?;
        let of_the_connection = |token: &str| {
            let name = token.split('/').next().unwrap_or_default();
            ["h2c", "h2", "http", "tls"]
                .iter()
                .any(|own| name.eq_ignore_ascii_case(own))
        };
        if !is_announced || protocols.any(of_the_connection) {
            return None;
        }
        Some(Self(headers.get_all(header::UPGRADE).iter().cloned().collect()))
    }

    /// Adds the headers that ask for the change, or confirm it.
    pub(crate) fn announce(&self, headers: &mut HeaderMap) {
        headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
        for value in &self.0 {
            headers.append(header::UPGRADE, value.clone());
        }
    }

    /// Returns the protocols that a response names.
    pub(crate) fn chosen(headers: &HeaderMap) -> Self {
        Self(headers.get_all(header::UPGRADE).iter().cloned().collect())
    }
}

/// The elements of a header that is a list.
fn tokens<'a>(headers: &'a HeaderMap, name: &header::HeaderName) -> impl Iterator<Item = &'a str> {
    headers
        .get_all(name)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .filter(|token| !token.is_empty())
}

/// A client and an upstream that have agreed on another protocol.
pub(crate) struct Switched {
    /// The client's side, once hyper has written the 101.
    client: OnUpgrade,
    upstream: Upgraded,
    _open: OpenGuard,
}

/// Counts an open connection until it is dropped.
struct OpenGuard(Arc<Metrics>);

impl Drop for OpenGuard {
    fn drop(&mut self) {
        self.0.switched.dec();
    }
}

impl Switched {
    pub(crate) fn new(client: OnUpgrade, upstream: Upgraded, metrics: Arc<Metrics>) -> Self {
        metrics.switched.inc();
        Self {
            client,
            upstream,
            _open: OpenGuard(metrics),
        }
    }

    /// Copies both ways until both sides have ended, one broke, or the proxy stops and both are silent.
    pub(crate) async fn relay(self, _serving: RequestGuard, state: &ConnectionState) {
        let client = match self.client.await {
            Ok(client) => split(TokioIo::new(client)),
            Err(error) => {
                tracing::debug!(%error, "a client did not change its protocol");
                return;
            }
        };
        let upstream = split(TokioIo::new(self.upstream));
        let moved = AtomicU64::new(0);
        let ended = tokio::select! {
            ended = copy_both(client, upstream, &moved) => ended,
            () = stopped(state, &moved) => Ok(()),
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection with another protocol broke");
        }
    }
}

/// Resolves when the proxy stops and nothing has moved for a while.
async fn stopped(state: &ConnectionState, moved: &AtomicU64) {
    poll_fn(|cx| {
        state.register(cx.waker());
        match state.signal() {
            Signal::Stop => Poll::Ready(()),
            Signal::None | Signal::MakeRoom | Signal::Retire => Poll::Pending,
        }
    })
    .await;
    loop {
        let before = moved.load(Ordering::Relaxed);
        tokio::time::sleep(SHUTDOWN_PAUSE).await;
        if moved.load(Ordering::Relaxed) == before {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_announced_protocols_other_than_http_are_offered() {
        for (connection, upgrade, is_offered) in [
            ("Upgrade", "websocket", true),
            ("keep-alive, upgrade", "WebSocket", true),
            ("Upgrade", "foo/2, bar", true),
            ("keep-alive", "websocket", false),
            ("Upgrade", "", false),
            ("Upgrade, HTTP2-Settings", "h2c", false),
            ("Upgrade", "websocket, h2c", false),
            ("Upgrade", "TLS/1.2, HTTP/1.1", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::CONNECTION, HeaderValue::from_static(connection));
            headers.insert(header::UPGRADE, HeaderValue::from_static(upgrade));
            let offered = Protocols::offered(&headers);
            assert_eq!(offered.is_some(), is_offered, "{connection}: {upgrade}");
        }
        assert!(Protocols::offered(&HeaderMap::new()).is_none());
    }
}
