//! Allocates the content blocks of a message. Nothing else opens or closes a block.

use super::event::{Event, Finish, ProviderError, Usage};
use super::ids::{new_call_id, new_message_id, tool_id};
use super::json_end::JsonEnd;
use std::borrow::Cow;
use std::collections::{HashSet, VecDeque};

/// What makes up a message of the Messages API.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Part<'p> {
    /// The message begins.
    MessageStart { id: &'p str, usage: Usage },
    /// A block begins.
    BlockStart { index: usize, block: BlockKind<'p> },
    /// More of the open block.
    Delta { index: usize, delta: Delta<'p> },
    /// The open block ends.
    BlockStop { index: usize },
    /// The message is complete.
    MessageEnd { stop_reason: &'static str, usage: Usage },
    /// The message breaks off.
    Error(&'p ProviderError),
}

/// The kind of a block.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum BlockKind<'p> {
    Text,
    Thinking,
    ToolUse { id: &'p str, name: &'p str },
}

/// More of a block.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Delta<'p> {
    Text(&'p str),
    Thinking(&'p str),
    /// The signature of a thinking block. The client drops thinking without one.
    Signature,
    Json(&'p str),
}

/// Receives the parts of a message.
pub(crate) trait Parts {
    /// Receives the next part.
    fn part(&mut self, part: Part<'_>);
}

/// The most bytes that wait for an earlier block to end.
const MAX_WAITING: usize = 16 << 20;

/// The most tool calls of an answer.
const MAX_CALLS: usize = 4096;

/// Orders events into blocks.
///
/// Blocks must not overlap, but providers send parallel calls interleaved. The first segment in the queue is written as
/// it arrives; the later ones wait until it ends. A call ends when its arguments are a complete JSON value; one with the
/// arguments `{}` only with the message, because others may follow.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    id: String,
    started: bool,
    over: bool,
    usage: Usage,
    finish: Option<Finish>,
    segments: VecDeque<Segment>,
    /// Whether the first segment has a block.
    open: bool,
    next_index: usize,
    waiting: usize,
    any_tool: bool,
    ids: HashSet<String>,
    /// Ids of calls in the conversation so far.
    earlier: HashSet<String>,
}

#[derive(Debug)]
enum Segment {
    Text(String),
    Thinking(String),
    Tool {
        call: usize,
        id: String,
        name: String,
        arguments: String,
        end: JsonEnd,
    },
}

impl Blocks {
    /// Processes an event.
    pub(crate) fn event(&mut self, event: Event, parts: &mut impl Parts) {
        if self.over {
            return;
        }
        match event {
            Event::Start { id } => self.start(&id, parts),
            Event::Text(text) if !text.is_empty() => self.prose(Segment::Text(text), parts),
            Event::Thinking(text) if !text.is_empty() => self.prose(Segment::Thinking(text), parts),
            // Reasoning that no transform turned into thinking is not shown.
            Event::Text(_) | Event::Thinking(_) | Event::Reasoning { .. } => {}
            Event::ToolStart { call, id, name } => self.tool(call, &id, name, parts),
            Event::ToolArguments { call, text } => self.arguments(call, &text, parts),
            Event::Usage(usage) => self.usage = usage,
            Event::Finish(finish) => self.finish = Some(finish),
            Event::Error(error) => {
                self.over = true;
                parts.part(Part::Error(&error));
            }
            Event::End => self.end(parts),
        }
        if (self.waiting > MAX_WAITING || self.ids.len() > MAX_CALLS) && !self.over {
            self.over = true;
            let message = "the tool calls of the provider's answer are too many or too large".to_owned();
            parts.part(Part::Error(&ProviderError {
                status: None,
                message,
            }));
        }
    }

    /// The most recently reported usage.
    pub(crate) fn usage(&self) -> Usage {
        self.usage
    }

    /// Whether the message is complete or broken off.
    pub(crate) fn is_over(&self) -> bool {
        self.over
    }

    /// Whether the model said why it stopped.
    pub(crate) fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    fn start(&mut self, id: &str, parts: &mut impl Parts) {
        if self.started {
            return;
        }
        self.started = true;
        self.id = match id {
            "" => new_message_id(),
            id => format!("msg_{id}"),
        };
        let usage = Usage {
            output_tokens: 0,
            ..self.usage
        };
        parts.part(Part::MessageStart { id: &self.id, usage });
    }

    /// Text or thinking.
    fn prose(&mut self, segment: Segment, parts: &mut impl Parts) {
        self.start("", parts);
        let first = self.segments.len() <= 1;
        match (self.segments.back_mut(), segment) {
            (Some(Segment::Text(all)), Segment::Text(text))
            | (Some(Segment::Thinking(all)), Segment::Thinking(text)) => {
                if !first {
                    self.waiting += text.len();
                }
                all.push_str(&text);
            }
            (_, segment) => {
                if !self.segments.is_empty() {
                    self.waiting += segment.len();
                }
                self.segments.push_back(segment);
            }
        }
        self.write(parts);
    }

    /// Keeps the ids of calls distinct from those of the conversation so far: the client drops a call whose id it knows.
    pub(crate) fn avoid(&mut self, earlier: HashSet<String>) {
        self.earlier = earlier;
    }

    fn tool(&mut self, call: usize, id: &str, name: String, parts: &mut impl Parts) {
        self.start("", parts);
        self.any_tool = true;
        let mut id = tool_id(id);
        let is_known = self.ids.contains(id.as_ref()) || self.earlier.contains(id.as_ref());
        if id.is_empty() || is_known {
            id = Cow::Owned(new_call_id());
        }
        let id = id.into_owned();
        self.ids.insert(id.clone());
        self.segments.push_back(Segment::Tool {
            call,
            id,
            name,
            arguments: String::new(),
            end: JsonEnd::default(),
        });
        self.write(parts);
    }

    fn arguments(&mut self, of: usize, text: &str, parts: &mut impl Parts) {
        let at = self
            .segments
            .iter()
            .position(|segment| matches!(segment, Segment::Tool { call, .. } if *call == of));
        // A call whose block is closed had complete arguments.
        let Some(at) = at else { return };
        if let Some(Segment::Tool { arguments, end, .. }) = self.segments.get_mut(at) {
            let before = arguments.len();
            // What follows complete arguments is a repetition, and would make them invalid.
            end.feed(text, arguments);
            if at > 0 {
                self.waiting += arguments.len() - before;
            }
        }
        self.write(parts);
    }

    /// Writes what the first segment contains, and closes it if it is done and another one waits.
    fn write(&mut self, parts: &mut impl Parts) {
        loop {
            self.write_first(parts);
            let done = match self.segments.front() {
                Some(Segment::Tool { end, .. }) => end.is_complete(),
                _ => true,
            };
            if self.segments.len() < 2 || !done {
                return;
            }
            self.close_first(parts);
        }
    }

    /// Writes what is new in the first segment.
    fn write_first(&mut self, parts: &mut impl Parts) {
        let index = self.next_index;
        let Some(segment) = self.segments.front_mut() else {
            return;
        };
        if !self.open {
            self.open = true;
            let block = match segment {
                Segment::Text(_) => BlockKind::Text,
                Segment::Thinking(_) => BlockKind::Thinking,
                Segment::Tool { id, name, .. } => BlockKind::ToolUse { id, name },
            };
            parts.part(Part::BlockStart { index, block });
        }
        let (text, delta): (_, fn(&str) -> Delta<'_>) = match segment {
            Segment::Text(text) => (text, |text| Delta::Text(text)),
            Segment::Thinking(text) => (text, |text| Delta::Thinking(text)),
            Segment::Tool { arguments, .. } => (arguments, |text| Delta::Json(text)),
        };
        if !text.is_empty() {
            parts.part(Part::Delta {
                index,
                delta: delta(text),
            });
            text.clear();
        }
    }

    fn close_first(&mut self, parts: &mut impl Parts) {
        let index = self.next_index;
        if let Some(Segment::Thinking(_)) = self.segments.pop_front() {
            parts.part(Part::Delta {
                index,
                delta: Delta::Signature,
            });
        }
        parts.part(Part::BlockStop { index });
        self.open = false;
        self.next_index += 1;
        // The next segment is written as it arrives from here on.
        self.waiting = self
            .waiting
            .saturating_sub(self.segments.front().map_or(0, Segment::len));
    }

    fn end(&mut self, parts: &mut impl Parts) {
        self.over = true;
        self.start("", parts);
        while let Some(segment) = self.segments.front_mut() {
            if let Segment::Tool { arguments, end, .. } = segment {
                end.finish(arguments);
            }
            self.write_first(parts);
            self.close_first(parts);
        }
        let stop_reason = match self.finish {
            None | Some(Finish::Stop) if self.any_tool => Finish::ToolCalls,
            // Without a call, the client would wait for one.
            None | Some(Finish::ToolCalls) if !self.any_tool => Finish::Stop,
            finish => finish.unwrap_or(Finish::Stop),
        };
        parts.part(Part::MessageEnd {
            stop_reason: stop_reason.stop_reason(),
            usage: self.usage,
        });
    }
}

impl Segment {
    fn len(&self) -> usize {
        match self {
            Self::Text(text) | Self::Thinking(text) | Self::Tool { arguments: text, .. } => text.len(),
        }
    }
}
