//! The tasks of one client session. One mailbox: the only place where they change.

use super::capture::{Ending, Material, relative};
use super::exchange::RecordedExchange;
use super::location::{Location, ignored, locate, pinned};
use super::outcomes::Outcomes;
use super::persist::{patiently, persist};
use super::turn::OpenTurn;
use super::verdict::{Known, Target};
use super::{Context, Event};
use crate::identity;
use grov_domain::{
    ActionSketch, AgentId, ClientSessionId, DriftFilter, ExchangeId, Intent, IntentQuestion, Move, SessionId,
    SessionState, SessionStatus, StepRow, StoreError, TaskAnalysis, TaskContextQuestion, TaskTransition,
    TaskType, in_work, long_before,
};
use grov_project::without_ignored;
use grov_session::review::{Evidence, Review};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use time::OffsetDateTime;
use tokio::sync::mpsc;

/// A session that nothing is heard of for so long is forgotten; the store knows it.
const FORGET_AFTER: Duration = Duration::from_secs(2 * 60 * 60);

/// Longest goal, in characters.
const MAX_GOAL: usize = 200;

/// Constraints kept per task.
const MAX_CONSTRAINTS: usize = 40;

/// How often a turn is judged anew because something was forgotten meanwhile.
const MAX_JUDGED_ANEW: usize = 5;

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
    outcomes: Outcomes,
    /// Subagents may outlive the turn that started them.
    agents: HashMap<AgentId, SessionId>,
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
            outcomes: Outcomes::default(),
            agents: HashMap::new(),
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
            self.outcomes.remember(outcome);
        }
        let earlier_turn = exchange
            .agent_id
            .as_ref()
            .and_then(|agent| self.agents.get(agent));
        if let Some(task) = earlier_turn.cloned() {
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
            && turn.has_substance()
        {
            self.judge(turn, exchange).await?;
        }
        Ok(())
    }

    /// Learns from the store what was before this process, and what another one took away.
    async fn load(&mut self) -> Result<(), StoreError> {
        // The number first: what changes in between is looked at again.
        let revision = patiently(|| self.context.store.revision()).await?;
        if self.loaded {
            if revision != self.revision {
                self.reload().await?;
                self.revision = revision;
            }
            return Ok(());
        }
        self.revision = revision;
        let stored = patiently(|| self.context.store.client_session(&self.id)).await?;
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
            let open = in_work(&self.tasks).filter(|task| task.status != SessionStatus::Completed);
            self.current = open.map(|task| task.session_id.clone());
            self.show_current();
        }
        self.loaded = true;
        Ok(())
    }

    /// Lets go of all texts that may have been forgotten. The turn that is open is younger than any memory.
    async fn reload(&mut self) -> Result<(), StoreError> {
        let stored = patiently(|| self.context.store.client_session(&self.id)).await?;
        let mut states: HashMap<SessionId, SessionState> = stored
            .into_iter()
            .map(|summary| (summary.state.session_id.clone(), summary.state))
            .collect();
        let known = std::mem::take(&mut self.tasks).into_iter();
        self.tasks = known.filter_map(|task| states.remove(&task.session_id)).collect();
        self.first_intent = None;
        self.outcomes = Outcomes::default();
        self.endings.clear();
        Ok(())
    }

    fn show_current(&self) {
        // With none in work, records go where they last went until the next verdict.
        if let Some(task) = &self.current {
            self.context.board.set(&self.id, task.clone());
        }
    }

    /// A turn that never came to rest (the user interrupted it) stays with the task it was in.
    async fn leave_turn(&mut self) {
        let (Some(turn), Some(current)) = (self.turn.take(), self.current.clone()) else {
            return;
        };
        self.remember_agents(&turn, &current);
        if let Err(error) = self.give(turn.exchanges, current).await {
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
            if self.agents.len() >= MAX_AGENTS {
                self.agents.clear();
            }
            self.agents.insert(agent.clone(), task.clone());
        }
    }

    /// Goal, scope and constraints of a new client session, before its first turn ends; anew when the user says more.
    async fn understand_first_prompt(&mut self, exchange: &RecordedExchange) {
        let Some(turn) = &self.turn else { return };
        let state = self.new_state(self.id.first_task(), exchange, turn, TaskType::Main, None);
        let question = intent_question(turn);
        let judge = &self.context.judge;
        let intent = judge
            .extract_intent(Some(&state.session_id), &question)
            .await
            .answer;
        let state = with_intent(state, &intent);
        self.first_intent = Some(intent);
        let transition = TaskTransition {
            sessions: vec![state],
            judged_under: Some(self.revision),
            ..TaskTransition::default()
        };
        match persist(&self.context, transition).await {
            Ok(true) => {}
            // It is asked for again when the turn ends.
            Ok(false) => self.first_intent = None,
            Err(error) => {
                tracing::warn!(session = %self.id, %error, "the goal of a session is not known before its first turn ends");
            }
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
            parent_session_id: parent,
            task_type,
            user_id: exchange.user.clone(),
            working_directory: exchange.working_directory.clone(),
            head_at_start: turn.location.head.clone(),
            last_update: exchange.ended_at,
            ..SessionState::begun(self.id.clone(), id, exchange.project.key(), turn.started_at)
        }
    }

    /// The turn has come to rest. It is judged anew while somebody forgets what was shown to the judge.
    async fn judge(&mut self, turn: OpenTurn, exchange: &RecordedExchange) -> Result<(), StoreError> {
        for _ in 0..MAX_JUDGED_ANEW {
            if self.judged(&turn, exchange).await? {
                return Ok(());
            }
            self.load().await?;
        }
        tracing::warn!(session = %self.id, "memories are forgotten again and again: a turn stays where it was recorded");
        Ok(())
    }

    /// Which task was it, and is that done? `false`: nothing came of it, because something was forgotten meanwhile.
    async fn judged(&mut self, turn: &OpenTurn, exchange: &RecordedExchange) -> Result<bool, StoreError> {
        // A conversation that begins anew under the same id has left its tasks behind.
        let current = self.current.clone().filter(|_| !turn.begins);
        let location = locate(exchange.working_directory.as_deref()).await;
        let known = Known {
            tasks: &self.tasks,
            current: current.as_ref(),
        };
        let answer = exchange.answer.clone().unwrap_or_default();
        let question = TaskContextQuestion {
            current: known.current_sketch(),
            others: known.other_sketches(),
            prompts: turn.prompts.clone(),
            actions: with_relative_files(turn.actions(), location.root.as_deref()),
            answer: answer.clone(),
            stop_reason: exchange.stop_reason.clone(),
        };
        let asked_for = current.clone().unwrap_or_else(|| self.id.first_task());
        let judge = &self.context.judge;
        let verdict = judge.analyze_task_context(Some(&asked_for), &question).await;
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
                let begun = (*task_type, parent.clone());
                Some(self.begin(begun, exchange, turn, &analysis).await)
            }
            Target::Existing(id) => self.fresh(id).await?,
        };
        let Some(mut state) = state else {
            return Ok(true);
        };
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
        let transition = TaskTransition {
            sessions: vec![state.clone()],
            moves: Some(self.moves(turn.exchanges.clone(), id.clone())),
            finished: Vec::new(),
            judged_under: Some(self.revision),
        };
        if !persist(&self.context, transition).await? {
            return Ok(false);
        }
        self.keep(state);
        self.remember_agents(turn, &id);
        let ending = TurnEnding {
            answer,
            head: location.head.clone(),
        };
        self.endings.insert(id.clone(), ending);
        // What was finished before is saved anew only if there is something new to it.
        if plan.completes && !was_completed || was_completed && turn.changed_something() {
            self.finish(&id, Ending::Complete, location).await?;
        } else if !was_completed {
            self.current = Some(id);
        }
        self.show_current();
        Ok(true)
    }

    /// A task that begins with this turn.
    async fn begin(
        &self,
        (task_type, parent): (TaskType, Option<SessionId>),
        exchange: &RecordedExchange,
        turn: &OpenTurn,
        analysis: &TaskAnalysis,
    ) -> SessionState {
        let id = if self.unborn {
            self.id.first_task()
        } else {
            SessionId::fresh()
        };
        let state = self.new_state(id, exchange, turn, task_type, parent);
        let question = intent_question(turn);
        let intent = match self.first_intent.clone().filter(|_| self.unborn) {
            Some(mut intent) => {
                if intent.scope.is_empty() {
                    intent.scope = question.first_files;
                }
                intent
            }
            None => {
                let judge = &self.context.judge;
                judge
                    .extract_intent(Some(&state.session_id), &question)
                    .await
                    .answer
            }
        };
        let mut state = with_intent(state, &intent);
        if state.original_goal.is_none() {
            state.original_goal =
                goal(&analysis.goal).or_else(|| turn.prompts.first().and_then(|prompt| goal(prompt)));
        }
        state
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
        newest.map_or(now, |newest| {
            now.max(newest.saturating_add(time::Duration::MILLISECOND))
        })
    }

    fn keep(&mut self, state: SessionState) {
        // There is a task now, and the next one gets an id of its own.
        self.unborn = false;
        self.first_intent = None;
        match self
            .tasks
            .iter_mut()
            .find(|task| task.session_id == state.session_id)
        {
            Some(known) => *known = state,
            None => self.tasks.push(state),
        }
    }

    /// Saves a task to team memory and closes it, in one transaction. `location` is where it ended.
    async fn finish(&mut self, id: &SessionId, ending: Ending, location: Location) -> Result<(), StoreError> {
        for _ in 0..MAX_JUDGED_ANEW {
            if self.finished(id, ending, &location).await? {
                return Ok(());
            }
            self.load().await?;
        }
        tracing::warn!(session = %self.id, "memories are forgotten again and again: a task that is done stays open");
        Ok(())
    }

    /// `false`: it was not saved, because something was forgotten while the judge was asked.
    async fn finished(
        &mut self,
        id: &SessionId,
        ending: Ending,
        location: &Location,
    ) -> Result<bool, StoreError> {
        let Some(mut state) = self.fresh(id).await? else {
            return Ok(true);
        };
        // What came later belongs to a turn that is not judged yet, and was only recorded here for the time being.
        let until = (ending == Ending::Complete).then_some(self.heard_until);
        let store = &self.context.store;
        let prompts = patiently(|| store.prompts(id, until)).await?;
        let mut steps = patiently(|| store.steps(id)).await?;
        steps.retain(|step| until.is_none_or(|until| step.timestamp <= until));
        let ignore = ignored(location.root.clone()).await;
        let may_remember = ignore.is_some();
        let ignore = ignore.unwrap_or_default();
        let material = Material::new(&prompts, &steps, location.root.as_deref(), &ignore, |call| {
            self.outcomes.of(call)
        });
        state.status = ending.session_status();
        let mut transition = TaskTransition {
            sessions: vec![state.clone()],
            judged_under: Some(self.revision),
            ..TaskTransition::default()
        };
        // A conversation without a name of its own is no work that a team could come back to.
        if may_remember && !material.is_empty() && !identity::is_derived(&self.id) {
            let answer = self.endings.get(id).map_or("", |ending| &ending.answer);
            let question = material.question(&state, answer);
            let judge = &self.context.judge;
            let reasoning = judge.extract_reasoning(Some(id), &question).await.answer;
            // A question that changed and decided nothing is no memory, whatever the task is called.
            if material.has_work() || reasoning.has_decision() {
                let now = self.context.clock.now();
                let remote = self.remote.clone();
                let task = material.task(&state, remote, reasoning, ending, location.head.clone(), now);
                let task = self.review(&state, &steps, until).await?.marked(task);
                transition
                    .finished
                    .push(pinned(without_ignored(task, &ignore), location.root.clone()).await);
            }
        }
        if !persist(&self.context, transition).await? {
            return Ok(false);
        }
        self.keep(state.clone());
        if ending == Ending::Complete && self.current.as_ref().is_none_or(|current| current == id) {
            let known = Known {
                tasks: &self.tasks,
                current: None,
            };
            self.current = known.after(&state);
        }
        Ok(true)
    }

    /// What drift leaves with a task that ends.
    async fn review(
        &self,
        state: &SessionState,
        steps: &[StepRow],
        until: Option<OffsetDateTime>,
    ) -> Result<Review, StoreError> {
        let filter = DriftFilter {
            session_id: Some(state.session_id.clone()),
            ..DriftFilter::default()
        };
        let store = &self.context.store;
        let mut events = patiently(|| store.drift_events(&filter)).await?;
        let mut corrections = patiently(|| store.corrections(&self.id)).await?;
        events.retain(|event| until.is_none_or(|until| event.timestamp <= until));
        corrections.retain(|correction| until.is_none_or(|until| correction.made_at <= until));
        let evidence = Evidence::of_records(steps, &events, &corrections, state.escalation_count);
        Ok(Review::of(&evidence))
    }

    /// Nobody was heard of for long: what there is of the task is saved.
    pub(super) async fn abandon(&mut self, id: &SessionId) -> Result<(), StoreError> {
        self.load().await?;
        let limit = long_before(self.context.clock.now(), self.context.abandon_after);
        let stored = patiently(|| self.context.store.client_session(&self.id)).await?;
        // Work may have come in while this message waited, and a task is in work while one that serves it is.
        if stored.iter().any(|task| task.state.last_update > limit) {
            return Ok(());
        }
        let state = stored
            .into_iter()
            .map(|task| task.state)
            .find(|state| &state.session_id == id);
        let Some(state) = state.filter(|state| state.status == SessionStatus::Active) else {
            return Ok(());
        };
        // What is checked out by now may be somebody else's work.
        let head = self.endings.get(id).and_then(|ending| ending.head.clone());
        let root = locate(state.working_directory.as_deref()).await.root;
        let location = Location {
            root,
            head: head.or(state.head_at_start),
        };
        self.finish(id, Ending::Abandoned, location).await
    }
}

fn intent_question(turn: &OpenTurn) -> IntentQuestion {
    let root = turn.location.root.as_deref();
    IntentQuestion {
        prompts: turn.prompts.clone(),
        first_files: turn
            .first_files()
            .iter()
            .map(|file| relative(file, root))
            .collect(),
    }
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
