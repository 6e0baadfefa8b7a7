//! The tasks of one client session. One mailbox: the only place where they change.

use super::capture::{Ending, Material, relative};
use super::exchange::{RecordedExchange, ToolOutcome};
use super::persist::{patiently, persist};
use super::turn::OpenTurn;
use super::verdict::{Known, Target};
use super::{Context, Event};
use crate::identity;
use grov_domain::{
    ActionSketch, ClientSessionId, Intent, IntentQuestion, Move, SessionId, SessionMode, SessionState,
    SessionStatus, StoreError, TaskContextQuestion, TaskTransition, TaskType,
};
use grov_project::Place;
use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use time::OffsetDateTime;
use tokio::sync::mpsc;

/// A session that nothing is heard of for so long is forgotten; the store knows it.
const FORGET_AFTER: Duration = Duration::from_secs(2 * 60 * 60);

/// Tool results remembered per session.
const MAX_OUTCOMES: usize = 2048;

/// Longest goal, in characters.
const MAX_GOAL: usize = 200;

/// Constraints kept per task.
const MAX_CONSTRAINTS: usize = 40;

/// The tasks of one client session.
pub(super) struct Session {
    context: Arc<Context>,
    id: ClientSessionId,
    /// What was before this process is known.
    loaded: bool,
    tasks: Vec<SessionState>,
    /// The task in work.
    current: Option<SessionId>,
    /// The first task, while no verdict has made it one. Its row comes with the first record.
    unborn: bool,
    /// What the user wants, asked before the first verdict.
    first_intent: Option<Intent>,
    turn: Option<OpenTurn>,
    outcomes: Outcomes,
    /// The newest text with which a turn ended.
    answer: String,
    remote: Option<String>,
}

/// How tool calls ended, the newest of them.
#[derive(Default)]
struct Outcomes {
    by_call: HashMap<String, (bool, Option<String>)>,
    order: VecDeque<String>,
}

impl Outcomes {
    fn remember(&mut self, outcome: &ToolOutcome) {
        let known = (outcome.failed, outcome.output.clone());
        if self.by_call.insert(outcome.tool_use_id.clone(), known).is_none() {
            self.order.push_back(outcome.tool_use_id.clone());
        }
        if self.order.len() > MAX_OUTCOMES
            && let Some(oldest) = self.order.pop_front()
        {
            self.by_call.remove(&oldest);
        }
    }

    fn of(&self, call: &str) -> Option<(bool, Option<String>)> {
        self.by_call.get(call).cloned()
    }
}

impl Session {
    pub(super) fn new(context: Arc<Context>, id: ClientSessionId) -> Self {
        Self {
            context,
            id,
            loaded: false,
            tasks: Vec::new(),
            current: None,
            unborn: false,
            first_intent: None,
            turn: None,
            outcomes: Outcomes::default(),
            answer: String::new(),
            remote: None,
        }
    }

    /// Serves the mailbox until it is closed, or quiet for long.
    pub(super) async fn run(mut self, mut mailbox: mpsc::Receiver<Event>) {
        while let Ok(Some(event)) = tokio::time::timeout(FORGET_AFTER, mailbox.recv()).await {
            let result = match event {
                Event::Recorded(exchange) => self.recorded(&exchange).await,
                Event::Idle(task) => self.abandon(&task).await,
            };
            if let Err(error) = result {
                tracing::error!(session = %self.id, %error, "a task could not be followed; its records stay where they are");
            }
        }
        self.context.board.forget(&self.id);
    }

    pub(super) async fn recorded(&mut self, exchange: &RecordedExchange) -> Result<(), StoreError> {
        self.load().await?;
        if exchange.project.remote.is_some() {
            self.remote.clone_from(&exchange.project.remote);
        }
        for outcome in &exchange.results {
            self.outcomes.remember(outcome);
        }
        if exchange.prompts.iter().any(|prompt| !prompt.queued) {
            self.leave_turn().await?;
            let head = head(exchange.working_directory.as_deref()).await;
            self.turn = Some(OpenTurn::beginning_with(exchange, head));
        } else if self.turn.is_none() && exchange.kind.is_turn() {
            let head = head(exchange.working_directory.as_deref()).await;
            self.turn = Some(OpenTurn::beginning_with(exchange, head));
        }
        let Some(turn) = &mut self.turn else {
            return Ok(());
        };
        turn.add(exchange);
        if self.unborn && self.first_intent.is_none() && !turn.prompts.is_empty() {
            self.understand_first_prompt(exchange).await?;
        }
        if exchange.ends_turn {
            if let Some(answer) = &exchange.answer {
                self.answer.clone_from(answer);
            }
            if let Some(turn) = self.turn.take()
                && turn.has_substance()
            {
                self.judge(turn, exchange).await?;
            }
        }
        Ok(())
    }

    /// Learns from the store what was before this process.
    async fn load(&mut self) -> Result<(), StoreError> {
        if self.loaded {
            return Ok(());
        }
        let stored = patiently(|| self.context.store.client_session(&self.id)).await?;
        self.tasks = stored.into_iter().map(|summary| summary.state).collect();
        // Recording makes the first row before anybody has looked at the work in it.
        let unjudged = |task: &SessionState| task.judged_at.is_none() && task.status == SessionStatus::Active;
        self.unborn = self.tasks.iter().all(unjudged);
        if self.unborn {
            self.tasks.clear();
        } else {
            // Not by the newest record: until now records went to the first task.
            let open = self
                .tasks
                .iter()
                .filter(|task| task.status == SessionStatus::Active);
            self.current = open
                .max_by_key(|task| task.judged_at)
                .map(|task| task.session_id.clone());
            self.show_current();
        }
        self.loaded = true;
        Ok(())
    }

    fn show_current(&self) {
        // With none in work, records go where they last went until the next verdict.
        if let Some(task) = &self.current {
            self.context.board.set(&self.id, task.clone());
        }
    }

    /// A turn that never came to rest (the user interrupted it) stays with the task it was in.
    async fn leave_turn(&mut self) -> Result<(), StoreError> {
        let Some(turn) = self.turn.take() else {
            return Ok(());
        };
        let Some(current) = self.current.clone() else {
            return Ok(());
        };
        let moves = Move {
            client_session_id: self.id.clone(),
            exchanges: turn.exchanges,
            to: current,
            all_or_nothing: true,
        };
        persist(
            &self.context,
            TaskTransition {
                moves: Some(moves),
                ..TaskTransition::default()
            },
        )
        .await
    }

    /// Goal, scope and constraints of a new client session, before its first turn ends.
    async fn understand_first_prompt(&mut self, exchange: &RecordedExchange) -> Result<(), StoreError> {
        let Some(turn) = &self.turn else { return Ok(()) };
        let state = self.new_state(self.id.first_task(), exchange, turn, TaskType::Main, None);
        let question = self.intent_question(turn, exchange);
        let judge = &self.context.judge;
        let intent = judge
            .extract_intent(Some(&state.session_id), &question)
            .await
            .answer;
        let state = with_intent(state, &intent);
        self.first_intent = Some(intent);
        persist(
            &self.context,
            TaskTransition {
                sessions: vec![state],
                ..TaskTransition::default()
            },
        )
        .await
    }

    fn intent_question(&self, turn: &OpenTurn, exchange: &RecordedExchange) -> IntentQuestion {
        let root = root(exchange.working_directory.as_deref());
        IntentQuestion {
            prompts: turn.prompts.clone(),
            first_files: turn
                .first_files()
                .iter()
                .map(|file| relative(file, root.as_deref()))
                .collect(),
        }
    }

    fn new_state(
        &self,
        id: SessionId,
        exchange: &RecordedExchange,
        turn: &OpenTurn,
        task_type: TaskType,
        parent: Option<SessionId>,
    ) -> SessionState {
        SessionState {
            session_id: id,
            client_session_id: self.id.clone(),
            parent_session_id: parent,
            task_type,
            user_id: exchange.user.clone(),
            project_path: exchange.project.key().to_owned(),
            working_directory: exchange.working_directory.clone(),
            head_at_start: turn.head.clone(),
            original_goal: None,
            expected_scope: Vec::new(),
            constraints: Vec::new(),
            keywords: Vec::new(),
            token_count: 0,
            escalation_count: 0,
            session_mode: SessionMode::Normal,
            waiting_for_recovery: false,
            last_checked_at: 0,
            last_clear_at: None,
            judged_at: None,
            start_time: turn.started_at,
            last_update: exchange.ended_at,
            status: SessionStatus::Active,
        }
    }

    /// The turn has come to rest: which task was it, and is that done?
    async fn judge(&mut self, turn: OpenTurn, exchange: &RecordedExchange) -> Result<(), StoreError> {
        // A conversation that begins anew under the same id has left its tasks behind.
        let current = self.current.clone().filter(|_| !turn.begins);
        let known = Known {
            tasks: &self.tasks,
            current: current.as_ref(),
        };
        let root = root(exchange.working_directory.as_deref());
        let question = TaskContextQuestion {
            current: known.current_sketch(),
            others: known.other_sketches(),
            prompts: turn.prompts.clone(),
            actions: with_relative_files(turn.actions(), root.as_deref()),
            answer: self.answer.clone(),
            stop_reason: exchange.stop_reason.clone(),
        };
        let asked_for = current.clone().unwrap_or_else(|| self.id.first_task());
        let verdict = self
            .context
            .judge
            .analyze_task_context(Some(&asked_for), &question)
            .await;
        let analysis = verdict.answer;
        let plan = known.plan(&analysis);
        tracing::debug!(
            session = %self.id,
            action = analysis.action.as_str(),
            by = ?verdict.by,
            completes = plan.completes,
            "a turn was judged"
        );
        let state = match &plan.target {
            Target::New { task_type, parent } => {
                let born = std::mem::replace(&mut self.unborn, false);
                let id = if born {
                    self.id.first_task()
                } else {
                    SessionId::fresh()
                };
                let mut state = self.new_state(id, exchange, &turn, *task_type, parent.clone());
                let intent = match self.first_intent.take().filter(|_| born) {
                    Some(mut intent) => {
                        if intent.scope.is_empty() {
                            intent.scope = self.intent_question(&turn, exchange).first_files;
                        }
                        intent
                    }
                    None => {
                        let question = self.intent_question(&turn, exchange);
                        let judge = &self.context.judge;
                        judge
                            .extract_intent(Some(&state.session_id), &question)
                            .await
                            .answer
                    }
                };
                state = with_intent(state, &intent);
                if state.original_goal.is_none() {
                    state.original_goal =
                        goal(&analysis.goal).or_else(|| turn.prompts.first().and_then(|prompt| goal(prompt)));
                }
                state
            }
            Target::Existing(id) => match self.fresh(id).await? {
                Some(state) => state,
                None => return Ok(()),
            },
        };
        let mut state = state;
        for constraint in &analysis.constraints {
            if state.constraints.len() < MAX_CONSTRAINTS && !state.constraints.contains(constraint) {
                state.constraints.push(constraint.clone());
            }
        }
        let was_completed = state.status == SessionStatus::Completed;
        if state.status == SessionStatus::Abandoned {
            // Somebody came back to it.
            state.status = SessionStatus::Active;
        }
        state.judged_at = Some(self.next_verdict_time());
        state.last_update = state.last_update.max(exchange.ended_at);
        let id = state.session_id.clone();
        let moves = Move {
            client_session_id: self.id.clone(),
            exchanges: turn.exchanges.clone(),
            to: id.clone(),
            all_or_nothing: true,
        };
        persist(
            &self.context,
            TaskTransition {
                sessions: vec![state.clone()],
                moves: Some(moves),
                finished: Vec::new(),
            },
        )
        .await?;
        self.keep(state);
        // What was finished before is saved anew only if there is something new to it.
        if plan.completes && !was_completed || was_completed && turn.changed_something() {
            self.finish(&id, Ending::Complete, Some(exchange.ended_at))
                .await?;
        } else if !was_completed {
            self.current = Some(id);
        }
        self.show_current();
        Ok(())
    }

    /// The newest state of a task: recording changes rows too.
    async fn fresh(&self, id: &SessionId) -> Result<Option<SessionState>, StoreError> {
        let stored = patiently(|| self.context.store.session(id)).await?;
        Ok(stored
            .map(|summary| summary.state)
            .or_else(|| self.tasks.iter().find(|task| &task.session_id == id).cloned()))
    }

    /// Now, but behind every earlier verdict: the clock may have been set back.
    fn next_verdict_time(&self) -> OffsetDateTime {
        let now = self.context.clock.now();
        let newest = self.tasks.iter().filter_map(|task| task.judged_at).max();
        newest.map_or(now, |newest| now.max(newest + Duration::from_millis(1)))
    }

    fn keep(&mut self, state: SessionState) {
        match self
            .tasks
            .iter_mut()
            .find(|task| task.session_id == state.session_id)
        {
            Some(known) => *known = state,
            None => self.tasks.push(state),
        }
    }

    /// Saves a task to team memory and closes it, in one transaction.
    ///
    /// What came after `until` belongs to a turn that is not judged yet, and was only recorded here for the time being.
    async fn finish(
        &mut self,
        id: &SessionId,
        ending: Ending,
        until: Option<OffsetDateTime>,
    ) -> Result<(), StoreError> {
        let Some(mut state) = self.fresh(id).await? else {
            return Ok(());
        };
        let store = &self.context.store;
        let prompts = patiently(|| store.prompts(id, until)).await?;
        let mut steps = patiently(|| store.steps(id)).await?;
        steps.retain(|step| until.is_none_or(|until| step.timestamp <= until));
        let directory = state.working_directory.clone();
        let root = root(directory.as_deref());
        let material = Material::new(&prompts, &steps, root.as_deref(), |call| self.outcomes.of(call));
        state.status = ending.session_status();
        let mut transition = TaskTransition {
            sessions: vec![state.clone()],
            ..TaskTransition::default()
        };
        // A conversation without a name of its own is no work that a team could come back to.
        if !material.is_empty() && !identity::is_derived(&self.id) {
            let question = material.question(&state, &self.answer);
            let judge = &self.context.judge;
            let reasoning = judge.extract_reasoning(Some(id), &question).await.answer;
            let head = head(directory.as_deref()).await;
            let now = self.context.clock.now();
            let task = material.task(&state, self.remote.clone(), reasoning, ending, head, now);
            transition.finished.push(task);
        }
        persist(&self.context, transition).await?;
        self.keep(state.clone());
        if ending == Ending::Complete && self.current.as_ref().is_none_or(|current| current == id) {
            let known = Known {
                tasks: &self.tasks,
                current: None,
            };
            self.current = known.after(&state);
        }
        Ok(())
    }

    /// Nobody was heard of for long: what there is of the task is saved.
    pub(super) async fn abandon(&mut self, id: &SessionId) -> Result<(), StoreError> {
        self.load().await?;
        let Some(state) = self.fresh(id).await? else {
            return Ok(());
        };
        let limit = self.context.clock.now() - self.context.abandon_after;
        // Work may have come in while this message waited.
        if state.status != SessionStatus::Active || state.last_update > limit {
            return Ok(());
        }
        self.finish(id, Ending::Abandoned, None).await
    }
}

/// What is checked out where the agent works.
async fn head(directory: Option<&str>) -> Option<String> {
    let directory = PathBuf::from(directory?);
    // A network file system may let one wait.
    tokio::task::spawn_blocking(move || Place::locate(&directory).head().commit)
        .await
        .ok()
        .flatten()
}

/// The folder that paths are told relative to.
fn root(directory: Option<&str>) -> Option<PathBuf> {
    let directory = Path::new(directory?);
    let place = Place::locate(directory);
    Some(place.work_tree().unwrap_or(directory).to_owned())
}

fn with_relative_files(mut actions: Vec<ActionSketch>, root: Option<&Path>) -> Vec<ActionSketch> {
    for file in actions.iter_mut().flat_map(|action| &mut action.files) {
        *file = relative(file, root);
    }
    actions
}

fn with_intent(mut state: SessionState, intent: &Intent) -> SessionState {
    state.original_goal = goal(&intent.goal);
    state.expected_scope.clone_from(&intent.scope);
    state.constraints.clone_from(&intent.constraints);
    state.keywords.clone_from(&intent.keywords);
    state
}

/// A goal of bounded length; `None` if there is none.
fn goal(text: &str) -> Option<String> {
    let text: String = text.trim().chars().take(MAX_GOAL).collect();
    Some(text).filter(|text| !text.is_empty())
}
