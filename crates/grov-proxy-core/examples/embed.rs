//! A program that embeds the proxy, with its own policy, observer and admin route, and a graceful shutdown.
//!
//! `cargo run -p grov-proxy-core --example embed` starts a small upstream and the proxy in one process and sends a request
//! through. It prints what the upstream received, what the observer saw and what the admin route returns.

use anyhow::Context;
use async_trait::async_trait;
use bytes::Bytes;
use grov_proxy_core::{
    AdminRequest, AdminResponse, AdminRoute, MessagesRequest, ObservedExchange, Proxy, RequestPolicy,
    TurnObserver, Upstream,
};
use grov_wire::{Edit, text_block};
use http::StatusCode;
use http_body_util::{BodyExt, Full};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

/// Appends a house rule to what the user typed.
struct HouseRules;

#[async_trait]
impl RequestPolicy for HouseRules {
    fn name(&self) -> &'static str {
        "house-rules"
    }

    async fn propose(&self, request: &MessagesRequest) -> Vec<Edit> {
        let newest = request.index().and_then(|index| index.newest_user_message());
        let end = newest.and_then(|message| message.insertion_point_at_end());
        end.map(|at| Edit::insert(at, text_block("House rule: tests first.")))
            .into_iter()
            .collect()
    }
}

/// Prints each answer and counts its output tokens.
struct CountTokens(Arc<AtomicU64>);

impl TurnObserver for CountTokens {
    fn name(&self) -> &'static str {
        "count-tokens"
    }

    fn observe(&self, exchange: &ObservedExchange) {
        let tokens = exchange.turn.usage.output;
        self.0.fetch_add(tokens, Ordering::Relaxed);
        let line = format!("observed: {:?}, {tokens} output tokens", exchange.outcome);
        // Standard output may be closed.
        let _ = writeln!(std::io::stdout(), "{line}");
    }
}

/// Serves the number of output tokens at `/_grov/tokens/`.
struct TokenRoute(Arc<AtomicU64>);

#[async_trait]
impl AdminRoute for TokenRoute {
    fn body_limit(&self) -> u64 {
        0
    }

    async fn handle(&self, _: AdminRequest) -> AdminResponse {
        AdminResponse {
            status: StatusCode::OK,
            content_type: "text/plain",
            body: self.0.load(Ordering::Relaxed).to_string().into(),
        }
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut background = JoinSet::new();
    let upstream = TcpListener::bind("127.0.0.1:0").await?;
    let upstream_address = upstream.local_addr()?;
    background.spawn(async move { answer_everything(upstream).await });

    let tokens = Arc::new(AtomicU64::new(0));
    let proxy = Proxy::builder(Upstream::parse(&format!("http://{upstream_address}"))?)
        .policy(HouseRules)
        .observer(CountTokens(Arc::clone(&tokens)))
        .admin_route("tokens/", Arc::new(TokenRoute(tokens)))
        .build()?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let (stop, stopped) = oneshot::channel::<()>();
    // A program that runs until it is interrupted passes `tokio::signal::ctrl_c()` here.
    let shutdown = async move {
        let _ = stopped.await;
    };
    let client = async move {
        let body = r#"{"model":"any","messages":[{"role":"user","content":"fix the bug"}]}"#;
        let answered = send(address, "POST", "/v1/messages", body).await;
        let counted = send(address, "GET", "/_grov/tokens/", "").await;
        let _ = stop.send(());
        Ok::<_, anyhow::Error>((answered?, counted?))
    };
    // Returns once running responses have ended and the observers have seen them.
    let (cut, answers) = tokio::join!(proxy.serve(listener, shutdown), client);
    anyhow::ensure!(cut? == 0, "a response was cut");
    let (answered, counted) = answers?;
    let message: serde_json::Value = serde_json::from_slice(&answered)?;
    let received = message["content"][0]["text"].as_str().unwrap_or_default();
    let mut out = std::io::stdout();
    writeln!(out, "the upstream received: {received}")?;
    writeln!(
        out,
        "the admin route returned: {}",
        String::from_utf8_lossy(&counted)
    )?;
    background.shutdown().await;
    Ok(())
}

/// Sends a request to the proxy and returns the body of the response.
async fn send(
    proxy: std::net::SocketAddr,
    method: &str,
    path: &str,
    body: &'static str,
) -> anyhow::Result<Bytes> {
    let stream = TcpStream::connect(proxy)
        .await
        .context("cannot connect to the proxy")?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", "localhost")
        .header("connection", "close")
        .body(Full::new(Bytes::from_static(body.as_bytes())))?;
    let exchange = async move {
        let response = sender.send_request(request).await?;
        Ok::<_, anyhow::Error>(response.into_body().collect().await?.to_bytes())
    };
    let (connected, body) = tokio::join!(connection, exchange);
    connected?;
    body
}

/// An upstream that answers with the first message it received.
async fn answer_everything(listener: TcpListener) -> anyhow::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        let echo = service_fn(|request: Request<hyper::body::Incoming>| async {
            let body: serde_json::Value =
                serde_json::from_slice(&request.into_body().collect().await?.to_bytes())?;
            let answer = serde_json::json!({
                "id": "msg_1", "type": "message", "role": "assistant", "model": "any", "stop_reason": "end_turn",
                "content": [{"type": "text", "text": body["messages"][0].to_string()}],
                "usage": {"input_tokens": 9, "output_tokens": 12},
            });
            let mut response = Response::new(Full::new(Bytes::from(answer.to_string())));
            response.headers_mut().insert(
                "content-type",
                hyper::header::HeaderValue::from_static("application/json"),
            );
            Ok::<_, anyhow::Error>(response)
        });
        hyper::server::conn::http1::Builder::new()
            .serve_connection(TokioIo::new(stream), echo)
            .await?;
    }
}
