//! Routes with several targets, foreign targets, interruptions and answers of the embedder.

use crate::support::{Act, Running, SOON, Scripted, json_answer, post, until};
use bytes::{Bytes, BytesMut};
use grov_proxy_core::{
    Answer, Attempt, AttemptResult, Codec, CodecError, Decoder, Delivery, Encoded, Failover, Failure,
    FailureKind, Forward, Interruption, MessagesRequest, Next, ObservedExchange, Outcome, Proxy,
    RequestPolicy, Route, RouteRequest, Router, Target, Timeouts, TurnObserver, Upstream, UpstreamHandle,
};
use grov_wire::{Edit, text_block};
use http::{HeaderName, HeaderValue, Response, StatusCode, request, response};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub(crate) const BODY: &[u8] =
    b"{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]}]}";

/// A script for an upstream that answers with this status.
fn status(status: &'static str, more: &'static str) -> Vec<Act> {
    let text = format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n{more}\r\n{{}}");
    vec![Act::Write(text.into_bytes())]
}

pub(crate) async fn answering(text: &'static str) -> Scripted {
    Scripted::start(move |_, _| vec![Act::Write(json_answer(text))]).await
}

/// Routes every message to the same targets.
pub(crate) struct Everywhere {
    pub(crate) targets: Vec<Target>,
    pub(crate) attempts: Arc<Attempts>,
}

impl Router for Everywhere {
    fn route(&self, request: &RouteRequest<'_>) -> Option<Route> {
        request.message?;
        Some(Route::Forward(Forward {
            targets: self.targets.clone(),
            failover: Some(Arc::clone(&self.attempts) as Arc<dyn Failover>),
        }))
    }
}

/// Tries the next target after statuses from 429 and after failures.
#[derive(Default)]
pub(crate) struct Attempts(Mutex<Vec<String>>);

impl Attempts {
    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl Failover for Attempts {
    fn attempted(&self, attempt: &Attempt<'_>) -> Next {
        let (result, next) = match &attempt.result {
            AttemptResult::Answered(head) if head.status.as_u16() < 429 => {
                (head.status.to_string(), Next::Stop)
            }
            AttemptResult::Answered(head) => (head.status.to_string(), Next::Try),
            AttemptResult::Failed(failure) => (format!("{:?}", failure.kind), Next::Try),
            AttemptResult::Abandoned => ("abandoned".to_owned(), Next::Try),
        };
        self.0
            .lock()
            .unwrap()
            .push(format!("{} {result}", attempt.target));
        next
    }

    fn exhausted(&self, failure: &Failure) -> Option<Response<Bytes>> {
        let mut response = Response::new(Bytes::from(format!("{:?}", failure.kind)));
        *response.status_mut() = StatusCode::IM_A_TEAPOT;
        (failure.kind == FailureKind::Unreachable).then_some(response)
    }
}

/// A proxy whose messages go to these targets, which `adapt` changes.
pub(crate) async fn before(
    upstreams: &[String],
    adapt: impl Fn(Target) -> Target,
) -> (Running, Arc<Attempts>, Scripted) {
    let main = answering("\"main\"").await;
    let builder = Proxy::builder(Upstream::parse(&main.url()).unwrap());
    let targets = upstreams.iter().map(|url| {
        let upstream = builder.upstreams().add(Upstream::parse(url).unwrap(), SOON);
        adapt(Target::new(upstream))
    });
    let attempts = Arc::<Attempts>::default();
    let router = Everywhere {
        targets: targets.collect(),
        attempts: Arc::clone(&attempts),
    };
    (Running::start(builder.router(router)).await, attempts, main)
}

/// The URL of a port that refuses connections.
async fn refused() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

#[tokio::test]
async fn next_target_is_tried_until_one_answers() {
    let busy = Scripted::start(|_, _| status("429 Too Many Requests", "Retry-After: 9\r\n")).await;
    let closing = Scripted::start(|_, _| vec![Act::Close]).await;
    let good = answering("\"good\"").await;
    let unused = answering("\"unused\"").await;
    let refused = refused().await;
    let urls = [busy.url(), closing.url(), refused, good.url(), unused.url()];
    let (proxy, attempts, main) = before(&urls, |target| target).await;
    let mut client = proxy.client().await;
    client.send(post("/v1/messages", BODY)).await;
    assert_eq!(client.receive().await.unwrap().1, b"\"good\"");
    assert_eq!(
        attempts.all(),
        [
            "0 429 Too Many Requests",
            "1 Unreachable",
            "2 Unreachable",
            "3 200 OK"
        ]
    );
    for upstream in [&busy, &closing, &good] {
        assert_eq!(upstream.requests()[0].body, BODY);
    }
    assert!(unused.requests().is_empty() && main.requests().is_empty());
}

#[tokio::test]
async fn last_target_has_the_last_word() {
    let busy = Scripted::start(|_, _| status("529 Overloaded", "Retry-After: 7\r\n")).await;
    let failing = Scripted::start(|_, _| status("500 Internal Server Error", "")).await;
    let urls = [failing.url(), busy.url()];
    let (proxy, attempts, _main) = before(&urls, |target| target).await;
    let mut client = proxy.client().await;
    client.send(post("/v1/messages", BODY)).await;
    let (head, _) = client.receive().await.unwrap();
    assert!(head.starts_with("HTTP/1.1 529 "), "{head}");
    assert!(head.to_ascii_lowercase().contains("retry-after: 7"), "{head}");
    assert_eq!(attempts.all().len(), 2);
}

#[tokio::test]
async fn failover_writes_the_response_when_all_targets_failed() {
    let (one, two) = (refused().await, refused().await);
    let (proxy, attempts, _main) = before(&[one, two], |target| Target {
        response_headers: vec![(
            HeaderName::from_static("x-grov-route"),
            HeaderValue::from_static("label"),
        )],
        ..target
    })
    .await;
    let mut client = proxy.client().await;
    client.send(post("/v1/messages", BODY)).await;
    let (head, body) = client.receive().await.unwrap();
    assert!(head.starts_with("HTTP/1.1 418 "), "{head}");
    assert!(head.contains("x-grov-route: label"), "{head}");
    assert!(head.contains("x-grov-request-id: grov-"), "{head}");
    assert_eq!(body, b"Unreachable");
    assert_eq!(attempts.all(), ["0 Unreachable", "1 Unreachable"]);
}

#[tokio::test]
async fn silent_target_is_given_up_after_its_own_limit() {
    let silent = Scripted::start(|_, _| vec![Act::AwaitClose]).await;
    let good = answering("\"good\"").await;
    let urls = [silent.url(), good.url()];
    let (proxy, attempts, _main) = before(&urls, |target| Target {
        timeouts: Timeouts {
            first_byte: Some(Duration::from_millis(200)),
            ..Timeouts::default()
        },
        ..target
    })
    .await;
    let mut client = proxy.client().await;
    client.send(post("/v1/messages", BODY)).await;
    let (head, body) = client.receive().await.unwrap();
    assert_eq!(body, b"\"good\"", "{head}");
    assert_eq!(attempts.all(), ["0 TimedOut", "1 200 OK"]);
    until("the silent request's end", || silent.closed_by_peer() == 1).await;
}

#[tokio::test]
async fn attempt_of_a_client_that_left_is_reported_as_abandoned() {
    let silent = Scripted::start(|_, _| vec![Act::AwaitClose]).await;
    let (proxy, attempts, _main) = before(&[silent.url()], |target| target).await;
    let mut client = proxy.client().await;
    client.send(post("/v1/messages", BODY)).await;
    until("the request", || silent.requests().len() == 1).await;
    drop(client);
    until("the report", || attempts.all() == ["0 abandoned"]).await;
}

/// Sets a key of the provider, and passes the response unchanged.
pub(crate) struct Keyed;

impl Codec for Keyed {
    fn encode(&self, head: &mut request::Parts, body: Bytes) -> Result<Encoded, CodecError> {
        head.headers
            .insert("x-api-key", HeaderValue::from_static("provider-key"));
        Ok(Encoded { body, decoder: None })
    }
}

/// A request with credentials of every kind.
fn with_credentials() -> Vec<u8> {
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer client-secret\r\nX-Api-Key: client-secret\r\n\
         Cookie: client-secret\r\nAnthropic-Beta: oauth\r\nAnthropic-Version: 1\r\nProxy-Authorization: client-secret\r\n\
         X-Claude-Code-Session-Id: s1\r\nContent-Type: application/json\r\nAccept: application/json\r\nContent-Length: {}\r\n\r\n",
        BODY.len()
    );
    [head.as_bytes(), BODY].concat()
}

#[tokio::test]
async fn foreign_target_never_sees_credentials_of_the_client() {
    for codec in [None, Some(Arc::new(Keyed) as Arc<dyn Codec>)] {
        let provider = Scripted::start(|_, _| status("200 OK", "Set-Cookie: a=b\r\n")).await;
        let key = codec.is_some().then_some("provider-key");
        let (proxy, _attempts, _main) = before(&[provider.url()], |target| Target {
            codec: codec.clone(),
            is_foreign: true,
            ..target
        })
        .await;
        let mut client = proxy.client().await;
        client.send(with_credentials()).await;
        let (head, _) = client.receive().await.unwrap();
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        assert!(!head.to_ascii_lowercase().contains("set-cookie"), "{head}");
        let request = provider.requests().remove(0);
        let mut names: Vec<String> = request
            .head
            .lines()
            .skip(1)
            .filter_map(|line| Some(line.split_once(':')?.0.to_ascii_lowercase()))
            .collect();
        names.sort();
        let mut expected = vec!["accept", "content-length", "content-type", "host"];
        if key.is_some() {
            expected.extend(["accept-encoding", "x-api-key"]);
            expected.sort_unstable();
        }
        assert_eq!(names, expected);
        assert_eq!(request.header("x-api-key"), key);
        assert!(!request.head.contains("client-secret"), "{}", request.head);
    }
}

#[tokio::test]
async fn redirect_of_a_foreign_target_is_an_error() {
    let thief = answering("\"thief\"").await;
    let location = format!("Location: {}/v1/messages\r\n", thief.url());
    let location: &'static str = location.leak();
    let provider = Scripted::start(move |_, _| status("307 Temporary Redirect", location)).await;
    let (proxy, attempts, _main) = before(&[provider.url()], |target| Target {
        is_foreign: true,
        ..target
    })
    .await;
    let mut client = proxy.client().await;
    client.send(with_credentials()).await;
    let (head, body) = client.receive().await.unwrap();
    assert!(head.starts_with("HTTP/1.1 502 "), "{head}");
    assert!(!head.to_ascii_lowercase().contains("location:"), "{head}");
    assert!(String::from_utf8(body).unwrap().contains("redirect"));
    assert_eq!(attempts.all(), ["0 Response"]);
    assert!(thief.requests().is_empty());
}

/// Passes responses, with events for pings and interruptions.
#[derive(Clone, Copy, Default)]
pub(crate) struct Marked {
    pub(crate) is_whole: bool,
    /// Whether chunks with "bad" cannot be translated.
    pub(crate) is_strict: bool,
    pub(crate) is_done: bool,
}

impl Codec for Marked {
    fn encode(&self, _: &mut request::Parts, body: Bytes) -> Result<Encoded, CodecError> {
        Ok(Encoded {
            body,
            decoder: Some(Box::new(*self)),
        })
    }
}

impl Decoder for Marked {
    fn head(&mut self, _: &mut response::Parts) -> Result<Delivery, CodecError> {
        Ok(if self.is_whole {
            Delivery::Whole
        } else {
            Delivery::Stream
        })
    }

    fn chunk(&mut self, chunk: &[u8], out: &mut BytesMut) -> Result<(), CodecError> {
        out.extend_from_slice(chunk);
        self.is_done |= chunk.windows(6).any(|word| word == b"[DONE]");
        if self.is_strict && chunk.windows(3).any(|word| word == b"bad") {
            return Err(CodecError("bad".to_owned()));
        }
        Ok(())
    }

    fn end(&mut self, out: &mut BytesMut) -> Result<(), CodecError> {
        if !self.is_done {
            out.extend_from_slice(b"<end>");
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    fn abort(&mut self, interruption: &Interruption, out: &mut BytesMut) {
        let kind = match interruption {
            Interruption::Cut => "cut",
            Interruption::Silent(_) => "silent",
            Interruption::Untranslatable(_) => "untranslatable",
        };
        out.extend_from_slice(
            format!("event: error\ndata: {{\"type\":\"error\",\"error\":{{\"type\":\"api_error\",\"message\":\"{kind}\"}}}}\n\n")
                .as_bytes(),
        );
    }

    fn ping(&mut self, out: &mut BytesMut) {
        out.extend_from_slice(b": ping\n\n");
    }

    fn collected(&mut self, head: &mut response::Parts, body: &[u8]) {
        if body.starts_with(b"error") {
            head.status = StatusCode::BAD_GATEWAY;
        }
    }
}

pub(crate) const STREAM_HEAD: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

pub(crate) fn chunk(text: &str) -> Act {
    Act::Write(format!("{:x}\r\n{text}\r\n", text.len()).into_bytes())
}

#[derive(Clone, Default)]
struct Outcomes(Arc<Mutex<Vec<Outcome>>>);

impl TurnObserver for Outcomes {
    fn name(&self) -> &'static str {
        "outcomes"
    }

    fn observe(&self, exchange: &ObservedExchange) {
        self.0.lock().unwrap().push(exchange.outcome);
    }
}

/// Returns the response of a translated target, and what the observer saw.
async fn translated(codec: Marked, timeouts: Timeouts, acts: Vec<Act>) -> (String, String, Outcome) {
    let provider = Scripted::start(move |_, _| acts.clone()).await;
    let builder = Proxy::builder(Upstream::parse("http://127.0.0.1:1").unwrap());
    let upstream = builder
        .upstreams()
        .add(Upstream::parse(&provider.url()).unwrap(), SOON);
    let router = Everywhere {
        targets: vec![Target {
            codec: Some(Arc::new(codec)),
            timeouts,
            ping: Some(Duration::from_millis(20)),
            ..Target::new(upstream)
        }],
        attempts: Arc::default(),
    };
    let outcomes = Outcomes::default();
    let proxy = Running::start(builder.router(router).observer(outcomes.clone())).await;
    let mut client = proxy.client().await;
    client.send(post("/v1/messages", BODY)).await;
    let (head, body) = client.receive().await.unwrap();
    until("the observer", || !outcomes.0.lock().unwrap().is_empty()).await;
    let outcome = outcomes.0.lock().unwrap().remove(0);
    (head, String::from_utf8(body).unwrap(), outcome)
}

#[tokio::test]
async fn interrupted_translation_ends_with_what_the_decoder_appends() {
    let start = || vec![Act::Write(STREAM_HEAD.into()), chunk("data: 1\n\n")];
    let strict = Marked {
        is_strict: true,
        ..Marked::default()
    };
    let quick = Timeouts {
        idle: Some(Duration::from_millis(300)),
        ..Timeouts::default()
    };
    for (codec, timeouts, last, kind) in [
        (Marked::default(), Timeouts::default(), Act::Close, "cut"),
        (Marked::default(), quick, Act::AwaitClose, "silent"),
        (
            strict,
            Timeouts::default(),
            chunk("data: bad\n\n"),
            "untranslatable",
        ),
    ] {
        let (head, body, outcome) = translated(codec, timeouts, [start(), vec![last]].concat()).await;
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        assert!(body.starts_with("data: 1\n\n"), "{body}");
        assert!(
            body.ends_with(&format!("\"message\":\"{kind}\"}}}}\n\n")),
            "{body}"
        );
        assert!(!body.contains("<end>"), "{body}");
        assert_eq!(outcome, Outcome::UpstreamError);
    }
}

#[tokio::test]
async fn complete_translation_ends_although_the_upstream_does_not() {
    let acts = vec![
        Act::Write(STREAM_HEAD.into()),
        chunk("data: [DONE]\n\n"),
        Act::AwaitClose,
    ];
    let (_, body, _) = translated(Marked::default(), Timeouts::default(), acts).await;
    assert_eq!(body, "data: [DONE]\n\n");
}

#[tokio::test]
async fn connection_of_a_complete_translation_is_reused_if_the_upstream_ends_soon() {
    let provider = Scripted::start(|_, _| {
        vec![
            Act::Write(STREAM_HEAD.into()),
            chunk("data: [DONE]\n\n"),
            Act::Pause(Duration::from_millis(20)),
            Act::Write(b"0\r\n\r\n".to_vec()),
        ]
    })
    .await;
    let (proxy, _attempts, _main) = before(&[provider.url()], |target| Target {
        codec: Some(Arc::new(Marked::default())),
        ..target
    })
    .await;
    let mut client = proxy.client().await;
    for _ in 0..3 {
        client.send(post("/v1/messages", BODY)).await;
        assert_eq!(client.receive().await.unwrap().1, b"data: [DONE]\n\n");
    }
    assert!(provider.requests().iter().all(|request| request.connection == 0));
}

/// Goes to the last of three targets after a failure.
struct ToLast;

impl Failover for ToLast {
    fn attempted(&self, attempt: &Attempt<'_>) -> Next {
        match attempt.result {
            AttemptResult::Failed(_) if attempt.target == 0 => Next::TryAt(2),
            AttemptResult::Failed(_) => Next::TryAt(0),
            _ => Next::Stop,
        }
    }
}

/// Routes messages to these targets.
struct Skipping(Vec<Target>);

impl Router for Skipping {
    fn route(&self, _: &RouteRequest<'_>) -> Option<Route> {
        Some(Route::Forward(Forward {
            targets: self.0.clone(),
            failover: Some(Arc::new(ToLast)),
        }))
    }
}

#[tokio::test]
async fn targets_can_be_skipped_and_none_is_tried_twice() {
    let skipped = answering("\"skipped\"").await;
    for (last, status) in [(answering("\"last\"").await.url(), 200), (refused().await, 502)] {
        let builder = Proxy::builder(Upstream::parse("http://127.0.0.1:1").unwrap());
        let targets = [refused().await, skipped.url(), last].map(|url| {
            let upstream = Upstream::parse(&url).unwrap();
            Target::new(builder.upstreams().add(upstream, SOON))
        });
        let proxy = Running::start(builder.router(Skipping(targets.into()))).await;
        let mut client = proxy.client().await;
        client.send(post("/v1/messages", BODY)).await;
        let (head, _) = client.receive().await.unwrap();
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{head}");
    }
    assert!(skipped.requests().is_empty());
}

#[tokio::test]
async fn client_is_pinged_while_a_translated_stream_is_silent() {
    let acts = vec![
        Act::Write(STREAM_HEAD.into()),
        chunk("data: 1\n\n"),
        Act::Pause(Duration::from_millis(300)),
        chunk("data: 2\n\n"),
        Act::Write(b"0\r\n\r\n".to_vec()),
    ];
    let (_, body, _) = translated(Marked::default(), Timeouts::default(), acts).await;
    let pings = body.matches(": ping\n\n").count();
    assert!(pings > 0, "{body}");
    assert_eq!(
        body.replace(": ping\n\n", ""),
        "data: 1\n\ndata: 2\n\n<end>",
        "only between events"
    );
}

#[tokio::test]
async fn collected_response_has_a_length_and_can_change_its_status() {
    let whole = Marked {
        is_whole: true,
        ..Marked::default()
    };
    for (text, status) in [("fine", 200), ("error", 502)] {
        let acts = vec![
            Act::Write(STREAM_HEAD.into()),
            chunk(text),
            Act::Write(b"0\r\n\r\n".to_vec()),
        ];
        let (head, body, _) = translated(whole, Timeouts::default(), acts).await;
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{head}");
        let length = format!("content-length: {}", text.len() + "<end>".len());
        assert!(head.to_ascii_lowercase().contains(&length), "{head}");
        assert_eq!(body, format!("{text}<end>"));
    }
}

#[tokio::test]
async fn cut_collected_response_goes_to_the_next_target() {
    let cut = Scripted::start(|_, _| vec![Act::Write(STREAM_HEAD.into()), chunk("half"), Act::Close]).await;
    let good = answering("\"good\"").await;
    let urls = [cut.url(), good.url()];
    let (proxy, attempts, _main) = before(&urls, |target| Target {
        codec: Some(Arc::new(Marked {
            is_whole: true,
            ..Marked::default()
        })),
        ..target
    })
    .await;
    let mut client = proxy.client().await;
    client.send(post("/v1/messages", BODY)).await;
    assert_eq!(client.receive().await.unwrap().1, b"\"good\"<end>");
    assert_eq!(attempts.all(), ["0 200 OK", "0 Unreachable", "1 200 OK"]);
}

/// Answers messages itself, and panics for other requests.
struct Answering;

impl Router for Answering {
    fn route(&self, request: &RouteRequest<'_>) -> Option<Route> {
        let is_message = request.message.is_some();
        let answer: Answer = Box::pin(async move {
            tokio::task::yield_now().await;
            assert!(is_message, "on purpose");
            Response::new(Bytes::from_static(b"own"))
        });
        Some(Route::Answer(answer))
    }
}

#[tokio::test]
async fn router_answers_without_an_upstream() {
    let main = answering("\"main\"").await;
    let builder = Proxy::builder(Upstream::parse(&main.url()).unwrap());
    let proxy = Running::start(builder.router(Answering)).await;
    let mut client = proxy.client().await;
    for path in ["/v1/messages", "/v1/messages/count_tokens"] {
        client.send(post(path, BODY)).await;
        assert_eq!(client.receive().await.unwrap().1, b"own");
    }
    client.send(post("/v1/files", BODY)).await;
    let (head, _) = client.receive().await.unwrap();
    assert!(head.starts_with("HTTP/1.1 500 "), "{head}");
    assert!(main.requests().is_empty());
}

/// Routes to the upstream that is set, which changes while the proxy runs.
#[derive(Clone)]
struct Changing(Arc<Mutex<Option<UpstreamHandle>>>);

impl Router for Changing {
    fn route(&self, _: &RouteRequest<'_>) -> Option<Route> {
        let upstream = self.0.lock().unwrap().clone()?;
        Some(Route::to(Target::new(upstream)))
    }
}

#[tokio::test]
async fn upstream_removed_during_an_exchange_serves_it_to_the_end() {
    let held = Scripted::start(|_, _| {
        vec![
            Act::Write(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nold".to_vec()),
            Act::Hold,
            Act::Write(b"end".to_vec()),
            Act::AwaitClose,
        ]
    })
    .await;
    let new = answering("\"new\"").await;
    let builder = Proxy::builder(Upstream::parse("http://127.0.0.1:1").unwrap());
    let upstreams = builder.upstreams();
    let changing = Changing(Arc::default());
    let proxy = Running::start(builder.router(changing.clone())).await;
    let mut client = proxy.client().await;
    let set = |scripted: &Scripted| {
        let upstream = upstreams.add(Upstream::parse(&scripted.url()).unwrap(), SOON);
        *changing.0.lock().unwrap() = Some(upstream);
    };
    set(&held);
    client.send(post("/v1/messages", BODY)).await;
    client.at_least(1).await;
    set(&new);
    let mut other = proxy.client().await;
    other.send(post("/v1/messages", BODY)).await;
    assert_eq!(other.receive().await.unwrap().1, b"\"new\"");
    held.release();
    assert_eq!(client.receive().await.unwrap().1, b"oldend");
    until("the end of the removed connection", || held.closed_by_peer() == 1).await;
}

/// Appends a rule to the newest user message.
pub(crate) struct HouseRule;

#[async_trait::async_trait]
impl RequestPolicy for HouseRule {
    fn name(&self) -> &'static str {
        "house-rule"
    }

    async fn propose(&self, request: &MessagesRequest) -> Vec<Edit> {
        let message = request.index().and_then(|index| index.newest_user_message());
        let end = message.and_then(|message| message.insertion_point_at_end());
        let insert = |at| Edit::insert(at, text_block("Tests first."));
        end.map(insert).into_iter().collect()
    }
}

#[tokio::test]
async fn refused_edit_does_not_run_the_targets_that_failed_again() {
    let busy = Scripted::start(|_, _| status("503 Service Unavailable", "")).await;
    let strict = Scripted::start(|_, request| {
        let is_edited = String::from_utf8_lossy(&request.body).contains("Tests first.");
        match is_edited {
            true => status("400 Bad Request", ""),
            false => vec![Act::Write(json_answer("\"good\""))],
        }
    })
    .await;
    let builder = Proxy::builder(Upstream::parse("http://127.0.0.1:1").unwrap());
    let targets = [&busy, &strict].map(|upstream| {
        let upstream = Upstream::parse(&upstream.url()).unwrap();
        Target::new(builder.upstreams().add(upstream, SOON))
    });
    let attempts = Arc::<Attempts>::default();
    let router = Everywhere {
        targets: targets.to_vec(),
        attempts: Arc::clone(&attempts),
    };
    let proxy = Running::start(builder.router(router).policy(HouseRule)).await;
    let mut client = proxy.client().await;
    client.send(post("/v1/messages", BODY)).await;
    let (head, _) = client.receive().await.unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let statuses = attempts.all();
    let statuses: Vec<&str> = statuses.iter().map(|attempt| &attempt[..5]).collect();
    assert_eq!(statuses, ["0 503", "1 400", "1 200"]);
}

#[tokio::test]
async fn policies_edit_before_the_translation_for_every_target() {
    let busy = Scripted::start(|_, _| status("503 Service Unavailable", "")).await;
    let good = answering("\"good\"").await;
    let builder = Proxy::builder(Upstream::parse("http://127.0.0.1:1").unwrap());
    let targets = [&busy, &good].map(|upstream| Target {
        codec: Some(Arc::new(Marked::default())),
        ..Target::new(
            builder
                .upstreams()
                .add(Upstream::parse(&upstream.url()).unwrap(), SOON),
        )
    });
    let router = Everywhere {
        targets: targets.into(),
        attempts: Arc::default(),
    };
    let proxy = Running::start(builder.router(router).policy(HouseRule)).await;
    let mut client = proxy.client().await;
    client.send(post("/v1/messages", BODY)).await;
    assert_eq!(client.receive().await.unwrap().1, b"\"good\"<end>");
    for upstream in [&busy, &good] {
        let body = String::from_utf8(upstream.requests().remove(0).body).unwrap();
        assert!(body.contains("hi") && body.contains("Tests first."), "{body}");
    }
}
