//! A real WebSocket client and server, with the proxy between them.
#![expect(
    clippy::disallowed_methods,
    reason = "the server ends with the test's runtime"
)]

use super::{builder, connect_port};
use anyhow::{Context, Result, ensure};
use futures_util::{SinkExt, StreamExt};
use grov_tests::{Daemon, Grov};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

/// Starts a server that sends every message back.
async fn echo() -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            tokio::spawn(async move {
                let Ok(mut peer) = tokio_tungstenite::accept_async(socket).await else {
                    return;
                };
                while let Some(Ok(message)) = peer.next().await {
                    if peer.send(message).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    Ok(address)
}

/// Opens a WebSocket on a stream and exchanges messages.
async fn talk(stream: impl AsyncRead + AsyncWrite + Unpin, url: &str) -> Result<()> {
    let (mut peer, response) = tokio_tungstenite::client_async(url, stream).await?;
    ensure!(response.status() == 101, "{response:?}");
    for message in [Message::text("hello"), Message::binary(vec![7; 1_000_000])] {
        peer.send(message.clone()).await?;
        let back = peer.next().await.context("the end")??;
        ensure!(back == message, "another message");
    }
    peer.close(None).await?;
    Ok(())
}

/// TLS through the CONNECT proxy, with the certificates of Grov alone.
async fn intercepted(port: u16, bundle: &Path) -> Result<impl AsyncRead + AsyncWrite + Unpin + use<>> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
    let host = "api.anthropic.com:443";
    let request = format!("CONNECT {host} HTTP/1.1\r\nHost: {host}\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    ensure!(head.starts_with(b"HTTP/1.1 200 "), "CONNECT was refused");
    let mut roots = rustls::RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(bundle)? {
        roots.add(certificate?)?;
    }
    let config =
        rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
    let name = ServerName::try_from("api.anthropic.com")?;
    Ok(TlsConnector::from(Arc::new(config)).connect(name, stream).await?)
}

#[test]
fn websockets_work_with_a_base_url_and_on_intercepted_connections() -> Result<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    let address = runtime.block_on(echo())?;
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let daemon = builder(&home, &format!("http://{address}")).start()?;
    let (port, mitm) = (daemon.port(), connect_port(&daemon)?);
    runtime.block_on(async {
        let direct = TcpStream::connect(("127.0.0.1", port)).await?;
        talk(direct, &format!("ws://127.0.0.1:{port}/v1/sessions/ws")).await?;
        let secure = intercepted(mitm, &home.join("ca/bundle.pem")).await?;
        talk(secure, "wss://api.anthropic.com/v1/sessions/ws").await
    })?;
    daemon.stop()?;
    Ok(())
}

#[test]
fn a_websocket_ends_when_its_token_is_revoked() -> Result<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    let address = runtime.block_on(echo())?;
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let grov = Grov::on(&home);
    let created = grov.run_json(&["token", "create", "ana"])?.json;
    let token = created["token"].as_str().context("no token")?;
    let daemon = Daemon::on(&home, &format!("http://{address}"))
        .env("ENABLE_AUTH", "true")
        .start()?;
    let port = daemon.port();
    let connect = |token: Option<&str>| {
        let url = format!("ws://127.0.0.1:{port}/v1/sessions/ws");
        let mut request = url.into_client_request()?;
        if let Some(token) = token {
            request.headers_mut().insert("x-grov-token", token.parse()?);
        }
        runtime.block_on(async {
            let stream = TcpStream::connect(("127.0.0.1", port)).await?;
            anyhow::Ok(tokio_tungstenite::client_async(request, stream).await?.0)
        })
    };
    ensure!(connect(None).is_err(), "it needs a token");
    let mut peer = connect(Some(token))?;
    runtime.block_on(async {
        peer.send(Message::text("hello")).await?;
        let back = peer.next().await.context("the end")??;
        ensure!(back == Message::text("hello"), "{back:?}");
        anyhow::Ok(())
    })?;
    ensure!(
        grov.run(&["token", "revoke", "ana"])?.code() == Some(0),
        "not revoked"
    );
    // The test runner's own limit ends a wait that never ends.
    let next = runtime.block_on(peer.next());
    ensure!(!matches!(next, Some(Ok(Message::Text(_)))), "{next:?}");
    ensure!(connect(Some(token)).is_err(), "the token is revoked");
    daemon.stop()?;
    Ok(())
}
