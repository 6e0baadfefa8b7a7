//! Adds up what fills a request.

use grov_actions::call_subject;
use grov_context::{ContentPart, ContextContent, PartKind};
use grov_redact::Redactor;
use grov_wire::{Block, BlockKind, Content, RequestIndex, Role};
use std::collections::HashMap;

/// Maximum characters of a subject that is kept.
const MAX_SHOWN: usize = 160;
/// Bytes of a result with images, whose data says nothing about its tokens.
const BYTES_BESIDE_MEDIA: usize = 512;

/// Adds up what fills a request. `tokens` are those of the whole window.
pub(super) fn content_of(index: &RequestIndex, tokens: u64) -> ContextContent {
    let mut parts = Vec::new();
    let mut calls: HashMap<String, (String, String)> = HashMap::new();
    for (kind, field) in [(PartKind::System, "system"), (PartKind::Definitions, "tools")] {
        parts.extend(index.field(field).map(|raw| part(kind, raw.len())));
    }
    for message in index.messages() {
        let texts = match message.role() {
            Role::Assistant => PartKind::Assistant,
            _ => PartKind::User,
        };
        match message.content() {
            Content::Blocks(blocks) => {
                for block in blocks {
                    parts.push(part_of(&block, &texts, &mut calls));
                }
            }
            Content::Text(_) | Content::Other => parts.push(part(texts, message.raw().len())),
        }
    }
    let mut content = ContextContent::of(parts, tokens);
    for share in &mut content.largest {
        // Redacted before it is shortened, because a part of a secret is not recognised.
        let subject = Redactor::shared().redact(&share.subject);
        share.subject = shortened(&subject);
    }
    content
}

fn part(kind: PartKind, bytes: usize) -> ContentPart {
    ContentPart {
        kind,
        subject: String::new(),
        bytes: bytes as u64,
        media: 0,
    }
}

fn part_of(
    block: &Block<'_>,
    texts: &PartKind,
    calls: &mut HashMap<String, (String, String)>,
) -> ContentPart {
    let raw = block.raw();
    match block.kind() {
        BlockKind::Text => part(texts.clone(), raw.len()),
        BlockKind::Thinking => part(PartKind::Thinking, raw.len()),
        BlockKind::ToolUse => {
            let name = block.tool_name().unwrap_or_default().into_owned();
            let subject = block.input().map(call_subject).unwrap_or_default();
            if let Some(id) = block.tool_use_id() {
                calls.insert(id.into_owned(), (name.clone(), subject.clone()));
            }
            ContentPart {
                subject,
                ..part(PartKind::Tool(name), raw.len())
            }
        }
        BlockKind::ToolResult => {
            let id = block.tool_use_id().unwrap_or_default();
            let (name, subject) = calls.get(&*id).cloned().unwrap_or_default();
            let media = media_in(block.result_content().unwrap_or_default());
            let bytes = if media > 0 {
                raw.len().min(BYTES_BESIDE_MEDIA)
            } else {
                raw.len()
            };
            ContentPart {
                subject,
                media,
                ..part(PartKind::Tool(name), bytes)
            }
        }
        BlockKind::Other => {
            let is_media = block
                .type_name()
                .is_some_and(|name| matches!(&*name, "image" | "document"));
            ContentPart {
                media: u64::from(is_media),
                ..part(texts.clone(), if is_media { 0 } else { raw.len() })
            }
        }
    }
}

/// The number of images and documents in a result.
fn media_in(content: &str) -> u64 {
    if !content.starts_with('[') || !content.contains("\"base64\"") {
        return 0;
    }
    content.matches("\"base64\"").count() as u64
}

fn shortened(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default().trim();
    match line.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use serde_json::{Value, json};

    fn content(messages: &Value) -> ContextContent {
        let body =
            json!({"model": "m", "system": "s".repeat(1000), "tools": [], "messages": messages}).to_string();
        content_of(&RequestIndex::parse(&Bytes::from(body)).unwrap(), 0)
    }

    #[test]
    fn results_belong_to_the_file_that_was_read() {
        let call = |id: &str, name: &str, input: Value| json!({"type": "tool_use", "id": id, "name": name, "input": input});
        let result =
            |id: &str, text: String| json!({"type": "tool_result", "tool_use_id": id, "content": text});
        let found = content(&json!([
            {"role": "user", "content": "read it"},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "x", "signature": "y"},
                call("t1", "Read", json!({"file_path": "/p/big.rs"})),
                call("t2", "Bash", json!({"command": "cargo test", "description": "test"})),
            ]},
            {"role": "user", "content": [result("t1", "a".repeat(9000)), result("t2", "b".repeat(300))]},
            {"role": "assistant", "content": [call("t3", "Read", json!({"file_path": "/p/big.rs", "offset": 9}))]},
            {"role": "user", "content": [result("t3", "c".repeat(4000)), result("gone", "d".repeat(40))]},
        ]));
        let first = &found.largest[0];
        assert_eq!(
            (first.tool.as_str(), first.subject.as_str(), first.parts),
            ("Read", "/p/big.rs", 4)
        );
        assert!(first.tokens > 3_200, "{first:?}");
        assert!(found.largest.iter().any(|share| share.subject == "cargo test"));
        assert!(found.by_tool.iter().any(|share| share.tool == "thinking"));
    }

    #[test]
    fn images_do_not_count_by_their_bytes() {
        let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A".repeat(90_000)}});
        let found = content(&json!([
            {"role": "user", "content": [{"type": "text", "text": "look"}, image]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "a.png"}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": [image]}]},
        ]));
        assert!(
            found.by_tool.iter().all(|share| share.tokens < 2_000),
            "{found:?}"
        );
    }

    #[test]
    fn secrets_in_commands_are_masked() {
        let command = format!(
            "curl -H 'authorization: Bearer sk-ant-api03-{}' x",
            "a".repeat(90)
        );
        let found = content(&json!([
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": command}}
            ]},
        ]));
        assert!(
            !serde_json::to_string(&found).unwrap().contains("aaaa"),
            "{found:?}"
        );
    }
}
