//! Upstream connections are reused unless they were closed.

use crate::support::{Act, Running, Scripted, json_answer, post};

#[tokio::test]
async fn sequential_requests_share_one_connection() {
    let upstream = Scripted::start(|_, _| vec![Act::Write(json_answer("{}"))]).await;
    let proxy = Running::before(&upstream).await;
    let mut client = proxy.client().await;
    for _ in 0..20 {
        client.send(post("/v1/messages", b"{}")).await;
        client.receive().await.unwrap();
    }
    assert!(upstream.requests().iter().all(|request| request.connection == 0));
}

#[tokio::test]
async fn closed_upstream_connection_is_not_reused() {
    let upstream = Scripted::start(|_, _| vec![Act::Write(json_answer("{}")), Act::Close]).await;
    let proxy = Running::before(&upstream).await;
    let mut client = proxy.client().await;
    for expected in 0..10 {
        client.send(post("/v1/messages", b"{}")).await;
        let (head, _) = client.receive().await.unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{expected}: {head}");
        // The connection closes after the response.
        tokio::time::sleep(std::time::Duration::from_millis(30)).await;
    }
    assert_eq!(upstream.requests().len(), 10);
}

#[tokio::test]
async fn upstream_connection_with_connection_close_is_not_reused() {
    let upstream = Scripted::start(|_, _| {
        vec![Act::Write(
            b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}".to_vec(),
        )]
    })
    .await;
    let proxy = Running::before(&upstream).await;
    let mut client = proxy.client().await;
    for _ in 0..3 {
        client.send(post("/v1/messages", b"{}")).await;
        let (head, _) = client.receive().await.unwrap();
        assert!(
            !head.to_ascii_lowercase().contains("connection: close"),
            "hop by hop: {head}"
        );
    }
    let connections: Vec<_> = upstream
        .requests()
        .iter()
        .map(|request| request.connection)
        .collect();
    assert_eq!(connections, [0, 1, 2]);
}

#[tokio::test]
async fn bytes_after_a_response_are_not_the_next_response() {
    let upstream = Scripted::start(|_, _| {
        let mut answer = json_answer("{}");
        answer.extend(json_answer("\"smuggled\""));
        vec![Act::Write(answer)]
    })
    .await;
    let proxy = Running::before(&upstream).await;
    let mut client = proxy.client().await;
    for connection in 0..3 {
        client.send(post("/v1/messages", b"{}")).await;
        assert_eq!(client.receive().await.unwrap().1, b"{}");
        assert_eq!(upstream.requests().pop().unwrap().connection, connection);
    }
}

#[tokio::test]
async fn worker_without_connections_borrows_one() {
    let upstream = Scripted::start(|_, _| vec![Act::Write(json_answer("{}"))]).await;
    let proxy = Running::before(&upstream).await;
    // Each is served by another worker.
    let mut clients = [proxy.client().await, proxy.client().await];
    for turn in [0, 1, 0, 1, 1] {
        clients[turn].send(post("/v1/messages", b"{}")).await;
        clients[turn].receive().await.unwrap();
    }
    assert!(upstream.requests().iter().all(|request| request.connection == 0));
}
