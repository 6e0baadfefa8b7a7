//! Answers of the Responses API as events: an event of a stream, or a whole body.

use crate::translate::chat::answer::Unreadable;
use crate::translate::event::{Event, Finish, ProviderError, ReasoningField, Usage};
use crate::translate::failure::error_of;
use serde_json::Value;
use std::collections::HashMap;

/// Reads answers of the Responses API.
#[derive(Debug, Default)]
pub(crate) struct ResponsesAnswer {
    /// The calls by `item_id` or `output_index`, and whether arguments arrived in parts.
    calls: HashMap<String, Call>,
    /// Whether the items of the output arrived before the final event.
    streamed: bool,
    called: bool,
    refused: bool,
}

#[derive(Clone, Copy, Debug)]
struct Call {
    call: usize,
    any_arguments: bool,
}

impl ResponsesAnswer {
    /// Reads an event of a stream. Events of unknown types are skipped.
    pub(crate) fn chunk(&mut self, data: &[u8], out: &mut Vec<Event>) -> Result<(), Unreadable> {
        let event: Value = serde_json::from_slice(data).map_err(|_| Unreadable)?;
        let Some(kind) = event["type"].as_str() else {
            out.push(Event::Error(error_of(&event).ok_or(Unreadable)?));
            return Ok(());
        };
        match kind {
            "response.created" | "response.in_progress" => start(&event["response"], out),
            "response.output_text.delta" => out.push(Event::Text(string(&event["delta"]))),
            "response.refusal.delta" => {
                self.refused = true;
                out.push(Event::Text(string(&event["delta"])));
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                out.push(reasoning(string(&event["delta"])));
            }
            // Parts of a summary are paragraphs.
            "response.reasoning_summary_part.added" if event["summary_index"].as_u64() > Some(0) => {
                out.push(reasoning("\n\n".to_owned()));
            }
            "response.output_item.added" => self.item_added(&event, out),
            "response.function_call_arguments.delta" => {
                let text = string(&event["delta"]);
                if let Some(call) = self.call(&event) {
                    call.any_arguments = true;
                    out.push(Event::ToolArguments {
                        call: call.call,
                        text,
                    });
                }
            }
            "response.function_call_arguments.done" => {
                let text = string(&event["arguments"]);
                self.all_arguments(&event, text, out);
            }
            "response.output_item.done" => self.item_done(&event, out),
            "response.completed" | "response.incomplete" | "response.failed" => {
                self.response(&event["response"], out);
            }
            "error" => out.push(Event::Error(error_of(&event).unwrap_or_default())),
            _ => {}
        }
        Ok(())
    }

    /// Reads a whole body.
    pub(crate) fn body(&mut self, data: &[u8], out: &mut Vec<Event>) -> Result<(), Unreadable> {
        let body: Value = serde_json::from_slice(data).map_err(|_| Unreadable)?;
        if !body["output"].is_array() {
            out.push(Event::Error(error_of(&body).ok_or(Unreadable)?));
            return Ok(());
        }
        self.response(&body, out);
        Ok(())
    }

    /// Reads a complete response. What the stream already brought is not repeated.
    fn response(&mut self, response: &Value, out: &mut Vec<Event>) {
        if let Some(error) = error_of(response) {
            out.push(Event::Error(error));
            return;
        }
        if response["status"] == "failed" {
            let message = "the provider reported a failed response".to_owned();
            out.push(Event::Error(ProviderError {
                status: None,
                message,
            }));
            return;
        }
        if let Some(usage) = usage(&response["usage"]) {
            out.push(Event::Usage(usage));
        }
        start(response, out);
        if !self.streamed {
            for item in response["output"].as_array().into_iter().flatten() {
                self.whole_item(item, out);
            }
        }
        let reason = response["incomplete_details"]["reason"].as_str();
        out.push(Event::Finish(match reason {
            Some("content_filter") => Finish::Refusal,
            Some(_) => Finish::Length,
            None if self.refused => Finish::Refusal,
            None if self.called => Finish::ToolCalls,
            None => Finish::Stop,
        }));
        out.push(Event::End);
    }

    fn item_added(&mut self, event: &Value, out: &mut Vec<Event>) {
        self.streamed = true;
        let item = &event["item"];
        if item["type"] == "function_call" {
            self.start_call(item, key(event), out);
        }
    }

    /// An item that may not have been announced.
    fn item_done(&mut self, event: &Value, out: &mut Vec<Event>) {
        let item = &event["item"];
        if item["type"] != "function_call" {
            return;
        }
        if !self.calls.contains_key(&key(event)) {
            self.streamed = true;
            self.start_call(item, key(event), out);
        }
        let text = string(&item["arguments"]);
        self.all_arguments(event, text, out);
    }

    /// The complete arguments of a call, used only if no part of them arrived before.
    fn all_arguments(&mut self, event: &Value, text: String, out: &mut Vec<Event>) {
        if let Some(call) = self.call(event)
            && !call.any_arguments
            && !text.is_empty()
        {
            call.any_arguments = true;
            out.push(Event::ToolArguments {
                call: call.call,
                text,
            });
        }
    }

    fn whole_item(&mut self, item: &Value, out: &mut Vec<Event>) {
        match item["type"].as_str() {
            Some("message") => {
                for part in item["content"].as_array().into_iter().flatten() {
                    self.refused |= part["type"] == "refusal";
                    let key = if part["type"] == "refusal" {
                        "refusal"
                    } else {
                        "text"
                    };
                    out.push(Event::Text(string(&part[key])));
                }
            }
            Some("reasoning") => {
                let parts = ["summary", "content"].iter().flat_map(|key| item[key].as_array());
                let texts: Vec<_> = parts.flatten().filter_map(|part| part["text"].as_str()).collect();
                if !texts.is_empty() {
                    out.push(reasoning(texts.join("\n\n")));
                }
            }
            Some("function_call") => {
                let key = format!("#{}", self.calls.len());
                let call = self.start_call(item, key, out);
                out.push(Event::ToolArguments {
                    call,
                    text: string(&item["arguments"]),
                });
            }
            _ => {}
        }
    }

    fn start_call(&mut self, item: &Value, key: String, out: &mut Vec<Event>) -> usize {
        self.called = true;
        let call = self.calls.len();
        self.calls.insert(
            key,
            Call {
                call,
                any_arguments: false,
            },
        );
        let id = item["call_id"]
            .as_str()
            .or(item["id"].as_str())
            .unwrap_or_default()
            .to_owned();
        out.push(Event::ToolStart {
            call,
            id,
            name: string(&item["name"]),
        });
        call
    }

    fn call(&mut self, event: &Value) -> Option<&mut Call> {
        self.calls.get_mut(&key(event))
    }
}

/// What names the item of an event: its place in the output, else its id.
fn key(event: &Value) -> String {
    match &event["output_index"] {
        Value::Null => string(event.get("item_id").unwrap_or(&event["item"]["id"])),
        index => index.to_string(),
    }
}

fn start(response: &Value, out: &mut Vec<Event>) {
    out.push(Event::Start {
        id: string(&response["id"]),
    });
}

fn reasoning(text: String) -> Event {
    Event::Reasoning {
        field: ReasoningField::Content,
        text,
    }
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn usage(usage: &Value) -> Option<Usage> {
    let input = usage["input_tokens"].as_u64()?;
    let cached = usage["input_tokens_details"]["cached_tokens"]
        .as_u64()
        .unwrap_or(0)
        .min(input);
    Some(Usage {
        input_tokens: input - cached,
        cache_read_input_tokens: cached,
        output_tokens: usage["output_tokens"].as_u64().unwrap_or(0),
    })
}
