//! An intercepted connection: TLS with a leaf of Grov's authority, then the proxy.

use crate::answer;
use crate::listener::{Host, Mitm};
use crate::prefixed::Prefixed;
use grov_ca::Target;
use std::io;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;

/// The first byte of a TLS connection: a handshake record.
const HANDSHAKE: u8 = 0x16;

/// How long, and how much, is still read from a client whose bytes were not understood.
const DISCARD_TIME: Duration = Duration::from_secs(1);
const DISCARD_BYTES: usize = 64 * 1024;

/// Decrypts a connection and hands it to the proxy.
pub(crate) async fn intercept(mitm: &Mitm, target: &Target, host: &Host, mut stream: Prefixed) {
    let first = timeout(mitm.limits.handshake, stream.peek()).await;
    match first {
        Ok(Ok(Some(HANDSHAKE))) => {}
        Ok(Ok(Some(_))) => {
            mitm.counters.refused.add();
            tracing::warn!(%target, "a client sent no TLS after CONNECT to an intercepted host");
            // A client that disconnects needs no answer.
            let _ = stream.write_all(&answer::plain_http_inside()).await;
            let _ = stream.shutdown().await;
            let _ = timeout(DISCARD_TIME, stream.discard(DISCARD_BYTES)).await;
            return;
        }
        // It opened the connection in advance, and did not need it.
        Ok(Ok(None) | Err(_)) => return,
        Err(_) => {
            tracing::debug!(%target, "a client did not begin TLS in time");
            return;
        }
    }
    match timeout(mitm.limits.handshake, host.tls.accept(stream)).await {
        Ok(Ok(stream)) => {
            mitm.counters.intercepted.add();
            let handed = mitm.intake.serve_intercepted(stream, host.profile.clone()).await;
            if handed.is_err() {
                tracing::debug!(%target, "the proxy is stopping: an intercepted connection was closed");
            }
        }
        Ok(Err(error)) => {
            mitm.counters.failed_handshakes.add();
            explain(mitm, target, &error);
        }
        Err(_) => {
            mitm.counters.failed_handshakes.add();
            tracing::debug!(%target, "a client did not complete TLS in time");
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
