//! Calls that a model writes as text: `<tool_call>{"name": …, "arguments": {…}}</tool_call>`.

use super::chain::Step;
use super::tags::partial;
use crate::translate::event::{Event, Finish};
use crate::translate::json_repair::repair;
use serde::Deserialize;
use serde_json::value::RawValue;

const OPEN: &str = "<tool_call>";
const CLOSE: &str = "</tool_call>";

/// A call of more bytes stays text.
const MAX_CALL: usize = 1 << 20;

/// The numbers of these calls begin here, so that they differ from those of the provider's calls.
const FIRST_CALL: usize = 1 << 32;

/// Turns calls in the text into calls, if the request offers a tool of that name.
pub(super) struct TextCalls {
    tools: Vec<String>,
    held: String,
    inside: bool,
    next_call: usize,
}

#[derive(Deserialize)]
struct WrittenCall<'a> {
    name: String,
    #[serde(borrow, alias = "parameters")]
    arguments: Option<&'a RawValue>,
}

impl TextCalls {
    pub(super) fn new(tools: Vec<String>) -> Self {
        Self {
            tools,
            held: String::new(),
            inside: false,
            next_call: FIRST_CALL,
        }
    }

    fn text(&mut self, text: &str, out: &mut Vec<Event>) {
        self.held.push_str(text);
        loop {
            let tag = if self.inside { CLOSE } else { OPEN };
            let Some(at) = self.held.find(tag) else { break };
            let rest = self.held.split_off(at + tag.len());
            self.held.truncate(at);
            let before = std::mem::replace(&mut self.held, rest);
            if self.inside {
                self.call(&before, CLOSE, out);
            } else {
                self.prose(before, out);
            }
            self.inside = !self.inside;
        }
        if !self.inside {
            let keep = self.held.len() - partial(&self.held, OPEN);
            let rest = self.held.split_off(keep);
            let text = std::mem::replace(&mut self.held, rest);
            self.prose(text, out);
        } else if self.held.len() > MAX_CALL {
            self.inside = false;
            let text = format!("{OPEN}{}", std::mem::take(&mut self.held));
            self.prose(text, out);
        }
    }

    /// A call, or the text that it was.
    fn call(&mut self, text: &str, close: &str, out: &mut Vec<Event>) {
        let json = repair(text);
        let known = |written: &WrittenCall<'_>| self.tools.contains(&written.name);
        match serde_json::from_str::<WrittenCall<'_>>(&json).ok().filter(known) {
            Some(written) => {
                let call = self.next_call;
                self.next_call += 1;
                out.push(Event::ToolStart {
                    call,
                    id: String::new(),
                    name: written.name,
                });
                let text = written.arguments.map_or("{}", RawValue::get).to_owned();
                out.push(Event::ToolArguments { call, text });
            }
            None => self.prose(format!("{OPEN}{text}{close}"), out),
        }
    }

    /// Processes what is held. A call that the token limit cut stays text.
    fn flush(&mut self, cut: bool, out: &mut Vec<Event>) {
        let text = std::mem::take(&mut self.held);
        match (std::mem::take(&mut self.inside), cut) {
            (true, false) => self.call(&text, "", out),
            (true, true) => self.prose(format!("{OPEN}{text}"), out),
            (false, _) => self.prose(text, out),
        }
    }

    /// Text that is no call. White space around calls is dropped.
    fn prose(&self, text: String, out: &mut Vec<Event>) {
        let around_call = self.next_call > FIRST_CALL && text.trim().is_empty();
        if !text.is_empty() && !around_call {
            out.push(Event::Text(text));
        }
    }
}

impl Step for TextCalls {
    fn event(&mut self, event: Event, out: &mut Vec<Event>) {
        match event {
            Event::Text(text) => self.text(&text, out),
            Event::Finish(_) | Event::End | Event::ToolStart { .. } => {
                self.flush(event == Event::Finish(Finish::Length), out);
                out.push(event);
            }
            other => out.push(other),
        }
    }
}
