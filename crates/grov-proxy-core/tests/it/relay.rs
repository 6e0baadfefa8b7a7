//! Bytes are relayed unchanged in both directions.

use crate::support::{Act, Running, Scripted, json_answer, post};
use std::time::Duration;

const EVENTS: &[u8] = b"event: message_start\r\ndata: {\"type\":\"message_start\"}\r\n\r\n: a comment\n\nevent: ping\ndata: {}\n\n";

fn chunked(body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("{:x}\r\n", body.len()).into_bytes();
    bytes.extend_from_slice(body);
    bytes.extend_from_slice(b"\r\n");
    bytes
}

#[tokio::test]
async fn request_arrives_as_sent_and_header_case_is_kept() {
    let upstream = Scripted::start(|_, _| vec![Act::Write(json_answer("{}"))]).await;
    let proxy = Running::before(&upstream).await;
    let body = "{\"model\" :\t\"x\",\"n\":1.0e+2,\"u\":\"\\u00e9\\/\",\"messages\":[]}  \n";
    let request = format!(
        "POST /v1/messages?beta=true&x=%2F%20 HTTP/1.1\r\nAccept: application/json\r\nX-Claude-Code-Session-Id: s1\r\n\
         anthropic-beta: a,b\r\nX-Api-Key: k\r\nx-grov-project: /p\r\nConnection: keep-alive\r\nHost: 127.0.0.1:1\r\n\
         Accept-Encoding: gzip, deflate, br, zstd\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut client = proxy.client().await;
    client.send(request).await;
    client.receive().await.unwrap();
    let received = upstream.requests().remove(0);
    assert_eq!(received.body, body.as_bytes());
    let head = received.head;
    assert!(
        head.starts_with("POST /v1/messages?beta=true&x=%2F%20 HTTP/1.1\r\n"),
        "{head}"
    );
    for line in [
        "Accept: application/json",
        "X-Claude-Code-Session-Id: s1",
        "anthropic-beta: a,b",
        "X-Api-Key: k",
        "Accept-Encoding: gzip, deflate, br, zstd",
    ] {
        assert!(head.contains(&format!("\r\n{line}\r\n")), "{line} in {head}");
    }
    assert_eq!(received_host(&head), Some(upstream.address.to_string()));
    assert!(!head.to_ascii_lowercase().contains("x-grov"), "{head}");
    let names: Vec<_> = head
        .lines()
        .skip(1)
        .filter_map(|line| line.split_once(": "))
        .map(|(name, _)| name)
        .collect();
    let expected = [
        "Accept",
        "X-Claude-Code-Session-Id",
        "anthropic-beta",
        "X-Api-Key",
        "Host",
        "Accept-Encoding",
        "Content-Length",
    ];
    assert_eq!(names, expected, "the order is the client's");
    assert!(!head.to_ascii_lowercase().contains("connection"), "{head}");
}

fn received_host(head: &str) -> Option<String> {
    let lower = head.to_ascii_lowercase();
    assert_eq!(lower.matches("\r\nhost:").count(), 1, "{head}");
    lower
        .lines()
        .find_map(|line| line.strip_prefix("host: ").map(str::to_owned))
}

#[tokio::test]
async fn response_arrives_as_sent_status_reason_headers_and_body() {
    let upstream = Scripted::start(|_, _| {
        let mut answer = b"HTTP/1.1 529 Site Is Overloaded\r\nContent-Type: text/event-stream; charset=utf-8\r\n\
            Request-Id: req_1\r\nRetry-After: 2\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nTransfer-Encoding: chunked\r\n\r\n"
            .to_vec();
        answer.extend(chunked(EVENTS));
        answer.extend_from_slice(b"0\r\n\r\n");
        vec![Act::Write(answer)]
    })
    .await;
    let proxy = Running::before(&upstream).await;
    let mut client = proxy.client().await;
    client.send(post("/v1/messages", b"{}")).await;
    let (head, body) = client.receive().await.unwrap();
    assert!(head.starts_with("HTTP/1.1 529 Site Is Overloaded\r\n"), "{head}");
    assert_eq!(body, EVENTS);
    for line in [
        "Request-Id: req_1",
        "Retry-After: 2",
        "Set-Cookie: a=1",
        "Set-Cookie: b=2",
    ] {
        assert!(head.contains(&format!("\r\n{line}\r\n")), "{line} in {head}");
    }
    assert!(
        !head.to_ascii_lowercase().contains("\r\ndate:"),
        "no header is added: {head}"
    );
    assert!(!head.contains("x-grov-request-id"), "{head}");
}

#[tokio::test]
async fn single_event_is_relayed_at_once() {
    let upstream = Scripted::start(|_, _| {
        let head =
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
        let end = b"0\r\n\r\n".to_vec();
        vec![
            Act::Write(head.to_vec()),
            Act::Write(chunked(EVENTS)),
            Act::Hold,
            Act::Write(end),
        ]
    })
    .await;
    let proxy = Running::before(&upstream).await;
    let mut client = proxy.client().await;
    client.send(post("/v1/messages", b"{}")).await;
    // The upstream sends the rest only after this event was read here.
    let head_length =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n".len();
    let seen = client.at_least(head_length + chunked(EVENTS).len()).await;
    assert!(seen.windows(EVENTS.len()).any(|window| window == EVENTS));
    upstream.release();
    let (_, body) = client.receive().await.unwrap();
    assert_eq!(body, EVENTS);
}

#[tokio::test]
async fn any_chunking_of_the_response_gives_the_same_bytes() {
    for size in [1, 2, 7, 100] {
        let upstream = Scripted::start(move |_, _| {
            let mut answer =
                b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
                    .to_vec();
            for piece in EVENTS.chunks(3) {
                answer.extend(chunked(piece));
            }
            answer.extend_from_slice(b"0\r\n\r\n");
            vec![Act::Drip(answer, size)]
        })
        .await;
        let proxy = Running::before(&upstream).await;
        let mut client = proxy.client().await;
        client.send(post("/v1/messages", b"{}")).await;
        assert_eq!(client.receive().await.unwrap().1, EVENTS, "pieces of {size}");
    }
}

#[tokio::test]
async fn a_head_request_keeps_the_announced_length() {
    let upstream = Scripted::start(|_, _| {
        vec![Act::Write(
            b"HTTP/1.1 200 OK\r\nContent-Length: 42\r\nX-A: b\r\n\r\n".to_vec(),
        )]
    })
    .await;
    let proxy = Running::before(&upstream).await;
    let mut client = proxy.client().await;
    client
        .send("HEAD / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: Bun/1.4.0\r\nConnection: close\r\n\r\n")
        .await;
    let answer = String::from_utf8(client.rest().await).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.contains("Content-Length: 42\r\n"), "{answer}");
    assert!(upstream.requests()[0].head.starts_with("HEAD / HTTP/1.1\r\n"));
}

#[tokio::test]
async fn every_method_and_path_is_forwarded() {
    let upstream = Scripted::start(|_, _| vec![Act::Write(json_answer("{\"ok\":true}"))]).await;
    let proxy = Running::before(&upstream).await;
    let mut client = proxy.client().await;
    for line in [
        "GET /v1/models?limit=1000",
        "DELETE /v1/files/f1",
        "PUT /x//y/../z?q=a+b",
        "OPTIONS /v1/messages",
    ] {
        client
            .send(format!(
                "{line} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"
            ))
            .await;
        assert_eq!(client.receive().await.unwrap().1, b"{\"ok\":true}");
        let received = upstream.requests().pop().unwrap();
        assert!(
            received.head.starts_with(&format!("{line} HTTP/1.1\r\n")),
            "{}",
            received.head
        );
    }
}

#[tokio::test]
async fn uploads_to_other_paths_stream_without_limit() {
    const SIZE: usize = 200 * 1024 * 1024;
    let upstream = Scripted::start(|_, request| {
        vec![Act::Write(json_answer(&format!(
            "{{\"bytes\":{}}}",
            request.body.len()
        )))]
    })
    .await;
    let proxy = Running::before(&upstream).await;
    let mut client = proxy.client().await;
    client
        .send(format!(
            "POST /v1/files HTTP/1.1\r\nHost: localhost\r\nContent-Length: {SIZE}\r\n\r\n"
        ))
        .await;
    let piece = vec![7_u8; 1024 * 1024];
    for _ in 0..SIZE / piece.len() {
        client.send(&piece).await;
    }
    let (_, body) = client.receive().await.unwrap();
    assert_eq!(body, format!("{{\"bytes\":{SIZE}}}").as_bytes());
}

#[tokio::test]
async fn a_chunked_request_body_arrives_whole() {
    let upstream = Scripted::start(|_, _| vec![Act::Write(json_answer("{}"))]).await;
    let proxy = Running::before(&upstream).await;
    let mut client = proxy.client().await;
    for line in [
        "POST /v1/messages",
        "POST /v1/files",
        "GET /v1/files",
        "DELETE /v1/files",
    ] {
        client
            .send(format!(
                "{line} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{{\"a\r\n4\r\n\":1}}\r\n0\r\n\r\n"
            ))
            .await;
        client.receive().await.unwrap();
        assert_eq!(upstream.requests().pop().unwrap().body, b"{\"a\":1}");
    }
}

#[tokio::test]
async fn message_arrives_complete_with_any_framing() {
    let upstream = Scripted::start(|_, _| vec![Act::Write(json_answer("{}"))]).await;
    let proxy = Running::before(&upstream).await;
    let mut client = proxy.client().await;
    let bytes: Vec<u8> = (0..1_000_000_u32).map(|at| (at % 251) as u8).collect();
    for length in [1024, 1025, 32_768, 32_769, 131_071, 131_072, 1_000_000] {
        let body = &bytes[..length];
        let head = "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\n";
        client
            .send(format!("{head}Content-Length: {length}\r\n\r\n"))
            .await;
        client.send(body).await;
        client.receive().await.unwrap();
        assert!(
            upstream.requests().pop().unwrap().body == body,
            "{length} announced"
        );
        for size in [500, 2000, 20_000] {
            let mut sent = format!("{head}Transfer-Encoding: chunked\r\n\r\n").into_bytes();
            for chunk in body.chunks(size) {
                sent.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                sent.extend_from_slice(chunk);
                sent.extend_from_slice(b"\r\n");
            }
            sent.extend_from_slice(b"0\r\n\r\n");
            client.send(sent).await;
            client.receive().await.unwrap();
            let arrived = upstream.requests().pop().unwrap().body;
            assert!(arrived == body, "{length} in chunks of {size}");
        }
    }
}

#[tokio::test]
async fn a_head_of_thirty_kilobytes_is_forwarded_and_one_of_a_hundred_refused() {
    let upstream = Scripted::start(|_, _| vec![Act::Write(json_answer("{}"))]).await;
    let proxy = Running::before(&upstream).await;
    for (size, status) in [(30 * 1024, 200), (100 * 1024, 431)] {
        let mut client = proxy.client().await;
        let cookie = "c".repeat(size);
        client
            .send(format!(
                "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\nContent-Length: 2\r\n\r\n{{}}"
            ))
            .await;
        let (head, _) = client.receive().await.unwrap();
        assert!(head.contains(&format!(" {status} ")), "{size}: {head}");
    }
}

#[tokio::test]
async fn bytes_before_a_cut_are_delivered() {
    let upstream = Scripted::start(|_, _| {
        let head =
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
        vec![
            Act::Write(head.to_vec()),
            Act::Write(chunked(EVENTS)),
            Act::Write(b"30\r\nhalf".to_vec()),
            Act::Close,
        ]
    })
    .await;
    let proxy = Running::before(&upstream).await;
    let mut client = proxy.client().await;
    client.send(post("/v1/messages", b"{}")).await;
    let all = client.rest().await;
    assert!(all.windows(EVENTS.len()).any(|window| window == EVENTS));
    assert!(!all.ends_with(b"0\r\n\r\n"), "a cut must not look like an end");
    assert_eq!(proxy.metrics.faults("upstream_broke"), 1);
}

#[tokio::test]
async fn http_1_0_client_gets_the_response_until_the_connection_closes() {
    let upstream = Scripted::start(|_, _| {
        let mut answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
        answer.extend(chunked(EVENTS));
        answer.extend_from_slice(b"0\r\n\r\n");
        vec![Act::Write(answer)]
    })
    .await;
    let proxy = Running::before(&upstream).await;
    let mut client = proxy.client().await;
    client.send("GET /v1/x HTTP/1.0\r\n\r\n").await;
    let all = client.rest().await;
    let end = all.windows(4).position(|window| window == b"\r\n\r\n").unwrap() + 4;
    assert_eq!(&all[end..], EVENTS);
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let upstream = Scripted::start(|number, _| vec![Act::Write(json_answer(&number.to_string()))]).await;
    let proxy = Running::before(&upstream).await;
    let mut client = proxy.client().await;
    let mut requests = post("/v1/messages", b"{}");
    requests.extend(post("/v1/files", b"file"));
    requests.extend(post("/v1/messages", b"{}"));
    client.send(requests).await;
    for expected in ["0", "1", "2"] {
        assert_eq!(client.receive().await.unwrap().1, expected.as_bytes());
    }
    let bodies: Vec<_> = upstream
        .requests()
        .into_iter()
        .map(|request| request.body)
        .collect();
    assert_eq!(bodies, [&b"{}"[..], b"file", b"{}"]);
}

#[tokio::test]
async fn expect_continue_is_answered_once() {
    let upstream = Scripted::start(|_, _| {
        vec![
            Act::Write(b"HTTP/1.1 100 Continue\r\n\r\n".to_vec()),
            Act::Write(json_answer("{}")),
        ]
    })
    .await;
    let proxy = Running::before(&upstream).await;
    for path in ["/v1/messages", "/v1/files"] {
        let mut client = proxy.client().await;
        client
            .send(format!(
                "POST {path} HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
            ))
            .await;
        assert!(client.receive().await.unwrap().0.starts_with("HTTP/1.1 100"));
        client.send("{}").await;
        assert!(client.receive().await.unwrap().0.starts_with("HTTP/1.1 200"));
        assert_eq!(upstream.requests().pop().unwrap().body, b"{}");
    }
}

#[tokio::test]
async fn response_without_length_ends_with_the_connection() {
    let upstream = Scripted::start(|_, _| {
        vec![
            Act::Write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nto the end".to_vec()),
            Act::Close,
        ]
    })
    .await;
    let proxy = Running::before(&upstream).await;
    let mut client = proxy.client().await;
    client.send(post("/v1/messages", b"{}")).await;
    assert_eq!(client.receive().await.unwrap().1, b"to the end");
}

#[tokio::test]
async fn trailers_are_forwarded() {
    let upstream = Scripted::start(|_, _| {
        vec![Act::Write(
            b"HTTP/1.1 200 OK\r\nTrailer: x-sum\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nx-sum: 7\r\n\r\n".to_vec(),
        )]
    })
    .await;
    let proxy = Running::before(&upstream).await;
    let mut client = proxy.client().await;
    client
        .send("GET /v1/x HTTP/1.1\r\nHost: localhost\r\nTE: trailers\r\nConnection: close\r\n\r\n")
        .await;
    let all = String::from_utf8(client.rest().await).unwrap();
    assert!(all.contains("x-sum: 7\r\n"), "{all}");
}

#[tokio::test]
async fn two_hundred_streams_at_once() {
    let upstream = Scripted::start(|_, _| {
        let mut answer =
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
                .to_vec();
        let mut acts = vec![Act::Write(std::mem::take(&mut answer))];
        for _ in 0..5 {
            acts.push(Act::Write(chunked(EVENTS)));
            acts.push(Act::Pause(Duration::from_millis(2)));
        }
        acts.push(Act::Write(b"0\r\n\r\n".to_vec()));
        acts
    })
    .await;
    let proxy = Running::before(&upstream).await;
    let mut clients = tokio::task::JoinSet::new();
    for _ in 0..200 {
        let mut client = proxy.client().await;
        clients.spawn(async move {
            client.send(post("/v1/messages", b"{}")).await;
            client.receive().await.unwrap().1
        });
    }
    let expected = EVENTS.repeat(5);
    while let Some(body) = clients.join_next().await {
        assert_eq!(body.unwrap(), expected);
    }
}
