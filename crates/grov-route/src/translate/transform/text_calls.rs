//! Calls that a model writes as text: `<tool_call>{"name": …, "arguments": {…}}</tool_call>`.

use super::chain::Step;
use super::tags::partial;
use crate::translate::event::{Event, Finish};
use crate::translate::json_repair::repair;
use memchr::memmem;
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
    /// The bytes of `held` in which no tag begins.
    searched: usize,
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
            searched: 0,
            inside: false,
            next_call: FIRST_CALL,
        }
    }

    fn text(&mut self, text: &str, out: &mut Vec<Event>) {
        self.held.push_str(text);
        loop {
            let tag = if self.inside { CLOSE } else { OPEN };
            let found = memmem::find(&self.held.as_bytes()[self.searched..], tag.as_bytes());
            let Some(at) = found.map(|at| at + self.searched) else {
                self.searched = (self.held.len() + 1).saturating_sub(tag.len());
                break;
            };
            self.searched = 0;
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
            self.searched = 0;
            self.prose(text, out);
        } else if self.held.len() > MAX_CALL {
            self.inside = false;
            self.searched = 0;
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
        self.searched = 0;
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn run(text: &str, size: usize) -> Vec<Event> {
        let mut step = TextCalls::new(vec!["f".to_owned()]);
        let mut out = Vec::new();
        let chars: Vec<char> = text.chars().collect();
        for chunk in chars.chunks(size) {
            step.event(Event::Text(chunk.iter().collect()), &mut out);
        }
        step.event(Event::End, &mut out);
        let mut joined: Vec<Event> = Vec::new();
        for event in out {
            match (joined.last_mut(), event) {
                (Some(Event::Text(all)), Event::Text(text)) => all.push_str(&text),
                (_, event) => joined.push(event),
            }
        }
        joined
    }

    #[test]
    fn calls_are_found_in_any_split() {
        let text = "é<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":\"<tool_\"}}</tool_call>b";
        for size in 1..20 {
            let events = run(text, size);
            assert_eq!(events[0], Event::Text("é".into()));
            assert_eq!(
                events[2],
                Event::ToolArguments {
                    call: FIRST_CALL,
                    text: "{\"a\":\"<tool_\"}".into()
                }
            );
            assert_eq!(events[3], Event::Text("b".into()));
        }
    }

    proptest! {
        #[test]
        fn chunks_do_not_matter(
            text in "(<tool_call>|</tool_call>|\\{\"name\":\"f\"\\}|<|[ab é\n]){0,12}",
            size in 1usize..7,
        ) {
            // White space beside a call is dropped only if it arrives alone.
            let visible = |events: Vec<Event>| -> Vec<Event> {
                let visible = events.into_iter().map(|event| match event {
                    Event::Text(text) => Event::Text(text.split_whitespace().collect()),
                    other => other,
                });
                visible.filter(|event| *event != Event::Text(String::new())).collect()
            };
            prop_assert_eq!(visible(run(&text, size)), visible(run(&text, 1000)));
        }
    }
}
