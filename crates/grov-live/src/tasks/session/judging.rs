//! Asks the judge to assign a turn to a task, and stores the consequences.

use super::finishing::Saving;
use super::{MAX_ATTEMPTS, Session, TurnEnding};
use crate::tasks::exchange::RecordedExchange;
use crate::tasks::location::locate;
use crate::tasks::persist::{persist, with_retries};
use crate::tasks::turn::OpenTurn;
use grov_domain::{
    SessionId, SessionState, StatementSource, StoreError, TaskAnalysis, TaskTransition, TaskType,
};
use grov_redact::Redactor;
use grov_session::tasks::{Ending, Target, Work, started, with_intent, with_turn};

impl Session {
    /// Asks for the goal, scope and constraints of a new session before its first turn ends. Asks again with each
    /// further prompt.
    pub(super) async fn ask_first_intent(&mut self, exchange: &RecordedExchange) {
        let Some(turn) = &self.turn else { return };
        let state = self.new_state(self.id.first_task(), exchange, turn, TaskType::Main, None);
        let judge = &self.context.judge;
        let question = Redactor::shared().clean(turn.intent_question());
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
            // Asked again at the end of the turn.
            Ok(false) => self.first_intent = None,
            Err(error) => {
                tracing::warn!(session = %self.id, %error, "cannot store the goal of a session before its first turn ends");
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
            ..SessionState::new(self.id.clone(), id, exchange.project.key(), turn.started_at)
        }
    }

    /// Judges a finished turn. Judges it again if a memory was forgotten meanwhile.
    pub(super) async fn judge(
        &mut self,
        turn: OpenTurn,
        exchange: &RecordedExchange,
    ) -> Result<(), StoreError> {
        for _ in 0..MAX_ATTEMPTS {
            if self.try_judge(&turn, exchange).await? {
                return Ok(());
            }
            self.load().await?;
        }
        tracing::warn!(session = %self.id, "memories were deleted during every attempt to judge a turn; it stays in the task it was recorded in");
        Ok(())
    }

    /// Asks for a verdict and applies it. Returns `false` if a memory was forgotten meanwhile; then nothing is applied.
    async fn try_judge(&mut self, turn: &OpenTurn, exchange: &RecordedExchange) -> Result<bool, StoreError> {
        let location = locate(exchange.working_directory.as_deref()).await;
        // A new conversation under the same id starts without a current task.
        let current = self.current.clone().filter(|_| !turn.begins);
        let tasks = self.tasks_with_current(current.as_ref());
        let answer = exchange.answer.clone().unwrap_or_default();
        let stop_reason = exchange.stop_reason.as_deref();
        let mut question = tasks.question(&turn.turn, &answer, stop_reason, location.root.as_deref());
        if let Some(task) = current.as_ref().and_then(|id| tasks.task(id)) {
            question.is_remembered_complete = self.is_remembered_complete(task).await?;
        }
        let question = Redactor::shared().clean(question);
        let asked_for = current.clone().unwrap_or_else(|| self.id.first_task());
        let judge = &self.context.judge;
        let verdict = judge.analyze_task_context(Some(&asked_for), &question).await;
        let analysis = verdict.answer;
        let plan = tasks.plan(Some(&analysis));
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
            Target::Existing(id) => self.newest_state(id).await?,
        };
        let Some(state) = state else {
            return Ok(true);
        };
        let work = Work {
            is_changed: turn.turn.has_changed(),
            is_worth_saving: turn.turn.has_changed(),
            looks_finished: analysis.looks_finished,
        };
        let outcome = tasks.outcome(&plan, state.status, work);
        let judged_at = tasks.next_verdict_at(self.context.clock.now());
        let state = with_turn(state, Some(&analysis), judged_at, exchange.ended_at);
        let id = state.session_id.clone();
        let transition = TaskTransition {
            sessions: vec![state.clone()],
            moves: Some(self.moves(turn.exchanges.clone(), id.clone())),
            finished: Vec::new(),
            proposals: Vec::new(),
            judged_under: Some(self.revision),
        };
        if !persist(&self.context, transition).await? {
            return Ok(false);
        }
        self.remember(state);
        self.remember_agents(turn, &id);
        for report in &turn.reports {
            self.state(&id, StatementSource::Closing, report);
        }
        if work.is_changed {
            self.state(&id, StatementSource::Closing, &answer);
        }
        let ending = TurnEnding {
            answer,
            head: location.head.clone(),
        };
        self.endings.insert(id.clone(), ending);
        if let Some(ending) = outcome.saves {
            let saving = match (ending, outcome.is_active) {
                (Ending::Abandoned, true) => Saving::Unfinished,
                (Ending::Complete, true) => Saving::LooksFinished,
                _ => Saving::Closing(ending),
            };
            self.finish(&id, saving, location).await?;
        }
        if outcome.is_active {
            self.current = Some(id);
        }
        self.publish_current();
        Ok(true)
    }

    /// Returns the state of a task that begins with this turn.
    async fn begin(
        &self,
        (task_type, parent): (TaskType, Option<SessionId>),
        exchange: &RecordedExchange,
        turn: &OpenTurn,
        analysis: &TaskAnalysis,
    ) -> SessionState {
        let id = if self.has_no_task {
            self.id.first_task()
        } else {
            SessionId::fresh()
        };
        let state = self.new_state(id, exchange, turn, task_type, parent);
        let question = turn.intent_question();
        let intent = match self.first_intent.clone().filter(|_| self.has_no_task) {
            Some(mut intent) => {
                if intent.scope.is_empty() {
                    intent.scope = question.first_files;
                }
                intent
            }
            None => {
                let judge = &self.context.judge;
                judge
                    .extract_intent(Some(&state.session_id), &Redactor::shared().clean(question))
                    .await
                    .answer
            }
        };
        started(state, &intent, analysis, &turn.turn)
    }

    /// Returns the newest state of a task, which recording changes too.
    pub(super) async fn newest_state(&self, id: &SessionId) -> Result<Option<SessionState>, StoreError> {
        let stored = with_retries(|| self.context.store.session(id)).await?;
        Ok(stored
            .map(|summary| summary.state)
            .or_else(|| self.tasks.iter().find(|task| &task.session_id == id).cloned()))
    }

    pub(super) fn remember(&mut self, state: SessionState) {
        // The session has a task now, so the next one gets a new id.
        self.has_no_task = false;
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
}
