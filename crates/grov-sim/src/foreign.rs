//! The APIs of other agents than Claude Code: OpenAI's Responses API (Codex) and Gemini's `generateContent` (Gemini CLI). Their
//! conversations are answered by the same scenarios.

mod gemini;
mod responses;

use crate::json::Json;
use crate::record::RecordedRequest;
use crate::request::MessagesRequest;
use crate::respond::Writer;
use crate::routes::{self, Call};
use crate::script::{self, Reply};
use crate::server::Incoming;
use crate::state::{Shared, lock};
use crate::transmit::{Payload, Response};
use crate::validate::Refusal;
use serde_json::{Value, json};

/// The answer to a request that is no conversation.
const PLAIN: &str = "This is a simulated answer.";
/// Bytes per token, in both directions.
const BYTES_PER_TOKEN: usize = 4;

/// An API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ForeignApi {
    /// `POST /v1/responses`
    Responses,
    /// `POST /v1beta/models/MODEL:generateContent`
    Gemini,
    /// `POST /v1beta/models/MODEL:streamGenerateContent`
    GeminiStream,
}

impl ForeignApi {
    /// Returns the API of a path.
    pub(crate) fn of(method: &str, path: &str) -> Option<Self> {
        if method != "POST" {
            return None;
        }
        if path == "/v1/responses" {
            return Some(Self::Responses);
        }
        match path.strip_prefix("/v1beta/models/")?.split_once(':')?.1 {
            "generateContent" => Some(Self::Gemini),
            "streamGenerateContent" => Some(Self::GeminiStream),
            _ => None,
        }
    }
}

/// The model's answer, before it is written.
struct Answer<'a> {
    id: String,
    model: &'a str,
    blocks: Vec<Value>,
    tokens: Tokens,
}

/// The tokens of an exchange.
#[derive(Clone, Copy)]
struct Tokens {
    /// All tokens of the prompt.
    prompt: u64,
    /// Those of them that were cached.
    cached: u64,
    output: u64,
}

/// A conversation: who speaks, and blocks of the Messages API.
#[derive(Default)]
struct Conversation {
    system: Vec<Value>,
    turns: Vec<(&'static str, Vec<Value>)>,
    has_tools: bool,
}

impl Conversation {
    fn push(&mut self, role: &'static str, block: Value) {
        match self.turns.last_mut() {
            Some((last, content)) if *last == role => content.push(block),
            _ => self.turns.push((role, vec![block])),
        }
    }

    /// The conversation as a request of the Messages API, for which scenarios are written.
    fn request(&self, model: &str) -> Option<MessagesRequest> {
        let turns = self.turns.iter();
        let messages: Vec<Value> = turns
            .map(|(role, content)| json!({ "role": role, "content": content }))
            .collect();
        let request = json!({ "model": model, "max_tokens": 1, "system": self.system, "messages": messages });
        MessagesRequest::parse(request.to_string().as_bytes()).ok()
    }
}

fn text(value: &Value, name: &str) -> String {
    value
        .get(name)
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

fn items<'v>(value: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> + use<'v> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}

/// The answer to a request.
pub(crate) fn answer(
    shared: &Shared,
    incoming: &Incoming,
    record: &RecordedRequest,
    writer: &Writer<'_>,
    api: ForeignApi,
) -> Response {
    let parsed: Result<Value, _> = serde_json::from_slice(&incoming.body);
    let Some(body) = parsed.ok().filter(Value::is_object) else {
        let refusal = Refusal {
            status: 400,
            kind: "invalid_request_error",
            message: "We could not parse the JSON body of your request.".to_owned(),
        };
        return writer.deliver(writer.refusal(&refusal), shared.behaviour.clone());
    };
    let in_path = incoming
        .path
        .rsplit('/')
        .next()
        .and_then(|last| last.split(':').next());
    let in_body = body.get("model").and_then(Value::as_str);
    let model = in_body.or(in_path).unwrap_or_default();
    let conversation = match api {
        ForeignApi::Responses => responses::conversation(&body),
        ForeignApi::Gemini | ForeignApi::GeminiStream => gemini::conversation(&body),
    };
    let request = conversation
        .has_tools
        .then(|| conversation.request(model))
        .flatten();
    let reply = request.map(|request| script::reply(&lock(&shared.state).scenarios, &request, "foreign"));
    let call = Call {
        ordinal: record.ordinal,
        judged: None,
    };
    let behaviour = routes::given_behaviour(
        shared,
        incoming,
        call,
        reply.as_ref().map(|reply| (reply, "foreign")),
    );
    let plain = || match body.pointer("/generationConfig/responseJsonSchema") {
        Some(schema) => gemini::example(schema).to_string(),
        None => PLAIN.to_owned(),
    };
    let blocks = reply.map_or_else(
        || vec![json!({ "type": "text", "text": plain() })],
        |reply| blocks(&reply),
    );
    let prompt = incoming.body.len().div_ceil(BYTES_PER_TOKEN) as u64;
    let is_first = conversation.turns.iter().all(|(role, _)| *role != "assistant");
    let written: usize = blocks.iter().map(|block| block.to_string().len()).sum();
    let answer = Answer {
        id: writer.request_id().replacen("req_", "resp_", 1),
        model,
        blocks,
        tokens: Tokens {
            prompt,
            cached: if is_first { 0 } else { prompt / 2 },
            output: written.div_ceil(BYTES_PER_TOKEN) as u64,
        },
    };
    let stream = match api {
        ForeignApi::Responses => body.get("stream") == Some(&Value::Bool(true)),
        ForeignApi::Gemini => false,
        ForeignApi::GeminiStream => true,
    };
    let response = match (api, stream) {
        (ForeignApi::Responses, true) => events(writer, responses::events(&answer, shared.delta)),
        (ForeignApi::Responses, false) => whole(writer, &responses::whole(&answer)),
        (_, true) => events(writer, gemini::events(&answer, shared.delta)),
        (_, false) => whole(writer, &gemini::whole(&answer)),
    };
    writer.deliver(response, behaviour)
}

fn blocks(reply: &Reply) -> Vec<Value> {
    let blocks = reply.blocks.iter();
    blocks
        .filter_map(|block| serde_json::from_str(&block.to_string()).ok())
        .collect()
}

fn events(writer: &Writer<'_>, events: Vec<Vec<u8>>) -> Response {
    writer.response(
        200,
        writer.headers("text/event-stream; charset=utf-8"),
        Payload::Events(events),
    )
}

fn whole(writer: &Writer<'_>, body: &Value) -> Response {
    match Json::parse(body.to_string().as_bytes()) {
        Ok(body) => writer.json(200, &body),
        Err(_) => writer.error(500, "api_error", "the answer cannot be written"),
    }
}

/// The text in pieces of at most `size` characters.
fn pieces(text: &str, size: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters
        .chunks(size.max(1))
        .map(|piece| piece.iter().collect())
        .collect()
}
