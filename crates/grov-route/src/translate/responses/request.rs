//! A request of Chat Completions as a request of the Responses API.

use crate::translate::json::{Json, Object};
use std::borrow::Cow;

/// Builds the body of a Responses request. Fields without a counterpart stay as they are.
pub(crate) fn responses_request(chat: Object<'_>) -> Object<'_> {
    let mut out = Object::default();
    out.push("store", Json::from(false));
    for (key, value) in chat.into_entries() {
        match key.as_ref() {
            "messages" => push_input(value, &mut out),
            "max_completion_tokens" | "max_tokens" => out.set("max_output_tokens", value),
            "tools" => out.set("tools", tools(value)),
            "tool_choice" => out.set("tool_choice", tool_choice(value)),
            "reasoning_effort" => {
                let summary = ("summary", Json::text("auto"));
                out.set("reasoning", Json::object([("effort", value), summary]));
            }
            // Not parameters of this API.
            "stop" | "stream_options" => {}
            _ => out.set(key, value),
        }
    }
    out
}

fn push_input<'a>(mut messages: Json<'a>, out: &mut Object<'a>) {
    let mut input = Vec::new();
    let messages = messages.as_array().map(std::mem::take).unwrap_or_default();
    for (at, message) in messages.into_iter().enumerate() {
        let Json::Object(mut message) = message else {
            continue;
        };
        let role = message
            .remove("role")
            .and_then(Json::into_text)
            .unwrap_or_default();
        match role.as_ref() {
            "system" if at == 0 => {
                if let Some(content) = message.remove("content") {
                    out.set("instructions", content);
                }
            }
            "assistant" => push_assistant(message, &mut input),
            "tool" => input.push(Json::object([
                ("type", Json::text("function_call_output")),
                (
                    "call_id",
                    message.remove("tool_call_id").unwrap_or(Json::text("")),
                ),
                ("output", message.remove("content").unwrap_or(Json::text(""))),
            ])),
            _ => {
                let content = message.remove("content").map_or(Json::text(""), parts);
                input.push(Json::object([("role", Json::Text(role)), ("content", content)]));
            }
        }
    }
    out.push("input", Json::Array(input));
}

/// An assistant's turn: its text, then its calls.
fn push_assistant<'a>(mut message: Object<'a>, input: &mut Vec<Json<'a>>) {
    let text = message
        .remove("content")
        .and_then(Json::into_text)
        .unwrap_or_default();
    if !text.is_empty() {
        input.push(Json::object([
            ("role", Json::text("assistant")),
            ("content", Json::Text(text)),
        ]));
    }
    let mut calls = message.remove("tool_calls");
    let calls = calls
        .as_mut()
        .and_then(Json::as_array)
        .map(std::mem::take)
        .unwrap_or_default();
    for call in calls {
        let Json::Object(mut call) = call else { continue };
        let Some(Json::Object(mut function)) = call.remove("function") else {
            continue;
        };
        input.push(Json::object([
            ("type", Json::text("function_call")),
            ("call_id", call.remove("id").unwrap_or(Json::text(""))),
            ("name", function.remove("name").unwrap_or(Json::text(""))),
            (
                "arguments",
                function.remove("arguments").unwrap_or(Json::text("{}")),
            ),
        ]));
    }
}

/// Content of a user message: parts have other names here.
fn parts(mut content: Json<'_>) -> Json<'_> {
    let Some(parts) = content.as_array() else {
        return content;
    };
    let parts = std::mem::take(parts).into_iter().filter_map(part).collect();
    Json::Array(parts)
}

fn part(part: Json<'_>) -> Option<Json<'_>> {
    let Json::Object(mut part) = part else { return None };
    let kind = part.remove("type").and_then(Json::into_text)?;
    match kind.as_ref() {
        "text" => Some(Json::object([
            ("type", Json::text("input_text")),
            ("text", part.remove("text")?),
        ])),
        "image_url" => {
            let Json::Object(mut image) = part.remove("image_url")? else {
                return None;
            };
            let url = image.remove("url")?;
            Some(Json::object([
                ("type", Json::text("input_image")),
                ("image_url", url),
            ]))
        }
        "file" => {
            let Json::Object(mut file) = part.remove("file")? else {
                return None;
            };
            Some(Json::object([
                ("type", Json::text("input_file")),
                ("filename", file.remove("filename")?),
                ("file_data", file.remove("file_data")?),
            ]))
        }
        _ => None,
    }
}

/// Functions are flat here, and strict unless it is said otherwise.
fn tools(mut tools: Json<'_>) -> Json<'_> {
    let Some(tools) = tools.as_array().map(std::mem::take) else {
        return tools;
    };
    let flat = tools.into_iter().filter_map(|tool| {
        let Json::Object(mut tool) = tool else { return None };
        let Json::Object(mut function) = tool.remove("function")? else {
            return None;
        };
        let mut flat = Object::default();
        flat.push("type", Json::text("function"));
        for key in ["name", "description", "parameters"] {
            if let Some(value) = function.remove(key) {
                flat.push(key, value);
            }
        }
        flat.push("strict", Json::from(false));
        Some(Json::Object(flat))
    });
    Json::Array(flat.collect())
}

fn tool_choice(choice: Json<'_>) -> Json<'_> {
    let Json::Object(mut choice) = choice else {
        return choice;
    };
    let name = match choice.remove("function") {
        Some(Json::Object(mut function)) => function.remove("name"),
        _ => None,
    };
    let name = name.unwrap_or(Json::Text(Cow::Borrowed("")));
    Json::object([("type", Json::text("function")), ("name", name)])
}
