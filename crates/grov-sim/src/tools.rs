//! Providers of external tools below path prefixes: `/perplexity`, `/tavily` and `/gemini`.
//!
//! Answers are made of the request: a query comes back in the text. Pages whose address contains `missing` fail. A job of
//! deep research is created, in progress when it is asked for first, and done when it is asked for again.

use crate::behaviour::Fault;
use crate::json::Json;
use crate::judge;
use crate::respond::Writer;
use crate::server::Incoming;
use crate::state::{Shared, lock};
use crate::transmit::{Payload, Response};
use serde_json::{Value, json};

const PERPLEXITY: &str = "/perplexity/";
const TAVILY: &str = "/tavily/";
const GEMINI: &str = "/gemini/";
const ASYNC: &str = "async/chat/completions";
const MAX_URLS: usize = 20;
/// Bytes per token of a request.
const BYTES_PER_TOKEN: usize = 4;

/// A job of deep research.
#[derive(Debug)]
pub(crate) struct Job {
    /// The key with which it was submitted.
    key: String,
    /// The response once it is done.
    response: Value,
    polls: u32,
}

/// Whether a path is below one of the prefixes.
pub(crate) fn is_path(path: &str) -> bool {
    [PERPLEXITY, TAVILY, GEMINI]
        .iter()
        .any(|prefix| path.starts_with(prefix))
}

/// The answer to a request below one of the prefixes.
pub(crate) fn answer(shared: &Shared, incoming: &Incoming, writer: &Writer<'_>) -> Response {
    let path = incoming.path.as_str();
    let header = match path.starts_with(GEMINI) {
        true => incoming
            .head
            .header("x-goog-api-key")
            .or_else(|| incoming.head.header("authorization")),
        false => incoming.head.header("authorization"),
    };
    if header.is_none_or(|key| matches!(key.trim(), "" | "Bearer")) {
        return error(path, 401, writer);
    }
    let body: Value = serde_json::from_slice(&incoming.body).unwrap_or_default();
    if incoming.method == "POST" && !body.is_object() {
        return error(path, 400, writer);
    }
    let found = if let Some(rest) = path.strip_prefix(PERPLEXITY) {
        perplexity(shared, incoming, rest, &body, writer)
    } else if let Some(rest) = path.strip_prefix(TAVILY) {
        tavily(incoming, rest, &body).map(|value| document(writer, 200, &value))
    } else {
        gemini(incoming, &body).map(|value| document(writer, 200, &value))
    };
    found.unwrap_or_else(|status| error(path, status, writer))
}

/// The response with an error of the provider's form, if a behaviour replaced it by an error.
pub(crate) fn in_own_form(response: Response, path: &str, writer: &Writer<'_>) -> Response {
    let Some(Fault::Status(status)) = response.behaviour.fault else {
        return response;
    };
    let mut own = error(path, status, writer);
    own.headers.extend(
        response
            .headers
            .into_iter()
            .filter(|(name, _)| name == "retry-after"),
    );
    own.behaviour = response.behaviour;
    own
}

fn document(writer: &Writer<'_>, status: u16, value: &Value) -> Response {
    let payload = Payload::Whole(value.to_string().into_bytes());
    writer.response(status, plain_headers("application/json"), payload)
}

fn plain_headers(kind: &str) -> Vec<(String, String)> {
    vec![("content-type".to_owned(), kind.to_owned())]
}

fn error(path: &str, status: u16, writer: &Writer<'_>) -> Response {
    let (name, message) = match status {
        400 => ("INVALID_ARGUMENT", "The request is invalid."),
        401 => ("UNAUTHENTICATED", "The API key is missing or invalid."),
        403 => ("PERMISSION_DENIED", "The API key has no rights for this."),
        404 => ("NOT_FOUND", "Not found."),
        429 => ("RESOURCE_EXHAUSTED", "Too many requests."),
        432 => ("RESOURCE_EXHAUSTED", "The limit of the plan is reached."),
        433 => ("RESOURCE_EXHAUSTED", "The pay-as-you-go limit is reached."),
        503 => ("UNAVAILABLE", "The service is overloaded."),
        _ => ("INTERNAL", "Internal error."),
    };
    let value = if path.starts_with(TAVILY) {
        json!({"detail": {"error": message}})
    } else if path.starts_with(GEMINI) {
        json!({"error": {"code": status, "message": message, "status": name}})
    } else {
        json!({"error": {"message": message, "type": name.to_lowercase(), "code": status}})
    };
    document(writer, status, &value)
}

/// What was asked: the last message of the user.
fn asked(request: &Value) -> Option<&str> {
    request["messages"].as_array()?.last()?["content"].as_str()
}

fn completion(request: &Value) -> Option<Value> {
    let model = request["model"].as_str()?;
    let question = asked(request)?;
    let thinking = match model {
        "sonar-deep-research" | "sonar-reasoning-pro" => "<think>I compare the sources.</think>",
        _ => "",
    };
    Some(json!({
        "id": "sim-1", "model": model, "created": 1_790_000_000, "object": "chat.completion",
        "choices": [{"index": 0, "finish_reason": "stop",
            "message": {"role": "assistant", "content": format!("{thinking}A simulated finding about: {question} [1]")},
            "delta": {"role": "assistant", "content": ""}}],
        "citations": ["https://example.org/1"],
        "search_results": [{"title": "One", "url": "https://example.org/1", "date": null}],
        "usage": {"prompt_tokens": question.len() / BYTES_PER_TOKEN, "completion_tokens": 40, "total_tokens": 60,
            "cost": {"total_cost": if model == "sonar-deep-research" { 0.4 } else { 0.01 }}},
    }))
}

/// A stream of concise events: the text in pieces, then the sources and the cost.
fn events(whole: &Value, delta: usize) -> Vec<Vec<u8>> {
    let event = |value: &Value| format!("data: {value}\n\n").into_bytes();
    let text: Vec<char> = whole["choices"][0]["message"]["content"]
        .as_str()
        .unwrap_or_default()
        .chars()
        .collect();
    let mut events: Vec<Vec<u8>> = text
        .chunks(delta.max(1))
        .map(|part| {
            let part: String = part.iter().collect();
            event(
                &json!({"object": "chat.completion.chunk", "model": whole["model"],
                "choices": [{"index": 0, "finish_reason": null, "delta": {"content": part}}]}),
            )
        })
        .collect();
    events.push(event(
        &json!({"object": "chat.completion.done", "model": whole["model"],
        "choices": [{"index": 0, "finish_reason": "stop", "delta": {"content": ""}}],
        "search_results": whole["search_results"], "usage": whole["usage"]}),
    ));
    events
}

fn perplexity(
    shared: &Shared,
    incoming: &Incoming,
    rest: &str,
    body: &Value,
    writer: &Writer<'_>,
) -> Result<Response, u16> {
    match (incoming.method.as_str(), rest) {
        ("POST", "chat/completions") => {
            let whole = completion(body).ok_or(400_u16)?;
            if body["stream"] != true {
                return Ok(document(writer, 200, &whole));
            }
            let payload = Payload::Events(events(&whole, shared.delta));
            Ok(writer.response(200, plain_headers("text/event-stream"), payload))
        }
        ("POST", "search") => {
            let query = body["query"].as_str().ok_or(400_u16)?;
            Ok(document(
                writer,
                200,
                &json!({"id": "sim-1", "results": [{"title": "One", "url": "https://example.org/1",
                    "snippet": format!("About {query}."), "date": null}]}),
            ))
        }
        ("POST", ASYNC) => {
            let response = completion(&body["request"]).ok_or(400_u16)?;
            let key = body["idempotency_key"].as_str().unwrap_or_default();
            let jobs = &mut lock(&shared.state).jobs;
            let known = jobs.iter().position(|job| !key.is_empty() && job.key == key);
            let number = known.unwrap_or_else(|| {
                jobs.push(Job {
                    key: key.to_owned(),
                    response,
                    polls: 0,
                });
                jobs.len() - 1
            });
            Ok(document(writer, 202, &job(number, "CREATED", &Value::Null)))
        }
        ("GET", _) => {
            let number = rest
                .strip_prefix(ASYNC)
                .and_then(|rest| rest.strip_prefix("/sim-job-"));
            let number: usize = number.and_then(|number| number.parse().ok()).ok_or(404_u16)?;
            let jobs = &mut lock(&shared.state).jobs;
            let found = jobs.get_mut(number).ok_or(404_u16)?;
            found.polls += 1;
            let described = match found.polls {
                1 => job(number, "IN_PROGRESS", &Value::Null),
                _ => job(number, "COMPLETED", &found.response),
            };
            Ok(document(writer, 200, &described))
        }
        _ => Err(404),
    }
}

fn job(number: usize, status: &str, response: &Value) -> Value {
    json!({"id": format!("sim-job-{number}"), "model": "sonar-deep-research", "created_at": 1_790_000_000,
        "status": status, "response": response, "error_message": null})
}

fn tavily(incoming: &Incoming, rest: &str, body: &Value) -> Result<Value, u16> {
    match (incoming.method.as_str(), rest) {
        ("POST", "search") => {
            let query = body["query"].as_str().ok_or(400_u16)?;
            let most = body["max_results"].as_u64().unwrap_or(5);
            if most > 20 {
                return Err(400);
            }
            let results: Vec<Value> = (1..=most)
                .map(|place| {
                    json!({"title": format!("Page {place}"), "url": format!("https://example.org/{place}"),
                        "content": format!("About {query}."), "score": 1.0 - place as f64 / 100.0, "raw_content": null})
                })
                .collect();
            let answer = match &body["include_answer"] {
                Value::Bool(false) | Value::Null => Value::Null,
                _ => json!(format!("A simulated answer about {query}.")),
            };
            Ok(
                json!({"query": query, "answer": answer, "images": [], "results": results, "response_time": 0.1,
                "request_id": "sim-1", "usage": {"credits": 1}}),
            )
        }
        ("POST", "extract") => {
            let urls: Vec<&str> = match &body["urls"] {
                Value::String(url) => vec![url],
                urls => urls
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str)
                    .collect(),
            };
            if urls.is_empty() || urls.len() > MAX_URLS {
                return Err(400);
            }
            let (missing, there): (Vec<&str>, Vec<&str>) =
                urls.into_iter().partition(|url| url.contains("missing"));
            let results: Vec<Value> = there
                .iter()
                .map(|url| json!({"url": url, "raw_content": format!("The page at {url}."), "images": []}))
                .collect();
            let failed: Vec<Value> = missing
                .iter()
                .map(|url| json!({"url": url, "error": "404 Not Found"}))
                .collect();
            Ok(
                json!({"results": results, "failed_results": failed, "response_time": 0.1, "request_id": "sim-1"}),
            )
        }
        _ => Err(404),
    }
}

fn gemini(incoming: &Incoming, body: &Value) -> Result<Value, u16> {
    let model = incoming
        .path
        .strip_suffix(":generateContent")
        .and_then(|path| path.rsplit_once("/models/"));
    let (_, model) = model.filter(|_| incoming.method == "POST").ok_or(404_u16)?;
    let prompt = body["contents"].as_array().ok_or(400_u16)?;
    let text = match &body["generationConfig"]["responseJsonSchema"] {
        Value::Null => format!("A simulated answer of {model}."),
        schema => {
            let schema = Json::parse(schema.to_string().as_bytes()).map_err(|_| 400_u16)?;
            judge::instance_of(&schema).to_string()
        }
    };
    let length: usize = prompt.iter().map(|part| part.to_string().len()).sum();
    Ok(json!({
        "candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": length / BYTES_PER_TOKEN, "candidatesTokenCount": text.len() / BYTES_PER_TOKEN,
            "totalTokenCount": (length + text.len()) / BYTES_PER_TOKEN},
        "modelVersion": model, "responseId": "sim-1",
    }))
}
