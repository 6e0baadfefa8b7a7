//! One connection of the simulated API: reads requests, decides the answers, hands them to the transmitter.

use crate::behaviour::{Behaviour, Ending, Fault, HEADER};
use crate::cache::{CacheObservation, Plan, RenderedPrompt};
use crate::json::Json;
use crate::message::{self, Answer, Style};
use crate::record::{Delivery, End, RecordedRequest};
use crate::request::{MessagesRequest, Role, Unreadable};
use crate::script;
use crate::state::{Shared, lock};
use crate::transmit::{self, After, Payload, Response};
use crate::validate::{self, Refusal};
use crate::wire::{Frame, Framing, Head, Wire, WireError};
use bytes::{Bytes, BytesMut};
use std::sync::{Arc, OnceLock};
use time::OffsetDateTime;
use time::macros::format_description;
use tokio::net::TcpStream;
use xxhash_rust::xxh3::Xxh3;

/// Largest body of `/v1/messages*`, as the API documents it.
const MAX_BODY: u64 = 32 * 1024 * 1024;
/// Bytes of an answer's JSON per output token.
const BYTES_PER_TOKEN: usize = 4;
/// The models that `GET /v1/models` lists.
const MODELS: [(&str, &str); 3] = [
    ("claude-opus-4-8", "Claude Opus 4.8"),
    ("claude-sonnet-4-5", "Claude Sonnet 4.5"),
    ("claude-haiku-4-5", "Claude Haiku 4.5"),
];

/// Serves a connection until either side ends it.
pub(crate) async fn serve(shared: Arc<Shared>, stream: TcpStream, connection: u64) {
    // Without it the kernel would join small writes, and the sizes that a behaviour asks for would not be seen.
    let _ = stream.set_nodelay(true);
    let mut wire = Wire::new(stream);
    loop {
        match exchange(&shared, &mut wire, connection).await {
            Ok(After::KeepAlive) => {}
            Ok(After::Close) => {
                let _ = wire.finish().await;
                return;
            }
            Ok(After::Reset) => {
                let _ = wire.stream().set_zero_linger();
                return;
            }
            Err(WireError::Malformed(problem)) => {
                let body = message::error_body("invalid_request_error", problem).to_string();
                let response = format!(
                    "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
                     connection: close\r\n\r\n{body}",
                    body.len()
                );
                lock(&shared.state).malformed += 1;
                let _ = wire.send(response.as_bytes()).await;
                let _ = wire.finish().await;
                return;
            }
            Err(_) => return,
        }
    }
}

/// What was read of one request.
struct Incoming {
    head: Head,
    method: String,
    path: String,
    query: Option<String>,
    body: Bytes,
    length: u64,
    hash: u128,
    trailers: Vec<(String, String)>,
}

impl Incoming {
    fn is_messages(&self) -> bool {
        self.method == "POST" && self.path == "/v1/messages"
    }
}

async fn exchange(
    shared: &Arc<Shared>,
    wire: &mut Wire<TcpStream>,
    connection: u64,
) -> Result<After, WireError> {
    let Some(head) = wire.read_head().await? else {
        return Ok(After::Close);
    };
    let incoming = read(wire, head).await?;
    let keep_alive =
        incoming.head.line.ends_with("HTTP/1.1") && !incoming.head.has_token("connection", "close");
    let now = shared.now();
    let record = shared.arrive(|number, request_id| record(&incoming, number, connection, request_id, now));
    let decided = decide(shared, &incoming, &record, now);
    let (delivery, after) = match decided.response.behaviour.fault {
        Some(Fault::NoAnswer(ending)) => {
            let after = if ending == Ending::Reset {
                After::Reset
            } else {
                After::Close
            };
            (
                Delivery {
                    status: None,
                    bytes: 0,
                    end: End::Cut,
                },
                after,
            )
        }
        _ => {
            let begun = || shared.begun(decided.cached);
            transmit::transmit(wire, decided.response, keep_alive, begun).await
        }
    };
    shared.answered(&record, delivery).await;
    Ok(after)
}

async fn read(wire: &mut Wire<TcpStream>, head: Head) -> Result<Incoming, WireError> {
    let mut words = head.line.split(' ');
    let (Some(method), Some(target), Some(version)) = (words.next(), words.next(), words.next()) else {
        return Err(WireError::Malformed("request line"));
    };
    if words.next().is_some() || !version.starts_with("HTTP/1.") {
        return Err(WireError::Malformed("request line"));
    }
    let (method, (path, query)) = (method.to_owned(), split_target(target));
    let framing = head.request_framing()?;
    if head.has_token("expect", "100-continue") && framing != Framing::Length(0) {
        wire.send(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
    }
    let kept = path.starts_with("/v1/messages");
    let mut body = BytesMut::new();
    let mut hash = Xxh3::new();
    let mut length = 0;
    let mut reader = wire.body(framing);
    let trailers = loop {
        match reader.frame().await? {
            Frame::Data(data) => {
                length += data.len() as u64;
                hash.update(&data);
                if kept && length <= MAX_BODY {
                    body.extend_from_slice(&data);
                }
            }
            Frame::End(trailers) => break trailers,
        }
    };
    Ok(Incoming {
        head,
        method,
        path,
        query,
        body: body.freeze(),
        length,
        hash: hash.digest128(),
        trailers,
    })
}

/// Path and query of a request target, in origin or absolute form.
fn split_target(target: &str) -> (String, Option<String>) {
    let origin = match target.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("/", |at| &rest[at..]),
        None => target,
    };
    match origin.split_once('?') {
        Some((path, query)) => (path.to_owned(), Some(query.to_owned())),
        None => (origin.to_owned(), None),
    }
}

fn record(
    incoming: &Incoming,
    number: u64,
    connection: u64,
    request_id: String,
    now: OffsetDateTime,
) -> RecordedRequest {
    RecordedRequest {
        number,
        connection,
        head: incoming.head.clone(),
        method: incoming.method.clone(),
        path: incoming.path.clone(),
        query: incoming.query.clone(),
        body: incoming.body.clone(),
        body_length: incoming.length,
        body_hash: incoming.hash,
        trailers: incoming.trailers.clone(),
        received_at: now,
        request_id,
        delivery: OnceLock::new(),
    }
}

/// A request whose prompt is cached once its response begins.
pub(crate) struct Cached {
    pub(crate) conversation: String,
    pub(crate) request: MessagesRequest,
    pub(crate) prompt: RenderedPrompt,
    pub(crate) plan: Plan,
    pub(crate) seen: CacheObservation,
}

struct Decided {
    response: Response,
    cached: Option<Box<Cached>>,
}

/// The behaviours that are known before the body is looked at, and the answer.
fn decide(
    shared: &Arc<Shared>,
    incoming: &Incoming,
    record: &RecordedRequest,
    now: OffsetDateTime,
) -> Decided {
    let writer = Writer {
        request_id: &record.request_id,
        now,
    };
    let is_head = incoming.method == "HEAD";
    let mut decided = match (incoming.method.as_str(), incoming.path.as_str()) {
        ("POST", "/v1/messages") => messages(shared, incoming, &writer, now),
        (_, "/") if is_head => writer.plain(writer.headers("text/plain"), Payload::Absent(0)),
        ("POST", "/v1/messages/count_tokens") => count_tokens(incoming, &writer).into(),
        ("GET", "/v1/models") => models(incoming, &writer).into(),
        ("POST", "/v1/files") => files(incoming, &writer).into(),
        _ => writer.error(404, "not_found_error", "Not found").into(),
    };
    if !incoming.is_messages() {
        let behaviour = given_behaviour(shared, incoming, None, None);
        decided.response = writer.deliver(decided.response, behaviour);
    }
    if is_head && let Payload::Whole(body) = &decided.response.payload {
        decided.response.payload = Payload::Absent(body.len());
    }
    decided
}

fn messages(shared: &Arc<Shared>, incoming: &Incoming, writer: &Writer<'_>, now: OffsetDateTime) -> Decided {
    let parsed = match incoming.length > MAX_BODY {
        true => Err(Refusal {
            status: 413,
            kind: "request_too_large",
            message: "Request exceeds the maximum size".to_owned(),
        }),
        false => MessagesRequest::parse(&incoming.body).map_err(refusal),
    };
    let conversation = parsed
        .as_ref()
        .ok()
        .map(|request| conversation(&incoming.head, request));
    let reply = parsed
        .as_ref()
        .ok()
        .zip(conversation.as_deref())
        .map(|(request, conversation)| script::reply(&lock(&shared.state).scenarios, request, conversation));
    let behaviour = given_behaviour(shared, incoming, reply.as_ref(), conversation.as_deref());
    if let Some(Fault::Status(_)) = behaviour.fault {
        return writer
            .deliver(writer.error(500, "api_error", "simulated"), behaviour)
            .into();
    }
    let checked = validate::check_headers(&incoming.head)
        .and(parsed)
        .and_then(|request| match shared.validate {
            true => validate::check_messages(&incoming.head, &request).map(|()| request),
            false => Ok(request),
        });
    let (request, reply, conversation) = match (checked, reply, conversation) {
        (Ok(request), Some(reply), Some(conversation)) => (request, reply, conversation),
        (Err(refusal), ..) => return writer.deliver(writer.refusal(&refusal), behaviour).into(),
        // A request that was parsed has both.
        _ => {
            return writer
                .deliver(writer.error(500, "api_error", "Internal server error"), behaviour)
                .into();
        }
    };
    let prompt = RenderedPrompt::of(&request);
    let (plan, seen) = shared.look_up(&conversation, &request, &prompt, now);
    let bytes: usize = reply.blocks.iter().map(|block| block.to_string().len()).sum();
    let answer = Answer {
        id: writer.request_id.replacen("req_", "msg_", 1),
        model: request.model.clone(),
        blocks: reply.blocks,
        stop_reason: reply.stop_reason,
        usage: plan.usage,
        output_tokens: bytes.div_ceil(BYTES_PER_TOKEN) as u64,
    };
    let stream = request.stream && behaviour.fault != Some(Fault::JsonToStream);
    let response = match stream {
        true => {
            let style = Style {
                delta: shared.delta,
                crlf: behaviour.crlf,
                comments: behaviour.comments,
            };
            let mut headers = writer.headers("text/event-stream; charset=utf-8");
            headers.push(("cache-control".to_owned(), "no-cache".to_owned()));
            writer.response(200, headers, Payload::Events(answer.events(style)))
        }
        false => writer.json(200, &answer.json()),
    };
    let cached = Cached {
        conversation,
        request,
        prompt,
        plan,
        seen,
    };
    Decided {
        response: writer.deliver(response, behaviour),
        cached: Some(Box::new(cached)),
    }
}

fn refusal(error: Unreadable) -> Refusal {
    Refusal {
        status: 400,
        kind: "invalid_request_error",
        message: error.0,
    }
}

/// Session and subagent: what keeps one history.
fn conversation(head: &Head, request: &MessagesRequest) -> String {
    let session = head
        .header("x-claude-code-session-id")
        .map(str::to_owned)
        .or_else(|| request.session_id());
    let session = session.unwrap_or_else(|| "no session".to_owned());
    match head.header("x-claude-code-agent-id") {
        Some(agent) => format!("{session} agent {agent}"),
        None => session,
    }
}

/// The behaviour for a request. The header goes before the prompt's marker, that before the rules, those before the
/// scenario's step, that before what is set for all.
fn given_behaviour(
    shared: &Shared,
    incoming: &Incoming,
    reply: Option<&script::Reply>,
    conversation: Option<&str>,
) -> Behaviour {
    let step = reply.map(|reply| reply.index + 1);
    let mut state = lock(&shared.state);
    let number = if incoming.is_messages() { state.messages } else { 0 };
    let said = incoming
        .head
        .header(HEADER)
        .or_else(|| reply?.behaviour.as_deref());
    if let Some(text) = said {
        // A word that is unknown shows as a plain 400 rather than as a test that passes by mistake.
        let behaviour = text
            .parse()
            .unwrap_or_else(|_| Behaviour::fault(Fault::Status(400)));
        let key = format!("{} {text}", conversation.unwrap_or_default());
        if applies(&behaviour, step, state.uses.entry(key).or_default()) {
            return behaviour;
        }
    }
    let state = &mut *state;
    for (rule, uses) in &mut state.rules {
        if rule.fits(number, &incoming.path) && applies(&rule.behaviour, step, uses) {
            return rule.behaviour.clone();
        }
    }
    reply
        .and_then(|reply| reply.step.behaviour.clone())
        .unwrap_or_else(|| shared.behaviour.clone())
}

fn applies(behaviour: &Behaviour, step: Option<usize>, uses: &mut u32) -> bool {
    let fits = behaviour.step.is_none_or(|wanted| step == Some(wanted))
        && behaviour.times.is_none_or(|times| *uses < times);
    *uses += u32::from(fits);
    fits
}

fn count_tokens(incoming: &Incoming, writer: &Writer<'_>) -> Response {
    match validate::check_headers(&incoming.head)
        .and_then(|()| MessagesRequest::parse(&incoming.body).map_err(refusal))
    {
        Ok(request)
            if request
                .messages
                .first()
                .is_none_or(|message| message.role != Role::User) =>
        {
            writer.error(
                400,
                "invalid_request_error",
                "messages: at least one message is required",
            )
        }
        Ok(request) => writer.json(
            200,
            &Json::object([("input_tokens", RenderedPrompt::of(&request).tokens().into())]),
        ),
        Err(refusal) => writer.refusal(&refusal),
    }
}

fn models(incoming: &Incoming, writer: &Writer<'_>) -> Response {
    if let Err(refusal) = validate::check_headers(&incoming.head) {
        return writer.refusal(&refusal);
    }
    let list = MODELS.map(|(id, name)| {
        Json::object([
            ("type", "model".into()),
            ("id", id.into()),
            ("display_name", name.into()),
            ("created_at", "2026-01-01T00:00:00Z".into()),
        ])
    });
    writer.json(
        200,
        &Json::object([
            ("data", Json::Array(list.to_vec())),
            ("has_more", false.into()),
            ("first_id", MODELS[0].0.into()),
            ("last_id", MODELS[MODELS.len() - 1].0.into()),
        ]),
    )
}

fn files(incoming: &Incoming, writer: &Writer<'_>) -> Response {
    writer.json(
        200,
        &Json::object([
            ("type", "file".into()),
            ("id", writer.request_id.replacen("req_", "file_", 1).into()),
            ("size_bytes", incoming.length.into()),
            ("xxh3_128", format!("{:032x}", incoming.hash).into()),
        ]),
    )
}

/// Writes responses with the headers that the API's have.
struct Writer<'a> {
    request_id: &'a str,
    now: OffsetDateTime,
}

impl Writer<'_> {
    fn headers(&self, content_type: &str) -> Vec<(String, String)> {
        let date = format_description!(
            "[weekday repr:short], [day] [month repr:short] [year] [hour]:[minute]:[second] GMT"
        );
        let reset = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second]Z");
        let date = self.now.format(date).unwrap_or_default();
        let reset = self.now.format(reset).unwrap_or_default();
        [
            ("date", date.as_str()),
            ("content-type", content_type),
            ("request-id", self.request_id),
            (
                "anthropic-organization-id",
                "00000000-0000-4000-8000-000000000000",
            ),
            ("anthropic-ratelimit-requests-limit", "4000"),
            ("anthropic-ratelimit-requests-remaining", "3999"),
            ("anthropic-ratelimit-requests-reset", reset.as_str()),
            ("anthropic-ratelimit-input-tokens-limit", "2000000"),
            ("anthropic-ratelimit-input-tokens-remaining", "1999000"),
            ("anthropic-ratelimit-input-tokens-reset", reset.as_str()),
            ("anthropic-ratelimit-output-tokens-limit", "400000"),
            ("anthropic-ratelimit-output-tokens-remaining", "399000"),
            ("anthropic-ratelimit-output-tokens-reset", reset.as_str()),
            (
                "strict-transport-security",
                "max-age=31536000; includeSubDomains; preload",
            ),
            ("server", "cloudflare"),
            ("cf-cache-status", "DYNAMIC"),
            ("x-robots-tag", "none"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec()
    }

    fn response(&self, status: u16, headers: Vec<(String, String)>, payload: Payload) -> Response {
        Response {
            status,
            headers,
            payload,
            behaviour: Behaviour::default(),
        }
    }

    fn plain(&self, headers: Vec<(String, String)>, payload: Payload) -> Decided {
        self.response(200, headers, payload).into()
    }

    fn json(&self, status: u16, body: &Json) -> Response {
        let payload = Payload::Whole(body.to_string().into_bytes());
        self.response(status, self.headers("application/json"), payload)
    }

    fn error(&self, status: u16, kind: &str, message: &str) -> Response {
        let mut body = message::error_body(kind, message);
        body.set("request_id", self.request_id.into());
        let mut response = self.json(status, &body);
        let retry = status == 408 || status == 409 || status == 429 || status >= 500;
        response
            .headers
            .push(("x-should-retry".to_owned(), retry.to_string()));
        response
    }

    fn refusal(&self, refusal: &Refusal) -> Response {
        self.error(refusal.status, refusal.kind, &refusal.message)
    }

    /// The response under a behaviour; faults that replace or damage the body are applied here.
    fn deliver(&self, mut response: Response, behaviour: Behaviour) -> Response {
        match behaviour.fault {
            Some(Fault::Status(status)) => {
                let (kind, message) = error_words(status);
                response = self.error(status, kind, message);
                if let Some(seconds) = behaviour.retry_after {
                    response
                        .headers
                        .push(("retry-after".to_owned(), seconds.to_string()));
                }
            }
            Some(Fault::Html) => {
                let page = "<!DOCTYPE html>\n<html><body><h1>Sign in to continue</h1></body></html>\n";
                let headers = self.headers("text/html; charset=utf-8");
                response = self.response(200, headers, Payload::Whole(page.as_bytes().to_vec()));
            }
            Some(Fault::Empty) => response.payload = Payload::Whole(Vec::new()),
            Some(Fault::MalformedLine(events)) => {
                damage(
                    &mut response.payload,
                    events,
                    b"event: content_block_delta\ndata: {\"type\":\"conte\n\n",
                );
            }
            Some(Fault::ErrorEvent(events)) => {
                damage(
                    &mut response.payload,
                    events,
                    &message::error_event("overloaded_error", "Overloaded"),
                );
            }
            _ => {}
        }
        response.behaviour = behaviour;
        response
    }
}

fn damage(payload: &mut Payload, keep: usize, with: &[u8]) {
    if let Payload::Events(events) = payload {
        events.truncate(keep);
        events.push(with.to_vec());
    }
}

/// Error type and message for a status, as the API has them.
fn error_words(status: u16) -> (&'static str, &'static str) {
    match status {
        400 => (
            "invalid_request_error",
            "The request was refused by the simulation.",
        ),
        401 => ("authentication_error", "invalid x-api-key"),
        403 => (
            "permission_error",
            "Your API key does not have permission to use the specified resource",
        ),
        404 => ("not_found_error", "model: not found"),
        413 => ("request_too_large", "Request exceeds the maximum size"),
        429 => (
            "rate_limit_error",
            "This request would exceed your organization's rate limit.",
        ),
        529 => ("overloaded_error", "Overloaded"),
        _ => ("api_error", "Internal server error"),
    }
}

impl From<Response> for Decided {
    fn from(response: Response) -> Self {
        Self {
            response,
            cached: None,
        }
    }
}
