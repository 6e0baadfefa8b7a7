//! Vectors about responses.

use crate::kinds::settings;
use crate::matching::{contains, expect};
use bytes::BytesMut;
use grov_route::translate::{ResponseTranslator, Translator};
use serde_json::{Value, json};

/// A translator for a response to a small request.
fn translator(options: &Value, stream: bool) -> Result<ResponseTranslator, String> {
    let body = json!({"model": "x", "max_tokens": 9, "stream": stream, "messages": []});
    let translated = Translator::new(settings(options)?).request(body.to_string().as_bytes());
    Ok(translated.map_err(|error| error.to_string())?.response)
}

/// Translates a whole body.
pub(crate) fn response(input: &Value, options: &Value, expected: &Value) -> Result<(), String> {
    let mut translator = translator(options, false)?;
    translator.head(200, Some("application/json"));
    let mut out = BytesMut::new();
    let raw = input.get("raw").and_then(Value::as_str).map(str::to_owned);
    translator.chunk(raw.unwrap_or_else(|| input.to_string()).as_bytes(), &mut out);
    translator.end(&mut out);
    let body: Value = serde_json::from_slice(&out).map_err(|error| error.to_string())?;
    match expected.get("error") {
        Some(_) if body["type"] == "error" && translator.status() >= 400 => Ok(()),
        Some(_) => Err(format!("was translated: {body}")),
        None => expect(&expected["anthropic"], &body),
    }
}

/// Translates a stream, whole and byte by byte.
pub(crate) fn stream(input: &Value, options: &Value, expected: &Value) -> Result<(), String> {
    let mut text = input["raw"].as_str().unwrap_or_default().to_owned();
    for chunk in input["chunks"].as_array().into_iter().flatten() {
        text += &format!("data: {chunk}\n\n");
    }
    if input["done"] == true {
        text += "data: [DONE]\n\n";
    }
    for size in [text.len().max(1), 1] {
        let mut translator = translator(options, true)?;
        translator.head(200, Some("text/event-stream"));
        let mut out = BytesMut::new();
        for chunk in text.as_bytes().chunks(size) {
            translator.chunk(chunk, &mut out);
        }
        translator.end(&mut out);
        compare(&reduced(&out)?, expected)?;
    }
    Ok(())
}

/// The events of a stream that breaks off.
pub(crate) fn error(input: &Value, expected: &Value) -> Result<(), String> {
    let mut translator = translator(&json!({}), true)?;
    translator.head(200, None);
    let mut out = BytesMut::new();
    let error = json!({"error": {"type": input["type"], "message": input["message"]}});
    translator.chunk(format!("data: {error}\n\n").as_bytes(), &mut out);
    translator.end(&mut out);
    let mut events = reduced(&out)?;
    // The class of the error comes first in the message.
    if let Some(message) = events[0]["message"]
        .as_str()
        .and_then(|text| Some(text.split_once("] ")?.1.to_owned()))
    {
        events[0]["message"] = message.into();
    }
    expect(&expected["events"], &events.into())
}

fn compare(actual: &[Value], expected: &Value) -> Result<(), String> {
    let fail = || Err(format!("\n  expected {expected}\n  actual   {}", json!(actual)));
    let is_error = |event: &Value| event["e"] == "error";
    let ended = actual.iter().any(|event| event["e"] == "message_delta");
    if expected.get("error").is_some() || expected["error_event"] == true {
        if !actual.iter().any(is_error) || ended {
            return fail();
        }
        let prefix = expected["events_prefix"].as_array().cloned().unwrap_or_default();
        let matching = prefix
            .iter()
            .zip(actual)
            .filter(|(expected, actual)| contains(expected, actual));
        return if matching.count() == prefix.len() {
            Ok(())
        } else {
            fail()
        };
    }
    let wanted = joined(expected["events"].as_array().ok_or("no expectation")?);
    let same = wanted.len() == actual.len()
        && wanted
            .iter()
            .zip(actual)
            .all(|(wanted, found)| contains(wanted, found));
    if same { Ok(()) } else { fail() }
}

/// Reads an event stream of the Messages API in the short form of the vectors.
fn reduced(stream: &[u8]) -> Result<Vec<Value>, String> {
    let text = std::str::from_utf8(stream).map_err(|error| error.to_string())?;
    let events = text.split_terminator("\n\n").map(|event| {
        let (name, data) = event.split_once('\n').ok_or("an event without data")?;
        let data = data.strip_prefix("data: ").ok_or("no data line")?;
        let data: Value = serde_json::from_str(data).map_err(|error| error.to_string())?;
        let kind = data["type"].as_str().unwrap_or_default();
        if name != format!("event: {kind}") {
            return Err(format!("{name} has data of type {kind}"));
        }
        Ok(short(&data))
    });
    Ok(joined(&events.collect::<Result<Vec<_>, String>>()?))
}

fn short(event: &Value) -> Value {
    let index = &event["index"];
    match event["type"].as_str().unwrap_or_default() {
        "message_start" => {
            let message = &event["message"];
            let usage = &message["usage"];
            json!({"e": "message_start", "id": message["id"], "model": message["model"], "in": usage["input_tokens"]})
        }
        "content_block_start" => {
            let block = &event["content_block"];
            let mut short = json!({"e": "block_start", "i": index, "type": block["type"]});
            for key in ["id", "name"] {
                if let Some(value) = block.get(key) {
                    short[key] = value.clone();
                }
            }
            short
        }
        "content_block_delta" => delta(index, &event["delta"]),
        "content_block_stop" => json!({"e": "block_stop", "i": index}),
        "message_delta" => {
            let usage = &event["usage"];
            let (out, read) = (&usage["output_tokens"], &usage["input_tokens"]);
            json!({"e": "message_delta", "stop_reason": event["delta"]["stop_reason"], "out": out, "in": read})
        }
        "error" => {
            json!({"e": "error", "type": event["error"]["type"], "message": event["error"]["message"]})
        }
        other => json!({"e": other}),
    }
}

fn delta(index: &Value, delta: &Value) -> Value {
    match delta["type"].as_str().unwrap_or_default() {
        "text_delta" => json!({"e": "text", "i": index, "text": delta["text"]}),
        "thinking_delta" => json!({"e": "thinking", "i": index, "text": delta["thinking"]}),
        "input_json_delta" => json!({"e": "json", "i": index, "partial": delta["partial_json"]}),
        _ => json!({"e": "signature", "i": index}),
    }
}

/// Joins neighbouring deltas of the same block.
fn joined(events: &[Value]) -> Vec<Value> {
    let mut joined: Vec<Value> = Vec::new();
    for event in events {
        let key = if event["e"] == "json" { "partial" } else { "text" };
        match joined.last_mut() {
            Some(last) if last["e"] == event["e"] && last["i"] == event["i"] && event[key].is_string() => {
                let text = format!(
                    "{}{}",
                    last[key].as_str().unwrap_or_default(),
                    event[key].as_str().unwrap_or_default()
                );
                last[key] = text.into();
            }
            _ => joined.push(event.clone()),
        }
    }
    joined
}
