//! Tests with recorded responses, if there are any: `GROV_FIXTURES` is a directory with
//! `sse/*.sse.txt` (whole streams) and `errors/*.json` (objects with `response`: status, headers and raw body).

use crate::observe;
use grov_wire::response::{Block, Irregularities, TurnEnd};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Returns the files of a folder. Without `GROV_FIXTURES`, prints a note and returns none.
fn recorded(folder: &str, ending: &str) -> Vec<PathBuf> {
    let Some(set) = std::env::var_os("GROV_FIXTURES") else {
        eprintln!("SKIPPED: GROV_FIXTURES is not set, so no recorded responses ({folder}) were checked");
        return Vec::new();
    };
    let entries = std::fs::read_dir(Path::new(&set).join(folder)).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.to_string_lossy().ends_with(ending));
    files.sort();
    assert!(
        !files.is_empty(),
        "GROV_FIXTURES names a directory without {folder}/*{ending}"
    );
    files
}

/// Returns the message of a regular stream, assembled from `serde_json` trees.
fn message_of(stream: &str) -> Value {
    let mut message = Value::Null;
    for data in stream.lines().filter_map(|line| line.strip_prefix("data: ")) {
        let event: Value = serde_json::from_str(data).unwrap();
        let index = event["index"].as_u64().unwrap_or_default() as usize;
        match event["type"].as_str().unwrap() {
            "message_start" => message = event["message"].clone(),
            "content_block_start" => {
                let blocks = message["content"].as_array_mut().unwrap();
                assert_eq!(blocks.len(), index);
                blocks.push(event["content_block"].clone());
                blocks[index]["input_text"] = json!("");
            }
            "content_block_delta" => {
                let block = &mut message["content"][index];
                for (field, addition) in [
                    ("text", &event["delta"]["text"]),
                    ("thinking", &event["delta"]["thinking"]),
                    ("input_text", &event["delta"]["partial_json"]),
                ] {
                    if let Some(addition) = addition.as_str() {
                        block[field] = json!(format!("{}{addition}", block[field].as_str().unwrap()));
                    }
                }
            }
            "message_delta" => {
                message["stop_reason"] = event["delta"]["stop_reason"].clone();
                for (name, count) in event["usage"].as_object().unwrap() {
                    message["usage"][name] = count.clone();
                }
            }
            _ => {}
        }
    }
    message
}

fn assert_same_block(block: &Block, expected: &Value) {
    assert!(block.is_complete());
    match block {
        Block::Text { text, .. } => {
            assert_eq!(
                (json!("text"), json!(text)),
                (expected["type"].clone(), expected["text"].clone())
            );
        }
        Block::Thinking { text, .. } => assert_eq!(json!(text), expected["thinking"]),
        Block::ToolUse { id, name, input, .. } => {
            assert_eq!(expected["type"], "tool_use");
            assert_eq!(
                (json!(id), json!(name)),
                (expected["id"].clone(), expected["name"].clone())
            );
            assert_eq!(json!(input), expected["input_text"]);
            assert!(serde_json::from_str::<Value>(input).unwrap().is_object());
        }
        other => panic!("a kind of block the recorded set does not hold: {other:?}"),
    }
}

#[test]
fn turns_of_recorded_streams_agree_with_parsed_trees() {
    for file in recorded("sse", ".sse.txt") {
        eprintln!("{}", file.display());
        let stream = std::fs::read_to_string(&file).unwrap();
        let turn = observe(200, "text/event-stream", stream.as_bytes(), true);
        let expected = message_of(&stream);
        assert_eq!(
            (turn.end, turn.irregularities),
            (TurnEnd::Complete, Irregularities::default())
        );
        assert_eq!(
            json!([turn.id, turn.model, turn.role]),
            json!([expected["id"], expected["model"], "assistant"])
        );
        assert_eq!(json!(turn.stop_reason), expected["stop_reason"]);
        let usage = &expected["usage"];
        assert_eq!(
            json!([
                turn.usage.input,
                turn.usage.output,
                turn.usage.cache_read,
                turn.usage.cache_creation
            ]),
            json!([
                usage["input_tokens"],
                usage["output_tokens"],
                usage["cache_read_input_tokens"],
                usage["cache_creation_input_tokens"]
            ])
        );
        assert_eq!(
            json!(turn.usage.cache_creation_5m),
            usage["cache_creation"]["ephemeral_5m_input_tokens"]
        );
        let blocks = expected["content"].as_array().unwrap();
        assert_eq!(turn.blocks.len(), blocks.len());
        for (block, expected) in turn.blocks.iter().zip(blocks) {
            assert_same_block(block, expected);
        }
    }
}

#[test]
fn recorded_faults_end_as_they_did() {
    for file in recorded("errors", ".json") {
        let recorded: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        let response = &recorded["response"];
        // A connection reset before the headers has no response.
        let Some(status) = response["status"].as_u64() else {
            continue;
        };
        let headers = response["headers"].as_array().unwrap();
        let content_type = headers.iter().find(|header| header[0] == "content-type").unwrap();
        let content_type = content_type[1].as_str().unwrap();
        let sent_all = response["sent_all"].as_bool().unwrap();
        let body = response["raw"].as_str().unwrap();
        let turn = observe(status as u16, content_type, body.as_bytes(), sent_all);
        let expected = if status >= 400 || body.contains("event: error") {
            TurnEnd::Error
        } else if !sent_all {
            TurnEnd::Truncated
        } else if content_type.starts_with("text/html") {
            TurnEnd::NotAMessage
        } else {
            TurnEnd::Complete
        };
        eprintln!("{}: {:?}", file.display(), turn.end);
        assert_eq!(turn.end, expected, "{}", file.display());
        assert_eq!(turn.error.is_some(), expected == TurnEnd::Error);
        assert_eq!(turn.id.is_some(), body.contains("\"id\""));
    }
}
