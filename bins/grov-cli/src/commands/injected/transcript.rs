//! What hooks said to the agent, as the client's transcript has it.

use crate::lines::Lines;
use grov_domain::OWN_TEXT_OPENING;
use grov_query::HookedText;
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;
use time::OffsetDateTime;

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default, with = "time::serde::rfc3339::option")]
    timestamp: Option<OffsetDateTime>,
    #[serde(default)]
    attachment: Option<Attachment>,
    #[serde(default)]
    message: Option<Message>,
    #[serde(default, rename = "isMeta")]
    is_meta: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attachment {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    hook_event: String,
    #[serde(default)]
    content: Value,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    content: Value,
}

/// The texts of Grov that hooks added. Empty if the transcript cannot be read; what cannot be parsed is skipped.
pub(super) fn hooked_texts(path: &Path) -> Vec<HookedText> {
    let mut found = Vec::new();
    let is_file = std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    let Some(mut lines) = Lines::open(path).ok().filter(|_| is_file) else {
        return found;
    };
    let mut prompt = String::new();
    while let Ok(Some(line)) = lines.next() {
        let bytes = line.bytes.unwrap_or_default();
        // Most lines are neither prompts nor texts of ours, and long.
        let Ok(line) = serde_json::from_slice::<Line>(bytes) else {
            continue;
        };
        match (line.kind.as_str(), line.attachment, line.message) {
            ("user", _, Some(message)) if !line.is_meta => {
                if let Some(text) = typed(&message.content) {
                    prompt = text;
                }
            }
            ("attachment", Some(attachment), _) if attachment.kind == "hook_additional_context" => {
                let (Some(at), text) = (line.timestamp, joined(&attachment.content)) else {
                    continue;
                };
                if text.contains(OWN_TEXT_OPENING) {
                    found.push(HookedText {
                        at,
                        event: attachment.hook_event,
                        text,
                        prompt: prompt.clone(),
                    });
                }
            }
            _ => {}
        }
    }
    found
}

/// What the user typed: a text, or the last text block. `None` for tool results.
fn typed(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(blocks) => {
            let texts = blocks.iter().rev().filter_map(|block| block["text"].as_str());
            texts.map(str::to_owned).next()
        }
        _ => None,
    }
}

fn joined(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(texts) => {
            let texts: Vec<&str> = texts.iter().filter_map(Value::as_str).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}
