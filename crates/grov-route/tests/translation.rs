//! Properties of the translation, and single cases that vectors cannot express.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use bytes::BytesMut;
use grov_redact::Secret;
use grov_route::{Api, ResponseTranslator, Transform, TranslationSettings, Translator};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

fn translator(api: Api, transforms: &[Transform]) -> Translator {
    Translator::new(TranslationSettings {
        label: "fast".to_owned(),
        model: "small".to_owned(),
        api,
        transforms: transforms.to_vec(),
        ..TranslationSettings::default()
    })
}

fn response(api: Api, transforms: &[Transform], stream: bool) -> ResponseTranslator {
    let tools = json!([{"name": "f", "input_schema": {"type": "object"}}]);
    let body = json!({"model": "x", "max_tokens": 9, "stream": stream, "messages": [], "tools": tools});
    translator(api, transforms)
        .request(body.to_string().as_bytes())
        .unwrap()
        .response
}

/// Translates a response in chunks of `size` bytes.
fn translate(mut translator: ResponseTranslator, text: &[u8], size: usize) -> String {
    translator.head(200, None);
    let mut out = BytesMut::new();
    for chunk in text.chunks(size.max(1)) {
        translator.chunk(chunk, &mut out);
    }
    translator.end(&mut out);
    assert!(translator.is_done());
    String::from_utf8(out.to_vec()).unwrap()
}

/// The events of a stream, with made-up ids replaced.
fn events(stream: &str) -> Vec<Value> {
    let data = stream.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| {
        let mut event: Value = serde_json::from_str(data).unwrap();
        for pointer in ["/content_block/id", "/message/id"] {
            if let Some(id) = event.pointer_mut(pointer) {
                let made_up = id.as_str().unwrap().len() >= 28;
                *id = if made_up { "made-up".into() } else { id.take() };
            }
        }
        event
    })
    .collect()
}

/// Checks that blocks are opened and closed in turn, and that the message ends once.
fn assert_protocol(events: &[Value]) {
    let mut open = None;
    let mut next = 0;
    let kinds: Vec<&str> = events
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    for (event, kind) in events.iter().zip(&kinds) {
        let index = event["index"].as_u64();
        match *kind {
            "content_block_start" => {
                assert_eq!((open, index), (None, Some(next)), "{events:?}");
                open = index;
            }
            "content_block_delta" => assert_eq!(open, index, "{events:?}"),
            "content_block_stop" => {
                assert_eq!(open.take(), index, "{events:?}");
                next += 1;
            }
            "message_delta" => assert_eq!(open, None, "{events:?}"),
            _ => {}
        }
    }
    let count = |kind: &str| kinds.iter().filter(|known| **known == kind).count();
    assert_eq!(kinds.last(), Some(&"message_stop"), "{events:?}");
    assert_eq!(count("message_delta") + count("error"), 1, "{events:?}");
    assert_eq!(count("message_stop"), 1, "{events:?}");
    assert!(
        count("message_start") == 1 || count("error") == 1 && kinds.len() == 2,
        "{events:?}"
    );
}

fn any_transforms() -> impl Strategy<Value = Vec<Transform>> {
    proptest::sample::subsequence(Transform::ALL.to_vec(), 0..6)
}

/// A line of a stream, as providers send it or not.
fn any_line() -> impl Strategy<Value = String> {
    let delta = |delta: Value| json!({"id": "r", "choices": [{"index": 0, "delta": delta}]}).to_string();
    let text = "(<think>|</think>|<tool_call>|</tool_call>|\\{\"name\":\"f\"\\}| |a|<|é|\n){0,4}";
    let call = (
        proptest::option::of(0u64..3),
        proptest::option::of("[ab0]{0,2}"),
        proptest::option::of("(f|g|ExitTool)?"),
        "(\\{|\\}|\"a\":|1|'|,){0,4}",
    );
    prop_oneof![
        text.prop_map(move |text| delta(json!({"content": text}))),
        "[ab]{0,3}".prop_map(move |text| delta(json!({"reasoning_content": text}))),
        call.prop_map(move |(index, id, name, arguments)| {
            let function = json!({"name": name, "arguments": arguments});
            delta(json!({"tool_calls": [{"index": index, "id": id, "function": function}]}))
        }),
        "(stop|length|tool_calls|content_filter|x)"
            .prop_map(|reason| json!({"choices": [{"delta": {}, "finish_reason": reason}]}).to_string()),
        (0u64..99, 0u64..99).prop_map(|(prompt, completion)| {
            json!({"choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": completion}})
                .to_string()
        }),
        Just("{\"error\":{\"message\":\"m\"}}".to_owned()),
        Just("[DONE]".to_owned()),
        "[{}\\[\"a]{0,4}",
    ]
}

/// A content block of a request, in one of the forms that clients send.
fn any_block() -> impl Strategy<Value = Value> {
    let png = json!({"type": "base64", "media_type": "image/png", "data": "AA"});
    proptest::sample::select(vec![
        json!({"type": "text", "text": "a"}),
        json!({"type": "text", "text": ""}),
        json!({"type": "image", "source": png}),
        json!({"type": "document", "source": {"type": "text", "data": "d"}}),
        json!({"type": "document", "source": {"type": "base64", "data": "AA"}}),
        json!({"type": "search_result", "source": "https://e.x", "title": "t", "content": [{"type": "text", "text": "s"}]}),
        json!({"type": "thinking", "thinking": "h", "signature": "s"}),
        json!({"type": "redacted_thinking", "data": "x"}),
        json!({"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}}),
        json!({"type": "tool_result", "tool_use_id": "t", "content": [{"type": "image", "source": png}, {"type": "text", "text": "r"}]}),
        json!({"type": "tool_result", "tool_use_id": "t", "is_error": true}),
        json!({"type": "web_search_tool_result", "tool_use_id": "w", "content": {"type": "web_search_tool_result_error"}}),
        json!({"type": "of the future", "x": [null]}),
    ])
}

fn any_message() -> impl Strategy<Value = Value> {
    let role = proptest::sample::select(vec!["user", "assistant", "system"]);
    let content = proptest::collection::vec(any_block(), 0..5);
    (role, content).prop_map(|(role, content)| json!({"role": role, "content": content}))
}

proptest! {
    #[test]
    fn messages_satisfy_the_rules_of_chat_completions(
        messages in proptest::collection::vec(any_message(), 0..8),
        transforms in any_transforms(),
    ) {
        let body = json!({"messages": messages, "tools": [{"name": "f"}]});
        let translated = translator(Api::Chat, &transforms).request(body.to_string().as_bytes()).unwrap();
        let chat: Value = serde_json::from_slice(&translated.body).unwrap();
        let mut before = "";
        let mut any_turn = false;
        for message in chat["messages"].as_array().unwrap() {
            let role = message["role"].as_str().unwrap();
            prop_assert!(message["content"].is_string() || message["content"].is_array() || message["tool_calls"].is_array());
            prop_assert!(message.get("thinking").is_none());
            // A result follows a turn of the assistant, or another result, if there is any.
            prop_assert!(role != "tool" || !any_turn || matches!(before, "assistant" | "tool"), "{}", chat);
            any_turn |= matches!(role, "assistant" | "tool");
            before = role;
        }
        let responses = translator(Api::Responses, &transforms).request(body.to_string().as_bytes()).unwrap();
        let responses: Value = serde_json::from_slice(&responses.body).unwrap();
        for item in responses["input"].as_array().unwrap() {
            prop_assert!(item["role"].is_string() || item["type"].is_string());
        }
    }

    #[test]
    fn chunks_of_a_stream_do_not_matter(
        lines in proptest::collection::vec(any_line(), 0..12),
        transforms in any_transforms(),
        size in 1usize..40,
    ) {
        let text: String = lines.iter().map(|line| format!("data: {line}\n\n")).collect();
        let whole = events(&translate(response(Api::Chat, &transforms, true), text.as_bytes(), text.len()));
        let parts = events(&translate(response(Api::Chat, &transforms, true), text.as_bytes(), size));
        assert_protocol(&whole);
        prop_assert_eq!(whole, parts);
    }

    #[test]
    fn a_stream_for_a_client_that_wants_a_body_becomes_one(
        lines in proptest::collection::vec(any_line(), 0..12),
        transforms in any_transforms(),
    ) {
        let text: String = lines.iter().map(|line| format!("data: {line}\n\n")).collect();
        let body = translate(response(Api::Chat, &transforms, false), text.as_bytes(), 50);
        let body: Value = serde_json::from_str(&body).unwrap();
        prop_assert!(body["type"] == "message" || body["type"] == "error");
    }

    #[test]
    fn any_bytes_become_a_complete_response(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        json in "[{\\[\"a-z:,_0-9\\]}]{0,60}",
        responses in any::<bool>(),
    ) {
        let api = if responses { Api::Responses } else { Api::Chat };
        for text in [bytes, json.clone().into_bytes(), format!("data: {json}\n\ndata: [DONE]\n").into_bytes()] {
            assert_protocol(&events(&translate(response(api, &[], true), &text, 7)));
            let body: Value = serde_json::from_str(&translate(response(api, &[], false), &text, 7)).unwrap();
            prop_assert!(body["type"] == "message" || body["type"] == "error");
        }
    }

    #[test]
    fn any_request_is_translated_or_refused(text in "\\PC{0,60}", blocks in "[{\\[\"a-z:,_0-9\\]}]{0,60}") {
        for api in [Api::Chat, Api::Responses] {
            let translator = translator(api, &Transform::ALL);
            for body in [text.clone(), format!("{{\"messages\":[{{\"role\":\"user\",\"content\":{blocks}}}]}}")] {
                if let Ok(translated) = translator.request(body.as_bytes()) {
                    let body: Value = serde_json::from_slice(&translated.body).unwrap();
                    prop_assert!(body["model"] == "small");
                }
            }
        }
    }
}

#[test]
fn untouched_inputs_and_schemas_keep_their_text() {
    let body = br#"{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{"z":1.0,"a":{"y":2,"b":3}}}]}],
        "tools":[{"name":"f","input_schema":{"z":1,"type":"object","properties":{"q":{},"b":{}}}}]}"#;
    let translated = translator(Api::Chat, &[]).request(body).unwrap();
    let text = String::from_utf8(translated.body).unwrap();
    assert!(
        text.contains(r#""arguments":"{\"z\":1.0,\"a\":{\"y\":2,\"b\":3}}""#),
        "{text}"
    );
    assert!(
        text.contains(r#""parameters":{"z":1,"type":"object","properties":{"q":{},"b":{}}}"#),
        "{text}"
    );
    let schema = Transform::parse("schema:gemini").unwrap();
    let cleaned = translator(Api::Chat, &[schema]).request(body).unwrap();
    let text = String::from_utf8(cleaned.body).unwrap();
    assert!(
        text.contains(r#""parameters":{"z":1,"type":"object","properties":{"q":{},"b":{}}}"#),
        "{text}"
    );
}

#[test]
fn an_endless_answer_ends_with_an_error() {
    for stream in [true, false] {
        for beginning in ["data: {\"a\":\"", "{\"a\":\""] {
            let mut translator = response(Api::Chat, &[], stream);
            translator.head(200, None);
            let mut out = BytesMut::new();
            translator.chunk(beginning.as_bytes(), &mut out);
            let chunk = vec![b'x'; 1 << 20];
            let chunks = (0..1000).take_while(|_| {
                translator.chunk(&chunk, &mut out);
                !translator.is_done()
            });
            assert!(chunks.count() < 64);
            assert!(String::from_utf8_lossy(&out).contains("exceeds 33554432 bytes"));
        }
    }
}

#[test]
fn an_error_of_a_provider_keeps_its_status_class() {
    for (status, body, client, kind) in [
        (
            429,
            r#"{"error":{"message":"slow down"}}"#,
            429,
            "rate_limit_error",
        ),
        (
            401,
            r#"{"error":{"message":"bad key sk-abcdefghijkl"}}"#,
            400,
            "api_error",
        ),
        (500, "<html>", 502, "api_error"),
    ] {
        let mut translator = response(Api::Chat, &[], true);
        assert_eq!(translator.head(status, Some("application/json")), client);
        assert_eq!(translator.content_type(), "application/json");
        let mut out = BytesMut::new();
        translator.chunk(body.as_bytes(), &mut out);
        translator.end(&mut out);
        let body: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(body["error"]["type"], kind);
        let message = body["error"]["message"].as_str().unwrap();
        assert!(
            message.starts_with(&format!("[HTTP_{status}] ")) && !message.contains("abcdefgh"),
            "{message}"
        );
    }
}

#[test]
fn a_cut_stream_never_looks_complete() {
    let chunk = json!({"id": "r", "choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}]});
    let mut translator = response(Api::Chat, &[], true);
    translator.head(200, None);
    let mut out = BytesMut::new();
    translator.chunk(format!("data: {chunk}\n\n").as_bytes(), &mut out);
    translator.abort("connection reset by peer", &mut out);
    let events = events(std::str::from_utf8(&out).unwrap());
    assert_protocol(&events);
    let error = &events[events.len() - 2];
    assert_eq!(error["error"]["message"], "[CONNECTION] connection reset by peer");
}

#[test]
fn calls_written_as_text_become_calls() {
    let text = "Let me look.\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"b\": 1, \"a\": 2}}\n</tool_call>\n\
        <tool_call>{\"name\": \"unknown\"}</tool_call>";
    let body =
        json!({"id": "r", "choices": [{"message": {"content": text}, "finish_reason": "stop"}]}).to_string();
    let enhance = Transform::parse("enhancetool").unwrap();
    let out = translate(response(Api::Chat, &[enhance], false), body.as_bytes(), 10);
    assert!(out.contains(r#""input":{"b": 1, "a": 2}"#), "{out}");
    let message: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(message["stop_reason"], "tool_use");
    let text = message["content"][0]["text"].as_str().unwrap();
    assert_eq!(
        text,
        "Let me look.\n<tool_call>{\"name\": \"unknown\"}</tool_call>"
    );
}

#[test]
fn a_call_that_the_token_limit_cut_is_not_repaired() {
    let call = json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{\"text\": \"half"}});
    let chunks = [
        json!({"id": "r", "choices": [{"delta": {"tool_calls": [call]}}]}),
        json!({"choices": [{"delta": {}, "finish_reason": "length"}]}),
    ];
    let text: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    let enhance = Transform::parse("enhancetool").unwrap();
    let out = translate(response(Api::Chat, &[enhance], true), text.as_bytes(), 1000);
    assert!(
        out.contains(r#""partial_json":"{\"text\": \"half""#) && out.contains("max_tokens"),
        "{out}"
    );
}

#[test]
fn an_answer_through_the_exit_tool_streams() {
    let chain = ["tooluse", "enhancetool", "schema:generic"].map(|name| Transform::parse(name).unwrap());
    let mut translator = response(Api::Chat, &chain, true);
    translator.head(200, None);
    let mut seen = Vec::new();
    for (at, part) in ["{\"respon", "se\": \"Hel", "lo \\u00e", "9\\", "n you\"", "}"]
        .into_iter()
        .enumerate()
    {
        let function = json!({"name": if at == 0 { "ExitTool" } else { "" }, "arguments": part});
        let chunk =
            json!({"id": "r", "choices": [{"delta": {"tool_calls": [{"index": 0, "function": function}]}}]});
        let mut out = BytesMut::new();
        translator.chunk(format!("data: {chunk}\n\n").as_bytes(), &mut out);
        let events = events(std::str::from_utf8(&out).unwrap());
        let texts = events.iter().filter_map(|event| event["delta"]["text"].as_str());
        seen.push(texts.collect::<String>());
    }
    assert_eq!(seen, ["", "Hel", "", "", "lo é\n you", ""]);
}

#[test]
fn the_exit_tool_may_be_called_as_text() {
    let chain = ["tooluse", "enhancetool"].map(|name| Transform::parse(name).unwrap());
    let text = "<tool_call>{\"name\": \"ExitTool\", \"arguments\": {\"response\": \"done\"}}</tool_call>";
    let body =
        json!({"id": "r", "choices": [{"message": {"content": text}, "finish_reason": "stop"}]}).to_string();
    let message: Value = serde_json::from_str(&translate(
        response(Api::Chat, &chain, false),
        body.as_bytes(),
        10,
    ))
    .unwrap();
    assert_eq!(message["content"], json!([{"type": "text", "text": "done"}]));
    assert_eq!(message["stop_reason"], "end_turn");
}

/// Some providers number the calls of each answer from 0. The client drops a call whose id it knows from an earlier turn.
#[test]
fn id_of_a_call_that_the_conversation_already_has_is_replaced() {
    let call = |id: &str| {
        let request = serde_json::json!({
            "max_tokens": 10, "stream": true,
            "messages": [
                {"role": "user", "content": "go"},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "0", "name": "f", "input": {}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "0", "content": "done"}]},
            ],
        });
        let translator = Translator::new(TranslationSettings::default());
        let mut response = translator
            .request(request.to_string().as_bytes())
            .unwrap()
            .response;
        let chunk = format!(
            "data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{{\"index\":0,\"id\":\"{id}\",\"function\":{{\"name\":\"f\",\"arguments\":\"{{}}\"}}}}]}}}}]}}\n\n"
        );
        let mut out = bytes::BytesMut::new();
        response.chunk(chunk.as_bytes(), &mut out);
        String::from_utf8(out.to_vec()).unwrap()
    };
    assert!(call("1").contains("\"id\":\"1\""), "{}", call("1"));
    let replaced = call("0");
    assert!(
        replaced.contains("\"id\":\"call_") && !replaced.contains("\"id\":\"0\""),
        "{replaced}"
    );
}

#[test]
fn keys_that_a_provider_repeats_are_masked_whole() {
    let key = "0123-plain_key/of+no.form";
    let error = json!({"error": {"message": format!("{}{key} is wrong", "x".repeat(4090))}}).to_string();
    for (status, stream, text) in [
        (401, true, error.clone()),
        (401, true, error.replace('/', "\\/")),
        (200, true, format!("data: {error}\n\n")),
        (200, false, error.clone()),
        (200, false, format!("<html>{key}")),
    ] {
        let mut response = response(Api::Chat, &[], stream).masking(Arc::from([Secret::from(key)]));
        let mut out = BytesMut::new();
        response.head(status, None);
        response.chunk(text.as_bytes(), &mut out);
        response.end(&mut out);
        let out = String::from_utf8(out.to_vec()).unwrap();
        assert!(
            response.error().is_some() && !out.contains("plain_key"),
            "{status} {out}"
        );
    }
}
