//! Decodes an answer from a stream or a JSON message.

use crate::json::Json;
use crate::request::is_type;
use grov_domain::TokenUsage;

/// An answer, possibly incomplete.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Message {
    /// The blocks that are complete.
    pub(super) blocks: Vec<Json>,
    /// Whether the answer ended properly.
    pub(super) complete: bool,
    pub(super) stop_reason: Option<String>,
    pub(super) usage: TokenUsage,
    /// The error that the stream reported.
    pub(super) error: Option<String>,
}

impl Message {
    /// The texts of the answer, joined.
    pub(super) fn text(&self) -> String {
        self.blocks
            .iter()
            .filter(|block| is_type(block, "text"))
            .filter_map(|block| block.get_str("text"))
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// Reads a JSON message.
    pub(super) fn from_json(body: &[u8]) -> Self {
        let Ok(value) = Json::parse(body) else {
            return Self::default();
        };
        let mut message = Self::default();
        if is_type(&value, "message")
            && let Some(blocks) = value.get("content").and_then(Json::as_array)
        {
            message.blocks = blocks.to_vec();
            message.complete = true;
            message.stop_reason = value.get_str("stop_reason").map(str::to_owned);
            message.count(value.get("usage"));
        }
        message
    }

    /// Reads a stream, up to where it breaks off.
    pub(super) fn from_events(body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body).replace("\r\n", "\n");
        let mut message = Self::default();
        let mut open: Option<Open> = None;
        // The bytes after the last empty line are an incomplete event.
        let Some((whole, _)) = text.rsplit_once("\n\n") else {
            return message;
        };
        for event in whole.split("\n\n") {
            let data: Vec<&str> = event
                .lines()
                .filter_map(|line| line.strip_prefix("data:"))
                .map(|data| data.strip_prefix(' ').unwrap_or(data))
                .collect();
            if data.is_empty() {
                continue;
            }
            let Ok(event) = Json::parse(data.join("\n").as_bytes()) else {
                message.error = Some("a line of the stream is no JSON".to_owned());
                return message;
            };
            message.event(&event, &mut open);
            if message.complete || message.error.is_some() {
                return message;
            }
        }
        message
    }

    fn event(&mut self, event: &Json, open: &mut Option<Open>) {
        match event.get_str("type").unwrap_or_default() {
            "message_start" => self.count(event.get("message").and_then(|message| message.get("usage"))),
            "content_block_start" => *open = event.get("content_block").cloned().map(Open::new),
            "content_block_delta" => {
                if let (Some(open), Some(delta)) = (open, event.get("delta")) {
                    open.add(delta);
                }
            }
            "content_block_stop" => self.blocks.extend(open.take().map(Open::close)),
            "message_delta" => {
                let reason = event.get("delta").and_then(|delta| delta.get_str("stop_reason"));
                self.stop_reason = reason.map(str::to_owned);
                self.count(event.get("usage"));
            }
            "message_stop" => self.complete = true,
            "error" => {
                let message = event.get("error").and_then(|error| error.get_str("message"));
                self.error = Some(message.unwrap_or("error").to_owned());
            }
            _ => {}
        }
    }

    fn count(&mut self, usage: Option<&Json>) {
        let Some(usage) = usage else { return };
        let number = |usage: &Json, key: &str| usage.get(key).and_then(Json::as_u64);
        let take = |place: &mut u64, value: Option<u64>| *place = value.unwrap_or(*place);
        take(&mut self.usage.input, number(usage, "input_tokens"));
        take(
            &mut self.usage.cache_read,
            number(usage, "cache_read_input_tokens"),
        );
        take(
            &mut self.usage.cache_creation,
            number(usage, "cache_creation_input_tokens"),
        );
        take(&mut self.usage.output, number(usage, "output_tokens"));
        if let Some(kinds) = usage.get("cache_creation") {
            take(
                &mut self.usage.cache_creation_5m,
                number(kinds, "ephemeral_5m_input_tokens"),
            );
            take(
                &mut self.usage.cache_creation_1h,
                number(kinds, "ephemeral_1h_input_tokens"),
            );
        }
    }
}

/// A block that is being received.
struct Open {
    block: Json,
    input: String,
}

impl Open {
    fn new(block: Json) -> Self {
        Self {
            block,
            input: String::new(),
        }
    }

    fn add(&mut self, delta: &Json) {
        if let Some(piece) = delta.get_str("partial_json") {
            self.input.push_str(piece);
        }
        for field in ["text", "thinking", "signature"] {
            if let Some(piece) = delta.get_str(field) {
                let so_far = self.block.get_str(field).unwrap_or_default();
                let text = format!("{so_far}{piece}");
                self.block.set(field, text.into());
            }
        }
    }

    fn close(mut self) -> Json {
        if let Ok(input) = Json::parse(self.input.as_bytes()) {
            self.block.set("input", input);
        }
        self.block
    }
}
