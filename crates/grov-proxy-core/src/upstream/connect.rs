//! Opens connections to the upstream: happy eyeballs, the user's HTTPS proxy, and TLS with the certificates that this machine
//! trusts, corporate ones included.

use super::{ConnectError, Shared, TlsError, Upstream};
use crate::intake::BoxedStream;
use crate::read_limiter::ReadLimiter;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::proxy::matcher::Matcher;
use rustls::pki_types::ServerName;
use rustls_platform_verifier::BuilderVerifierExt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tower_service::Service;

/// Opens connections to one upstream.
pub(crate) struct Connector {
    upstream: Upstream,
    tcp: HttpConnector,
    proxy: Option<Proxy>,
    /// Created with the first secure connection, because reading the machine's certificates takes milliseconds.
    tls: OnceCell<TlsConnector>,
    limit: Duration,
    shared: Arc<Shared>,
}

struct Proxy {
    uri: http::Uri,
    authorization: Option<http::HeaderValue>,
}

impl Connector {
    /// Creates a connector with a time limit for each connection. For an `https` upstream, the environment variables HTTPS_PROXY,
    /// ALL_PROXY and NO_PROXY apply.
    pub(crate) fn new(upstream: Upstream, limit: Duration, shared: Arc<Shared>) -> Self {
        let proxy = upstream
            .is_secure()
            .then(|| Matcher::from_env().intercept(upstream.uri()))
            .flatten();
        let proxy = proxy.map(|found| Proxy {
            uri: found.uri().clone(),
            authorization: found.basic_auth().cloned(),
        });
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(limit));
        tcp.set_keepalive(Some(Duration::from_secs(60)));
        Self {
            upstream,
            tcp,
            proxy,
            tls: OnceCell::new(),
            limit,
            shared,
        }
    }

    /// Returns the upstream.
    pub(crate) fn upstream(&self) -> &Upstream {
        &self.upstream
    }

    /// Returns what has the address `own`, the upstream or the proxy in front of it, or `None` if neither has.
    pub(crate) fn points_at(&self, own: SocketAddr) -> Option<&'static str> {
        if is_own(self.upstream.host(), self.upstream.port(), own) {
            return Some("the upstream");
        }
        let proxy = self.proxy.as_ref()?;
        let port = proxy.uri.port_u16().unwrap_or(80);
        is_own(proxy.uri.host()?, port, own).then_some("the proxy named by HTTPS_PROXY or ALL_PROXY")
    }

    /// Opens a connection.
    pub(crate) async fn connect(&self) -> Result<ReadLimiter<BoxedStream>, ConnectError> {
        if let Some(what) = self.shared.own().and_then(|own| self.points_at(own)) {
            return Err(ConnectError::Loop(what));
        }
        let to = || format!("{}:{}", self.upstream.host(), self.upstream.port());
        match tokio::time::timeout(self.limit, self.open()).await {
            Ok(result) => result,
            Err(_) => Err(ConnectError::TimedOut {
                to: to(),
                limit: self.limit,
            }),
        }
    }

    async fn open(&self) -> Result<ReadLimiter<BoxedStream>, ConnectError> {
        let stream = self.reach().await?;
        if !self.upstream.is_secure() {
            return Ok(ReadLimiter::of_responses(Box::new(stream)));
        }
        match self.secure(stream).await {
            Ok(stream) => Ok(ReadLimiter::of_records(Box::new(stream))),
            Err(source) => Err(ConnectError::Tls {
                to: self.upstream.host().to_owned(),
                source,
            }),
        }
    }

    async fn secure(&self, stream: TcpStream) -> Result<TlsStream<TcpStream>, TlsError> {
        let name = ServerName::try_from(self.upstream.host().to_owned())?;
        let connector = self.tls.get_or_try_init(secure_connector).await?;
        Ok(connector.connect(name, stream).await?)
    }

    async fn reach(&self) -> Result<TcpStream, ConnectError> {
        let mut tcp = self.tcp.clone();
        let Some(proxy) = &self.proxy else {
            let io = tcp
                .call(self.upstream.uri().clone())
                .await
                .map_err(|error| ConnectError::Connect {
                    to: format!("{}:{}", self.upstream.host(), self.upstream.port()),
                    reason: with_causes(&error),
                })?;
            return Ok(io.into_inner());
        };
        let to = || {
            format!(
                "{} (the proxy for {})",
                proxy.uri.host().unwrap_or("?"),
                self.upstream.host()
            )
        };
        if !matches!(proxy.uri.scheme_str(), Some("http") | None) {
            let reason = "only http:// proxies are supported on the way to the upstream".to_owned();
            return Err(ConnectError::Connect { to: to(), reason });
        }
        let mut tunnel = Tunnel::new(proxy.uri.clone(), tcp);
        if let Some(authorization) = &proxy.authorization {
            tunnel = tunnel.with_auth(authorization.clone());
        }
        let io = tunnel
            .call(self.upstream.uri().clone())
            .await
            .map_err(|error| ConnectError::Connect {
                to: to(),
                reason: with_causes(&error),
            })?;
        Ok(io.into_inner())
    }
}

async fn secure_connector() -> Result<TlsConnector, TlsError> {
    // Reading the certificates blocks.
    let config = tokio::task::spawn_blocking(|| {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = rustls::ClientConfig::builder_with_details(provider, Arc::new(TlsClock))
            .with_safe_default_protocol_versions()?
            .with_platform_verifier()?
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok::<_, rustls::Error>(config)
    })
    .await??;
    Ok(TlsConnector::from(Arc::new(config)))
}

/// The system clock. rustls's own provider panics if the clock is before 1970.
#[derive(Debug)]
struct TlsClock;

impl rustls::time_provider::TimeProvider for TlsClock {
    fn current_time(&self) -> Option<rustls::pki_types::UnixTime> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        now.ok().map(rustls::pki_types::UnixTime::since_unix_epoch)
    }
}

fn is_own(host: &str, port: u16, own: SocketAddr) -> bool {
    let named = host.trim_start_matches('[').trim_end_matches(']');
    let local = named.eq_ignore_ascii_case("localhost")
        || named
            .parse::<std::net::IpAddr>()
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
