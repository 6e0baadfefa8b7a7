//! Invalid HTTP and request smuggling get an error and never reach the upstream.

use crate::support::{Act, Client, Running, Scripted, json_answer};

async fn setup() -> (Scripted, Running) {
    let upstream = Scripted::start(|_, _| vec![Act::Write(json_answer("{}"))]).await;
    let proxy = Running::before(&upstream).await;
    (upstream, proxy)
}

async fn refused(proxy: &Running, request: &str) -> String {
    let mut client: Client = proxy.client().await;
    client.send(request).await;
    let answer = String::from_utf8(client.rest().await).unwrap();
    let (head, body) = answer
        .split_once("\r\n\r\n")
        .unwrap_or_else(|| panic!("no answer to {request:?}: {answer:?}"));
    assert!(head.starts_with("HTTP/1.1 4"), "{request:?}: {head}");
    let value: serde_json::Value =
        serde_json::from_str(body).unwrap_or_else(|_| panic!("{request:?}: {answer}"));
    assert_eq!(value["type"], "error");
    assert_eq!(value["error"]["type"], "invalid_request_error");
    assert!(head.contains("x-grov-request-id: "), "{head}");
    head.to_owned()
}

#[tokio::test]
async fn invalid_requests_get_an_api_error() {
    let (upstream, proxy) = setup().await;
    for request in [
        "GARBAGE\r\n\r\n",
        "GET / HTTP/1.1\r\nHost localhost\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: abc\r\n\r\n",
        "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\nX\u{0}Y: 1\r\n\r\n",
    ] {
        refused(&proxy, request).await;
    }
    assert_eq!(upstream.requests().len(), 0);
}

#[tokio::test]
async fn http_2_by_prior_knowledge_is_not_spoken() {
    let (upstream, proxy) = setup().await;
    let mut client = proxy.client().await;
    client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await;
    client.rest().await;
    assert_eq!(upstream.requests().len(), 0);
}

#[tokio::test]
async fn a_body_with_broken_chunks_is_refused() {
    let (upstream, proxy) = setup().await;
    for chunks in [
        "zz\r\nhello\r\n0\r\n\r\n",
        "5\r\nhelloXX0\r\n\r\n",
        "fffffffffffffffff\r\nx",
    ] {
        for path in ["/v1/messages", "/v1/files"] {
            let request = format!(
                "POST {path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}"
            );
            refused(&proxy, &request).await;
        }
    }
    assert_eq!(upstream.requests().len(), 0);
    assert_eq!(proxy.metrics.faults("upstream_unreachable"), 0);
}

#[tokio::test]
async fn chunked_wins_over_content_length() {
    for fields in [
        "Content-Length: 4\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 4",
    ] {
        for path in ["/v1/messages", "/v1/files"] {
            let (upstream, proxy) = setup().await;
            let mut client = proxy.client().await;
            client
                .send(format!(
                    "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{fields}\r\n\r\n\
                     5\r\nhello\r\n0\r\n\r\n"
                ))
                .await;
            client.rest().await;
            let requests = upstream.requests();
            assert_eq!(requests.len(), 1, "{fields}");
            assert_eq!(requests[0].body, b"hello", "{fields}");
            let head = requests[0].head.to_ascii_lowercase();
            let framings = head.matches("content-length").count() + head.matches("transfer-encoding").count();
            assert_eq!(framings, 1, "{fields}: {head}");
        }
    }
}

#[tokio::test]
async fn chunked_must_be_the_last_coding() {
    let (upstream, proxy) = setup().await;
    let request = "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\
                   Transfer-Encoding: identity\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n";
    refused(&proxy, request).await;
    assert_eq!(upstream.requests().len(), 0);
}

#[tokio::test]
async fn request_with_a_coding_besides_chunked_is_refused() {
    let (upstream, proxy) = setup().await;
    for fields in [
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: identity, chunked",
        "Transfer-Encoding: identity, chunked\r\nContent-Length: 4",
        "Transfer-Encoding: x-unknown, Chunked",
        "Transfer-Encoding: ,chunked",
        "Transfer-Encoding: chunked;q=1, chunked",
    ] {
        for path in ["/v1/messages", "/v1/files", "/_grov/health"] {
            let mut client = proxy.client().await;
            client
                .send(format!(
                    "POST {path} HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n\r\n5\r\nhello\r\n0\r\n\r\n\
                     GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"
                ))
                .await;
            let answer = String::from_utf8(client.rest().await).unwrap();
            assert!(answer.starts_with("HTTP/1.1 501"), "{fields}: {answer}");
            assert_eq!(answer.matches("HTTP/1.1").count(), 1, "{answer}");
            assert!(answer.contains("invalid_request_error"), "{fields}: {answer}");
        }
    }
    for fields in [
        "Transfer-Encoding: chunked;q=1",
        "Transfer-Encoding: identity",
        "Transfer-Encoding: chunked, gzip",
        "Transfer-Encoding:",
    ] {
        let request = format!(
            "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
        );
        refused(&proxy, &request).await;
    }
    assert_eq!(upstream.requests().len(), 0);
}

#[tokio::test]
async fn chunked_is_understood_in_any_case() {
    let (upstream, proxy) = setup().await;
    for coding in ["chunked", "Chunked", " CHUNKED "] {
        let mut client = proxy.client().await;
        client
            .send(format!(
                "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding:{coding}\r\n\r\n\
                 5\r\nhello\r\n0\r\n\r\n"
            ))
            .await;
        assert!(
            client.receive().await.unwrap().0.starts_with("HTTP/1.1 200"),
            "{coding}"
        );
        assert_eq!(upstream.requests().pop().unwrap().body, b"hello", "{coding}");
    }
}

#[tokio::test]
async fn response_with_a_coding_besides_chunked_is_refused() {
    for fields in [
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: gzip",
        "Transfer-Encoding: chunked, identity",
    ] {
        let upstream = Scripted::start(move |_, _| {
            let answer = format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
            vec![Act::Write(answer.into_bytes()), Act::Close]
        })
        .await;
        let proxy = Running::before(&upstream).await;
        for path in ["/v1/messages", "/v1/files"] {
            let mut client = proxy.client().await;
            client.send(crate::support::post(path, b"{}")).await;
            let (head, body) = client.receive().await.unwrap();
            assert!(head.starts_with("HTTP/1.1 502"), "{fields}: {head}");
            let error: serde_json::Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(error["error"]["type"], "api_error");
        }
        assert_eq!(proxy.metrics.faults("upstream_coding"), 2);
    }
}

#[tokio::test]
async fn response_with_identity_coding_is_relayed() {
    let upstream = Scripted::start(|_, _| {
        let answer =
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: identity, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
        vec![Act::Write(answer.to_vec())]
    })
    .await;
    let proxy = Running::before(&upstream).await;
    let mut client = proxy.client().await;
    client.send(crate::support::post("/v1/messages", b"{}")).await;
    assert_eq!(client.receive().await.unwrap().1, b"hello");
}

#[tokio::test]
async fn repeated_equal_content_lengths_become_one() {
    let (upstream, proxy) = setup().await;
    let mut client = proxy.client().await;
    client
        .send("POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}")
        .await;
    let (head, _) = client.receive().await.unwrap();
    for request in upstream.requests() {
        assert_eq!(
            request
                .head
                .to_ascii_lowercase()
                .matches("content-length")
                .count(),
            1,
            "{}",
            request.head
        );
        assert_eq!(request.body, b"{}");
    }
    assert!(
        head.starts_with("HTTP/1.1 200") || head.starts_with("HTTP/1.1 400"),
        "{head}"
    );
}

#[tokio::test]
async fn upstream_response_like_an_error_of_hyper_is_not_replaced() {
    // The second consists of the bytes that hyper writes for an error.
    for fields in [
        "Content-Length: 0\r\nConnection: close\r\n",
        "content-length: 0\r\n",
    ] {
        let upstream = Scripted::start(move |_, _| {
            vec![Act::Write(
                format!("HTTP/1.1 400 Bad Request\r\n{fields}\r\n").into_bytes(),
            )]
        })
        .await;
        let proxy = Running::before(&upstream).await;
        let mut client = proxy.client().await;
        client
            .send("POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}")
            .await;
        let (head, body) = client.receive().await.unwrap();
        assert!(head.starts_with("HTTP/1.1 400 Bad Request"), "{head}");
        assert!(body.is_empty());
        assert!(!head.contains("x-grov-request-id"), "{head}");
    }
}

#[tokio::test]
async fn invalid_http_after_a_served_request_is_refused() {
    let (_upstream, proxy) = setup().await;
    let mut client = proxy.client().await;
    client
        .send("GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .await;
    client.receive().await.unwrap();
    client.send("GARBAGE\r\n\r\n").await;
    let (head, body) = client.receive().await.unwrap();
    assert!(head.starts_with("HTTP/1.1 400"), "{head}");
    assert_eq!(
        serde_json::from_slice::<serde_json::Value>(&body).unwrap()["type"],
        "error"
    );
}
