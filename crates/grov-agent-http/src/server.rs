//! Serves a router over TCP, with or without TLS, and stops gracefully.

use crate::routes::router;
use crate::service::Service;
use axum::Router;
use axum::body::Body;
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use prometheus_client::metrics::gauge::Gauge;
use rustls::ServerConfig;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio_io_timeout::TimeoutStream;
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt;

/// The time within which a client has to finish the TLS handshake, or to send the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// Time for the last bytes of answers after chats were told to end.
const LAST_BYTES: Duration = Duration::from_secs(2);

/// The server of a service.
pub struct Server {
    service: Service,
    tls: Option<TlsAcceptor>,
    connections: usize,
    grace: Duration,
}

impl Server {
    /// Creates a server. `grace` is how long running requests may go on after the stop.
    pub fn new(service: Service, tls: Option<Arc<ServerConfig>>, grace: Duration) -> Self {
        let connections = service.parts.limits.connections.max(1);
        Self {
            service,
            tls: tls.map(TlsAcceptor::from),
            connections,
            grace,
        }
    }

    /// Serves until `stop` resolves, then accepts nothing more, lets running requests end within the grace, and ends chats that
    /// still run. Returns how many connections were cut off.
    pub async fn serve(self, listener: TcpListener, stop: impl Future<Output = ()>) -> usize {
        let router = router(self.service.clone());
        let open = Arc::new(Semaphore::new(self.connections));
        let (closing, is_closing) = watch::channel(false);
        let mut connections = JoinSet::new();
        let mut stop = pin!(stop);
        loop {
            let permit = tokio::select! {
                () = &mut stop => break,
                permit = Arc::clone(&open).acquire_owned() => permit,
            };
            let stream = tokio::select! {
                () = &mut stop => break,
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => stream,
                    Err(error) => {
                        tracing::warn!(%error, "a connection could not be accepted");
                        self.service.metrics.fault("not_accepted");
                        // Such as too many open files, which passes when others close.
                        tokio::time::sleep(Duration::from_millis(50)).await;
                        continue;
                    }
                },
            };
            while connections.try_join_next().is_some() {}
            let connection = Connection {
                router: router.clone(),
                tls: self.tls.clone(),
                is_closing: is_closing.clone(),
                service: self.service.clone(),
            };
            connections.spawn(async move {
                connection.serve(stream).await;
                drop(permit);
            });
        }
        // Refuses new connections at once.
        drop(listener);
        closing.send_replace(true);
        self.service.stop_waiting();
        if tokio::time::timeout(self.grace, all_ended(&mut connections))
            .await
            .is_ok()
        {
            return 0;
        }
        self.service.stop_chats();
        // What is still open is cut off.
        let _ = tokio::time::timeout(LAST_BYTES, all_ended(&mut connections)).await;
        connections.len()
    }
}

async fn all_ended(connections: &mut JoinSet<()>) {
    while connections.join_next().await.is_some() {}
}

/// Counts an open connection until it is dropped.
struct Closed(Gauge);

impl Drop for Closed {
    fn drop(&mut self) {
        self.0.dec();
    }
}

struct Connection {
    router: Router,
    tls: Option<TlsAcceptor>,
    is_closing: watch::Receiver<bool>,
    service: Service,
}

impl Connection {
    async fn serve(self, stream: TcpStream) {
        // Events are small and have to leave at once.
        let _ = stream.set_nodelay(true);
        let open = self.service.metrics.connections.clone();
        open.inc();
        // Also if the connection panics.
        let _closed = Closed(open);
        let pause = self.service.parts.limits.client_timeout;
        let _ = limit_unacknowledged(&stream, pause);
        let stream = with_read_pause(stream, pause);
        let Some(tls) = self.tls.clone() else {
            return self.speak(stream).await;
        };
        let mut is_closing = self.is_closing.clone();
        let shaken = tokio::select! {
            shaken = tokio::time::timeout(HEAD_TIMEOUT, tls.accept(stream)) => shaken,
            // Nothing was asked yet. An error means that the server is gone.
            _ = is_closing.wait_for(|is_closing| *is_closing) => return,
        };
        match shaken {
            Ok(Ok(stream)) => self.speak(stream).await,
            Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
            Err(_) => tracing::debug!("a TLS handshake took too long"),
        }
    }

    async fn speak(mut self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let router = self.router;
        let service =
            service_fn(move |request: Request<Incoming>| router.clone().oneshot(request.map(Body::new)));
        let mut connection = pin!(
            http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_TIMEOUT)
                .serve_connection(TokioIo::new(stream), service)
        );
        let closing = async {
            // An error means that the server is gone.
            let _ = self.is_closing.wait_for(|is_closing| *is_closing).await;
        };
        let ended = tokio::select! {
            ended = &mut connection => ended,
            () = closing => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection ended with an error");
        }
    }
}

/// Lets the connection fail if the other machine confirms nothing for this long: a client that vanished without a word does not
/// confirm the signs of life of its stream, although they fit into the buffers.
#[cfg(target_os = "linux")]
fn limit_unacknowledged(stream: &TcpStream, pause: Duration) -> std::io::Result<()> {
    socket2::SockRef::from(stream).set_tcp_user_timeout(Some(pause))
}

/// Other systems have limits of their own, of some minutes.
#[cfg(not(target_os = "linux"))]
fn limit_unacknowledged(_: &TcpStream, _: Duration) -> std::io::Result<()> {
    Ok(())
}

/// Lets writes fail if the other side reads nothing for this long.
fn with_read_pause<S: AsyncRead + AsyncWrite>(stream: S, pause: Duration) -> Pin<Box<TimeoutStream<S>>> {
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(pause));
    Box::pin(stream)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt;

    #[tokio::test]
    async fn a_connection_whose_client_reads_nothing_ends() {
        let (server, client) = tokio::io::duplex(16);
        let mut server = with_read_pause(server, Duration::from_millis(20));
        let written = tokio::time::timeout(Duration::from_secs(10), server.write_all(&[0; 64])).await;
        assert_eq!(written.unwrap().unwrap_err().kind(), std::io::ErrorKind::TimedOut);
        drop(client);
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn unconfirmed_bytes_have_the_same_limit() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let pause = Duration::from_secs(7);
        limit_unacknowledged(&client, pause).unwrap();
        let set = socket2::SockRef::from(&client).tcp_user_timeout().unwrap();
        assert_eq!(set, Some(pause));
    }
}
