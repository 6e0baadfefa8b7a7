//! Many clients, silent clients, and bodies beyond the memory limit.

use crate::support::{Act, Client, Running, Scripted, json_answer, post, until};
use grov_proxy_core::Limits;
use std::time::Duration;

const MIB: usize = 1024 * 1024;

/// Answers every request, but `/held` only when released.
async fn upstream() -> Scripted {
    Scripted::start(|_, request| {
        let answer = Act::Write(json_answer("{}"));
        if request.head.contains("/held") {
            vec![Act::Hold, answer]
        } else {
            vec![answer]
        }
    })
    .await
}

async fn with_room_for(connections: usize, upstream: &Scripted) -> Running {
    let limits = Limits {
        connections,
        ..Limits::default()
    };
    Running::with_limits(upstream, limits).await
}

/// Connects idle clients, oldest first.
async fn idle(proxy: &Running, count: usize) -> Vec<Client> {
    let mut clients = Vec::new();
    for _ in 0..count {
        let mut client = proxy.client().await;
        assert_eq!(status(&mut client, post("/v1/messages", b"{}")).await, 200);
        clients.push(client);
    }
    clients
}

/// Connects clients whose requests the upstream holds.
async fn busy(proxy: &Running, upstream: &Scripted, count: usize) -> Vec<Client> {
    let before = upstream.requests().len();
    let mut clients = Vec::new();
    for _ in 0..count {
        let mut client = proxy.client().await;
        client.send(post("/held", b"{}")).await;
        clients.push(client);
    }
    until("the requests upstream", || {
        upstream.requests().len() == before + count
    })
    .await;
    clients
}

async fn status(client: &mut Client, request: impl AsRef<[u8]>) -> u16 {
    client.send(request).await;
    let (head, _) = client.receive().await.expect("an answer");
    head.split(' ').nth(1).unwrap().parse().unwrap()
}

async fn health(proxy: &Running) -> serde_json::Value {
    let mut client = proxy.client().await;
    client
        .send("GET /_grov/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .await;
    let (head, body) = client.receive().await.expect("an answer");
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    serde_json::from_slice(&body).unwrap()
}

#[tokio::test]
async fn a_new_client_gets_the_place_of_the_one_that_is_idle_longest() {
    let upstream = upstream().await;
    let proxy = with_room_for(8, &upstream).await;
    let mut clients = idle(&proxy, 8).await;
    // The oldest client sent the most recent request.
    assert_eq!(status(&mut clients[0], post("/v1/messages", b"{}")).await, 200);
    let _new = idle(&proxy, 2).await;
    for gone in [1, 2] {
        assert!(clients[gone].rest().await.is_empty());
    }
    for kept in [0, 3, 4, 5, 6, 7] {
        assert_eq!(
            status(&mut clients[kept], post("/v1/messages", b"{}")).await,
            200,
            "{kept}"
        );
    }
    assert_eq!(proxy.metrics.evictions(), 2);
    assert_eq!(health(&proxy).await["connections"]["refused"], 0);
}

#[tokio::test]
async fn silent_clients_do_not_lock_others_out() {
    let upstream = upstream().await;
    let proxy = with_room_for(8, &upstream).await;
    let mut silent = Vec::new();
    for number in 0..200 {
        let mut client = proxy.client().await;
        if number % 2 == 0 {
            let _ = client.try_send("POST /v1/messages HTTP/1.1\r\nHo").await;
        }
        silent.push(client);
    }
    for _ in 0..20 {
        assert_eq!(
            status(&mut proxy.client().await, post("/v1/messages", b"{}")).await,
            200
        );
    }
    assert!(proxy.metrics.connections() <= (8 + Limits::BEYOND) as u64);
}

#[tokio::test]
async fn client_with_a_pending_request_is_not_evicted() {
    let upstream = upstream().await;
    let proxy = with_room_for(2, &upstream).await;
    for _ in 0..50 {
        // All at once: each may be evicted before its request is read.
        let mut clients = Vec::new();
        for _ in 0..10 {
            let mut client = proxy.client().await;
            client.send(post("/v1/messages", b"{}")).await;
            clients.push(client);
        }
        for client in &mut clients {
            let (head, _) = client.receive().await.expect("an answer");
            let is_answered = ["HTTP/1.1 200", "HTTP/1.1 503"]
                .iter()
                .any(|start| head.starts_with(start));
            assert!(is_answered, "{head}");
        }
    }
}

#[tokio::test]
async fn full_proxy_answers_503_and_serves_health() {
    let upstream = upstream().await;
    let proxy = with_room_for(4, &upstream).await;
    let mut clients = busy(&proxy, &upstream, 4).await;
    let mut late = proxy.client().await;
    late.send(post("/v1/messages", &vec![b' '; 2 * MIB])).await;
    let (head, body) = late.receive().await.unwrap();
    assert!(head.starts_with("HTTP/1.1 503"), "{head}");
    let head = head.to_ascii_lowercase();
    assert!(
        head.contains("retry-after: 1") && head.contains("connection: close"),
        "{head}"
    );
    let error: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(error["error"]["type"], "api_error");
    assert!(late.rest().await.is_empty());
    let health = health(&proxy).await;
    assert_eq!(health["connections"]["most"], 4);
    assert_eq!(health["connections"]["refused"], 1);
    upstream.release();
    for client in &mut clients {
        upstream.release();
        assert!(client.receive().await.unwrap().0.starts_with("HTTP/1.1 200"));
    }
    assert_eq!(
        status(&mut proxy.client().await, post("/v1/messages", b"{}")).await,
        200
    );
}

#[tokio::test]
async fn partial_head_and_partial_body_close_the_connection() {
    let upstream = upstream().await;
    let limits = Limits {
        head: Duration::from_millis(50),
        body_silence: Duration::from_millis(50),
        ..Limits::default()
    };
    let proxy = Running::with_limits(&upstream, limits).await;
    for sent in [
        "",
        "POST /v1/messages HTTP/1.1\r\nHo",
        "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf",
        "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
        "POST /v1/files HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf",
        // Refused, but the client must send the rest.
        "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99000000\r\n\r\nhalf",
    ] {
        let mut client = proxy.client().await;
        client.send(sent).await;
        assert!(client.rest().await.is_empty(), "{sent}");
    }
    // A client that waits for a response may be silent for longer.
    let mut waiting = busy(&proxy, &upstream, 1).await.remove(0);
    tokio::time::sleep(Duration::from_millis(200)).await;
    upstream.release();
    assert!(waiting.receive().await.unwrap().0.starts_with("HTTP/1.1 200"));
    assert!(upstream.requests().iter().all(|request| request.body == b"{}"));
}

#[tokio::test]
async fn an_idle_connection_outlives_the_time_for_a_head() {
    let upstream = upstream().await;
    let limits = Limits {
        head: Duration::from_millis(100),
        ..Limits::default()
    };
    let proxy = Running::with_limits(&upstream, limits).await;
    let mut client = idle(&proxy, 1).await.remove(0);
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert_eq!(status(&mut client, post("/v1/messages", b"{}")).await, 200);
}

#[tokio::test]
async fn unfinished_bodies_stay_within_the_budget() {
    let upstream = upstream().await;
    let limits = Limits {
        bodies: 8 * MIB as u64,
        ..Limits::default()
    };
    let proxy = Running::with_limits(&upstream, limits).await;
    let half = |announced: usize| {
        let head =
            format!("POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: {announced}\r\n\r\n");
        [head.into_bytes(), vec![b' '; 2 * MIB]].concat()
    };
    let bytes = async || health(&proxy).await["bodies"]["bytes"].as_u64().unwrap() as usize;
    // Announced bytes do not count.
    let mut unfinished = Vec::new();
    for _ in 0..3 {
        let mut client = proxy.client().await;
        client.send(half(30 * MIB)).await;
        unfinished.push(client);
    }
    let start = std::time::Instant::now();
    while bytes().await < 6 * MIB {
        assert!(start.elapsed() < crate::support::SOON, "{}", bytes().await);
    }
    let mut late = proxy.client().await;
    assert_eq!(
        status(&mut late, post("/v1/messages", &vec![b' '; 4 * MIB])).await,
        503
    );
    assert!(bytes().await <= 8 * MIB);
    // Small bodies and admin routes are still served.
    let mut small = proxy.client().await;
    assert_eq!(status(&mut small, post("/v1/messages", b"{}")).await, 200);
    // A disconnected client releases its memory.
    drop(unfinished);
    let start = std::time::Instant::now();
    while bytes().await > 0 {
        assert!(start.elapsed() < crate::support::SOON, "{}", bytes().await);
    }
    // A single body may have any allowed size.
    let mut lone = proxy.client().await;
    assert_eq!(
        status(&mut lone, post("/v1/messages", &vec![b' '; 32 * MIB])).await,
        200
    );
    assert_eq!(bytes().await, 0);
    assert_eq!(proxy.metrics.faults("bodies_refused"), 1);
}

#[tokio::test]
async fn bodies_count_until_their_response_ends() {
    let upstream = Scripted::start(|_, request| {
        let answer = Act::Write(json_answer("{}"));
        if request.body.len() > MIB {
            vec![Act::Hold, answer]
        } else {
            vec![answer]
        }
    })
    .await;
    let limits = Limits {
        bodies: 8 * MIB as u64,
        ..Limits::default()
    };
    let proxy = Running::with_limits(&upstream, limits).await;
    let mut waiting = proxy.client().await;
    waiting.send(post("/v1/messages", &vec![b' '; 6 * MIB])).await;
    until("the request upstream", || upstream.requests().len() == 1).await;
    let mut late = proxy.client().await;
    assert_eq!(
        status(&mut late, post("/v1/messages", &vec![b' '; 4 * MIB])).await,
        503
    );
    upstream.release();
    assert!(waiting.receive().await.unwrap().0.starts_with("HTTP/1.1 200"));
    until("the memory", || proxy.metrics.streams() == 0).await;
    let mut again = proxy.client().await;
    again.send(post("/v1/messages", &vec![b' '; 4 * MIB])).await;
    until("the request upstream", || upstream.requests().len() == 2).await;
}
