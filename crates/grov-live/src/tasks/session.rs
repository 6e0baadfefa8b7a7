//! The tasks of one client session. One mailbox: the only place where they change.

mod finishing;
mod judging;

use super::exchange::RecordedExchange;
use super::location::locate;
use super::persist::{persist, with_retries};
use super::turn::OpenTurn;
use super::{Context, Event, POLICY};
use grov_domain::{
    AgentId, ClientSessionId, ExchangeId, Intent, Move, SessionId, SessionState, SessionStatus, StoreError,
    TaskTransition, active_task,
};
use grov_session::tasks::{Target, Tasks};
use hashlink::LruCache;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use time::OffsetDateTime;
use tokio::sync::mpsc;

/// A session that nothing is heard of for so long is forgotten; the store knows it.
const FORGET_AFTER: Duration = Duration::from_secs(2 * 60 * 60);

/// How often a turn is judged anew because something was forgotten meanwhile.
const MAX_JUDGED_ANEW: usize = 5;

/// Tool results remembered per session.
const MAX_OUTCOMES: usize = 256;

/// Subagents whose task is remembered.
const MAX_AGENTS: usize = 256;

/// The tasks of one client session.
pub(super) struct Session {
    context: Arc<Context>,
    id: ClientSessionId,
    /// What was before this process is known.
    loaded: bool,
    /// The store's revision that the texts in here stand for.
    revision: i64,
    tasks: Vec<SessionState>,
    /// The task in work.
    current: Option<SessionId>,
    /// The first task, while no verdict has made it one. Its row comes with the first record.
    unborn: bool,
    /// What the user wants, asked before the first verdict.
    first_intent: Option<Intent>,
    turn: Option<OpenTurn>,
    /// Whether tool calls failed, and the end of their output.
    outcomes: LruCache<String, (bool, Option<String>)>,
    /// Subagents may outlive the turn that started them.
    agents: LruCache<AgentId, SessionId>,
    /// How the newest turn of each task ended.
    endings: HashMap<SessionId, TurnEnding>,
    remote: Option<String>,
    /// The newest time that any exchange bore. Not the newest exchange's: the clock may have been set back.
    heard_until: OffsetDateTime,
}

/// How a turn ended.
#[derive(Clone, Debug, Default)]
struct TurnEnding {
    /// The last text; empty where there was none.
    answer: String,
    /// The commit that was checked out then.
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
            unborn: false,
            first_intent: None,
            turn: None,
            outcomes: LruCache::new(MAX_OUTCOMES),
            agents: LruCache::new(MAX_AGENTS),
            endings: HashMap::new(),
            remote: None,
            heard_until: OffsetDateTime::UNIX_EPOCH,
        }
    }

    /// Serves the mailbox until it is closed, or quiet for long. A session that was only looked at because it is idle
    /// ends at once.
    pub(super) async fn run(mut self, mut mailbox: mpsc::Receiver<Event>) {
        while let Ok(Some(event)) = tokio::time::timeout(FORGET_AFTER, mailbox.recv()).await {
            let is_followed = matches!(event, Event::Recorded(_)) || self.turn.is_some();
            self.handle(event).await;
            if !is_followed && self.endings.is_empty() {
                break;
            }
        }
        // What came in between is not lost.
        mailbox.close();
        while let Some(event) = mailbox.recv().await {
            self.handle(event).await;
        }
        self.context.board.forget(&self.id);
    }

    async fn handle(&mut self, event: Event) {
        let result = match event {
            Event::Recorded(exchange) => self.recorded(&exchange).await,
            Event::Idle(task) => self.abandon(&task).await,
        };
        if let Err(error) = result {
            tracing::error!(session = %self.id, %error, "a task could not be followed; its records stay where they are");
        }
    }

    pub(super) async fn recorded(&mut self, exchange: &RecordedExchange) -> Result<(), StoreError> {
        self.load().await?;
        self.heard_until = self.heard_until.max(exchange.ended_at).max(exchange.started_at);
        if exchange.project.remote.is_some() {
            self.remote.clone_from(&exchange.project.remote);
        }
        for outcome in &exchange.results {
            let known = (outcome.failed, outcome.output.clone());
            self.outcomes.insert(outcome.tool_use_id.clone(), known);
        }
        let earlier_turn = exchange
            .agent_id
            .as_ref()
            .and_then(|agent| self.agents.get(agent).cloned());
        if let Some(task) = earlier_turn {
            return self.give(vec![exchange.id.clone()], task).await;
        }
        let is_prompted = exchange.prompts.iter().any(|prompt| !prompt.queued);
        if is_prompted && self.current.is_some() {
            self.leave_turn().await;
        }
        // Without a task in work, what was interrupted is part of what comes of it.
        if self.turn.is_none() && (is_prompted || exchange.kind.is_turn()) {
            let location = locate(exchange.working_directory.as_deref()).await;
            self.turn = Some(OpenTurn::beginning_with(exchange, location));
        }
        let Some(turn) = &mut self.turn else {
            return Ok(());
        };
        turn.add(exchange);
        if self.unborn && !exchange.prompts.is_empty() {
            self.understand_first_prompt(exchange).await;
        }
        if exchange.ends_turn
            && let Some(turn) = self.turn.take()
            && turn.turn.has_substance()
        {
            self.judge(turn, exchange).await?;
        }
        Ok(())
    }

    /// Learns from the store what was before this process, and what another one took away.
    async fn load(&mut self) -> Result<(), StoreError> {
        // The number first: what changes in between is looked at again.
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
        // Recording makes the first row before anybody has looked at the work in it. What was there before this process
        // began is work, even if it came to no verdict.
        let is_new = |task: &SessionState| {
            task.judged_at.is_none()
                && task.status == SessionStatus::Active
                && task.start_time >= self.context.started_at
        };
        self.unborn = self.tasks.iter().all(is_new);
        if self.unborn {
            self.tasks.clear();
        } else {
            let open = active_task(&self.tasks).filter(|task| task.status != SessionStatus::Completed);
            self.current = open.map(|task| task.session_id.clone());
            self.show_current();
        }
        self.loaded = true;
        Ok(())
    }

    /// Lets go of all texts that may have been forgotten. The turn that is open is younger than any memory.
    async fn reload(&mut self) -> Result<(), StoreError> {
        let stored = with_retries(|| self.context.store.client_session(&self.id)).await?;
        let mut states: HashMap<SessionId, SessionState> = stored
            .into_iter()
            .map(|summary| (summary.state.session_id.clone(), summary.state))
            .collect();
        let known = std::mem::take(&mut self.tasks).into_iter();
        self.tasks = known.filter_map(|task| states.remove(&task.session_id)).collect();
        self.first_intent = None;
        self.outcomes.clear();
        self.endings.clear();
        Ok(())
    }

    fn show_current(&self) {
        // With none in work, records go where they last went until the next verdict.
        if let Some(task) = &self.current {
            self.context.board.set(&self.id, task.clone());
        }
    }

    fn known<'a>(&'a self, current: Option<&'a SessionId>) -> Tasks<'a> {
        Tasks {
            known: &self.tasks,
            current,
            policy: POLICY,
        }
    }

    /// A turn that never came to rest (the user interrupted it) stays with the task it was in.
    async fn leave_turn(&mut self) {
        let plan = self.known(self.current.as_ref()).plan(None);
        let (Some(turn), Target::Existing(task)) = (self.turn.take(), plan.target) else {
            return;
        };
        self.remember_agents(&turn, &task);
        if let Err(error) = self.give(turn.exchanges, task).await {
            tracing::warn!(session = %self.id, %error, "an interrupted turn stays where it was recorded");
        }
    }

    /// Moves exchanges to a task.
    async fn give(&self, exchanges: Vec<ExchangeId>, to: SessionId) -> Result<(), StoreError> {
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
