use super::read;
use crate::response::{ApiError, Block, Irregularities, Turn, TurnEnd, Usage};

#[test]
fn a_whole_message() {
    let body = br#" {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [
        {"type": "thinking", "thinking": "Hm.", "signature": "x"},
        {"type": "text", "text": "caf\u00e9"},
        {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls", "n": 1.0e+2}},
        {"type": "novelty", "a": [1]}
    ], "stop_reason": "tool_use", "stop_sequence": null, "usage": {"input_tokens": 3, "output_tokens": 4}}
    "#;
    let expected = Turn {
        id: Some("msg_1".to_owned()),
        model: Some("m".to_owned()),
        role: Some("assistant".to_owned()),
        blocks: vec![
            Block::Thinking {
                text: "Hm.".to_owned(),
                complete: true,
            },
            Block::Text {
                text: "café".to_owned(),
                complete: true,
            },
            Block::ToolUse {
                id: "toolu_1".to_owned(),
                name: "Bash".to_owned(),
                input: r#"{"command": "ls", "n": 1.0e+2}"#.to_owned(),
                complete: true,
            },
            Block::Other {
                kind: "novelty".to_owned(),
                json: r#"{"type": "novelty", "a": [1]}"#.to_owned(),
                complete: true,
            },
        ],
        stop_reason: Some("tool_use".to_owned()),
        usage: Usage {
            input: 3,
            output: 4,
            ..Usage::default()
        },
        end: TurnEnd::Complete,
        ..Turn::default()
    };
    assert_eq!(read(body, true), expected);
    // A complete message is complete however the transport ended.
    assert_eq!(read(body, false), expected);
}

#[test]
fn error_bodies_give_type_and_message() {
    let body =
        br#"{"type": "error", "error": {"type": "rate_limit_error", "message": "slow"}, "request_id": "r"}"#;
    let turn = read(body, true);
    assert_eq!(turn.end, TurnEnd::Error);
    assert_eq!(
        turn.error,
        Some(ApiError {
            kind: "rate_limit_error".to_owned(),
            message: "slow".to_owned()
        })
    );
    // As some gateways send it.
    let turn = read(br#"{"error": {"message": "no"}}"#, true);
    assert_eq!(
        turn.error,
        Some(ApiError {
            kind: "error".to_owned(),
            message: "no".to_owned()
        })
    );
    let turn = read(br#"{"error": "not found"}"#, true);
    assert_eq!(
        turn.error.map(|error| error.message).as_deref(),
        Some("not found")
    );
    let turn = read(br#"{"type": "error"}"#, true);
    assert_eq!(
        (turn.end, turn.error),
        (TurnEnd::Error, Some(ApiError::unreadable()))
    );
}

#[test]
fn other_documents_are_not_messages() {
    for body in [
        r#"{"input_tokens": 12}"#,
        "{}",
        r#"{"type":"message"}"#,
        r#"{"type":"message","content":"x"}"#,
    ] {
        assert_eq!(
            read(body.as_bytes(), true),
            Turn {
                end: TurnEnd::NotAMessage,
                ..Turn::default()
            },
            "{body}"
        );
    }
    for body in ["[]", "<html>", "{]", "nul", "{\"type\":\"\u{1}\"}"] {
        let turn = read(body.as_bytes(), true);
        let irregularities = Irregularities {
            malformed: 1,
            ..Irregularities::default()
        };
        let expected = Turn {
            end: TurnEnd::NotAMessage,
            irregularities,
            ..Turn::default()
        };
        assert_eq!(turn, expected, "{body}");
    }
}

#[test]
fn a_cut_body_is_truncated() {
    let body = br#"{"type":"message","content":[{"type":"text","text":"abc"}]}"#;
    for length in 0..body.len() {
        for ended_cleanly in [true, false] {
            let turn = read(&body[..length], ended_cleanly);
            assert_eq!(turn.end, TurnEnd::Truncated, "cut at {length}");
            assert_eq!(turn.irregularities.malformed, u32::from(length > 0));
        }
    }
    assert_eq!(read(body, false).end, TurnEnd::Complete);
    assert_eq!(read(b"{]", false).end, TurnEnd::Truncated);
}

#[test]
fn a_block_that_cannot_be_read_is_kept_as_it_is() {
    let turn = read(
        br#"{"type":"message","content":[{"type":"text","text":"a"}, 7]}"#,
        true,
    );
    let other = Block::Other {
        kind: String::new(),
        json: "7".to_owned(),
        complete: true,
    };
    assert_eq!(
        turn.blocks,
        [
            Block::Text {
                text: "a".to_owned(),
                complete: true
            },
            other
        ]
    );
    assert_eq!(turn.irregularities.malformed, 1);
}

#[test]
fn deeply_nested_input_is_kept_as_text() {
    let input = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let block = format!(r#"{{"type":"tool_use","id":"toolu_1","name":"Bash","input":{input}}}"#);
    let turn = read(
        format!(r#"{{"type":"message","content":[{block}]}}"#).as_bytes(),
        true,
    );
    let (id, name) = ("toolu_1".to_owned(), "Bash".to_owned());
    assert_eq!(
        turn.blocks,
        [Block::ToolUse {
            id,
            name,
            input,
            complete: true
        }]
    );
}

#[test]
fn escapes_are_decoded_and_lone_surrogates_rejected() {
    let text_of = |text: &str| {
        let body = format!(r#"{{"type":"message","content":[{{"type":"text","text":"{text}"}}]}}"#);
        match read(body.as_bytes(), true).blocks.as_slice() {
            [Block::Text { text, .. }] => text.clone(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(text_of(r#"a\n\t\"b\"\\\/c"#), "a\n\t\"b\"\\/c");
    assert_eq!(text_of(r"\\u0041 \u0041"), "\\u0041 A");
    assert_eq!(text_of(r"\ud83d\ude00"), "\u{1f600}");
    assert_eq!(text_of(r"\ud83d"), "");
}

#[test]
fn invalid_utf8_matters_only_in_fields_that_are_read() {
    let unread = b"{\"type\":\"message\",\"content\":[],\"novelty\":\"\xff\"}";
    assert_eq!(read(unread, true).end, TurnEnd::Complete);
    let read_by_us = b"{\"type\":\"message\",\"content\":[{\"type\":\"text\",\"text\":\"\xff\"}]}";
    assert_eq!(read(read_by_us, true).end, TurnEnd::NotAMessage);
}
