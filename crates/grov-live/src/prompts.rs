//! Separates what the user typed from text added by the client.

use crate::dialect;
use grov_actions::typed_text;
use grov_domain::ClientDialect;
use grov_proxy_core::MessagesRequest;
use grov_redact::Redactor;
use grov_wire::{BlockKind, Message, RequestIndex, Role};
use std::borrow::Cow;
use xxhash_rust::xxh3::Xxh3;

/// A prompt found in the newest part of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundPrompt {
    /// The text, redacted and without text added by the client.
    pub(crate) text: String,
    /// Whether it was typed while a turn was running.
    pub(crate) queued: bool,
    /// Identifies the prompt at its place in the history. Repeated requests yield the same key.
    pub(crate) key: u128,
}

/// Returns whether a conversation begins: no answer and no summary yet.
pub(crate) fn begins(client: &ClientDialect, index: &RequestIndex) -> bool {
    index
        .messages()
        .all(|message| message.role() != Role::Assistant && !is_summary(client, &message))
}

/// Returns the prompts before the newest answer, redacted, oldest first. Empty if the beginning was summarized.
pub(crate) fn earlier(client: &ClientDialect, index: &RequestIndex) -> Vec<String> {
    let earlier = index.messages().take(start_of_newest(index));
    let user: Vec<_> = earlier.filter(|message| message.role() == Role::User).collect();
    if user.iter().any(|message| is_summary(client, message)) {
        return Vec::new();
    }
    let typed = user.iter().flat_map(|message| typed(client, message));
    typed.map(|(text, _)| without_secrets(text)).collect()
}

/// Returns the prompts after the newest answer, oldest first.
pub(crate) fn newest(request: &MessagesRequest) -> Vec<FoundPrompt> {
    let Some(index) = request.index() else {
        return Vec::new();
    };
    let client = dialect::of(request);
    let mut found = Vec::new();
    for message in index.messages().skip(start_of_newest(index)) {
        for (text, queued) in typed(client, &message) {
            found.push(FoundPrompt {
                key: key(history_up_to(request, message.number()), &text),
                text: without_secrets(text),
                queued,
            });
        }
    }
    found
}

/// Returns the prompts in a message, redacted.
pub(crate) fn in_message(client: &ClientDialect, message: &Message<'_>) -> Vec<String> {
    let typed = typed(client, message).into_iter();
    typed.map(|(text, _)| without_secrets(text)).collect()
}

/// Returns the number of the first message after the newest answer.
fn start_of_newest(index: &RequestIndex) -> usize {
    let mut newest_first = index.messages().rev();
    let answer = newest_first.find(|message| message.role() == Role::Assistant);
    answer.map_or(0, |answer| answer.number() + 1)
}

/// Returns whether a message summarizes an earlier conversation.
fn is_summary(client: &ClientDialect, message: &Message<'_>) -> bool {
    message
        .texts()
        .any(|text| text.trim_start().starts_with(client.continued))
}

/// Returns the prompts in a message, and whether each was typed while a turn was running.
fn typed(client: &ClientDialect, message: &Message<'_>) -> Vec<(String, bool)> {
    if !matches!(message.role(), Role::User | Role::System) {
        return Vec::new();
    }
    let texts: Vec<_> = message.texts().collect();
    let queued = texts.iter().filter_map(|text| client.queued_prompt(text));
    let mut prompts: Vec<_> = queued.map(|text| (text.to_owned(), true)).collect();
    if message.role() == Role::User {
        let answers_tools = message
            .blocks()
            .any(|block| block.kind() == BlockKind::ToolResult);
        let text = typed_text(client, &texts, answers_tools);
        if !text.is_empty() {
            prompts.push((text, false));
        }
    }
    prompts
}

/// Returns a key of the history up to and including a message.
fn history_up_to(request: &MessagesRequest, message: usize) -> u128 {
    let links = request
        .skeleton()
        .map(|skeleton| skeleton.links())
        .unwrap_or_default();
    links
        .iter()
        .rfind(|link| link.message <= message)
        .map_or(0, |link| link.key.as_u128())
}

/// Redacts before the text is cut, because parts of a secret are not recognised.
fn without_secrets(text: String) -> String {
    match Redactor::shared().redact(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(redacted) => redacted,
    }
}

fn key(history: u128, text: &str) -> u128 {
    let mut hash = Xxh3::new();
    hash.update(&history.to_le_bytes());
    hash.update(text.as_bytes());
    hash.digest128()
}

#[cfg(test)]
mod tests;
