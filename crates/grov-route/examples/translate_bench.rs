//! Measures the translation: a request of 1 MB, and the events of a stream.
//!
//! `cargo run --release -p grov-route --example translate_bench`
#![allow(clippy::print_stdout, reason = "prints its results")]

use bytes::BytesMut;
use grov_route::{Transform, TranslateError, TranslationSettings, Translator};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const ROUNDS: usize = 200;
const EVENTS: usize = 20_000;

fn main() -> Result<(), TranslateError> {
    let chains: [&[&str]; 3] = [
        &[],
        &["schema:generic"],
        &["tooluse", "enhancetool", "schema:generic"],
    ];
    for names in chains {
        let transforms = names
            .iter()
            .filter_map(|name| Transform::parse(name).ok())
            .collect();
        let settings = TranslationSettings {
            transforms,
            ..TranslationSettings::default()
        };
        let translator = Translator::new(settings);
        let body = request();
        let took = median((0..ROUNDS).map(|_| time(|| translator.request(&body).map(|_| ()))))?;
        println!("{names:?}: request of {} bytes {took:?}", body.len());
        let took = median((0..ROUNDS / 10).map(|_| time(|| stream(&translator, &body))))?;
        let each = took.as_secs_f64() * 1e6 / EVENTS as f64;
        println!("{names:?}: {each:.3} µs an event");
    }
    Ok(())
}

fn time(work: impl FnOnce() -> Result<(), TranslateError>) -> Result<Duration, TranslateError> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed())
}

fn median(times: impl Iterator<Item = Result<Duration, TranslateError>>) -> Result<Duration, TranslateError> {
    let mut times = times.collect::<Result<Vec<_>, _>>()?;
    times.sort();
    Ok(times[times.len() / 2])
}

/// A request like those of a long session: many tools, long results with line feeds and quotes.
fn request() -> Vec<u8> {
    let property = json!({"type": "string", "description": "A path.", "additionalProperties": false});
    let tool = |at: usize| {
        let schema = json!({"type": "object", "properties": {"path": property, "lines": {"type": "array", "items": property}}});
        json!({"name": format!("tool{at}"), "description": "Reads a file.\n".repeat(40), "input_schema": schema})
    };
    let line = "    let value = \"text\"; // a line of a file\n";
    let turn = |at: usize| {
        let call = json!({"type": "tool_use", "id": format!("t{at}"), "name": "tool1", "input": {"path": "/src/lib.rs", "text": line.repeat(20)}});
        let result = json!({"type": "tool_result", "tool_use_id": format!("t{at}"), "content": [{"type": "text", "text": line.repeat(90)}]});
        [
            json!({"role": "assistant", "content": [{"type": "text", "text": "I will read it."}, call]}),
            json!({"role": "user", "content": [result]}),
        ]
    };
    let body = json!({
        "model": "x", "max_tokens": 32000, "stream": true,
        "system": [{"type": "text", "text": "Be careful.\n".repeat(1000)}],
        "tools": (0..40).map(tool).collect::<Vec<Value>>(),
        "messages": (0..165).flat_map(turn).collect::<Vec<Value>>(),
    });
    body.to_string().into_bytes()
}

/// Translates a stream of small events, each in a chunk of its own.
fn stream(translator: &Translator, request: &[u8]) -> Result<(), TranslateError> {
    let chunk = json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [{"index": 0, "delta": {"content": " word"}, "finish_reason": null}]});
    let event = format!("data: {chunk}\n\n").into_bytes();
    let mut response = translator.request(request)?.response;
    response.head(200, Some("text/event-stream"));
    let mut out = BytesMut::new();
    for _ in 0..EVENTS {
        response.chunk(&event, &mut out);
        out.clear();
    }
    response.end(&mut out);
    Ok(())
}
