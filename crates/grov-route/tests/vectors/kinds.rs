//! One function for each kind of vector.

use crate::matching::expect;
use crate::{choosing, stream};
use grov_route::translate::{
    Api, ErrorCategory, Event, Failure, Finish, Phase, ReasoningField, ResponseChain, Transform,
    TranslationSettings, Translator, chat_events, client_status, error_body, redact_provider_text, repair,
    run_order, tool_id, transform_request,
};
use serde_json::{Map, Value, json};

/// Checks one vector.
pub(crate) fn check(kind: &str, vector: &Value) -> Result<(), String> {
    let (input, options, expected) = (&vector["input"], &vector["options"], &vector["expect"]);
    match kind {
        "request" => request(input, options, expected),
        "response" => stream::response(input, options, expected),
        "stream" => stream::stream(input, options, expected),
        "transform_request" => request_transform(input, options, expected),
        "transform_response" => response_transform(input, options, expected),
        "json_repair" => json_repair(input, expected),
        "error_class" => {
            let category = ErrorCategory::of(input["message"].as_str().unwrap_or_default());
            expect(&expected["category"], &category.to_string().into())
        }
        "error_body" => {
            let text = |key: &str| input[key].as_str().unwrap();
            expect(&expected["json"], &error_body(text("type"), text("message")))
        }
        "stream_error" => stream::error(input, expected),
        "status_map" => status(input, expected),
        "finish_reason" => {
            let reason = Finish::parse(input["finish_reason"].as_str().unwrap_or_default());
            expect(&expected["stop_reason"], &reason.stop_reason().into())
        }
        "tool_id" => expect(&expected["id"], &tool_id(input["id"].as_str().unwrap()).into()),
        "redact" => expect(
            &expected["text"],
            &redact_provider_text(input["text"].as_str().unwrap()).into(),
        ),
        "chain_order" => chain_order(input, expected),
        // Choosing the model.
        "marker" => choosing::marker(input, expected),
        "config" => choosing::config(input, expected),
        other => Err(format!("no such kind: {other}")),
    }
}

/// The settings that the options of a vector describe, or the name that is no transform.
pub(crate) fn settings(options: &Value) -> Result<TranslationSettings, String> {
    let text = |key: &str| options[key].as_str().unwrap_or_default().to_owned();
    let names = options["transforms"].as_array().cloned().unwrap_or_default();
    let transforms: Result<Vec<_>, _> = names
        .iter()
        .map(|name| Transform::parse(name.as_str().unwrap()))
        .collect();
    Ok(TranslationSettings {
        label: text("label"),
        model: text("model"),
        api: if options["api"] == "responses" {
            Api::Responses
        } else {
            Api::Chat
        },
        max_tokens: options["max_tokens_cap"].as_u64(),
        transforms: transforms.map_err(|error| error.to_string())?,
        params: options["params"].as_object().cloned().unwrap_or_default(),
    })
}

fn request(input: &Value, options: &Value, expected: &Value) -> Result<(), String> {
    let translated = Translator::new(settings(options)?).request(input.to_string().as_bytes());
    match (translated, expected.get("error")) {
        (Err(_), Some(_)) => Ok(()),
        (Ok(_), Some(_)) => Err("was translated".to_owned()),
        (Err(error), None) => Err(error.to_string()),
        (Ok(translated), None) => {
            let body = serde_json::from_slice(&translated.body).unwrap();
            let form = if options["api"] == "responses" {
                "responses"
            } else {
                "openai"
            };
            expect(&expected[form], &body)
        }
    }
}

fn request_transform(input: &Value, options: &Value, expected: &Value) -> Result<(), String> {
    let transform = Transform::parse(options["transform"].as_str().unwrap()).map_err(|e| e.to_string())?;
    let params = options["params"].as_object().cloned().unwrap_or_default();
    let body = transform_request(&[transform], None, &params, input.to_string().as_bytes());
    let body: Value = serde_json::from_slice(&body.map_err(|e| e.to_string())?).unwrap();
    expect(&expected["request"], &body)
}

/// Runs a transform over the events of a body, and writes them in the form of Chat Completions again.
fn response_transform(input: &Value, options: &Value, expected: &Value) -> Result<(), String> {
    let transform = Transform::parse(options["transform"].as_str().unwrap()).map_err(|e| e.to_string())?;
    let mut chain = ResponseChain::new(&[transform]);
    chain.whole();
    let mut events = Vec::new();
    for event in chat_events(input.to_string().as_bytes()).ok_or("unreadable")? {
        chain.event(event, &mut events);
    }
    let mut body = input.clone();
    rewrite(&mut body["choices"][0], &events);
    let mut expected = expected["response"].clone();
    // Events carry no signature: the writer of the blocks adds it.
    if let Some(thinking) = expected
        .pointer_mut("/choices/0/message/thinking")
        .and_then(Value::as_object_mut)
    {
        thinking.remove("signature");
    }
    expect(&expected, &body)
}

/// Replaces in a choice what events describe.
fn rewrite(choice: &mut Value, events: &[Event]) {
    let finished = choice.get("finish_reason").is_some();
    let message = choice["message"].as_object_mut().unwrap();
    for key in ["content", "reasoning", "reasoning_content", "tool_calls"] {
        if !message.get(key).is_some_and(Value::is_null) {
            message.remove(key);
        }
    }
    let mut calls: Vec<(usize, Value)> = Vec::new();
    for event in events {
        match event {
            Event::Text(text) => append(message, "content", text),
            Event::Reasoning {
                field: ReasoningField::Content,
                text,
            } => append(message, "reasoning_content", text),
            Event::Reasoning {
                field: ReasoningField::Reasoning,
                text,
            } => append(message, "reasoning", text),
            Event::Thinking(text) => {
                let thinking = message.entry("thinking").or_insert_with(|| json!({}));
                append(thinking.as_object_mut().unwrap(), "content", text);
            }
            Event::ToolStart { call, id, name } => {
                let function = json!({"name": name, "arguments": ""});
                calls.push((*call, json!({"id": id, "type": "function", "function": function})));
            }
            Event::ToolArguments { call, text } => {
                let (_, value) = calls.iter_mut().find(|known| known.0 == *call).unwrap();
                append(value["function"].as_object_mut().unwrap(), "arguments", text);
            }
            _ => {}
        }
    }
    if !calls.is_empty() {
        let calls: Vec<Value> = calls.into_iter().map(|call| call.1).collect();
        message.insert("tool_calls".to_owned(), calls.into());
    }
    let finish = events.iter().rev().find_map(|event| match event {
        Event::Finish(finish) => Some(*finish),
        _ => None,
    });
    if let Some(finish) = finish.filter(|_| finished) {
        let known = match finish {
            Finish::Stop | Finish::StopSequence => "stop",
            Finish::ToolCalls => "tool_calls",
            Finish::Length => "length",
            Finish::Refusal => "content_filter",
        };
        choice["finish_reason"] = known.into();
    }
}

fn append(object: &mut Map<String, Value>, key: &str, text: &str) {
    let old = object.get(key).and_then(Value::as_str).unwrap_or_default();
    object.insert(key.to_owned(), format!("{old}{text}").into());
}

/// A repair may print differently, so values are compared.
fn json_repair(input: &Value, expected: &Value) -> Result<(), String> {
    let parse = |text: &str| serde_json::from_str::<Value>(text).map_err(|error| error.to_string());
    let repaired = repair(input["text"].as_str().unwrap());
    expect(&parse(expected["text"].as_str().unwrap())?, &parse(&repaired)?)
}

fn status(input: &Value, expected: &Value) -> Result<(), String> {
    if let Some(status) = input["status"].as_u64() {
        let status = u16::try_from(status).unwrap();
        let failure = Failure::provider(status, b"");
        expect(&expected["status"], &client_status(status).into())?;
        expect(&expected["status"], &failure.status.into())?;
        return expected
            .get("type")
            .map_or(Ok(()), |kind| expect(kind, &failure.kind.into()));
    }
    let failure = match input["situation"].as_str().unwrap() {
        "body_shorter_than_content_length" => Failure::transport("unexpected end of file"),
        "request_transform_error" => Failure::translation("a transform failed"),
        situation => return choosing::local(situation, expected),
    };
    expect(&expected["status"], &failure.status.into())?;
    expect(&expected["type"], &failure.kind.into())?;
    expected.get("category").map_or(Ok(()), |category| {
        expect(category, &failure.category.to_string().into())
    })
}

fn chain_order(input: &Value, expected: &Value) -> Result<(), String> {
    let names: Vec<&str> = input["chain"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap())
        .collect();
    let phase = match input["phase"].as_str().unwrap() {
        "request" => Phase::Request,
        "response" | "stream" => Phase::Response,
        _ => {
            let known = names.iter().all(|name| Transform::parse(name).is_ok());
            return expect(&expected["error"], &(!known).into());
        }
    };
    expect(&expected["order"], &run_order(&names, phase, |_| 0).into())
}
