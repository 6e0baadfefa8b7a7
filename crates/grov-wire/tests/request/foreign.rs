//! Requests of other APIs, recorded from their clients with made-up content (`tests/golden/foreign`).

use bytes::Bytes;
use grov_wire::{Api, BlockKind, RequestIndex, Role};
use proptest::prelude::*;
use std::path::Path;

const CODEX: (Api, &str) = (Api::Responses, "codex.json");
const OPENCODE: (Api, &str) = (Api::Chat, "opencode.json");
const GEMINI: (Api, &str) = (Api::Gemini, "gemini.json");

fn body(name: &str) -> Bytes {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/foreign");
    Bytes::from(std::fs::read(folder.join(name)).unwrap())
}

fn read((api, name): (Api, &str)) -> RequestIndex {
    RequestIndex::parse_foreign(api, Some("from-the-path"), &body(name)).unwrap()
}

/// Each message in one line: the role, then the text, the call or the result.
fn lines(index: &RequestIndex) -> Vec<String> {
    let mut lines = Vec::new();
    for message in index.messages() {
        for block in message.blocks() {
            let content = match block.kind() {
                BlockKind::ToolUse => {
                    format!("calls {} {}", block.tool_name().unwrap(), block.input().unwrap())
                }
                BlockKind::ToolResult => format!("result {}", block.result_content().unwrap()),
                _ => block
                    .text()
                    .unwrap()
                    .lines()
                    .next()
                    .unwrap_or_default()
                    .to_owned(),
            };
            let id = block.tool_use_id().unwrap_or_default();
            lines.push(format!("{:?} {id} {content}", message.role()));
        }
    }
    lines
}

#[test]
fn a_request_of_codex_is_read() {
    let index = read(CODEX);
    assert_eq!(index.model().as_deref(), Some("gpt-5.1-codex"));
    assert_eq!(
        index.metadata_session_id().as_deref(),
        Some("0199aaaa-0000-7000-8000-000000000001")
    );
    assert_eq!((index.tool_count(), index.stream()), (3, true));
    assert!(
        index
            .system_texts()
            .next()
            .unwrap()
            .starts_with("You are a coding agent.")
    );
    assert_eq!(
        lines(&index),
        [
            "User  <environment_context>",
            "User  make a file with a greeting",
            "Assistant  I will look at the files.",
            r#"Assistant call_1 calls exec_command {"cmd":"echo hello > made.txt && ls"}"#,
            r#"User call_1 result "Chunk ID: c86d86\nWall time: 0.0000 seconds\nProcess exited with code 0\nOriginal token count: 3\nOutput:\nmade.txt\n""#,
        ]
    );
    assert!(index.newest_results().all(|result| !result.is_error()));
}

#[test]
fn a_request_of_opencode_is_read() {
    let index = read(OPENCODE);
    assert_eq!(index.model().as_deref(), Some("mock-model"));
    let system: Vec<_> = index.system_texts().collect();
    assert!(
        system[0].contains("Working directory: /home/dev/app"),
        "{system:?}"
    );
    let lines = lines(&index);
    assert_eq!(lines[0], "User  \"make a file with a greeting\"");
    assert_eq!(lines[1], "Assistant  I will look.");
    assert!(lines[2].starts_with("Assistant call_1 calls bash {"), "{lines:?}");
    assert_eq!(lines[3], r#"User call_1 result "made.txt\n""#);
    assert!(
        lines[4].starts_with("Assistant call_2 calls write {"),
        "{lines:?}"
    );
    assert_eq!(lines.len(), 6);
}

#[test]
fn a_request_of_gemini_cli_is_read() {
    let index = read(GEMINI);
    assert_eq!(index.model().as_deref(), Some("from-the-path"));
    assert_eq!(index.tool_count(), 4);
    let lines = lines(&index);
    assert_eq!(
        lines[..2],
        ["User  <session_context>", "User  make a file with a greeting"]
    );
    assert!(
        lines[3].starts_with("Assistant run_shell_command_1_0 calls run_shell_command {"),
        "{lines:?}"
    );
    assert!(
        lines[4].starts_with("User run_shell_command_1_0 result \"<untrusted_context>"),
        "{lines:?}"
    );
    assert_eq!(lines.len(), 5);
}

#[test]
fn side_requests_have_no_tools() {
    for (api, name) in [
        (Api::Chat, "opencode_title.json"),
        (Api::Gemini, "gemini_router.json"),
    ] {
        assert_eq!(read((api, name)).tool_count(), 0, "{name}");
    }
}

#[test]
fn parallel_results_are_one_message_and_failures_are_seen() {
    let output = |id: &str, code: &str| serde_json::json!({"type": "function_call_output", "call_id": id, "output": format!("Process exited with code {code}\nOutput:\nExit code: 1")});
    let call = |id: &str| serde_json::json!({"type": "function_call", "call_id": id, "name": "exec_command", "arguments": "{"});
    let input =
        serde_json::json!({"input": ["x", 3, call("a"), call("b"), output("a", "0"), output("b", "2")]});
    let index = RequestIndex::parse_foreign(Api::Responses, None, &input.to_string().into()).unwrap();
    let roles: Vec<Role> = index.messages().map(|message| message.role()).collect();
    assert_eq!(roles, [Role::Assistant, Role::User]);
    let failed: Vec<bool> = index.newest_results().map(|result| result.is_error()).collect();
    assert_eq!(failed, [false, true]);
}

#[test]
fn a_failed_call_of_gemini_cli_is_seen() {
    let contents = r#"{"contents":[{"role":"user","parts":[{"functionResponse":{"name":"x","response":{"error":"no"}}}]}]}"#;
    let index = RequestIndex::parse_foreign(Api::Gemini, None, &contents.into()).unwrap();
    let result = index.newest_results().next().unwrap();
    assert!(result.is_error());
    assert_eq!(result.result_content(), Some("\"no\""));
}

#[test]
fn what_is_no_object_is_not_read() {
    for text in ["", "[]", "7", "{", "no JSON", "{\"input\":[}"] {
        for api in [Api::Responses, Api::Chat, Api::Gemini] {
            assert!(
                RequestIndex::parse_foreign(api, None, &text.into()).is_err(),
                "{text}"
            );
        }
    }
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let keys = "type|role|content|parts|text|tool_calls|function|arguments|name|id|output|functionCall|args|response";
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<u64>().prop_map(Into::into),
        "user|assistant|tool|system|message|function_call|\\PC{0,8}".prop_map(Into::into),
    ];
    leaf.prop_recursive(5, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Into::into),
            prop::collection::hash_map(keys, inner, 0..5)
                .prop_map(|members| members.into_iter().collect::<serde_json::Map<_, _>>().into()),
        ]
    })
}

proptest! {
    /// Whatever an object holds, it is read, and reading twice gives the same keys.
    #[test]
    fn every_object_is_read(content in json(), tools in json()) {
        for (api, field) in [(Api::Responses, "input"), (Api::Chat, "messages"), (Api::Gemini, "contents")] {
            let body: Bytes = serde_json::json!({field: content, "tools": tools}).to_string().into();
            let first = RequestIndex::parse_foreign(api, None, &body);
            prop_assert!(first.is_ok(), "{first:?}");
            let again = RequestIndex::parse_foreign(api, None, &body);
            prop_assert_eq!(first.unwrap().skeleton(), again.unwrap().skeleton());
        }
    }
}
