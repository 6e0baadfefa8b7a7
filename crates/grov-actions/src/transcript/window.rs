//! What is in the context window of a transcript's session.

use super::line::{Block, Line};
use super::{Usage, newest_usage};
use crate::call_subject;
use serde_json::value::RawValue;
use std::collections::HashMap;

/// The kind of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WindowPartKind {
    /// A text of the user or the client.
    User,
    /// A text of the assistant.
    Assistant,
    /// Reasoning of the assistant.
    Thinking,
    /// A call of this tool, or its result.
    Tool(String),
}

/// A part of the window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowPart {
    /// Its kind.
    pub kind: WindowPartKind,
    /// The file or command of a call, not redacted; empty if unknown.
    pub subject: String,
    /// Its size as JSON in bytes, without images.
    pub bytes: u64,
    /// Its images and documents.
    pub media: u64,
}

/// Reads a transcript line by line, and keeps what is in the window: the main conversation since the last compaction.
#[derive(Clone, Debug, Default)]
pub struct WindowReader {
    /// The parts, oldest first.
    pub parts: Vec<WindowPart>,
    /// The usage of the newest response since the last compaction.
    pub usage: Option<Usage>,
    /// The newest summary of a compaction, not redacted.
    pub summary: Option<String>,
    calls: HashMap<String, (String, String)>,
}

impl WindowReader {
    /// Reads a line. What is no line of the main conversation is skipped.
    pub fn read_line(&mut self, bytes: &[u8]) {
        let Some(line) = Line::parse(bytes) else {
            return;
        };
        if line.agent().is_some() {
            return;
        }
        match line.kind().as_deref() {
            Some("system") if line.subtype().as_deref() == Some("compact_boundary") => {
                self.parts.clear();
                self.calls.clear();
                self.usage = None;
            }
            Some("user") => self.message(&line, &WindowPartKind::User),
            Some("assistant") => {
                self.message(&line, &WindowPartKind::Assistant);
                let mut whole = bytes.to_vec();
                whole.push(b'\n');
                self.usage = newest_usage(&whole).or(self.usage.take());
            }
            Some("attachment") => self.parts.push(part(WindowPartKind::User, bytes.len())),
            _ => {}
        }
    }

    fn message(&mut self, line: &Line<'_>, texts: &WindowPartKind) {
        let Some(message) = line.message() else {
            return;
        };
        if let Some(text) = message.text() {
            if line.is_summary() {
                self.summary = Some(text.clone().into_owned());
            }
            self.parts.push(part(texts.clone(), text.len()));
        }
        for block in message.blocks() {
            if line.is_summary()
                && let Some(text) = block.text()
            {
                self.summary = Some(text.into_owned());
            }
            let part = self.part(&block, texts);
            self.parts.push(part);
        }
    }

    fn part(&mut self, block: &Block<'_>, texts: &WindowPartKind) -> WindowPart {
        let size = |text: Option<&str>| text.map_or(0, str::len);
        match block.kind().as_deref() {
            Some("tool_use") => {
                let name = block.name().unwrap_or_default().into_owned();
                let subject = block.input().map(call_subject).unwrap_or_default();
                if let Some(id) = block.id() {
                    self.calls
                        .insert(id.into_owned(), (name.clone(), subject.clone()));
                }
                WindowPart {
                    subject,
                    ..part(WindowPartKind::Tool(name), size(block.input()))
                }
            }
            Some("tool_result") => {
                let id = block.tool_use_id().unwrap_or_default();
                let (name, subject) = self.calls.get(&*id).cloned().unwrap_or_default();
                let content = block.raw("content").map(RawValue::get);
                let media = media_in(content.unwrap_or_default());
                let bytes = if media > 0 { 0 } else { size(content) };
                WindowPart {
                    subject,
                    media,
                    ..part(WindowPartKind::Tool(name), bytes)
                }
            }
            Some("thinking" | "redacted_thinking") => {
                let text = block.raw("thinking").or_else(|| block.raw("data"));
                part(WindowPartKind::Thinking, size(text.map(RawValue::get)))
            }
            Some("image" | "document") => WindowPart {
                media: 1,
                ..part(texts.clone(), 0)
            },
            _ => part(texts.clone(), block.text().map_or(0, |text| text.len())),
        }
    }
}

fn part(kind: WindowPartKind, bytes: usize) -> WindowPart {
    WindowPart {
        kind,
        subject: String::new(),
        bytes: bytes as u64,
        media: 0,
    }
}

/// The number of images and documents in a result, whose data are base64.
fn media_in(content: &str) -> u64 {
    if content.starts_with('[') {
        content.matches("\"base64\"").count() as u64
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(lines: &[Value]) -> WindowReader {
        let mut reader = WindowReader::default();
        for line in lines {
            reader.read_line(line.to_string().as_bytes());
        }
        reader.read_line(b"{\"type\":\"assis");
        reader
    }

    fn called(id: &str, path: &str, tokens: u64) -> Value {
        json!({"type": "assistant", "message": {"id": id, "model": "m", "usage": {"input_tokens": tokens},
            "content": [{"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": path}}]}})
    }

    fn result(id: &str, content: Value) -> Value {
        json!({"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": id, "content": content}]}})
    }

    #[test]
    fn only_the_history_since_the_compaction_is_in_the_window() {
        let lines = [
            json!({"type": "user", "message": {"content": "fix it"}}),
            called("t1", "old.rs", 100),
            result("t1", json!("a".repeat(500))),
            json!({"type": "system", "subtype": "compact_boundary"}),
            json!({"type": "user", "isCompactSummary": true, "message": {"content": "This session is being continued"}}),
            called("t2", "new.rs", 50),
            result("t2", json!("b".repeat(200))),
            json!({"type": "user", "isSidechain": true, "message": {"content": "subagent"}}),
        ];
        let found = read(&lines);
        assert!(
            found.parts.iter().all(|part| part.subject != "old.rs"),
            "{found:?}"
        );
        let sizes: Vec<u64> = found.parts.iter().map(|part| part.bytes).collect();
        assert_eq!(sizes, [31, 22, 202], "{found:?}");
        assert_eq!(found.usage.unwrap().tokens.input, 50);
        assert_eq!(found.summary.as_deref(), Some("This session is being continued"));
        assert_eq!(read(&lines[..4]).usage, None);
    }

    #[test]
    fn images_count_by_number() {
        let image = json!([{"type": "image", "source": {"type": "base64", "data": "A".repeat(5000)}}]);
        let found = read(&[called("t1", "a.png", 1), result("t1", image)]);
        assert_eq!((found.parts[1].bytes, found.parts[1].media), (0, 1));
    }
}
