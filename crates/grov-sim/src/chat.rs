//! `POST /v1/chat/completions`, as in OpenAI's API and compatible servers: for a judge, and for agents, whose conversation is
//! answered by a scenario.

mod completion;
mod turn;

use crate::behaviour::{Fault, Structured};
use crate::json::Json;
use crate::judge::{self, Question};
use crate::record::RecordedRequest;
use crate::respond::Writer;
use crate::routes::{self, Call};
use crate::script;
use crate::server::{Incoming, MAX_BODY};
use crate::state::{Shared, lock};
use crate::transmit::{Payload, Response};
use crate::validate::Refusal;
use completion::{ChatAnswer, Completion};

/// The path of the endpoint.
pub(crate) const PATH: &str = "/v1/chat/completions";
/// The answer to a request without an output format.
const PLAIN: &str = "This is a simulated answer.";
/// Bytes per token, in both directions.
const BYTES_PER_TOKEN: usize = 4;
const ROLES: [&str; 5] = ["system", "developer", "user", "assistant", "tool"];

/// A request, parsed.
pub(crate) struct ChatRequest {
    pub(crate) model: String,
    body: Json,
}

impl ChatRequest {
    /// Parses a body. Errors have the API's wording.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Refusal> {
        let body = Json::parse(bytes).map_err(|error| {
            refused(format!(
                "We could not parse the JSON body of your request: {error}"
            ))
        })?;
        let Some(model) = body.get_str("model") else {
            return Err(refused("you must provide a model parameter"));
        };
        let Some(messages) = body.get("messages").and_then(Json::as_array) else {
            return Err(refused("Missing required parameter: 'messages'."));
        };
        if messages.is_empty() {
            return Err(refused(
                "Invalid 'messages': empty array. Expected an array with minimum length 1.",
            ));
        }
        for (at, message) in messages.iter().enumerate() {
            let role = message.get_str("role").unwrap_or_default();
            if !ROLES.contains(&role) {
                return Err(refused(format!(
                    "Invalid value: '{role}' for 'messages[{at}].role'."
                )));
            }
            if message.get("content").is_none() && role != "assistant" {
                return Err(refused(format!(
                    "Missing required parameter: 'messages[{at}].content'."
                )));
            }
        }
        Ok(Self {
            model: model.to_owned(),
            body,
        })
    }

    /// The question to the judge, if this request is one.
    pub(crate) fn question(&self) -> Option<Question> {
        let tools = self
            .body
            .get("tools")
            .and_then(Json::as_array)
            .unwrap_or_default();
        let system = self.texts(&["system", "developer"]);
        let asked = || Question::of(self.schema(), system.iter().map(String::as_str));
        tools.is_empty().then(asked)?
    }

    /// The requested schema.
    pub(crate) fn schema(&self) -> Option<&Json> {
        self.format()?.get("json_schema")?.get("schema")
    }

    fn format(&self) -> Option<&Json> {
        self.body.get("response_format")
    }

    /// The texts of messages with these roles.
    pub(crate) fn texts(&self, roles: &[&str]) -> Vec<String> {
        let messages = self
            .body
            .get("messages")
            .and_then(Json::as_array)
            .unwrap_or_default();
        messages
            .iter()
            .filter(|message| message.get_str("role").is_some_and(|role| roles.contains(&role)))
            .filter_map(|message| message.get("content"))
            .flat_map(|content| match content {
                Json::Array(parts) => parts.iter().filter_map(|part| part.get_str("text")).collect(),
                other => other.as_str().into_iter().collect::<Vec<_>>(),
            })
            .map(str::to_owned)
            .collect()
    }

    pub(crate) fn max_tokens(&self) -> Option<u64> {
        let named = |name| self.body.get(name).and_then(Json::as_u64);
        named("max_completion_tokens").or_else(|| named("max_tokens"))
    }

    /// Checks the requested output format, and whether this server supports it.
    fn check_format(&self, granted: Structured) -> Result<(), Refusal> {
        let Some(format) = self.format() else {
            return Ok(());
        };
        match (format.get_str("type"), granted) {
            (_, Structured::Refused) => {
                Err(refused("Unrecognized request argument supplied: response_format"))
            }
            (Some("text" | "json_object"), _) => Ok(()),
            (Some("json_schema"), Structured::ObjectsOnly) => Err(refused(
                "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
            )),
            (Some("json_schema"), Structured::Honoured) => {
                let wanted = format.get("json_schema");
                if wanted.and_then(|wanted| wanted.get_str("name")).is_none() {
                    return Err(refused(
                        "Missing required parameter: 'response_format.json_schema.name'.",
                    ));
                }
                let strict = wanted
                    .and_then(|wanted| wanted.get("strict"))
                    .and_then(Json::as_bool);
                match self.schema() {
                    Some(schema) if strict == Some(true) => check_strict(schema),
                    Some(_) => Ok(()),
                    None => Err(refused(
                        "Missing required parameter: 'response_format.json_schema.schema'.",
                    )),
                }
            }
            (kind, _) => Err(refused(format!(
                "Invalid value: '{}'. Supported values are: 'json_object', 'json_schema', and 'text'.",
                kind.unwrap_or_default()
            ))),
        }
    }
}

/// In strict mode every object lists all its members as required and is closed.
fn check_strict(schema: &Json) -> Result<(), Refusal> {
    match schema {
        Json::Object(members) => {
            if let Some(Json::Object(properties)) = schema.get("properties") {
                if schema.get("additionalProperties") != Some(&Json::Bool(false)) {
                    return Err(refused(
                        "Invalid schema for response_format: 'additionalProperties' is required to be supplied and \
                         to be false.",
                    ));
                }
                let required = schema
                    .get("required")
                    .and_then(Json::as_array)
                    .unwrap_or_default();
                let listed = |key: &str| required.iter().any(|name| name.as_str() == Some(key));
                if let Some((key, _)) = properties.iter().find(|(key, _)| !listed(key)) {
                    return Err(refused(format!(
                        "Invalid schema for response_format: 'required' is required to be supplied and to be an \
                         array including every key in properties. Missing '{key}'."
                    )));
                }
            }
            members.iter().try_for_each(|(_, value)| check_strict(value))
        }
        Json::Array(elements) => elements.iter().try_for_each(check_strict),
        _ => Ok(()),
    }
}

fn refused(message: impl Into<String>) -> Refusal {
    Refusal {
        status: 400,
        kind: "invalid_request_error",
        message: message.into(),
    }
}

/// The answer to a request.
pub(crate) fn completions(
    shared: &Shared,
    incoming: &Incoming,
    record: &RecordedRequest,
    writer: &Writer<'_>,
) -> Response {
    let request = match incoming.length > MAX_BODY {
        true => Err(Refusal {
            status: 413,
            kind: "invalid_request_error",
            message: "Request too large".to_owned(),
        }),
        false => ChatRequest::parse(&incoming.body),
    };
    let question = request.as_ref().ok().and_then(ChatRequest::question);
    let call = Call {
        ordinal: record.ordinal,
        judged: question.as_ref().map(|question| question.purpose),
    };
    let turn = request
        .as_ref()
        .ok()
        .filter(|_| question.is_none())
        .and_then(|request| turn::of(&request.body));
    let scripted = turn.map(|turn| script::reply(&lock(&shared.state).scenarios, &turn, "chat"));
    let scripted_turn = scripted.as_ref().map(|reply| (reply, "chat"));
    let behaviour = routes::given_behaviour(shared, incoming, call, scripted_turn);
    let checked = request.and_then(|request| {
        request.check_format(behaviour.structured)?;
        Ok(request)
    });
    let request = match checked {
        Ok(request) => request,
        Err(refusal) => return writer.deliver(writer.refusal(&refusal), behaviour),
    };
    let answer = match &question {
        Some(question) => {
            let state = &mut *lock(&shared.state);
            let answer = question.answer(state.scenarios.judge(), &mut state.questions, incoming.hash);
            ChatAnswer::of_judge(&judge::distort(answer, behaviour.wrong))
        }
        None => match scripted {
            Some(reply) => ChatAnswer::of_reply(&reply, &behaviour.quirks),
            None => ChatAnswer::plain(PLAIN),
        },
    };
    let completion = Completion {
        id: writer.request_id().replacen("req_", "chatcmpl-", 1),
        created: record.received_at.unix_timestamp().unsigned_abs(),
        model: &request.model,
        answer,
        prompt_tokens: incoming.body.len().div_ceil(BYTES_PER_TOKEN) as u64,
        quirks: &behaviour.quirks,
    };
    let stream = request.body.get("stream").and_then(Json::as_bool) == Some(true);
    let response = match stream && behaviour.fault != Some(Fault::JsonToStream) {
        true => {
            let usage = request
                .body
                .get("stream_options")
                .and_then(|options| options.get("include_usage"))
                .and_then(Json::as_bool);
            let events = completion.events(shared.delta, usage == Some(true));
            writer.response(
                200,
                writer.headers("text/event-stream; charset=utf-8"),
                Payload::Events(events),
            )
        }
        false => writer.json(200, &completion.json()),
    };
    writer.deliver(response, behaviour)
}
