//! Responses of OpenAI's Chat Completions API.

use super::turn::{Kind, TurnBuilder, count, report_error};
use crate::response::Block;
use serde_json::Value;

/// Where the calls of a chunk begin among the places of blocks. Text and reasoning come before them.
const CALLS: u64 = 1 << 32;
/// How many calls one index may name in turn. Some servers send all with index 0.
const CALLS_PER_INDEX: u64 = 1 << 12;

/// Processes a chunk of a stream.
pub(super) fn chunk(turn: &mut TurnBuilder, chunk: &Value) {
    choice(turn, chunk, "delta");
}

/// Processes a JSON body.
pub(super) fn body(turn: &mut TurnBuilder, body: &Value) {
    choice(turn, body, "message");
}

/// Processes the first choice of a chunk or body, whose content is in `field`.
fn choice(turn: &mut TurnBuilder, value: &Value, field: &str) {
    if let Some(error) = value.get("error").filter(|error| !error.is_null()) {
        return report_error(turn, error);
    }
    let Some(choices) = value.get("choices").and_then(Value::as_array) else {
        return turn.unrecognised("", value);
    };
    let text = |name| value.get(name).and_then(Value::as_str);
    turn.identify(text("id"), text("model"));
    if let Some(usage) = value.get("usage").filter(|usage| usage.is_object()) {
        let cached = count(usage, &["prompt_tokens_details", "cached_tokens"]);
        let target = turn.usage();
        target.cache_read = cached;
        target.input = count(usage, &["prompt_tokens"]).saturating_sub(cached);
        target.output = count(usage, &["completion_tokens"]);
    }
    let mut choices = choices.iter();
    let first = choices.find(|choice| count(choice, &["index"]) == 0);
    let Some(first) = first else { return };
    if let Some(content) = first.get(field) {
        self::content(turn, content);
    }
    if let Some(reason) = first.get("finish_reason").and_then(Value::as_str) {
        turn.stop_reason(match reason {
            // Some servers say `stop` after calls.
            "stop" if turn.calls_tools() => "tool_use",
            "stop" => "end_turn",
            "tool_calls" | "function_call" => "tool_use",
            "length" => "max_tokens",
            "content_filter" => "refusal",
            other => other,
        });
        turn.done();
    }
}

fn content(turn: &mut TurnBuilder, content: &Value) {
    let text = |name| content.get(name).and_then(Value::as_str);
    for name in ["reasoning_content", "reasoning"] {
        if let Some(reasoning) = text(name) {
            turn.push_text(Kind::Thinking, reasoning);
            break;
        }
    }
    match content.get("content") {
        Some(Value::String(addition)) => turn.push_text(Kind::Text, addition),
        Some(Value::Array(parts)) => {
            let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
            texts.for_each(|addition| turn.push_text(Kind::Text, addition));
        }
        _ => {}
    }
    if let Some(refusal) = text("refusal") {
        turn.push_text(Kind::Text, refusal);
    }
    let calls = content.get("tool_calls").and_then(Value::as_array);
    for (number, part) in (0..).zip(calls.into_iter().flatten()) {
        call(turn, number, part);
    }
}

/// Processes a call, or a part of one.
fn call(turn: &mut TurnBuilder, number: u64, part: &Value) {
    let index = part.get("index").and_then(Value::as_u64).unwrap_or(number);
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let function = part.get("function");
    let part_id = text(part.get("id"));
    let part_name = text(function.and_then(|function| function.get("name")));
    let arguments = match function.and_then(|function| function.get("arguments")) {
        // Some servers send the arguments as an object.
        Some(object @ Value::Object(_)) => object.to_string(),
        other => text(other),
    };
    let first = CALLS.saturating_add(index.min(CALLS).saturating_mul(CALLS_PER_INDEX));
    for place in first..first + CALLS_PER_INDEX {
        match turn.block_mut(place) {
            // A new id at the same index is another call.
            Some(Block::ToolUse { id, .. }) if !part_id.is_empty() && !id.is_empty() && *id != part_id => {}
            Some(Block::ToolUse { id, name, input, .. }) => {
                if id.is_empty() {
                    *id = part_id;
                }
                if name.is_empty() {
                    *name = part_name;
                }
                input.push_str(&arguments);
                return;
            }
            Some(_) => return turn.misplaced(),
            None => {
                return turn.put(
                    place,
                    Block::ToolUse {
                        id: part_id,
                        name: part_name,
                        input: arguments,
                        complete: false,
                    },
                );
            }
        }
    }
    turn.misplaced();
}
