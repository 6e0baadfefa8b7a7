//! Saves finished and abandoned tasks to team memory.

use super::{MAX_ATTEMPTS, Session};
use crate::identity;
use crate::tasks::POLICY;
use crate::tasks::location::{Location, ignore_rules, locate, with_file_pins};
use crate::tasks::persist::{persist, with_retries};
use grov_domain::{
    DriftFilter, ItemFilter, Judged, JudgedBy, MemoryEdits, MemoryScope, Reasoning, ReasoningQuestion,
    SessionId, SessionState, SessionStatus, StepRow, StoreError, Task, TaskId, TaskProposals, TaskStatus,
    TaskTransition, TriggerReason, time_before,
};
use grov_memory::screened;
use grov_project::without_ignored;
use grov_redact::Redactor;
use grov_session::capture::{
    PerformedAction, Remembered, SaveContext, TaskMaterial, prompts, reviewed, task_proposals, titled,
};
use grov_session::review::Evidence;
use grov_session::tasks::{Ending, Tasks};
use time::OffsetDateTime;

/// Earlier tasks of the project in which a rule may be repeated, and memory items that are not proposed again.
const EARLIER_TASKS: u32 = 50;
const KNOWN_ITEMS: u32 = 500;

/// Why a task is saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Saving {
    /// It ended.
    Closing(Ending),
    /// A turn ended that changed something. The task goes on.
    Unfinished,
    /// A turn ended after which the work looks finished. The task goes on.
    LooksFinished,
    /// The context was cleared. The task goes on.
    AtThreshold,
}

impl Saving {
    fn ending(self) -> Ending {
        match self {
            Self::Closing(ending) => ending,
            Self::LooksFinished => Ending::Complete,
            Self::Unfinished | Self::AtThreshold => Ending::Abandoned,
        }
    }
}

impl Session {
    /// Saves a task to team memory and sets its status, in one transaction. `location` is where it ended.
    pub(super) async fn finish(
        &mut self,
        id: &SessionId,
        saving: Saving,
        location: Location,
    ) -> Result<(), StoreError> {
        for _ in 0..MAX_ATTEMPTS {
            if self.try_finish(id, saving, &location).await? {
                return Ok(());
            }
            self.load().await?;
        }
        tracing::warn!(session = %self.id, "memories were deleted during every attempt to save a finished task; it stays open");
        Ok(())
    }

    /// Returns `false` if a memory was forgotten while the judge was asked; then nothing is saved.
    async fn try_finish(
        &mut self,
        id: &SessionId,
        saving: Saving,
        location: &Location,
    ) -> Result<bool, StoreError> {
        let Some(mut state) = self.newest_state(id).await? else {
            return Ok(true);
        };
        // Later records belong to a turn that is not judged yet and are stored under this task provisionally.
        let is_idle = saving == Saving::Closing(Ending::Abandoned);
        let until = (!is_idle).then_some(self.newest_time);
        let store = &self.context.store;
        let typed = with_retries(|| store.prompts(id, until)).await?;
        let mut steps = with_retries(|| store.steps(id)).await?;
        steps.retain(|step| until.is_none_or(|until| step.timestamp <= until));
        let record = self.record(&state).await?;
        // Without more unfinished work, what looked finished is finished.
        let keeps_record = saving != Saving::Unfinished && is_complete(record.as_ref());
        let ending = if keeps_record {
            Ending::Complete
        } else {
            saving.ending()
        };
        state.status = match saving {
            Saving::Closing(_) => ending.session_status(),
            Saving::Unfinished | Saving::LooksFinished | Saving::AtThreshold => SessionStatus::Active,
        };
        let mut transition = TaskTransition {
            sessions: vec![state.clone()],
            judged_under: Some(self.revision),
            ..TaskTransition::default()
        };
        // Conversations without a named session are not saved.
        let ignore = ignore_rules(location.root.clone()).await;
        if let Some(ignore) = ignore.filter(|_| !identity::is_derived(&self.id)) {
            let material = TaskMaterial::new(
                prompts(typed.iter().map(|prompt| prompt.text.as_str())),
                steps.iter().map(|step| self.performed_action(step)),
                location.root.as_deref(),
                |file| ignore.ignores(file),
            );
            let material = material.with_statements(self.statements.get(id).cloned().unwrap_or_default());
            if !material.is_empty() {
                let answer = self.endings.get(id).map_or("", |ending| &ending.answer);
                let question = Redactor::shared().clean(material.reasoning_question(&state, answer));
                let judged = match saving {
                    // The model is asked once, when the task ends.
                    Saving::Unfinished | Saving::LooksFinished | Saving::AtThreshold => Judged {
                        answer: grov_rules::extract_reasoning(&question),
                        by: JudgedBy::Rules,
                    },
                    Saving::Closing(_) => {
                        let judge = &self.context.judge;
                        judge.extract_reasoning(Some(id), &question).await
                    }
                };
                // The rules take the answer to a question for a decision; a model does not.
                let is_answer = judged.by == JudgedBy::Rules && material.only_asks();
                let mut reasoning = judged.answer;
                if ending == Ending::Abandoned {
                    reasoning
                        .reasoning_trace
                        .extend(grov_rules::left_open(&question.answer));
                }
                self.add_recorded(&state, record.as_ref(), &mut reasoning);
                if material.is_memory(&reasoning, None) && !is_answer {
                    let is_first = *id == self.id.first_task();
                    let reasoning = titled(reasoning, self.title.as_deref().filter(|_| is_first));
                    let context = SaveContext {
                        id: TaskId::fresh(),
                        ending,
                        remote: self.remote.clone(),
                        head: location.head.clone(),
                        before: None,
                        at: self.context.clock.now(),
                    };
                    let mut task = material.task(&state, reasoning, context);
                    if saving == Saving::AtThreshold {
                        task.trigger_reason = Some(TriggerReason::Threshold);
                    }
                    let task = reviewed(task, &self.evidence(&state, &steps, until).await?, POLICY);
                    let task = with_file_pins(without_ignored(task, &ignore), location.root.clone()).await;
                    // The store applies the edits as they are then. Applied here, the text that is stored is the one that
                    // is screened.
                    let task = record
                        .map_or_else(MemoryEdits::default, |record| record.edits)
                        .applied(task);
                    let task = Redactor::shared().clean(task).into_inner();
                    let task = screened(task);
                    transition.proposals.push(self.proposals(&task, &question).await?);
                    transition.finished.push(task);
                }
            }
        }
        if !persist(&self.context, transition).await? {
            return Ok(false);
        }
        if saving == Saving::AtThreshold && self.has_no_task {
            // No verdict made it a task yet.
            return Ok(true);
        }
        self.remember(state.clone());
        let is_over = state.status == SessionStatus::Completed;
        if is_over && self.current.as_ref().is_none_or(|current| current == id) {
            self.current = self.tasks_with_current(None).after(&state);
        }
        Ok(true)
    }

    /// Returns what a task proposes to remember.
    async fn proposals(
        &self,
        task: &Task,
        question: &ReasoningQuestion,
    ) -> Result<TaskProposals, StoreError> {
        let store = &self.context.store;
        let tasks = with_retries(|| store.tasks_for_project(&task.project_path, EARLIER_TASKS)).await?;
        let scope = MemoryScope {
            project_path: task.project_path.clone(),
            project_remote: task.project_remote.clone(),
        };
        let filter = ItemFilter {
            scope: Some(&scope),
            only_proposed: false,
            limit: KNOWN_ITEMS,
        };
        let items = with_retries(|| store.items(&filter)).await?;
        let remembered = Remembered {
            tasks: &tasks,
            items: &items,
        };
        let now = self.context.clock.now();
        Ok(task_proposals(
            task,
            question,
            remembered,
            grov_rules::proposals,
            now,
        ))
    }

    /// Whether a task is in memory as complete.
    pub(super) async fn is_remembered_complete(&self, state: &SessionState) -> Result<bool, StoreError> {
        Ok(is_complete(self.record(state).await?.as_ref()))
    }

    /// Returns the record of a task that was saved before.
    async fn record(&self, state: &SessionState) -> Result<Option<Task>, StoreError> {
        let store = &self.context.store;
        let tasks = with_retries(|| store.tasks_of_session(&state.client_session_id)).await?;
        let is_record = |task: &Task| task.session_id.as_ref() == Some(&state.session_id);
        Ok(tasks.into_iter().find(is_record))
    }

    /// Adds the decisions in the record of a task whose earlier texts are no longer in memory.
    fn add_recorded(&mut self, state: &SessionState, record: Option<&Task>, reasoning: &mut Reasoning) {
        let Some(recorded) = self.recorded.get_mut(&state.session_id) else {
            return;
        };
        let read = || record.map(|task| task.decisions.clone()).unwrap_or_default();
        let mut decisions = recorded.get_or_insert_with(read).clone();
        for decision in std::mem::take(&mut reasoning.decisions) {
            if decisions.iter().all(|known| known.choice != decision.choice) {
                decisions.push(decision);
            }
        }
        reasoning.decisions = decisions;
    }

    /// Returns a step with the result of its call, if it is known.
    fn performed_action(&self, step: &StepRow) -> PerformedAction {
        let mut performed = PerformedAction::from(step);
        let ended = step
            .tool_use_id
            .as_deref()
            .and_then(|call| self.outcomes.peek(call));
        if let Some((failed, output)) = ended {
            performed.action.failed = Some(*failed);
            performed.action.output.clone_from(output);
        }
        performed
    }

    /// Returns the drift events and corrections of a task.
    async fn evidence(
        &self,
        state: &SessionState,
        steps: &[StepRow],
        until: Option<OffsetDateTime>,
    ) -> Result<Evidence, StoreError> {
        let filter = DriftFilter {
            session_id: Some(state.session_id.clone()),
            ..DriftFilter::default()
        };
        let store = &self.context.store;
        let mut events = with_retries(|| store.drift_events(&filter)).await?;
        let mut corrections = with_retries(|| store.corrections(&self.id)).await?;
        events.retain(|event| until.is_none_or(|until| event.timestamp <= until));
        corrections.retain(|correction| until.is_none_or(|until| correction.made_at <= until));
        Ok(Evidence::of_records(
            steps,
            &events,
            &corrections,
            state.escalation_count,
        ))
    }

    /// Saves the current task, because the context was cleared. Before the first verdict, that is the row of the first task.
    pub(in crate::tasks) async fn save_at_threshold(&mut self) -> Result<(), StoreError> {
        self.load().await?;
        let id = match &self.current {
            Some(current) => current.clone(),
            None if self.has_no_task => self.id.first_task(),
            None => return Ok(()),
        };
        let Some(state) = self.newest_state(&id).await? else {
            return Ok(());
        };
        let location = locate(state.working_directory.as_deref()).await;
        self.finish(&id, Saving::AtThreshold, location).await
    }

    /// Saves an inactive task.
    pub(in crate::tasks) async fn abandon(&mut self, id: &SessionId) -> Result<(), StoreError> {
        self.load().await?;
        let limit = time_before(self.context.clock.now(), self.context.abandon_after);
        // It may have become active before this event was handled.
        let stored = with_retries(|| self.context.store.client_session(&self.id)).await?;
        let stored: Vec<SessionState> = stored.into_iter().map(|task| task.state).collect();
        let tasks = Tasks {
            known: &stored,
            current: None,
            policy: POLICY,
        };
        let Some(state) = tasks.abandoned(id, limit) else {
            return Ok(());
        };
        // The commit that is checked out now may belong to other work.
        let head = self.endings.get(id).and_then(|ending| ending.head.clone());
        let location = Location {
            root: locate(state.working_directory.as_deref()).await.root,
            head: head.or_else(|| state.head_at_start.clone()),
        };
        self.finish(id, Saving::Closing(Ending::Abandoned), location)
            .await
    }
}

fn is_complete(record: Option<&Task>) -> bool {
    record.is_some_and(|record| record.status == TaskStatus::Complete)
}
