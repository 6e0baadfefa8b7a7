//! A request of the Messages API as a request of Chat Completions.

mod content;
mod tools;

use crate::translate::json::{Json, Object};
use crate::translate::messages::{Block, Content, Message, MessagesBody};
use content::{joined, user_content};
use std::borrow::Cow;

/// What the translation adds or limits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestOptions<'o> {
    /// The provider's name of the model.
    pub(crate) model: &'o str,
    /// The most that the provider allows to be generated.
    pub(crate) max_tokens: Option<u64>,
}

/// The key under which an assistant message carries its thinking until [`finish`].
pub(crate) const THINKING: &str = "thinking";

/// Stop sequences that Chat Completions accepts.
const MAX_STOPS: usize = 4;

/// The client's attribution line. It differs from request to request and would spoil the provider's prompt cache.
const ATTRIBUTION: &str = "x-anthropic-billing-header";

/// A role that no API knows.
#[derive(Debug, thiserror::Error)]
#[error("unknown role `{0}`")]
pub(crate) struct UnknownRole(pub(crate) String);

/// Builds the body of a Chat Completions request.
pub(crate) fn chat_request<'a>(
    body: MessagesBody<'a>,
    options: RequestOptions<'_>,
) -> Result<Object<'a>, UnknownRole> {
    let mut chat = Object::default();
    chat.push("model", Json::text(options.model.to_owned()));
    let mut messages = Vec::with_capacity(body.messages.len() + 1);
    if let Some(system) = system(body.system) {
        messages.push(message("system", Json::Text(system)));
    }
    for message in body.messages {
        push_message(message, &mut messages)?;
    }
    chat.push("messages", Json::Array(messages));
    if let Some(asked) = body.max_tokens.filter(|asked| *asked > 0) {
        let limit = options.max_tokens.filter(|most| *most > 0);
        chat.push(
            "max_completion_tokens",
            Json::from(limit.map_or(asked, |most| asked.min(most))),
        );
    }
    if let Some(temperature) = body.temperature {
        chat.push("temperature", Json::Raw(temperature));
    }
    if let Some(top_p) = body.top_p {
        chat.push("top_p", Json::Raw(top_p));
    }
    if let Some(stops) = body.stop_sequences.filter(|stops| !stops.is_empty()) {
        let stops = stops.into_iter().take(MAX_STOPS).map(Json::Text).collect();
        chat.push("stop", Json::Array(stops));
    }
    if body.stream == Some(true) {
        chat.push("stream", Json::from(true));
        chat.push(
            "stream_options",
            Json::object([("include_usage", Json::from(true))]),
        );
    }
    tools::push_tools(body.tools, body.tool_choice, &mut chat);
    Ok(chat)
}

/// Removes what only the transforms need. With `echo`, thinking is sent back on turns that called tools.
pub(crate) fn finish(chat: &mut Object<'_>, echo: bool) {
    let Some(messages) = chat.get("messages").and_then(Json::as_array) else {
        return;
    };
    for message in messages.iter_mut().filter_map(Json::as_object) {
        if let Some(thinking) = message.remove(THINKING)
            && echo
            && message.contains("tool_calls")
        {
            message.push("reasoning_content", thinking);
        }
    }
}

/// The system prompt as one text.
fn system(content: Content<'_>) -> Option<Cow<'_, str>> {
    let text = match content {
        Content::None => return None,
        Content::Text(text) => text,
        Content::Blocks(blocks) => {
            let own = blocks.first().is_some_and(|block| {
                block
                    .text
                    .as_deref()
                    .is_some_and(|text| text.starts_with(ATTRIBUTION))
            });
            joined(blocks.into_iter().skip(usize::from(own)))
        }
    };
    Some(text).filter(|text| !text.is_empty())
}

fn message<'a>(role: &'static str, content: Json<'a>) -> Json<'a> {
    Json::object([("role", Json::text(role)), ("content", content)])
}

fn push_message<'a>(from: Message<'a>, messages: &mut Vec<Json<'a>>) -> Result<(), UnknownRole> {
    match from.role.as_ref() {
        "user" => push_user(from.content, messages),
        "assistant" => messages.push(assistant(from.content)),
        // Newer clients put notes of the system between the messages.
        "system" | "developer" => {
            if let Some(text) = system(from.content) {
                messages.push(message("system", Json::Text(text)));
            }
        }
        other => return Err(UnknownRole(other.to_owned())),
    }
    Ok(())
}

/// Appends a user message. Results of tools come first: they must directly follow the turn that called the tools.
fn push_user<'a>(content: Content<'a>, messages: &mut Vec<Json<'a>>) {
    let blocks = match content {
        Content::None => return,
        Content::Text(text) => return messages.push(message("user", Json::Text(text))),
        Content::Blocks(blocks) => blocks,
    };
    let mut results = Vec::new();
    let mut parts = Vec::new();
    let mut own = Vec::new();
    for block in blocks {
        if block.kind == "tool_result" {
            results.push(tool_message(block, &mut parts));
        } else {
            own.push(block);
        }
    }
    if !results.is_empty() {
        let behind = messages
            .iter_mut()
            .rposition(answers_or_calls)
            .map_or(messages.len(), |at| at + 1);
        messages.splice(behind..behind, results);
    }
    if let Some(content) = user_content(parts, own) {
        messages.push(message("user", content));
    }
}

/// Whether a message is an assistant's turn or a tool's result.
fn answers_or_calls(message: &mut Json<'_>) -> bool {
    let role = message
        .as_object()
        .and_then(|message| message.get("role"))
        .and_then(Json::as_text);
    matches!(role, Some("assistant" | "tool"))
}

/// The message of a tool. Tool messages contain text only, so images are moved to `parts` of the user's message.
fn tool_message<'a>(block: Block<'a>, parts: &mut Vec<Json<'a>>) -> Json<'a> {
    let content = match block.content {
        Content::None => Cow::Borrowed(""),
        Content::Text(text) => text,
        Content::Blocks(blocks) => {
            let (texts, media): (Vec<_>, Vec<_>) =
                blocks.into_iter().partition(|block| !content::is_media(block));
            parts.extend(media.into_iter().filter_map(content::part));
            joined(texts)
        }
    };
    Json::object([
        ("role", Json::text("tool")),
        ("tool_call_id", Json::Text(block.tool_use_id.unwrap_or_default())),
        ("content", Json::Text(content)),
    ])
}

fn assistant(content: Content<'_>) -> Json<'_> {
    let mut message = Object::default();
    message.push("role", Json::text("assistant"));
    let blocks = match content {
        Content::None => Vec::new(),
        Content::Text(text) => {
            message.push("content", Json::Text(text));
            return Json::Object(message);
        }
        Content::Blocks(blocks) => blocks,
    };
    let mut texts = Vec::new();
    let mut calls = Vec::new();
    let mut thinking = None;
    for block in blocks {
        match block.kind.as_ref() {
            "tool_use" => calls.push(tools::call(block)),
            "thinking" => thinking = block.thinking.or(thinking),
            _ => texts.push(block),
        }
    }
    let text = joined(texts);
    if !text.is_empty() || calls.is_empty() {
        message.push("content", Json::Text(text));
    }
    if let Some(thinking) = thinking.filter(|thinking| !thinking.is_empty()) {
        message.push(THINKING, Json::Text(thinking));
    }
    if !calls.is_empty() {
        message.push("tool_calls", Json::Array(calls));
    }
    Json::Object(message)
}
