//! An intercepted connection: TLS with a leaf of Grov's authority, then the proxy.

use crate::answer;
use crate::listener::Mitm;
use crate::prefixed::Prefixed;
use grov_ca::Target;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// The first byte of a TLS connection: a handshake record.
const HANDSHAKE: u8 = 0x16;

/// How long, and how much, is still read from a client whose bytes were not understood.
const DISCARD_TIME: Duration = Duration::from_secs(1);
const DISCARD_BYTES: usize = 64 * 1024;

/// Hands a connection to the proxy, which decrypts it on the thread that serves it.
pub(crate) async fn intercept(mitm: &Arc<Mitm>, target: Target, stream: Prefixed) {
    let Some(host) = mitm.host(&target) else { return };
    let (early, socket) = stream.into_parts();
    let (tls, own, name) = (host.tls.clone(), Arc::clone(mitm), target.clone());
    let prepare = move |socket| async move {
        let stream = Prefixed::new(early, socket);
        decrypt(&own, &name, &tls, stream).await
    };
    let profile = Arc::clone(&host.profile);
    let handed = mitm.intake.serve_intercepted(socket, profile, prepare).await;
    if handed.is_err() {
        tracing::debug!(%target, "the proxy is stopping: an intercepted connection was closed");
    }
}

/// Returns the decrypted stream, or `None` if there is none.
async fn decrypt(
    mitm: &Mitm,
    target: &Target,
    tls: &TlsAcceptor,
    mut stream: Prefixed,
) -> Option<TlsStream<Prefixed>> {
    match timeout(mitm.limits.handshake, stream.peek()).await {
        Ok(Ok(Some(HANDSHAKE))) => {}
        Ok(Ok(Some(_))) => {
            mitm.counters.refused.add();
            tracing::warn!(%target, "a client sent no TLS after CONNECT to an intercepted host");
            // A client that disconnects needs no answer.
            let _ = stream.write_all(&answer::plain_http_inside()).await;
            let _ = stream.shutdown().await;
            let _ = timeout(DISCARD_TIME, stream.discard(DISCARD_BYTES)).await;
            return None;
        }
        // It opened the connection in advance, and did not need it.
        Ok(Ok(None) | Err(_)) => return None,
        Err(_) => {
            tracing::debug!(%target, "a client did not begin TLS in time");
            return None;
        }
    }
    match timeout(mitm.limits.handshake, tls.accept(stream)).await {
        Ok(Ok(stream)) => {
            mitm.counters.intercepted.add();
            Some(stream)
        }
        Ok(Err(error)) => {
            mitm.counters.failed_handshakes.add();
            explain(mitm, target, &error);
            None
        }
        Err(_) => {
            mitm.counters.failed_handshakes.add();
            tracing::debug!(%target, "a client did not complete TLS in time");
            None
        }
    }
}

/// Logs why a handshake failed. A client that does not trust the certificate is told about only once a minute, because it
/// retries.
fn explain(mitm: &Mitm, target: &Target, error: &io::Error) {
    let alert = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<rustls::Error>());
    let distrusts = matches!(
        alert,
        Some(rustls::Error::AlertReceived(
            rustls::AlertDescription::UnknownCA
                | rustls::AlertDescription::BadCertificate
                | rustls::AlertDescription::CertificateUnknown
                | rustls::AlertDescription::CertificateExpired
        ))
    );
    if distrusts && mitm.distrust.may_log() {
        tracing::warn!(
            %target,
            %error,
            "a client does not trust Grov's certificate: start it with `grov run`, or set NODE_EXTRA_CA_CERTS to the file that \
             `grov ca path` prints"
        );
    } else {
        tracing::debug!(%target, %error, "a TLS handshake failed");
    }
}
