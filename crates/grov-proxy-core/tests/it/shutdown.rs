//! Graceful shutdown.

use crate::support::{Act, Running, Scripted, json_answer, post, until};
use grov_proxy_core::Limits;
use std::time::Duration;

fn held() -> Vec<Act> {
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n: x\n\n\r\n";
    vec![
        Act::Write(head.to_vec()),
        Act::Hold,
        Act::Write(b"0\r\n\r\n".to_vec()),
    ]
}

#[tokio::test]
async fn running_streams_end_and_nobody_new_is_accepted() {
    let upstream = Scripted::start(|_, _| held()).await;
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
async fn half_a_head_does_not_hold_the_end() {
    let upstream = Scripted::start(|_, _| vec![Act::Write(json_answer("{}"))]).await;
    let proxy = Running::before(&upstream).await;
    let mut kept = proxy.client().await;
    kept.send(post("/v1/messages", b"{}")).await;
    kept.receive().await.unwrap();
    kept.send("POST /v1/messages HTTP/1.1\r\nHo").await;
    let mut first = proxy.client().await;
    first.send("POST /v1/messages HTTP/1.1\r\nHo").await;
    // An answered request after them: both have been accepted.
    let mut last = proxy.client().await;
    last.send(post("/v1/messages", b"{}")).await;
    last.receive().await.unwrap();
    assert_eq!(proxy.finish(), 0);
}

#[tokio::test]
async fn what_outlasts_the_grace_period_is_cut() {
    let upstream = Scripted::start(|_, _| held()).await;
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
