//! Turns exchanges into records of sessions, prompts and actions.

mod edits;
mod sessions;
mod steps;

use crate::action_checker::{ActionChecker, CheckResult, PendingExchange, ToolOutcome, UserQuestion};
use crate::dialect;
use crate::hook_sessions::HookSessions;
use crate::identity::Identity;
use crate::project_locator::ProjectLocator;
use crate::prompts;
use crate::session_cache::SessionCache;
use crate::tasks::{self, RecordedExchange, SketchedAction, TaskOrchestrator};
use grov_domain::{
    ActionSketch, ClientDialect, ClientSessionId, ExchangeId, ExchangeKind, ExchangeRecord, Prompt,
    RecordSink, SideRequest, Step, StepOutcome, StepResult, TokenUsage, without_own_text,
};
use grov_project::{GitUser, ProjectLocation, hash_user};
use grov_proxy_core::{MessagesRequest, ObservedExchange, Outcome, TurnObserver};
use grov_redact::Redactor;
use grov_wire::RequestIndex;
use grov_wire::response::{Block, Turn, Usage};
use sessions::RecordedSession;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use steps::PerformedAction;

/// Sessions in memory. A session that is evicted only loses what detects repeated requests.
const MAX_SESSIONS: usize = 1024;

/// Requests of a session in which its directory is searched.
const MAX_SEARCHES: u8 = 8;

/// How records identify the user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UserNaming {
    /// Name and e-mail of the git configuration.
    #[default]
    Plain,
    /// A hash of name and e-mail.
    Hash,
    /// No name.
    Off,
}

/// The observer that records every exchange.
pub struct Recorder {
    sink: Arc<dyn RecordSink>,
    sessions: SessionCache<ClientSessionId, Mutex<RecordedSession>>,
    user_naming: UserNaming,
    /// The home directory with the user's git configuration.
    home: Option<PathBuf>,
    /// Divides the work into tasks.
    tasks: Option<TaskOrchestrator>,
    /// Judges the actions.
    checker: Option<Arc<dyn ActionChecker>>,
    /// Knows the sessions that hooks record.
    hooked: Option<Arc<dyn HookSessions>>,
}

impl Recorder {
    /// Creates a recorder that submits its records to `sink`. `home` is the user's home directory, whose git
    /// configuration is the fallback for the project's.
    pub fn new(sink: Arc<dyn RecordSink>, user_naming: UserNaming, home: Option<PathBuf>) -> Self {
        Self {
            sink,
            sessions: SessionCache::new(MAX_SESSIONS),
            user_naming,
            home,
            tasks: None,
            checker: None,
            hooked: None,
        }
    }

    /// Divides the work into tasks. Without it, a client session is one task.
    #[must_use]
    pub fn with_tasks(mut self, tasks: TaskOrchestrator) -> Self {
        self.tasks = Some(tasks);
        self
    }

    /// Judges actions before they are recorded.
    #[must_use]
    pub fn with_action_checker(mut self, checker: Arc<dyn ActionChecker>) -> Self {
        self.checker = Some(checker);
        self
    }

    /// Does not record sessions of intercepted connections in which hooks run.
    #[must_use]
    pub fn with_hook_sessions(mut self, hooked: Arc<dyn HookSessions>) -> Self {
        self.hooked = Some(hooked);
        self
    }

    /// Returns whether hooks record the session of an exchange.
    fn is_left_to_hooks(
        &self,
        exchange: &ObservedExchange,
        id: &ClientSessionId,
        session: &mut RecordedSession,
    ) -> bool {
        if !session.is_hooked && exchange.request.intercepted().is_some() {
            session.is_hooked = self.hooked.as_ref().is_some_and(|hooked| hooked.is_hooked(id));
        }
        session.is_hooked && exchange.request.intercepted().is_some()
    }

    /// Judges the actions of a record. After a panic, the record has no verdicts.
    fn judge(
        &self,
        record: &mut ExchangeRecord,
        task_is_known: bool,
        contents: Vec<Option<String>>,
        recorded: &RecordedExchange,
        exchange: &ObservedExchange,
    ) {
        let Some(checker) = &self.checker else {
            return;
        };
        let sketches = record.steps.iter().map(tasks::sketch).zip(contents);
        let actions: Vec<ActionSketch> = sketches
            .map(|(sketch, content)| ActionSketch { content, ..sketch })
            .collect();
        let client = dialect::of(&exchange.request);
        let earlier_prompts = || {
            let index = exchange.request.index();
            index
                .map(|index| prompts::earlier(client, index))
                .unwrap_or_default()
        };
        let questions = questions(client, &exchange.turn);
        let checked = PendingExchange {
            record,
            task_is_known,
            actions: &actions,
            results: &recorded.results,
            working_directory: recorded.working_directory.as_deref().map(Path::new),
            begins: recorded.begins,
            ends_turn: recorded.ends_turn,
            answer: recorded.answer.as_deref(),
            questions: &questions,
            earlier_prompts: &earlier_prompts,
        };
        let checked = std::panic::catch_unwind(AssertUnwindSafe(|| checker.check(&checked)));
        let Ok(CheckResult { verdicts, state }) = checked else {
            tracing::error!(exchange = %record.id, "judging an exchange panicked; it is recorded without verdicts");
            return;
        };
        for (step, verdict) in record.steps.iter_mut().zip(verdicts) {
            step.verdict = verdict;
        }
        record.drift = state;
    }

    /// Returns the user to record: whom the gatekeeper recognised, else the git user of the project.
    fn user(&self, session: &RecordedSession, request: &MessagesRequest) -> Option<String> {
        let Some(name) = request.user() else {
            return session.user.clone();
        };
        match self.user_naming {
            UserNaming::Plain => Some(name.to_owned()),
            UserNaming::Hash => hash_user(&GitUser {
                name: Some(name.to_owned()),
                email: None,
            }),
            UserNaming::Off => None,
        }
    }

    /// Resolves the project of a session, once. Gives up after [`MAX_SEARCHES`] requests: a client that does not name
    /// its directory in the first requests never does.
    fn locate(&self, session: &mut RecordedSession, exchange: &ObservedExchange) {
        if session.project.path.is_some() || session.searches >= MAX_SEARCHES {
            return;
        }
        let Some(directory) = ProjectLocator::directory(&exchange.request) else {
            session.searches += 1;
            return;
        };
        let place = ProjectLocation::locate(Path::new(&directory));
        let user = place.user(self.home.as_deref());
        session.user = match self.user_naming {
            UserNaming::Plain if user.is_unknown() => None,
            UserNaming::Plain => Some(user.to_string()),
            UserNaming::Hash => hash_user(&user),
            UserNaming::Off => None,
        };
        session.project = place.project();
        session.working_directory = Some(directory);
    }
}

impl TurnObserver for Recorder {
    fn name(&self) -> &'static str {
        "recorder"
    }

    fn observe(&self, exchange: &ObservedExchange) {
        let identity = Identity::of(&exchange.request);
        let session = self
            .sessions
            .get_or_create(&identity.session, Mutex::default, |_| true);
        let mut session = session.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_left_to_hooks(exchange, &identity.session, &mut session) {
            return;
        }
        self.locate(&mut session, exchange);
        let user = self.user(&session, &exchange.request);
        let id = ExchangeId::fresh();
        let task = match &self.tasks {
            Some(tasks) => tasks.current_task(&identity.session),
            None => Some(identity.session.first_task()),
        };
        let task_is_known = task.is_some();
        let prompts = if identity.kind == ExchangeKind::Main {
            new_prompts(&mut session, exchange)
        } else {
            Vec::new()
        };
        let performed = if identity.kind.is_turn() {
            performed(&mut session, exchange, &id)
        } else {
            Vec::new()
        };
        let performed = performed.into_iter().map(|action| (action.step, action.content));
        let (steps, contents): (Vec<Step>, Vec<Option<String>>) = performed.unzip();
        let mut record = ExchangeRecord {
            id,
            session_id: task.unwrap_or_else(|| identity.session.first_task()),
            client_session_id: identity.session.clone(),
            agent_id: identity.agent.clone(),
            kind: identity.kind,
            project: session.project.clone(),
            user,
            model: model(exchange),
            started_at: exchange.request.received_at(),
            ended_at: exchange.ended_at,
            prompts,
            steps,
            failures: Vec::new(),
            usage: token_usage(&exchange.turn.usage),
            stop_reason: exchange.turn.stop_reason.clone(),
            outcome: outcome(exchange.outcome),
            drift: None,
            edits: edits::of(exchange),
        };
        // A derived id can join unrelated conversations, so only recording uses it.
        let recorded = identity
            .session_is_named
            .then(|| recorded(&record, exchange, &session));
        drop(session);
        if let Some(recorded) = &recorded {
            record.failures = failures(&recorded.results);
            self.judge(&mut record, task_is_known, contents, recorded, exchange);
        }
        self.sink.submit(Redactor::shared().clean(record));
        if let (Some(tasks), Some(recorded)) = (&self.tasks, recorded) {
            tasks.submit(recorded);
        }
    }
}

/// Returns the results of calls that did not succeed.
fn failures(results: &[ToolOutcome]) -> Vec<StepResult> {
    let failed = results.iter().filter(|result| result.failed);
    failed
        .map(|result| StepResult {
            tool_use_id: result.tool_use_id.clone(),
            outcome: StepOutcome::of_failure(result.output.as_deref().unwrap_or_default()),
        })
        .collect()
}

/// Returns the part of an exchange that task orchestration needs.
fn recorded(
    record: &ExchangeRecord,
    exchange: &ObservedExchange,
    session: &RecordedSession,
) -> RecordedExchange {
    let index = exchange.request.index();
    let client = dialect::of(&exchange.request);
    let is_main = record.kind == ExchangeKind::Main;
    let is_end = exchange.outcome == Outcome::Complete && record.stop_reason.as_deref() == Some("end_turn");
    RecordedExchange {
        id: record.id.clone(),
        client_session_id: record.client_session_id.clone(),
        agent_id: record.agent_id.clone(),
        kind: record.kind,
        project: record.project.clone(),
        user: record.user.clone(),
        working_directory: session.working_directory.clone(),
        prompts: tasks::shortened(&record.prompts),
        actions: record.steps.iter().map(SketchedAction::of).collect(),
        results: index
            .filter(|_| record.kind.is_turn())
            .map(tasks::outcomes)
            .unwrap_or_default(),
        answer: is_main.then(|| last_text(exchange)).flatten(),
        report: (is_end && record.agent_id.is_some())
            .then(|| last_text(exchange))
            .flatten(),
        summary: (record.kind == ExchangeKind::Side(SideRequest::Compaction))
            .then(|| last_text(exchange))
            .flatten(),
        title: (record.kind == ExchangeKind::Side(SideRequest::Title))
            .then(|| last_text(exchange))
            .flatten()
            .and_then(|answer| tasks::title(&answer)),
        stop_reason: record.stop_reason.clone(),
        ends_turn: is_main && is_end,
        begins: is_main && index.is_some_and(|index| prompts::begins(client, index)),
        started_at: record.started_at,
        ended_at: record.ended_at,
    }
}

/// Characters of an answer that are used, from its end.
const MAX_ANSWER: usize = 8000;

/// Returns the last text of the answer.
pub(crate) fn last_text(exchange: &ObservedExchange) -> Option<String> {
    let texts = exchange.turn.blocks.iter().rev();
    let text = texts
        .filter_map(|block| match block {
            Block::Text { text, .. } => Some(text.trim()),
            _ => None,
        })
        .find(|text| !text.is_empty())?;
    let text = without_own_text(text);
    let text = Redactor::shared().redact(&text);
    let start = text
        .char_indices()
        .rev()
        .nth(MAX_ANSWER - 1)
        .map_or(0, |(at, _)| at);
    Some(grov_domain::end_from(&text, start).to_owned())
}

/// Characters of a plan that are used.
const MAX_PLAN: usize = 8000;

/// Returns the questions of this response to the user.
fn questions(client: &ClientDialect, turn: &Turn) -> Vec<UserQuestion> {
    let questions = turn.blocks.iter().filter_map(|block| match block {
        Block::ToolUse {
            id,
            name,
            input,
            complete: true,
        } if client.asks_user(name) => Some(UserQuestion {
            tool_use_id: id.clone(),
            plan: (name == client.plan_tool).then(|| plan(input)),
        }),
        _ => None,
    });
    questions.collect()
}

/// Returns the plan in a call's input.
fn plan(input: &str) -> String {
    let input: serde_json::Value = serde_json::from_str(input).unwrap_or_default();
    let plan = input["plan"].as_str().unwrap_or_default();
    let plan = without_own_text(plan);
    Redactor::shared().redact(&plan).chars().take(MAX_PLAN).collect()
}

/// Returns the prompts that no earlier request of the session contained.
fn new_prompts(session: &mut RecordedSession, exchange: &ObservedExchange) -> Vec<Prompt> {
    prompts::newest(&exchange.request)
        .into_iter()
        .filter(|found| session.is_new_prompt(found.key))
        .map(|found| Prompt {
            text: found.text,
            queued: found.queued,
        })
        .collect()
}

/// Returns the actions that are known to be performed: those of a complete answer at once, those of an incomplete one
/// when the next request contains their results.
fn performed(
    session: &mut RecordedSession,
    exchange: &ObservedExchange,
    id: &ExchangeId,
) -> Vec<PerformedAction> {
    let agent = Identity::of(&exchange.request).agent.clone();
    let mut steps = Vec::new();
    if let Some(index) = exchange.request.index() {
        let waiting = session.take_unconfirmed(&agent);
        if !waiting.is_empty() {
            let answered = newest_tool_results(index);
            steps.extend(waiting.into_iter().filter(|action| {
                action
                    .step
                    .action
                    .tool_use_id
                    .as_ref()
                    .is_some_and(|tool_use| answered.contains(tool_use))
            }));
        }
    }
    let found = steps::of_turn(
        &exchange.turn,
        id,
        exchange.ended_at,
        session.working_directory.as_deref(),
    );
    if exchange.outcome == Outcome::Complete {
        steps.extend(found);
    } else if !found.is_empty() {
        session.keep_unconfirmed(agent, found);
    }
    steps
}

/// Returns the ids of the tool calls whose results are in the newest user message.
fn newest_tool_results(index: &RequestIndex) -> Vec<String> {
    index
        .newest_results()
        .filter_map(|block| block.tool_use_id().map(|id| id.into_owned()))
        .collect()
}

fn model(exchange: &ObservedExchange) -> Option<String> {
    exchange.turn.model.clone().or_else(|| {
        exchange
            .request
            .index()
            .and_then(|index| index.model().map(|model| model.into_owned()))
    })
}

fn outcome(outcome: Outcome) -> grov_domain::Outcome {
    match outcome {
        Outcome::Complete => grov_domain::Outcome::Complete,
        Outcome::Truncated => grov_domain::Outcome::Truncated,
        Outcome::ClientGone => grov_domain::Outcome::ClientGone,
        Outcome::UpstreamError => grov_domain::Outcome::UpstreamError,
    }
}

fn token_usage(usage: &Usage) -> TokenUsage {
    TokenUsage {
        input: usage.input,
        cache_read: usage.cache_read,
        cache_creation: usage.cache_creation,
        cache_creation_5m: usage.cache_creation_5m,
        cache_creation_1h: usage.cache_creation_1h,
        output: usage.output,
    }
}

#[cfg(test)]
mod tests;
