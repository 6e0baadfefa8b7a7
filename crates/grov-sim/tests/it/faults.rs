use crate::{Answer, ask, connect, exchange, messages_request, sim};
use grov_sim::behaviour::{Fault, Point};
use grov_sim::wire::{Frame, Framing, Wire, WireError};
use grov_sim::{Behaviour, End, Rule, Sim, When};
use std::io::{ErrorKind, Read};
use std::time::{Duration, Instant};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

fn request(behaviour: &str) -> String {
    messages_request(
        &ask("hi [[scenario:tools]]", true),
        &format!("x-sim-behaviour: {behaviour}\r\n"),
    )
}

/// Everything received until the connection ends, and how it ends.
async fn everything(sim: &Sim, request: &str) -> (Vec<u8>, std::io::Result<()>) {
    use tokio::io::AsyncWriteExt;
    let mut stream = TcpStream::connect(sim.addr()).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut all = Vec::new();
    let end = stream.read_to_end(&mut all).await.map(|_| ());
    (all, end)
}

async fn answer(sim: &Sim, behaviour: &str) -> Answer {
    exchange(&mut connect(sim).await, &request(behaviour)).await
}

/// The plain response as bytes, for comparison; its length is the same for every request of a simulation.
async fn whole(sim: &Sim) -> Vec<u8> {
    everything(sim, &request("connection-close")).await.0
}

#[tokio::test]
async fn a_response_can_be_cut_at_any_byte() {
    let sim = sim().await;
    let length = whole(&sim).await.len();
    for at in [0, 1, 14, 100, 700, length / 2, length - 1] {
        let (bytes, end) = everything(&sim, &request(&format!("cut={at}"))).await;
        assert_eq!(bytes.len(), at);
        assert!(end.is_ok(), "closed, not reset");
    }
    sim.wait_until(|requests| requests.iter().all(|request| request.delivery().is_some()))
        .await;
    let deliveries: Vec<_> = sim
        .messages()
        .iter()
        .map(|request| *request.delivery().unwrap())
        .collect();
    assert_eq!(
        (deliveries[1].status, deliveries[1].bytes, deliveries[1].end),
        (None, 0, End::Cut)
    );
    assert_eq!((deliveries[2].status, deliveries[2].bytes), (Some(200), 1));
}

#[tokio::test]
async fn a_response_can_be_cut_between_events() {
    let sim = sim().await;
    let (bytes, _) = everything(&sim, &request("cut-events=2")).await;
    let text = String::from_utf8(bytes).unwrap();
    assert_eq!(text.matches("event: ").count(), 2);
    assert!(text.ends_with("\n\n\r\n"), "the second chunk is whole: {text:?}");
}

#[tokio::test]
async fn a_connection_can_be_reset_before_and_inside_the_response() {
    let sim = sim().await;
    let (bytes, end) = everything(&sim, &request("reset")).await;
    assert_eq!(
        (bytes.len(), end.unwrap_err().kind()),
        (0, ErrorKind::ConnectionReset)
    );
    let (bytes, end) = everything(&sim, &request("hangup")).await;
    assert!(bytes.is_empty() && end.is_ok());
    // Data sent before a reset may be lost, so only the end is checked.
    let (_, end) = everything(&sim, &request("cut=900,cut-reset")).await;
    assert_eq!(end.unwrap_err().kind(), ErrorKind::ConnectionReset);
}

#[tokio::test]
async fn a_response_can_stall_and_the_disconnect_is_recorded() {
    let sim = sim().await;
    for (number, (behaviour, bytes)) in [("stall=0", 0), ("stall=50", 50), ("stall-events=1", 1000)]
        .into_iter()
        .enumerate()
    {
        let mut stream = TcpStream::connect(sim.addr()).await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut stream, request(behaviour).as_bytes())
            .await
            .unwrap();
        sim.wait_until(|requests| requests.len() == number + 1).await;
        let mut got = vec![0; bytes];
        stream.read_exact(&mut got).await.unwrap();
        assert!(sim.messages().last().unwrap().delivery().is_none());
        drop(stream);
        sim.wait_until(|requests| {
            requests
                .last()
                .is_some_and(|request| request.delivery().is_some())
        })
        .await;
        assert_eq!(
            sim.messages().last().unwrap().delivery().unwrap().end,
            End::ClientGone
        );
    }
}

#[tokio::test]
async fn a_disconnect_during_a_pause_is_detected_immediately() {
    let sim = sim().await;
    let mut wire = connect(&sim).await;
    wire.send(request("event-delay=60000").as_bytes()).await.unwrap();
    wire.read_head().await.unwrap().unwrap();
    let begun = Instant::now();
    drop(wire);
    sim.wait_until(|requests| requests[0].delivery().is_some()).await;
    assert_eq!(sim.messages()[0].delivery().unwrap().end, End::ClientGone);
    assert!(begun.elapsed() < Duration::from_secs(30));
}

#[tokio::test]
async fn error_statuses_have_the_apis_format() {
    let sim = sim().await;
    for (status, kind) in [
        (401, "authentication_error"),
        (403, "permission_error"),
        (404, "not_found_error"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (529, "overloaded_error"),
    ] {
        let answer = answer(&sim, &format!("status={status},retry-after=7")).await;
        assert_eq!(
            (answer.status(), answer.head.header("retry-after")),
            (status, Some("7"))
        );
        assert!(
            answer.text().contains(&format!(r#""error":{{"type":"{kind}""#)),
            "{}",
            answer.text()
        );
    }
}

#[tokio::test]
async fn streams_can_be_malformed_or_end_in_an_error() {
    let sim = sim().await;
    let malformed = answer(&sim, "malformed=3").await;
    assert!(malformed.text().ends_with("data: {\"type\":\"conte\n\n"));
    assert_eq!(malformed.frames.len(), 4);
    let error = answer(&sim, "error-event=3").await;
    assert!(
        error
            .text()
            .contains("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"")
    );
    assert!(!error.text().contains("message_stop"));
}

#[tokio::test]
async fn bodies_can_be_html_empty_or_json() {
    let sim = sim().await;
    let html = answer(&sim, "html").await;
    assert_eq!(html.head.header("content-type"), Some("text/html; charset=utf-8"));
    assert!(html.text().starts_with("<!DOCTYPE html>"));
    let empty = answer(&sim, "empty").await;
    assert_eq!((empty.status(), empty.text().len()), (200, 0));
    assert_eq!(empty.head.header("content-length"), Some("0"));
    let json = answer(&sim, "json").await;
    assert_eq!(json.head.header("content-type"), Some("application/json"));
    assert!(json.text().contains(r#""type":"message""#));
}

#[tokio::test]
async fn content_encodings_are_flushed_with_every_event() {
    let sim = sim().await;
    let plain = answer(&sim, "").await;
    for encoding in ["gzip", "deflate", "br", "zstd"] {
        let answer = answer(&sim, &format!("encoding={encoding}")).await;
        assert_eq!(answer.head.header("content-encoding"), Some(encoding));
        assert_eq!(answer.frames.len(), plain.frames.len());
        // The first frames alone contain the first events, completely.
        let first = unpack(encoding, &answer.frames[..2].concat());
        assert!(
            first.ends_with("\n\n") && first.contains("content_block_start"),
            "{encoding}: {first:?}"
        );
        let ids_removed = |text: &str| {
            text.lines()
                .filter(|line| !line.contains("message_start"))
                .count()
        };
        assert_eq!(
            ids_removed(&unpack(encoding, &answer.frames.concat())),
            ids_removed(&plain.text())
        );
    }
}

fn unpack(encoding: &str, data: &[u8]) -> String {
    let mut reader: Box<dyn Read> = match encoding {
        "gzip" => Box::new(flate2::read::GzDecoder::new(data)),
        "deflate" => Box::new(flate2::read::ZlibDecoder::new(data)),
        "br" => Box::new(brotli::Decompressor::new(data, 4096)),
        _ => Box::new(zstd::stream::read::Decoder::new(data).unwrap()),
    };
    let mut plain = Vec::new();
    // The truncated encoding ends in an error, but the flushed part is decoded.
    let mut piece = [0; 4096];
    while let Ok(read) = reader.read(&mut piece) {
        if read == 0 {
            break;
        }
        plain.extend_from_slice(&piece[..read]);
    }
    String::from_utf8(plain).unwrap()
}

#[tokio::test]
async fn frames_have_the_requested_size() {
    let sim = sim().await;
    let plain = answer(&sim, "").await;
    let text = plain.text();
    assert_eq!(plain.frames.len(), text.matches("event: ").count());
    let ones = answer(&sim, "frame=1").await;
    assert!(ones.frames.iter().all(|frame| frame.len() == 1));
    assert_eq!(ones.text().len(), text.len());
    assert_eq!(answer(&sim, "frame=whole").await.frames.len(), 1);
    let hundreds = answer(&sim, "frame=100,write=whole").await;
    assert_eq!(hundreds.frames.iter().map(Vec::len).max(), Some(100));
    // One byte per write, including the head; no byte is lost.
    assert_eq!(answer(&sim, "write=1").await.text().len(), text.len());
}

#[tokio::test]
async fn head_and_events_can_be_delayed() {
    let sim = sim().await;
    let begun = Instant::now();
    let mut wire = connect(&sim).await;
    wire.send(request("head-delay=80,event-delay=40").as_bytes())
        .await
        .unwrap();
    let head = wire.read_head().await.unwrap().unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(80));
    let mut body = wire.body(head.response_framing(false).unwrap());
    for _ in 0..3 {
        body.frame().await.unwrap();
    }
    // The first event arrives with the head; the second and the third one are delayed.
    assert!(
        begun.elapsed() >= Duration::from_millis(160),
        "{:?}",
        begun.elapsed()
    );
}

#[tokio::test]
async fn the_end_of_a_body_can_be_marked_in_every_way() {
    let sim = sim().await;
    let by_length = answer(&sim, "length").await;
    assert_eq!(
        by_length.head.header("content-length"),
        Some(by_length.text().len().to_string().as_str())
    );
    assert_eq!(by_length.head.header("transfer-encoding"), None);
    let until_close = answer(&sim, "until-close").await;
    assert_eq!(
        until_close.head.response_framing(false).unwrap(),
        Framing::UntilClose
    );
    assert!(until_close.text().ends_with("message_stop\"}\n\n"));
    let old = answer(&sim, "http10").await;
    assert!(old.head.line.starts_with("HTTP/1.0 200") && old.head.header("connection").is_none());
    let mut wire = connect(&sim).await;
    let closing = exchange(&mut wire, &request("connection-close")).await;
    assert_eq!(closing.head.header("connection"), Some("close"));
    assert!(wire.read_head().await.unwrap().is_none(), "and so it happens");
    let trailed = answer(&sim, "trailer=x-sum:abc,trailer=x-more:d").await;
    assert_eq!(trailed.trailers.len(), 2);
    assert_eq!(trailed.trailers[0], ("x-sum".to_owned(), "abc".to_owned()));
}

#[tokio::test]
async fn interim_responses_and_unusual_lines_can_be_sent() {
    let sim = sim().await;
    let mut wire = connect(&sim).await;
    wire.send(request("interim=103").as_bytes()).await.unwrap();
    assert_eq!(wire.read_head().await.unwrap().unwrap().status(), Some(103));
    assert_eq!(wire.read_head().await.unwrap().unwrap().status(), Some(200));
    let odd = answer(&sim, "crlf,comments").await;
    assert!(
        odd.text()
            .starts_with(": comment 0\r\n\r\nevent: message_start\r\n")
    );
}

#[tokio::test]
async fn rules_select_their_requests() {
    let sim = sim().await;
    sim.inject(Rule::new(When::Nth(2), Behaviour::fault(Fault::Status(529))));
    sim.inject(Rule::new(
        When::EveryNth(3),
        "status=500,times=1".parse().unwrap(),
    ));
    sim.inject(Rule::new(
        When::Path("/v1/models".to_owned()),
        Behaviour::fault(Fault::Status(503)),
    ));
    let mut wire = connect(&sim).await;
    let mut seen = Vec::new();
    for _ in 0..6 {
        seen.push(
            exchange(&mut wire, &messages_request(&ask("hi", false), ""))
                .await
                .status(),
        );
    }
    assert_eq!(seen, [200, 529, 500, 200, 200, 200]);
    assert_eq!(
        exchange(&mut wire, "GET /v1/models HTTP/1.1\r\n\r\n")
            .await
            .status(),
        503
    );
    sim.clear_rules();
    sim.inject(Rule::new(
        When::Always,
        Behaviour::fault(Fault::Cut(Point::Bytes(20))),
    ));
    wire.send(messages_request(&ask("hi", false), "").as_bytes())
        .await
        .unwrap();
    assert!(matches!(wire.read_head().await, Err(WireError::Truncated)));
}

#[tokio::test]
async fn a_prompt_can_carry_its_fault_for_one_request_of_one_step() {
    let sim = sim().await;
    let prompt = messages_request(&ask("hi [[sim:status=529,times=1,step=1]]", false), "");
    let mut wire = connect(&sim).await;
    let mut seen = Vec::new();
    for _ in 0..3 {
        seen.push(exchange(&mut wire, &prompt).await.status());
    }
    assert_eq!(seen, [529, 200, 200]);
    let elsewhere = messages_request(&ask("hi [[sim:status=529,step=2]]", false), "");
    assert_eq!(exchange(&mut wire, &elsewhere).await.status(), 200);
    let unknown = messages_request(&ask("hi [[sim:dance]]", false), "");
    assert_eq!(exchange(&mut wire, &unknown).await.status(), 400);
}

#[tokio::test]
async fn dropping_a_simulation_closes_its_connections() {
    let sim = sim().await;
    let mut wire: Wire<TcpStream> = connect(&sim).await;
    wire.send(request("stall-events=1").as_bytes()).await.unwrap();
    wire.read_head().await.unwrap().unwrap();
    sim.shutdown().await;
    let mut body = wire.body(Framing::Chunked);
    assert!(matches!(body.frame().await, Ok(Frame::Data(_))));
    assert!(body.frame().await.is_err());
}
