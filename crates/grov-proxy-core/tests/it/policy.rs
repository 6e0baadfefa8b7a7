//! Policies: their text arrives, and their errors do not affect the request.

use crate::support::{Act, Running, Scripted, json_answer, post};
use async_trait::async_trait;
use grov_proxy_core::{MessagesRequest, Proxy, RequestPolicy, Upstream};
use grov_wire::{Edit, text_block};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

struct Adds;

#[async_trait]
impl RequestPolicy for Adds {
    fn name(&self) -> &'static str {
        "adds"
    }

    async fn propose(&self, request: &MessagesRequest) -> Vec<Edit> {
        let end = request
            .index()
            .and_then(|index| index.newest_user_message())
            .and_then(|message| message.insertion_point_at_end());
        end.map(|at| Edit::insert(at, text_block("from the team")))
            .into_iter()
            .collect()
    }
}

/// Adds text until the upstream rejects it.
#[derive(Default)]
struct AddsUntilRefused(AtomicBool);

#[async_trait]
impl RequestPolicy for AddsUntilRefused {
    fn name(&self) -> &'static str {
        "adds until refused"
    }

    async fn propose(&self, request: &MessagesRequest) -> Vec<Edit> {
        match self.0.load(Ordering::SeqCst) {
            true => Vec::new(),
            false => Adds.propose(request).await,
        }
    }

    fn edits_rejected(&self, _: &MessagesRequest) {
        self.0.store(true, Ordering::SeqCst);
    }
}

struct Panics;

#[async_trait]
impl RequestPolicy for Panics {
    fn name(&self) -> &'static str {
        "panics"
    }

    async fn propose(&self, _: &MessagesRequest) -> Vec<Edit> {
        panic!("on purpose")
    }
}

/// Panics before it returns a future.
struct PanicsAtOnce;

impl RequestPolicy for PanicsAtOnce {
    fn name(&self) -> &'static str {
        "panics at once"
    }

    fn propose<'a, 'b, 'c>(
        &'a self,
        _: &'b MessagesRequest,
    ) -> std::pin::Pin<Box<dyn Future<Output = Vec<Edit>> + Send + 'c>>
    where
        'a: 'c,
        'b: 'c,
        Self: 'c,
    {
        panic!("on purpose")
    }
}

/// Panics even in `name`.
struct Nameless;

impl RequestPolicy for Nameless {
    fn name(&self) -> &'static str {
        panic!("on purpose")
    }

    fn replay(&self, _: &MessagesRequest) -> Vec<Edit> {
        panic!("on purpose")
    }
}

#[tokio::test]
async fn edit_is_not_blamed_if_the_original_is_rejected_too() {
    let is_first = AtomicBool::new(true);
    let upstream = Scripted::start(move |_, request| {
        let head = match request.body == BODY.as_bytes() && is_first.swap(false, Ordering::SeqCst) {
            true => "529 Overloaded",
            false => "400 Bad Request",
        };
        let answer = format!("HTTP/1.1 {head}\r\nContent-Length: 2\r\n\r\n{{}}");
        vec![Act::Write(answer.into_bytes())]
    })
    .await;
    let proxy = Running::start(Proxy::builder(Upstream::parse(&upstream.url()).unwrap()).policy(Adds)).await;
    let mut client = proxy.client().await;
    client.send(post("/v1/messages", BODY.as_bytes())).await;
    let (head, _) = client.receive().await.unwrap();
    assert!(head.starts_with("HTTP/1.1 529"), "{head}");
    assert_eq!(proxy.metrics.faults("edit_refused_upstream"), 0);
}

struct Dawdles;

#[async_trait]
impl RequestPolicy for Dawdles {
    fn name(&self) -> &'static str {
        "dawdles"
    }

    async fn propose(&self, _: &MessagesRequest) -> Vec<Edit> {
        tokio::time::sleep(Duration::from_secs(60)).await;
        Vec::new()
    }
}

struct AddsNonsense;

#[async_trait]
impl RequestPolicy for AddsNonsense {
    fn name(&self) -> &'static str {
        "nonsense"
    }

    fn replay(&self, request: &MessagesRequest) -> Vec<Edit> {
        let end = request
            .index()
            .and_then(|index| index.newest_user_message())
            .and_then(|message| message.insertion_point_at_end());
        end.map(|at| Edit::insert(at, "{no json")).into_iter().collect()
    }
}

const BODY: &str =
    r#"{"model":"x","messages":[{"role":"user","content":"fix it"}], "tools":[{"name":"A"},{"name":"B"}]}"#;
const WITH: &str = r#"{"model":"x","messages":[{"role":"user","content":[{"type":"text","text":"fix it"},{"text":"from the team","type":"text"}]}], "tools":[{"name":"A"},{"name":"B"}]}"#;

async fn upstream_got(
    build: impl FnOnce(grov_proxy_core::ProxyBuilder) -> grov_proxy_core::ProxyBuilder,
) -> (Vec<u8>, Running) {
    let upstream = Scripted::start(|_, _| vec![Act::Write(json_answer("{}"))]).await;
    let proxy = Running::start(build(Proxy::builder(Upstream::parse(&upstream.url()).unwrap()))).await;
    let mut client = proxy.client().await;
    client.send(post("/v1/messages", BODY.as_bytes())).await;
    assert!(client.receive().await.unwrap().0.starts_with("HTTP/1.1 200"));
    let received = upstream.requests().remove(0);
    assert_eq!(
        received.header("content-length"),
        Some(received.body.len().to_string().as_str())
    );
    (received.body, proxy)
}

fn value(bytes: &[u8]) -> serde_json::Value {
    serde_json::from_slice(bytes).unwrap()
}

#[tokio::test]
async fn inserted_text_reaches_the_upstream() {
    let (body, _) = upstream_got(|builder| builder.policy(Adds)).await;
    assert_eq!(value(&body), value(WITH.as_bytes()));
}

#[tokio::test]
async fn a_panicking_or_slow_policy_does_not_stop_the_others_or_the_request() {
    let (body, proxy) = upstream_got(|builder| builder.policy(Panics).policy(Adds)).await;
    assert_eq!(value(&body), value(WITH.as_bytes()));
    assert_eq!(proxy.metrics.faults("policy_panic"), 1);
    let (body, proxy) = upstream_got(|builder| builder.policy(PanicsAtOnce).policy(Adds)).await;
    assert_eq!(value(&body), value(WITH.as_bytes()));
    assert_eq!(proxy.metrics.faults("policy_panic"), 1);
    let (body, proxy) = upstream_got(|builder| builder.policy(Dawdles)).await;
    assert_eq!(body, BODY.as_bytes());
    assert_eq!(proxy.metrics.faults("policy_over_budget"), 1);
}

#[tokio::test]
async fn panic_while_editing_forwards_the_original() {
    let (body, proxy) = upstream_got(|builder| builder.policy(Nameless)).await;
    assert_eq!(body, BODY.as_bytes());
    assert_eq!(proxy.metrics.faults("edit_panic"), 1);
}

#[tokio::test]
async fn edits_that_do_not_fit_leave_the_request_as_it_was() {
    let (body, proxy) = upstream_got(|builder| builder.policy(AddsNonsense)).await;
    assert_eq!(body, BODY.as_bytes());
    assert_eq!(proxy.metrics.faults("splice_refused"), 1);
}

#[tokio::test]
async fn a_refused_edit_is_retried_with_the_original_and_reported_to_the_policy() {
    let upstream = Scripted::start(|_, request| {
        if request.body == BODY.as_bytes() {
            return vec![Act::Write(json_answer("{}"))];
        }
        vec![Act::Write(
            b"HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\n\r\n{}".to_vec(),
        )]
    })
    .await;
    let builder = Proxy::builder(Upstream::parse(&upstream.url()).unwrap());
    let proxy = Running::start(builder.policy(AddsUntilRefused::default())).await;
    let mut client = proxy.client().await;
    for sent_upstream in [2, 3, 4] {
        client.send(post("/v1/messages", BODY.as_bytes())).await;
        assert!(client.receive().await.unwrap().0.starts_with("HTTP/1.1 200"));
        assert_eq!(
            upstream.requests().len(),
            sent_upstream,
            "the first is sent twice, the later ones once"
        );
    }
    assert_eq!(proxy.metrics.faults("edit_refused_upstream"), 1);
}

#[tokio::test]
async fn bad_request_without_edits_is_relayed() {
    let kind = "HTTP/1.1 400 Bad Request\r\nContent-Length: 13\r\n\r\n{\"error\":\"x\"}";
    let upstream = Scripted::start(move |_, _| vec![Act::Write(kind.as_bytes().to_vec())]).await;
    let proxy = Running::start(Proxy::builder(Upstream::parse(&upstream.url()).unwrap()).policy(Adds)).await;
    let mut client = proxy.client().await;
    client.send(post("/v1/messages", BODY.as_bytes())).await;
    let (head, body) = client.receive().await.unwrap();
    assert!(head.starts_with("HTTP/1.1 400"), "{head}");
    assert_eq!(body, b"{\"error\":\"x\"}");
    assert_eq!(proxy.metrics.faults("edit_refused_upstream"), 0);
}
