//! `tooluse`: a model that avoids tools must call one in every turn, and has a tool to answer the user.

use super::chain::{Step, run};
use crate::translate::event::{Event, Finish};
use crate::translate::json::{Json, Object};
use crate::translate::json_repair::repair;
use serde_json::json;

/// The tool that ends a turn.
pub(super) const NAME: &str = "ExitTool";

const DESCRIPTION: &str = "Answers the user and ends the turn. Call it when the task is done, when you need to ask the \
    user, or when no other tool helps. It must be the only call of the turn.";

const RESPONSE: &str = "The complete answer, shown to the user as it is written here.";

const REMINDER: &str = "<system-reminder>Every turn must call a tool. Choose the tool that brings the task forward. When \
    none does, or the task is done, call `ExitTool` with your answer: it is the only way to write to the user.</system-reminder>";

/// A longer answer is written at its end, in bytes: finding what is new takes time in proportion to the whole.
const MAX_STREAMED: usize = 32 << 10;

/// An answer is cut beyond this size, in bytes.
const MAX_ANSWER: usize = 8 << 20;

/// Adds the tool, if there are others and the request does not choose among them.
pub(super) fn offer(chat: &mut Object<'_>) {
    let choice = chat.get("tool_choice");
    if choice.is_some_and(|choice| !matches!(choice.as_text(), Some("auto" | "required"))) {
        return;
    }
    let Some(tools) = chat
        .get("tools")
        .and_then(Json::as_array)
        .filter(|tools| !tools.is_empty())
    else {
        return;
    };
    tools.push(Json::owned(json!({
        "type": "function",
        "function": {
            "name": NAME,
            "description": DESCRIPTION,
            "parameters": {
                "type": "object",
                "properties": {"response": {"type": "string", "description": RESPONSE}},
                "required": ["response"],
            },
        },
    })));
    chat.set("tool_choice", Json::text("required"));
    if let Some(messages) = chat.get("messages").and_then(Json::as_array) {
        messages.push(Json::object([
            ("role", Json::text("system")),
            ("content", Json::text(REMINDER)),
        ]));
    }
}

/// Turns a call of the tool into text, while it arrives.
///
/// If it is the first call, the turn ends with it and later calls are dropped. After other calls it is dropped, because
/// the turn goes on with their results.
pub(super) struct ExitTool {
    /// Finds reasoning that the model writes inside the answer.
    tags: Vec<Box<dyn Step>>,
    exit: Option<Exit>,
    any_call: bool,
    any_text: bool,
    dropped: Vec<usize>,
}

struct Exit {
    call: usize,
    arguments: String,
    /// The bytes of the answer that are already written.
    written: usize,
    over: bool,
}

impl ExitTool {
    /// `tags` are the steps that find thinking in text.
    pub(super) fn new(tags: Vec<Box<dyn Step>>) -> Self {
        Self {
            tags,
            exit: None,
            any_call: false,
            any_text: false,
            dropped: Vec::new(),
        }
    }

    fn arguments(&mut self, text: &str, out: &mut Vec<Event>) {
        let Some(exit) = self
            .exit
            .as_mut()
            .filter(|exit| exit.arguments.len() < MAX_ANSWER)
        else {
            return;
        };
        exit.arguments.push_str(text);
        if exit.arguments.len() <= MAX_STREAMED && !ends_in_escape(&exit.arguments) {
            self.write(out);
        }
    }

    /// Writes what is new in the answer.
    fn write(&mut self, out: &mut Vec<Event>) {
        let Some(exit) = &mut self.exit else { return };
        let arguments: serde_json::Value = serde_json::from_str(&repair(&exit.arguments)).unwrap_or_default();
        let answer = arguments["response"].as_str().unwrap_or_default();
        let Some(new) = answer.get(exit.written..).filter(|new| !new.is_empty()) else {
            return;
        };
        let gap = if exit.written == 0 && self.any_text {
            "\n\n"
        } else {
            ""
        };
        exit.written = answer.len();
        run(&mut self.tags, Event::Text(format!("{gap}{new}")), out);
    }

    /// Writes the rest of the answer.
    fn end(&mut self, out: &mut Vec<Event>) {
        if self.exit.as_ref().is_none_or(|exit| exit.over) {
            return;
        }
        self.write(out);
        let mut rest = Vec::new();
        run(&mut self.tags, Event::End, &mut rest);
        out.extend(rest.into_iter().filter(|event| *event != Event::End));
        if let Some(exit) = &mut self.exit {
            exit.over = true;
            if exit.written == 0 {
                out.push(Event::Text(String::new()));
            }
        }
    }
}

/// Whether the text may end within an escape sequence, so that its last character is not known yet.
fn ends_in_escape(text: &str) -> bool {
    let end = &text.as_bytes()[text.len().saturating_sub(11)..];
    end.last() == Some(&b'\\') || end.windows(2).any(|pair| pair == b"\\u")
}

impl Step for ExitTool {
    fn whole(&mut self) {
        self.tags.iter_mut().for_each(|step| step.whole());
    }

    fn event(&mut self, event: Event, out: &mut Vec<Event>) {
        match event {
            Event::ToolStart { call, name, .. } if name == NAME && !self.any_call && self.exit.is_none() => {
                self.exit = Some(Exit {
                    call,
                    arguments: String::new(),
                    written: 0,
                    over: false,
                });
            }
            Event::ToolStart { call, name, .. } if name == NAME || self.exit.is_some() => {
                self.dropped.push(call)
            }
            Event::ToolArguments { call, .. } if self.dropped.contains(&call) => {}
            Event::ToolArguments { call, text }
                if self.exit.as_ref().is_some_and(|exit| exit.call == call) =>
            {
                self.arguments(&text, out);
            }
            Event::Finish(finish) => {
                self.end(out);
                let over = self.exit.is_some() && finish == Finish::ToolCalls;
                out.push(Event::Finish(if over { Finish::Stop } else { finish }));
            }
            Event::End => {
                self.end(out);
                out.push(Event::End);
            }
            other => {
                self.any_call |= matches!(other, Event::ToolStart { .. });
                self.any_text |= matches!(&other, Event::Text(text) if !text.trim().is_empty());
                out.push(other);
            }
        }
    }
}
