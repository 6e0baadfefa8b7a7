//! Connections that change their protocol, with a real WebSocket client and server.
#![expect(
    clippy::disallowed_methods,
    reason = "the server ends with the test's runtime"
)]

use crate::support::{Act, Running, SOON, Scripted, json_answer, read_message, until};
use futures_util::{SinkExt, StreamExt};
use grov_proxy_core::{
    Admitted, Arrival, ConnectionProfile, Gatekeeper, HeaderPolicy, Limits, Proxy, Refusal, Upstream,
    UpstreamHandle,
};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

/// A WebSocket server that sends every message back, and closes when it is asked to.
async fn echo() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            tokio::spawn(async move {
                let Ok(mut peer) = tokio_tungstenite::accept_async(socket).await else {
                    return;
                };
                // It speaks first.
                let _ = peer.send(Message::text("welcome")).await;
                while let Some(Ok(message)) = peer.next().await {
                    match message {
                        Message::Text(text) if text.as_str() == "leave" => break,
                        message @ (Message::Text(_) | Message::Binary(_)) => {
                            let _ = peer.send(message).await;
                        }
                        _ => {}
                    }
                }
            });
        }
    });
    address
}

fn before(address: SocketAddr) -> grov_proxy_core::ProxyBuilder {
    Proxy::builder(Upstream::parse(&format!("http://{address}")).unwrap())
}

async fn join(socket: TcpStream, host: &str) -> WebSocketStream<TcpStream> {
    let url = format!("ws://{host}/v1/sessions/ws?a=1");
    let joined = tokio_tungstenite::client_async(url, socket);
    let (peer, response) = tokio::time::timeout(SOON, joined).await.unwrap().unwrap();
    assert_eq!(response.status(), 101);
    peer
}

async fn next(peer: &mut WebSocketStream<TcpStream>) -> Option<Message> {
    let next = tokio::time::timeout(SOON, peer.next());
    next.await.expect("a message in time").and_then(Result::ok)
}

/// Exchanges messages of all sizes, then lets the server end the connection.
async fn talk(peer: &mut WebSocketStream<TcpStream>) {
    assert_eq!(next(peer).await, Some(Message::text("welcome")));
    for size in [1, 125, 126, 70_000, 3_000_000] {
        let sent = Message::binary(vec![(size % 251) as u8; size]);
        peer.send(sent.clone()).await.unwrap();
        assert_eq!(next(peer).await, Some(sent), "{size}");
    }
    peer.send(Message::text("leave")).await.unwrap();
    assert_eq!(next(peer).await, None);
}

#[tokio::test]
async fn a_websocket_passes_through_the_listener() {
    let proxy = Running::start(before(echo().await)).await;
    let host = proxy.address.to_string();
    for _ in 0..2 {
        let socket = TcpStream::connect(proxy.address).await.unwrap();
        talk(&mut join(socket, &host).await).await;
    }
    until("the end", || proxy.metrics.connections() == 0).await;
    assert_eq!(proxy.metrics.switched(), 0);
    assert_eq!(proxy.finish(), 0);
}

#[tokio::test]
async fn a_websocket_passes_on_an_intercepted_connection() {
    let (proxy, intake) = Running::with_intake(before(echo().await));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (client, accepted) = tokio::join!(TcpStream::connect(address), listener.accept());
    let profile = Arc::new(ConnectionProfile {
        host: "api.example".to_owned(),
        port: 443,
        upstream: UpstreamHandle::MAIN,
        edits: false,
    });
    let socket = accepted.unwrap().0;
    let prepare = |socket| async { Some(socket) };
    intake.serve_intercepted(socket, profile, prepare).await.unwrap();
    talk(&mut join(client.unwrap(), "api.example:443").await).await;
    assert_eq!(proxy.finish(), 0);
}

#[tokio::test]
async fn both_ends_of_a_switched_connection_close_when_one_is_gone() {
    let proxy = Running::start(before(echo().await)).await;
    let socket = TcpStream::connect(proxy.address).await.unwrap();
    let mut peer = join(socket, &proxy.address.to_string()).await;
    assert_eq!(next(&mut peer).await, Some(Message::text("welcome")));
    assert_eq!(proxy.metrics.switched(), 1);
    drop(peer);
    until("the end", || proxy.metrics.switched() == 0).await;
    assert_eq!(proxy.finish(), 0);
}

const SWITCH: &str = "GET /stream HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade, X-Hop\r\nX-Hop: 1\r\n\
                      X-Grov-Project: /p\r\nUpgrade: echo/1\r\n\r\n";

/// A server of the protocol `echo/1`: after the 101 it sends back what it reads, and half-closes after the client did.
async fn bare_echo() -> (SocketAddr, tokio::task::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let served = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut buffer = Vec::new();
        let (head, _) = read_message(&mut socket, &mut buffer).await.unwrap();
        let answer =
            "HTTP/1.1 101 Over To Echo\r\nconnection: upgrade\r\nUpgrade: echo/1\r\nX-Mine: 1\r\n\r\nfirst:";
        socket.write_all(answer.as_bytes()).await.unwrap();
        socket.read_to_end(&mut buffer).await.unwrap();
        // Only after the client's end.
        socket.write_all(&buffer).await.unwrap();
        head
    });
    (address, served)
}

#[tokio::test]
async fn bytes_sent_early_and_after_the_clients_end_arrive() {
    let (address, served) = bare_echo().await;
    let proxy = Running::start(before(address)).await;
    let mut client = proxy.client().await;
    // The client does not wait for the 101.
    client.send(format!("{SWITCH}early ")).await;
    let head = client.at_least(20).await;
    assert!(head.starts_with(b"HTTP/1.1 101 "), "{head:?}");
    client.send("late").await;
    client.socket.shutdown().await.unwrap();
    let rest = String::from_utf8(client.rest().await).unwrap();
    let (head, rest) = rest.split_once("\r\n\r\n").unwrap();
    let lines: Vec<&str> = head.lines().collect();
    assert_eq!(lines[0], "HTTP/1.1 101 Over To Echo");
    assert!(lines.contains(&"Upgrade: echo/1"), "{head}");
    assert!(lines.contains(&"connection: Upgrade"), "{head}");
    assert!(lines.contains(&"X-Mine: 1"), "{head}");
    assert_eq!(rest, "first:early late");
    let asked = served.await.unwrap().to_lowercase();
    assert!(asked.contains("connection: upgrade\r\n"), "{asked}");
    assert!(asked.contains("upgrade: echo/1\r\n"), "{asked}");
    assert!(!asked.contains("x-hop") && !asked.contains("x-grov"), "{asked}");
    assert_eq!(proxy.finish(), 0);
}

#[tokio::test]
async fn an_upstream_that_does_not_switch_answers_as_usual() {
    let upstream = Scripted::start(|_, _| vec![Act::Write(json_answer("{\"no\": 1}"))]).await;
    let proxy = Running::before(&upstream).await;
    let mut client = proxy.client().await;
    for _ in 0..2 {
        client.send(SWITCH).await;
        let (head, body) = client.receive().await.unwrap();
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        assert_eq!(body, b"{\"no\": 1}");
    }
    assert_eq!(proxy.metrics.switched(), 0);
    assert_eq!(upstream.requests()[1].header("upgrade"), Some("echo/1"));
    assert_eq!(proxy.finish(), 0);
}

#[tokio::test]
async fn strict_filtering_and_other_versions_of_http_switch_nothing() {
    let upstream = Scripted::start(|_, _| vec![Act::Write(json_answer("{}"))]).await;
    let builder = Proxy::builder(Upstream::parse(&upstream.url()).unwrap());
    let strict = Running::start(builder.headers(HeaderPolicy::Strict)).await;
    let open = Running::before(&upstream).await;
    let h2c = SWITCH.replace("echo/1", "h2c");
    for (proxy, request) in [(&strict, SWITCH), (&open, &h2c)] {
        let mut client = proxy.client().await;
        client.send(request).await;
        let (head, _) = client.receive().await.unwrap();
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    }
    for received in upstream.requests() {
        assert_eq!(received.header("upgrade"), None);
    }
    assert_eq!((strict.finish(), open.finish()), (0, 0));
}

#[tokio::test]
async fn a_silent_switched_connection_does_not_hold_up_the_shutdown() {
    let mut proxy = Running::start(before(echo().await)).await;
    let socket = TcpStream::connect(proxy.address).await.unwrap();
    let mut peer = join(socket, &proxy.address.to_string()).await;
    assert_eq!(next(&mut peer).await, Some(Message::text("welcome")));
    proxy.stop();
    // It still works while its peers talk.
    for _ in 0..15 {
        peer.send(Message::text("on")).await.unwrap();
        assert_eq!(next(&mut peer).await, Some(Message::text("on")));
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(proxy.finish(), 0, "closed, not cut after the grace period");
    assert_eq!(next(&mut peer).await, None);
}

fn answer(status: &str, headers: &str) -> Vec<Act> {
    vec![
        Act::Write(format!("HTTP/1.1 {status}\r\n{headers}\r\n").into_bytes()),
        Act::AwaitClose,
    ]
}

#[tokio::test]
async fn a_101_without_an_offered_protocol_is_a_502() {
    let confirmed = [
        "",
        "Upgrade: other\r\n",
        "Upgrade: echo/1, other\r\n",
        "Upgrade: h2c\r\n",
    ];
    let script = move |number: usize, _: &_| answer("101 Switching Protocols", confirmed[number]);
    let upstream = Scripted::start(script).await;
    let proxy = Running::before(&upstream).await;
    for _ in confirmed {
        let mut client = proxy.client().await;
        client.send(SWITCH).await;
        let (head, _) = client.receive().await.unwrap();
        assert!(head.starts_with("HTTP/1.1 502 "), "{head}");
    }
    until("the end", || upstream.closed_by_peer() == confirmed.len()).await;
    assert_eq!(proxy.metrics.faults("upstream_protocol"), confirmed.len() as u64);
    assert_eq!(proxy.metrics.switched(), 0);
    assert_eq!(proxy.finish(), 0);
}

#[tokio::test]
async fn an_unasked_101_is_a_502() {
    let script = |_, _: &_| {
        answer(
            "101 Switching Protocols",
            "Connection: upgrade\r\nUpgrade: echo/1\r\n",
        )
    };
    let upstream = Scripted::start(script).await;
    let proxy = Running::before(&upstream).await;
    let plain = "GET /stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    let turn = "POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n\r\n{}";
    for request in [plain, turn] {
        let mut client = proxy.client().await;
        client.send(request).await;
        let (head, _) = client.receive().await.unwrap();
        assert!(head.starts_with("HTTP/1.1 502 "), "{head}");
    }
    until("the end", || upstream.closed_by_peer() == 2).await;
    assert_eq!(proxy.finish(), 0);
}

#[tokio::test]
async fn protocols_of_http_1_0_or_in_malformed_values_are_not_offered() {
    let upstream = Scripted::start(|_, _| vec![Act::Write(json_answer("{}"))]).await;
    let proxy = Running::before(&upstream).await;
    let old = SWITCH.replace("HTTP/1.1", "HTTP/1.0").into_bytes();
    let mut hidden = SWITCH.trim_end().as_bytes().to_vec();
    hidden.extend_from_slice(b"\r\nUpgrade: h2c, \x80\r\n\r\n");
    for request in [old, hidden] {
        let mut client = proxy.client().await;
        client.send(request).await;
        let (head, _) = client.receive().await.unwrap();
        assert!(head.contains(" 200 "), "{head}");
    }
    for received in upstream.requests() {
        assert_eq!(received.header("upgrade"), None);
    }
    assert_eq!(proxy.finish(), 0);
}

#[tokio::test]
async fn a_426_says_which_protocol_is_required() {
    let script = |_, _: &_| {
        let head = "HTTP/1.1 426 Upgrade Required\r\nconnection: upgrade\r\nUpgrade: echo/2\r\ncontent-length: 0\r\n\r\n";
        vec![Act::Write(head.as_bytes().to_vec())]
    };
    let upstream = Scripted::start(script).await;
    let proxy = Running::before(&upstream).await;
    let mut client = proxy.client().await;
    for _ in 0..2 {
        client.send(SWITCH).await;
        let (head, _) = client.receive().await.unwrap();
        assert!(head.starts_with("HTTP/1.1 426 "), "{head}");
        assert!(head.contains("\r\nUpgrade: echo/2\r\n"), "{head}");
    }
    assert_eq!(proxy.finish(), 0);
}

#[tokio::test]
async fn a_101_that_does_not_come_is_not_awaited_like_a_response() {
    let upstream = Scripted::start(|_, _| vec![Act::AwaitClose]).await;
    let limits = Limits {
        connect: Duration::from_secs(1),
        ..Limits::default()
    };
    let proxy = Running::with_limits(&upstream, limits).await;
    let mut client = proxy.client().await;
    // After the early byte nobody reads the client, so that its end is not seen.
    client.send(format!("{SWITCH}e")).await;
    drop(client);
    until("the end", || upstream.closed_by_peer() == 1).await;
    assert_eq!(proxy.finish(), 0);
}

#[tokio::test]
async fn a_client_that_dies_behind_a_stuck_upstream_is_noticed() {
    let switched = b"HTTP/1.1 101 Over To Echo\r\nconnection: upgrade\r\nUpgrade: echo/1\r\n\r\n";
    // It reads nothing.
    let upstream = Scripted::start(|_, _| vec![Act::Write(switched.to_vec()), Act::Hold]).await;
    let limits = Limits {
        idle: Duration::from_secs(1),
        ..Limits::default()
    };
    let proxy = Running::with_limits(&upstream, limits).await;
    let mut client = proxy.client().await;
    client.send(SWITCH).await;
    client.at_least(20).await;
    until("the change", || proxy.metrics.switched() == 1).await;
    let junk = vec![0; 1 << 20];
    let pause = Duration::from_millis(200);
    while tokio::time::timeout(pause, client.socket.write_all(&junk))
        .await
        .is_ok()
    {}
    drop(client);
    until("the end", || proxy.metrics.switched() == 0).await;
    upstream.release();
    assert_eq!(proxy.finish(), 0);
}

/// Admits everything until it is told otherwise.
struct Revocable(Arc<AtomicBool>);

impl Gatekeeper for Revocable {
    fn admit(&self, _: &Arrival<'_>) -> Result<Admitted, Refusal> {
        Ok(Admitted::default())
    }

    fn still_admits(&self, arrival: &Arrival<'_>) -> bool {
        assert_eq!(arrival.path, "/v1/sessions/ws");
        !self.0.load(Ordering::Relaxed)
    }
}

#[tokio::test]
async fn a_switched_connection_ends_with_the_permission_for_it() {
    let revoked = Arc::new(AtomicBool::new(false));
    let gatekeeper = Revocable(Arc::clone(&revoked));
    let proxy = Running::start(before(echo().await).gatekeeper(gatekeeper)).await;
    let socket = TcpStream::connect(proxy.address).await.unwrap();
    let mut peer = join(socket, &proxy.address.to_string()).await;
    assert_eq!(next(&mut peer).await, Some(Message::text("welcome")));
    peer.send(Message::text("on")).await.unwrap();
    assert_eq!(next(&mut peer).await, Some(Message::text("on")));
    revoked.store(true, Ordering::Relaxed);
    assert_eq!(next(&mut peer).await, None);
    until("the end", || proxy.metrics.switched() == 0).await;
    assert_eq!(proxy.finish(), 0);
}
