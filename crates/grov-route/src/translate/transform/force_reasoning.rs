//! The request side of `forcereasoning`.

use super::tags::REASONING_TAGS;
use crate::translate::chat::request::THINKING;
use crate::translate::json::{Json, Object};
use std::borrow::Cow;

/// Appended to the last message of the user.
const PROMPT: &str = "\n\nAlways think step by step before answering. Output your thinking process inside \
    <reasoning_content>...</reasoning_content> tags, then provide your final answer after the closing tag.";

/// Assistant turns whose thinking is sent back.
const MAX_TURNS: usize = 10;

/// Asks for reasoning between tags, and writes earlier thinking between the same tags.
pub(super) fn ask(chat: &mut Object<'_>) {
    let Some(messages) = chat.get("messages").and_then(Json::as_array) else {
        return;
    };
    let mut shown = 0;
    for message in messages.iter_mut().rev() {
        let Some(message) = message.as_object() else {
            continue;
        };
        if role(message) != Some("assistant") {
            continue;
        }
        let thinking = message.remove(THINKING).and_then(Json::into_text);
        if let Some(thinking) = thinking.filter(|thinking| !thinking.is_empty() && shown < MAX_TURNS) {
            shown += 1;
            let content = message.get("content").and_then(Json::as_text).unwrap_or_default();
            let (open, close) = REASONING_TAGS;
            let content = format!("{open}{thinking}{close}\n{content}");
            message.set("content", Json::text(content));
        }
    }
    // Behind the user's message there may be notes of the system.
    let last = messages
        .iter_mut()
        .rposition(|message| message.as_object().and_then(role) != Some("system"));
    let Some(at) = last else { return };
    let Some(message) = messages[at].as_object() else {
        return;
    };
    match role(message) {
        Some("user") => append(message),
        Some("tool") => {
            let user = Json::object([("role", Json::text("user")), ("content", Json::text(PROMPT))]);
            messages.insert(at + 1, user);
        }
        _ => {}
    }
}

fn role<'m>(message: &'m mut Object<'_>) -> Option<&'m str> {
    message.get("role").and_then(Json::as_text)
}

fn append<'a>(message: &mut Object<'a>) {
    let Some(content) = message.get("content") else {
        message.set("content", Json::text(PROMPT));
        return;
    };
    if let Some(parts) = content.as_array() {
        parts.push(Json::object([
            ("type", Json::text("text")),
            ("text", Json::text(PROMPT)),
        ]));
        return;
    }
    if let Some(text) = content.as_text() {
        *content = Json::Text(Cow::Owned(format!("{text}{PROMPT}")));
    }
}
