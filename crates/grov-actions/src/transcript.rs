//! Reads Claude Code's transcript of a session: lines of JSON that are appended while the session runs.
//!
//! [`Reader`] parses the bytes added since the last call. It consumes whole lines only and returns the number of
//! bytes; an incomplete line is left for the next call. The state of a reader is small and can be stored.
//!
//! Secrets are masked in all results. A text is redacted before it is truncated.

mod edits;
mod line;
mod newest_title;
mod newest_usage;
mod window;

pub use crate::typed_text::typed_text;
pub use edits::{Edited, edits};
pub use newest_title::newest_title;
pub use newest_usage::newest_usage;
pub use window::{WindowPart, WindowPartKind, WindowReader};

use crate::redacted_call::{RedactedCall, redacted, redacted_end, understand_redacted};
use crate::{ToolCall, ToolInput};
use grov_domain::{Action, AgentId, ClientDialect, TokenUsage, end_of};
use line::{Block, Line, Message};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use time::OffsetDateTime;

/// The number of characters kept from the end of the assistant's text before a tool call.
const MAX_SAID: usize = 1000;

/// The number of characters kept from the end of a tool's output.
pub const MAX_OUTPUT: usize = 400;

/// The number of characters kept from the end of the text that ends a turn. A prompt such as "yes" answers it.
const MAX_ANSWER: usize = 4000;

/// The number of characters kept from the end of a summary of the conversation.
const MAX_SUMMARY: usize = 16_000;

const PLANNING: &str = ClientDialect::CLAUDE_CODE.plan_tool;

/// The maximum number of speakers whose last text is remembered: the main conversation and subagents in the same
/// file.
const MAX_SPEAKERS: usize = 16;

/// An event of a transcript with its context.
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
        /// The text, without additions by the client or by Grov.
        text: String,
        /// The user typed it while a turn was running.
        is_queued: bool,
    },
    /// The agent called a tool.
    Call(Box<Call>),
    /// A tool call ended.
    Ended(Ended),
    /// The assistant's text to the user: its last 4,000 characters.
    Said(String),
    /// The conversation so far was replaced by a summary.
    Compacted {
        /// The client started it, not the user.
        is_automatic: bool,
    },
    /// The summary that replaced it, written by a model: its last 16,000 characters.
    Summary(String),
    /// The usage of one response. If several have the same message id, the last one counts.
    Used(Usage),
}

/// A tool call of a transcript.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The parsed action. Its `tool_use_id` is the call's id.
    pub action: Action,
    /// The beginning of the text that it writes: see [`crate::content`].
    pub content: Option<String>,
    /// The assistant's last text before the call: its last 1,000 characters.
    pub said: Option<String>,
    /// The plan that it asks the user to approve: its last 4,000 characters.
    pub plan: Option<String>,
}

/// The result of a tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The id of the call.
    pub tool_use_id: String,
    /// The tool reported an error, or the call was denied.
    pub failed: bool,
    /// The last 400 characters of the output.
    pub output: Option<String>,
}

/// The tokens that a response used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// The id of the response. The client writes a line for each part of it, all with the same usage.
    pub message_id: String,
    /// The model.
    pub model: String,
    /// Tokens by class.
    pub tokens: TokenUsage,
}

impl Usage {
    /// Tokens in the model's context window after this response.
    pub fn context(&self) -> u64 {
        let input = self.tokens.input + self.tokens.cache_read + self.tokens.cache_creation;
        input + self.tokens.output
    }
}

/// The result of one call of [`Reader::read`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// The events, in order.
    pub entries: Vec<Entry>,
    /// The number of bytes consumed, up to the end of the last whole line.
    pub taken: usize,
    /// The number of skipped lines that are not JSON objects.
    pub broken: usize,
}

/// Reads one transcript incrementally.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reader {
    /// The session of the transcript, if it is known.
    session: Option<String>,
    /// The last text of each speaker since its last prompt. The main conversation is "".
    #[serde(default)]
    said: BTreeMap<String, String>,
    /// The most recently reported usage.
    #[serde(default)]
    used: Option<(String, TokenUsage)>,
}

impl Reader {
    /// A reader at the beginning of the transcript of a session. Lines of other sessions are marked as inherited.
    /// With `None`, no session is foreign.
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
            Some("attachment") => {
                let queued = line.queued_prompt().and_then(|texts| prompt(&texts, false, true));
                queued.into_iter().collect()
            }
            Some("system") => compacted(line).into_iter().collect(),
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
        // The client itself wrote it: an API error or the text of an interrupted response.
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
                        self.remember(&speaker, end_of(&text, MAX_SAID).to_owned());
                        events.push(Event::Said(end_of(&text, MAX_ANSWER).to_owned()));
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
        if self.said.len() >= MAX_SPEAKERS && !self.said.contains_key(speaker) {
            self.said.pop_last();
        }
        self.said.insert(speaker.to_owned(), said);
    }

    /// The usage of a message, unless it was the last one reported.
    fn used(&mut self, message: &Message<'_>, model: String) -> Option<Usage> {
        let message_id = message.id()?.into_owned();
        let tokens = message.usage()?;
        let reported = Some((message_id.clone(), tokens));
        if self.used == reported {
            return None;
        }
        self.used = reported;
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
        plan: plan.map(|plan| end_of(&plan, MAX_ANSWER).to_owned()),
    })))
}

/// The events in a line of the user's side: tool results and prompts.
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
        events.extend(prompt(&texts, answers_tools, false));
    } else if line.is_summary() {
        let text = redacted(texts.join("\n").trim()).into_owned();
        events.push(Event::Summary(end_of(&text, MAX_SUMMARY).to_owned()));
    }
    events
}

/// The prompt in the texts of a message, if the user typed any of them.
fn prompt(texts: &[Cow<'_, str>], beside_tool_results: bool, is_queued: bool) -> Option<Event> {
    let text = typed_text(&ClientDialect::CLAUDE_CODE, texts, beside_tool_results);
    (!text.is_empty()).then(|| Event::Prompt {
        text: redacted(&text).into_owned(),
        is_queued,
    })
}

fn ended(block: &Block<'_>) -> Option<Event> {
    Some(Event::Ended(Ended {
        tool_use_id: block.tool_use_id()?.into_owned(),
        failed: block.is_error(),
        output: block
            .output()
            .map(|output| redacted_end(output.trim_end(), MAX_OUTPUT)),
    }))
}

fn compacted(line: &Line<'_>) -> Option<Event> {
    let is_compaction = line.subtype().as_deref() == Some("compact_boundary");
    is_compaction.then(|| Event::Compacted {
        is_automatic: line.compaction_trigger().as_deref() == Some("auto"),
    })
}
