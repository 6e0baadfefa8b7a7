//! Translates requests.

use super::answer::Answer;
use super::chat::answer::ChatAnswer;
use super::chat::request::{RequestOptions, chat_request, finish};
use super::event::Event;
use super::json::{Json, Object};
use super::messages::{Content, MessagesBody};
use super::response::ResponseTranslator;
use super::responses::answer::ResponsesAnswer;
use super::responses::request::responses_request;
use super::transform::{RequestContext, ResponseChain, ResponseContext, Transform, apply};
use serde_json::{Map, Value};
use std::collections::HashSet;

/// The API of a provider that needs translation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Api {
    /// OpenAI's Chat Completions, which most providers offer.
    #[default]
    Chat,
    /// OpenAI's Responses.
    Responses,
}

/// What the provider file says about a model.
#[derive(Clone, Debug, Default)]
pub struct TranslationSettings {
    /// The label under which the client knows the model.
    pub label: String,
    /// The provider's name of the model.
    pub model: String,
    /// The provider's API.
    pub api: Api,
    /// The most tokens that a request may ask for. `None` or 0: no limit.
    pub max_tokens: Option<u64>,
    /// What the provider needs besides, in the order of the provider file.
    pub transforms: Vec<Transform>,
    /// Parameters that the transform `customparams` adds.
    pub params: Map<String, Value>,
}

/// A request that cannot be translated. The client receives status 400.
#[derive(Debug, thiserror::Error)]
pub enum TranslateError {
    /// The body is not a request of the Messages API.
    #[error("the request is not in the form of the Messages API: {0}")]
    Form(#[from] serde_json::Error),
    /// A message has a role that no API knows.
    #[error("the request has a message with the unknown role `{0}`")]
    Role(String),
}

/// Translates exchanges with one model.
#[derive(Clone, Debug)]
pub struct Translator {
    settings: TranslationSettings,
}

/// A request for the provider.
pub struct TranslatedRequest {
    /// The body.
    pub body: Vec<u8>,
    /// The path below the provider's endpoint.
    pub path: &'static str,
    /// Whether the provider is asked to stream.
    pub stream: bool,
    /// Translates the response.
    pub response: ResponseTranslator,
}

impl Translator {
    /// A translator for a model.
    pub fn new(settings: TranslationSettings) -> Self {
        Self { settings }
    }

    /// Translates the body of a request of the Messages API.
    ///
    /// # Errors
    /// If the body is not in the form of the Messages API.
    pub fn request(&self, body: &[u8]) -> Result<TranslatedRequest, TranslateError> {
        let settings = &self.settings;
        let body: MessagesBody<'_> = serde_json::from_slice(body)?;
        let stream = body.stream == Some(true);
        let effort = effort(&body);
        let tools = body
            .tools
            .iter()
            .flatten()
            .map(|tool| tool.name.clone().into_owned())
            .collect();
        let call_ids = call_ids(&body);
        let options = RequestOptions {
            model: &settings.model,
            max_tokens: settings.max_tokens,
        };
        let mut chat = chat_request(body, options).map_err(|role| TranslateError::Role(role.0))?;
        if let Some(effort) = effort {
            self.ask_for_reasoning(effort, &mut chat);
        }
        apply(
            &settings.transforms,
            &mut chat,
            context(settings.max_tokens, &settings.params),
        );
        finish(
            &mut chat,
            self.has(Transform::Reasoning) && self.has(Transform::DeepSeek),
        );
        let (answer, path) = match settings.api {
            Api::Chat => (Answer::Chat(ChatAnswer::default()), "/chat/completions"),
            Api::Responses => {
                chat = responses_request(chat);
                (Answer::Responses(ResponsesAnswer::default()), "/responses")
            }
        };
        let chain = ResponseChain::with_context(&settings.transforms, &ResponseContext { tools });
        Ok(TranslatedRequest {
            body: serde_json::to_vec(&Json::Object(chat))?,
            path,
            stream,
            response: ResponseTranslator::new(settings.label.clone(), stream, answer, chain)
                .avoiding(call_ids),
        })
    }

    fn has(&self, transform: Transform) -> bool {
        self.settings.transforms.contains(&transform)
    }

    /// Passes the client's effort on, where reasoning is shown and the provider is known to accept the parameter.
    fn ask_for_reasoning(&self, effort: &'static str, chat: &mut Object<'_>) {
        if !self.has(Transform::Reasoning) {
            return;
        }
        if self.settings.api == Api::Responses {
            chat.push("reasoning_effort", Json::text(effort));
        } else if self.has(Transform::OpenRouter) {
            chat.push("reasoning", Json::object([("effort", Json::text(effort))]));
        }
    }
}

/// The most JSON values of a request that is translated. Each takes up to 300 bytes of memory, so that a request of 32 MiB with a value in
/// every other byte would take gigabytes. Real requests have a value per hundred bytes or more.
const MAX_VALUES: usize = 1_000_000;

/// Whether a request has too many JSON values to be translated.
pub fn has_too_many_values(body: &[u8]) -> bool {
    // Each value but the first follows one of these; a short body cannot have too many.
    body.len() > MAX_VALUES && separators(body) > MAX_VALUES
}

/// The number of `,`, `[`, `{` and `:` outside of strings.
fn separators(body: &[u8]) -> usize {
    let mut count = 0;
    let mut rest = body;
    while let Some(quote) = memchr::memchr(b'"', rest) {
        let (outside, string) = rest.split_at(quote);
        count += outside
            .iter()
            .filter(|byte| matches!(byte, b',' | b'[' | b'{' | b':'))
            .count();
        rest = after_string(&string[1..]);
    }
    count
        + rest
            .iter()
            .filter(|byte| matches!(byte, b',' | b'[' | b'{' | b':'))
            .count()
}

/// What follows a string whose opening quote was read.
fn after_string(mut rest: &[u8]) -> &[u8] {
    while let Some(at) = memchr::memchr2(b'"', b'\\', rest) {
        let is_end = rest[at] == b'"';
        rest = rest.get(at + if is_end { 1 } else { 2 }..).unwrap_or_default();
        if is_end {
            return rest;
        }
    }
    &[]
}

/// The ids of the tool calls in a conversation.
fn call_ids(body: &MessagesBody<'_>) -> HashSet<String> {
    let blocks = body.messages.iter().flat_map(|message| match &message.content {
        Content::Blocks(blocks) => blocks.as_slice(),
        Content::None | Content::Text(_) => &[],
    });
    let calls = blocks.filter(|block| block.kind == "tool_use");
    calls
        .filter_map(|block| block.id.as_deref().map(str::to_owned))
        .collect()
}

/// The effort that the client asks for, in the three steps that every provider knows.
fn effort(body: &MessagesBody<'_>) -> Option<&'static str> {
    let thinking = body
        .thinking
        .as_ref()
        .filter(|thinking| thinking.kind != "disabled")?;
    let asked = body
        .output_config
        .as_ref()
        .and_then(|config| config.effort.as_deref());
    Some(match (asked, thinking.budget_tokens) {
        (Some("low"), _) | (None, Some(0..=1024)) => "low",
        (Some("medium"), _) | (None, None | Some(1025..=8192)) => "medium",
        _ => "high",
    })
}

fn context(max_tokens: Option<u64>, params: &Map<String, Value>) -> RequestContext<'_> {
    RequestContext {
        params,
        limited: max_tokens.is_some_and(|most| most > 0),
    }
}

/// Applies transforms to a request that is already in the form of Chat Completions.
///
/// # Errors
/// If the body is not a JSON object.
pub fn transform_request(
    transforms: &[Transform],
    max_tokens: Option<u64>,
    params: &Map<String, Value>,
    body: &[u8],
) -> Result<Vec<u8>, TranslateError> {
    let mut body: Object<'_> = serde_json::from_slice(body)?;
    apply(transforms, &mut body, context(max_tokens, params));
    Ok(serde_json::to_vec(&Json::Object(body))?)
}

/// Reads a body of Chat Completions as events, without transforms.
///
/// Returns `None` if it is not in the form of the API.
pub fn chat_events(body: &[u8]) -> Option<Vec<Event>> {
    let mut events = Vec::new();
    ChatAnswer::default().body(body, &mut events).ok()?;
    Some(events)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_are_counted_outside_of_strings() {
        for (body, count) in [
            ("", 0),
            (r#"{"a,[{:":[1,2,"\\\",:",{}]}"#, 7),
            (r#"["unfinished, \"#, 1),
            ("[[[],[]]]", 5),
        ] {
            assert_eq!(separators(body.as_bytes()), count, "{body}");
        }
    }

    #[test]
    fn a_request_with_too_many_values_is_told_from_a_long_one() {
        let many = format!(r#"{{"messages":[{}1]}}"#, "1,".repeat(MAX_VALUES));
        assert!(has_too_many_values(many.as_bytes()));
        let long = format!(r#"{{"messages":[{{"content":"{}"}}]}}"#, "1,".repeat(MAX_VALUES));
        assert!(!has_too_many_values(long.as_bytes()));
    }
}
