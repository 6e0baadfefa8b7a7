//! New connections to the upstream: names resolved with happy eyeballs, the user's own HTTPS proxy honoured,
//! TLS with the machine's own trusted certificates (corporate ones included).

use super::transport::Transport;
use super::{ConnectError, Upstream};
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
use tower_service::Service;

/// Makes connections to one upstream.
pub struct Connector {
    upstream: Upstream,
    tcp: HttpConnector,
    proxy: Option<Proxy>,
    /// Built with the first secure connection: reading the machine's certificates takes milliseconds.
    tls: OnceCell<TlsConnector>,
    limit: Duration,
}

struct Proxy {
    uri: http::Uri,
    authorization: Option<http::HeaderValue>,
}

impl Connector {
    /// A connector for `upstream` that gives up after `limit`. Reads HTTPS_PROXY, ALL_PROXY and NO_PROXY of the
    /// environment; a plain-http upstream is always reached directly.
    pub fn new(upstream: Upstream, limit: Duration) -> Self {
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
        }
    }

    /// Returns the upstream.
    pub fn upstream(&self) -> &Upstream {
        &self.upstream
    }

    /// What, if anything, on the way out is the listener `own`: the upstream itself or the proxy before it.
    pub fn points_at(&self, own: SocketAddr) -> Option<&'static str> {
        if is_own(self.upstream.host(), self.upstream.port(), own) {
            return Some("the upstream");
        }
        let proxy = self.proxy.as_ref()?;
        let port = proxy.uri.port_u16().unwrap_or(80);
        is_own(proxy.uri.host()?, port, own).then_some("the proxy named by HTTPS_PROXY or ALL_PROXY")
    }

    /// Opens a connection.
    pub(crate) async fn connect(&self) -> Result<Transport, ConnectError> {
        let to = || format!("{}:{}", self.upstream.host(), self.upstream.port());
        match tokio::time::timeout(self.limit, self.open()).await {
            Ok(result) => result,
            Err(_) => Err(ConnectError::TimedOut {
                to: to(),
                limit: self.limit,
            }),
        }
    }

    async fn open(&self) -> Result<Transport, ConnectError> {
        let stream = self.reach().await?;
        if !self.upstream.is_secure() {
            return Ok(Transport::Plain(stream));
        }
        let refused = |reason: String| ConnectError::Tls {
            to: self.upstream.host().to_owned(),
            reason,
        };
        let name = ServerName::try_from(self.upstream.host().to_owned())
            .map_err(|error| refused(error.to_string()))?;
        let connector = self
            .tls
            .get_or_try_init(secure_connector)
            .await
            .map_err(refused)?;
        let stream = connector
            .connect(name, stream)
            .await
            .map_err(|error| refused(error.to_string()))?;
        Ok(Transport::Secure(Box::new(stream)))
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

async fn secure_connector() -> Result<TlsConnector, String> {
    // Reading the certificates is file work: keep it off the threads that relay.
    let config = tokio::task::spawn_blocking(|| {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = rustls::ClientConfig::builder_with_details(provider, Arc::new(TlsClock))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_platform_verifier()
            .map_err(|error| error.to_string())?
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok::<_, String>(config)
    })
    .await
    .map_err(|error| error.to_string())??;
    Ok(TlsConnector::from(Arc::new(config)))
}

/// The machine's clock; rustls's own panics when it is before 1970.
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

/// The error and what caused it, in one line.
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
