//! Chats, as one answer or as a stream of events.

use crate::caller::Caller;
use crate::extract::{Checks, Json};
use crate::gate::{AlreadyStored, wants_events};
use crate::once::Once;
use crate::problem::{Code, Problem, ProblemBody};
use crate::service::Service;
use axum::Extension;
use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::task::AtomicWaker;
use futures_util::{FutureExt, Stream};
use grov_agent::{
    AgentStoreError, ChatAnswer, ChatFailed, ChatRequest, Decision, KeyRole, MessageId, Progress, ProjectId,
    Replay, Response as AgentResponse, ThreadId, ToolCall, Tools,
};
use grov_domain::MicroUsd;
use http::{HeaderMap, StatusCode, header};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;
use tokio::task::JoinSet;
use tracing::Instrument;
use utoipa::ToSchema;

/// The longest message in bytes.
const MAX_MESSAGE: usize = 128 * 1024;
/// The largest metadata in bytes, as JSON.
const MAX_METADATA: usize = 32 * 1024;
/// How often a stream says that it is alive while the model is silent, at most. These writes also find clients that are gone.
const KEEP_ALIVE: Duration = Duration::from_secs(10);
/// How many events wait for a client that reads slowly. Beyond this, pieces of text are joined.
const MAX_WAITING: usize = 64;

/// A message to the agent.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct ChatBody {
    /// The project.
    project_id: ProjectId,
    /// What the user says.
    message: String,
    /// The thread to continue; a new one if not given.
    thread_id: Option<ThreadId>,
    /// The tools that may be used, each `{"name", "description", "parameters" | "input_schema", "requires_approval"?, "risk"?}`.
    #[serde(default)]
    #[schema(value_type = Option<Vec<Object>>)]
    tools: Value,
    /// Data for the agent: quoted, never followed.
    #[schema(value_type = Option<Object>)]
    metadata: Option<Value>,
}

/// The answer of the agent.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChatBodyAnswer {
    thread_id: ThreadId,
    /// The message of the agent.
    message_id: MessageId,
    /// What it decided.
    response_json: AgentResponse,
    /// The answer as Markdown.
    render: String,
    usage: Usage,
}

#[derive(Debug, Serialize, ToSchema)]
struct Usage {
    input_tokens: u64,
    output_tokens: u64,
    /// In US dollars; `null` if the price is not known.
    #[schema(required)]
    cost_usd: Option<f64>,
}

impl ChatBodyAnswer {
    pub(super) fn of(answer: &ChatAnswer) -> Self {
        let usage = &answer.usage;
        Self {
            thread_id: answer.thread,
            message_id: answer.message,
            response_json: answer.response.clone(),
            render: answer.render.clone(),
            usage: Usage {
                input_tokens: usage.input + usage.cache_read + usage.cache_creation,
                output_tokens: usage.output,
                cost_usd: answer.cost.map(MicroUsd::dollars),
            },
        }
    }

    pub(super) fn json(answer: &ChatAnswer) -> Option<String> {
        serde_json::to_string(&Self::of(answer)).ok()
    }
}

/// What a chat starts from.
pub(super) enum Start {
    Message(ChatRequest),
    /// The result of a call of an earlier chat.
    Result(Box<ToolCall>),
}

/// Answers a message: the agent acts, asks, or answers. With `Accept: text/event-stream` the answer is a stream of the events
/// `stage`, `text`, `result` and `error`. Needs the role agent.
#[utoipa::path(
    post, path = "/chat", tag = "chat", request_body = ChatBody,
    responses(
        (status = 200, content((ChatBodyAnswer = "application/json"), (String = "text/event-stream"))),
        (status = 404, body = ProblemBody), (status = 409, body = ProblemBody), (status = 422, body = ProblemBody),
        (status = 429, body = ProblemBody), (status = 502, body = ProblemBody), (status = 503, body = ProblemBody)
    )
)]
pub(crate) async fn chat(
    State(service): State<Service>,
    caller: Caller,
    once: Option<Extension<Once>>,
    headers: HeaderMap,
    Json(body): Json<ChatBody>,
) -> Result<Response, Problem> {
    let project = service.project(&caller, body.project_id).await?;
    caller.needs(KeyRole::Agent)?;
    let request = checked(body)?;
    let alive = KEEP_ALIVE.min(service.parts.limits.client_timeout / 3);
    let running = service
        .chat_limits
        .begin(caller.id(), project.id)
        .inspect_err(|_| {
            service.metrics.fault("rate_limited");
        })?;
    let once = once.map(|Extension(once)| once);
    let queue = Queue::default();
    let chat: Chat = Box::pin({
        let queue = queue.clone();
        async move {
            let mut push = |progress| queue.push(progress);
            let chat = run(&service, Start::Message(request), once.as_ref(), &mut push);
            // The stream is polled outside of the gate, which catches the panics of everything else.
            let answer = AssertUnwindSafe(chat).catch_unwind().await;
            drop(running);
            answer.unwrap_or_else(|_| {
                service.metrics.fault("panic");
                Err(Problem::unavailable(
                    "the chat failed by a bug of the service; its log says where",
                ))
            })
        }
    });
    if wants_events(&headers) {
        let events = Sse::new(events(chat, queue)).keep_alive(KeepAlive::new().interval(alive));
        let mut response = events.into_response();
        // So that a reverse proxy does not collect the events.
        let no = http::HeaderValue::from_static("no");
        response.headers_mut().insert("x-accel-buffering", no);
        return Ok(response);
    }
    Ok(json_answer(StatusCode::OK, chat.await?))
}

/// A JSON answer that is stored for its `Idempotency-Key` already, if there is one.
fn json_answer(status: StatusCode, json: String) -> Response {
    let mut response = (status, [(header::CONTENT_TYPE, "application/json")], json).into_response();
    response.extensions_mut().insert(AlreadyStored);
    response
}

fn checked(body: ChatBody) -> Result<ChatRequest, Problem> {
    let mut checks = Checks::default();
    checks.text("/message", &body.message, MAX_MESSAGE);
    let metadata = body.metadata.filter(|metadata| !metadata.is_null());
    if let Some(metadata) = &metadata
        && metadata.to_string().len() > MAX_METADATA
    {
        checks.add("/metadata", format!("is longer than {MAX_METADATA} bytes"));
    }
    let tools = Tools::parse(&body.tools).unwrap_or_else(|errors| {
        for error in errors {
            checks.add(&error.path, error.message);
        }
        Tools::default()
    });
    checks.done()?;
    Ok(ChatRequest {
        project: body.project_id,
        thread: body.thread_id,
        message: body.message,
        tools: tools.0,
        metadata,
    })
}

/// Runs a chat and stores its turn, with the answer to its `Idempotency-Key`. Returns the answer as JSON.
pub(super) async fn run(
    service: &Service,
    start: Start,
    once: Option<&Once>,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<String, Problem> {
    let render = |answer: &ChatAnswer| -> Option<Replay> {
        Some(once?.replay(StatusCode::OK, &ChatBodyAnswer::json(answer)?))
    };
    let _counted = Counted::new(service);
    let chat = &service.parts.chat;
    let answered = tokio::select! {
        answered = async {
            match start {
                Start::Message(request) => chat.chat(request, Some(&render), progress).await,
                Start::Result(call) => chat.continue_after(&call, Some(&render), progress).await,
            }
        } => answered,
        () = service.chats_must_stop() => {
            let detail = "the service is stopping; nothing was stored, so send the message again";
            return Err(Problem::unavailable(detail));
        }
    };
    let answer = match answered {
        Ok(answer) => answer,
        Err(ChatFailed::Store(AgentStoreError::Conflict(detail))) => {
            // Another instance of the service was faster with the same Idempotency-Key.
            return stored_answer(service, once)
                .await?
                .ok_or_else(|| Problem::new(Code::Conflict, detail));
        }
        Err(failed) => {
            if matches!(failed, ChatFailed::Provider(_)) {
                service.metrics.fault("provider");
            }
            return Err(failed.into());
        }
    };
    note(service, &answer);
    ChatBodyAnswer::json(&answer).ok_or_else(|| Problem::unavailable("the answer cannot be written as JSON"))
}

/// The stored answer of a request with an `Idempotency-Key`.
pub(super) async fn stored_answer(service: &Service, once: Option<&Once>) -> Result<Option<String>, Problem> {
    let Some(once) = once else { return Ok(None) };
    let replay = service
        .store()
        .replay(once.owner(), once.key(), service.now())
        .await?;
    let replay = replay.map(|replay| once.check(replay)).transpose()?;
    Ok(replay.map(|replay| replay.body.into_inner()))
}

/// Counts the chat, and wakes who waits for what it stored.
fn note(service: &Service, answer: &ChatAnswer) {
    let decision = match &answer.response.decision {
        Decision::Act { .. } => "ACT",
        Decision::Ask { .. } => "ASK",
        Decision::Noop { .. } => "NOOP",
    };
    let usage = &answer.usage;
    let input = usage.input + usage.cache_read + usage.cache_creation;
    service.metrics.chatted(decision, input, usage.output);
    let proposes = !answer.response.memory_proposals.is_empty();
    if proposes {
        (service.parts.on_texts)();
    }
    if proposes || matches!(answer.response.decision, Decision::Act { .. }) {
        (service.parts.on_events)();
    }
}

/// Counts a running chat until it is dropped.
struct Counted<'a>(&'a Service);

impl<'a> Counted<'a> {
    fn new(service: &'a Service) -> Self {
        service.metrics.chats.inc();
        Self(service)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.metrics.chats.dec();
    }
}

type Chat = Pin<Box<dyn Future<Output = Result<String, Problem>> + Send>>;

/// Progress between the chat and its stream.
#[derive(Clone, Default)]
struct Queue(Arc<Waiting>);

#[derive(Default)]
struct Waiting {
    progress: Mutex<VecDeque<Progress>>,
    stream: AtomicWaker,
}

impl Queue {
    /// Never waits for the client, so that a slow one does not hold up its chat.
    fn push(&self, progress: Progress) {
        let mut queue = self.0.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = queue.len() >= MAX_WAITING;
        match (queue.back_mut(), progress) {
            (Some(Progress::Text(last)), Progress::Text(delta)) if is_full => last.push_str(&delta),
            (_, progress) => queue.push_back(progress),
        }
        drop(queue);
        self.0.stream.wake();
    }

    fn pop(&self) -> Option<Progress> {
        let mut queue = self.0.progress.lock().unwrap_or_else(PoisonError::into_inner);
        queue.pop_front()
    }
}

/// Runs the chat in a task of its own: it holds a transaction while it stores its turn, so it must not wait until the client
/// reads. When the client is gone, the stream is dropped, and the task with it.
fn events(chat: Chat, queue: Queue) -> impl Stream<Item = Result<Event, Infallible>> {
    let mut task = JoinSet::new();
    task.spawn(chat.in_current_span());
    let mut answer = None;
    let mut is_over = false;
    futures_util::stream::poll_fn(move |context| {
        if is_over {
            return Poll::Ready(None);
        }
        queue.0.stream.register(context.waker());
        if answer.is_none()
            && let Poll::Ready(ended) = task.poll_join_next(context)
        {
            let cut_off = || Err(Problem::unavailable("the chat was cut off"));
            answer = Some(ended.and_then(Result::ok).unwrap_or_else(cut_off));
        }
        if let Some(progress) = queue.pop() {
            return Poll::Ready(Some(Ok(progress_event(progress))));
        }
        match answer.take() {
            None => Poll::Pending,
            Some(answered) => {
                is_over = true;
                Poll::Ready(Some(Ok(last_event(answered))))
            }
        }
    })
}

fn progress_event(progress: Progress) -> Event {
    let (name, data) = match progress {
        Progress::Stage(stage) => ("stage", serde_json::json!({"stage": stage.as_str()})),
        Progress::Text(delta) => ("text", serde_json::json!({"delta": delta})),
    };
    Event::default().event(name).data(data.to_string())
}

fn last_event(answered: Result<String, Problem>) -> Event {
    match answered {
        Ok(json) => Event::default().event("result").data(json),
        Err(problem) => {
            let json = serde_json::to_string(&problem.into_body()).unwrap_or_default();
            Event::default().event("error").data(json)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::StreamExt;
    use grov_agent::Stage;

    #[tokio::test]
    async fn events_come_in_order_and_end_with_the_result() {
        let queue = Queue::default();
        let chat: Chat = Box::pin({
            let queue = queue.clone();
            async move {
                queue.push(Progress::Stage(Stage::Retrieve));
                tokio::task::yield_now().await;
                queue.push(Progress::Text("a".to_owned()));
                queue.push(Progress::Text("b".to_owned()));
                Ok("{}".to_owned())
            }
        });
        let events: Vec<_> = events(chat, queue).collect().await;
        assert_eq!(events.len(), 4);
        let shown = format!("{events:?}");
        let places: Vec<_> = ["retrieve", "result"]
            .iter()
            .map(|word| shown.find(word))
            .collect();
        assert!(places.is_sorted() && !places.contains(&None), "{shown}");
    }

    #[tokio::test]
    async fn a_dropped_stream_drops_its_chat() {
        let (held, dropped) = tokio::sync::oneshot::channel::<()>();
        let chat: Chat = Box::pin(async move {
            let _held = held;
            std::future::pending().await
        });
        let mut stream = Box::pin(events(chat, Queue::default()));
        assert!(stream.next().now_or_never().is_none());
        drop(stream);
        let ended = tokio::time::timeout(Duration::from_secs(10), dropped).await;
        assert!(ended.unwrap().is_err());
    }

    #[tokio::test]
    async fn an_error_event_says_when_to_try_again() {
        let busy = Problem::unavailable("busy").retry_after(Duration::from_millis(1500));
        let events: Vec<_> = events(Box::pin(async { Err(busy) }), Queue::default())
            .collect()
            .await;
        assert!(
            format!("{events:?}").contains(r#"\"retry_after\":2"#),
            "{events:?}"
        );
    }

    #[tokio::test]
    async fn a_stream_that_nobody_reads_does_not_hold_up_its_chat() {
        let queue = Queue::default();
        let (done, is_done) = tokio::sync::oneshot::channel();
        let chat: Chat = Box::pin({
            let queue = queue.clone();
            async move {
                for _ in 0..1000 {
                    queue.push(Progress::Text("ab".to_owned()));
                    tokio::task::yield_now().await;
                }
                done.send(()).unwrap();
                Ok("{}".to_owned())
            }
        });
        let stream = events(chat, queue.clone());
        let ended = tokio::time::timeout(Duration::from_secs(10), is_done).await;
        assert!(ended.is_ok_and(|ended| ended.is_ok()));
        let waiting: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(waiting.len(), MAX_WAITING);
        let length = waiting.iter().map(|progress| match progress {
            Progress::Text(text) => text.len(),
            Progress::Stage(_) => 0,
        });
        assert_eq!(length.sum::<usize>(), 2000);
        drop(stream);
    }
}
