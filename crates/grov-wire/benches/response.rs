//! Measures the parsing of responses: a stream of 300 small events, at once and event by event, and 300 short JSON bodies.
//!
//! `cargo bench -p grov-wire --bench response` prints the fastest and the median run of each case, per response and per event.
//! Arguments after `--` select cases by a part of their name.
#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a bench talks to a person and stops at the first surprise"
)]

use flate2::Compression;
use flate2::write::GzEncoder;
use grov_wire::response::{ResponseTap, SseDecoder, TurnEnd};
use serde_json::Value;
use std::hint::black_box;
use std::io::Write;
use std::time::{Duration, Instant};

const RUNS: usize = 3000;
const EVENTS: usize = 300;

/// The content of the deltas.
#[derive(Clone, Copy)]
enum Shape {
    /// As in real responses: 80 % text, mostly without escapes, then tool input with a file.
    Usual,
    /// Only tool input, with 6 escapes per event.
    Escapes,
}

/// Returns the events of a response, as the upstream writes them.
fn answer(shape: Shape) -> Vec<String> {
    let event = |name: &str, data: String| format!("event: {name}\ndata: {data}\n\n");
    let block = |index: usize, block: &str| {
        let data = format!(r#"{{"type":"content_block_start","index":{index},"content_block":{block}}}"#);
        event("content_block_start", data)
    };
    let delta = |index: usize, kind: &str, field: &str, string: &str| {
        let delta = format!(r#"{{"type":"{kind}","{field}":"{string}"}}"#);
        let data = format!(r#"{{"type":"content_block_delta","index":{index},"delta":{delta}}}"#);
        event("content_block_delta", data)
    };
    let stop = |index| {
        event(
            "content_block_stop",
            format!(r#"{{"type":"content_block_stop","index":{index}}}"#),
        )
    };
    let mut events = vec![
        event(
            "message_start",
            r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-4-8","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":12,"cache_creation_input_tokens":100,"cache_read_input_tokens":2000,"cache_creation":{"ephemeral_5m_input_tokens":100,"ephemeral_1h_input_tokens":0},"output_tokens":1,"service_tier":"standard"}}}"#.to_owned(),
        ),
        block(0, r#"{"type":"text","text":""}"#),
        event("ping", r#"{"type": "ping"}"#.to_owned()),
    ];
    let texts = match shape {
        Shape::Usual => EVENTS * 4 / 5,
        Shape::Escapes => 0,
    };
    for number in 0..texts {
        let text = match number % 8 {
            0 => "\\n\\n- the `parser`",
            1 | 4 => " of",
            2 => " every connection,",
            3 => " it says \\\"no\\\"",
            5 => " the request’s headers",
            6 => " is",
            _ => " driven by the exchange",
        };
        events.push(delta(0, "text_delta", "text", text));
    }
    events.push(stop(0));
    events.push(block(
        1,
        r#"{"type":"tool_use","id":"toolu_1","name":"Write","input":{}}"#,
    ));
    for number in 0..EVENTS - texts - 8 {
        let json = match shape {
            Shape::Usual => format!(r"let v{number} = compute({number});\\n    "),
            Shape::Escapes => format!(r#"\"key{number}\": \"v\\n\", "#),
        };
        events.push(delta(1, "input_json_delta", "partial_json", &json));
    }
    events.push(stop(1));
    events.push(event(
        "message_delta",
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"input_tokens":12,"cache_creation_input_tokens":100,"cache_read_input_tokens":2000,"output_tokens":600}}"#.to_owned(),
    ));
    events.push(event("message_stop", r#"{"type":"message_stop"}"#.to_owned()));
    assert_eq!(events.len(), EVENTS);
    events
}

fn observe<'a>(encoding: Option<&str>, chunks: impl Iterator<Item = &'a [u8]>) {
    let mut tap = ResponseTap::new(200, Some("text/event-stream"), encoding);
    for chunk in chunks {
        tap.feed(black_box(chunk));
    }
    let turn = black_box(tap.finish(true));
    assert_eq!((turn.end, turn.blocks.len()), (TurnEnd::Complete, 2));
}

/// Returns a JSON response of 1.5 KB.
fn json_answer() -> String {
    let text = r#"The function reads `config.toml` and returns a Result; the caller must handle \"not found\" errors.\n\nLet me check src/main.rs first — then run the tests naïvely 3 times. "#;
    let text = text.repeat(6);
    let call =
        r#"{"type":"tool_use","id":"toolu_1","name":"Read","input":{"file_path":"/repo/src/main.rs"}}"#;
    let usage = r#"{"input_tokens":12,"cache_creation_input_tokens":100,"cache_read_input_tokens":2000,"cache_creation":{"ephemeral_5m_input_tokens":100,"ephemeral_1h_input_tokens":0},"output_tokens":240,"service_tier":"standard"}"#;
    format!(
        r#"{{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-4-8","content":[{{"type":"text","text":"{text}"}},{call}],"stop_reason":"tool_use","stop_sequence":null,"usage":{usage}}}"#
    )
}

fn measure(case: &str, mut job: impl FnMut()) {
    let mut wanted = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"))
        .peekable();
    if wanted.peek().is_some() && !wanted.any(|part| case.contains(&part)) {
        return;
    }
    let mut times: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            job();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    let microseconds = |time: Duration| time.as_secs_f64() * 1e6;
    let (fastest, median) = (microseconds(times[0]), microseconds(times[RUNS / 2]));
    println!(
        "{case:<34} answer {fastest:>8.1} µs (median {median:>8.1})   event {:>7.1} ns (median {:>7.1})",
        fastest * 1e3 / EVENTS as f64,
        median * 1e3 / EVENTS as f64,
    );
}

fn main() {
    let events = answer(Shape::Usual);
    let burst = events.concat().into_bytes();
    let escapes = answer(Shape::Escapes).concat().into_bytes();
    let crlf = String::from_utf8(burst.clone())
        .expect("our own text")
        .replace('\n', "\r\n")
        .into_bytes();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let mut flushed: Vec<Vec<u8>> = Vec::new();
    for event in &events {
        encoder.write_all(event.as_bytes()).expect("writing to memory");
        encoder.flush().expect("writing to memory");
        flushed.push(std::mem::take(encoder.get_mut()));
    }
    flushed.push(encoder.finish().expect("writing to memory"));

    println!("{EVENTS} events, {} bytes, {RUNS} runs", burst.len());
    measure("one burst", || observe(None, std::iter::once(&burst[..])));
    measure("event by event", || {
        observe(None, events.iter().map(String::as_bytes))
    });
    measure("pieces of 1,400 bytes", || observe(None, burst.chunks(1400)));
    measure("pieces of 50 bytes", || observe(None, burst.chunks(50)));
    measure("one burst, CRLF", || observe(None, std::iter::once(&crlf[..])));
    measure("one burst, six escapes each", || {
        observe(None, std::iter::once(&escapes[..]))
    });
    measure("gzip, flushed for each event", || {
        observe(Some("gzip"), flushed.iter().map(Vec::as_slice))
    });
    let json = json_answer();
    measure("300 whole JSON answers", || {
        for _ in 0..EVENTS {
            let mut tap = ResponseTap::new(200, Some("application/json"), None);
            tap.feed(black_box(json.as_bytes()));
            let turn = black_box(tap.finish(true));
            assert_eq!((turn.end, turn.blocks.len()), (TurnEnd::Complete, 2));
        }
    });
    measure("splitting into events alone", || {
        let mut seen = 0;
        SseDecoder::new().feed(black_box(&burst), |event| {
            seen += usize::from(!event.data.is_empty())
        });
        assert_eq!(black_box(seen), EVENTS);
    });
    measure("for scale: serde_json trees", || {
        SseDecoder::new().feed(black_box(&burst), |event| {
            black_box(serde_json::from_slice::<Value>(event.data).expect("our own JSON"));
        });
    });
}
