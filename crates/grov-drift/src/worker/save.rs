//! Saves a session's task to team memory.

mod reports;
mod statements;

use super::{Followed, TurnWorker};
use crate::file_reasoning::file_reasoning;
use crate::task_rows::{self, POLICY};
use crate::transcript_file::{last, length, read_range};
use grov_actions::transcript::edits;
use grov_domain::{
    Applied, Clock, GoalContract, HookSession, HookStep, ItemFilter, Judge, MemoryScope, OFF_GOAL_BELOW,
    ReasoningQuestion, Redacted, SessionState, SessionStatus, StoreConnection, StoreError, SystemClock, Task,
    TaskId, TaskProposals, TaskStatus, TaskTransition,
};
use grov_hooks::event;
use grov_memory::screened;
use grov_project::{GrovIgnore, ProjectLocation, hash_user, pins, without_ignored};
use grov_redact::Redactor;
use grov_rules::{
    AgentSummary, agent_summary, left_open, new_work, only_asks, order_after, turns_to_other_work,
};
use grov_runtime::UserMode;
use grov_session::capture::{
    PerformedAction, Remembered, SaveContext, TaskMaterial, covered, reviewed, task_proposals, titled,
};
use grov_session::tasks::{Ending, Target, Tasks, with_turn};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use time::OffsetDateTime;

/// Bytes at the end of a transcript searched for edits.
const MAX_TRANSCRIPT_BYTES: u64 = 64 * 1024 * 1024;

/// Earlier tasks of the project in which a rule may be repeated, and memory items that are not proposed again.
const EARLIER_TASKS: u32 = 50;
const KNOWN_ITEMS: u32 = 500;

/// A session loaded for saving.
struct Loaded {
    /// The store's revision before anything was read.
    revision: i64,
    session: HookSession,
    /// The contract with the user's edits.
    contract: GoalContract,
    /// Whether the user edited the goal.
    has_edited_goal: bool,
    steps: Vec<HookStep>,
    material: TaskMaterial,
    /// Saved tasks of the session, newest first.
    saved: Vec<Task>,
    /// The states of the saved tasks.
    known: Vec<SessionState>,
    /// The goal of the task if the newest prompt started it, so that no record exists.
    new_goal: Option<String>,
    place: ProjectLocation,
    root: PathBuf,
    ignore: GrovIgnore,
}

impl Loaded {
    fn tasks(&self) -> Tasks<'_> {
        let newest = self.known.first().filter(|_| self.new_goal.is_none());
        Tasks {
            known: &self.known,
            current: newest.map(|task| &task.session_id),
            policy: POLICY,
        }
    }

    /// The goal of the active task. A record keeps its goal; what a later prompt adds to it is added.
    fn goal(&self) -> Option<String> {
        if let Some(goal) = &self.new_goal {
            return Some(goal.clone());
        }
        let stated = &self.contract.goal;
        let kept = self.current().and_then(Task::captured_goal);
        let kept = kept.filter(|goal| !goal.is_empty() && !self.has_edited_goal);
        let goal = kept.map_or(stated.as_str(), |kept| goal_from(stated, kept).unwrap_or(kept));
        Some(goal.to_owned())
    }

    /// The saved record of the active task.
    fn current(&self) -> Option<&Task> {
        self.saved.first().filter(|_| self.new_goal.is_none())
    }

    /// Whether there is anything unsaved.
    fn has_changes(&self, followed: Followed) -> bool {
        let is_saved = self
            .current()
            .is_some_and(|task| task.created_at >= followed.before);
        !self.material.is_empty() && (followed.is_new || !is_saved)
    }
}

/// The goal of new work, if the newest prompt started it after the tasks `saved`, newest first; `stated` is the goal of the contract.
///
/// A prompt with another goal starts new work, unless the saved work is unfinished and the same files were changed again. After
/// finished and committed work, any order of its own does, as where the requests themselves are read; after finished work, other
/// files and a prompt without a word of it.
fn new_goal(
    material: &TaskMaterial,
    done: &[PerformedAction],
    saved: &[Task],
    stated: &str,
) -> Option<String> {
    let newest = saved.first()?;
    let goal = newest.captured_goal().unwrap_or_default();
    let changed = material.changed_since(newest.created_at);
    let goes_on = changed.iter().any(|file| newest.files_touched.contains(file));
    let is_open = newest.status == TaskStatus::Abandoned;
    if material.changed_subject(goal, stated) {
        return (!(is_open && goes_on)).then(|| stated.to_owned());
    }
    if is_open || !is_later_work(done, newest.created_at) {
        return None;
    }
    let prompt = material.newest_prompt()?;
    let is_committed = newest.linked_commit.is_some() || was_committed(done, newest, saved.get(1));
    if (is_committed || turns_to_other_work(prompt))
        && let Some(own) = order_after(prompt, goal)
    {
        return Some(own);
    }
    if goes_on || changed.is_empty() || stated.starts_with(goal) && stated != goal {
        return None;
    }
    let known = [&[goal.to_owned()], newest.files_touched.as_slice()]
        .concat()
        .join(" ");
    new_work(prompt, &known)
}

/// Whether something was changed for a later prompt than those of a task saved at this time.
fn is_later_work(done: &[PerformedAction], saved_at: OffsetDateTime) -> bool {
    let covered = covered(done, saved_at);
    done.iter()
        .any(|done| done.at > saved_at && done.prompt > covered && done.action.has_changed())
}

/// Whether the work of a saved task, which followed the `earlier` one, was committed.
fn was_committed(done: &[PerformedAction], task: &Task, earlier: Option<&Task>) -> bool {
    let before = earlier.map_or(0, |earlier| covered(done, earlier.created_at));
    let own = |done: &&PerformedAction| done.at <= task.created_at && done.prompt > before;
    done.iter().filter(own).any(|done| done.action.has_committed())
}

/// The part of the contract's goal from the goal `kept` of a record on: what came before is earlier work.
fn goal_from<'g>(stated: &'g str, kept: &str) -> Option<&'g str> {
    let at = stated.find(kept).filter(|_| !kept.is_empty())?;
    stated.get(at..)
}

/// A task to be saved, before the judge extracts its reasoning.
struct PendingTask {
    state: SessionState,
    ending: Ending,
    answer: String,
    /// The agent's answer to the question what to remember.
    summary: Option<AgentSummary>,
}

impl TurnWorker<'_> {
    /// Saves the session's task and replaces its earlier record. `false` if memory was deleted at the same time; the session must
    /// then be loaded again.
    pub(super) async fn save(
        &self,
        store: &dyn StoreConnection,
        followed: Followed,
    ) -> Result<bool, StoreError> {
        let loaded = self.load(store).await?;
        let is_summary = self.agent_summary(&self.work.answer).is_some();
        let Some(loaded) = loaded.filter(|loaded| is_summary || loaded.has_changes(followed)) else {
            return Ok(true);
        };
        let judge = (self.services.judge)(&self.settings)?;
        let task = self.build_task(store, &loaded, &*judge).await;
        judge.close().await;
        let Some((task, question)) = task? else {
            return Ok(true);
        };
        let proposals = self.proposals(store, &task, &question).await?;
        let transition = TaskTransition {
            finished: vec![task.clone()],
            proposals: vec![proposals],
            judged_under: Some(loaded.revision),
            ..TaskTransition::default()
        };
        if store.apply(&Redactor::shared().clean(transition)).await? == Applied::Outdated {
            return Ok(false);
        }
        self.save_reasoning(store, &loaded, &task).await?;
        Ok(true)
    }

    async fn load(&self, store: &dyn StoreConnection) -> Result<Option<Loaded>, StoreError> {
        let session_ref = &self.work.session_ref;
        let id = session_ref.id();
        // Read the revision first: anything deleted later makes this load outdated.
        let revision = store.revision().await?;
        let Some(session) = store.hook_session_summary(&id).await? else {
            return Ok(None);
        };
        let edits_of_goal = store.goal_edits(&id).await?;
        let contract = session.contract.clone().with_edits(&edits_of_goal);
        let steps = store.hook_steps(&id).await?;
        let place = ProjectLocation::locate(&session_ref.directory);
        let saved = self.saved_tasks(store, place.project().key()).await?;
        let root = place.work_tree().unwrap_or(&session_ref.directory).to_owned();
        let ignore = GrovIgnore::at(&place);
        let done = task_rows::done(&steps);
        let mut material = task_rows::material(&contract, done.clone(), &root, &ignore);
        let new_goal = new_goal(&material, &done, &saved, &contract.goal);
        let mut covered_prompts = 0;
        if let Some(earlier) = saved.get(usize::from(new_goal.is_none())) {
            covered_prompts = covered(&done, earlier.created_at);
            material = material.after_prompt(covered_prompts);
        }
        // The transcript still has what was forgotten.
        let stated = statements::of_task(
            session_ref.transcript.as_deref(),
            covered_prompts.max(material.newest_forgotten()),
            session.prompts,
            session.forgotten_at,
            |prompt| material.has_changed_for(prompt),
        );
        let material = material.with_statements(stated);
        Ok(Some(Loaded {
            revision,
            known: saved
                .iter()
                .map(|task| task_rows::saved(&session, task))
                .collect(),
            has_edited_goal: contract.goal != session.contract.goal,
            session,
            contract,
            steps,
            material,
            saved,
            new_goal,
            place,
            root,
            ignore,
        }))
    }

    /// Builds the record; `None` if nothing is to be saved.
    async fn build_task(
        &self,
        store: &dyn StoreConnection,
        loaded: &Loaded,
        judge: &dyn Judge,
    ) -> Result<Option<(Task, Redacted<ReasoningQuestion>)>, StoreError> {
        let (material, before) = (&loaded.material, loaded.current());
        let Some(pending) = self.judge_turn(loaded, judge).await else {
            return Ok(None);
        };
        let id = self.work.session_ref.id();
        let question = Redactor::shared().clean(material.reasoning_question(&pending.state, &pending.answer));
        let mut reasoning = judge
            .extract_reasoning(Some(&id.first_task()), &question)
            .await
            .answer;
        if let Some(summary) = &pending.summary {
            let open = summary.open.iter().map(|open| format!("Open: {open}"));
            let goal = std::iter::once(format!("Goal, as the agent put it: {}", summary.goal));
            reasoning.reasoning_trace.extend(goal.chain(open));
        } else if pending.ending == Ending::Abandoned {
            reasoning.reasoning_trace.extend(left_open(&question.answer));
        }
        if !material.is_memory(&reasoning, before) {
            return Ok(None);
        }
        // The title is about the first prompt. The transcript still has what was forgotten.
        if pending.state.session_id == id.hook_task(0) && loaded.session.forgotten_at.is_none() {
            let title = statements::title(self.work.session_ref.transcript.as_deref());
            reasoning = titled(reasoning, title.as_deref());
        }
        let saving = SaveContext {
            id: before.map_or_else(TaskId::fresh, |task| task.id.clone()),
            ending: pending.ending,
            remote: loaded.place.remote(),
            head: loaded.place.head().commit,
            before,
            at: SystemClock.now(),
        };
        let task = material.task(&pending.state, reasoning, saving);
        let evidence = task_rows::evidence(&store.hook_checks(&id).await?, loaded.session.escalation);
        let mut task = without_ignored(reviewed(task, &evidence, POLICY), &loaded.ignore);
        task.file_pins = pins(&loaded.root, &task.files_touched);
        // The store applies the edits as they are then. Applied here, the text that is stored is the one that is screened.
        if let Some(edits) = before.map(|before| before.edits.clone()) {
            task = edits.applied(task);
        }
        let task = Redactor::shared().clean(task).into_inner();
        Ok(Some((screened(task), question)))
    }

    /// Returns what the task proposes to remember.
    async fn proposals(
        &self,
        store: &dyn StoreConnection,
        task: &Task,
        question: &ReasoningQuestion,
    ) -> Result<TaskProposals, StoreError> {
        let tasks = store.tasks_for_project(&task.project_path, EARLIER_TASKS).await?;
        let scope = MemoryScope {
            project_path: task.project_path.clone(),
            project_remote: task.project_remote.clone(),
        };
        let filter = ItemFilter {
            scope: Some(&scope),
            only_proposed: false,
            limit: KNOWN_ITEMS,
        };
        let items = store.items(&filter).await?;
        let remembered = Remembered {
            tasks: &tasks,
            items: &items,
        };
        Ok(task_proposals(
            task,
            question,
            remembered,
            grov_rules::proposals,
            SystemClock.now(),
        ))
    }

    /// Judges which task the newest turn belongs to and whether it is done; `None` if nothing is to be saved.
    async fn judge_turn(&self, loaded: &Loaded, judge: &dyn Judge) -> Option<PendingTask> {
        let (session, material, tasks) = (&loaded.session, &loaded.material, loaded.tasks());
        let client = &session.client_session_id;
        let last = last(self.work.session_ref.transcript.as_deref());
        let answer = match self.work.answer.as_str() {
            "" => last.answer,
            answer => answer.to_owned(),
        };
        // The answer to Grov's question is about the record, and says nothing of the turn.
        if let Some(summary) = self.agent_summary(&answer) {
            let (id, ending) = match loaded.current() {
                Some(before) if before.status == TaskStatus::Abandoned => {
                    (before.session_id.clone()?, Ending::Abandoned)
                }
                Some(before) => (before.session_id.clone()?, Ending::Complete),
                // Only finished work is asked about. Its record may not be saved yet.
                None if material.has_changed() => (client.hook_task(loaded.saved.len()), Ending::Complete),
                None => return None,
            };
            let mut state = task_rows::task(session, &loaded.contract, id, self.user(&loaded.place));
            state.original_goal = loaded.goal();
            return Some(PendingTask {
                state,
                ending,
                answer,
                summary: Some(summary),
            });
        }
        let is_end = self.work.event == event::SESSION_END;
        let saved_at = loaded.current().map(|task| task.created_at);
        // The answer to a question is no work.
        if loaded.current().is_none()
            && !material.has_changed()
            && last.prompt.as_deref().is_some_and(only_asks)
        {
            return None;
        }
        let first = material.first_unsaved(session.prompts, saved_at);
        // An interrupted turn finishes no task. The end of the session may arrive before the end of its last turn.
        let analysis = if self.work.event == event::STOP || is_end && !answer.is_empty() {
            let turn = material.turn(last.prompt, first);
            let question = Redactor::shared().clean(tasks.question(&turn, &answer, None, None));
            let task = client.first_task();
            Some(judge.analyze_task_context(Some(&task), &question).await.answer)
        } else {
            None
        };
        let plan = tasks.plan(analysis.as_ref());
        let (id, status) = match &plan.target {
            Target::Existing(id) => (id.clone(), tasks.task(id)?.status),
            Target::New { .. } => {
                let id = client.hook_task(loaded.saved.len());
                (id, SessionStatus::Active)
            }
        };
        let work = material.work(session.prompts, saved_at, is_end, &answer);
        let ending = tasks.outcome(&plan, status, work).saves?;
        let user = self.user(&loaded.place);
        let mut state = task_rows::task(session, &loaded.contract, id, user);
        state.original_goal = loaded.goal();
        let now = SystemClock.now();
        Some(PendingTask {
            state: with_turn(state, analysis.as_ref(), now, now),
            ending,
            answer,
            summary: None,
        })
    }

    /// The agent's answer to Grov's question, if `answer` is one.
    fn agent_summary(&self, answer: &str) -> Option<AgentSummary> {
        self.settings
            .memory()
            .ask_agent
            .then(|| agent_summary(answer))
            .flatten()
    }

    /// Loads the session's saved tasks, newest first.
    async fn saved_tasks(&self, store: &dyn StoreConnection, project: &str) -> Result<Vec<Task>, StoreError> {
        let id = self.work.session_ref.id();
        let tasks = store.tasks_of_session(&id).await?;
        let own = |task: &Task| {
            let session = task.session_id.as_ref();
            let is_hooks = session.is_some_and(|own| own.as_str().starts_with(id.hook_task(0).as_str()));
            task.project_path == project && is_hooks
        };
        Ok(tasks.into_iter().filter(own).collect())
    }

    /// The user's name, as far as the settings allow.
    fn user(&self, place: &ProjectLocation) -> Option<String> {
        let home = self.environment.get("HOME").map(PathBuf::from);
        let user = place.user(home.as_deref());
        match self.settings.user() {
            UserMode::Plain if user.is_unknown() => None,
            UserMode::Plain => Some(user.to_string()),
            UserMode::Hash => hash_user(&user),
            UserMode::Off => None,
        }
    }

    /// Saves new reasoning about files.
    async fn save_reasoning(
        &self,
        store: &dyn StoreConnection,
        loaded: &Loaded,
        task: &Task,
    ) -> Result<(), StoreError> {
        let Some(path) = self.work.session_ref.transcript.as_deref() else {
            return Ok(());
        };
        let since = loaded.current().map(|task| task.created_at);
        // Deleted steps have no reasoning; the reasoning of off-goal steps is not saved.
        let is_relevant = |step: &&HookStep| {
            let is_on_goal = step.score.is_none_or(|score| score >= OFF_GOAL_BELOW);
            step.action.reasoning.is_some() && is_on_goal && since.is_none_or(|since| step.timestamp >= since)
        };
        let calls: HashSet<&str> = loaded
            .steps
            .iter()
            .filter(is_relevant)
            .filter_map(|step| step.tool_use_id.as_deref())
            .collect();
        if calls.is_empty() {
            return Ok(());
        }
        let Some(bytes) = end_of(path) else { return Ok(()) };
        let mut edits = edits(&bytes);
        edits.retain(|edit| {
            let has_step = edit
                .tool_use_id
                .as_deref()
                .is_some_and(|call| calls.contains(call));
            has_step && !loaded.ignore.ignores(&edit.file)
        });
        let id = self.work.session_ref.id();
        let root = loaded.root.to_string_lossy();
        for entry in file_reasoning(&id, &root, task, &edits) {
            store
                .save_file_reasoning(&Redactor::shared().clean(entry))
                .await?;
        }
        Ok(())
    }
}

fn end_of(path: &Path) -> Option<Vec<u8>> {
    let length = length(path).ok().flatten()?;
    let from = length.saturating_sub(MAX_TRANSCRIPT_BYTES);
    read_range(path, from, MAX_TRANSCRIPT_BYTES).ok()
}

#[cfg(test)]
mod tests;
