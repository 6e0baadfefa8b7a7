use crate::{ask, connect, exchange, messages_request, sim};
use grov_sim::json::Json;
use grov_sim::{Recording, Sim, SimConfig};

const KEYS: &str = "x-api-key: k\r\nanthropic-version: 2023-06-01\r\n";

fn json(text: &str) -> Json {
    Json::parse(text.as_bytes()).unwrap()
}

#[tokio::test]
async fn requests_are_recorded_byte_for_byte() {
    let sim = sim().await;
    let mut wire = connect(&sim).await;
    let body = ask("h\\u00e4llo   ", false).replace(':', " :  ");
    let request = messages_request(&body, "X-Odd:  Value \r\nx-odd: 2\r\n");
    assert_eq!(exchange(&mut wire, &request).await.status(), 200);
    let recorded = &sim.messages()[0];
    assert_eq!(recorded.body, body.as_bytes());
    let head = request.strip_suffix(&body).unwrap();
    assert_eq!(recorded.head.raw, head.as_bytes());
    assert_eq!(
        (recorded.method.as_str(), recorded.path.as_str()),
        ("POST", "/v1/messages")
    );
    assert_eq!(recorded.query.as_deref(), Some("beta=true"));
    assert_eq!(recorded.head.headers[3], ("X-Odd".to_owned(), "Value".to_owned()));
    assert_eq!(recorded.body_hash, xxhash_rust::xxh3::xxh3_128(body.as_bytes()));
}

#[tokio::test]
async fn a_connection_serves_many_requests() {
    let sim = sim().await;
    let mut wire = connect(&sim).await;
    for _ in 0..3 {
        let answer = exchange(&mut wire, &messages_request(&ask("hi", true), "")).await;
        assert_eq!(
            answer.head.header("content-type"),
            Some("text/event-stream; charset=utf-8")
        );
        assert!(answer.text().ends_with("data: {\"type\":\"message_stop\"}\n\n"));
    }
    assert_eq!(sim.connections(), 1);
    let ids: Vec<String> = sim
        .messages()
        .iter()
        .map(|request| request.request_id.clone())
        .collect();
    assert_eq!(ids.len(), 3);
    assert!(ids[0] != ids[1] && ids[1] != ids[2]);
}

#[tokio::test]
async fn the_other_endpoints_answer() {
    let sim = sim().await;
    let mut wire = connect(&sim).await;
    let probe = exchange(&mut wire, "HEAD / HTTP/1.1\r\nHost: sim\r\n\r\n").await;
    assert_eq!((probe.status(), probe.text().len()), (200, 0));
    let models = exchange(
        &mut wire,
        &format!("GET /v1/models?limit=1000 HTTP/1.1\r\n{KEYS}\r\n"),
    )
    .await;
    assert!(
        json(&models.text())
            .get("data")
            .unwrap()
            .as_array()
            .unwrap()
            .len()
            > 1
    );
    let body = ask(&"x".repeat(4000), false);
    let count = messages_request(&body, "").replace("/v1/messages?", "/v1/messages/count_tokens?");
    let tokens = json(&exchange(&mut wire, &count).await.text())
        .get("input_tokens")
        .unwrap()
        .as_u64()
        .unwrap();
    assert!((1000..1100).contains(&tokens), "{tokens}");
    let missing = exchange(&mut wire, "DELETE /v1/nothing HTTP/1.1\r\nHost: sim\r\n\r\n").await;
    assert_eq!(missing.status(), 404);
    let error = json(&missing.text());
    assert_eq!(error.get_str("type"), Some("error"));
    assert_eq!(
        error.get("error").unwrap().get_str("type"),
        Some("not_found_error")
    );
    assert_eq!(sim.requests().len(), 4);
    assert_eq!(sim.messages().len(), 0);
}

#[tokio::test]
async fn an_upload_is_counted_but_not_kept() {
    let sim = sim().await;
    let mut wire = connect(&sim).await;
    let piece = "y".repeat(100_000);
    let head = "POST /v1/files HTTP/1.1\r\nHost: sim\r\nTransfer-Encoding: chunked\r\n\r\n";
    let mut request = head.to_owned();
    for _ in 0..20 {
        request.push_str(&format!("{:x}\r\n{piece}\r\n", piece.len()));
    }
    request.push_str("0\r\nX-Sum: 1\r\n\r\n");
    let answer = json(&exchange(&mut wire, &request).await.text());
    assert_eq!(answer.get("size_bytes").unwrap().as_u64(), Some(2_000_000));
    let hash = xxhash_rust::xxh3::xxh3_128(piece.repeat(20).as_bytes());
    assert_eq!(answer.get_str("xxh3_128"), Some(format!("{hash:032x}").as_str()));
    let recorded = &sim.requests()[0];
    assert_eq!((recorded.body.len(), recorded.body_length), (0, 2_000_000));
    assert_eq!(recorded.trailers, [("X-Sum".to_owned(), "1".to_owned())]);
}

#[tokio::test]
async fn bodies_over_the_limit_are_refused_and_the_connection_continues() {
    let sim = sim().await;
    let mut wire = connect(&sim).await;
    let large = exchange(
        &mut wire,
        &messages_request(&ask(&"x".repeat(33 << 20), false), ""),
    )
    .await;
    assert_eq!(large.status(), 413);
    assert!(large.text().contains("request_too_large"));
    let allowed = exchange(
        &mut wire,
        &messages_request(&ask(&"x".repeat(31 << 20), false), ""),
    )
    .await;
    assert_eq!(allowed.status(), 200);
}

#[tokio::test]
async fn invalid_requests_are_refused_with_the_apis_errors() {
    let sim = sim().await;
    let mut wire = connect(&sim).await;
    let empty = r#"{"model":"m","max_tokens":1,"messages":[]}"#;
    let refused = exchange(&mut wire, &messages_request(empty, "")).await;
    assert_eq!(
        (refused.status(), refused.head.header("x-should-retry")),
        (400, None)
    );
    let error = json(&refused.text());
    assert_eq!(
        error.get("error").unwrap().get_str("message"),
        Some("messages: at least one message is required")
    );
    assert_eq!(error.get_str("request_id"), refused.head.header("request-id"));
    let broken = exchange(&mut wire, &messages_request("{\"model\":", "")).await;
    assert_eq!(broken.status(), 400);
    let keyless = messages_request(&ask("x", false), "").replace("x-api-key: k\r\n", "");
    assert_eq!(exchange(&mut wire, &keyless).await.status(), 401);
}

#[tokio::test]
async fn smuggling_attempts_are_refused_and_counted() {
    let sim = sim().await;
    for request in [
        "POST /v1/messages HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        "POST /v1/messages HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /v1/messages HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "POST  /v1/messages HTTP/1.1\r\n\r\n",
    ] {
        let answer = exchange(&mut connect(&sim).await, request).await;
        assert_eq!(
            (answer.status(), answer.head.header("connection")),
            (400, Some("close")),
            "{request}"
        );
    }
    assert_eq!(sim.malformed(), 4);
    assert!(sim.requests().is_empty());
}

#[tokio::test]
async fn a_client_that_expects_100_continue_gets_it() {
    let sim = sim().await;
    let mut wire = connect(&sim).await;
    let body = ask("hi", false);
    let request = messages_request(&body, "Expect: 100-continue\r\n");
    wire.send(request.strip_suffix(&body).unwrap().as_bytes())
        .await
        .unwrap();
    assert_eq!(wire.read_head().await.unwrap().unwrap().status(), Some(100));
    let answer = exchange(&mut wire, &body).await;
    assert_eq!(answer.status(), 200);
}

#[tokio::test]
async fn absolute_targets_are_accepted() {
    let sim = sim().await;
    let request = messages_request(&ask("hi", false), "").replace("POST /", "POST http://api.example/");
    assert_eq!(exchange(&mut connect(&sim).await, &request).await.status(), 200);
    assert_eq!(sim.messages().len(), 1);
}

#[tokio::test]
async fn requests_are_written_to_a_directory() {
    let directory = tempfile::tempdir().unwrap();
    let config = SimConfig {
        directory: Some(directory.path().join("record")),
        recording: Recording::Nothing,
        ..SimConfig::default()
    };
    let sim = Sim::start(config).await.unwrap();
    let mut wire = connect(&sim).await;
    let request = messages_request(&ask("hi", false), "");
    exchange(&mut wire, &request).await;
    // The first one's record is written before the second one is read.
    exchange(&mut wire, &request).await;
    let written = std::fs::read(directory.path().join("record/00000.http")).unwrap();
    assert_eq!(written, request.as_bytes());
    let index = std::fs::read_to_string(directory.path().join("record/index.jsonl")).unwrap();
    let line = json(index.lines().next().unwrap());
    assert_eq!(
        (line.get("status").unwrap().as_u64(), line.get_str("path")),
        (Some(200), Some("/v1/messages"))
    );
    assert!(sim.requests().is_empty());
}

#[tokio::test]
async fn recording_checks_and_delta_sizes_are_configurable() {
    let config = SimConfig {
        recording: Recording::Heads,
        validate: false,
        delta: 1000,
        ..SimConfig::default()
    };
    let sim = Sim::start(config).await.unwrap();
    let mut wire = connect(&sim).await;
    let bare = r#"{"model":"m","messages":[],"stream":true}"#;
    let request = messages_request(bare, "").replace("x-api-key: k\r\n", "");
    let answer = exchange(&mut wire, &request).await;
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.text().matches("event: content_block_delta").count(), 1);
    let recorded = &sim.messages()[0];
    assert_eq!(
        (recorded.body.len(), recorded.body_length),
        (0, bare.len() as u64)
    );
    assert_eq!(sim.cache_report().requests.len(), 1);
    sim.clear();
    assert!(sim.requests().is_empty() && sim.cache_report().requests.is_empty());
}
