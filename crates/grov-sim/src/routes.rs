//! Decides the answer to a request: endpoint, behaviour, the model's content, cache usage.

use crate::behaviour::{Behaviour, Fault, HEADER, Structured};
use crate::cache::{CacheObservation, Plan, RenderedPrompt};
use crate::chat;
use crate::foreign::{self, ForeignApi};
use crate::json::Json;
use crate::judge::{self, Dialect, Question, Stop};
use crate::message::{Answer, Style};
use crate::record::RecordedRequest;
use crate::request::{MessagesRequest, Role, Unreadable};
use crate::respond::Writer;
use crate::script;
use crate::server::{Incoming, MAX_BODY};
use crate::state::{Shared, lock};
use crate::tools;
use crate::transmit::{Payload, Response};
use crate::validate::{self, Refusal};
use crate::wire::Head;
use grov_domain::Purpose;
use time::OffsetDateTime;

/// Bytes of an answer's JSON per output token.
const BYTES_PER_TOKEN: usize = 4;
/// The models listed by `GET /v1/models`.
const MODELS: [(&str, &str); 3] = [
    ("claude-opus-4-8", "Claude Opus 4.8"),
    ("claude-sonnet-4-5", "Claude Sonnet 4.5"),
    ("claude-haiku-4-5", "Claude Haiku 4.5"),
];

/// A request whose prompt is cached once its response begins.
pub(crate) struct Cached {
    pub(crate) conversation: String,
    pub(crate) request: MessagesRequest,
    pub(crate) prompt: RenderedPrompt,
    pub(crate) plan: Plan,
    pub(crate) seen: CacheObservation,
}

/// The decision for a request.
pub(crate) struct Decided {
    pub(crate) response: Response,
    pub(crate) cached: Option<Box<Cached>>,
}

/// Decides the answer to a request.
pub(crate) fn decide(
    shared: &Shared,
    incoming: &Incoming,
    record: &RecordedRequest,
    now: OffsetDateTime,
) -> Decided {
    let dialect = match incoming.path.as_str() {
        chat::PATH => Dialect::OpenAi,
        _ => Dialect::Anthropic,
    };
    let writer = Writer::new(&record.request_id, now, dialect);
    let foreign = ForeignApi::of(&incoming.method, &incoming.path);
    let is_head = incoming.method == "HEAD";
    let mut decided = match (incoming.method.as_str(), incoming.path.as_str()) {
        ("POST", "/v1/messages") => messages(shared, incoming, record.ordinal, &writer, now),
        ("POST", chat::PATH) => chat::completions(shared, incoming, record, &writer).into(),
        (_, "/") if is_head => writer
            .response(200, writer.headers("text/plain"), Payload::Absent(0))
            .into(),
        ("POST", "/v1/messages/count_tokens") => count_tokens(incoming, &writer).into(),
        ("GET", "/v1/models") => models(incoming, &writer).into(),
        ("POST", "/v1/files") => files(incoming, &writer).into(),
        (_, path) if tools::is_path(path) => tools::answer(shared, incoming, &writer).into(),
        _ => match foreign {
            Some(api) => foreign::answer(shared, incoming, record, &writer, api).into(),
            None => writer.error(404, "not_found_error", "Not found").into(),
        },
    };
    if !incoming.is_messages() && !record.is_chat() && foreign.is_none() {
        let behaviour = given_behaviour(shared, incoming, Call::without_question(record.ordinal), None);
        decided.response = writer.deliver(decided.response, behaviour);
    }
    if tools::is_path(&incoming.path) {
        decided.response = tools::in_own_form(decided.response, &incoming.path, &writer);
    }
    if is_head && let Payload::Whole(body) = &decided.response.payload {
        decided.response.payload = Payload::Absent(body.len());
    }
    decided
}

fn messages(
    shared: &Shared,
    incoming: &Incoming,
    ordinal: u64,
    writer: &Writer<'_>,
    now: OffsetDateTime,
) -> Decided {
    let request = match parse(incoming) {
        Ok(request) => request,
        Err(refusal) => {
            let refusal = validate::check_headers(&incoming.head).err().unwrap_or(refusal);
            let behaviour = given_behaviour(shared, incoming, Call::without_question(ordinal), None);
            return writer.deliver(writer.refusal(&refusal), behaviour).into();
        }
    };
    let question = Question::in_messages(&request);
    let call = Call {
        ordinal,
        judged: question.as_ref().map(|question| question.purpose),
    };
    let check = |structured: Option<Structured>| {
        if !shared.validate {
            return Ok(());
        }
        validate::check_headers(&incoming.head)?;
        validate::check_messages(&incoming.head, &request)?;
        structured.map_or(Ok(()), |granted| {
            validate::check_format(&request, granted == Structured::Honoured)
        })
    };
    let (conversation, reply, behaviour) = match &question {
        Some(question) => {
            let behaviour = given_behaviour(shared, incoming, call, None);
            if let Err(refusal) = check(Some(behaviour.structured)) {
                return writer.deliver(writer.refusal(&refusal), behaviour).into();
            }
            // Checked first, so that a refused question uses up no answer of the script.
            let reply = judged(shared, incoming, question, &behaviour);
            // Questions have no common history that a cache could keep.
            (format!("judge {ordinal}"), reply, behaviour)
        }
        None => {
            let conversation = conversation(&incoming.head, &request);
            let reply = script::reply(&lock(&shared.state).scenarios, &request, &conversation);
            let behaviour = given_behaviour(shared, incoming, call, Some((&reply, &conversation)));
            if let Err(refusal) = check(None) {
                return writer.deliver(writer.refusal(&refusal), behaviour).into();
            }
            (conversation, reply, behaviour)
        }
    };
    let prompt = RenderedPrompt::of(&request);
    let (plan, seen) = shared.look_up(&conversation, &request, &prompt, now);
    let bytes: usize = reply.blocks.iter().map(|block| block.to_string().len()).sum();
    let answer = Answer {
        id: writer.request_id().replacen("req_", "msg_", 1),
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
    // If a fault replaces the answer, the model is not asked.
    let replaced = matches!(
        behaviour.fault,
        Some(Fault::Status(_) | Fault::Html | Fault::Empty | Fault::NoAnswer(_))
    );
    let cached = Cached {
        conversation,
        request,
        prompt,
        plan,
        seen,
    };
    Decided {
        response: writer.deliver(response, behaviour),
        cached: (!replaced).then(|| Box::new(cached)),
    }
}

/// The model's answer to a judge's question.
fn judged(shared: &Shared, incoming: &Incoming, question: &Question, behaviour: &Behaviour) -> script::Reply {
    let state = &mut *lock(&shared.state);
    let answer = question.answer(state.scenarios.judge(), &mut state.questions, incoming.hash);
    let answer = judge::distort(answer, behaviour.wrong);
    let stop_reason = match answer.stop {
        Stop::Complete => "end_turn",
        Stop::Length => "max_tokens",
        Stop::Refused => "refusal",
    };
    let text = Json::object([("type", "text".into()), ("text", answer.text.as_str().into())]);
    script::Reply {
        blocks: (!answer.text.is_empty()).then_some(text).into_iter().collect(),
        stop_reason: stop_reason.to_owned(),
        prompt_behaviour: None,
        behaviour: None,
        index: 0,
    }
}

fn parse(incoming: &Incoming) -> Result<MessagesRequest, Refusal> {
    if incoming.length > MAX_BODY {
        return Err(Refusal {
            status: 413,
            kind: "request_too_large",
            message: "Request exceeds the maximum size".to_owned(),
        });
    }
    MessagesRequest::parse(&incoming.body).map_err(refusal)
}

fn refusal(error: Unreadable) -> Refusal {
    Refusal {
        status: 400,
        kind: "invalid_request_error",
        message: error.0,
    }
}

/// Session and subagent, which identify a history.
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

/// The properties that rules match.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    /// Its number among the Messages requests, 0 for others.
    pub(crate) ordinal: u64,
    /// Set for a question to the judge, with its purpose if it is known.
    pub(crate) judged: Option<Option<Purpose>>,
}

impl Call {
    fn without_question(ordinal: u64) -> Self {
        Self {
            ordinal,
            judged: None,
        }
    }
}

/// The behaviour for a request. In order of precedence: the header, the prompt's marker, the rules, the scenario's
/// step, the default for all.
pub(crate) fn given_behaviour(
    shared: &Shared,
    incoming: &Incoming,
    call: Call,
    turn: Option<(&script::Reply, &str)>,
) -> Behaviour {
    let (reply, conversation) = turn.unzip();
    let step = reply.map(|reply| reply.index + 1);
    let mut state = lock(&shared.state);
    let explicit = incoming
        .head
        .header(HEADER)
        .or_else(|| reply?.prompt_behaviour.as_deref());
    if let Some(text) = explicit {
        // An unknown word results in a plain 400 instead of a test that passes by mistake.
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
        if rule.fits(call.ordinal, &incoming.path, call.judged) && applies(&rule.behaviour, step, uses) {
            return rule.behaviour.clone();
        }
    }
    reply
        .and_then(|reply| reply.behaviour.clone())
        .unwrap_or_else(|| shared.behaviour.clone())
}

fn applies(behaviour: &Behaviour, step: Option<usize>, uses: &mut u32) -> bool {
    let fits = behaviour.step.is_none_or(|wanted| step == Some(wanted))
        && behaviour.times.is_none_or(|times| *uses < times);
    *uses += u32::from(fits);
    fits
}

fn count_tokens(incoming: &Incoming, writer: &Writer<'_>) -> Response {
    match validate::check_headers(&incoming.head).and_then(|()| parse(incoming)) {
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
            ("id", writer.request_id().replacen("req_", "file_", 1).into()),
            ("size_bytes", incoming.length.into()),
            ("xxh3_128", format!("{:032x}", incoming.hash).into()),
        ]),
    )
}

impl From<Response> for Decided {
    fn from(response: Response) -> Self {
        Self {
            response,
            cached: None,
        }
    }
}
