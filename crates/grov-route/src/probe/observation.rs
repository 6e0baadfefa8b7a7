//! What an answer of Chat Completions shows about its provider.

use super::{PROBE_LIMIT, PROBE_TOOL};
use crate::translate::Transform;
use serde_json::Value;

/// What the answer to the tool probe showed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observation {
    /// A call's id is a number.
    pub numeric_ids: bool,
    /// A call has no id.
    pub missing_ids: bool,
    /// Reasoning is in `reasoning_content`.
    pub reasoning_content: bool,
    /// Reasoning is in `reasoning` or `reasoning_details`.
    pub reasoning: bool,
    /// Reasoning is in the text, between tags.
    pub think_tags: bool,
    /// A call was made.
    pub called: bool,
    /// The call is written as text.
    pub call_as_text: bool,
    /// The arguments of a call are no JSON object.
    pub bad_arguments: bool,
    /// The answer reports its tokens.
    pub usage: bool,
    ids_seen: bool,
    text: String,
    arguments: Vec<(u64, String)>,
}

impl Observation {
    /// Reads an answer: an event stream, or one JSON body.
    pub fn read(body: &[u8]) -> Self {
        let mut seen = Self::default();
        match serde_json::from_slice::<Value>(body) {
            Ok(whole) => seen.chunk(&whole),
            Err(_) => {
                for line in String::from_utf8_lossy(body).lines() {
                    let data = line.strip_prefix("data:").map(str::trim);
                    if let Some(chunk) = data.and_then(|data| serde_json::from_str(data).ok()) {
                        seen.chunk(&chunk);
                    }
                }
            }
        }
        seen.finish();
        seen
    }

    /// A chunk of a stream, or a whole answer.
    fn chunk(&mut self, chunk: &Value) {
        self.usage |= chunk["usage"].is_object();
        for choice in chunk["choices"].as_array().into_iter().flatten() {
            let part = if choice["delta"].is_object() {
                &choice["delta"]
            } else {
                &choice["message"]
            };
            self.text.push_str(part["content"].as_str().unwrap_or_default());
            self.reasoning_content |= is_text(&part["reasoning_content"]);
            let details = part["reasoning_details"].as_array();
            self.reasoning |=
                is_text(&part["reasoning"]) || details.is_some_and(|details| !details.is_empty());
            for call in part["tool_calls"].as_array().into_iter().flatten() {
                self.call(call);
            }
        }
    }

    fn call(&mut self, call: &Value) {
        self.called = true;
        match &call["id"] {
            Value::Number(_) => self.numeric_ids = true,
            Value::String(id) if !id.is_empty() => self.ids_seen = true,
            _ => {}
        }
        let index = call["index"].as_u64().unwrap_or(0);
        let arguments = &call["function"]["arguments"];
        let text = arguments.as_str().map_or_else(
            // Some servers send the object itself.
            || {
                if arguments.is_object() {
                    arguments.to_string()
                } else {
                    String::new()
                }
            },
            str::to_owned,
        );
        match self.arguments.iter_mut().find(|(known, _)| *known == index) {
            Some((_, earlier)) => earlier.push_str(&text),
            None => self.arguments.push((index, text)),
        }
    }

    fn finish(&mut self) {
        self.missing_ids = self.called && !self.ids_seen && !self.numeric_ids;
        self.think_tags = self.text.contains("<think>") || self.text.contains("</think>");
        self.call_as_text = !self.called && self.text.contains(PROBE_TOOL) && self.text.contains('{');
        let is_object = |text: &str| serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object());
        self.bad_arguments = self.arguments.iter().any(|(_, text)| !is_object(text));
    }

    /// The transforms that the answer calls for, and why.
    pub fn transforms(&self) -> Vec<(Transform, &'static str)> {
        let mut needed = Vec::new();
        let mut add = |is_needed: bool, transform: Transform, why: &'static str| {
            if is_needed {
                needed.push((transform, why));
            }
        };
        // openrouter reads numeric ids too.
        add(
            self.reasoning,
            Transform::OpenRouter,
            "the reasoning is in the field `reasoning`",
        );
        add(
            self.numeric_ids && !self.reasoning,
            Transform::Groq,
            "ids of calls are numbers",
        );
        let reasons = self.reasoning || self.reasoning_content;
        add(reasons, Transform::Reasoning, "the answer has reasoning");
        add(
            self.think_tags,
            Transform::ExtraThinkTag,
            "the text has reasoning between <think> tags",
        );
        add(
            self.call_as_text,
            Transform::EnhanceTool,
            "the call was written as text",
        );
        let repair = self.bad_arguments && !self.call_as_text;
        add(
            repair,
            Transform::EnhanceTool,
            "the arguments of the call are no valid JSON",
        );
        let silent = !self.called && !self.call_as_text;
        add(silent, Transform::ToolUse, "the model did not call the tool");
        needed
    }

    /// Whether an answer to the limit probe ignores the limit.
    pub fn ignores_limit(body: &[u8]) -> bool {
        let answer: Value = serde_json::from_slice(body).unwrap_or_default();
        let tokens = answer["usage"]["completion_tokens"].as_u64();
        tokens.is_some_and(|tokens| tokens > PROBE_LIMIT * 2)
    }
}

fn is_text(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::translate::SchemaDialect;
    use serde_json::json;

    fn stream(deltas: &[Value]) -> Observation {
        let line = |delta: &Value| format!("data: {}\n\n", json!({"choices": [{"delta": delta}]}));
        let body: String = deltas.iter().map(line).collect();
        Observation::read((body + "data: [DONE]\n\n").as_bytes())
    }

    fn names(seen: &Observation) -> Vec<&'static str> {
        seen.transforms()
            .iter()
            .map(|(transform, _)| transform.name())
            .collect()
    }

    fn call(id: &Value, arguments: &str) -> Value {
        json!({"tool_calls": [{"index": 0, "id": id, "function": {"name": PROBE_TOOL, "arguments": arguments}}]})
    }

    #[test]
    fn a_provider_as_documented_needs_nothing() {
        let more = json!({"tool_calls": [{"index": 0, "function": {"arguments": "\"a\"}"}}]});
        let seen = stream(&[call(&json!("call_1"), "{\"path\":"), more]);
        assert!(seen.called && !seen.missing_ids && !seen.bad_arguments);
        assert_eq!(names(&seen), [""; 0]);
    }

    #[test]
    fn each_quirk_calls_for_its_transform() {
        let good = || call(&json!("call_1"), "{}");
        let cases = [
            (
                stream(&[json!({"reasoning_content": "hm"}), good()]),
                vec!["reasoning"],
            ),
            (
                stream(&[json!({"reasoning": "hm"}), good()]),
                vec!["openrouter", "reasoning"],
            ),
            (
                stream(&[json!({"reasoning_details": [{"text": "hm"}]}), good()]),
                vec!["openrouter", "reasoning"],
            ),
            (
                stream(&[json!({"content": "<think>hm</think>"}), good()]),
                vec!["extrathinktag"],
            ),
            (stream(&[call(&json!(7), "{}")]), vec!["groq"]),
            (
                stream(&[json!({"reasoning": "hm"}), call(&json!(7), "{}")]),
                vec!["openrouter", "reasoning"],
            ),
            (
                stream(&[call(&json!("a"), "{'path': 'x',}")]),
                vec!["enhancetool"],
            ),
            (
                stream(&[json!({"content": "<tool_call>{\"name\": \"read_file\"}</tool_call>"})]),
                vec!["enhancetool"],
            ),
            (
                stream(&[json!({"content": "I cannot do that."})]),
                vec!["tooluse"],
            ),
        ];
        for (seen, expected) in cases {
            assert_eq!(names(&seen), expected, "{seen:?}");
        }
    }

    #[test]
    fn a_whole_answer_is_read_too() {
        let call = json!({"function": {"name": PROBE_TOOL, "arguments": {"path": "x"}}});
        let body = json!({"choices": [{"message": {"content": null, "tool_calls": [call]}}], "usage": {"completion_tokens": 40}});
        let seen = Observation::read(body.to_string().as_bytes());
        assert!(seen.called && seen.missing_ids && seen.usage && !seen.bad_arguments);
        assert!(Observation::ignores_limit(body.to_string().as_bytes()));
        assert!(!Observation::ignores_limit(
            br#"{"usage":{"completion_tokens":16}}"#
        ));
        assert!(!Observation::ignores_limit(b"<html>"));
    }

    #[test]
    fn garbage_shows_a_model_without_calls() {
        for body in ["", "<html>", "data: {", "[1]", "data: {\"choices\": 5}"] {
            assert_eq!(names(&Observation::read(body.as_bytes())), ["tooluse"], "{body}");
        }
    }

    #[test]
    fn the_least_change_is_tried_first() {
        let tried = super::super::request_transforms();
        assert_eq!(tried.len(), 6);
        assert_eq!(tried[0], [Transform::Schema(SchemaDialect::OpenAi)]);
        assert!(
            tried
                .iter()
                .all(|transforms| Transform::check_order(transforms).is_ok())
        );
    }
}
