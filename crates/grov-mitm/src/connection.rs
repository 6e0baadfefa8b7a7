//! One client of the CONNECT proxy.

use crate::answer::{self, AnswerBody};
use crate::forward;
use crate::intercept::intercept;
use crate::listener::{Host, Mitm};
use crate::prefixed::Prefixed;
use crate::tunnel;
use grov_ca::Target;
use grov_proxy_core::{DialError, Dialer, Upstream, prepare_accepted};
use http::{Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::net::TcpStream;
use tokio::sync::watch;

/// Largest request head, in bytes.
const MAX_HEAD: usize = 32 * 1024;

/// What becomes of a connection after its CONNECT was answered.
enum Next {
    Intercept(Target, OnUpgrade),
    Tunnel(TcpStream, OnUpgrade),
}

/// Serves a client until its connection ends or is handed to the proxy. With `is_full` it gets only a 503.
pub(crate) async fn serve(
    socket: TcpStream,
    mitm: Arc<Mitm>,
    is_full: bool,
    mut stop: watch::Receiver<bool>,
) {
    prepare_accepted(&socket);
    let next: Arc<Mutex<Option<Next>>> = Arc::default();
    let service = {
        let (mitm, next) = (Arc::clone(&mitm), Arc::clone(&next));
        service_fn(move |request| {
            let (mitm, next) = (Arc::clone(&mitm), Arc::clone(&next));
            async move {
                let (response, then) = respond(&mitm, request, is_full).await;
                if then.is_some() {
                    *next.lock().unwrap_or_else(PoisonError::into_inner) = then;
                }
                Ok::<_, Infallible>(response)
            }
        })
    };
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(mitm.limits.head)
        .preserve_header_case(true)
        .max_buf_size(MAX_HEAD)
        .keep_alive(!is_full)
        .serve_connection(TokioIo::new(socket), service)
        .with_upgrades();
    let mut served = pin!(served);
    let ended = tokio::select! {
        ended = &mut served => Some(ended),
        () = stopping(&mut stop) => None,
    };
    let ended = match ended {
        Some(ended) => ended,
        None => {
            served.as_mut().graceful_shutdown();
            served.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a client of the CONNECT proxy ended early");
    }
    let then = next.lock().unwrap_or_else(PoisonError::into_inner).take();
    match then {
        None => {}
        Some(Next::Intercept(target, upgrade)) => {
            if let Some(stream) = upgraded(upgrade).await {
                intercept(&mitm, target, stream).await;
            }
        }
        Some(Next::Tunnel(upstream, upgrade)) => {
            if let Some(stream) = upgraded(upgrade).await {
                let _open = mitm.counters.open_tunnels.enter();
                if let Err(error) = tunnel::copy(stream, upstream).await {
                    tracing::debug!(%error, "a tunnel broke");
                }
            }
        }
    }
}

/// Waits until the listener stops.
async fn stopping(stop: &mut watch::Receiver<bool>) {
    // Fails only after the listener is gone.
    let _ = stop.wait_for(|stop| *stop).await;
}

/// Returns the client's socket after the answer to CONNECT was written.
async fn upgraded(upgrade: OnUpgrade) -> Option<Prefixed> {
    let stream = upgrade.await.ok()?;
    let parts = stream.downcast::<TokioIo<TcpStream>>().ok()?;
    Some(Prefixed::new(parts.read_buf, parts.io.into_inner()))
}

async fn respond(
    mitm: &Mitm,
    mut request: Request<Incoming>,
    is_full: bool,
) -> (Response<AnswerBody>, Option<Next>) {
    if is_full {
        mitm.counters.refused.add();
        let message = "too many connections are open (mitm.connections). Try again in a moment.";
        return (answer::text(StatusCode::SERVICE_UNAVAILABLE, message), None);
    }
    if request.method() == Method::CONNECT {
        let named = request
            .uri()
            .authority()
            .map_or("", |authority| authority.as_str());
        let target = match Target::of_connect(named) {
            Ok(target) => target,
            Err(error) => {
                mitm.counters.refused.add();
                return (
                    answer::text(StatusCode::BAD_REQUEST, format!("CONNECT to {error}")),
                    None,
                );
            }
        };
        let upgrade = hyper::upgrade::on(&mut request);
        return connect(mitm, target, upgrade).await;
    }
    let response = match request.uri().scheme_str() {
        Some("http") => forward::forward(mitm, request).await,
        Some(_) => {
            let message = "only http:// requests are taken in absolute form. For https, use CONNECT.";
            answer::text(StatusCode::BAD_REQUEST, message)
        }
        None => {
            let message = "this port is a CONNECT proxy (HTTPS_PROXY). API requests with ANTHROPIC_BASE_URL go to the proxy's other \
                           port, see `grov proxy-status`.";
            answer::text(StatusCode::BAD_REQUEST, message)
        }
    };
    (response, None)
}

/// Answers a CONNECT. The server of a tunnel is dialled first, so that the client learns if it is unreachable.
async fn connect(mitm: &Mitm, target: Target, upgrade: OnUpgrade) -> (Response<AnswerBody>, Option<Next>) {
    if mitm.host(&target).is_some() {
        return (answer::established(), Some(Next::Intercept(target, upgrade)));
    }
    match dial(mitm, &target).await {
        Ok(upstream) => {
            mitm.counters.tunnelled.add();
            (answer::established(), Some(Next::Tunnel(upstream, upgrade)))
        }
        Err(response) => (*response, None),
    }
}

/// Connects to the server of a tunnel.
async fn dial(mitm: &Mitm, target: &Target) -> Result<TcpStream, Box<Response<AnswerBody>>> {
    let refuse = |status, message: String| Box::new(answer::text(status, message));
    let server = Upstream::parse(&format!("https://{target}"))
        .map_err(|error| refuse(StatusCode::BAD_REQUEST, error.to_string()))?;
    let dialer = Dialer::new(server, mitm.limits.connect);
    if dialer.proxy_is(mitm.own) {
        tracing::error!(
            "HTTPS_PROXY or ALL_PROXY of grov-proxyd names its own CONNECT proxy: connections would loop"
        );
        let message =
            "HTTPS_PROXY of grov-proxyd names grov-proxyd itself. Restart it without that variable.";
        return Err(refuse(StatusCode::BAD_GATEWAY, message.to_owned()));
    }
    dialer.dial().await.map_err(|error| {
        tracing::warn!(%target, %error, "no tunnel");
        let status = match error {
            DialError::TimedOut { .. } => StatusCode::GATEWAY_TIMEOUT,
            _ => StatusCode::BAD_GATEWAY,
        };
        refuse(status, error.to_string())
    })
}

impl Mitm {
    /// Returns how connections to a target are intercepted, if they are.
    pub(crate) fn host(&self, target: &Target) -> Option<&Host> {
        self.hosts.get(target)
    }
}
