//! The judge port: questions about the agent's work, and their typed answers.
//!
//! A judge always answers. [`JudgedBy`] says whether a model or rules gave the answer; callers need no code of their
//! own for a model that is slow, wrong or missing.

use crate::macros::named;
use crate::{Action, ActionType, CommandLine, Decision, EffectKind, SessionId, TaskType};
use async_trait::async_trait;
use grov_redact::Redacted;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Who gave an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgedBy {
    /// A model.
    Model,
    /// Deterministic rules: no model was configured, affordable or able to answer.
    Rules,
}

named!(JudgedBy { Model => "model", Rules => "rules" });

/// An answer and who gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged<T> {
    /// The answer.
    pub answer: T,
    /// Who gave it.
    pub by: JudgedBy,
}

/// The data of an action that a judgement needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionSketch {
    /// Kind of action.
    pub action_type: ActionType,
    /// Files touched, relative to the project where they lie in it.
    pub files: Vec<String>,
    /// Command line, pattern, query, URL or delegated prompt.
    pub command: Option<String>,
    /// What the command line shows of its effects.
    pub effects: Vec<EffectKind>,
    /// The assistant's text nearest before the action.
    pub reasoning: Option<String>,
    /// Whether the tool reported an error; `None` while its result is unknown.
    pub failed: Option<bool>,
    /// The end of the tool's output, bounded to 400 characters, where it was seen.
    pub output: Option<String>,
    /// The beginning of what the action writes, or of the text that belongs to it, bounded to 4,000 characters, where it
    /// was seen. Rules look at it; of models, a judge of drift alone is shown the first of it.
    pub content: Option<String>,
    /// What the command line runs, where the sketch was made from the action itself. It is not stored: of a stored action the
    /// command is read again.
    #[serde(skip)]
    pub line: Option<Arc<CommandLine>>,
}

impl ActionSketch {
    /// Creates the sketch of an action, without explanation, content and output.
    pub fn of(action: &Action) -> Self {
        Self {
            files: action.files.clone(),
            command: action.command.clone(),
            effects: action.effects.iter().map(|effect| effect.kind).collect(),
            line: action.line.clone(),
            ..Self::empty(action.action_type)
        }
    }

    /// Creates a sketch with the type alone.
    pub fn empty(action_type: ActionType) -> Self {
        Self {
            action_type,
            files: Vec::new(),
            command: None,
            effects: Vec::new(),
            reasoning: None,
            failed: None,
            output: None,
            content: None,
            line: None,
        }
    }
}

/// A task of the client session as the judge sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskSketch {
    /// The task.
    pub id: SessionId,
    /// What it is about.
    pub goal: String,
    /// Place among the tasks.
    pub task_type: TaskType,
    /// The task it was started from.
    pub parent: Option<SessionId>,
    /// Whether it is done and saved already.
    pub completed: bool,
}

/// What does the user want?
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntentQuestion {
    /// What the user typed, oldest first; the newest instruction counts most.
    pub prompts: Vec<String>,
    /// The files that the agent read or searched first, relative to the project.
    pub first_files: Vec<String>,
}

/// What the user wants.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
    /// The goal, one sentence, at most 200 characters.
    pub goal: String,
    /// Paths and identifiers that the work is expected to touch.
    pub scope: Vec<String>,
    /// What the user forbade or demanded of the work.
    pub constraints: Vec<String>,
    /// Words for search.
    pub keywords: Vec<String>,
}

/// Which task does this turn belong to, and is it done?
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskContextQuestion {
    /// The task in work; `None` before the first and after a completed one.
    pub current: Option<TaskSketch>,
    /// Other tasks of the client session: open ones, and the one completed last.
    pub others: Vec<TaskSketch>,
    /// Prompts of this turn, oldest first.
    pub prompts: Vec<String>,
    /// Actions of this turn, in order.
    pub actions: Vec<ActionSketch>,
    /// The assistant's last text of the turn.
    pub answer: String,
    /// The response's `stop_reason`.
    pub stop_reason: Option<String>,
}

/// What a turn means for the tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskAction {
    /// Same task, follow-up.
    Continue,
    /// Different work.
    NewTask,
    /// Work that the current task needs first.
    Subtask,
    /// Work beside the current task.
    ParallelTask,
    /// The task is finished.
    TaskComplete,
    /// The subtask is finished; its parent goes on.
    SubtaskComplete,
}

named!(TaskAction {
    Continue => "continue", NewTask => "new_task", Subtask => "subtask", ParallelTask => "parallel_task",
    TaskComplete => "task_complete", SubtaskComplete => "subtask_complete",
});

impl TaskAction {
    /// Whether the turn starts a task.
    pub fn starts(self) -> bool {
        matches!(self, Self::NewTask | Self::Subtask | Self::ParallelTask)
    }

    /// Whether the turn finishes the task it belongs to.
    pub fn completes(self) -> bool {
        matches!(self, Self::TaskComplete | Self::SubtaskComplete)
    }
}

/// The verdict on a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskAnalysis {
    /// What the turn means.
    pub action: TaskAction,
    /// The known task that the turn belongs to, where it is not the current one. Never set when a task starts.
    pub task_id: Option<SessionId>,
    /// The goal of the task that the turn belongs to, at most 200 characters.
    pub goal: String,
    /// The work was begun *and* finished in this turn. Only with an action that starts a task.
    pub finished: bool,
    /// Constraints that the prompts of this turn added.
    pub constraints: Vec<String>,
    /// Why, one sentence.
    pub reasoning: String,
}

/// What should the team remember of this task?
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReasoningQuestion {
    /// The goal.
    pub goal: String,
    /// What the user typed, oldest first.
    pub prompts: Vec<String>,
    /// Constraints known from the prompts.
    pub constraints: Vec<String>,
    /// The task's actions, in order, those judged off goal left out.
    pub actions: Vec<ActionSketch>,
    /// The assistant's last text; empty where it is not known any more.
    pub answer: String,
}

/// What the team should remember.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reasoning {
    /// What was done and found, in order; each names its file, function or command.
    pub reasoning_trace: Vec<String>,
    /// Decisions with reasons.
    pub decisions: Vec<Decision>,
    /// Limits that were found or set.
    pub constraints: Vec<String>,
    /// Labels, lower case.
    pub tags: Vec<String>,
}

impl Reasoning {
    /// Whether anything was decided for a reason.
    pub fn has_decision(&self) -> bool {
        self.decisions
            .iter()
            .any(|decision| !decision.choice.trim().is_empty() && !decision.reason.trim().is_empty())
    }
}

/// How far has the work come?
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SummaryQuestion {
    /// The goal.
    pub goal: String,
    /// Constraints.
    pub constraints: Vec<String>,
    /// The newest prompts, oldest first.
    pub prompts: Vec<String>,
    /// The actions, in order, those judged off goal left out.
    pub actions: Vec<ActionSketch>,
    /// The assistant's last text.
    pub answer: String,
}

/// A summary of a session, so that the work can continue without its history.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionDigest {
    /// What was achieved.
    pub progress: Vec<String>,
    /// Decisions with reasons.
    pub decisions: Vec<Decision>,
    /// Files changed.
    pub files_modified: Vec<String>,
    /// The current state of the work.
    pub current_state: String,
    /// What to do next.
    pub next_action: String,
}

/// Are these actions on the goal?
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DriftQuestion {
    /// The goal.
    pub goal: String,
    /// What the user typed last.
    pub newest_instruction: String,
    /// Constraints.
    pub constraints: Vec<String>,
    /// Paths and identifiers expected.
    pub scope: Vec<String>,
    /// Earlier actions, for the thread of the work.
    pub earlier: Vec<ActionSketch>,
    /// The actions to be judged.
    pub actions: Vec<ActionSketch>,
}

/// The kind of a deviation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DriftType {
    /// On goal.
    None,
    /// Slightly off.
    Minor,
    /// Off.
    Major,
    /// Far off, or harmful.
    Critical,
}

named!(DriftType { None => "none", Minor => "minor", Major => "major", Critical => "critical" });

impl DriftType {
    /// The type that goes with a score of 1 to 10: 8 and more is none, 5 to 7 minor, 3 and 4 major, less critical.
    pub fn of_score(score: u8) -> Self {
        match score {
            8.. => Self::None,
            5..=7 => Self::Minor,
            3 | 4 => Self::Major,
            _ => Self::Critical,
        }
    }
}

/// One step of a recovery plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecoveryStep {
    /// The file to turn to, if the step has one.
    pub file: Option<String>,
    /// What to do.
    pub action: String,
}

/// How well actions serve the goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriftVerdict {
    /// 1 (far off) to 10 (on goal).
    pub score: u8,
    /// Kind of deviation.
    pub drift_type: DriftType,
    /// What deviates, one sentence.
    pub diagnostic: String,
    /// The recovery plan; empty when on goal.
    pub recovery_plan: Vec<RecoveryStep>,
}

/// Corrections failed: what must the agent do now?
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForcedRecoveryQuestion {
    /// The goal.
    pub goal: String,
    /// What the user typed last.
    pub newest_instruction: String,
    /// Constraints.
    pub constraints: Vec<String>,
    /// The actions that went off goal, in order.
    pub actions: Vec<ActionSketch>,
    /// What was found wrong, oldest first.
    pub diagnostics: Vec<String>,
}

/// The forced action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForcedRecovery {
    /// The text for the agent.
    pub recovery_prompt: String,
    /// The action that must come first.
    pub mandatory_action: RecoveryStep,
}

/// Answers questions about the agent's work. Inputs of any size are bounded by the judge.
#[async_trait]
pub trait Judge: Send + Sync {
    /// What the user wants. `session` is whom the question is about, for the spending ledger.
    async fn extract_intent(
        &self,
        session: Option<&SessionId>,
        question: &Redacted<IntentQuestion>,
    ) -> Judged<Intent>;

    /// Which task a turn belongs to, and whether it is done.
    async fn analyze_task_context(
        &self,
        session: Option<&SessionId>,
        question: &Redacted<TaskContextQuestion>,
    ) -> Judged<TaskAnalysis>;

    /// What the team should remember of a task.
    async fn extract_reasoning(
        &self,
        session: Option<&SessionId>,
        question: &Redacted<ReasoningQuestion>,
    ) -> Judged<Reasoning>;

    /// A model's verdict on how well actions serve the goal. `None` without a model: the rules have scored each action already.
    async fn check_drift(
        &self,
        session: Option<&SessionId>,
        question: &Redacted<DriftQuestion>,
    ) -> Option<DriftVerdict>;

    /// The one action demanded after corrections failed. `None` without a model.
    async fn generate_forced_recovery(
        &self,
        session: Option<&SessionId>,
        question: &Redacted<ForcedRecoveryQuestion>,
    ) -> Option<ForcedRecovery>;
}

/// A judge that settles its spending before its process ends.
#[async_trait]
pub trait SettlingJudge: Judge {
    /// Stops asking the model and waits until running calls are in the ledger, at most about a minute. Later questions
    /// are answered by rules.
    async fn close(&self);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_is_found_by_its_name() {
        for action in TaskAction::ALL {
            assert_eq!(TaskAction::from_name(action.as_str()), Some(action));
        }
        assert_eq!(TaskAction::from_name("finish"), None);
    }
}
