//! Handwritten responses (`tests/golden/responses`) in the forms that the upstream sends.

use crate::observe;
use grov_wire::response::{ApiError, Block, Irregularities, Turn, TurnEnd, Unrecognised, Usage};
use std::path::Path;

const SSE: &str = "text/event-stream; charset=utf-8";
const JSON: &str = "application/json";

fn golden(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/responses");
    std::fs::read(folder.join(name)).unwrap()
}

fn text(text: &str, complete: bool) -> Block {
    Block::Text {
        text: text.to_owned(),
        complete,
    }
}

fn tool(id: &str, name: &str, input: &str, complete: bool) -> Block {
    Block::ToolUse {
        id: id.to_owned(),
        name: name.to_owned(),
        input: input.to_owned(),
        complete,
    }
}

/// The common part of all golden streams.
fn turn(id: &str, model: &str) -> Turn {
    Turn {
        id: Some(id.to_owned()),
        model: Some(model.to_owned()),
        role: Some("assistant".to_owned()),
        usage: Usage {
            input: 12,
            output: 1,
            cache_read: 2000,
            cache_creation: 100,
            cache_creation_5m: 100,
            ..Usage::default()
        },
        ..Turn::default()
    }
}

#[test]
fn a_tool_loop_padded_with_spaces() {
    let mut expected = turn("msg_01toolloop", "claude-opus-4-8");
    expected.usage.output = 57;
    expected.blocks = vec![
        text("I will write the file.\nNow: “café” 😀\t\"done\" \\", true),
        tool(
            "toolu_01write",
            "Write",
            r#"{"file_path": "/home/dev/proj/hello.txt", "content": "hello \"world\"\n\tcaf\u00e9 \ud83d\ude00\\n\n"}"#,
            true,
        ),
    ];
    expected.stop_reason = Some("tool_use".to_owned());
    expected.end = TurnEnd::Complete;
    assert_eq!(observe(200, SSE, &golden("tool_loop.sse"), true), expected);
}

#[test]
fn thinking_and_interleaved_tools_with_crlf_and_comments() {
    let mut expected = turn("msg_02parallel", "claude-sonnet-4-5");
    expected.usage = Usage {
        output: 81,
        cache_creation_5m: 40,
        cache_creation_1h: 60,
        ..expected.usage
    };
    expected.blocks = vec![
        Block::Thinking {
            text: "Run two in \"parallel\".".to_owned(),
            complete: true,
        },
        Block::RedactedThinking { complete: true },
        text("Two at once.", true),
        tool(
            "toolu_02a",
            "Bash",
            r#"{"command": "ls -la | wc -l", "description": "count"}"#,
            true,
        ),
        tool(
            "toolu_02b",
            "Read",
            r#"{"file_path": "/home/dev/proj/a.rs"}"#,
            true,
        ),
    ];
    expected.stop_reason = Some("tool_use".to_owned());
    expected.end = TurnEnd::Complete;
    assert_eq!(observe(200, SSE, &golden("parallel_tools.sse"), true), expected);
}

#[test]
fn a_web_search_with_kinds_unknown_to_this_version() {
    let mut expected = turn("msg_03search", "claude-opus-4-8");
    expected.usage = Usage {
        input: 512,
        output: 33,
        web_search_requests: 1,
        ..expected.usage
    };
    expected.blocks = vec![
        Block::ServerToolUse {
            id: "srvtoolu_03".to_owned(),
            name: "web_search".to_owned(),
            input: r#"{"query": "rust 1.95"}"#.to_owned(),
            complete: true,
        },
        Block::Other {
            kind: "web_search_tool_result".to_owned(),
            json: r#"{"type":"web_search_tool_result","tool_use_id":"srvtoolu_03","content":[{"type":"web_search_result","title":"Rust","url":"https://example.com/rust","encrypted_content":"RW5j","page_age":"2 days"}]}"#.to_owned(),
            complete: true,
        },
        text("It is out.", true),
    ];
    expected.stop_reason = Some("end_turn".to_owned());
    expected.end = TurnEnd::Complete;
    expected.irregularities = Irregularities {
        unknown_events: 1,
        unknown_deltas: 1,
        ..Irregularities::default()
    };
    expected.unrecognised = vec![
        Unrecognised {
            kind: "citations_delta".to_owned(),
            json: r#"{"type":"citations_delta","citation":{"type":"web_search_result_location","cited_text":"Rust 1.95","url":"https://example.com/rust"}}"#.to_owned(),
        },
        Unrecognised {
            kind: "message_metadata".to_owned(),
            json: r#"{"type":"message_metadata","note":"unknown to this version"}"#.to_owned(),
        },
    ];
    assert_eq!(observe(200, SSE, &golden("web_search.sse"), true), expected);
}

#[test]
fn an_error_in_the_stream() {
    let mut expected = turn("msg_04error", "claude-opus-4-8");
    expected.blocks = vec![text("Partial ", false)];
    expected.error = Some(ApiError {
        kind: "overloaded_error".to_owned(),
        message: "Overloaded".to_owned(),
    });
    expected.end = TurnEnd::Error;
    assert_eq!(observe(200, SSE, &golden("error_event.sse"), true), expected);
}

#[test]
fn malformed_event_is_skipped() {
    let mut expected = turn("msg_05malformed", "claude-opus-4-8");
    expected.usage.output = 20;
    expected.blocks = vec![text("Answer goes on.", true)];
    expected.stop_reason = Some("end_turn".to_owned());
    expected.end = TurnEnd::Complete;
    expected.irregularities.malformed = 1;
    assert_eq!(observe(200, SSE, &golden("malformed_event.sse"), true), expected);
}

#[test]
fn a_stream_cut_inside_a_tool_call() {
    let mut expected = turn("msg_06cut", "claude-opus-4-8");
    expected.blocks = vec![
        text("Now a tool.", true),
        tool("toolu_06", "Bash", r#"{"command": "ech"#, false),
    ];
    expected.end = TurnEnd::Truncated;
    expected.irregularities.cut_mid_event = true;
    assert_eq!(observe(200, SSE, &golden("cut_in_tool.sse"), false), expected);
}

#[test]
fn a_json_message() {
    let expected = Turn {
        blocks: vec![
            text("Reading \"a\".\n", true),
            tool(
                "toolu_07",
                "Read",
                r#"{"file_path": "/home/dev/proj/\u00fc.txt", "limit": 20}"#,
                true,
            ),
        ],
        stop_reason: Some("tool_use".to_owned()),
        usage: Usage {
            input: 9,
            output: 44,
            cache_read: 1500,
            ..Usage::default()
        },
        end: TurnEnd::Complete,
        ..turn("msg_07json", "claude-haiku-4-5-20251001")
    };
    assert_eq!(observe(200, JSON, &golden("message.json"), true), expected);
}

#[test]
fn errors_instead_of_a_message() {
    let expected = |kind: &str, message: &str| Turn {
        error: Some(ApiError {
            kind: kind.to_owned(),
            message: message.to_owned(),
        }),
        end: TurnEnd::Error,
        ..Turn::default()
    };
    assert_eq!(
        observe(429, JSON, &golden("rate_limit.json"), true),
        expected("rate_limit_error", "This request would exceed your rate limit.")
    );
    assert_eq!(
        observe(502, "text/html", &golden("bad_gateway.html"), true),
        expected("http_502", "")
    );
}
