//! Collects a message into one JSON body.

use super::blocks::{BlockKind, Delta, Part, Parts};
use super::event::Usage;
use super::failure::Failure;
use super::writer::usage_json;
use crate::own_thinking::OWN_SIGNATURE;
use serde::Serialize;
use serde_json::value::RawValue;

/// A message that is delivered as a whole: thinking, then text, then tool calls.
#[derive(Debug, Default)]
pub(crate) struct WholeMessage {
    id: String,
    thinking: String,
    text: String,
    calls: Vec<Call>,
    /// How the message ended.
    pub(crate) end: Option<Result<(&'static str, Usage), Failure>>,
}

#[derive(Debug)]
struct Call {
    id: String,
    name: String,
    arguments: String,
}

impl Parts for WholeMessage {
    fn part(&mut self, part: Part<'_>) {
        match part {
            Part::MessageStart { id, .. } => id.clone_into(&mut self.id),
            Part::BlockStart {
                block: BlockKind::ToolUse { id, name },
                ..
            } => self.calls.push(Call {
                id: id.to_owned(),
                name: name.to_owned(),
                arguments: String::new(),
            }),
            Part::Delta { delta, .. } => match delta {
                Delta::Text(text) => self.text.push_str(text),
                Delta::Thinking(text) => self.thinking.push_str(text),
                Delta::Json(text) => {
                    if let Some(call) = self.calls.last_mut() {
                        call.arguments.push_str(text);
                    }
                }
                Delta::Signature => {}
            },
            Part::BlockStart { .. } | Part::BlockStop { .. } => {}
            Part::MessageEnd { stop_reason, usage } => self.end = Some(Ok((stop_reason, usage))),
            Part::Error(error) => self.end = Some(Err(Failure::in_band(error))),
        }
    }
}

impl WholeMessage {
    /// The bytes collected.
    pub(crate) fn len(&self) -> usize {
        let arguments: usize = self.calls.iter().map(|call| call.arguments.len()).sum();
        self.thinking.len() + self.text.len() + arguments
    }

    /// The body of the response.
    pub(crate) fn body(&self, label: &str, stop_reason: &str, usage: Usage) -> Vec<u8> {
        let mut content = Vec::new();
        if !self.thinking.is_empty() {
            content.push(BlockBody::Thinking {
                thinking: &self.thinking,
                signature: OWN_SIGNATURE,
            });
        }
        if !self.text.is_empty() {
            content.push(BlockBody::Text { text: &self.text });
        }
        let calls = self.calls.iter();
        content.extend(calls.map(|call| BlockBody::ToolUse {
            id: &call.id,
            name: &call.name,
            input: arguments(&call.arguments),
        }));
        let body = MessageBody {
            id: &self.id,
            kind: "message",
            role: "assistant",
            model: label,
            content,
            stop_reason,
            stop_sequence: None,
            usage: usage_json(usage),
        };
        // Writing plain data to memory cannot fail.
        serde_json::to_vec(&body).unwrap_or_default()
    }
}

/// Arguments as the input of a call. The API requires an object: anything else becomes an empty one.
fn arguments(text: &str) -> &RawValue {
    let is_object = |raw: &&RawValue| raw.get().starts_with('{');
    serde_json::from_str::<&RawValue>(text)
        .ok()
        .filter(is_object)
        .unwrap_or(empty_object())
}

fn empty_object() -> &'static RawValue {
    serde_json::from_str("{}").unwrap_or(RawValue::NULL)
}

#[derive(Serialize)]
struct MessageBody<'b> {
    id: &'b str,
    #[serde(rename = "type")]
    kind: &'static str,
    role: &'static str,
    model: &'b str,
    content: Vec<BlockBody<'b>>,
    stop_reason: &'b str,
    stop_sequence: Option<()>,
    usage: serde_json::Value,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum BlockBody<'b> {
    Thinking {
        thinking: &'b str,
        signature: &'b str,
    },
    Text {
        text: &'b str,
    },
    ToolUse {
        id: &'b str,
        name: &'b str,
        input: &'b RawValue,
    },
}
