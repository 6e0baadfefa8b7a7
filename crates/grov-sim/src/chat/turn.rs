//! Reads a conversation in OpenAI's format as one of the Messages API, for which scenarios are written.

use crate::json::Json;
use crate::request::MessagesRequest;

/// The conversation of a request with tools or with a scenario's marker; `None` for any other.
pub(super) fn of(body: &Json) -> Option<MessagesRequest> {
    let has_tools = body
        .get("tools")
        .and_then(Json::as_array)
        .is_some_and(|tools| !tools.is_empty());
    let messages = body.get("messages").and_then(Json::as_array)?;
    let is_marked = messages
        .iter()
        .any(|message| text(message).contains("[[scenario:"));
    if !has_tools && !is_marked {
        return None;
    }
    let mut system = Vec::new();
    let mut turns: Vec<(&str, Vec<Json>)> = Vec::new();
    for message in messages {
        let (role, blocks) = match message.get_str("role") {
            Some("assistant") => ("assistant", assistant(message)),
            Some("tool") => ("user", vec![tool_result(message)]),
            Some("user") => ("user", vec![text_block(without_reminders(&text(message)))]),
            _ => {
                system.push(text_block(text(message)));
                continue;
            }
        };
        match turns.last_mut() {
            Some((last, content)) if *last == role => content.extend(blocks),
            _ => turns.push((role, blocks)),
        }
    }
    let messages = turns
        .into_iter()
        .map(|(role, content)| Json::object([("role", role.into()), ("content", Json::Array(content))]))
        .collect();
    let request = Json::object([
        ("model", body.get("model").cloned().unwrap_or_default()),
        ("max_tokens", 1_u64.into()),
        ("system", Json::Array(system)),
        ("messages", Json::Array(messages)),
    ]);
    MessagesRequest::parse(request.to_string().as_bytes()).ok()
}

/// The text of a message, whose content is a string or a list of parts.
fn text(message: &Json) -> String {
    match message.get("content") {
        Some(Json::Array(parts)) => parts.iter().filter_map(|part| part.get_str("text")).collect(),
        Some(other) => other.as_str().unwrap_or_default().to_owned(),
        None => String::new(),
    }
}

/// A user's text without the reminders of the client, which translators join with it.
fn without_reminders(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<system-reminder>") {
        kept.push_str(before);
        rest = after
            .split_once("</system-reminder>")
            .map_or("", |(_, after)| after);
    }
    kept.push_str(rest);
    kept
}

fn text_block(text: String) -> Json {
    Json::object([("type", "text".into()), ("text", text.as_str().into())])
}

fn tool_result(message: &Json) -> Json {
    Json::object([
        ("type", "tool_result".into()),
        (
            "tool_use_id",
            message.get("tool_call_id").cloned().unwrap_or_default(),
        ),
        ("content", text(message).as_str().into()),
    ])
}

fn assistant(message: &Json) -> Vec<Json> {
    let said = Some(text(message))
        .filter(|text| !text.is_empty())
        .map(text_block);
    let calls = message
        .get("tool_calls")
        .and_then(Json::as_array)
        .unwrap_or_default();
    let calls = calls.iter().filter_map(|call| {
        let function = call.get("function")?;
        let input = Json::parse(function.get_str("arguments")?.as_bytes()).ok()?;
        Some(Json::object([
            ("type", "tool_use".into()),
            ("id", call.get("id").cloned().unwrap_or_default()),
            ("name", function.get("name").cloned().unwrap_or_default()),
            ("input", input),
        ]))
    });
    said.into_iter().chain(calls).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reminders_are_no_part_of_a_prompt() {
        let text = "a <system-reminder>\nno [[scenario:x]]\n</system-reminder>\nb<system-reminder>open";
        assert_eq!(without_reminders(text), "a \nb");
    }
}
