//! The CONNECT proxy in this process, with short limits.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

use grov_ca::{CaFiles, Target};
use grov_mitm::{Leaves, Mitm, MitmLimits};
use grov_proxy_core::{ConnectionProfile, Proxy, Upstream, UpstreamHandle};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;

/// Maximum wait for an expected event.
const SOON: Duration = Duration::from_secs(20);

struct Running {
    address: SocketAddr,
    directory: TempDir,
    stop: Option<oneshot::Sender<()>>,
    served: JoinSet<usize>,
}

impl Running {
    /// A CONNECT proxy that decrypts `api.example`.
    async fn start(limits: MitmLimits) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let target: Target = "api.example".parse().unwrap();
        let leaves = Leaves::new(CaFiles::new(directory.path()), vec![target.name.clone()]).unwrap();
        let mut proxy = Proxy::builder(Upstream::parse("http://127.0.0.1:9").unwrap())
            .build()
            .unwrap();
        let profile = ConnectionProfile {
            host: target.host(),
            port: target.port,
            upstream: UpstreamHandle::MAIN,
            edits: false,
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let hosts = [(target, Arc::new(profile))];
        let mitm = Mitm::new(leaves, hosts, proxy.intake(), limits, address).unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let mut served = JoinSet::new();
        served.spawn(async move {
            let own = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let proxied = proxy.serve(own, std::future::pending());
            let shutdown = async {
                let _ = stopped.await;
            };
            tokio::select! {
                cut = mitm.serve(listener, shutdown) => cut,
                _ = proxied => unreachable!("it serves for ever"),
            }
        });
        Self {
            address,
            directory,
            stop: Some(stop),
            served,
        }
    }

    async fn client(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// A client whose CONNECT was accepted.
    async fn connected(&self, target: &str) -> TcpStream {
        let mut client = self.client().await;
        let request = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n");
        client.write_all(request.as_bytes()).await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(client.read_u8().await.unwrap());
        }
        assert!(
            head.starts_with(b"HTTP/1.1 200 "),
            "{}",
            String::from_utf8_lossy(&head)
        );
        client
    }

    /// Stops, and returns the number of connections that were cut.
    async fn stop(mut self) -> usize {
        let _ = self.stop.take().unwrap().send(());
        tokio::time::timeout(SOON, self.served.join_next())
            .await
            .expect("an end in time")
            .unwrap()
            .unwrap()
    }
}

/// Reads until the peer closes.
async fn rest(client: &mut TcpStream) -> Vec<u8> {
    let mut rest = Vec::new();
    let read = tokio::time::timeout(SOON, client.read_to_end(&mut rest)).await;
    // A reset is a close too.
    let _ = read.expect("a close in time");
    rest
}

fn short() -> MitmLimits {
    MitmLimits {
        head: Duration::from_millis(200),
        handshake: Duration::from_millis(200),
        grace: Duration::from_millis(200),
        ..MitmLimits::default()
    }
}

#[tokio::test]
async fn slow_clients_are_closed() {
    let running = Running::start(short()).await;
    let mut silent = running.client().await;
    assert_eq!(rest(&mut silent).await, b"");
    let mut half = running.client().await;
    half.write_all(b"CONNECT api.exam").await.unwrap();
    rest(&mut half).await;
    let mut no_tls = running.connected("api.example:443").await;
    assert_eq!(rest(&mut no_tls).await, b"");
    let mut half_tls = running.connected("api.example:443").await;
    half_tls.write_all(b"\x16\x03\x01\x02\x00").await.unwrap();
    assert_eq!(rest(&mut half_tls).await, b"");
    assert_eq!(running.stop().await, 0);
}

#[tokio::test]
async fn a_tunnel_that_moves_nothing_is_cut_after_the_grace_period() {
    let running = Running::start(short()).await;
    let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = server.local_addr().unwrap().to_string();
    let mut client = running.connected(&target).await;
    let _accepted = server.accept().await.unwrap();
    assert_eq!(running.stop().await, 1);
    assert_eq!(rest(&mut client).await, b"");
}

#[tokio::test]
async fn the_certificate_is_trusted_with_the_bundle_by_rustls_too() {
    let running = Running::start(MitmLimits::default()).await;
    let bundle = running.directory.path().join("bundle.pem");
    let mut roots = rustls::RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(bundle).unwrap() {
        roots.add(certificate.unwrap()).unwrap();
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let client = running.connected("api.example:443").await;
    let name = ServerName::try_from("api.example").unwrap();
    let mut client = TlsConnector::from(Arc::new(config))
        .connect(name, client)
        .await
        .unwrap();
    let request = b"POST /v1/messages HTTP/1.1\r\nHost: api.example\r\nContent-Length: 2\r\n\r\n{}";
    client.write_all(request).await.unwrap();
    let mut head = vec![0; 12];
    client.read_exact(&mut head).await.unwrap();
    // No process listens on the upstream's port.
    assert_eq!(head, b"HTTP/1.1 502");
}
