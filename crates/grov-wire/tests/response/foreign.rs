//! Responses of other APIs, in the forms that their clients accept (`tests/golden/foreign`).

use grov_wire::Api;
use grov_wire::response::{Block, ResponseTap, Turn, TurnEnd, Usage};
use std::path::Path;

const SSE: &str = "text/event-stream; charset=utf-8";
const JSON: &str = "application/json";

fn golden(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/foreign");
    std::fs::read(folder.join(name)).unwrap()
}

fn read(api: Api, status: u16, content_type: &str, body: &[u8]) -> Turn {
    let by_chunks_of = |size| {
        let mut tap = ResponseTap::for_api(api, status, Some(content_type), None);
        for chunk in body.chunks(size) {
            tap.feed(chunk);
        }
        tap.finish(true)
    };
    let whole = by_chunks_of(body.len().max(1));
    for size in [1, 7, 100] {
        assert_eq!(by_chunks_of(size), whole, "in chunks of {size}");
    }
    whole
}

fn text(text: &str) -> Block {
    Block::Text {
        text: text.to_owned(),
        complete: true,
    }
}

fn call(id: &str, name: &str, input: &str) -> Block {
    Block::ToolUse {
        id: id.to_owned(),
        name: name.to_owned(),
        input: input.to_owned(),
        complete: true,
    }
}

/// The tokens of all golden responses: 1010 of the prompt, of which 1000 were cached.
fn usage(output: u64) -> Usage {
    Usage {
        input: 10,
        cache_read: 1000,
        output,
        ..Usage::default()
    }
}

#[test]
fn a_stream_of_the_responses_api_is_read() {
    let turn = read(Api::Responses, 200, SSE, &golden("codex.sse"));
    let input = r#"{"cmd": "echo hello > made.txt && ls"}"#;
    assert_eq!(
        turn,
        Turn {
            id: Some("resp_1".to_owned()),
            model: Some("gpt-5.1-codex".to_owned()),
            role: Some("assistant".to_owned()),
            blocks: vec![
                text("I will look at the files."),
                call("call_1", "exec_command", input)
            ],
            stop_reason: Some("tool_use".to_owned()),
            usage: usage(30),
            end: TurnEnd::Complete,
            ..Turn::default()
        }
    );
}

#[test]
fn a_stream_of_the_chat_api_is_read() {
    let turn = read(Api::Chat, 200, SSE, &golden("opencode.sse"));
    let input = r#"{"command": "echo hello > made.txt && ls", "description": "make"}"#;
    assert_eq!(turn.blocks, [text("I will look."), call("call_1", "bash", input)]);
    assert_eq!(turn.stop_reason.as_deref(), Some("tool_use"));
    assert_eq!((turn.usage, turn.end), (usage(30), TurnEnd::Complete));
}

#[test]
fn a_stream_of_the_gemini_api_is_read() {
    let turn = read(Api::Gemini, 200, SSE, &golden("gemini.sse"));
    let input = r#"{"command":"echo hello > made.txt && ls","description":"make"}"#;
    assert_eq!(
        turn.blocks,
        [text("I will look."), call("", "run_shell_command", input)]
    );
    assert_eq!(turn.stop_reason.as_deref(), Some("tool_use"));
    assert_eq!((turn.usage, turn.end), (usage(34), TurnEnd::Complete));
}

#[test]
fn a_stream_without_events_is_an_array_of_chunks() {
    let events = golden("gemini.sse");
    let events = String::from_utf8(events).unwrap();
    let chunks: Vec<&str> = events
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .collect();
    let array = format!("[{}]", chunks.join(",\r\n"));
    let turn = read(Api::Gemini, 200, JSON, array.as_bytes());
    assert_eq!(turn, read(Api::Gemini, 200, SSE, events.as_bytes()));
    assert_eq!(read(Api::Gemini, 200, "", array.as_bytes()), turn);
}

#[test]
fn json_bodies_are_read() {
    let responses = r#"{"object":"response","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},
        "output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"Hm."}]},
        {"type":"message","content":[{"type":"output_text","text":"Hi"}]}],"usage":{"input_tokens":5,"output_tokens":2}}"#;
    let turn = read(Api::Responses, 200, JSON, responses.as_bytes());
    assert_eq!(turn.blocks.last(), Some(&text("Hi")));
    assert_eq!(turn.blocks.len(), 2);
    assert_eq!(
        (turn.stop_reason.as_deref(), turn.usage.input),
        (Some("max_tokens"), 5)
    );
    let chat = r#"{"object":"chat.completion","choices":[{"index":0,"message":{"content":"Hi"},"finish_reason":"stop"}],
        "usage":{"prompt_tokens":5,"completion_tokens":2}}"#;
    let turn = read(Api::Chat, 200, JSON, chat.as_bytes());
    assert_eq!(
        (turn.blocks, turn.stop_reason.as_deref()),
        (vec![text("Hi")], Some("end_turn"))
    );
    assert_eq!(
        (turn.usage.input, turn.usage.output, turn.end),
        (5, 2, TurnEnd::Complete)
    );
}

#[test]
fn errors_of_each_api_are_read() {
    for (api, body, kind) in [
        (
            Api::Responses,
            r#"{"error":{"message":"no","type":"invalid_request_error"}}"#,
            "invalid_request_error",
        ),
        (
            Api::Chat,
            r#"{"error":{"message":"no","code":"context_length_exceeded"}}"#,
            "context_length_exceeded",
        ),
        (
            Api::Gemini,
            r#"{"error":{"code":429,"message":"no","status":"RESOURCE_EXHAUSTED"}}"#,
            "RESOURCE_EXHAUSTED",
        ),
    ] {
        for (status, content_type, body) in [
            (429, JSON, body.to_owned()),
            (
                200,
                SSE,
                format!("data: {body}\n\n").replace("{\"error\"", "{\"type\":\"error\",\"error\""),
            ),
        ] {
            let turn = read(api, status, content_type, body.as_bytes());
            assert_eq!(turn.end, TurnEnd::Error, "{body}");
            let error = turn.error.unwrap();
            assert_eq!(
                (error.kind.as_str(), error.message.as_str()),
                (kind, "no"),
                "{body}"
            );
        }
    }
}

#[test]
fn a_stream_that_is_cut_is_truncated() {
    for (api, name) in [
        (Api::Responses, "codex.sse"),
        (Api::Chat, "opencode.sse"),
        (Api::Gemini, "gemini.sse"),
    ] {
        let whole = golden(name);
        let turn = read(api, 200, SSE, &whole[..whole.len() / 3]);
        assert_eq!(turn.end, TurnEnd::Truncated, "{name}");
        let mut calls = turn
            .blocks
            .iter()
            .filter(|block| matches!(block, Block::ToolUse { .. }));
        assert!(calls.all(|call| !call.is_complete()), "{name}");
    }
}

#[test]
fn events_of_a_new_kind_are_kept_as_they_are() {
    let stream =
        "data: {\"type\":\"brand.new\",\"x\":1}\n\ndata: [1]\n\ndata: {\"type\":\"response.brand.new\"}\n\n";
    let turn = read(Api::Responses, 200, SSE, stream.as_bytes());
    assert_eq!(
        (turn.irregularities.unknown_events, turn.irregularities.malformed),
        (1, 1)
    );
    assert_eq!(turn.unrecognised[0].kind, "brand.new");
    let item = r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"hologram","x":1}}"#;
    let turn = read(Api::Responses, 200, SSE, format!("data: {item}\n\n").as_bytes());
    assert!(matches!(&turn.blocks[0], Block::Other { kind, .. } if kind == "hologram"));
    let turn = read(Api::Gemini, 200, JSON, b"{\"x\":1}");
    assert_eq!(turn.end, TurnEnd::NotAMessage);
}

#[test]
fn calls_that_share_an_index_are_separate() {
    let chunk = |id: &str, arguments: &str| {
        format!(
            "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{{\"index\":0,\"id\":\"{id}\",\"function\":{{\"name\":\"bash\",\"arguments\":\"{arguments}\"}}}}]}}}}]}}\n\n"
        )
    };
    let stream = [
        chunk("a", "{"),
        chunk("a", "}"),
        chunk("b", "{}"),
        "data: [DONE]\n\n".to_owned(),
    ]
    .concat();
    let turn = read(Api::Chat, 200, SSE, stream.as_bytes());
    assert_eq!(turn.blocks, [call("a", "bash", "{}"), call("b", "bash", "{}")]);
    assert_eq!(turn.end, TurnEnd::Complete);
}
