//! Writes a message as the event stream of the Messages API.

use super::blocks::{BlockKind, Delta, Part, Parts};
use super::event::Usage;
use super::failure::Failure;
use crate::own_thinking::OWN_SIGNATURE;
use bytes::{BufMut, BytesMut};
use serde::Serialize;
use serde_json::json;

/// A `ping` event. May be sent between any two events.
pub const PING_EVENT: &[u8] = b"event: ping\ndata: {\"type\": \"ping\"}\n\n";

/// Writes parts as server-sent events.
pub(crate) struct EventWriter<'w> {
    /// The name of the model for the client.
    pub(crate) label: &'w str,
    /// Where to write.
    pub(crate) out: &'w mut BytesMut,
}

impl Parts for EventWriter<'_> {
    fn part(&mut self, part: Part<'_>) {
        match part {
            Part::MessageStart { id, usage } => self.message_start(id, usage),
            Part::BlockStart { index, block } => {
                let content_block = match block {
                    BlockKind::Text => json!({"type": "text", "text": ""}),
                    BlockKind::Thinking => json!({"type": "thinking", "thinking": "", "signature": ""}),
                    BlockKind::ToolUse { id, name } => {
                        json!({"type": "tool_use", "id": id, "name": name, "input": {}})
                    }
                };
                let data =
                    json!({"type": "content_block_start", "index": index, "content_block": content_block});
                self.event("content_block_start", &data);
            }
            Part::Delta { index, delta } => {
                self.event("content_block_delta", &DeltaData::new(index, &delta));
            }
            Part::BlockStop { index } => {
                self.event(
                    "content_block_stop",
                    &json!({"type": "content_block_stop", "index": index}),
                );
            }
            Part::MessageEnd { stop_reason, usage } => self.message_end(stop_reason, usage),
            Part::Error(error) => self.failure(&Failure::in_band(error)),
        }
    }
}

impl EventWriter<'_> {
    /// Writes an error event. The stream ends with it.
    pub(crate) fn failure(&mut self, failure: &Failure) {
        self.event("error", &failure.body());
        self.event("message_stop", &json!({"type": "message_stop"}));
    }

    fn message_start(&mut self, id: &str, usage: Usage) {
        let message = json!({
            "id": id, "type": "message", "role": "assistant", "model": self.label, "content": [],
            "stop_reason": null, "stop_sequence": null, "usage": usage_json(usage),
        });
        self.event(
            "message_start",
            &json!({"type": "message_start", "message": message}),
        );
    }

    fn message_end(&mut self, stop_reason: &str, usage: Usage) {
        let data = json!({
            "type": "message_delta",
            "delta": {"stop_reason": stop_reason, "stop_sequence": null},
            "usage": usage_json(usage),
        });
        self.event("message_delta", &data);
        self.event("message_stop", &json!({"type": "message_stop"}));
    }

    fn event(&mut self, name: &str, data: &impl Serialize) {
        self.out.put_slice(b"event: ");
        self.out.put_slice(name.as_bytes());
        self.out.put_slice(b"\ndata: ");
        // Writing plain data to memory cannot fail.
        let _ = serde_json::to_writer((&mut *self.out).writer(), data);
        self.out.put_slice(b"\n\n");
    }
}

/// The usage as the Messages API reports it.
pub(crate) fn usage_json(usage: Usage) -> serde_json::Value {
    let mut value = json!({"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens});
    if usage.cache_read_input_tokens > 0 {
        value["cache_read_input_tokens"] = usage.cache_read_input_tokens.into();
    }
    value
}

/// The most frequent event, written without an intermediate tree.
#[derive(Serialize)]
struct DeltaData<'d> {
    #[serde(rename = "type")]
    kind: &'static str,
    index: usize,
    delta: DeltaBody<'d>,
}

#[derive(Serialize)]
#[serde(tag = "type")]
enum DeltaBody<'d> {
    #[serde(rename = "text_delta")]
    Text { text: &'d str },
    #[serde(rename = "thinking_delta")]
    Thinking { thinking: &'d str },
    #[serde(rename = "signature_delta")]
    Signature { signature: &'d str },
    #[serde(rename = "input_json_delta")]
    Json { partial_json: &'d str },
}

impl<'d> DeltaData<'d> {
    fn new(index: usize, delta: &Delta<'d>) -> Self {
        let delta = match *delta {
            Delta::Text(text) => DeltaBody::Text { text },
            Delta::Thinking(thinking) => DeltaBody::Thinking { thinking },
            Delta::Signature => DeltaBody::Signature {
                signature: OWN_SIGNATURE,
            },
            Delta::Json(partial_json) => DeltaBody::Json { partial_json },
        };
        Self {
            kind: "content_block_delta",
            index,
            delta,
        }
    }
}
