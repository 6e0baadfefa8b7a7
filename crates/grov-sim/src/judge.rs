//! The simulated judge: answers requests that ask for JSON in a certain form and offer no tools.
//!
//! Such a request is recognised by a JSON schema (`output_config.format` of the Messages API, `response_format` of chat
//! completions) or, for models without schemas, by a line `Shape: {…}` with an example in its system prompt. Without a
//! script the answer is generated from the schema or the example. A scenario file may set the answers instead:
//!
//! ```json
//! { "judge": { "extract_intent": [ { "goal": "Fix it", "scope": [], "constraints": [], "keywords": [] }, "no JSON" ] },
//!   "scenarios": {} }
//! ```
//!
//! The n-th question for a purpose gets its n-th answer, and later questions the last one; a question that is repeated
//! byte for byte gets the same answer. An object is sent as JSON, a string verbatim.

mod distort;
mod instance;

pub(crate) use distort::{ModelAnswer, Stop, distort};

use crate::chat;
use crate::json::Json;
use crate::record::RecordedRequest;
use crate::request::{self, MessagesRequest};
use grov_domain::Purpose;
use std::collections::BTreeMap;

/// The prefix of the system prompt's line with an example answer.
const EXAMPLE: &str = "Shape: ";

/// The field of the answer by which the purpose of a question is recognised.
const SIGNS: [(&str, Purpose); 9] = [
    ("limits", Purpose::ReadLimits),
    ("chosen", Purpose::ChooseMemories),
    ("harmful", Purpose::ScreenMemories),
    ("keywords", Purpose::ExtractIntent),
    ("action", Purpose::AnalyzeTaskContext),
    ("reasoning_trace", Purpose::ExtractReasoning),
    ("score", Purpose::CheckDrift),
    ("mandatory_action", Purpose::ForcedRecovery),
    ("next_action", Purpose::SummarizeSession),
];

/// The simulated judge's scripted answers. Without one for a purpose, the answer is generated.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JudgeScript {
    answers: BTreeMap<Purpose, Vec<Json>>,
}

impl JudgeScript {
    /// Adds an answer after the existing ones of the purpose. A string is sent verbatim.
    #[must_use]
    pub fn with(mut self, purpose: Purpose, answer: impl Into<Json>) -> Self {
        self.answers.entry(purpose).or_default().push(answer.into());
        self
    }

    /// The answers in a scenario file's `judge` object.
    pub(crate) fn from_json(purposes: BTreeMap<String, Vec<Json>>) -> Result<Self, String> {
        let mut script = Self::default();
        for (name, answers) in purposes {
            let purpose = Purpose::from_name(&name).ok_or_else(|| {
                let known = Purpose::QUESTIONS.map(Purpose::as_str).join(", ");
                format!("the judge is asked for no {name:?}; known are {known}")
            })?;
            script.answers.insert(purpose, answers);
        }
        Ok(script)
    }
}

/// The questions so far: for each purpose the hashes of the bodies, in order.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    asked: BTreeMap<Purpose, Vec<u128>>,
}

impl Questions {
    /// The index of this question within its purpose, from 0.
    fn index(&mut self, purpose: Purpose, body: u128) -> usize {
        let asked = self.asked.entry(purpose).or_default();
        asked.iter().position(|known| *known == body).unwrap_or_else(|| {
            asked.push(body);
            asked.len() - 1
        })
    }
}

/// The requested form of the answer.
#[derive(Clone, Debug, PartialEq)]
enum Shape {
    Schema(Json),
    Example(Json),
}

/// A question to the judge.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Question {
    pub(crate) purpose: Option<Purpose>,
    shape: Shape,
}

impl Question {
    /// The question in a Messages request, if there is one.
    pub(crate) fn in_messages(request: &MessagesRequest) -> Option<Self> {
        if !request.tools.is_empty() || request.purpose() == request::Purpose::Title {
            return None;
        }
        let schema = request.schema();
        let system = request.system.iter().filter_map(|block| block.get_str("text"));
        Self::of(schema, system)
    }

    /// The question for this schema, or for the example in the system prompt.
    pub(crate) fn of<'a>(schema: Option<&Json>, mut system: impl Iterator<Item = &'a str>) -> Option<Self> {
        let shape = match schema {
            Some(schema) => Shape::Schema(schema.clone()),
            None => Shape::Example(system.find_map(example)?),
        };
        let fields = match &shape {
            Shape::Schema(schema) => schema.get("properties"),
            Shape::Example(example) => Some(example),
        };
        let has = |field: &str| fields.is_some_and(|fields| fields.get(field).is_some());
        let purpose = SIGNS
            .iter()
            .find(|(field, _)| has(field))
            .map(|(_, purpose)| *purpose);
        Some(Self { purpose, shape })
    }

    /// The right answer, as text. `body` is the hash of the request's body.
    pub(crate) fn answer(&self, script: &JudgeScript, questions: &mut Questions, body: u128) -> String {
        let scripted = self.purpose.and_then(|purpose| {
            let answers = script.answers.get(&purpose)?;
            let last = answers.len().checked_sub(1)?;
            answers.get(questions.index(purpose, body).min(last))
        });
        match scripted {
            Some(Json::String(text)) => text.clone(),
            Some(answer) => answer.to_string(),
            // A generated limit would forbid anything, a generated choice would quote any memory, a generated harm withhold one.
            None if self.purpose == Some(Purpose::ReadLimits) => r#"{"limits":[],"asked":[]}"#.to_owned(),
            None if self.purpose == Some(Purpose::ChooseMemories) => r#"{"chosen":[]}"#.to_owned(),
            None if self.purpose == Some(Purpose::ScreenMemories) => r#"{"harmful":[]}"#.to_owned(),
            None => match &self.shape {
                Shape::Schema(schema) => instance::of_schema(schema).to_string(),
                Shape::Example(example) => instance::of_example(example).to_string(),
            },
        }
    }
}

fn example(system: &str) -> Option<Json> {
    let shown = |line: &str| Json::parse(line.strip_prefix(EXAMPLE)?.trim().as_bytes()).ok();
    system
        .lines()
        .find_map(shown)
        .filter(|value| matches!(value, Json::Object(_)))
}

/// The endpoint of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// `POST /v1/messages`
    Anthropic,
    /// `POST /v1/chat/completions`
    OpenAi,
}

/// A recorded question to the judge, parsed.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgeCall {
    /// Its endpoint.
    pub dialect: Dialect,
    /// Its purpose; `None` for an unknown form of answer.
    pub purpose: Option<Purpose>,
    /// The model asked for.
    pub model: String,
    /// The system prompt.
    pub system: String,
    /// The joined texts of the user's messages.
    pub user: String,
    /// The requested schema; `None` if only the system prompt describes the answer.
    pub schema: Option<Json>,
    /// The maximum number of tokens of the answer.
    pub max_tokens: Option<u64>,
    /// The credential of the request: the value of `x-api-key`, else of `authorization`.
    pub key: Option<String>,
}

impl JudgeCall {
    /// The question in a recorded request, if it is one and its body was kept.
    pub fn read(request: &RecordedRequest) -> Option<Self> {
        let key = ["x-api-key", "authorization"]
            .iter()
            .find_map(|name| request.header(name))
            .map(str::to_owned);
        if request.is_messages() {
            let asked = MessagesRequest::parse(&request.body).ok()?;
            let question = Question::in_messages(&asked)?;
            let system: Vec<&str> = asked
                .system
                .iter()
                .filter_map(|block| block.get_str("text"))
                .collect();
            let user: Vec<&str> = asked
                .messages
                .iter()
                .filter(|message| message.role == request::Role::User)
                .flat_map(|message| message.texts())
                .collect();
            return Some(Self {
                dialect: Dialect::Anthropic,
                purpose: question.purpose,
                system: system.join("\n"),
                user: user.join("\n"),
                schema: asked.schema().cloned(),
                max_tokens: asked.body.get("max_tokens").and_then(Json::as_u64),
                model: asked.model,
                key,
            });
        }
        if !request.is_chat() {
            return None;
        }
        let asked = chat::ChatRequest::parse(&request.body).ok()?;
        let question = asked.question()?;
        Some(Self {
            dialect: Dialect::OpenAi,
            purpose: question.purpose,
            system: asked.texts(&["system", "developer"]).join("\n"),
            user: asked.texts(&["user"]).join("\n"),
            schema: asked.schema().cloned(),
            max_tokens: asked.max_tokens(),
            model: asked.model,
            key,
        })
    }
}

/// A small valid instance of a JSON schema.
pub(crate) fn instance_of(schema: &Json) -> Json {
    instance::of_schema(schema)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(text: &str) -> Option<Question> {
        Question::of(None, std::iter::once(text))
    }

    #[test]
    fn an_example_in_the_prompt_determines_the_shape() {
        let asked = question("Answer.\nShape: {\"score\": 9, \"diagnostic\": \"...\"}\n").unwrap();
        assert_eq!(asked.purpose, Some(Purpose::CheckDrift));
        let answer = asked.answer(&JudgeScript::default(), &mut Questions::default(), 0);
        assert_eq!(answer, r#"{"score":9,"diagnostic":"A simulated diagnostic."}"#);
        for text in ["Shape: round", "Shape: [1]", "The Shape: {}", ""] {
            assert_eq!(question(text), None, "{text}");
        }
    }

    #[test]
    fn scripted_answers_come_in_order_and_a_repeated_question_gets_the_same_one() {
        let asked = question("Shape: {\"score\": 9}").unwrap();
        let script = JudgeScript::default()
            .with(Purpose::CheckDrift, Json::object([("score", 3_u64.into())]))
            .with(Purpose::CheckDrift, "no JSON");
        let mut questions = Questions::default();
        let answers = [7, 7, 8, 9, 7].map(|body| asked.answer(&script, &mut questions, body));
        assert_eq!(
            answers,
            [
                r#"{"score":3}"#,
                r#"{"score":3}"#,
                "no JSON",
                "no JSON",
                r#"{"score":3}"#
            ]
        );
    }

    #[test]
    fn every_purpose_is_recognised() {
        for purpose in Purpose::QUESTIONS {
            assert!(SIGNS.iter().any(|(_, known)| *known == purpose), "{purpose:?}");
        }
    }
}
