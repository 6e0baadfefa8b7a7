//! `tooluse`: a model that avoids tools must call one in every turn, and has a tool to answer the user.

use super::chain::Step;
use super::tags::{Tags, split};
use crate::translate::event::{Event, Finish};
use crate::translate::json::{Json, Object};
use crate::translate::json_repair::repair;
use serde_json::json;

/// The tool that ends a turn.
const NAME: &str = "ExitTool";

const DESCRIPTION: &str = "Answers the user and ends the turn. Call it when the task is done, when you need to ask the \
    user, or when no other tool helps. It must be the only call of the turn.";

const RESPONSE: &str = "The complete answer, shown to the user as it is written here.";

const REMINDER: &str = "<system-reminder>Every turn must call a tool. Choose the tool that brings the task forward. When \
    none does, or the task is done, call `ExitTool` with your answer: it is the only way to write to the user.</system-reminder>";

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

/// Turns a call of the tool into text.
///
/// If it is the first call, the turn ends with it and later calls are dropped. After other calls it is dropped, because
/// the turn goes on with their results.
pub(super) struct ExitTool {
    /// Tags of reasoning that the model may write inside the answer.
    tags: Vec<Tags>,
    exit: Option<Exit>,
    any_call: bool,
    any_text: bool,
    dropped: Vec<usize>,
}

struct Exit {
    call: usize,
    arguments: String,
    written: bool,
}

impl ExitTool {
    pub(super) fn new(tags: Vec<Tags>) -> Self {
        Self {
            tags,
            exit: None,
            any_call: false,
            any_text: false,
            dropped: Vec::new(),
        }
    }

    fn write(&mut self, out: &mut Vec<Event>) {
        let Some(exit) = self.exit.as_mut().filter(|exit| !exit.written) else {
            return;
        };
        exit.written = true;
        let arguments: serde_json::Value = serde_json::from_str(&repair(&exit.arguments)).unwrap_or_default();
        let mut text = arguments["response"].as_str().unwrap_or_default().to_owned();
        for tags in &self.tags {
            if let Some((thinking, rest)) = split(&text, *tags) {
                out.push(Event::Thinking(thinking));
                text = rest;
            }
        }
        if self.any_text && !text.is_empty() {
            text.insert_str(0, "\n\n");
        }
        out.push(Event::Text(text));
    }
}

impl Step for ExitTool {
    fn event(&mut self, event: Event, out: &mut Vec<Event>) {
        match event {
            Event::ToolStart { call, name, .. } if name == NAME && !self.any_call && self.exit.is_none() => {
                self.exit = Some(Exit {
                    call,
                    arguments: String::new(),
                    written: false,
                });
            }
            Event::ToolStart { call, name, .. } if name == NAME || self.exit.is_some() => {
                self.dropped.push(call)
            }
            Event::ToolArguments { call, .. } if self.dropped.contains(&call) => {}
            Event::ToolArguments { call, text } => match &mut self.exit {
                Some(exit) if exit.call == call => {
                    if exit.arguments.len() < MAX_ANSWER {
                        exit.arguments.push_str(&text);
                    }
                }
                _ => out.push(Event::ToolArguments { call, text }),
            },
            Event::Finish(finish) => {
                self.write(out);
                let over = self.exit.is_some() && finish == Finish::ToolCalls;
                out.push(Event::Finish(if over { Finish::Stop } else { finish }));
            }
            Event::End => {
                self.write(out);
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
