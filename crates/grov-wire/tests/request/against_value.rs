//! Compares all accessors of an index with a `Value` tree of the same body.

use bytes::Bytes;
use grov_wire::{Block, BlockKind, Content, Message, RequestIndex, Role, SystemPrompt};
use serde_json::Value;

/// Panics if the index and the tree differ.
pub(crate) fn assert_agrees(body: &Bytes) -> RequestIndex {
    let index = RequestIndex::parse(body).unwrap();
    let tree: Value = serde_json::from_slice(body).unwrap();
    let text = |value: &Value| value.as_str().map(str::to_owned);

    assert_eq!(index.model().map(String::from), text(&tree["model"]));
    assert_eq!(index.stream(), tree["stream"] == Value::Bool(true));
    assert_eq!(index.max_tokens(), tree["max_tokens"].as_u64());
    assert_eq!(
        index.metadata_user_id().map(String::from),
        text(&tree["metadata"]["user_id"])
    );
    let user: Option<Value> = tree["metadata"]["user_id"]
        .as_str()
        .and_then(|id| serde_json::from_str(id).ok());
    assert_eq!(
        index.metadata_session_id(),
        user.and_then(|user| text(&user["session_id"]))
    );
    assert_eq!(
        index.output_format().map(String::from),
        text(&tree["output_config"]["format"]["type"])
    );
    assert_eq!(
        index.field("tool_choice").is_some(),
        tree.get("tool_choice").is_some()
    );

    let tools = tree["tools"].as_array();
    assert_eq!(index.tool_count(), tools.map_or(0, Vec::len));
    let first = tools
        .and_then(|tools| tools.first())
        .filter(|tool| tool.is_object());
    assert_eq!(
        index
            .first_tool()
            .map(|tool| (tool.type_name().map(String::from), tool.name().map(String::from))),
        first.map(|tool| (text(&tool["type"]), text(&tool["name"])))
    );

    let fields = tree.as_object().unwrap();
    assert_eq!(index.fields().count(), fields.len());
    for (key, value) in index.fields() {
        assert_eq!(serde_json::from_str::<Value>(value).unwrap(), fields[&*key]);
        assert_eq!(index.field(&key), Some(value));
    }

    match (index.system(), tree.get("system")) {
        (SystemPrompt::Absent, None) => {}
        (SystemPrompt::Text(text), Some(Value::String(expected))) => assert_eq!(text, *expected),
        (SystemPrompt::Blocks(blocks), Some(Value::Array(expected))) => assert_blocks(blocks, expected),
        (SystemPrompt::Other, Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_))) => {}
        (ours, theirs) => panic!("system: {ours:?} but {theirs:?}"),
    }
    let system_texts: Vec<String> = match &tree["system"] {
        Value::String(text) => vec![text.clone()],
        Value::Array(blocks) => blocks.iter().filter_map(|block| text(&block["text"])).collect(),
        _ => vec![],
    };
    assert_eq!(index.system_texts().collect::<Vec<_>>(), system_texts);

    let messages = tree["messages"].as_array().cloned().unwrap_or_default();
    assert_eq!(index.messages().len(), messages.len());
    for (message, expected) in index.messages().zip(&messages) {
        assert_message(message, expected);
    }
    let newest = messages.iter().rposition(|message| message["role"] == "user");
    assert_eq!(
        index.newest_user_message().map(|message| message.number()),
        newest
    );
    index
}

fn assert_message(message: Message<'_>, expected: &Value) {
    let role = match expected["role"].as_str() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        _ => Role::Other,
    };
    assert_eq!(message.role(), role);
    assert_eq!(serde_json::from_str::<Value>(message.raw()).unwrap(), *expected);
    match (message.content(), &expected["content"]) {
        (Content::Text(text), Value::String(expected)) => assert_eq!(text, *expected),
        (Content::Blocks(blocks), Value::Array(expected)) => assert_blocks(blocks, expected),
        (Content::Other, Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) => {}
        (ours, theirs) => panic!("content: {ours:?} but {theirs:?}"),
    }
}

fn assert_blocks<'a>(blocks: impl ExactSizeIterator<Item = Block<'a>>, expected: &[Value]) {
    assert_eq!(blocks.len(), expected.len());
    for (number, (block, expected)) in blocks.zip(expected).enumerate() {
        assert_eq!(block.number(), number);
        assert_block(block, expected);
    }
}

fn assert_block(block: Block<'_>, expected: &Value) {
    let text = |key: &str| expected[key].as_str().map(str::to_owned);
    let raw = |json: Option<&str>| json.map(|json| serde_json::from_str::<Value>(json).unwrap());
    assert_eq!(raw(Some(block.raw())).as_ref(), Some(expected));
    assert_eq!(block.type_name().map(String::from), text("type"));
    let has_cache_control = expected
        .get("cache_control")
        .is_some_and(|value| !value.is_null());
    assert_eq!(block.has_cache_control(), has_cache_control);
    assert_eq!(block.is_error(), expected["is_error"] == Value::Bool(true));
    match block.kind() {
        BlockKind::Text => {
            assert_eq!(text("type").as_deref(), Some("text"));
            assert_eq!(block.text().map(String::from), text("text"));
        }
        BlockKind::ToolUse => {
            assert_eq!(text("type").as_deref(), Some("tool_use"));
            assert_eq!(block.tool_use_id().map(String::from), text("id"));
            assert_eq!(block.tool_name().map(String::from), text("name"));
            assert_eq!(raw(block.input()).as_ref(), expected.get("input"));
        }
        BlockKind::ToolResult => {
            assert_eq!(text("type").as_deref(), Some("tool_result"));
            assert_eq!(block.tool_use_id().map(String::from), text("tool_use_id"));
            assert_eq!(raw(block.result_content()).as_ref(), expected.get("content"));
        }
        BlockKind::Thinking => {
            assert!(matches!(
                text("type").as_deref(),
                Some("thinking" | "redacted_thinking")
            ));
        }
        BlockKind::Other => {
            let known = ["text", "tool_use", "tool_result", "thinking", "redacted_thinking"];
            assert!(!text("type").is_some_and(|name| known.contains(&&*name)));
        }
    }
}
