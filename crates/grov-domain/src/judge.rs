//! The judge port: questions about the agent's work, and their typed answers.
//!
//! A judge answers every question; [`JudgedBy`] says whether by a model or by rules. Callers need no fallback for a model
//! that is slow, wrong or not configured.

use crate::macros::named;
use crate::{
    Action, ActionType, CommandLine, Decision, EffectKind, Harm, LimitsQuestion, MemoryChoiceQuestion,
    PromptReading, ScreeningQuestion, SessionId, TaskType, TextChange,
};
use async_trait::async_trait;
use grov_redact::Redacted;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The source of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgedBy {
    /// A model.
    Model,
    /// Deterministic rules: no model was configured, affordable or able to answer.
    Rules,
}

named!(JudgedBy { Model => "model", Rules => "rules" });

/// An answer and its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged<T> {
    /// The answer.
    pub answer: T,
    /// The source.
    pub by: JudgedBy,
}

/// The data of an action that rules and judges use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionSketch {
    /// The kind of action.
    pub action_type: ActionType,
    /// The touched files, relative to the project if they are in it.
    pub files: Vec<String>,
    /// Command line, pattern, query, URL or delegated prompt.
    pub command: Option<String>,
    /// The effects that the command line shows.
    pub effects: Vec<EffectKind>,
    /// The assistant's last text before the action.
    pub reasoning: Option<String>,
    /// Whether the tool reported an error; `None` if its result is unknown.
    pub failed: Option<bool>,
    /// The end of the tool's output, at most 400 characters; `None` if unknown.
    pub output: Option<String>,
    /// The beginning of the text that the action writes or passes on, at most 4,000 characters; `None` if unknown. Used by
    /// rules, and in part by the drift question.
    pub content: Option<String>,
    /// The parsed command line, if the sketch was created from an [`Action`]. Not stored; parse `command` again for a stored
    /// action.
    #[serde(skip)]
    pub line: Option<Arc<CommandLine>>,
    /// The text that the tool replaces and writes, if the sketch was created from an [`Action`]. Not stored.
    #[serde(skip)]
    pub change: Option<Arc<TextChange>>,
}

impl ActionSketch {
    /// Creates the sketch of an action, without reasoning, content and result.
    pub fn of(action: &Action) -> Self {
        Self {
            files: action.files.clone(),
            command: action.command.clone(),
            effects: action.effects.iter().map(|effect| effect.kind).collect(),
            line: action.line.clone(),
            change: action.change.clone(),
            ..Self::empty(action.action_type)
        }
    }

    /// Creates a sketch with only a type.
    pub fn empty(action_type: ActionType) -> Self {
        Self {
            action_type,
            ..Self::default()
        }
    }
}

/// The data of a task that a judge receives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskSketch {
    /// The task.
    pub id: SessionId,
    /// The goal.
    pub goal: String,
    /// The relation to other tasks.
    pub task_type: TaskType,
    /// The task it was started from.
    pub parent: Option<SessionId>,
    /// Whether it is finished and saved.
    pub completed: bool,
}

/// The question what the user wants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntentQuestion {
    /// The prompts, oldest first; the newest counts most.
    pub prompts: Vec<String>,
    /// The files that the agent read or searched first, relative to the project.
    pub first_files: Vec<String>,
}

/// The intent of prompts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
    /// The goal, one sentence, at most 200 characters.
    pub goal: String,
    /// Paths and identifiers that the work is expected to touch.
    pub scope: Vec<String>,
    /// Constraints that the user stated.
    pub constraints: Vec<String>,
    /// Search terms.
    pub keywords: Vec<String>,
    /// Whether the newest prompt turns away from the work before it: "Forget that; rather fix the footer."
    #[serde(default)]
    pub turns_away: bool,
}

/// The question which task a turn belongs to, and whether it is finished.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskContextQuestion {
    /// The active task; `None` before the first one and after a finished one.
    pub current: Option<TaskSketch>,
    /// Other tasks of the client session: open ones, and the last finished one.
    pub others: Vec<TaskSketch>,
    /// Prompts of this turn, oldest first.
    pub prompts: Vec<String>,
    /// Actions of this turn, in order.
    pub actions: Vec<ActionSketch>,
    /// The assistant's last text of the turn.
    pub answer: String,
    /// The response's `stop_reason`.
    pub stop_reason: Option<String>,
    /// Whether changes without a check finish the work, if the answer names nothing that is left.
    pub unchecked_finishes: bool,
    /// Whether the active task is in memory as complete, although it goes on.
    pub is_remembered_complete: bool,
}

/// The effect of a turn on the tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskAction {
    /// It continues the task.
    Continue,
    /// It starts a new task.
    NewTask,
    /// It starts work that the active task needs first.
    Subtask,
    /// It starts work in parallel to the active task.
    ParallelTask,
    /// It finishes the task.
    TaskComplete,
    /// It finishes the subtask; the parent task continues.
    SubtaskComplete,
}

named!(TaskAction {
    Continue => "continue", NewTask => "new_task", Subtask => "subtask", ParallelTask => "parallel_task",
    TaskComplete => "task_complete", SubtaskComplete => "subtask_complete",
});

impl TaskAction {
    /// Whether it starts a task.
    pub fn starts(self) -> bool {
        matches!(self, Self::NewTask | Self::Subtask | Self::ParallelTask)
    }

    /// Whether it finishes the task of the turn.
    pub fn completes(self) -> bool {
        matches!(self, Self::TaskComplete | Self::SubtaskComplete)
    }
}

/// The verdict on a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskAnalysis {
    /// The effect of the turn.
    pub action: TaskAction,
    /// The known task of the turn, if it is not the active one. `None` if a task starts.
    pub task_id: Option<SessionId>,
    /// The goal of the task, at most 200 characters.
    pub goal: String,
    /// Whether the new task was also finished in this turn. Only with an action that starts a task.
    pub finished: bool,
    /// Whether the work looks finished, though nothing proves it: something was changed, and the answer names nothing that is
    /// left. The task goes on, and memory says that it is complete.
    pub looks_finished: bool,
    /// New constraints in the prompts of this turn.
    pub constraints: Vec<String>,
    /// The reason, one sentence.
    pub reasoning: String,
}

/// The source of a [`Statement`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementSource {
    /// The assistant's last text of a turn.
    Closing,
    /// The user's answer to a question of the assistant.
    UserAnswer,
    /// A plan that the assistant wrote.
    Plan,
    /// A summary of the conversation that the client had a model write.
    Summary,
}

named!(StatementSource {
    Closing => "closing", UserAnswer => "user_answer", Plan => "plan", Summary => "summary",
});

/// A text that may state decisions of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Where it comes from.
    pub source: StatementSource,
    /// The text.
    pub text: String,
}

/// The question what to save of a task to team memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReasoningQuestion {
    /// The goal.
    pub goal: String,
    /// The prompts, oldest first.
    pub prompts: Vec<String>,
    /// Constraints known from the prompts.
    pub constraints: Vec<String>,
    /// The actions of the task in order, without off-goal ones.
    pub actions: Vec<ActionSketch>,
    /// Other texts of the task that may state decisions, oldest first.
    pub statements: Vec<Statement>,
    /// The assistant's last text; empty if unknown.
    pub answer: String,
}

/// What to save of a task to team memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reasoning {
    /// The steps and results in order, each with its file, function or command.
    pub reasoning_trace: Vec<String>,
    /// Decisions with reasons.
    pub decisions: Vec<Decision>,
    /// Constraints that were stated or found.
    pub constraints: Vec<String>,
    /// Tags, lower case.
    pub tags: Vec<String>,
}

impl Reasoning {
    /// Whether there is a decision with a reason.
    pub fn has_decision(&self) -> bool {
        self.decisions
            .iter()
            .any(|decision| !decision.choice.trim().is_empty() && !decision.reason.trim().is_empty())
    }
}

/// The question how far the work has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SummaryQuestion {
    /// The goal.
    pub goal: String,
    /// Constraints.
    pub constraints: Vec<String>,
    /// The newest prompts, oldest first.
    pub prompts: Vec<String>,
    /// The actions in order, without off-goal ones.
    pub actions: Vec<ActionSketch>,
    /// Closing texts of earlier turns and other texts that may state decisions, oldest first.
    pub statements: Vec<Statement>,
    /// The assistant's last text.
    pub answer: String,
}

/// A summary of a session, so that the work can continue without its history.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionDigest {
    /// The progress so far.
    pub progress: Vec<String>,
    /// Decisions with reasons.
    pub decisions: Vec<Decision>,
    /// The changed files.
    pub files_modified: Vec<String>,
    /// What is left to do, and open questions.
    #[serde(default)]
    pub open_ends: Vec<String>,
    /// The current state of the work.
    pub current_state: String,
    /// The next action.
    pub next_action: String,
}

/// The question whether actions are on goal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DriftQuestion {
    /// The goal.
    pub goal: String,
    /// The newest prompt.
    pub newest_instruction: String,
    /// Constraints.
    pub constraints: Vec<String>,
    /// Paths and identifiers that the work is expected to touch.
    pub scope: Vec<String>,
    /// Related earlier actions, oldest first, as context.
    pub earlier: Vec<ActionSketch>,
    /// The actions to judge.
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
    /// Returns the type for a score of 1 to 10: none from 8, minor from 5, major from 3, critical below.
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
    /// The file, if the step is about one.
    pub file: Option<String>,
    /// What to do.
    pub action: String,
}

/// A verdict on how well actions serve the goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriftVerdict {
    /// 1 (far off) to 10 (on goal).
    pub score: u8,
    /// The kind of deviation.
    pub drift_type: DriftType,
    /// The deviation, one sentence.
    pub diagnostic: String,
    /// The recovery plan; empty if on goal.
    pub recovery_plan: Vec<RecoveryStep>,
}

/// The question which action to force after corrections failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForcedRecoveryQuestion {
    /// The goal.
    pub goal: String,
    /// The newest prompt.
    pub newest_instruction: String,
    /// Constraints.
    pub constraints: Vec<String>,
    /// The off-goal actions, in order.
    pub actions: Vec<ActionSketch>,
    /// The reasons for the corrections, oldest first.
    pub diagnostics: Vec<String>,
}

/// The forced action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForcedRecovery {
    /// The text for the agent.
    pub recovery_prompt: String,
    /// The forced action.
    pub mandatory_action: RecoveryStep,
}

/// Answers questions about the agent's work. The judge shortens long inputs.
///
/// `session` is the task that a question is about, for the spending ledger.
#[async_trait]
pub trait Judge: Send + Sync {
    /// Extracts the intent of prompts.
    async fn extract_intent(
        &self,
        session: Option<&SessionId>,
        question: &Redacted<IntentQuestion>,
    ) -> Judged<Intent>;

    /// Assigns a turn to a task, and decides whether the task is finished.
    async fn analyze_task_context(
        &self,
        session: Option<&SessionId>,
        question: &Redacted<TaskContextQuestion>,
    ) -> Judged<TaskAnalysis>;

    /// Extracts what to save of a task to team memory.
    async fn extract_reasoning(
        &self,
        session: Option<&SessionId>,
        question: &Redacted<ReasoningQuestion>,
    ) -> Judged<Reasoning>;

    /// Reads the limits that the user set, and the dangerous actions that the user asks for. Returns `None` without a model, because the guard has the rules' reading.
    async fn read_limits(
        &self,
        _session: Option<&SessionId>,
        _question: &Redacted<LimitsQuestion>,
    ) -> Option<PromptReading> {
        None
    }

    /// Chooses the memories that help with a prompt: their places in the question, from 0, best first. Returns `None` without
    /// a model, because the search by words has looked for them already.
    async fn choose_memories(
        &self,
        _session: Option<&SessionId>,
        _question: &Redacted<MemoryChoiceQuestion>,
    ) -> Option<Vec<usize>> {
        None
    }

    /// Whether a model would be asked now. For work that is worth nothing without one.
    fn has_model(&self) -> bool {
        false
    }

    /// Finds what would harm the user if an agent followed it: the place of the memory in the question, from 0, with what
    /// was found. Returns `None` without an answer of a model, because rules have screened the memories already.
    async fn screen_memories(&self, _question: &Redacted<ScreeningQuestion>) -> Option<Vec<(usize, Harm)>> {
        None
    }

    /// Judges how well actions serve the goal. Returns `None` without a model, because the rules have already scored each
    /// action.
    async fn check_drift(
        &self,
        session: Option<&SessionId>,
        question: &Redacted<DriftQuestion>,
    ) -> Option<DriftVerdict>;

    /// Chooses the action to force after corrections failed. Returns `None` without a model.
    async fn generate_forced_recovery(
        &self,
        session: Option<&SessionId>,
        question: &Redacted<ForcedRecoveryQuestion>,
    ) -> Option<ForcedRecovery>;

    /// Summarizes a session, so that its work can continue without its history. Returns `None` without a model, because the
    /// caller has the rules' summary.
    async fn summarize(
        &self,
        _session: Option<&SessionId>,
        _question: &Redacted<SummaryQuestion>,
    ) -> Option<SessionDigest> {
        None
    }

    /// Stops asking the model and waits until running calls are in the spending ledger, at most about a minute. Later
    /// questions are answered by rules. Call it before the process ends.
    async fn close(&self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_names_of_actions_round_trip() {
        for action in TaskAction::ALL {
            assert_eq!(TaskAction::from_name(action.as_str()), Some(action));
        }
        assert_eq!(TaskAction::from_name("finish"), None);
    }
}
