//! `enhancetool`: repairs the arguments of calls.

use super::chain::Step;
use crate::translate::event::{Event, Finish};
use crate::translate::json_end::JsonEnd;
use crate::translate::json_repair::{is_json, repair};
use serde_json::Value;
use std::collections::BTreeMap;

/// Arguments of more bytes pass unrepaired.
const MAX_ARGUMENTS: usize = 1 << 20;

/// Holds arguments back until they are valid, or until the answer ends and they are repaired.
pub(super) struct EnhanceTool {
    calls: BTreeMap<usize, Held>,
    passed: Option<&'static str>,
}

#[derive(Default)]
struct Held {
    arguments: String,
    end: JsonEnd,
    state: State,
}

#[derive(Default, PartialEq, Eq)]
enum State {
    #[default]
    Holding,
    /// Too long to hold.
    Passing,
    /// Complete. What follows is a repetition.
    Done,
}

impl EnhanceTool {
    /// Calls of the tool `passed` are repaired elsewhere.
    pub(super) fn new(passed: Option<&'static str>) -> Self {
        Self {
            calls: BTreeMap::new(),
            passed,
        }
    }

    fn arguments(&mut self, call: usize, text: String, out: &mut Vec<Event>) {
        let held = self.calls.entry(call).or_default();
        match held.state {
            State::Done => return,
            State::Passing => return out.push(Event::ToolArguments { call, text }),
            State::Holding => {}
        }
        let was_complete = held.end.is_complete();
        let rest = held.end.feed(&text, &mut held.arguments);
        if !was_complete && held.end.is_complete() && is_json(&held.arguments) {
            held.state = State::Done;
            let text = std::mem::take(&mut held.arguments);
            out.push(Event::ToolArguments { call, text });
            return;
        }
        held.arguments.push_str(rest);
        if held.arguments.len() > MAX_ARGUMENTS {
            held.state = State::Passing;
            out.push(Event::ToolArguments {
                call,
                text: std::mem::take(&mut held.arguments),
            });
        }
    }

    /// Repairs what is held. Arguments that the token limit cut stay as they are: a call with half of its input must
    /// not run.
    fn flush(&mut self, cut: bool, out: &mut Vec<Event>) {
        for (call, held) in &mut self.calls {
            if held.state != State::Holding {
                continue;
            }
            held.state = State::Done;
            held.end.finish(&mut held.arguments);
            let text = std::mem::take(&mut held.arguments);
            let text = if cut { text } else { unwrapped(repair(&text)) };
            out.push(Event::ToolArguments { call: *call, text });
        }
    }
}

/// Arguments that were encoded twice, as a string with JSON in it.
fn unwrapped(text: String) -> String {
    match serde_json::from_str(&text) {
        Ok(Value::String(inner)) if inner.trim_start().starts_with('{') && is_json(&inner) => inner,
        _ => text,
    }
}

impl Step for EnhanceTool {
    fn event(&mut self, event: Event, out: &mut Vec<Event>) {
        match event {
            Event::ToolArguments { call, text } => self.arguments(call, text, out),
            Event::ToolStart { call, ref name, .. } => {
                let held = self.calls.entry(call).or_default();
                if self.passed == Some(name.as_str()) {
                    held.state = State::Passing;
                }
                out.push(event);
            }
            Event::Finish(finish) => {
                self.flush(finish == Finish::Length, out);
                out.push(event);
            }
            Event::End => {
                self.flush(false, out);
                out.push(event);
            }
            other => out.push(other),
        }
    }
}
