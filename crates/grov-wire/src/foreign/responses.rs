//! Responses of OpenAI's Responses API.

use super::turn::{Kind, TurnBuilder, count, report_error, text_block};
use crate::response::Block;
use serde_json::{Value, json};

/// Processes an event of a stream.
pub(super) fn event(turn: &mut TurnBuilder, event: &Value) {
    let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
    let place = event.get("output_index").and_then(Value::as_u64);
    match kind {
        "response.created" | "response.in_progress" | "response.queued" => {
            if let Some(response) = event.get("response") {
                identify(turn, response);
            }
        }
        "response.output_item.added" | "response.output_item.done" => {
            let (Some(place), Some(item)) = (place, event.get("item")) else {
                return turn.malformed();
            };
            if let Some(block) = block(item, kind.ends_with("done")) {
                turn.put(place, block);
            }
        }
        "response.output_text.delta"
        | "response.refusal.delta"
        | "response.reasoning_summary_text.delta"
        | "response.reasoning_text.delta"
        | "response.function_call_arguments.delta"
        | "response.custom_tool_call_input.delta" => {
            let (Some(place), Some(delta)) = (place, event.get("delta").and_then(Value::as_str)) else {
                return turn.malformed();
            };
            match turn.block_mut(place) {
                Some(
                    Block::Text {
                        text,
                        complete: false,
                    }
                    | Block::Thinking {
                        text,
                        complete: false,
                    }
                    | Block::ToolUse {
                        input: text,
                        complete: false,
                        ..
                    },
                ) => text.push_str(delta),
                _ => turn.misplaced(),
            }
        }
        "response.completed" | "response.incomplete" | "response.failed" | "response.done" => {
            match event.get("response") {
                Some(response) => end(turn, response),
                None => turn.malformed(),
            }
        }
        "error" => report_error(turn, event.get("error").unwrap_or(event)),
        // Parts of items, which their last event repeats whole.
        kind if kind.starts_with("response.") => {}
        kind => turn.unrecognised(kind, event),
    }
}

/// Processes a JSON body.
pub(super) fn body(turn: &mut TurnBuilder, body: &Value) {
    if body.get("object").and_then(Value::as_str) == Some("response") || body.get("output").is_some() {
        end(turn, body);
    } else if let Some(error) = body.get("error").filter(|error| !error.is_null()) {
        report_error(turn, error);
    }
}

fn identify(turn: &mut TurnBuilder, response: &Value) {
    let text = |name| response.get(name).and_then(Value::as_str);
    turn.identify(text("id"), text("model"));
}

/// Processes the whole response, which ends a stream and is a body.
fn end(turn: &mut TurnBuilder, response: &Value) {
    identify(turn, response);
    if let Some(usage) = response.get("usage") {
        let cached = count(usage, &["input_tokens_details", "cached_tokens"]);
        let written = count(usage, &["input_tokens_details", "cache_write_tokens"]);
        let total = count(usage, &["input_tokens"]);
        let target = turn.usage();
        target.cache_read = cached;
        target.cache_creation = written;
        target.input = total.saturating_sub(cached).saturating_sub(written);
        target.output = count(usage, &["output_tokens"]);
    }
    // Some servers send the items only here.
    if turn.blocks().is_empty() {
        let items = response.get("output").and_then(Value::as_array);
        for (place, item) in (0..).zip(items.into_iter().flatten()) {
            if let Some(block) = block(item, true) {
                turn.put(place, block);
            }
        }
    }
    if let Some(error) = response.get("error").filter(|error| !error.is_null()) {
        return report_error(turn, error);
    }
    match response.get("status").and_then(Value::as_str) {
        Some("failed") => return turn.error("error", ""),
        Some("incomplete") => {
            let reason = response.pointer("/incomplete_details/reason");
            turn.stop_reason(match reason.and_then(Value::as_str) {
                Some("max_output_tokens") => "max_tokens",
                Some("content_filter") => "refusal",
                Some(other) => other,
                None => "incomplete",
            });
        }
        Some("completed") | None => {
            let reason = if turn.calls_tools() {
                "tool_use"
            } else {
                "end_turn"
            };
            turn.stop_reason(reason);
        }
        Some(other) => turn.stop_reason(other),
    }
    turn.done();
}

/// Returns the block of an item. `None` for items without content of the model.
fn block(item: &Value, complete: bool) -> Option<Block> {
    let text = |name| item.get(name).and_then(Value::as_str).unwrap_or_default();
    let tool = |name: &str, input: String| Block::ToolUse {
        id: text("call_id").to_owned(),
        name: name.to_owned(),
        input,
        complete,
    };
    match text("type") {
        "message" => Some(text_block(Kind::Text, &texts(item, "content"), complete)),
        "reasoning" => {
            let whole = texts(item, "content");
            let summary = if whole.is_empty() {
                texts(item, "summary")
            } else {
                whole
            };
            Some(text_block(Kind::Thinking, &summary, complete))
        }
        "function_call" => Some(tool(text("name"), text("arguments").to_owned())),
        "custom_tool_call" if complete => {
            Some(tool(text("name"), json!({ "input": text("input") }).to_string()))
        }
        "custom_tool_call" => Some(tool(text("name"), text("input").to_owned())),
        "local_shell_call" => {
            let action = item.get("action").cloned().unwrap_or_default();
            Some(tool("local_shell", action.to_string()))
        }
        "web_search_call" => Some(Block::ServerToolUse {
            id: text("id").to_owned(),
            name: "web_search".to_owned(),
            input: item.get("action").cloned().unwrap_or_default().to_string(),
            complete,
        }),
        kind => Some(Block::Other {
            kind: kind.to_owned(),
            json: item.to_string(),
            complete,
        }),
    }
}

/// Returns the texts of the parts in a field, joined.
fn texts(item: &Value, field: &str) -> String {
    let parts = item.get(field).and_then(Value::as_array);
    let texts = parts.into_iter().flatten().filter_map(|part| {
        let named = part.get("text").or_else(|| part.get("refusal"));
        named.and_then(Value::as_str)
    });
    texts.collect::<Vec<_>>().join("\n")
}
