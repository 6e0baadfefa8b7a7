//! Outgoing connections: TLS with the machine's trust store, and the user's own HTTPS proxy.

use anyhow::{Context, Result};
use grov_tests::{Daemon, Request, eventually, exchange};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio_rustls::TlsAcceptor;

/// An HTTPS server whose certificate is signed by its own authority only.
pub struct Secure {
    pub port: u16,
    pub authority: PathBuf,
    connections: Arc<AtomicUsize>,
    _directory: TempDir,
    _runtime: Runtime,
}

impl Secure {
    pub fn start() -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let mut ca = CertificateParams::new(Vec::new())?;
        ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        // OpenSSL takes a certificate whose issuer has the same name for a self-signed one.
        ca.distinguished_name.push(DnType::CommonName, "Test authority");
        let ca = CertifiedIssuer::self_signed(ca, KeyPair::generate()?)?;
        let key = KeyPair::generate()?;
        let leaf = CertificateParams::new(vec!["localhost".to_owned()])?.signed_by(&key, &ca)?;
        let authority = directory.path().join("authority.pem");
        std::fs::write(&authority, ca.pem())?;

        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let key = PrivateKeyDer::try_from(key.serialize_der()).map_err(anyhow::Error::msg)?;
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![leaf.der().clone()], key)?;
        let acceptor = TlsAcceptor::from(Arc::new(config));

        let runtime = runtime()?;
        let listener = runtime.block_on(TcpListener::bind("localhost:0"))?;
        let port = listener.local_addr()?.port();
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&connections);
        runtime.block_on(async move {
            background(async move {
                while let Ok((socket, _)) = listener.accept().await {
                    let (acceptor, counted) = (acceptor.clone(), Arc::clone(&counted));
                    background(async move {
                        let Ok(stream) = acceptor.accept(socket).await else {
                            return;
                        };
                        counted.fetch_add(1, Ordering::Relaxed);
                        // A client that disconnects ends the connection, not the test.
                        let _ = answer_all(stream).await;
                    });
                }
            });
        });
        Ok(Self {
            port,
            authority,
            connections,
            _directory: directory,
            _runtime: runtime,
        })
    }

    pub fn url(&self) -> String {
        format!("https://localhost:{}", self.port)
    }
}

fn runtime() -> Result<Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?)
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test's own servers end with its runtime"
)]
fn background(work: impl Future<Output = ()> + Send + 'static) {
    tokio::spawn(work);
}

async fn answer_all(stream: tokio_rustls::server::TlsStream<TcpStream>) -> Result<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let head = read_head(&mut stream).await?;
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length")
                .then(|| value.trim().parse::<usize>().ok())?
        });
        let mut body = vec![0; length.unwrap_or(0)];
        stream.read_exact(&mut body).await?;
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
            .await?;
        stream.flush().await?;
    }
}

async fn read_head(stream: &mut (impl AsyncBufReadExt + Unpin)) -> Result<String> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        anyhow::ensure!(stream.read_line(&mut head).await? > 0, "the connection ended");
    }
    Ok(head)
}

/// A forward proxy that supports `CONNECT`.
pub struct Tunnel {
    pub port: u16,
    heads: Arc<Mutex<Vec<String>>>,
    _runtime: Runtime,
}

impl Tunnel {
    pub fn start() -> Result<Self> {
        let runtime = runtime()?;
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
        let port = listener.local_addr()?.port();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&heads);
        runtime.block_on(async move {
            background(async move {
                while let Ok((client, _)) = listener.accept().await {
                    let seen = Arc::clone(&seen);
                    background(async move {
                        // As above.
                        let _ = tunnel(client, &seen).await;
                    });
                }
            });
        });
        Ok(Self {
            port,
            heads,
            _runtime: runtime,
        })
    }

    pub fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn tunnel(client: TcpStream, seen: &Mutex<Vec<String>>) -> Result<()> {
    let mut client = BufReader::new(client);
    let head = read_head(&mut client).await?;
    let target = head
        .strip_prefix("CONNECT ")
        .and_then(|rest| rest.split(' ').next())
        .context("a CONNECT")?
        .to_owned();
    seen.lock().unwrap_or_else(PoisonError::into_inner).push(head);
    let mut upstream = TcpStream::connect(target).await?;
    client
        .write_all(b"HTTP/1.1 200 Connection Established\r\n\r\n")
        .await?;
    copy_bidirectional(&mut client, &mut upstream).await?;
    Ok(())
}

fn status(daemon: &Daemon) -> Result<u16> {
    let request = Request::new("POST", "/v1/messages")
        .header("content-type", "application/json")
        .body("{}");
    Ok(exchange(daemon.port(), &request)?.status)
}

#[test]
fn one_tls_connection_serves_a_hundred_requests() -> Result<()> {
    let server = Secure::start()?;
    let home = tempfile::tempdir()?;
    let daemon = Daemon::on(home.path(), &server.url())
        .env("SSL_CERT_FILE", &server.authority)
        .start()?;
    for _ in 0..100 {
        assert_eq!(status(&daemon)?, 200);
    }
    assert_eq!(server.connections.load(Ordering::Relaxed), 1);
    let metrics = exchange(daemon.port(), &Request::new("GET", "/_grov/metrics"))?.text();
    assert!(
        metrics.contains("grov_upstream_connections_reused_total 99"),
        "{metrics}"
    );
    assert!(
        metrics.contains("grov_upstream_connections_opened_total 1"),
        "{metrics}"
    );
    daemon.stop()?;
    Ok(())
}

#[test]
fn the_clients_own_authorities_are_trusted() -> Result<()> {
    let server = Secure::start()?;
    let home = tempfile::tempdir()?;
    let daemon = Daemon::on(home.path(), &server.url())
        .env("NODE_EXTRA_CA_CERTS", &server.authority)
        .start()?;
    assert_eq!(status(&daemon)?, 200);
    daemon.stop()?;
    let daemon = Daemon::on(home.path(), &server.url())
        .env("NODE_EXTRA_CA_CERTS", "/nowhere/ca.pem")
        .start()?;
    assert_eq!(status(&daemon)?, 502);
    assert!(daemon.log().contains("/nowhere/ca.pem"), "{}", daemon.log());
    daemon.stop()?;
    Ok(())
}

#[test]
fn an_untrusted_certificate_leads_to_a_502() -> Result<()> {
    let server = Secure::start()?;
    let home = tempfile::tempdir()?;
    let daemon = Daemon::on(home.path(), &server.url()).start()?;
    assert_eq!(status(&daemon)?, 502);
    // The log line is written after the answer.
    eventually("the reason in the log", || {
        daemon
            .log()
            .contains("no secure connection to localhost")
            .then_some(())
    })?;
    daemon.stop()?;
    Ok(())
}

#[test]
fn the_users_own_https_proxy_is_used_and_its_password_is_not_logged() -> Result<()> {
    let server = Secure::start()?;
    let tunnel = Tunnel::start()?;
    let home = tempfile::tempdir()?;
    let daemon = Daemon::on(home.path(), &server.url())
        .env("SSL_CERT_FILE", &server.authority)
        .env(
            "HTTPS_PROXY",
            format!("http://someone:swordfish@127.0.0.1:{}", tunnel.port),
        )
        .start()?;
    assert_eq!(status(&daemon)?, 200);
    let heads = tunnel.heads();
    assert_eq!(heads.len(), 1);
    assert!(
        heads[0].starts_with(&format!("CONNECT localhost:{} ", server.port)),
        "{heads:?}"
    );
    assert!(
        heads[0]
            .to_ascii_lowercase()
            .contains("proxy-authorization: basic "),
        "{heads:?}"
    );
    let log = daemon.stop()?.stderr;
    assert!(!log.contains("swordfish"), "{log}");
    Ok(())
}

#[test]
fn the_no_proxy_variable_is_honoured() -> Result<()> {
    let server = Secure::start()?;
    let tunnel = Tunnel::start()?;
    let home = tempfile::tempdir()?;
    let daemon = Daemon::on(home.path(), &server.url())
        .env("SSL_CERT_FILE", &server.authority)
        .env("HTTPS_PROXY", format!("http://127.0.0.1:{}", tunnel.port))
        .env("NO_PROXY", "localhost,127.0.0.1")
        .start()?;
    assert_eq!(status(&daemon)?, 200);
    assert_eq!(tunnel.heads().len(), 0);
    daemon.stop()?;
    Ok(())
}
