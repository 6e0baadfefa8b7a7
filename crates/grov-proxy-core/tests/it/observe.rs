//! Observers see exchanges, and their panics have no effect on others.

use crate::support::{Act, Running, Scripted, post, until};
use grov_proxy_core::{ObservedExchange, Outcome, Proxy, TurnObserver, Upstream};
use grov_wire::response::Block;
use std::io::Write;
use std::sync::{Arc, Mutex};

#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<Note>>>);

/// The outcome, the text and the output tokens.
type Note = (Outcome, Vec<Block>, u64);

impl Notes {
    fn all(&self) -> Vec<Note> {
        self.0.lock().unwrap().clone()
    }
}

impl TurnObserver for Notes {
    fn name(&self) -> &'static str {
        "notes"
    }

    fn observe(&self, exchange: &ObservedExchange) {
        let turn = &exchange.turn;
        self.0
            .lock()
            .unwrap()
            .push((exchange.outcome, turn.blocks.clone(), turn.usage.output));
    }
}

struct Clumsy;

impl TurnObserver for Clumsy {
    fn name(&self) -> &'static str {
        "clumsy"
    }

    fn observe(&self, _: &ObservedExchange) {
        panic!("on purpose");
    }
}

const STREAM: &str = concat!(
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m1\",\"role\":\"assistant\",\"model\":\"x\",",
    "\"content\":[],\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n",
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"hi\"}}\n\n",
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":7}}\n\n",
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
);

fn streamed(body: &[u8], extra_header: &str) -> Vec<u8> {
    let mut answer = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n{extra_header}Content-Length: {}\r\n\r\n",
        body.len()
    )
    .into_bytes();
    answer.extend_from_slice(body);
    answer
}

fn text(text: &str) -> Block {
    Block::Text {
        text: text.to_owned(),
        complete: true,
    }
}

async fn observed(act: Vec<Act>, headers: &str) -> (Vec<Note>, Vec<u8>) {
    let upstream = Scripted::start(move |_, _| act.clone()).await;
    let notes = Notes::default();
    let builder = Proxy::builder(Upstream::parse(&upstream.url()).unwrap())
        .observer(Clumsy)
        .observer(notes.clone());
    let proxy = Running::start(builder).await;
    let mut client = proxy.client().await;
    client
        .send(format!(
            "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\n{headers}Content-Length: 2\r\n\r\n{{}}"
        ))
        .await;
    let body = client.receive().await.map(|(_, body)| body).unwrap_or_default();
    drop(client);
    if headers.is_empty() {
        until("the exchange to be observed", || !notes.all().is_empty()).await;
        assert_eq!(proxy.metrics.faults("observer_panic"), 1);
    }
    proxy.finish();
    (notes.all(), body)
}

#[tokio::test]
async fn complete_stream_is_observed_despite_a_panicking_observer() {
    let (seen, body) = observed(vec![Act::Write(streamed(STREAM.as_bytes(), ""))], "").await;
    assert_eq!(seen, [(Outcome::Complete, vec![text("hi")], 7)]);
    assert_eq!(body, STREAM.as_bytes());
}

#[tokio::test]
async fn compressed_stream_is_observed_and_relayed_unchanged() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(STREAM.as_bytes()).unwrap();
    let packed = encoder.finish().unwrap();
    let (seen, body) = observed(
        vec![Act::Write(streamed(&packed, "Content-Encoding: gzip\r\n"))],
        "",
    )
    .await;
    assert_eq!(seen, [(Outcome::Complete, vec![text("hi")], 7)]);
    assert_eq!(body, packed);
}

#[tokio::test]
async fn truncated_stream_is_observed_as_truncated() {
    let half = &STREAM.as_bytes()[..STREAM.len() / 2];
    let mut answer =
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 99999\r\n\r\n".to_vec();
    answer.extend_from_slice(half);
    let (seen, _) = observed(vec![Act::Write(answer), Act::Close], "").await;
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].0, Outcome::Truncated);
}

#[tokio::test]
async fn a_bypassed_request_is_not_observed() {
    let (seen, body) = observed(
        vec![Act::Write(streamed(STREAM.as_bytes(), ""))],
        "x-grov-bypass: 1\r\n",
    )
    .await;
    assert_eq!(seen, []);
    assert_eq!(body, STREAM.as_bytes());
}

#[tokio::test]
async fn client_disconnect_is_observed() {
    let upstream = Scripted::start(|_, _| {
        let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n: x\n\n\r\n";
        vec![Act::Write(head.to_vec()), Act::AwaitClose]
    })
    .await;
    let notes = Notes::default();
    let builder = Proxy::builder(Upstream::parse(&upstream.url()).unwrap()).observer(notes.clone());
    let proxy = Running::start(builder).await;
    let mut client = proxy.client().await;
    client.send(post("/v1/messages", b"{}")).await;
    client.at_least(90).await;
    drop(client);
    until("the exchange to be observed", || !notes.all().is_empty()).await;
    assert_eq!(notes.all()[0].0, Outcome::ClientGone);
}
