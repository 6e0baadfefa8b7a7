//! Claude Code's own record of a session, read as far as it is there: lines of JSON that are appended while the session
//! runs.
//!
//! [`Reader`] parses the bytes added since the last call. It consumes whole lines only and returns the number of bytes; a
//! line that is still being written is left for the next call. The state of a reader is small and can be stored.
//!
//! Secrets are masked in all results: a text is redacted before anything is cut out of it.

mod edits;
mod line;
mod newest_usage;

pub use crate::typed_text::typed_text;
pub use edits::{Edited, edits};
pub use newest_usage::newest_usage;

use crate::redacted_call::{RedactedCall, redacted, redacted_end, understand_redacted};
use crate::{ToolCall, ToolInput};
use grov_domain::{Action, AgentId, ClientDialect, TokenUsage, end_of};
use line::{Block, Line, Message};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use time::OffsetDateTime;

/// Maximum characters kept of the assistant's text before a tool call; the end is kept.
const MOST_SAID: usize = 1000;

/// Maximum characters kept of a tool's output; the end is kept.
const MOST_OUTPUT: usize = 400;

/// Maximum characters kept of the text that ends a turn, which a "yes" answers; the end is kept.
const MOST_ANSWER: usize = 4000;

/// The tool that asks for approval of a plan.
const PLANNING: &str = ClientDialect::CLAUDE_CODE.plan_tool;

/// Speakers whose words are kept in mind: the main conversation and subagents that share its file.
const MOST_SPEAKERS: usize = 16;

/// An event of a transcript.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The time; `None` if the line has no valid timestamp.
    pub at: Option<OffsetDateTime>,
    /// The subagent; `None` for the main conversation.
    pub agent: Option<AgentId>,
    /// The entry was copied from another session that this one continues.
    pub is_inherited: bool,
    /// What happened.
    pub event: Event,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The user typed something.
    Prompt {
        /// What, without what the client or Grov put beside it.
        text: String,
        /// It was typed while a turn was running.
        is_queued: bool,
    },
    /// The agent called a tool.
    Call(Box<Call>),
    /// A tool call ended.
    Ended(Ended),
    /// The agent said something to the user. At most 4,000 characters, the end.
    Said(String),
    /// The conversation so far was replaced by a summary.
    Compacted {
        /// By the client itself, not because the user asked for it.
        is_automatic: bool,
    },
    /// What one response of the model cost. Of several with the same message the newest counts.
    Used(Usage),
}

/// A tool call of a transcript.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// What it does; its `tool_use_id` is the call's id.
    pub action: Action,
    /// The beginning of what it writes: see [`crate::content`].
    pub content: Option<String>,
    /// The assistant's text nearest before it. At most 1,000 characters, the end.
    pub said: Option<String>,
    /// The plan that it asks the user to approve. At most 4,000 characters, the end.
    pub plan: Option<String>,
}

/// How a tool call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The call.
    pub tool_use_id: String,
    /// The tool reported an error, or was not allowed to run.
    pub failed: bool,
    /// The end of what it put out, at most 400 characters.
    pub output: Option<String>,
}

/// What a response of the model cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// The response. The client writes one line for each part of it, all with the same usage.
    pub message_id: String,
    /// The model.
    pub model: String,
    /// Tokens by class.
    pub tokens: TokenUsage,
}

impl Usage {
    /// Tokens in the model's window after this response.
    pub fn context(&self) -> u64 {
        let input = self.tokens.input + self.tokens.cache_read + self.tokens.cache_creation;
        input + self.tokens.output
    }
}

/// What was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// What it says, in order.
    pub entries: Vec<Entry>,
    /// The number of bytes consumed, up to the end of the last whole line.
    pub taken: usize,
    /// The number of skipped lines that are no JSON object.
    pub broken: usize,
}

/// Reads one transcript, part by part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reader {
    /// The session whose transcript it is, where it is known.
    session: Option<String>,
    /// What was said last and called for nothing yet, by speaker; the main conversation is "".
    #[serde(default)]
    said: BTreeMap<String, String>,
    /// The most recently reported usage.
    #[serde(default)]
    used: Option<(String, TokenUsage)>,
}

impl Reader {
    /// A reader at the beginning of the transcript of a session. Lines of other sessions are inherited. With `None` all
    /// lines are its own.
    pub fn new(session: Option<&str>) -> Self {
        Self {
            session: session.map(str::to_owned),
            ..Self::default()
        }
    }

    /// Parses the bytes added since the last call. Bytes that were not consumed must be passed again, followed by new ones.
    pub fn read(&mut self, bytes: &[u8]) -> Reading {
        let mut reading = Reading::default();
        while let Some(end) = memchr::memchr(b'\n', &bytes[reading.taken..]) {
            let line = &bytes[reading.taken..reading.taken + end];
            reading.taken += end + 1;
            if line.trim_ascii().is_empty() {
                continue;
            }
            match Line::parse(line) {
                Some(line) => self.take(&line, &mut reading.entries),
                None => reading.broken += 1,
            }
        }
        reading
    }

    fn take(&mut self, line: &Line<'_>, entries: &mut Vec<Entry>) {
        let events = match line.kind().as_deref() {
            Some("user") => user(line),
            Some("assistant") => self.assistant(line),
            Some("attachment") => queued(line),
            Some("system") => compacted(line),
            _ => return,
        };
        if events.is_empty() {
            return;
        }
        let at = line.timestamp();
        let agent = line.agent();
        let is_inherited = line.is_inherited(self.session.as_deref());
        if let [Event::Prompt { .. }, ..] = events.as_slice() {
            self.said.remove(&speaker(line));
        }
        entries.extend(events.into_iter().map(|event| Entry {
            at,
            agent: agent.clone(),
            is_inherited,
            event,
        }));
    }

    fn assistant(&mut self, line: &Line<'_>) -> Vec<Event> {
        let Some(message) = line.message() else {
            return Vec::new();
        };
        // Written by the client itself: an error of the API, what stood there when the user broke off.
        let model = message.model().unwrap_or_default();
        if model == "<synthetic>" {
            return Vec::new();
        }
        let speaker = speaker(line);
        let cwd = line.cwd();
        let mut events = Vec::new();
        for block in message.blocks() {
            match block.kind().as_deref() {
                Some("text") => {
                    let text = block.text().unwrap_or_default();
                    let text = redacted(text.trim());
                    if !text.is_empty() {
                        self.remember(&speaker, end_of(&text, MOST_SAID).to_owned());
                        events.push(Event::Said(end_of(&text, MOST_ANSWER).to_owned()));
                    }
                }
                Some("tool_use") => {
                    let said = self.said.get(&speaker).cloned();
                    events.extend(call(&block, cwd.as_deref(), said));
                }
                _ => {}
            }
        }
        events.extend(self.used(&message, model.into_owned()).map(Event::Used));
        events
    }

    fn remember(&mut self, speaker: &str, said: String) {
        if self.said.len() >= MOST_SPEAKERS && !self.said.contains_key(speaker) {
            self.said.pop_last();
        }
        self.said.insert(speaker.to_owned(), said);
    }

    /// The usage of a message, unless it was told just now.
    fn used(&mut self, message: &Message<'_>, model: String) -> Option<Usage> {
        let message_id = message.id()?.into_owned();
        let tokens = message.usage()?;
        let told = Some((message_id.clone(), tokens));
        if self.used == told {
            return None;
        }
        self.used = told;
        Some(Usage {
            message_id,
            model,
            tokens,
        })
    }
}

fn speaker(line: &Line<'_>) -> String {
    line.agent()
        .map_or_else(String::new, |agent| agent.as_str().to_owned())
}

fn call(block: &Block<'_>, cwd: Option<&str>, said: Option<String>) -> Option<Event> {
    let name = block.name()?;
    let id = block.id();
    let input = ToolInput::Text(block.input().unwrap_or("{}")).value();
    let call = ToolCall {
        name: &name,
        id: id.as_deref(),
        input: ToolInput::Json(&input),
        working_directory: cwd,
    };
    let RedactedCall {
        action,
        content,
        plan,
    } = understand_redacted(&call);
    let plan = plan.filter(|_| name == PLANNING);
    Some(Event::Call(Box::new(Call {
        action,
        content,
        said,
        plan: plan.map(|plan| end_of(&plan, MOST_ANSWER).to_owned()),
    })))
}

/// What a line of the user's side says: results of tools, and what was typed.
fn user(line: &Line<'_>) -> Vec<Event> {
    let Some(message) = line.message() else {
        return Vec::new();
    };
    let mut events = Vec::new();
    let blocks = message.blocks();
    let mut texts = Vec::new();
    let mut answers_tools = false;
    for block in &blocks {
        match block.kind().as_deref() {
            Some("tool_result") => {
                answers_tools = true;
                events.extend(ended(block));
            }
            Some("text") => texts.extend(block.text()),
            _ => {}
        }
    }
    if let Some(text) = message.text() {
        texts.push(text);
    }
    if line.is_typed() {
        let text = typed_text(&texts, answers_tools);
        if !text.is_empty() {
            events.push(Event::Prompt {
                text: redacted(&text).into_owned(),
                is_queued: false,
            });
        }
    }
    events
}

fn ended(block: &Block<'_>) -> Option<Event> {
    Some(Event::Ended(Ended {
        tool_use_id: block.tool_use_id()?.into_owned(),
        failed: block.is_error(),
        output: block
            .output()
            .map(|output| redacted_end(output.trim_end(), MOST_OUTPUT)),
    }))
}

/// A prompt that was typed while a turn was running.
fn queued(line: &Line<'_>) -> Vec<Event> {
    let Some(texts) = line.queued_prompt() else {
        return Vec::new();
    };
    let text = typed_text(&texts, false);
    if text.is_empty() {
        return Vec::new();
    }
    vec![Event::Prompt {
        text: redacted(&text).into_owned(),
        is_queued: true,
    }]
}

fn compacted(line: &Line<'_>) -> Vec<Event> {
    if line.subtype().as_deref() != Some("compact_boundary") {
        return Vec::new();
    }
    vec![Event::Compacted {
        is_automatic: line.compaction_trigger().as_deref() == Some("auto"),
    }]
}
