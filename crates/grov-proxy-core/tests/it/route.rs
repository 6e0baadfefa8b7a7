//! Exchanges with another upstream, and with a codec.

use crate::support::{Act, Running, SOON, Scripted, json_answer, post, until};
use bytes::{Bytes, BytesMut};
use grov_proxy_core::{
    Codec, CodecError, Decoder, Delivery, Encoded, HeaderPolicy, ObservedExchange, Proxy, ProxyBuilder,
    Route, RouteRequest, Router, ServeError, Target, TurnObserver, Upstream, UpstreamHandle, Upstreams,
};
use http::{request, response};
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;

const STREAM: &str = concat!(
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m1\",\"role\":\"assistant\",\"model\":\"x\",",
    "\"content\":[],\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n",
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"quiet\"}}\n\n",
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":7}}\n\n",
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
);

fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}

/// A stream that waits before its last event.
fn held_stream() -> Vec<Act> {
    let (first, last) = STREAM.split_at(STREAM.rfind("event:").unwrap());
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n";
    let first: String = first.split_inclusive(' ').map(chunk).collect();
    vec![
        Act::Drip(format!("{head}{first}").into_bytes(), 16),
        Act::Hold,
        Act::Write(format!("{}0\r\n\r\n", chunk(last)).into_bytes()),
    ]
}

/// Routes messages that contain "elsewhere" to another upstream.
struct ByWord {
    elsewhere: UpstreamHandle,
    codec: Option<Arc<dyn Codec>>,
}

impl Router for ByWord {
    fn route(&self, request: &RouteRequest<'_>) -> Option<Route> {
        let is_elsewhere = match request.message {
            Some(message) => message.index()?.model()? == "elsewhere",
            None => request.headers.contains_key("x-elsewhere"),
        };
        is_elsewhere.then(|| {
            Route::to(Target {
                codec: self.codec.clone(),
                ..Target::new(self.elsewhere.clone())
            })
        })
    }
}

/// Where the codec fails.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    Nowhere,
    Request,
    Head,
    Chunk,
    CloseReason,
    Panic,
}

/// Replaces "quiet" by "LOUD" in responses, and "LOUD" by "quiet" in requests.
#[derive(Clone, Copy)]
struct Loud(Fault);

struct LoudAnswer {
    fault: Fault,
    /// The incomplete line.
    line: Vec<u8>,
}

fn fails(here: bool) -> Result<(), CodecError> {
    here.then_some(())
        .map_or(Ok(()), |()| Err(CodecError("No such word.".to_owned())))
}

impl Codec for Loud {
    fn encode(&self, head: &mut request::Parts, body: Bytes) -> Result<Encoded, CodecError> {
        fails(self.0 == Fault::Request)?;
        head.uri = "/loud/chat".parse().unwrap();
        head.headers.remove("x-api-key");
        head.headers
            .insert("x-loud-key", http::HeaderValue::from_static("k"));
        let body = String::from_utf8(body.to_vec()).unwrap().replace("LOUD", "quiet");
        let answer = LoudAnswer {
            fault: self.0,
            line: Vec::new(),
        };
        Ok(Encoded {
            body: body.into(),
            decoder: Some(Box::new(answer)),
        })
    }
}

impl Decoder for LoudAnswer {
    fn head(&mut self, head: &mut response::Parts) -> Result<Delivery, CodecError> {
        fails(self.fault == Fault::Head)?;
        head.headers.insert(
            "content-type",
            http::HeaderValue::from_static("text/event-stream"),
        );
        Ok(Delivery::Stream)
    }

    fn chunk(&mut self, chunk: &[u8], out: &mut BytesMut) -> Result<(), CodecError> {
        for byte in chunk {
            self.line.push(*byte);
            if *byte == b'\n' {
                let line = String::from_utf8(std::mem::take(&mut self.line)).unwrap();
                let speaks = line.contains("quiet");
                assert!(!(speaks && self.fault == Fault::Panic), "on purpose");
                fails(speaks && self.fault == Fault::Chunk)?;
                out.extend_from_slice(line.replace("quiet", "LOUD").as_bytes());
            }
        }
        Ok(())
    }

    fn end(&mut self, out: &mut BytesMut) -> Result<(), CodecError> {
        out.extend_from_slice(b": over\n");
        fails(self.fault == Fault::CloseReason)
    }
}

#[derive(Clone, Default)]
struct Texts(Arc<Mutex<Vec<String>>>);

impl TurnObserver for Texts {
    fn name(&self) -> &'static str {
        "texts"
    }

    fn observe(&self, exchange: &ObservedExchange) {
        let seen = format!("{:?} {:?}", exchange.outcome, exchange.turn.blocks);
        self.0.lock().unwrap().push(seen);
    }
}

/// Starts a proxy in front of both upstreams.
fn before(main: &Scripted, other: &Scripted, codec: Option<Arc<dyn Codec>>) -> ProxyBuilder {
    let builder = Proxy::builder(Upstream::parse(&main.url()).unwrap());
    let elsewhere = builder
        .upstreams()
        .add(Upstream::parse(&other.url()).unwrap(), SOON);
    builder.router(ByWord { elsewhere, codec })
}

async fn answering(text: &'static str) -> Scripted {
    Scripted::start(move |_, _| vec![Act::Write(json_answer(text))]).await
}

#[tokio::test]
async fn each_exchange_goes_where_the_router_says_and_each_upstream_has_its_own_connections() {
    let (main, other) = (answering("\"main\"").await, answering("\"other\"").await);
    let proxy = Running::start(before(&main, &other, None)).await;
    let mut client = proxy.client().await;
    let here = "{ \"model\":\"here\",\"messages\":[]}";
    let elsewhere = "{\"model\":\"elsewhere\" ,\"messages\":[]}";
    for path in ["/v1/messages?beta=true", "/v1/messages/count_tokens"] {
        for (body, answer) in [
            (here, "\"main\""),
            (elsewhere, "\"other\""),
            ("no json", "\"main\""),
        ] {
            client.send(post(path, body.as_bytes())).await;
            assert_eq!(client.receive().await.unwrap().1, answer.as_bytes(), "{body}");
        }
    }
    client
        .send("GET /v1/models HTTP/1.1\r\nHost: localhost\r\nX-Elsewhere: 1\r\n\r\n")
        .await;
    assert_eq!(client.receive().await.unwrap().1, b"\"other\"");
    let bodies = |upstream: &Scripted| -> Vec<String> {
        let requests = upstream.requests();
        assert!(requests.iter().all(|request| request.connection == 0));
        let text = |body: &Vec<u8>| String::from_utf8(body.clone()).unwrap();
        requests.iter().map(|request| text(&request.body)).collect()
    };
    assert_eq!(bodies(&main), [here, "no json", here, "no json"]);
    assert_eq!(bodies(&other), [elsewhere, elsewhere, ""]);
    let host = other.requests()[0].header("host").map(str::to_owned);
    assert_eq!(host, Some(other.address.to_string()));
}

#[tokio::test]
async fn translated_response_streams_and_is_observed_as_sent() {
    let main = answering("{}").await;
    let other = Scripted::start(|_, _| held_stream()).await;
    let texts = Texts::default();
    let builder = before(&main, &other, Some(Arc::new(Loud(Fault::Nowhere)))).observer(texts.clone());
    let proxy = Running::start(builder).await;
    let mut client = proxy.client().await;
    let body = "{\"model\":\"elsewhere\",\"messages\":[{\"role\":\"user\",\"content\":\"LOUD\"}]}";
    client
        .send(format!(
            "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: k\r\nAccept-Encoding: gzip\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        ))
        .await;
    // Everything but the end has arrived before the upstream ends.
    while !String::from_utf8_lossy(&client.at_least(1).await).contains("end_turn") {
        let have = client.at_least(1).await.len();
        client.at_least(have + 1).await;
    }
    other.release();
    let (head, answer) = client.receive().await.unwrap();
    assert!(
        head.to_ascii_lowercase()
            .contains("content-type: text/event-stream"),
        "{head}"
    );
    let expected = format!("{}: over\n", STREAM.replace("quiet", "LOUD"));
    assert_eq!(String::from_utf8(answer).unwrap(), expected);
    let request = other.requests().remove(0);
    assert!(
        request.head.starts_with("POST /loud/chat HTTP/1.1\r\n"),
        "{}",
        request.head
    );
    assert_eq!(request.header("x-api-key"), None);
    assert_eq!(request.header("accept-encoding"), Some("identity"));
    let sent = body.replace("LOUD", "quiet");
    assert_eq!(String::from_utf8(request.body.clone()).unwrap(), sent);
    assert_eq!(
        request.header("content-length"),
        Some(sent.len().to_string().as_str())
    );
    until("the observer", || !texts.0.lock().unwrap().is_empty()).await;
    let seen = texts.0.lock().unwrap().remove(0);
    assert!(seen.starts_with("Complete") && seen.contains("LOUD"), "{seen}");
    // The connection is reused.
    client.send(post("/v1/messages", body.as_bytes())).await;
    other.release();
    until("the second request", || other.requests().len() == 2).await;
    assert_eq!(other.requests()[1].connection, 0);
}

#[tokio::test]
async fn strict_header_policy_keeps_headers_of_the_codec() {
    let main = answering("{}").await;
    let other = Scripted::start(|_, _| held_stream()).await;
    let builder = before(&main, &other, Some(Arc::new(Loud(Fault::Nowhere)))).headers(HeaderPolicy::Strict);
    let proxy = Running::start(builder).await;
    let mut client = proxy.client().await;
    let body = "{\"model\":\"elsewhere\",\"messages\":[]}";
    client
        .send(format!(
            "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nX-Other: o\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ))
        .await;
    until("the request", || other.requests().len() == 1).await;
    let request = other.requests().remove(0);
    assert_eq!(request.header("x-loud-key"), Some("k"));
    assert_eq!(request.header("x-other"), None);
    other.release();
}

/// Returns the raw response to a request whose translation fails there.
async fn failing(fault: Fault) -> (String, usize, Running) {
    let main = answering("{}").await;
    let other = Scripted::start(|_, _| {
        let mut acts = held_stream();
        acts.remove(1);
        acts
    })
    .await;
    let proxy = Running::start(before(&main, &other, Some(Arc::new(Loud(fault))))).await;
    let mut client = proxy.client().await;
    let body = "{\"model\":\"elsewhere\",\"messages\":[]}";
    client
        .send(format!(
            "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ))
        .await;
    let answer = String::from_utf8(client.rest().await).unwrap();
    assert!(main.requests().is_empty());
    (answer, other.requests().len(), proxy)
}

#[tokio::test]
async fn codec_error_before_the_head_is_an_api_error() {
    for (fault, status, kind, sent) in [
        (Fault::Request, 400, "invalid_request_error", 0),
        (Fault::Head, 502, "api_error", 1),
    ] {
        let (answer, requests, proxy) = failing(fault).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        let body = answer.split("\r\n\r\n").nth(1).unwrap();
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!(
            (&body["type"], &body["error"]["type"]),
            (&"error".into(), &kind.into())
        );
        assert!(
            body["error"]["message"]
                .as_str()
                .unwrap()
                .ends_with("No such word.")
        );
        assert_eq!(requests, sent);
        assert_eq!(proxy.metrics.faults("codec_failed"), 1);
    }
}

#[tokio::test]
async fn codec_error_in_the_body_cuts_the_response() {
    for fault in [Fault::Chunk, Fault::CloseReason, Fault::Panic] {
        let (answer, _, proxy) = failing(fault).await;
        assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
        assert!(answer.contains("content_block_start"), "{answer}");
        assert!(!answer.ends_with("0\r\n\r\n"), "it must not look whole: {answer}");
        assert_eq!(
            answer.contains("end_turn"),
            fault == Fault::CloseReason,
            "{answer}"
        );
        assert_eq!(proxy.metrics.faults("codec_failed"), 1);
    }
}

struct Lost;

impl Router for Lost {
    fn route(&self, _: &RouteRequest<'_>) -> Option<Route> {
        panic!("on purpose");
    }
}

#[tokio::test]
async fn failing_router_sends_nothing() {
    let main = answering("{}").await;
    let builder = Proxy::builder(Upstream::parse(&main.url()).unwrap()).router(Lost);
    let proxy = Running::start(builder).await;
    let mut client = proxy.client().await;
    for path in ["/v1/messages", "/v1/models"] {
        client.send(post(path, b"{}")).await;
        let (head, body) = client.receive().await.unwrap();
        assert!(head.starts_with("HTTP/1.1 500 "), "{head}");
        assert!(String::from_utf8(body).unwrap().contains("\"api_error\""));
    }
    assert_eq!(main.requests().len(), 0);
    assert_eq!(proxy.metrics.faults("route_lost"), 2);
}

#[tokio::test]
async fn an_upstream_that_is_the_proxy_itself_is_refused() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let own = format!("http://{}", listener.local_addr().unwrap());
    let proxy = Proxy::builder(Upstream::parse(&own).unwrap()).build().unwrap();
    let served = proxy.serve(listener, std::future::pending());
    assert!(matches!(served.await, Err(ServeError::Loop { .. })));
}

/// Routes everything to the proxy itself.
struct ToItself(Upstreams);

impl Router for ToItself {
    fn route(&self, request: &RouteRequest<'_>) -> Option<Route> {
        let own = format!("http://{}", request.headers.get("x-own")?.to_str().ok()?);
        let own = self.0.add(Upstream::parse(&own).unwrap(), SOON);
        Some(Route::to(Target::new(own)))
    }
}

#[tokio::test]
async fn a_target_that_is_the_proxy_itself_is_unreachable() {
    let main = answering("{}").await;
    let builder = Proxy::builder(Upstream::parse(&main.url()).unwrap());
    let router = ToItself(builder.upstreams());
    let proxy = Running::start(builder.router(router)).await;
    let mut client = proxy.client().await;
    let own = proxy.address;
    client
        .send(format!(
            "GET /v1/models HTTP/1.1\r\nHost: localhost\r\nX-Own: {own}\r\n\r\n"
        ))
        .await;
    let (head, _) = client.receive().await.unwrap();
    assert!(head.starts_with("HTTP/1.1 502 "), "{head}");
    assert_eq!(proxy.metrics.faults("upstream_unreachable"), 1);
}
