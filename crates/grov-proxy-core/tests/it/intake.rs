//! Streams from the intake.

use crate::support::{Act, Running, SOON, Scripted, json_answer, post, read_message, until};
use grov_proxy_core::{Limits, NotServing, Proxy, Upstream};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

/// Returns the client's and the proxy's end of a stream. Its buffer is smaller than the messages.
fn ends() -> (DuplexStream, DuplexStream) {
    duplex(64)
}

async fn ask(client: &mut DuplexStream, body: &[u8]) -> Option<(String, Vec<u8>)> {
    client.write_all(&post("/v1/messages", body)).await.unwrap();
    let mut buffer = Vec::new();
    let answer = read_message(client, &mut buffer);
    tokio::time::timeout(SOON, answer)
        .await
        .expect("an answer in time")
}

#[tokio::test]
async fn streams_from_the_intake_are_served() {
    let upstream = Scripted::start(|_, _| vec![Act::Write(json_answer("{\"whole\": \"answer\"}"))]).await;
    let builder = Proxy::builder(Upstream::parse(&upstream.url()).unwrap());
    let (mut proxy, intake) = Running::with_intake(builder);
    let mut accepted = proxy.client().await;
    let (mut client, served) = ends();
    intake.serve_stream(served).await.unwrap();
    for body in [&b"{\"n\": 1 }"[..], &b"x".repeat(10_000)] {
        let (head, answer) = ask(&mut client, body).await.unwrap();
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        assert_eq!(answer, b"{\"whole\": \"answer\"}");
        assert_eq!(upstream.requests().last().unwrap().body, body);
        accepted.send(post("/v1/messages", body)).await;
        assert_eq!(accepted.receive().await.unwrap().1, answer);
    }
    proxy.stop();
    // It is idle, and closed like other connections.
    let rest = tokio::time::timeout(SOON, client.read(&mut [0; 8])).await;
    assert_eq!(rest.expect("a close in time").unwrap(), 0);
    assert_eq!(proxy.finish(), 0);
    assert_eq!(intake.serve_stream(ends().1).await, Err(NotServing));
}

#[tokio::test]
async fn intake_streams_count_as_connections() {
    let acts = || vec![Act::Hold, Act::Write(json_answer("{}"))];
    let upstream = Scripted::start(move |_, _| acts()).await;
    let limits = Limits {
        connections: 1,
        ..Limits::default()
    };
    let builder = Proxy::builder(Upstream::parse(&upstream.url()).unwrap()).limits(limits);
    let (proxy, intake) = Running::with_intake(builder);
    let (mut busy, served) = ends();
    intake.serve_stream(served).await.unwrap();
    let answered = ask(&mut busy, b"{}");
    let further = async {
        until("the request", || upstream.requests().len() == 1).await;
        let (mut further, served) = ends();
        intake.serve_stream(served).await.unwrap();
        let (head, _) = ask(&mut further, b"{}").await.unwrap();
        assert!(head.starts_with("HTTP/1.1 503 "), "{head}");
        upstream.release();
    };
    let (answered, ()) = tokio::join!(answered, further);
    let (head, _) = answered.unwrap();
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    assert_eq!(proxy.finish(), 0);
}
