//! Answers of Chat Completions as events: a chunk of a stream, or a whole body.

use super::calls::Calls;
use crate::translate::event::{Event, Finish, ProviderError, ReasoningField, Usage};
use crate::translate::failure::error_of;
use crate::translate::lenient::{Lenient, json_text, number, parts_text, text};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Finish reasons of answers that are not complete: OpenRouter, DeepSeek, Zhipu.
const FAILED: &[&str] = &["error", "insufficient_system_resource", "network_error"];

/// Reads answers of Chat Completions.
#[derive(Debug, Default)]
pub(crate) struct ChatAnswer {
    calls: Calls,
    refused: bool,
}

/// The payload is not in the documented form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the provider's answer is not in the form of its API")]
pub(crate) struct Unreadable;

/// The part of a tool call that one chunk contains.
#[derive(Debug, Default)]
pub(crate) struct CallDelta {
    pub(crate) index: Option<u64>,
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: String,
}

/// A chunk or a body. Every field is read leniently: providers differ in what they leave out.
#[derive(Deserialize)]
struct Payload<'a> {
    #[serde(borrow, default)]
    id: Lenient<'a>,
    #[serde(borrow, default)]
    choices: Option<Vec<Choice<'a>>>,
    #[serde(borrow, default)]
    usage: Lenient<'a>,
    #[serde(borrow, default)]
    error: Lenient<'a>,
    #[serde(borrow, default)]
    object: Lenient<'a>,
    #[serde(borrow, default)]
    message: Lenient<'a>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow, default)]
    index: Lenient<'a>,
    #[serde(borrow, default)]
    delta: Option<Message<'a>>,
    #[serde(borrow, default)]
    message: Option<Message<'a>>,
    #[serde(borrow, default)]
    finish_reason: Lenient<'a>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    content: Lenient<'a>,
    #[serde(borrow, default)]
    reasoning_content: Lenient<'a>,
    #[serde(borrow, default)]
    reasoning: Lenient<'a>,
    #[serde(borrow, default)]
    reasoning_details: Lenient<'a>,
    #[serde(borrow, default)]
    refusal: Lenient<'a>,
    #[serde(borrow, default)]
    tool_calls: Option<Vec<ToolCall<'a>>>,
    #[serde(borrow, default)]
    function_call: Option<Function<'a>>,
}

#[derive(Deserialize)]
struct ToolCall<'a> {
    #[serde(borrow, default)]
    index: Lenient<'a>,
    #[serde(borrow, default)]
    id: Lenient<'a>,
    #[serde(borrow, default)]
    function: Option<Function<'a>>,
}

#[derive(Default, Deserialize)]
struct Function<'a> {
    #[serde(borrow, default)]
    name: Lenient<'a>,
    #[serde(borrow, default)]
    arguments: Lenient<'a>,
}

/// The token counts of Chat Completions.
#[derive(Deserialize)]
struct UsageFields {
    #[serde(default)]
    prompt_tokens: Option<u64>,
    #[serde(default)]
    completion_tokens: Option<u64>,
    #[serde(default)]
    prompt_tokens_details: Option<Details>,
    /// DeepSeek's name for cached tokens.
    #[serde(default)]
    prompt_cache_hit_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct Details {
    #[serde(default)]
    cached_tokens: Option<u64>,
}

impl ChatAnswer {
    /// Reads a chunk of a stream.
    pub(crate) fn chunk(&mut self, data: &[u8], out: &mut Vec<Event>) -> Result<(), Unreadable> {
        self.payload(data, false, out)
    }

    /// Reads a whole body.
    pub(crate) fn body(&mut self, data: &[u8], out: &mut Vec<Event>) -> Result<(), Unreadable> {
        self.payload(data, true, out)?;
        if !matches!(out.last(), Some(Event::Error(_))) {
            out.push(Event::End);
        }
        Ok(())
    }

    fn payload(&mut self, data: &[u8], whole: bool, out: &mut Vec<Event>) -> Result<(), Unreadable> {
        // An array would be read as the fields in their order.
        if data.trim_ascii_start().first() == Some(&b'[') {
            return array_of_errors(data, out);
        }
        let payload: Payload<'_> = serde_json::from_slice(data).map_err(|_| Unreadable)?;
        if let Some(error) = reported_error(&payload, data) {
            out.push(Event::Error(error));
            return Ok(());
        }
        if let Some(usage) = usage(payload.usage) {
            out.push(Event::Usage(usage));
        }
        let choices = payload.choices.unwrap_or_default();
        let first = choices
            .into_iter()
            .find(|choice| number(choice.index).is_none_or(|index| index == 0));
        let Some(choice) = first else {
            return if whole { Err(Unreadable) } else { Ok(()) };
        };
        out.push(Event::Start {
            id: json_text(payload.id),
        });
        if let Some(message) = choice.delta.or(choice.message) {
            self.message(message, whole, out);
        }
        match text(choice.finish_reason) {
            None => {}
            Some(reason) if reason.is_empty() => {}
            Some(reason) if FAILED.contains(&reason.as_str()) => {
                let message = format!("the provider broke off its answer: {reason}");
                out.push(Event::Error(ProviderError {
                    status: None,
                    message,
                }));
            }
            Some(_) if self.refused => out.push(Event::Finish(Finish::Refusal)),
            Some(reason) => out.push(Event::Finish(Finish::parse(&reason))),
        }
        Ok(())
    }

    fn message(&mut self, message: Message<'_>, whole: bool, out: &mut Vec<Event>) {
        reasoning(&message, out);
        let content = parts_text(message.content);
        if let Some(text) = content.reasoning {
            out.push(Event::Reasoning {
                field: ReasoningField::Content,
                text,
            });
        }
        // An empty text counts in a whole body only: it says that there is a text.
        if let Some(text) = content.text.filter(|text| whole || !text.is_empty()) {
            out.push(Event::Text(text));
        }
        if let Some(refusal) = text(message.refusal).filter(|text| !text.is_empty()) {
            self.refused = true;
            out.push(Event::Text(refusal));
        }
        let calls = message.tool_calls.unwrap_or_default();
        for (at, call) in calls.into_iter().enumerate() {
            let function = call.function.unwrap_or_default();
            // The calls of a whole body are distinct, whatever their ids.
            let index = if whole {
                Some(at as u64)
            } else {
                number(call.index)
            };
            self.calls.delta(
                CallDelta {
                    index,
                    id: json_text(call.id),
                    name: text(function.name).unwrap_or_default(),
                    arguments: json_text(function.arguments),
                },
                out,
            );
        }
        // The form of the API before there were tools.
        if let Some(function) = message.function_call {
            self.calls.delta(
                CallDelta {
                    index: Some(0),
                    id: String::new(),
                    name: text(function.name).unwrap_or_default(),
                    arguments: json_text(function.arguments),
                },
                out,
            );
        }
    }
}

/// The reasoning of a message: the first field that contains any, because some providers send the same text in two.
fn reasoning(message: &Message<'_>, out: &mut Vec<Event>) {
    let content = text(message.reasoning_content).filter(|text| !text.is_empty());
    if let Some(text) = content {
        out.push(Event::Reasoning {
            field: ReasoningField::Content,
            text,
        });
        return;
    }
    let plain = text(message.reasoning).filter(|text| !text.is_empty());
    let details = || {
        parts_text(message.reasoning_details)
            .text
            .filter(|text| !text.is_empty())
    };
    if let Some(text) = plain.or_else(details) {
        out.push(Event::Reasoning {
            field: ReasoningField::Reasoning,
            text,
        });
    }
}

fn usage(value: Lenient<'_>) -> Option<Usage> {
    let fields: UsageFields = serde_json::from_str(value.0.map(RawValue::get)?).ok()?;
    let prompt = fields.prompt_tokens.unwrap_or(0);
    let cached = fields
        .prompt_tokens_details
        .and_then(|details| details.cached_tokens);
    let cached = cached.or(fields.prompt_cache_hit_tokens).unwrap_or(0).min(prompt);
    Some(Usage {
        input_tokens: prompt - cached,
        cache_read_input_tokens: cached,
        output_tokens: fields.completion_tokens.unwrap_or(0),
    })
}

/// The error in a payload. The body is parsed again only if one of the fields of an error is set.
fn reported_error(payload: &Payload<'_>, data: &[u8]) -> Option<ProviderError> {
    let suspicious = payload.error.0.is_some()
        || text(payload.object).is_some_and(|object| object == "error")
        || payload.choices.is_none() && payload.message.0.is_some();
    if !suspicious {
        return None;
    }
    error_of(&serde_json::from_slice(data).ok()?)
}

/// Some gateways send an error as an array with one element.
fn array_of_errors(data: &[u8], out: &mut Vec<Event>) -> Result<(), Unreadable> {
    let value: serde_json::Value = serde_json::from_slice(data).map_err(|_| Unreadable)?;
    let error = error_of(&value).ok_or(Unreadable)?;
    out.push(Event::Error(error));
    Ok(())
}
