//! Connections to the upstream are reused, and a dead one is noticed.

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
async fn a_connection_that_the_upstream_closed_is_not_used_again() {
    let upstream = Scripted::start(|_, _| vec![Act::Write(json_answer("{}")), Act::Close]).await;
    let proxy = Running::before(&upstream).await;
    let mut client = proxy.client().await;
    for expected in 0..10 {
        client.send(post("/v1/messages", b"{}")).await;
        let (head, _) = client.receive().await.unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{expected}: {head}");
        // The close travels after the answer.
        tokio::time::sleep(std::time::Duration::from_millis(30)).await;
    }
    assert_eq!(upstream.requests().len(), 10);
}

#[tokio::test]
async fn a_response_that_says_close_is_the_last_on_its_connection() {
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
async fn bytes_behind_an_answer_are_nobody_s_next_answer() {
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
async fn a_worker_without_a_connection_is_lent_one() {
    let upstream = Scripted::start(|_, _| vec![Act::Write(json_answer("{}"))]).await;
    let proxy = Running::before(&upstream).await;
    // Each is served by a worker of its own.
    let mut clients = [proxy.client().await, proxy.client().await];
    for turn in [0, 1, 0, 1, 1] {
        clients[turn].send(post("/v1/messages", b"{}")).await;
        clients[turn].receive().await.unwrap();
    }
    assert!(upstream.requests().iter().all(|request| request.connection == 0));
}
