//! A conversation in the client's memory, and its form in each request.

use crate::json::Json;
use crate::request::{Role, is_type};

/// Replaces an old result that was cleared.
const CLEARED: &str = "[Old tool result content cleared]";
const SUGGESTION: &str = "[SUGGESTION MODE: Suggest what the user might naturally type next.]";
const COMPACTION: &str =
    "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.\n\nSum up the conversation.";

/// A part of a user message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// A text in its own block: a prompt, or text that the client writes in the user's name.
    Text(String),
    /// A tool's result.
    Result {
        id: String,
        text: String,
        is_error: bool,
        cleared: bool,
    },
    /// Context added by a tool's hook. Its form changes at the end of the turn.
    ToolContext { text: String, moved: bool },
    /// Context added by a prompt's hook.
    PromptContext(String),
    /// A reminder of the client, or a prompt typed during the turn.
    Note { text: String, folds: bool },
}

/// One side's message.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
    /// The user's side. `prompt`: whether the user typed it.
    User { pieces: Vec<Piece>, prompt: bool },
    /// The model's side, as the client sends it back.
    Assistant(Vec<Json>),
}

/// A side request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extra {
    Nothing,
    Suggestion,
    Compaction,
}

/// The settings that decide how a conversation is serialised.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    /// Whether there are messages of the role `system`.
    pub(super) newer: bool,
    /// The day of the month.
    pub(super) day: u8,
    /// Whether the conversation began with a summary.
    pub(super) summed_up: bool,
}

pub(super) fn text_block(text: &str) -> Json {
    Json::object([("type", "text".into()), ("text", text.into())])
}

pub(super) fn marked(mut block: Json) -> Json {
    block.set("cache_control", Json::object([("type", "ephemeral".into())]));
    block
}

fn reminder(text: &str) -> String {
    format!("<system-reminder>\n{text}\n</system-reminder>\n")
}

/// A message before serialisation: a user's message includes the notes that follow it.
struct Written {
    role: Role,
    blocks: Vec<Json>,
    notes: Vec<String>,
}

impl Written {
    fn user() -> Self {
        Self {
            role: Role::User,
            blocks: Vec::new(),
            notes: Vec::new(),
        }
    }

    fn add(&mut self, piece: &Piece, style: Style) {
        match piece {
            Piece::Text(text) => self.blocks.push(text_block(text)),
            Piece::Result {
                id,
                text,
                is_error,
                cleared,
            } => {
                let text = if *cleared { CLEARED } else { text };
                let mut block = Json::object([
                    ("tool_use_id", id.as_str().into()),
                    ("type", "tool_result".into()),
                    ("content", text.into()),
                ]);
                if *is_error {
                    block.set("is_error", true.into());
                }
                self.blocks.push(block);
            }
            Piece::ToolContext { text, moved: false } => self.blocks.push(text_block(&reminder(text))),
            Piece::ToolContext { text, moved: true } if style.newer => self.notes.push(text.clone()),
            Piece::ToolContext { text, moved: true } => self.fold(text),
            Piece::PromptContext(text) | Piece::Note { text, .. } if style.newer => {
                self.notes.push(text.clone());
            }
            Piece::Note { text, folds: true } => self.fold(text),
            Piece::PromptContext(text) | Piece::Note { text, .. } => {
                self.blocks.push(text_block(&reminder(text)));
            }
        }
    }

    /// Appends a reminder to the last result's string; without a result it is a separate block.
    fn fold(&mut self, text: &str) {
        let last = self
            .blocks
            .iter_mut()
            .rfind(|block| is_type(block, "tool_result"));
        match last {
            Some(block) => {
                let content = block.get_str("content").unwrap_or_default();
                let content = format!("{content}\n\n{}", reminder(text));
                block.set("content", content.into());
            }
            None => self.blocks.push(text_block(&reminder(text))),
        }
    }

    /// As JSON: a lone text without a breakpoint is a plain string.
    fn into_messages(mut self, is_marked: bool, to: &mut Vec<Json>) {
        if is_marked {
            let last = self.blocks.iter_mut().rfind(|block| !is_type(block, "thinking"));
            if let Some(last) = last {
                *last = marked(std::mem::take(last));
            }
        }
        let lone = match self.blocks.as_slice() {
            [block] if !is_marked && self.role == Role::User => block.get_str("text"),
            _ => None,
        };
        let content = match lone {
            Some(text) => text.into(),
            None => Json::Array(self.blocks),
        };
        to.push(Json::object([
            ("role", self.role.as_str().into()),
            ("content", content),
        ]));
        to.extend(
            self.notes
                .iter()
                .map(|note| Json::object([("role", "system".into()), ("content", note.as_str().into())])),
        );
    }
}

/// The messages of a request. Consecutive user parts are one message; their notes follow it.
pub(super) fn write(items: &[Item], style: Style, extra: Extra) -> Json {
    let mut messages: Vec<Written> = Vec::new();
    for item in items {
        match item {
            Item::Assistant(blocks) => messages.push(Written {
                role: Role::Assistant,
                blocks: blocks.clone(),
                notes: Vec::new(),
            }),
            Item::User { pieces, .. } => {
                if messages.last().is_none_or(|last| last.role != Role::User) {
                    let mut message = Written::user();
                    if messages.is_empty() {
                        open(&mut message, style);
                    }
                    messages.push(message);
                }
                if let Some(message) = messages.last_mut() {
                    pieces.iter().for_each(|piece| message.add(piece, style));
                }
            }
        }
    }
    let last_of = |messages: &[Written], role| messages.iter().rposition(|message| message.role == role);
    let mark = match extra {
        Extra::Nothing => messages.len().checked_sub(1),
        Extra::Suggestion => {
            let mark = last_of(&messages, Role::Assistant);
            let mut asking = Written::user();
            asking.blocks.push(text_block(SUGGESTION));
            messages.push(asking);
            mark
        }
        Extra::Compaction => {
            // The instruction goes into the last user message; a later answer is omitted.
            messages.truncate(last_of(&messages, Role::User).map_or(0, |last| last + 1));
            if let Some(message) = messages.last_mut() {
                message.blocks.push(text_block(COMPACTION));
            }
            last_of(&messages, Role::Assistant)
        }
    };
    let mut written = Vec::new();
    for (at, message) in messages.into_iter().enumerate() {
        message.into_messages(mark == Some(at), &mut written);
    }
    Json::Array(written)
}

/// The client's own text in front of the first message.
fn open(message: &mut Written, style: Style) {
    let agents = "Available agent types for the Agent tool:\n- general-purpose: for anything";
    if !style.summed_up {
        match style.newer {
            true => message.notes.push(agents.to_owned()),
            false => message.blocks.push(text_block(&reminder(agents))),
        }
    }
    message.blocks.push(text_block(&reminder(&format!(
        "As you answer the user's questions, you can use the following context:\n# currentDate\nToday's date is 2026-01-{:02}.",
        style.day
    ))));
}
