//! The proxy inside another program, with a policy and an observer of its own.
//!
//! Run it with `cargo run -p grov-proxy-core --example embed`: it starts a little upstream and the proxy in one
//! process, sends one request through, and prints what the upstream received and what the observer saw.

use anyhow::Context;
use async_trait::async_trait;
use bytes::Bytes;
use grov_proxy_core::{MessagesRequest, ObservedExchange, Proxy, RequestPolicy, TurnObserver, Upstream};
use grov_wire::{Edit, text_block};
use http_body_util::{BodyExt, Full};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use std::io::Write;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

/// Reminds the model of the house rules, behind what the user typed.
struct HouseRules;

#[async_trait]
impl RequestPolicy for HouseRules {
    fn name(&self) -> &'static str {
        "house-rules"
    }

    async fn propose(&self, request: &MessagesRequest) -> Vec<Edit> {
        let newest = request.index().and_then(|index| index.newest_user_message());
        let behind = newest.and_then(|message| message.end_seam());
        behind
            .map(|at| Edit::Insert {
                at,
                bytes: text_block("House rule: tests first."),
            })
            .into_iter()
            .collect()
    }
}

/// Prints what was answered.
struct Printer;

impl TurnObserver for Printer {
    fn name(&self) -> &'static str {
        "printer"
    }

    fn observe(&self, exchange: &ObservedExchange) {
        let usage = &exchange.turn.usage;
        let line = format!(
            "observed: {:?}, {} tokens of output",
            exchange.outcome, usage.output
        );
        // Nobody is left to tell when standard output is closed.
        let _ = writeln!(std::io::stdout(), "{line}");
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut background = JoinSet::new();
    let upstream = TcpListener::bind("127.0.0.1:0").await?;
    let upstream_address = upstream.local_addr()?;
    background.spawn(async move { answer_everything(upstream).await });

    let proxy = Proxy::builder(Upstream::parse(&format!("http://{upstream_address}"))?)
        .policy(HouseRules)
        .observer(Printer)
        .build()?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = proxy.serve(listener, async move {
        let _ = stopped.await;
    });
    let asking = async move {
        let received = ask(address).await;
        let _ = stop.send(());
        received
    };
    let (served, received) = tokio::join!(serving, asking);
    served?;
    writeln!(std::io::stdout(), "the upstream received: {}", received?)?;
    background.shutdown().await;
    Ok(())
}

/// Sends one request through the proxy and returns what the upstream echoes of it.
async fn ask(proxy: std::net::SocketAddr) -> anyhow::Result<String> {
    let stream = TcpStream::connect(proxy).await.context("the proxy accepts")?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let body = r#"{"model":"any","messages":[{"role":"user","content":"fix the bug"}]}"#;
    let request = Request::post("/v1/messages")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .body(Full::new(Bytes::from_static(body.as_bytes())))?;
    let answer = async move {
        let answer = sender
            .send_request(request)
            .await?
            .into_body()
            .collect()
            .await?
            .to_bytes();
        let message: serde_json::Value = serde_json::from_slice(&answer)?;
        Ok::<_, anyhow::Error>(
            message["content"][0]["text"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
        )
    };
    let (connected, answer) = tokio::join!(connection, answer);
    connected?;
    answer
}

/// An upstream that answers every message with the last message it received.
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
