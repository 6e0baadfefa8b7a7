//! The tasks of a client session, which change only in its mailbox.

mod finishing;
mod judging;

use super::exchange::RecordedExchange;
use super::location::locate;
use super::persist::{persist, with_retries};
use super::turn::OpenTurn;
use super::{Context, Event, POLICY};
use grov_domain::{
    AgentId, ClientSessionId, Decision, ExchangeId, Intent, Move, SessionId, SessionState, SessionStatus,
    Statement, StatementSource, StoreError, TaskTransition, active_task,
};
use grov_session::tasks::{Target, Tasks};
use hashlink::LruCache;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use time::OffsetDateTime;
use tokio::sync::mpsc;

/// A session without events for this long ends. Its state is in the store.
const SESSION_TIMEOUT: Duration = Duration::from_secs(2 * 60 * 60);

/// How often a turn is judged again because a memory was forgotten meanwhile.
const MAX_ATTEMPTS: usize = 5;

/// Tool results remembered per session.
const MAX_OUTCOMES: usize = 256;

/// Subagents whose task is remembered.
const MAX_AGENTS: usize = 256;

/// The tasks of one client session.
pub(super) struct Session {
    context: Arc<Context>,
    id: ClientSessionId,
    /// Whether the stored tasks are loaded.
    loaded: bool,
    /// The store's revision when the texts in this session were read.
    revision: i64,
    tasks: Vec<SessionState>,
    /// The current task.
    current: Option<SessionId>,
    /// Whether the session has no task yet. Its first record creates the row of the first task, which a verdict makes a
    /// task.
    has_no_task: bool,
    /// The user's intent, asked before the first verdict.
    first_intent: Option<Intent>,
    turn: Option<OpenTurn>,
    /// Whether tool calls failed, and the end of their output.
    outcomes: LruCache<String, (bool, Option<String>)>,
    /// The task of each subagent, which may outlive the turn that started it.
    agents: LruCache<AgentId, SessionId>,
    /// Subagents that changed something.
    writers: LruCache<AgentId, ()>,
    /// The end of the newest turn of each task.
    endings: HashMap<SessionId, TurnEnding>,
    /// Texts of the turns of each task that may state decisions.
    statements: HashMap<SessionId, Vec<Statement>>,
    /// Decisions that are only in the record of a task, because the texts that state them are no longer in memory; `None` if
    /// the record is not read yet.
    recorded: HashMap<SessionId, Option<Vec<Decision>>>,
    /// The title that the client's model gave the session, after its first prompt.
    title: Option<String>,
    remote: Option<String>,
    /// The newest time of any exchange. Not the newest exchange's, because the clock may have been set back.
    newest_time: OffsetDateTime,
}

/// Maximum number of texts kept per task, the newest.
const MAX_STATEMENTS: usize = 24;

/// How a turn ended.
#[derive(Clone, Debug, Default)]
struct TurnEnding {
    /// The last text, or an empty string.
    answer: String,
    /// The commit that was checked out.
    head: Option<String>,
}

impl Session {
    pub(super) fn new(context: Arc<Context>, id: ClientSessionId) -> Self {
        Self {
            context,
            id,
            loaded: false,
            revision: 0,
            tasks: Vec::new(),
            current: None,
            has_no_task: false,
            first_intent: None,
            turn: None,
            outcomes: LruCache::new(MAX_OUTCOMES),
            agents: LruCache::new(MAX_AGENTS),
            writers: LruCache::new(MAX_AGENTS),
            endings: HashMap::new(),
            statements: HashMap::new(),
            recorded: HashMap::new(),
            title: None,
            remote: None,
            newest_time: OffsetDateTime::UNIX_EPOCH,
        }
    }

    /// Handles events until the mailbox closes or is idle for [`SESSION_TIMEOUT`]. A session that was started for an
    /// inactive task ends at once.
    pub(super) async fn run(mut self, mut mailbox: mpsc::Receiver<Event>) {
        while let Ok(Some(event)) = tokio::time::timeout(SESSION_TIMEOUT, mailbox.recv()).await {
            let is_active = matches!(event, Event::Recorded(_) | Event::Cleared) || self.turn.is_some();
            self.handle(event).await;
            if !is_active && self.endings.is_empty() {
                break;
            }
        }
        // Handles events that arrived in the meantime.
        mailbox.close();
        while let Some(event) = mailbox.recv().await {
            self.handle(event).await;
        }
        self.context.current_tasks.remove(&self.id);
    }

    async fn handle(&mut self, event: Event) {
        let result = match event {
            Event::Recorded(exchange) => self.on_exchange(&exchange).await,
            Event::Idle(task) => self.abandon(&task).await,
            Event::Cleared => self.save_at_threshold().await,
        };
        if let Err(error) = result {
            tracing::error!(session = %self.id, %error, "cannot handle an event of this session; its records stay in their task");
        }
    }

    /// Remembers a text of a task that may state decisions.
    fn state(&mut self, task: &SessionId, source: StatementSource, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        let statements = self.statements.entry(task.clone()).or_default();
        if statements.len() >= MAX_STATEMENTS {
            statements.remove(0);
        }
        let text = text.to_owned();
        statements.push(Statement { source, text });
    }

    pub(super) async fn on_exchange(&mut self, exchange: &RecordedExchange) -> Result<(), StoreError> {
        self.load().await?;
        self.newest_time = self.newest_time.max(exchange.ended_at).max(exchange.started_at);
        if exchange.project.remote.is_some() {
            self.remote.clone_from(&exchange.project.remote);
        }
        for outcome in &exchange.results {
            let known = (outcome.failed, outcome.output.clone());
            self.outcomes.insert(outcome.tool_use_id.clone(), known);
        }
        if exchange.title.is_some() {
            self.title.clone_from(&exchange.title);
        }
        // A summary is also about earlier tasks, so that it counts only in the first.
        if let (Some(summary), Some(task)) = (&exchange.summary, self.current.clone())
            && self.tasks.iter().all(|known| known.session_id == task)
        {
            self.state(&task, StatementSource::Summary, summary);
        }
        let report = self.report(exchange);
        let earlier_turn = exchange
            .agent_id
            .as_ref()
            .and_then(|agent| self.agents.get(agent).cloned());
        if let Some(task) = earlier_turn {
            if let Some(report) = &report {
                self.state(&task, StatementSource::Closing, report);
            }
            return self.move_exchanges(vec![exchange.id.clone()], task).await;
        }
        let is_prompted = exchange.prompts.iter().any(|prompt| !prompt.queued);
        if is_prompted && self.current.is_some() {
            self.assign_interrupted_turn().await;
        }
        // Without a current task, an interrupted turn becomes part of the next one.
        if self.turn.is_none() && (is_prompted || exchange.kind.is_turn()) {
            let location = locate(exchange.working_directory.as_deref()).await;
            self.turn = Some(OpenTurn::starting_with(exchange, location));
        }
        let Some(turn) = &mut self.turn else {
            return Ok(());
        };
        turn.add(exchange);
        turn.reports.extend(report);
        if self.has_no_task && !exchange.prompts.is_empty() {
            self.ask_first_intent(exchange).await;
        }
        if exchange.ends_turn
            && let Some(turn) = self.turn.take()
            && turn.turn.is_worth_judging()
        {
            self.judge(turn, exchange).await?;
        }
        Ok(())
    }

    /// The last text of a subagent that ends with this exchange, if it changed something. What others found is about the code as
    /// it was.
    fn report(&mut self, exchange: &RecordedExchange) -> Option<String> {
        let agent = exchange.agent_id.as_ref()?;
        if exchange.actions.iter().any(|action| action.sketch.is_change()) {
            self.writers.insert(agent.clone(), ());
        }
        self.writers.get(agent)?;
        exchange.report.clone()
    }

    /// Loads the stored tasks, and drops texts that another process had forgotten.
    async fn load(&mut self) -> Result<(), StoreError> {
        // Read first, so that a later change is noticed by the next call.
        let revision = with_retries(|| self.context.store.revision()).await?;
        if self.loaded {
            if revision != self.revision {
                self.reload().await?;
                self.revision = revision;
            }
            return Ok(());
        }
        self.revision = revision;
        let stored = with_retries(|| self.context.store.client_session(&self.id)).await?;
        self.tasks = stored.into_iter().map(|summary| summary.state).collect();
        // Recording creates the first row before any verdict. A row from before this process started is a task, even
        // without a verdict.
        let is_new = |task: &SessionState| {
            task.judged_at.is_none()
                && task.status == SessionStatus::Active
                && task.start_time >= self.context.started_at
        };
        self.has_no_task = self.tasks.iter().all(is_new);
        if self.has_no_task {
            self.tasks.clear();
        } else {
            self.read_records_again();
            let open = active_task(&self.tasks).filter(|task| task.status != SessionStatus::Completed);
            self.current = open.map(|task| task.session_id.clone());
            self.publish_current();
        }
        self.loaded = true;
        Ok(())
    }

    /// Drops all texts that may have been forgotten. The open turn is newer than any forgotten memory.
    async fn reload(&mut self) -> Result<(), StoreError> {
        let stored = with_retries(|| self.context.store.client_session(&self.id)).await?;
        let mut states: HashMap<SessionId, SessionState> = stored
            .into_iter()
            .map(|summary| (summary.state.session_id.clone(), summary.state))
            .collect();
        let known = std::mem::take(&mut self.tasks).into_iter();
        self.tasks = known.filter_map(|task| states.remove(&task.session_id)).collect();
        self.first_intent = None;
        self.title = None;
        self.outcomes.clear();
        self.endings.clear();
        self.statements.clear();
        self.read_records_again();
        Ok(())
    }

    /// Forgets what the records of all tasks contain.
    fn read_records_again(&mut self) {
        let known = self.tasks.iter().map(|task| (task.session_id.clone(), None));
        self.recorded = known.collect();
    }

    fn publish_current(&self) {
        // Without a current task, exchanges are recorded under the last one until the next verdict.
        if let Some(task) = &self.current {
            self.context.current_tasks.set(&self.id, task.clone());
        }
    }

    fn tasks_with_current<'a>(&'a self, current: Option<&'a SessionId>) -> Tasks<'a> {
        Tasks {
            known: &self.tasks,
            current,
            policy: POLICY,
        }
    }

    /// Assigns a turn that the user interrupted to the current task.
    async fn assign_interrupted_turn(&mut self) {
        let plan = self.tasks_with_current(self.current.as_ref()).plan(None);
        let (Some(turn), Target::Existing(task)) = (self.turn.take(), plan.target) else {
            return;
        };
        self.remember_agents(&turn, &task);
        if let Err(error) = self.move_exchanges(turn.exchanges, task).await {
            tracing::warn!(session = %self.id, %error, "cannot move an interrupted turn; it stays in the task it was recorded in");
        }
    }

    /// Moves exchanges to a task.
    async fn move_exchanges(&self, exchanges: Vec<ExchangeId>, to: SessionId) -> Result<(), StoreError> {
        let transition = TaskTransition {
            moves: Some(self.moves(exchanges, to)),
            ..TaskTransition::default()
        };
        persist(&self.context, transition).await.map(drop)
    }

    fn moves(&self, exchanges: Vec<ExchangeId>, to: SessionId) -> Move {
        Move {
            client_session_id: self.id.clone(),
            exchanges,
            to,
            all_or_nothing: true,
        }
    }

    fn remember_agents(&mut self, turn: &OpenTurn, task: &SessionId) {
        for agent in &turn.agents {
            self.agents.insert(agent.clone(), task.clone());
        }
    }
}
