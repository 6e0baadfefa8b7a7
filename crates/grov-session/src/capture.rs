//! What of a task goes to team memory: the questions that it raises for a judge, and the record.

use crate::review::{Evidence, Review};
use crate::tasks::{Ending, TaskPolicy, Turn, Work, has_turned};
use grov_domain::{
    ActionSketch, OFF_GOAL_BELOW, Reasoning, ReasoningQuestion, SessionState, StepRow, SummaryQuestion, Task,
    TaskId, both_ends, prompt_of_goal, without_own_text,
};
use std::path::Path;
use time::OffsetDateTime;

/// Files kept with a task.
const MAX_FILES: usize = 200;

/// Bytes kept of each end of a long prompt.
const MAX_PROMPT_END: usize = 16 * 1024;

/// An action that was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerformedAction {
    /// The action, its files as the client named them.
    pub action: ActionSketch,
    /// It was judged off goal.
    pub is_off_goal: bool,
    /// The number of the prompt it was done for, counted from 1; 0 where prompts are not counted.
    pub prompt: u64,
    /// When.
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

/// All that is known of a task when something of it is to be kept.
#[derive(Clone, Debug)]
pub struct TaskMaterial {
    prompts: Vec<String>,
    /// In order, those off goal left out, files relative to the working tree.
    done: Vec<PerformedAction>,
}

/// What is recorded with a task beside its work.
#[derive(Clone, Debug)]
pub struct SaveContext<'a> {
    /// The record's id.
    pub id: TaskId,
    /// How the task ends.
    pub ending: Ending,
    /// The project's remote.
    pub remote: Option<String>,
    /// The commit that is checked out at the end.
    pub head: Option<String>,
    /// The record that this one replaces.
    pub before: Option<&'a Task>,
    /// Now.
    pub at: OffsetDateTime,
}

impl TaskMaterial {
    /// From what is stored. `prompts` are clean already, see [`prompts`]. `root` is the top of the working tree; what was
    /// done to files that are `ignored` is left out.
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
        }
    }

    /// Leaves out what was done for the prompts up to this one: earlier tasks cover it.
    #[must_use]
    pub fn after_prompt(mut self, covered: u64) -> Self {
        self.done.retain(|done| done.prompt > covered);
        self
    }

    fn actions(&self) -> impl Iterator<Item = &ActionSketch> {
        self.done.iter().map(|done| &done.action)
    }

    /// Whether the newest prompt turned to something else than a task of that goal.
    pub fn has_turned(&self, from: &str, goal: &str) -> bool {
        has_turned(from, goal, &self.prompts)
    }

    /// The turn of the newest prompt: what was done for the prompts from `first` on. `prompt` is what the user typed last; the
    /// newest that is kept where it is not known.
    pub fn turn(&self, prompt: Option<String>, first: u64) -> Turn {
        let mut turn = Turn::default();
        turn.prompts
            .extend(prompt.or_else(|| self.prompts.last().cloned()));
        for done in self.done.iter().filter(|done| done.prompt >= first) {
            turn.act(None, done.action.clone());
        }
        turn
    }

    /// Whether there is nothing to remember. Of what was forgotten actions without a word are left.
    pub fn is_empty(&self) -> bool {
        let is_wordless = |action: &ActionSketch| {
            action.files.is_empty() && action.command.is_none() && action.reasoning.is_none()
        };
        self.prompts.is_empty() && self.actions().all(is_wordless)
    }

    /// The work at the end of a turn: of the prompts from `first` on, or after `saved_at`, when the task was saved last.
    /// `is_last`: the session ends with the turn. Then what only looked at things may have decided something.
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
        }
    }

    fn has_changed(&self) -> bool {
        self.actions().any(ActionSketch::has_changed)
    }

    /// Whether the task is a memory: it changed something, or decided something for a reason. A question that did neither is
    /// none. One that was saved `before` is kept up to date.
    pub fn is_memory(&self, reasoning: &Reasoning, before: Option<&Task>) -> bool {
        before.is_some() || self.has_changed() || reasoning.has_decision()
    }

    /// The prompts from the one on that the goal was taken from: what came before it was about something else.
    fn prompts_of(&self, goal: &str) -> &[String] {
        let from = prompt_of_goal(goal, &self.prompts);
        self.prompts.get(from..).unwrap_or_default()
    }

    /// Asks what the team should remember.
    pub fn reasoning_question(&self, task: &SessionState, answer: &str) -> ReasoningQuestion {
        let goal = task.original_goal.clone().unwrap_or_default();
        ReasoningQuestion {
            prompts: self.prompts_of(&goal).to_vec(),
            goal,
            constraints: task.constraints.clone(),
            actions: self.actions().cloned().collect(),
            answer: answer.to_owned(),
        }
    }

    /// Asks how far the work has come.
    pub fn summary_question(&self, goal: &str, constraints: &[String], answer: &str) -> SummaryQuestion {
        SummaryQuestion {
            goal: goal.to_owned(),
            constraints: constraints.to_vec(),
            prompts: self.prompts.clone(),
            actions: self.actions().cloned().collect(),
            answer: answer.to_owned(),
        }
    }

    /// The record for team memory. Its files are not looked at.
    pub fn task(&self, task: &SessionState, reasoning: Reasoning, saving: SaveContext<'_>) -> Task {
        let mut constraints = task.constraints.clone();
        for constraint in reasoning.constraints {
            if !constraints.contains(&constraint) {
                constraints.push(constraint);
            }
        }
        let (status, trigger_reason) = saving.ending.saved_as();
        let goal = task.original_goal.clone().filter(|goal| !goal.is_empty());
        let asked_before = saving.before.filter(|before| before.goal == goal);
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
                    prompts.first().cloned()
                })
                .or_else(|| goal.clone())
                .unwrap_or_default(),
            goal,
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
            superseded_by: saving.before.and_then(|before| before.superseded_by.clone()),
            created_at: saving.at,
        }
    }

    /// The commit that holds the result: `head`, if it moved. Where it is not known what was checked out at the start, an
    /// action that committed shows that.
    fn commit_since(&self, start: Option<&str>, head: Option<String>) -> Option<String> {
        head.filter(|head| match start {
            Some(start) => head != start,
            None => self.actions().any(ActionSketch::has_committed),
        })
    }

    /// The files that were changed; of work that changed none, those it was about.
    fn files_touched(&self) -> Vec<String> {
        let changed = self.files_of(ActionSketch::has_changed);
        if changed.is_empty() {
            self.files_of(ActionSketch::took_effect)
        } else {
            changed
        }
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

/// The record with what drift leaves with it.
#[must_use]
pub fn reviewed(task: Task, evidence: &Evidence, policy: TaskPolicy) -> Task {
    let review = Review::of(evidence);
    let mut task = review.annotate(task);
    if policy.sums_up_drift && (review.had_drift || review.needs_review) {
        task.reasoning_trace.extend(evidence.summary());
    }
    task
}

/// Prompts as they are kept: without text of ours, cut to both ends, and without those that are empty then.
pub fn prompts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let clean = texts
        .into_iter()
        .map(|text| ends_of_prompt(without_own_text(text).trim()));
    clean.filter(|text| !text.is_empty()).collect()
}

/// The first and the last 16 KiB of a longer prompt: of a pasted log the beginning and the end say what is wanted.
pub fn ends_of_prompt(text: &str) -> String {
    both_ends(text, MAX_PROMPT_END, "\n[…]\n").into_owned()
}

/// `file` as seen from `root`, if it lies in it.
pub fn relative(file: &str, root: Option<&Path>) -> String {
    let inside = root.and_then(|root| Path::new(file).strip_prefix(root).ok());
    inside
        .and_then(Path::to_str)
        .filter(|path| !path.is_empty())
        .unwrap_or(file)
        .to_owned()
}

/// An action with its files as seen from `root`.
#[must_use]
pub fn relative_files(mut action: ActionSketch, root: Option<&Path>) -> ActionSketch {
    for file in &mut action.files {
        *file = relative(file, root);
    }
    action
}

/// The last of these prompts that was worked on at `saved_at` or before: an earlier task was saved then and covers it.
pub fn covered(done: &[PerformedAction], saved_at: OffsetDateTime) -> u64 {
    let before = done.iter().filter(|done| done.at <= saved_at);
    before.map(|done| done.prompt).max().unwrap_or(0)
}

#[cfg(test)]
mod tests;
