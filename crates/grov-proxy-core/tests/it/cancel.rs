//! A client disconnect cancels the upstream request.

use crate::support::{Act, Running, Scripted, post, until};

#[tokio::test]
async fn a_client_that_leaves_mid_stream_cancels_the_upstream() {
    let upstream = Scripted::start(|_, _| {
        let head =
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
        vec![
            Act::Write(head.to_vec()),
            Act::Write(b"3\r\n: x\r\n".to_vec()),
            Act::AwaitClose,
        ]
    })
    .await;
    let proxy = Running::before(&upstream).await;
    let mut client = proxy.client().await;
    client.send(post("/v1/messages", b"{}")).await;
    client.at_least(60).await;
    drop(client);
    until("the upstream's end of the cancelled exchange", || {
        upstream.closed_by_peer() == 1
    })
    .await;
}

#[tokio::test]
async fn a_client_that_leaves_before_the_answer_cancels_the_upstream() {
    let upstream = Scripted::start(|_, _| vec![Act::AwaitClose]).await;
    let proxy = Running::before(&upstream).await;
    let mut client = proxy.client().await;
    client.send(post("/v1/messages", b"{}")).await;
    until("the request upstream", || upstream.requests().len() == 1).await;
    drop(client);
    until("the upstream's end of the cancelled exchange", || {
        upstream.closed_by_peer() == 1
    })
    .await;
}
