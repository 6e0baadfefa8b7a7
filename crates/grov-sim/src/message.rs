//! A model's answer as the API sends it: one JSON message, or the events of a stream.

use crate::cache::CacheUsage;
use crate::json::Json;
use crate::request::is_type;

/// The content of an answer, however it is sent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) id: String,
    pub(crate) model: String,
    pub(crate) blocks: Vec<Json>,
    pub(crate) stop_reason: String,
    pub(crate) usage: CacheUsage,
    pub(crate) output_tokens: u64,
}

/// How the events of a stream are written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    /// Characters per delta.
    pub(crate) delta: usize,
    /// CRLF line ends.
    pub(crate) crlf: bool,
    /// Comment lines and pings between the events.
    pub(crate) comments: bool,
}

impl Answer {
    /// The answer as one JSON message.
    pub(crate) fn json(&self) -> Json {
        Json::object([
            ("id", self.id.as_str().into()),
            ("type", "message".into()),
            ("role", "assistant".into()),
            ("model", self.model.as_str().into()),
            ("content", self.blocks.clone().into()),
            ("stop_reason", self.stop_reason.as_str().into()),
            ("stop_sequence", Json::Null),
            ("usage", self.usage(self.output_tokens)),
        ])
    }

    fn usage(&self, output: u64) -> Json {
        Json::object([
            ("input_tokens", self.usage.input.into()),
            ("cache_creation_input_tokens", self.usage.creation().into()),
            ("cache_read_input_tokens", self.usage.read.into()),
            (
                "cache_creation",
                Json::object([
                    ("ephemeral_5m_input_tokens", self.usage.creation_5m.into()),
                    ("ephemeral_1h_input_tokens", self.usage.creation_1h.into()),
                ]),
            ),
            ("output_tokens", output.into()),
            ("service_tier", "standard".into()),
        ])
    }

    /// The answer as events, each with its empty line.
    pub(crate) fn events(&self, style: Style) -> Vec<Vec<u8>> {
        let mut events = vec![self.message_start()];
        for (index, block) in self.blocks.iter().enumerate() {
            block_events(index as u64, block, style.delta, &mut events);
            if index == 0 {
                events.insert(2, Json::object([("type", "ping".into())]));
            }
        }
        events.push(Json::object([
            ("type", "message_delta".into()),
            (
                "delta",
                Json::object([
                    ("stop_reason", self.stop_reason.as_str().into()),
                    ("stop_sequence", Json::Null),
                ]),
            ),
            ("usage", self.final_usage()),
        ]));
        events.push(Json::object([("type", "message_stop".into())]));
        events
            .iter()
            .enumerate()
            .map(|(at, event)| write_event(event, style, at))
            .collect()
    }

    fn message_start(&self) -> Json {
        let mut message = self.json();
        message.set("content", Json::Array(Vec::new()));
        message.set("stop_reason", Json::Null);
        message.set("usage", self.usage(1));
        Json::object([("type", "message_start".into()), ("message", message)])
    }

    fn final_usage(&self) -> Json {
        Json::object([
            ("input_tokens", self.usage.input.into()),
            ("cache_creation_input_tokens", self.usage.creation().into()),
            ("cache_read_input_tokens", self.usage.read.into()),
            ("output_tokens", self.output_tokens.into()),
        ])
    }
}

/// An `error` event, as it appears inside a stream.
pub(crate) fn error_event(kind: &str, message: &str) -> Vec<u8> {
    write_event(
        &error_body(kind, message),
        Style {
            delta: 1,
            crlf: false,
            comments: false,
        },
        0,
    )
}

/// An error in the API's shape.
pub(crate) fn error_body(kind: &str, message: &str) -> Json {
    Json::object([
        ("type", "error".into()),
        (
            "error",
            Json::object([("type", kind.into()), ("message", message.into())]),
        ),
    ])
}

fn write_event(event: &Json, style: Style, at: usize) -> Vec<u8> {
    let name = event.get_str("type").unwrap_or_default();
    let mut text = format!("event: {name}\ndata: {event}\n\n");
    if style.comments {
        text = format!(": comment {at}\n\n{text}event: ping\ndata: {{\"type\": \"ping\"}}\n\n");
    }
    if style.crlf {
        text = text.replace('\n', "\r\n");
    }
    text.into_bytes()
}

fn block_events(index: u64, block: &Json, delta: usize, events: &mut Vec<Json>) {
    let mut start = block.clone();
    let mut deltas = Vec::new();
    if is_type(block, "text") {
        start.set("text", "".into());
        deltas
            .extend(pieces(block.get_str("text"), delta).map(|piece| one_delta("text_delta", "text", piece)));
    } else if is_type(block, "thinking") {
        start.set("thinking", "".into());
        start.set("signature", "".into());
        let thinking = pieces(block.get_str("thinking"), delta);
        deltas.extend(thinking.map(|piece| one_delta("thinking_delta", "thinking", piece)));
        let signature = block.get_str("signature").unwrap_or_default();
        deltas.push(one_delta("signature_delta", "signature", signature.to_owned()));
    } else if is_type(block, "tool_use") || is_type(block, "server_tool_use") {
        start.set("input", Json::Object(Vec::new()));
        let input = block.get("input").map(Json::to_string).unwrap_or_default();
        deltas.push(one_delta("input_json_delta", "partial_json", String::new()));
        let input = pieces(Some(&input), delta).collect::<Vec<_>>();
        deltas.extend(
            input
                .into_iter()
                .map(|piece| one_delta("input_json_delta", "partial_json", piece)),
        );
    }
    events.push(Json::object([
        ("type", "content_block_start".into()),
        ("index", index.into()),
        ("content_block", start),
    ]));
    events.extend(deltas.into_iter().map(|delta| {
        Json::object([
            ("type", "content_block_delta".into()),
            ("index", index.into()),
            ("delta", delta),
        ])
    }));
    events.push(Json::object([
        ("type", "content_block_stop".into()),
        ("index", index.into()),
    ]));
}

fn one_delta(kind: &str, field: &str, piece: String) -> Json {
    Json::object([("type", kind.into()), (field, piece.into())])
}

/// The text in pieces of at most `size` characters.
fn pieces(text: Option<&str>, size: usize) -> impl Iterator<Item = String> {
    let characters: Vec<char> = text.unwrap_or_default().chars().collect();
    let pieces: Vec<String> = characters
        .chunks(size.max(1))
        .map(|piece| piece.iter().collect())
        .collect();
    pieces.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer() -> Answer {
        let blocks = Json::parse(
            br#"[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"h\u00e4llo"},
                {"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}},{"type":"new","x":1}]"#,
        )
        .unwrap();
        Answer {
            id: "msg_1".to_owned(),
            model: "m".to_owned(),
            blocks: blocks.as_array().unwrap().to_vec(),
            stop_reason: "tool_use".to_owned(),
            usage: CacheUsage {
                input: 1,
                read: 2,
                creation_5m: 3,
                creation_1h: 4,
            },
            output_tokens: 5,
        }
    }

    #[test]
    fn a_stream_contains_the_whole_message() {
        let events = answer().events(Style {
            delta: 2,
            crlf: false,
            comments: false,
        });
        let text: String = events
            .iter()
            .map(|event| String::from_utf8(event.clone()).unwrap())
            .collect();
        let names: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("event: "))
            .collect();
        assert_eq!(
            &names[..4],
            [
                "message_start",
                "content_block_start",
                "ping",
                "content_block_delta"
            ]
        );
        assert_eq!(names.last(), Some(&"message_stop"));
        let joined = |field: &str| {
            text.lines()
                .filter_map(|line| Json::parse(line.strip_prefix("data: ")?.as_bytes()).ok())
                .filter_map(|event| event.get("delta")?.get_str(field).map(str::to_owned))
                .collect::<String>()
        };
        assert_eq!(joined("thinking"), "hm");
        assert_eq!(joined("signature"), "s");
        assert_eq!(joined("text"), "hällo");
        assert_eq!(joined("partial_json"), r#"{"command":"ls"}"#);
        assert!(text.contains(r#""content_block":{"type":"new","x":1}"#));
        assert!(text.contains(r#""ephemeral_1h_input_tokens":4"#));
    }

    #[test]
    fn line_ends_and_comments_follow_the_behaviour() {
        let events = answer().events(Style {
            delta: 100,
            crlf: true,
            comments: true,
        });
        let text = String::from_utf8(events.concat()).unwrap();
        assert!(text.starts_with(": comment 0\r\n\r\nevent: message_start\r\ndata: {"));
        assert_eq!(text.matches('\n').count(), text.matches("\r\n").count());
    }
}
