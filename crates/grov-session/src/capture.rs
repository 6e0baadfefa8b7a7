//! Selects what is saved of a task to team memory: builds the questions to a judge, the record, and what it proposes to remember.

mod proposals;

pub use proposals::{Remembered, task_proposals};

use crate::review::{Evidence, Review};
use crate::tasks::{Ending, TaskPolicy, Turn, Work, changed_subject};
use grov_domain::{
    ActionSketch, ActionType, MemoryEdits, OFF_GOAL_BELOW, Reasoning, ReasoningQuestion, SessionState,
    Statement, StepRow, SummaryQuestion, Task, TaskId, both_ends, prompt_of_goal, without_own_text,
};
use std::path::Path;
use time::OffsetDateTime;

/// Maximum number of files per task.
const MAX_FILES: usize = 200;

/// Bytes kept of each end of a long title.
const MAX_TITLE: usize = 100;

/// Bytes kept of each end of a long prompt.
const MAX_PROMPT_END: usize = 16 * 1024;

/// An action of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerformedAction {
    /// The action.
    pub action: ActionSketch,
    /// Whether it was judged off goal.
    pub is_off_goal: bool,
    /// The number of its prompt, counted from 1; 0 if prompts are not counted.
    pub prompt: u64,
    /// The time of the action.
    pub at: OffsetDateTime,
}

impl From<&StepRow> for PerformedAction {
    fn from(step: &StepRow) -> Self {
        let is_low = step.drift_score.is_some_and(|score| score < OFF_GOAL_BELOW);
        Self {
            action: step.sketch(),
            is_off_goal: is_low || !step.is_validated,
            prompt: 0,
            at: step.timestamp,
        }
    }
}

/// The prompts and actions of a task that may be saved.
#[derive(Clone, Debug)]
pub struct TaskMaterial {
    prompts: Vec<String>,
    /// The on-goal actions in order, with files relative to the working tree.
    done: Vec<PerformedAction>,
    /// Other texts that may state decisions.
    statements: Vec<Statement>,
}

/// Data that is saved with the work of a task.
#[derive(Clone, Debug)]
pub struct SaveContext<'a> {
    /// The id of the record.
    pub id: TaskId,
    /// How the task ends.
    pub ending: Ending,
    /// The URL of the project's remote.
    pub remote: Option<String>,
    /// The checked-out commit at the end of the task.
    pub head: Option<String>,
    /// The record that is replaced.
    pub before: Option<&'a Task>,
    /// The current time.
    pub at: OffsetDateTime,
}

impl TaskMaterial {
    /// Collects prompts, which come from [`prompts`](prompts()), and actions. `root` is the top of the working tree.
    /// Off-goal actions and actions on `ignored` files are left out.
    pub fn new(
        prompts: Vec<String>,
        done: impl IntoIterator<Item = PerformedAction>,
        root: Option<&Path>,
        ignored: impl Fn(&str) -> bool,
    ) -> Self {
        let kept = done
            .into_iter()
            .filter(|done| !done.is_off_goal && !done.action.files.iter().any(|file| ignored(file)));
        let done = kept.map(|mut done| {
            done.action = relative_files(done.action, root);
            let reasoning = done.action.reasoning.take();
            done.action.reasoning = reasoning.map(|text| without_own_text(&text).into_owned());
            done
        });
        Self {
            prompts,
            done: done.collect(),
            statements: Vec::new(),
        }
    }

    /// Adds texts that may state decisions, oldest first, without Grov's own text.
    #[must_use]
    pub fn with_statements(mut self, statements: impl IntoIterator<Item = Statement>) -> Self {
        let own = |statement: Statement| Statement {
            text: without_own_text(&statement.text).into_owned(),
            ..statement
        };
        self.statements.extend(statements.into_iter().map(own));
        self
    }

    /// Removes the actions for prompts up to number `covered`, which belong to earlier tasks.
    #[must_use]
    pub fn after_prompt(mut self, covered: u64) -> Self {
        self.done.retain(|done| done.prompt > covered);
        self
    }

    fn actions(&self) -> impl Iterator<Item = &ActionSketch> {
        self.done.iter().map(|done| &done.action)
    }

    /// Whether the newest prompt changed the subject from a task with the goal `from`, see
    /// [`tasks::changed_subject`](crate::tasks::changed_subject).
    pub fn changed_subject(&self, from: &str, goal: &str) -> bool {
        changed_subject(from, goal, &self.prompts)
    }

    /// Returns the newest prompt with content of its own.
    pub fn newest_prompt(&self) -> Option<&str> {
        self.prompts.last().map(String::as_str)
    }

    /// Returns the current turn: its prompt, and the actions for prompts from number `first` on. If `prompt` is `None`, the
    /// newest stored prompt is used.
    pub fn turn(&self, prompt: Option<String>, first: u64) -> Turn {
        let mut turn = Turn::default();
        turn.prompts
            .extend(prompt.or_else(|| self.prompts.last().cloned()));
        for done in self.done.iter().filter(|done| done.prompt >= first) {
            turn.push_action(None, done.action.clone());
        }
        turn
    }

    /// Whether there is nothing to save: no prompts, and only actions whose text was deleted.
    pub fn is_empty(&self) -> bool {
        let is_wordless = |action: &ActionSketch| {
            action.files.is_empty() && action.command.is_none() && action.reasoning.is_none()
        };
        self.prompts.is_empty() && self.actions().all(is_wordless)
    }

    /// Returns the work of a turn, which consists of the actions for prompts from number `first` on and those after
    /// `saved_at`, the time of the last save. If the session ends with the turn (`is_last`), reads alone are worth saving,
    /// because they may have led to a decision.
    pub fn work(&self, first: u64, saved_at: Option<OffsetDateTime>, is_last: bool, answer: &str) -> Work {
        let is_new =
            |done: &&PerformedAction| done.prompt >= first || saved_at.is_some_and(|saved| done.at > saved);
        let mut new = self.done.iter().filter(is_new);
        Work {
            is_changed: new.any(|done| done.action.has_changed()),
            is_worth_saving: if is_last {
                !self.done.is_empty() || !answer.is_empty()
            } else {
                self.has_changed()
            },
            looks_finished: false,
        }
    }

    /// Returns the number of the first prompt with work that no record contains; at most `newest`, the number of the newest
    /// prompt. `saved_at` is the time of the last save. Work of an interrupted turn has an earlier number.
    pub fn first_unsaved(&self, newest: u64, saved_at: Option<OffsetDateTime>) -> u64 {
        let is_new = |done: &&PerformedAction| saved_at.is_none_or(|saved| done.at > saved);
        let first = self.done.iter().filter(is_new).map(|done| done.prompt).min();
        first.map_or(newest, |first| first.min(newest))
    }

    /// The newest prompt whose work was forgotten: the text of its changes and commands was deleted.
    pub fn newest_forgotten(&self) -> u64 {
        let is_wiped = |action: &ActionSketch| {
            let has_text = action.action_type.modifies_files() || action.action_type == ActionType::Bash;
            has_text && action.files.is_empty() && action.command.is_none()
        };
        let wiped = self.done.iter().filter(|done| is_wiped(&done.action));
        wiped.map(|done| done.prompt).max().unwrap_or(0)
    }

    /// Whether the work for a prompt changed something.
    pub fn has_changed_for(&self, prompt: u64) -> bool {
        self.done
            .iter()
            .any(|done| done.prompt == prompt && done.action.has_changed())
    }

    /// Whether the task changed something, and did not only take changes back.
    pub fn has_changed(&self) -> bool {
        self.actions()
            .any(|action| action.has_changed() && !action.only_restores())
    }

    /// Returns the files that were changed after a time.
    pub fn changed_since(&self, time: OffsetDateTime) -> Vec<String> {
        let new = self
            .done
            .iter()
            .filter(|done| done.at > time && done.action.has_changed());
        new.flat_map(|done| done.action.files.iter().cloned()).collect()
    }

    /// Whether the task consists of questions that changed nothing: its prompts end as questions. The answers are no work.
    pub fn only_asks(&self) -> bool {
        !self.prompts.is_empty()
            && self.prompts.iter().all(|prompt| is_question(prompt))
            && !self.has_changed()
    }

    /// Whether what was tried failed, and nothing came of it.
    fn is_fruitless(&self) -> bool {
        let mut tried = self.actions().filter(|action| action.acts()).peekable();
        tried.peek().is_some() && tried.all(|action| action.failed == Some(true))
    }

    /// Whether to save the task: it changed something, made a decision with a reason, or was saved `before`. Decisions about work of
    /// which nothing came are none.
    pub fn is_memory(&self, reasoning: &Reasoning, before: Option<&Task>) -> bool {
        let decided = || reasoning.has_decision() && !self.is_fruitless();
        before.is_some() || self.has_changed() || decided()
    }

    /// Returns the prompts from the one that states the goal on. Earlier ones are about something else.
    fn prompts_of(&self, goal: &str) -> &[String] {
        let from = prompt_of_goal(goal, &self.prompts);
        self.prompts.get(from..).unwrap_or_default()
    }

    /// Builds the question to a judge what to save. `answer` is the agent's last text.
    pub fn reasoning_question(&self, task: &SessionState, answer: &str) -> ReasoningQuestion {
        let goal = task.original_goal.clone().unwrap_or_default();
        ReasoningQuestion {
            prompts: self.prompts_of(&goal).to_vec(),
            goal,
            constraints: task.constraints.clone(),
            actions: self.actions().cloned().collect(),
            statements: self.statements.clone(),
            answer: answer.to_owned(),
        }
    }

    /// Builds the question how far the work has come. `answer` is the agent's last text.
    pub fn summary_question(&self, goal: &str, constraints: &[String], answer: &str) -> SummaryQuestion {
        SummaryQuestion {
            goal: goal.to_owned(),
            constraints: constraints.to_vec(),
            prompts: self.prompts.clone(),
            actions: self.actions().cloned().collect(),
            statements: self.statements.clone(),
            answer: answer.to_owned(),
        }
    }

    /// Returns the record for team memory, without file pins.
    pub fn task(&self, task: &SessionState, reasoning: Reasoning, saving: SaveContext<'_>) -> Task {
        let mut constraints = task.constraints.clone();
        for constraint in reasoning.constraints {
            if !constraints.contains(&constraint) {
                constraints.push(constraint);
            }
        }
        let (status, trigger_reason) = saving.ending.saved_as();
        let goal = task.original_goal.clone().filter(|goal| !goal.is_empty());
        let asked_before = saving
            .before
            .filter(|before| before.captured_goal() == goal.as_deref());
        Task {
            id: saving.id,
            project_path: task.project_path.clone(),
            project_remote: saving.remote,
            user: task.user_id.clone(),
            client_session_id: Some(task.client_session_id.clone()),
            session_id: Some(task.session_id.clone()),
            original_query: asked_before
                .map(|before| before.original_query.clone())
                .filter(|query| !query.is_empty())
                .or_else(|| {
                    let prompts = self.prompts_of(goal.as_deref().unwrap_or_default());
                    // "Why is it slow?" and then "fix it": the request starts the work.
                    let request = prompts.iter().find(|prompt| !is_question(prompt));
                    request.or(prompts.first()).cloned()
                })
                .or_else(|| goal.clone())
                .unwrap_or_default(),
            // Prompts such as "go on" state no goal: the first action that did not fail names the work.
            goal: goal.or_else(|| {
                reasoning
                    .reasoning_trace
                    .iter()
                    .find(|line| !tells_failure(line))
                    .cloned()
            }),
            reasoning_trace: reasoning.reasoning_trace,
            files_touched: self.files_touched(),
            decisions: reasoning.decisions,
            constraints,
            status,
            trigger_reason: Some(trigger_reason),
            linked_commit: self.commit_since(task.head_at_start.as_deref(), saving.head),
            parent_session_id: task.parent_session_id.clone(),
            parent_task_id: saving.before.and_then(|before| before.parent_task_id.clone()),
            tags: reasoning.tags,
            file_pins: Vec::new(),
            item: None,
            superseded_by: saving.before.and_then(|before| before.superseded_by.clone()),
            screened: None,
            model_screening: None,
            edits: MemoryEdits::default(),
            created_at: saving.at,
        }
    }

    /// Returns the commit with the result: `head`, if it differs from the `start` of the task. If the start is unknown, an
    /// action must have created a commit.
    fn commit_since(&self, start: Option<&str>, head: Option<String>) -> Option<String> {
        head.filter(|head| match start {
            Some(start) => head != start,
            None => self.actions().any(ActionSketch::has_committed),
        })
    }

    /// Returns the files whose content was changed or, if there are none, those that were staged or, if there are none, those that
    /// were read. A folder that was staged with files in it says nothing more.
    fn files_touched(&self) -> Vec<String> {
        let has_written = |action: &ActionSketch| action.changes_build_inputs() && action.took_effect();
        let mut files = self.files_of(has_written);
        if files.is_empty() {
            files = self.files_of(ActionSketch::has_changed);
        }
        if files.is_empty() {
            files = self.files_of(ActionSketch::took_effect);
        }
        let all = files.clone();
        let is_in = |file: &String, folder: &str| {
            let rest = file.strip_prefix(folder);
            rest.is_some_and(|rest| rest.starts_with('/'))
        };
        files.retain(|file| !all.iter().any(|other| is_in(other, file)));
        files
    }

    fn files_of(&self, wanted: impl Fn(&ActionSketch) -> bool) -> Vec<String> {
        let mut files: Vec<String> = Vec::new();
        let chosen = self.actions().filter(|action| wanted(action));
        for file in chosen.flat_map(|action| &action.files) {
            if files.len() < MAX_FILES && !files.contains(file) {
                files.push(file.clone());
            }
        }
        files
    }
}

/// Adds the title that the client's model gave a session to what is kept of its first task. It has words that the user did
/// not use.
#[must_use]
pub fn titled(mut reasoning: Reasoning, title: Option<&str>) -> Reasoning {
    if let Some(title) = title {
        let title = both_ends(title, MAX_TITLE, "…");
        let line = format!("Title, as the client's model put it: {title}");
        reasoning.reasoning_trace.insert(0, line);
    }
    reasoning
}

/// Adds the result of a review and, depending on the policy, a drift summary to a record.
#[must_use]
pub fn reviewed(task: Task, evidence: &Evidence, policy: TaskPolicy) -> Task {
    let review = Review::of(evidence);
    let mut task = review.annotate(task);
    if policy.adds_drift_summary && (review.had_drift || review.needs_review) {
        task.reasoning_trace.extend(evidence.summary());
    }
    task
}

/// Returns prompts without Grov's own text, shortened by [`ends_of_prompt`]. Empty ones are left out.
pub fn prompts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let clean = texts
        .into_iter()
        .map(|text| ends_of_prompt(without_own_text(text).trim()));
    clean.filter(|text| !text.is_empty()).collect()
}

/// Shortens a prompt to its first and last 16 KiB. In a pasted log, beginning and end state the request.
pub fn ends_of_prompt(text: &str) -> String {
    both_ends(text, MAX_PROMPT_END, "\n[…]\n").into_owned()
}

/// Whether a line of a trace tells that an action failed.
fn tells_failure(line: &str) -> bool {
    line.starts_with("Failed to ") || line.ends_with(": failed")
}

/// Whether a prompt ends as a question.
fn is_question(prompt: &str) -> bool {
    prompt.trim_end().ends_with(['?', '？'])
}

/// Returns `file` relative to `root` if it is in that folder.
pub(crate) fn relative(file: &str, root: Option<&Path>) -> String {
    let inside = root.and_then(|root| Path::new(file).strip_prefix(root).ok());
    inside
        .and_then(Path::to_str)
        .filter(|path| !path.is_empty())
        .unwrap_or(file)
        .to_owned()
}

/// Makes the files of an action relative to `root`.
#[must_use]
pub(crate) fn relative_files(mut action: ActionSketch, root: Option<&Path>) -> ActionSketch {
    for file in &mut action.files {
        *file = relative(file, root);
    }
    action
}

/// Returns the number of the last prompt with actions up to `saved_at`, which the task saved then covers; 0 without one.
pub fn covered(done: &[PerformedAction], saved_at: OffsetDateTime) -> u64 {
    let before = done.iter().filter(|done| done.at <= saved_at);
    before.map(|done| done.prompt).max().unwrap_or(0)
}

#[cfg(test)]
mod tests;
