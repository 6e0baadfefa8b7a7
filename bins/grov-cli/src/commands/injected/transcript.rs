//! What the user typed and what hooks said to the agent, as the client's transcript has it.

use crate::lines::Lines;
use grov_actions::transcript::typed_text;
use grov_domain::{ClientDialect, OWN_TEXT_OPENING};
use grov_query::{HookedText, PromptView};
use grov_redact::Redactor;
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;
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

/// A conversation.
#[derive(Default)]
pub(super) struct Conversation {
    /// What the user typed, redacted.
    pub(super) prompts: Vec<PromptView>,
    /// The texts of Grov that hooks added.
    pub(super) hooked: Vec<HookedText>,
}

/// Reads a transcript. Empty if it cannot be read; what cannot be parsed is skipped.
pub(super) fn read(path: &Path) -> Conversation {
    let mut found = Conversation::default();
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
                let Some(text) = typed(&message.content) else {
                    continue;
                };
                if let Some(at) = line.timestamp {
                    let text = Redactor::shared().redact(&text).into_owned();
                    found.prompts.push(PromptView { at, text });
                }
                prompt = text;
            }
            ("attachment", Some(attachment), _) if attachment.kind == "hook_additional_context" => {
                let (Some(at), text) = (line.timestamp, joined(&attachment.content)) else {
                    continue;
                };
                if text.contains(OWN_TEXT_OPENING) {
                    found.hooked.push(HookedText {
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

/// What the user typed; `None` for tool results and texts of the client.
fn typed(content: &Value) -> Option<String> {
    let mut texts = Vec::new();
    let mut answers_tools = false;
    match content {
        Value::String(text) => texts.push(Cow::Borrowed(text.as_str())),
        Value::Array(blocks) => {
            for block in blocks {
                answers_tools |= block["type"] == "tool_result";
                texts.extend(block["text"].as_str().map(Cow::Borrowed));
            }
        }
        _ => return None,
    }
    let text = typed_text(&ClientDialect::CLAUDE_CODE, &texts, answers_tools);
    (!text.is_empty()).then_some(text)
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
