//! Opens connections to the upstream, with TLS and the certificates that this machine trusts, corporate ones included.

use super::{ConnectError, Dialer, Shared, TlsError, Upstream};
use crate::intake::BoxedStream;
use crate::read_limiter::ReadLimiter;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls_platform_verifier::Verifier;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Opens connections to one upstream.
pub(crate) struct Connector {
    dialer: Dialer,
    /// Created with the first secure connection, because reading the machine's certificates takes milliseconds.
    tls: OnceCell<TlsConnector>,
    limit: Duration,
    shared: Arc<Shared>,
}

impl Connector {
    /// Creates a connector with a time limit for each connection.
    pub(crate) fn new(upstream: Upstream, limit: Duration, shared: Arc<Shared>) -> Self {
        Self {
            dialer: Dialer::new(upstream, limit),
            tls: OnceCell::new(),
            limit,
            shared,
        }
    }

    /// Returns the upstream.
    pub(crate) fn upstream(&self) -> &Upstream {
        self.dialer.server()
    }

    /// See [`Dialer::points_at`].
    pub(crate) fn points_at(&self, own: SocketAddr) -> Option<&'static str> {
        self.dialer.points_at(own)
    }

    /// Opens a connection.
    pub(crate) async fn connect(&self) -> Result<ReadLimiter<BoxedStream>, ConnectError> {
        if let Some(what) = self.shared.find_own(|own| self.points_at(*own)) {
            return Err(ConnectError::Loop(what));
        }
        match tokio::time::timeout(self.limit, self.open()).await {
            Ok(result) => result,
            Err(_) => Err(ConnectError::TimedOut {
                to: format!("{}:{}", self.upstream().host(), self.upstream().port()),
                limit: self.limit,
            }),
        }
    }

    async fn open(&self) -> Result<ReadLimiter<BoxedStream>, ConnectError> {
        let stream = self.dialer.dial().await?;
        if !self.upstream().is_secure() {
            return Ok(ReadLimiter::of_responses(Box::new(stream)));
        }
        match self.secure(stream).await {
            Ok(stream) => Ok(ReadLimiter::of_records(Box::new(stream))),
            Err(source) => Err(ConnectError::Tls {
                to: self.upstream().host().to_owned(),
                source,
            }),
        }
    }

    async fn secure(&self, stream: TcpStream) -> Result<TlsStream<TcpStream>, TlsError> {
        let name = ServerName::try_from(self.upstream().host().to_owned())?;
        let connector = self
            .tls
            .get_or_try_init(|| secure_connector(self.shared.extra_roots()))
            .await?;
        Ok(connector.connect(name, stream).await?)
    }
}

async fn secure_connector(extra_roots: Vec<CertificateDer<'static>>) -> Result<TlsConnector, TlsError> {
    // Reading the certificates blocks.
    let config = tokio::task::spawn_blocking(move || {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier = Verifier::new_with_extra_roots(extra_roots, Arc::clone(&provider))?;
        let mut config = rustls::ClientConfig::builder_with_details(provider, Arc::new(TlsClock))
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
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
