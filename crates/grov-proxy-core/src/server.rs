//! The listener: accepts clients, serves their connections, and lets running streams end at shutdown.

use crate::exchange::Service;
use crate::rescue::{Rescue, Serving};
use crate::short_reads::ShortReads;
use crate::workers::Workers;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Largest head of a request, in bytes, as far as it is read by then.
const MAX_BUFFER: usize = 32 * 1024;

/// Serves until `shutdown` resolves, then stops accepting, waits for running exchanges up to `grace`, and returns
/// how many were cut off.
pub(crate) async fn serve(
    listener: TcpListener,
    service: Arc<Service>,
    workers: &Workers,
    shutdown: impl Future<Output = ()>,
    grace: Duration,
) -> usize {
    let (stop, stopping) = watch::channel(false);
    let mut connections = JoinSet::new();
    let mut shutdown = pin!(shutdown);
    loop {
        tokio::select! {
            () = &mut shutdown => break,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((socket, _)) => {
                    let (service, stopping) = (Arc::clone(&service), stopping.clone());
                    let serve = |socket| serve_connection(socket, service, stopping);
                    if let Err(error) = workers.serve(&mut connections, socket, serve) {
                        tracing::error!(%error, "a client's connection cannot be handed over");
                    }
                }
                Err(error) => wait_after(&error).await,
            }
        }
    }
    drop(listener);
    // Idle connections close at once, busy ones after their running exchange.
    let _ = stop.send(true);
    let all_done = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(grace, all_done).await.is_err() {
        let cut = connections.len();
        connections.shutdown().await;
        return cut;
    }
    0
}

async fn serve_connection(socket: TcpStream, service: Arc<Service>, mut stopping: watch::Receiver<bool>) {
    let _ = socket.set_nodelay(true);
    let serving = Serving::default();
    let io = TokioIo::new(ShortReads::of_requests(Rescue::new(socket, serving.clone())));
    let entering = serving.clone();
    let answer = service_fn(move |request| {
        let service = Arc::clone(&service);
        let guard = entering.enter();
        async move { Ok::<_, Infallible>(service.serve(request, guard).await) }
    });
    let connection = http1::Builder::new()
        .preserve_header_case(true)
        .auto_date_header(false)
        .max_buf_size(MAX_BUFFER)
        .serve_connection(io, answer);
    let mut connection = pin!(connection);
    let result = tokio::select! {
        result = connection.as_mut() => result,
        () = asked_to_stop(&mut stopping) => {
            if serving.is_idle() {
                return; // hyper would wait for the rest of a head of which it has a part.
            }
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = result {
        tracing::debug!(%error, "a client connection ended early");
    }
}

/// Has hyper render its date on this thread. It does so with a thread's first connection, used or not, and panics when the
/// clock is before 1970; a clock that is set back later does no harm.
pub(crate) async fn render_date() {
    let silent = service_fn(|_| async { Ok::<_, Infallible>(http::Response::new(String::new())) });
    let nobody = TokioIo::new(tokio::io::empty());
    // It ends at once, without a request.
    let _ = http1::Builder::new().serve_connection(nobody, silent).await;
}

/// Returns when shutdown was asked for.
async fn asked_to_stop(stopping: &mut watch::Receiver<bool>) {
    // An error means that the server itself is gone, which is a shutdown too.
    let _ = stopping.wait_for(|stop| *stop).await;
}

/// Out of file descriptors is not fixed by trying again at once.
async fn wait_after(error: &io::Error) {
    let one_client_only = matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionRefused
    );
    if !one_client_only {
        tracing::error!(%error, "cannot accept clients; trying again in a second");
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}
