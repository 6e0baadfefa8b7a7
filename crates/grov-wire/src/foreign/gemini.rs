//! Responses of Gemini's `generateContent`, whole and in chunks.

use super::turn::{Kind, TurnBuilder, count, report_error};
use crate::response::Block;
use serde_json::Value;

/// Processes a response, or a chunk of a stream, which has the same form.
pub(super) fn chunk(turn: &mut TurnBuilder, chunk: &Value) {
    if let Some(error) = chunk.get("error").filter(|error| !error.is_null()) {
        return report_error(turn, error);
    }
    let candidates = chunk.get("candidates").and_then(Value::as_array);
    let usage = chunk.get("usageMetadata");
    let blocked = chunk
        .pointer("/promptFeedback/blockReason")
        .and_then(Value::as_str);
    if candidates.is_none() && usage.is_none() && blocked.is_none() {
        return turn.unrecognised("", chunk);
    }
    let text = |name| chunk.get(name).and_then(Value::as_str);
    turn.identify(text("responseId"), text("modelVersion"));
    if let Some(usage) = usage {
        let cached = count(usage, &["cachedContentTokenCount"]);
        let prompt = count(usage, &["promptTokenCount"]) + count(usage, &["toolUsePromptTokenCount"]);
        let answer = count(usage, &["candidatesTokenCount"]) + count(usage, &["thoughtsTokenCount"]);
        let target = turn.usage();
        target.cache_read = cached;
        target.input = prompt.saturating_sub(cached);
        target.output = answer;
    }
    if blocked.is_some() {
        turn.stop_reason("refusal");
        turn.done();
    }
    let mut candidates = candidates.into_iter().flatten();
    let first = candidates.find(|candidate| count(candidate, &["index"]) == 0);
    let Some(first) = first else { return };
    let parts = first.pointer("/content/parts").and_then(Value::as_array);
    parts
        .into_iter()
        .flatten()
        .for_each(|content| part(turn, content));
    if let Some(reason) = first.get("finishReason").and_then(Value::as_str) {
        turn.stop_reason(match reason {
            "STOP" if turn.calls_tools() => "tool_use",
            "STOP" => "end_turn",
            "MAX_TOKENS" => "max_tokens",
            "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" => "refusal",
            other => other,
        });
        turn.done();
    }
}

fn part(turn: &mut TurnBuilder, part: &Value) {
    if let Some(text) = part.get("text").and_then(Value::as_str) {
        let is_thought = part.get("thought").and_then(Value::as_bool) == Some(true);
        return turn.push_text(if is_thought { Kind::Thinking } else { Kind::Text }, text);
    }
    if let Some(call) = part.get("functionCall") {
        let text = |name| {
            call.get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        return turn.push(Block::ToolUse {
            id: text("id"),
            name: text("name"),
            input: call.get("args").map_or_else(|| "{}".to_owned(), Value::to_string),
            complete: true,
        });
    }
    let kind = part.as_object().and_then(|part| part.keys().next());
    turn.push(Block::Other {
        kind: kind.cloned().unwrap_or_default(),
        json: part.to_string(),
        complete: true,
    });
}
