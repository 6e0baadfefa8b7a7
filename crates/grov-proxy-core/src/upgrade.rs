//! Connections that change their protocol (RFC 9110 §7.8), such as to WebSocket.
//!
//! The request goes to the upstream on a connection of its own. After a 101 both connections have left HTTP, and the client
//! connection's task copies bytes between them.

use crate::connection_state::{ConnectionState, RequestGuard, Signal};
use crate::gate::Standing;
use crate::headers::is_token;
use crate::metrics::Metrics;
use crate::tunnel::copy_both;
use http::Version;
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

/// After a change of protocol, the gatekeeper is asked this often whether the request still holds.
const STANDING_CHECK: Duration = Duration::from_secs(2);

/// Protocols to change to, as `upgrade` names them: at least one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Protocols(Vec<String>);

impl Protocols {
    /// Returns what a request offers, or `None` if it asks for no change of protocol that the proxy can pass on. HTTP/1.0 has no
    /// such change (RFC 9110 §7.8).
    pub(crate) fn offered(version: Version, headers: &HeaderMap) -> Option<Self> {
        let connection = headers.get_all(header::CONNECTION).iter();
        let is_announced = connection
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .any(|option| option.trim().eq_ignore_ascii_case("upgrade"));
        (version == Version::HTTP_11 && is_announced)
            .then(|| Self::named(headers))
            .flatten()
    }

    /// Returns the protocols that a message names. `None` if it names none, one that is malformed, or another version of HTTP or
    /// TLS, which concern the connection to the proxy alone. What cannot be understood here may mean one of these elsewhere.
    pub(crate) fn named(headers: &HeaderMap) -> Option<Self> {
        let mut named = Vec::new();
        for value in headers.get_all(header::UPGRADE) {
            let protocols = value.to_str().ok()?.split(',').map(str::trim);
            for protocol in protocols.filter(|protocol| !protocol.is_empty()) {
                let (name, version) = protocol.split_once('/').unwrap_or((protocol, "0"));
                let is_of_the_connection = ["h2c", "h2", "http", "tls"]
                    .iter()
                    .any(|own| name.eq_ignore_ascii_case(own));
                if is_of_the_connection || !is_token(name) || !is_token(version) {
                    return None;
                }
                named.push(protocol.to_owned());
            }
        }
        (!named.is_empty()).then_some(Self(named))
    }

    /// Returns whether each of the `chosen` protocols is among these.
    pub(crate) fn include(&self, chosen: &Self) -> bool {
        let is_offered = |chosen: &String| self.0.iter().any(|offered| offered.eq_ignore_ascii_case(chosen));
        chosen.0.iter().all(is_offered)
    }

    /// Sets the headers that ask for the change, confirm it, or say that it is required.
    pub(crate) fn announce(&self, headers: &mut HeaderMap) {
        headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
        // Tokens are always a valid value.
        if let Ok(value) = HeaderValue::from_str(&self.0.join(", ")) {
            headers.insert(header::UPGRADE, value);
        }
    }
}

/// A client and an upstream that have agreed on another protocol.
pub(crate) struct Switched {
    /// The client's side, once hyper has written the 101.
    client: OnUpgrade,
    upstream: Upgraded,
    /// `None` if no gatekeeper admitted it.
    standing: Option<Standing>,
    /// See [`copy_both`].
    write_pause: Duration,
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
    pub(crate) fn new(
        client: OnUpgrade,
        upstream: Upgraded,
        standing: Option<Standing>,
        write_pause: Duration,
        metrics: Arc<Metrics>,
    ) -> Self {
        metrics.switched.inc();
        Self {
            client,
            upstream,
            standing,
            write_pause,
            _open: OpenGuard(metrics),
        }
    }

    /// Copies both ways until both sides have ended, one broke or takes nothing, the request is no longer admitted, or the proxy
    /// stops and both are silent.
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
            ended = copy_both(client, upstream, &moved, self.write_pause) => ended,
            () = stopped(state, &moved) => Ok(()),
            () = no_longer_admitted(self.standing) => {
                tracing::info!("closed a connection with another protocol: its request would be refused now");
                Ok(())
            }
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

/// Resolves when the gatekeeper would refuse the request. Never without one.
async fn no_longer_admitted(standing: Option<Standing>) {
    let Some(standing) = standing else {
        return std::future::pending().await;
    };
    while standing.holds() {
        tokio::time::sleep(STANDING_CHECK).await;
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
            let offered = Protocols::offered(Version::HTTP_11, &headers);
            assert_eq!(offered.is_some(), is_offered, "{connection}: {upgrade}");
            assert_eq!(Protocols::offered(Version::HTTP_10, &headers), None);
        }
        assert_eq!(Protocols::offered(Version::HTTP_11, &HeaderMap::new()), None);
    }

    fn named(values: &[&[u8]]) -> Option<Protocols> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::UPGRADE, HeaderValue::from_bytes(value).unwrap());
        }
        Protocols::named(&headers)
    }

    #[test]
    fn protocols_hidden_in_malformed_values_are_not_offered() {
        for values in [
            &[&b"websocket"[..], b"h2c, \x80"][..],
            &[b"websocket, h2c /1"],
            &[b"h2c\t/1"],
            &[b"websocket", b"H2C/1"],
            &[b"websocket; h2c"],
            &[b"web socket"],
            &[b"websocket/"],
            &[b"/1"],
            &[b" , "],
        ] {
            assert_eq!(named(values), None, "{values:?}");
        }
    }

    #[test]
    fn announced_protocols_are_written_anew() {
        let mut headers = HeaderMap::new();
        headers.append(header::UPGRADE, HeaderValue::from_static("old"));
        let protocols = named(&[b"foo/2 ,, bar", b"baz"]).unwrap();
        protocols.announce(&mut headers);
        let values: Vec<_> = headers.get_all(header::UPGRADE).iter().collect();
        assert_eq!(values, ["foo/2, bar, baz"]);
    }

    #[test]
    fn only_offered_protocols_can_be_chosen() {
        let offered = named(&[b"foo/2, WebSocket"]).unwrap();
        for (chosen, is_offered) in [
            (&b"websocket"[..], true),
            (b"websocket, foo/2", true),
            (b"foo/1", false),
            (b"websocket, bar", false),
        ] {
            assert_eq!(
                offered.include(&named(&[chosen]).unwrap()),
                is_offered,
                "{chosen:?}"
            );
        }
    }
}
