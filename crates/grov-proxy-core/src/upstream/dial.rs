//! Opens TCP connections: happy eyeballs, and the user's own HTTP proxy.

use super::Upstream;
use http::HeaderValue;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::proxy::matcher::Matcher;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use tokio::net::TcpStream;
use tower_service::Service;

/// Opens TCP connections to one server, through the user's own HTTP proxy if one applies.
///
/// Each address of the server is tried (happy eyeballs).
#[derive(Clone)]
pub struct Dialer {
    server: Upstream,
    tcp: HttpConnector,
    proxy: Option<HttpProxy>,
    /// Maximum time for a connection, including the tunnel.
    limit: Duration,
}

#[derive(Clone)]
struct HttpProxy {
    uri: http::Uri,
    authorization: Option<HeaderValue>,
}

/// How a plain HTTP request reaches its server: directly, or in absolute form through the user's own HTTP proxy.
#[derive(Clone)]
pub struct PlainHttp {
    /// Connects to the server or to the proxy.
    pub dialer: Dialer,
    /// Whether it connects to the proxy.
    pub is_proxied: bool,
    /// The value of `proxy-authorization`, if the proxy wants it.
    pub authorization: Option<HeaderValue>,
}

impl PlainHttp {
    /// Returns the way to `server`. The environment variables HTTP_PROXY, ALL_PROXY and NO_PROXY apply.
    pub fn new(server: Upstream, limit: Duration) -> Self {
        let found = HttpProxy::of(&server).and_then(|proxy| {
            let authority = proxy.uri.authority()?;
            // The user's name and password are in `authorization`.
            let address = authority.as_str().rsplit('@').next()?;
            let server = Upstream::parse(&format!("http://{address}")).ok()?;
            Some((server, proxy.authorization))
        });
        let is_proxied = found.is_some();
        let (next, authorization) = found.unwrap_or((server, None));
        Self {
            dialer: Dialer::through(next, None, limit),
            is_proxied,
            authorization,
        }
    }
}

impl HttpProxy {
    /// Returns the proxy that the environment names for a server.
    fn of(server: &Upstream) -> Option<Self> {
        let found = Matcher::from_env().intercept(server.uri())?;
        Some(Self {
            uri: found.uri().clone(),
            authorization: found.basic_auth().cloned(),
        })
    }
}

/// Why a connection could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DialError {
    /// The server, or the HTTP proxy before it, was not found or refused.
    #[error("cannot connect to {to}: {reason}")]
    Refused {
        /// The host and port.
        to: String,
        /// The error and its causes.
        reason: String,
    },
    /// No connection within the time limit.
    #[error("no connection to {to} within {limit:?}")]
    TimedOut {
        /// The host and port.
        to: String,
        /// The limit.
        limit: Duration,
    },
}

impl Dialer {
    /// Returns a dialer for a server, with a time limit for each connection. For `https`, the environment variables HTTPS_PROXY,
    /// ALL_PROXY and NO_PROXY apply.
    pub fn new(server: Upstream, limit: Duration) -> Self {
        let proxy = server.is_secure().then(|| HttpProxy::of(&server)).flatten();
        Self::through(server, proxy, limit)
    }

    fn through(server: Upstream, proxy: Option<HttpProxy>, limit: Duration) -> Self {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(limit));
        tcp.set_keepalive(Some(Duration::from_secs(60)));
        Self {
            server,
            tcp,
            proxy,
            limit,
        }
    }

    /// Returns the server.
    pub fn server(&self) -> &Upstream {
        &self.server
    }

    /// Returns what has the address `own`, the server or the proxy before it, or `None` if neither has.
    pub fn points_at(&self, own: SocketAddr) -> Option<&'static str> {
        if is_own(self.server.host(), self.server.port(), own) {
            return Some("the upstream");
        }
        self.proxy_is(own)
            .then_some("the proxy named by HTTPS_PROXY or ALL_PROXY")
    }

    /// Returns whether the user's HTTP proxy applies and has the address `own`.
    pub fn proxy_is(&self, own: SocketAddr) -> bool {
        self.proxy.as_ref().is_some_and(|proxy| {
            let port = proxy.uri.port_u16().unwrap_or(80);
            proxy.uri.host().is_some_and(|host| is_own(host, port, own))
        })
    }

    /// Opens a connection. With an HTTP proxy it is a tunnel through it.
    ///
    /// # Errors
    /// If there is no connection within the time limit.
    pub async fn dial(&self) -> Result<TcpStream, DialError> {
        match tokio::time::timeout(self.limit, self.open()).await {
            Ok(result) => result,
            Err(_) => Err(DialError::TimedOut {
                to: self.address(),
                limit: self.limit,
            }),
        }
    }

    fn address(&self) -> String {
        format!("{}:{}", self.server.host(), self.server.port())
    }

    async fn open(&self) -> Result<TcpStream, DialError> {
        let mut tcp = self.tcp.clone();
        let Some(proxy) = &self.proxy else {
            let io = tcp
                .call(self.server.uri().clone())
                .await
                .map_err(|error| DialError::Refused {
                    to: self.address(),
                    reason: with_causes(&error),
                })?;
            return Ok(io.into_inner());
        };
        let to = || {
            format!(
                "{} (the proxy for {})",
                proxy.uri.host().unwrap_or("?"),
                self.server.host()
            )
        };
        if !matches!(proxy.uri.scheme_str(), Some("http") | None) {
            let reason = "only http:// proxies are supported on the way to the upstream".to_owned();
            return Err(DialError::Refused { to: to(), reason });
        }
        let mut tunnel = Tunnel::new(proxy.uri.clone(), tcp);
        if let Some(authorization) = &proxy.authorization {
            tunnel = tunnel.with_auth(authorization.clone());
        }
        let io = tunnel
            .call(self.server.uri().clone())
            .await
            .map_err(|error| DialError::Refused {
                to: to(),
                reason: with_causes(&error),
            })?;
        Ok(io.into_inner())
    }
}

impl std::fmt::Debug for Dialer {
    /// Without the proxy, whose address may contain a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dialer")
            .field("server", self.server.uri())
            .finish_non_exhaustive()
    }
}

fn is_own(host: &str, port: u16, own: SocketAddr) -> bool {
    let named = host.trim_start_matches('[').trim_end_matches(']');
    let local = named.eq_ignore_ascii_case("localhost")
        || named
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback() || address.is_unspecified() || address == own.ip());
    local && port == own.port()
}

/// Returns an error and its causes in one line.
fn with_causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}
