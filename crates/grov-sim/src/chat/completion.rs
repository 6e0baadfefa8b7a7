//! Writes an answer as a chat completion, whole or as chunks.

use crate::behaviour::Quirk;
use crate::json::Json;
use crate::judge::{ModelAnswer, Stop};
use crate::request::is_type;
use crate::script::Reply;

/// Bytes per token.
const BYTES_PER_TOKEN: usize = 4;

/// What the model answers.
#[derive(Default)]
pub(super) struct ChatAnswer {
    content: Option<String>,
    refusal: Option<String>,
    reasoning: Option<String>,
    calls: Vec<Call>,
    is_cut: bool,
}

/// A tool call.
struct Call {
    id: String,
    name: String,
    arguments: String,
}

impl ChatAnswer {
    pub(super) fn plain(text: &str) -> Self {
        Self {
            content: Some(text.to_owned()),
            ..Self::default()
        }
    }

    pub(super) fn of_judge(answer: &ModelAnswer) -> Self {
        let text = Some(answer.text.clone());
        match answer.stop {
            Stop::Refused => Self {
                refusal: text,
                ..Self::default()
            },
            Stop::Complete | Stop::Length => Self {
                content: text,
                is_cut: matches!(answer.stop, Stop::Length),
                ..Self::default()
            },
        }
    }

    /// The answer of a scenario. Quirks that concern its content are applied.
    pub(super) fn of_reply(reply: &Reply, quirks: &[Quirk]) -> Self {
        let mut answer = Self {
            is_cut: reply.stop_reason == "max_tokens",
            ..Self::default()
        };
        for block in &reply.blocks {
            let field = |name| block.get_str(name).unwrap_or_default().to_owned();
            if is_type(block, "text") {
                answer.say(&field("text"));
            } else if is_type(block, "thinking") && quirks.contains(&Quirk::Think) {
                answer.say(&format!("<think>{}</think>", field("thinking")));
            } else if is_type(block, "thinking") {
                answer.reasoning = Some(field("thinking"));
            } else if is_type(block, "tool_use") {
                let arguments = block.get("input").map(Json::to_string).unwrap_or_default();
                if quirks.contains(&Quirk::TextCalls) {
                    let name = field("name");
                    answer.say(&format!(
                        "<tool_call>\n{{\"name\": \"{name}\", \"arguments\": {arguments}}}\n</tool_call>"
                    ));
                    continue;
                }
                answer.calls.push(Call {
                    id: field("id").replacen("toolu_", "call_", 1),
                    name: field("name"),
                    arguments,
                });
            }
        }
        answer
    }

    fn say(&mut self, text: &str) {
        self.content.get_or_insert_default().push_str(text);
    }

    fn finish_reason(&self) -> &'static str {
        match (self.is_cut, self.calls.is_empty()) {
            (true, _) => "length",
            (false, true) => "stop",
            (false, false) => "tool_calls",
        }
    }

    fn tokens(&self) -> u64 {
        let texts = [&self.content, &self.refusal, &self.reasoning];
        let texts = texts.into_iter().flatten().map(String::len).sum::<usize>();
        let calls = self
            .calls
            .iter()
            .map(|call| call.name.len() + call.arguments.len());
        (texts + calls.sum::<usize>()).div_ceil(BYTES_PER_TOKEN) as u64
    }
}

/// A response of the API.
pub(super) struct Completion<'a> {
    pub(super) id: String,
    pub(super) created: u64,
    pub(super) model: &'a str,
    pub(super) answer: ChatAnswer,
    pub(super) prompt_tokens: u64,
    pub(super) quirks: &'a [Quirk],
}

impl Completion<'_> {
    fn has(&self, quirk: Quirk) -> bool {
        self.quirks.contains(&quirk)
    }

    /// The whole response.
    pub(super) fn json(&self) -> Json {
        let text = |text: &Option<String>| text.as_deref().map_or(Json::Null, Json::from);
        let mut message = Json::object([
            ("role", "assistant".into()),
            ("content", text(&self.answer.content)),
            ("refusal", text(&self.answer.refusal)),
        ]);
        if let Some(reasoning) = &self.answer.reasoning {
            message.set(self.reasoning_field(), reasoning.as_str().into());
        }
        if !self.answer.calls.is_empty() {
            let calls = self.answer.calls.iter().enumerate();
            let calls = calls.map(|(index, call)| self.call(index, call, &call.arguments));
            message.set("tool_calls", Json::Array(calls.collect()));
        }
        let choice = Json::object([
            ("index", 0_u64.into()),
            ("message", message),
            ("logprobs", Json::Null),
            ("finish_reason", self.answer.finish_reason().into()),
        ]);
        let mut body = self.frame("chat.completion", Json::Array(vec![choice]));
        if !self.has(Quirk::NoUsage) {
            body.set("usage", self.usage());
        }
        body
    }

    fn reasoning_field(&self) -> &'static str {
        if self.has(Quirk::Reasoning) {
            "reasoning"
        } else {
            "reasoning_content"
        }
    }

    fn call(&self, index: usize, call: &Call, arguments: &str) -> Json {
        let function = Json::object([
            ("name", call.name.as_str().into()),
            ("arguments", arguments.into()),
        ]);
        let mut json = Json::object([("index", (index as u64).into())]);
        if self.has(Quirk::NumericIds) {
            json.set("id", (index as u64).into());
        } else if !self.has(Quirk::NoIds) {
            json.set("id", call.id.as_str().into());
        }
        json.set("type", "function".into());
        json.set("function", function);
        json
    }

    fn usage(&self) -> Json {
        let completion = self.answer.tokens();
        Json::object([
            ("prompt_tokens", self.prompt_tokens.into()),
            ("completion_tokens", completion.into()),
            ("total_tokens", (self.prompt_tokens + completion).into()),
            (
                "prompt_tokens_details",
                Json::object([("cached_tokens", 0_u64.into())]),
            ),
        ])
    }

    fn frame(&self, object: &str, choices: Json) -> Json {
        Json::object([
            ("id", self.id.as_str().into()),
            ("object", object.into()),
            ("created", self.created.into()),
            ("model", self.model.into()),
            ("choices", choices),
        ])
    }

    /// The response as a stream, with pieces of `size` characters. `usage` is whether the client asked for it.
    pub(super) fn events(&self, size: usize, usage: bool) -> Vec<Vec<u8>> {
        let usage = usage && !self.has(Quirk::NoUsage);
        let chunk = |delta: Json, reason: Json| {
            let choice = Json::object([
                ("index", 0_u64.into()),
                ("delta", delta),
                ("finish_reason", reason),
            ]);
            self.frame("chat.completion.chunk", Json::Array(vec![choice]))
        };
        let mut chunks: Vec<Json> = self
            .deltas(size)
            .into_iter()
            .map(|delta| chunk(delta, Json::Null))
            .collect();
        let mut last = chunk(Json::Object(Vec::new()), self.answer.finish_reason().into());
        if usage && self.has(Quirk::UsageOnFinish) {
            last.set("usage", self.usage());
        }
        chunks.push(last);
        if usage && !self.has(Quirk::UsageOnFinish) {
            let choices = if self.has(Quirk::UsageNullChoices) {
                Json::Null
            } else {
                Json::Array(Vec::new())
            };
            let mut body = self.frame("chat.completion.chunk", choices);
            body.set("usage", self.usage());
            chunks.push(body);
        }
        let mut events: Vec<Vec<u8>> = chunks.iter().map(|chunk| data(&chunk.to_string())).collect();
        if !self.has(Quirk::NoDone) {
            events.push(data("[DONE]"));
        }
        events
    }

    fn deltas(&self, size: usize) -> Vec<Json> {
        let answer = &self.answer;
        let field = if answer.refusal.is_some() {
            "refusal"
        } else {
            "content"
        };
        let mut deltas = vec![Json::object([("role", "assistant".into()), (field, "".into())])];
        for (field, text) in [
            (self.reasoning_field(), &answer.reasoning),
            ("content", &answer.content),
            ("refusal", &answer.refusal),
        ] {
            let text = text.as_deref().unwrap_or_default();
            deltas.extend(pieces(text, size).map(|piece| Json::object([(field, piece.as_str().into())])));
        }
        let calls = answer.calls.iter().enumerate();
        let begins = calls
            .clone()
            .map(|(index, call)| vec![self.call(index, call, "")]);
        let continues = calls.map(|(index, call)| {
            pieces(&call.arguments, size).map(move |piece| {
                let function = Json::object([("arguments", piece.as_str().into())]);
                Json::object([("index", (index as u64).into()), ("function", function)])
            })
        });
        let parts: Vec<Json> = if self.has(Quirk::Interleaved) {
            let mut rest: Vec<_> = continues.collect();
            let mut parts: Vec<Json> = begins.flatten().collect();
            while !rest.is_empty() {
                rest.retain_mut(|pieces| {
                    let piece = pieces.next();
                    let has_more = piece.is_some();
                    parts.extend(piece);
                    has_more
                });
            }
            parts
        } else {
            begins
                .zip(continues)
                .flat_map(|(begin, rest)| begin.into_iter().chain(rest))
                .collect()
        };
        deltas.extend(
            parts
                .into_iter()
                .map(|part| Json::object([("tool_calls", Json::Array(vec![part]))])),
        );
        deltas
    }
}

/// The text in pieces of at most `size` characters.
fn pieces(text: &str, size: usize) -> impl Iterator<Item = String> + use<> {
    let characters: Vec<char> = text.chars().collect();
    let pieces: Vec<String> = characters
        .chunks(size.max(1))
        .map(|piece| piece.iter().collect())
        .collect();
    pieces.into_iter()
}

fn data(text: &str) -> Vec<u8> {
    format!("data: {text}\n\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply() -> Reply {
        let blocks = Json::parse(
            br#"[{"type":"thinking","thinking":"hm"},{"type":"text","text":"ok"},
                {"type":"tool_use","id":"toolu_1","name":"A","input":{"a":1}},
                {"type":"tool_use","id":"toolu_2","name":"B","input":{"b":2}}]"#,
        )
        .unwrap();
        Reply {
            blocks: blocks.as_array().unwrap().to_vec(),
            stop_reason: "tool_use".to_owned(),
            prompt_behaviour: None,
            behaviour: None,
            index: 0,
        }
    }

    fn stream(quirks: &[Quirk]) -> String {
        let completion = Completion {
            id: "chatcmpl-1".to_owned(),
            created: 1,
            model: "m",
            answer: ChatAnswer::of_reply(&reply(), quirks),
            prompt_tokens: 7,
            quirks,
        };
        String::from_utf8(completion.events(2, true).concat()).unwrap()
    }

    #[test]
    fn stream_contains_reasoning_text_and_calls() {
        let text = stream(&[]);
        for part in [
            r#"{"reasoning_content":"hm"}"#,
            r#"{"content":"ok"}"#,
            r#""id":"call_1""#,
            r#""finish_reason":"tool_calls""#,
            r#""choices":[],"usage":{"prompt_tokens":7"#,
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(text.ends_with("data: [DONE]\n\n"));
    }

    #[test]
    fn quirks_change_the_stream() {
        for (quirk, part) in [
            (Quirk::NumericIds, r#""id":1,"type""#),
            (Quirk::UsageNullChoices, r#""choices":null,"usage""#),
            (Quirk::Think, "<t"),
            (Quirk::Reasoning, r#"{"reasoning":"hm"}"#),
        ] {
            assert!(stream(&[quirk]).contains(part), "{quirk:?}");
            assert!(!stream(&[]).contains(part), "{quirk:?}");
        }
        for (quirk, part) in [
            (Quirk::NoIds, "call_1"),
            (Quirk::NoUsage, "usage"),
            (Quirk::NoDone, "[DONE]"),
            (Quirk::UsageOnFinish, r#""choices":[],"#),
            (Quirk::TextCalls, "tool_calls"),
        ] {
            assert!(!stream(&[quirk]).contains(part), "{quirk:?}");
            assert!(stream(&[]).contains(part), "{quirk:?}");
        }
        let order = |text: &str| -> Vec<char> {
            let indexes = text.split(r#""tool_calls":[{"index":"#).skip(1);
            indexes.filter_map(|rest| rest.chars().next()).collect()
        };
        assert_eq!(
            order(&stream(&[])),
            ['0', '0', '0', '0', '0', '1', '1', '1', '1', '1'][..].to_vec()
        );
        let interleaved = order(&stream(&[Quirk::Interleaved]));
        assert_eq!(interleaved[..6], ['0', '1', '0', '1', '0', '1']);
    }
}
