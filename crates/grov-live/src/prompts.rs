//! What the user typed, told apart from what the client put into the user's mouth.

use grov_actions::typed_text;
use grov_domain::ClientDialect;
use grov_proxy_core::MessagesRequest;
use grov_redact::Redactor;
use grov_wire::{BlockKind, RequestIndex, Role};
use std::borrow::Cow;
use xxhash_rust::xxh3::Xxh3;

/// A prompt found in the newest part of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundPrompt {
    /// The text without reminders, other text of the client, and secrets.
    pub(crate) text: String,
    /// Typed while a turn was running.
    pub(crate) queued: bool,
    /// The same prompt at the same place of the history has the same key, however often the request is repeated.
    pub(crate) key: u128,
}

const CLIENT: ClientDialect = ClientDialect::CLAUDE_CODE;

/// Whether a conversation begins: nobody has answered yet, and nothing was summed up.
pub(crate) fn begins(index: &RequestIndex) -> bool {
    index.messages().all(|message| {
        message.role() != Role::Assistant
            && !message
                .texts()
                .any(|text| text.trim_start().starts_with(CLIENT.continued))
    })
}

/// What the user typed before the newest answer of the assistant, without secrets, oldest first; nothing where the beginning was summed up.
pub(crate) fn earlier(index: &RequestIndex) -> Vec<String> {
    let messages: Vec<_> = index.messages().collect();
    let end = messages
        .iter()
        .rposition(|message| message.role() == Role::Assistant);
    let earlier = messages.iter().take(end.unwrap_or(0));
    let mut found = Vec::new();
    for message in earlier.filter(|message| message.role() == Role::User) {
        let texts: Vec<_> = message.texts().collect();
        if texts
            .iter()
            .any(|text| text.trim_start().starts_with(CLIENT.continued))
        {
            return Vec::new();
        }
        found.extend(texts.iter().filter_map(|text| queued(text)));
        let answers_tools = message
            .blocks()
            .any(|block| block.kind() == BlockKind::ToolResult);
        let text = typed_text(&texts, answers_tools);
        if !text.is_empty() {
            found.push(text);
        }
    }
    found.into_iter().map(without_secrets).collect()
}

/// The prompts that lie behind the newest answer of the assistant, oldest first.
pub(crate) fn newest(request: &MessagesRequest) -> Vec<FoundPrompt> {
    let Some(index) = request.index() else {
        return Vec::new();
    };
    let newest_answer = index
        .messages()
        .rev()
        .find(|message| message.role() == Role::Assistant);
    let start = newest_answer.map_or(0, |message| message.number() + 1);
    let mut found = Vec::new();
    for message in index.messages().skip(start) {
        // The history is hashed only where there is a prompt: most requests are steps of a tool loop.
        let prompt = |text: String, queued| {
            let key = key(place_of(request, message.number()), &text);
            FoundPrompt {
                text: without_secrets(text),
                queued,
                key,
            }
        };
        match message.role() {
            Role::User => {
                let texts: Vec<_> = message.texts().collect();
                let notes = texts.iter().filter_map(|text| queued(text));
                found.extend(notes.map(|text| prompt(text, true)));
                let answers_tools = message
                    .blocks()
                    .any(|block| block.kind() == BlockKind::ToolResult);
                let text = typed_text(&texts, answers_tools);
                if !text.is_empty() {
                    found.push(prompt(text, false));
                }
            }
            Role::System => {
                let notes = message.texts();
                found.extend(
                    notes
                        .filter_map(|text| queued(&text))
                        .map(|text| prompt(text, true)),
                );
            }
            _ => {}
        }
    }
    found
}

/// The history up to and including a message, as a number.
fn place_of(request: &MessagesRequest, message: usize) -> u128 {
    let links = request
        .skeleton()
        .map(|skeleton| skeleton.links())
        .unwrap_or_default();
    links
        .iter()
        .rfind(|link| link.message <= message)
        .map_or(0, |link| link.key.as_u128())
}

/// The prompt inside the client's note about a message typed during the turn.
fn queued(text: &str) -> Option<String> {
    CLIENT.queued_prompt(text).map(str::to_owned)
}

/// Secrets are masked before anything is made of a prompt: words that are cut out no longer show that they are secret.
fn without_secrets(text: String) -> String {
    match Redactor::shared().redact(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(redacted) => redacted,
    }
}

fn key(place: u128, text: &str) -> u128 {
    let mut hash = Xxh3::new();
    hash.update(&place.to_le_bytes());
    hash.update(text.as_bytes());
    hash.digest128()
}

#[cfg(test)]
mod tests;
