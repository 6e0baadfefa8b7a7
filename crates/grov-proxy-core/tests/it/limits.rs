//! Size limits, time limits and an unreachable upstream.

use crate::support::{Act, Running, Scripted, json_answer, post};
use grov_proxy_core::{Limits, Proxy, ServeError, Upstream};
use std::time::Duration;

fn error(body: &[u8]) -> String {
    let value: serde_json::Value = serde_json::from_slice(body).unwrap();
    assert_eq!(value["type"], "error");
    value["error"]["type"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_body_of_32_mib_passes_and_one_of_33_is_refused() {
    let upstream =
        Scripted::start(|_, request| vec![Act::Write(json_answer(&request.body.len().to_string()))]).await;
    let proxy = Running::before(&upstream).await;
    let mut client = proxy.client().await;
    let mib = 1024 * 1024;
    client.send(post("/v1/messages", &vec![b' '; 32 * mib])).await;
    assert_eq!(
        client.receive().await.unwrap().1,
        (32 * mib).to_string().as_bytes()
    );
    let mut client = proxy.client().await;
    client
        .send(post("/v1/messages?beta=true", &vec![b' '; 33 * mib]))
        .await;
    let (head, body) = client.receive().await.unwrap();
    assert!(head.starts_with("HTTP/1.1 413"), "{head}");
    assert_eq!(error(&body), "request_too_large");
    let mut client = proxy.client().await;
    client
        .send("POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        .await;
    for _ in 0..33 {
        client.send(format!("{mib:x}\r\n")).await;
        client.send(vec![b' '; mib]).await;
        client.send("\r\n").await;
    }
    client.send("0\r\n\r\n").await;
    assert!(client.receive().await.unwrap().0.starts_with("HTTP/1.1 413"));
    assert_eq!(upstream.requests().len(), 1);
}

#[tokio::test]
async fn refused_upstream_connection_is_a_502_that_names_the_address() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let proxy = Running::start(Proxy::builder(
        Upstream::parse(&format!("http://{closed}")).unwrap(),
    ))
    .await;
    let mut client = proxy.client().await;
    client.send(post("/v1/messages", b"{}")).await;
    let (head, body) = client.receive().await.unwrap();
    assert!(head.starts_with("HTTP/1.1 502"), "{head}");
    assert!(head.contains("x-grov-request-id: "), "{head}");
    assert_eq!(error(&body), "api_error");
    let body = String::from_utf8_lossy(&body);
    assert!(
        body.contains(&closed.port().to_string()) && body.contains("refused"),
        "{body}"
    );
}

#[tokio::test]
async fn an_upstream_that_is_the_listener_itself_is_refused() {
    for host in ["127.0.0.1", "localhost", "[::1]", "0.0.0.0"] {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let upstream = Upstream::parse(&format!("http://{host}:{port}/prefix")).unwrap();
        let proxy = Proxy::builder(upstream).build().unwrap();
        let served = proxy.serve(listener, std::future::ready(())).await;
        assert!(matches!(served, Err(ServeError::Loop { .. })), "{host}");
    }
}

#[tokio::test]
async fn reset_before_the_response_is_a_502_without_retry() {
    let upstream = Scripted::start(|_, _| vec![Act::Reset]).await;
    let proxy = Running::before(&upstream).await;
    let mut client = proxy.client().await;
    client.send(post("/v1/messages", b"{}")).await;
    assert!(client.receive().await.unwrap().0.starts_with("HTTP/1.1 502"));
    assert_eq!(upstream.requests().len(), 1);
}

#[tokio::test]
async fn a_silent_upstream_is_a_504() {
    let upstream = Scripted::start(|_, _| vec![Act::AwaitClose]).await;
    let limits = Limits {
        response: Duration::from_millis(200),
        ..Limits::default()
    };
    let proxy = Running::with_limits(&upstream, limits).await;
    let mut client = proxy.client().await;
    client.send(post("/v1/messages", b"{}")).await;
    let (head, body) = client.receive().await.unwrap();
    assert!(head.starts_with("HTTP/1.1 504"), "{head}");
    assert_eq!(error(&body), "timeout_error");
}

#[tokio::test]
async fn silent_stream_is_cut_and_steady_stream_is_not() {
    let upstream = Scripted::start(|number, _| {
        let head =
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
        let mut acts = vec![Act::Write(head.to_vec())];
        for _ in 0..8 {
            acts.push(Act::Write(b"5\r\n: x\n\n\r\n".to_vec()));
            acts.push(Act::Pause(Duration::from_millis(150)));
        }
        acts.push(if number == 0 {
            Act::Write(b"0\r\n\r\n".to_vec())
        } else {
            Act::AwaitClose
        });
        acts
    })
    .await;
    // The response takes 1.2 s, but each pause is far below the limit.
    let limits = Limits {
        idle: Duration::from_millis(900),
        ..Limits::default()
    };
    let proxy = Running::with_limits(&upstream, limits).await;
    let mut client = proxy.client().await;
    client.send(post("/v1/messages", b"{}")).await;
    assert_eq!(client.receive().await.unwrap().1, b": x\n\n".repeat(8));
    client.send(post("/v1/messages", b"{}")).await;
    assert!(!client.rest().await.ends_with(b"0\r\n\r\n"));
    assert_eq!(proxy.metrics.faults("upstream_idle"), 1);
}

#[tokio::test]
async fn huge_limits_mean_no_limit() {
    let upstream = Scripted::start(|_, _| {
        vec![
            Act::Write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n".to_vec()),
            Act::Pause(Duration::from_millis(50)),
            Act::Write(b"{}".to_vec()),
        ]
    })
    .await;
    let limits = Limits {
        connect: Duration::MAX,
        response: Duration::MAX,
        idle: Duration::MAX,
        grace: Duration::MAX,
        ..Limits::default()
    };
    let proxy = Running::with_limits(&upstream, limits).await;
    let mut client = proxy.client().await;
    client.send(post("/v1/messages", b"{}")).await;
    assert_eq!(client.receive().await.unwrap().1, b"{}");
}

#[tokio::test]
async fn unusual_bodies_pass_unchanged() {
    let upstream = Scripted::start(|_, _| vec![Act::Write(json_answer("{}"))]).await;
    let proxy = Running::before(&upstream).await;
    let mut client = proxy.client().await;
    let deep = "[".repeat(10_000) + &"]".repeat(10_000);
    let bodies: Vec<Vec<u8>> = vec![
        b"".to_vec(),
        b"not json".to_vec(),
        b"{\"messages\":[}".to_vec(),
        b"\xff\xfe\x00{\"a\":\"\xc3\x28\"}".to_vec(),
        b"{\"model\":\"a\",\"model\":\"b\",\"messages\":[]}".to_vec(),
        format!("{{\"messages\":{deep}}}").into_bytes(),
        format!("{{\"messages\":[{{\"role\":\"user\",\"content\":{deep}}}]}}").into_bytes(),
        b"{\"system\":\"]}[{\",\"messages\":[{\"role\":\"user\",\"content\":\"a]b[\\u0000\"}]}".to_vec(),
        b"\xef\xbb\xbf{}".to_vec(),
    ];
    for body in bodies {
        client.send(post("/v1/messages", &body)).await;
        client.receive().await.unwrap();
        assert_eq!(upstream.requests().pop().unwrap().body, body);
    }
}

#[tokio::test]
async fn upload_may_take_longer_than_the_response_limit() {
    let upstream = Scripted::start(|_, request| {
        vec![Act::Write(json_answer(&format!(
            "{{\"bytes\":{}}}",
            request.body.len()
        )))]
    })
    .await;
    let limits = Limits {
        response: Duration::from_millis(400),
        ..Limits::default()
    };
    let proxy = Running::with_limits(&upstream, limits).await;
    let mut client = proxy.client().await;
    client
        .send("POST /v1/files HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20\r\n\r\n")
        .await;
    for _ in 0..20 {
        tokio::time::sleep(Duration::from_millis(60)).await;
        client.send("x").await;
    }
    assert_eq!(client.receive().await.unwrap().1, b"{\"bytes\":20}");
}

#[tokio::test]
async fn stalled_upload_times_out() {
    let upstream = Scripted::start(|_, _| vec![Act::Write(json_answer("{}"))]).await;
    let limits = Limits {
        response: Duration::from_millis(200),
        ..Limits::default()
    };
    let proxy = Running::with_limits(&upstream, limits).await;
    let mut client = proxy.client().await;
    client
        .send("POST /v1/files HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20\r\n\r\nhalf")
        .await;
    let (head, _) = client.receive().await.unwrap();
    assert!(head.starts_with("HTTP/1.1 504"), "{head}");
}
