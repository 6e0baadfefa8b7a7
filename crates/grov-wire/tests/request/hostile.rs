//! Hostile request bodies.

use crate::against_value::assert_agrees;
use bytes::Bytes;
use grov_wire::json::JsonProblem;
use grov_wire::{BlockKind, Content, IndexError, RequestIndex, Role, SystemPrompt};

fn body(text: impl Into<String>) -> Bytes {
    Bytes::from(text.into())
}

fn index(text: impl Into<String>) -> RequestIndex {
    RequestIndex::parse(&body(text)).unwrap()
}

fn json_problem(bytes: &'static [u8]) -> JsonProblem {
    match RequestIndex::parse(&Bytes::from_static(bytes)) {
        Err(IndexError::Json(error)) => error.problem,
        other => panic!("{other:?}"),
    }
}

#[test]
fn bodies_other_than_json_objects_have_no_index() {
    assert_eq!(json_problem(b""), JsonProblem::ExpectedValue);
    assert_eq!(json_problem(b"{\"model\":"), JsonProblem::ExpectedValue);
    assert_eq!(json_problem(b"{\"model\":\"m\xff\"}"), JsonProblem::NotUtf8);
    assert_eq!(json_problem(b"\xef\xbb\xbf{}"), JsonProblem::ExpectedValue);
    assert_eq!(json_problem(b"{} {}"), JsonProblem::TrailingCharacters);
    assert_eq!(json_problem(b"[1,]"), JsonProblem::ExpectedValue);
    assert_eq!(
        json_problem(b"{\"messages\":[{\"role\":\"user\nx\"}]}"),
        JsonProblem::ControlCharacter
    );
    for text in ["[]", "null", "\"{}\"", "7"] {
        assert_eq!(
            RequestIndex::parse(&body(text)).unwrap_err(),
            IndexError::NotAnObject
        );
    }
}

#[test]
fn duplicate_key_in_an_indexed_object_is_an_error() {
    for (text, key) in [
        (r#"{"model":"a","model":"b"}"#, "model"),
        (r#"{"thinking":1,"model":"a","thinking":2}"#, "thinking"),
        (r#"{"messages":[],"mess\u0061ges":[]}"#, "messages"),
        (r#"{"metadata":{"user_id":"a","user_id":"b"}}"#, "user_id"),
        (r#"{"metadata":{"user_id":null,"user_id":"b"}}"#, "user_id"),
        (r#"{"output_config":{"format":{},"format":{}}}"#, "format"),
        (r#"{"output_config":{"format":{"type":"a","type":"b"}}}"#, "type"),
        (r#"{"tools":[{"name":"a","name":"b"}]}"#, "name"),
        (r#"{"system":[{"text":"a","text":"b"}]}"#, "text"),
        (r#"{"messages":[{"role":"user","role":"system"}]}"#, "role"),
        (r#"{"messages":[{"content":"a","content":[]}]}"#, "content"),
        (
            r#"{"messages":[{"content":[{"cache_control":null,"cache_control":{}}]}]}"#,
            "cache_control",
        ),
    ] {
        match RequestIndex::parse(&body(text)) {
            Err(IndexError::DuplicateKey { key: found, offset }) => {
                assert_eq!(found, key, "{text}");
                assert!(
                    text[..offset].contains(&format!("\"{}", &key[..4])),
                    "{text} at {offset}"
                );
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn duplicate_key_in_a_skipped_object_is_ignored() {
    index(r#"{"messages":[{"content":[{"type":"tool_use","input":{"a":1,"a":2}}],"x":1,"x":2}]}"#);
}

#[test]
fn many_fields_are_indexed_quickly() {
    let fields: Vec<_> = (0..200_000).map(|number| format!("\"f{number}\":0")).collect();
    let index = index(format!("{{{}}}", fields.join(",")));
    assert_eq!(index.fields().count(), 200_000);
}

#[test]
fn brackets_in_strings_are_text() {
    let index = assert_agrees(&body(
        r#"{"system":"]}],{","messages":[{"role":"user","content":"{\"role\":\"assistant\"}]"},
           {"role":"user","content":[{"type":"text","text":"[[[{{{\\"},{"type":"text","text":"}\"}]}"}]}]}"#,
    ));
    assert_eq!(index.messages().len(), 2);
    assert_eq!(index.message(1).unwrap().blocks().len(), 2);
}

#[test]
fn escaped_control_characters_are_text() {
    let index = index(r#"{"messages":[{"role":"user","content":"a\u0000b\u001b[0m\b\f"}]}"#);
    let texts: Vec<_> = index.message(0).unwrap().texts().collect();
    assert_eq!(texts, ["a\0b\u{1b}[0m\u{8}\u{c}"]);
}

#[test]
fn lone_surrogates_become_replacement_characters() {
    let index = index(r#"{"model":"\ud83d\ude00 \ud83d x \ude00 \ud83d\u0041 \ud83d\ud83d\ude00"}"#);
    assert_eq!(
        index.model().unwrap(),
        "😀 \u{fffd} x \u{fffd} \u{fffd}A \u{fffd}😀"
    );
}

#[test]
fn keys_may_hold_escapes() {
    let index = assert_agrees(&body(
        r#"{"\u006dodel":"m","mess\u0061ges":[{"r\u006fle":"user","\u0063ontent":[{"t\u0079pe":"t\u0065xt","t\u0065xt":"hi"}]}]}"#,
    ));
    assert_eq!(index.model().unwrap(), "m");
    assert_eq!(index.message(0).unwrap().role(), Role::User);
    assert_eq!(
        index.message(0).unwrap().blocks().next().unwrap().kind(),
        BlockKind::Text
    );
}

#[test]
fn deep_nesting_neither_overflows_nor_fails() {
    let deep = "[".repeat(10_000) + &"]".repeat(10_000);
    for text in [
        format!(r#"{{"system":{deep}}}"#),
        format!(r#"{{"messages":{deep}}}"#),
        format!(r#"{{"messages":[{{"role":"user","content":{deep}}}]}}"#),
        format!(r#"{{"messages":[{{"role":"user","content":[{{"type":"tool_use","input":{deep}}}]}}]}}"#),
        format!(r#"{{"tools":{deep},"metadata":{deep},"output_config":{deep},"x":{deep}}}"#),
    ] {
        index(text);
    }
    let index = index(format!(r#"{{"metadata":{{"user_id":"{deep}"}}}}"#));
    assert_eq!(index.metadata_session_id(), None);
}

#[test]
fn empty_object_is_a_request() {
    let index = assert_agrees(&body(" {\n} "));
    assert!(matches!(index.system(), SystemPrompt::Absent));
    assert_eq!(index.messages().len(), 0);
    assert!(index.newest_user_message().is_none());
    assert_eq!(index.skeleton().links(), []);
    assert_eq!(index.skeleton().tip_at_last_assistant(), None);
}

#[test]
fn values_of_unexpected_types_count_as_absent() {
    let index = assert_agrees(&body(
        r#"{"model":7,"stream":"true","max_tokens":-1,"metadata":{"user_id":{}},"system":null,"tools":{},
           "messages":[null,7,"x",[],{},{"role":7,"content":null},{"role":"user","content":{"type":"text"}},
           {"role":"user","content":[null,"x",[],{},{"type":7,"text":"x"},{"type":"text","text":null}]}]}"#,
    ));
    assert_eq!(index.model(), None);
    assert!(matches!(index.message(5).unwrap().content(), Content::Other));
    let last = index.messages().last().unwrap();
    assert_eq!(
        last.blocks()
            .filter(|block| block.kind() == BlockKind::Other)
            .count(),
        5
    );
    assert_eq!(last.texts().count(), 0);
}

#[test]
fn unknown_block_types_and_roles_are_kept() {
    let index = assert_agrees(&body(
        r#"{"messages":[{"role":"critic","content":[{"type":"server_tool_use","id":"srv","name":"web_search","input":{}},
           {"type":"image","source":{"type":"base64","data":"AAAA"}}]}]}"#,
    ));
    let message = index.message(0).unwrap();
    assert_eq!(message.role(), Role::Other);
    let kinds: Vec<_> = message
        .blocks()
        .map(|block| (block.kind(), block.type_name().unwrap().into_owned()))
        .collect();
    assert_eq!(
        kinds,
        [
            (BlockKind::Other, "server_tool_use".to_owned()),
            (BlockKind::Other, "image".to_owned())
        ]
    );
    assert!(
        message
            .blocks()
            .all(|block| block.input().is_none() && block.tool_name().is_none())
    );
}

#[test]
fn invalid_session_ids_are_none() {
    let session = |user_id: &str| {
        let user_id = serde_json::Value::from(user_id);
        index(format!(r#"{{"metadata":{{"user_id":{user_id}}}}}"#)).metadata_session_id()
    };
    assert_eq!(
        session(r#" {"a":[],"session\u005fid":"s-\u0031"} "#).as_deref(),
        Some("s-1")
    );
    for user_id in [
        "",
        "user_1_account__session_2",
        "[]",
        "{}",
        r#"{"session_id":7}"#,
        r#"{"session_id":"a","session_id":"b"}"#,
        r#"{"session_id":null,"session_id":"b"}"#,
        r#"{"session_id":"a"} x"#,
        r#"{"session_id":"a""#,
    ] {
        assert_eq!(session(user_id), None, "{user_id}");
    }
}
