//! Intercepted connections.

use crate::support::{Act, Running, SOON, Scripted, json_answer, post, read_message};
use async_trait::async_trait;
use grov_proxy_core::{
    ConnectionProfile, Intake, MessagesRequest, ObservedExchange, Proxy, RequestPolicy, Route, RouteRequest,
    Router, Target, TurnObserver, Upstream, UpstreamHandle,
};
use grov_wire::{Edit, text_block};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

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

#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<Option<String>>>>);

impl TurnObserver for Seen {
    fn name(&self) -> &'static str {
        "seen"
    }

    fn observe(&self, exchange: &ObservedExchange) {
        let host = exchange.request.intercepted().map(|profile| profile.host.clone());
        self.0.lock().unwrap().push(host);
    }
}

/// Sends everything to the main upstream, in words.
struct ToMain;

impl Router for ToMain {
    fn route(&self, _: &RouteRequest<'_>) -> Option<Route> {
        Some(Route::to(Target::new(UpstreamHandle::MAIN)))
    }
}

const TURN: &[u8] =
    br#"{"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]}"#;

async fn answering(body: &'static str) -> Scripted {
    Scripted::start(move |_, _| vec![Act::Write(json_answer(body))]).await
}

fn profile(upstream: UpstreamHandle, edits: bool) -> Arc<ConnectionProfile> {
    Arc::new(ConnectionProfile {
        host: "api.example".to_owned(),
        port: 443,
        upstream,
        edits,
    })
}

/// A client of an intercepted connection. `prepare` passes its socket on as it is.
async fn client(intake: &Intake, profile: Arc<ConnectionProfile>) -> TcpStream {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (client, accepted) = tokio::join!(TcpStream::connect(address), listener.accept());
    let prepare = |socket| async { Some(socket) };
    let (socket, _) = accepted.unwrap();
    intake.serve_intercepted(socket, profile, prepare).await.unwrap();
    client.unwrap()
}

/// Sends a request to a host, and returns the answer.
async fn ask(client: &mut TcpStream, host: &str, path: &str) -> (String, Vec<u8>) {
    let request = String::from_utf8(post(path, TURN)).unwrap();
    let request = request.replace("127.0.0.1:8080", host);
    client.write_all(request.as_bytes()).await.unwrap();
    let mut buffer = Vec::new();
    let answer = tokio::time::timeout(SOON, read_message(client, &mut buffer));
    answer.await.expect("an answer in time").unwrap()
}

#[tokio::test]
async fn requests_go_unedited_to_the_upstream_of_the_connection() {
    let (main, own) = (
        answering("{\"from\": \"main\"}").await,
        answering("{\"from\": \"own\"}").await,
    );
    let seen = Seen::default();
    let builder = Proxy::builder(Upstream::parse(&main.url()).unwrap())
        .policy(Adds)
        .observer(seen.clone());
    let upstream = Upstream::parse(&own.url()).unwrap();
    let handle = builder.upstreams().add(upstream, Duration::from_secs(5));
    let (proxy, intake) = Running::with_intake(builder);
    let mut intercepted = client(&intake, profile(handle, false)).await;
    for path in ["/v1/messages", "/v1/files", "/_grov/health"] {
        let (head, body) = ask(&mut intercepted, "api.example", path).await;
        assert!(head.starts_with("HTTP/1.1 200 "), "{path}: {head}");
        assert_eq!(body, b"{\"from\": \"own\"}", "{path}");
    }
    assert_eq!(own.requests()[0].body, TURN);
    assert_eq!(main.requests().len(), 0);
    // The proxy's own listener edits, and uses the main upstream.
    let mut direct = proxy.client().await;
    direct.send(post("/v1/messages", TURN)).await;
    assert_eq!(direct.receive().await.unwrap().1, b"{\"from\": \"main\"}");
    assert!(String::from_utf8_lossy(&main.requests()[0].body).contains("from the team"));
    assert_eq!(proxy.finish(), 0);
    assert_eq!(*seen.0.lock().unwrap(), [Some("api.example".to_owned()), None]);
}

#[tokio::test]
async fn edits_can_be_allowed() {
    let main = answering("{}").await;
    let builder = Proxy::builder(Upstream::parse(&main.url()).unwrap()).policy(Adds);
    let (proxy, intake) = Running::with_intake(builder);
    let mut intercepted = client(&intake, profile(UpstreamHandle::MAIN, true)).await;
    ask(&mut intercepted, "api.example:443", "/v1/messages").await;
    assert!(String::from_utf8_lossy(&main.requests()[0].body).contains("from the team"));
    assert_eq!(proxy.finish(), 0);
}

#[tokio::test]
async fn the_main_upstream_of_a_router_is_that_of_the_connection() {
    let (main, own) = (answering("{}").await, answering("{\"from\": \"own\"}").await);
    let builder = Proxy::builder(Upstream::parse(&main.url()).unwrap()).router(ToMain);
    let upstream = Upstream::parse(&own.url()).unwrap();
    let handle = builder.upstreams().add(upstream, Duration::from_secs(5));
    let (proxy, intake) = Running::with_intake(builder);
    let mut intercepted = client(&intake, profile(handle, false)).await;
    let (_, body) = ask(&mut intercepted, "api.example", "/v1/messages").await;
    assert_eq!(body, b"{\"from\": \"own\"}");
    assert_eq!(main.requests().len(), 0);
    assert_eq!(proxy.finish(), 0);
}

#[tokio::test]
async fn other_hosts_are_misdirected() {
    let main = answering("{}").await;
    let builder = Proxy::builder(Upstream::parse(&main.url()).unwrap());
    let (proxy, intake) = Running::with_intake(builder);
    for host in ["127.0.0.1:8080", "api.example:8443", "other.example"] {
        let mut intercepted = client(&intake, profile(UpstreamHandle::MAIN, false)).await;
        let (head, _) = ask(&mut intercepted, host, "/v1/messages").await;
        assert!(head.starts_with("HTTP/1.1 421 "), "{host}: {head}");
    }
    assert_eq!(main.requests().len(), 0);
    assert_eq!(proxy.finish(), 0);
}

#[tokio::test]
async fn a_connection_that_cannot_be_prepared_is_closed() {
    let main = answering("{}").await;
    let builder = Proxy::builder(Upstream::parse(&main.url()).unwrap());
    let (proxy, intake) = Running::with_intake(builder);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (client, accepted) = tokio::join!(TcpStream::connect(address), listener.accept());
    let profile = profile(UpstreamHandle::MAIN, false);
    let refuse = |_| async { None::<TcpStream> };
    let (socket, _) = accepted.unwrap();
    intake.serve_intercepted(socket, profile, refuse).await.unwrap();
    let mut client = client.unwrap();
    let ended = tokio::time::timeout(SOON, client.read(&mut [0; 8])).await;
    assert_eq!(ended.expect("a close in time").unwrap_or(0), 0);
    assert_eq!(proxy.finish(), 0);
}
