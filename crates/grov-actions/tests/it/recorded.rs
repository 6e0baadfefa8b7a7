//! Recorded tool calls of Claude Code and the actions they must yield.

use grov_actions::{ToolCall, is_key_decision, keywords, understand};
use serde_json::{Value, json};

/// Tools and arguments as recorded, with shortened paths, and the expected actions: kind, effects, files, folders,
/// and whether they change anything.
const RECORDED: &str = include_str!("recorded.jsonl");

#[test]
fn recorded_calls_yield_the_expected_actions() {
    let mut count = 0;
    for line in RECORDED.lines().filter(|line| !line.is_empty()) {
        let case: Value = serde_json::from_str(line).unwrap();
        let name = case["name"].as_str().unwrap();
        let call = ToolCall {
            name,
            id: None,
            input: (&case["input"]).into(),
            working_directory: Some("/home/dev/project"),
        };
        let action = understand(&call);
        let effects: Vec<Value> = action
            .effects
            .iter()
            .map(|effect| serde_json::to_value(effect.kind).unwrap())
            .collect();
        let shown = json!({
            "type": action.action_type.as_str(),
            "effects": effects,
            "files": action.files,
            "folders": action.folders,
            "keywords": keywords(&action),
            "key_decision": is_key_decision(&action, None),
        });
        assert_eq!(shown, case["action"], "{line}");
        count += 1;
    }
    assert_eq!(count, 19);
}

/// The client may send arguments back in another order and with defaults filled in. The action stays the same.
#[test]
fn the_order_of_arguments_does_not_matter() {
    let as_streamed =
        r#"{"file_path":"/home/dev/project/hello.txt","old_string":"world","new_string":"mock"}"#;
    let as_replayed = r#"{"replace_all": false, "new_string": "mock", "file_path": "/home/dev/project/hello.txt", "old_string": "world"}"#;
    let act = |input: &'static str| {
        understand(&ToolCall {
            name: "Edit",
            id: None,
            input: input.into(),
            working_directory: None,
        })
    };
    assert_eq!(act(as_streamed), act(as_replayed));
}
