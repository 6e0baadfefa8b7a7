//! Graceful shutdown.

use crate::support::{Act, Running, Scripted, json_answer, post, until};
use grov_proxy_core::Limits;
use std::time::Duration;

fn response_until_released() -> Vec<Act> {
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n: x\n\n\r\n";
    vec![
        Act::Write(head.to_vec()),
        Act::Hold,
        Act::Write(b"0\r\n\r\n".to_vec()),
    ]
}

#[tokio::test]
async fn shutdown_finishes_streams_and_accepts_no_clients() {
    let upstream = Scripted::start(|_, _| response_until_released()).await;
    let mut proxy = Running::before(&upstream).await;
    let mut client = proxy.client().await;
    client.send(post("/v1/messages", b"{}")).await;
    client.at_least(90).await;
    let idle = proxy.client().await;
    proxy.stop();
    until("the listener to close", || {
        std::net::TcpStream::connect(proxy.address).is_err()
    })
    .await;
    upstream.release();
    assert_eq!(client.receive().await.unwrap().1, b": x\n\n");
    drop(idle);
    assert_eq!(proxy.finish(), 0);
}

#[tokio::test]
async fn after_a_hand_over_each_connection_serves_one_more_request() {
    let upstream = Scripted::start(|_, _| vec![Act::Write(json_answer("{}"))]).await;
    let mut proxy = Running::before(&upstream).await;
    let mut kept = proxy.client().await;
    kept.send(post("/v1/messages", b"{}")).await;
    let (head, _) = kept.receive().await.unwrap();
    assert!(!head.to_ascii_lowercase().contains("connection: close"), "{head}");
    let mut silent = proxy.client().await;
    // A response on a later connection shows that both were accepted.
    let mut last = proxy.client().await;
    last.send(post("/v1/messages", b"{}")).await;
    last.receive().await.unwrap();
    proxy.hand_over();
    until("the listener to close", || {
        std::net::TcpStream::connect(proxy.address).is_err()
    })
    .await;
    for client in [&mut kept, &mut silent, &mut last] {
        client.send(post("/v1/messages", b"{}")).await;
        let (head, _) = client.receive().await.unwrap();
        assert!(head.to_ascii_lowercase().contains("connection: close"), "{head}");
        assert!(client.receive().await.is_none(), "the connection goes on");
    }
    assert_eq!(proxy.finish(), 0);
}

#[tokio::test]
async fn partial_head_does_not_delay_shutdown() {
    let upstream = Scripted::start(|_, _| vec![Act::Write(json_answer("{}"))]).await;
    let proxy = Running::before(&upstream).await;
    let mut kept = proxy.client().await;
    kept.send(post("/v1/messages", b"{}")).await;
    kept.receive().await.unwrap();
    kept.send("POST /v1/messages HTTP/1.1\r\nHo").await;
    let mut first = proxy.client().await;
    first.send("POST /v1/messages HTTP/1.1\r\nHo").await;
    // A response on a later connection shows that both were accepted.
    let mut last = proxy.client().await;
    last.send(post("/v1/messages", b"{}")).await;
    last.receive().await.unwrap();
    assert_eq!(proxy.finish(), 0);
}

#[tokio::test]
async fn partial_body_does_not_delay_shutdown() {
    let upstream = Scripted::start(|_, _| response_until_released()).await;
    let limits = Limits {
        grace: Duration::from_secs(3600),
        ..Limits::default()
    };
    let mut proxy = Running::with_limits(&upstream, limits).await;
    let mut answered = proxy.client().await;
    answered.send(post("/v1/messages", b"{}")).await;
    answered.at_least(90).await;
    let mut halves = Vec::new();
    for path in ["/v1/messages", "/v1/files"] {
        let mut half = proxy.client().await;
        half.send(format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf"
        ))
        .await;
        halves.push(half);
    }
    // A response on a later connection shows that all were accepted.
    let mut last = proxy.client().await;
    last.send("GET /_grov/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .await;
    last.receive().await.unwrap();
    proxy.stop();
    for half in &mut halves {
        assert!(half.rest().await.is_empty());
    }
    // The stream continues.
    upstream.release();
    assert_eq!(answered.receive().await.unwrap().1, b": x\n\n");
    assert_eq!(proxy.finish(), 0);
}

#[tokio::test]
async fn body_completed_after_shutdown_began_is_answered() {
    let upstream = Scripted::start(|_, _| vec![Act::Write(json_answer("{}"))]).await;
    let mut proxy = Running::before(&upstream).await;
    let mut client = proxy.client().await;
    client
        .send("POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n{}")
        .await;
    let mut last = proxy.client().await;
    last.send("GET /_grov/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .await;
    last.receive().await.unwrap();
    proxy.stop();
    client.send("{}").await;
    assert!(client.receive().await.unwrap().0.starts_with("HTTP/1.1 200"));
    assert_eq!(proxy.finish(), 0);
}

#[tokio::test]
async fn responses_beyond_the_grace_period_are_cut() {
    let upstream = Scripted::start(|_, _| response_until_released()).await;
    let limits = Limits {
        grace: Duration::from_millis(100),
        ..Limits::default()
    };
    let proxy = Running::with_limits(&upstream, limits).await;
    let mut client = proxy.client().await;
    client.send(post("/v1/messages", b"{}")).await;
    client.at_least(90).await;
    assert_eq!(proxy.finish(), 1);
}
