//! Records that outlive a session: finished tasks, drift events, reasoning about files.

use crate::macros::named;
use crate::{
    ActionType, ClientSessionId, DriftEventId, Finding, JudgedBy, MemoryEdits, MemoryType, ModelScreening,
    SessionId, StepId, StepOutcome, TaskId,
};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

/// How a saved task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// Finished.
    Complete,
    /// Finished, but needs a review.
    Partial,
    /// Left unfinished.
    Abandoned,
}

/// Why a task was saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TriggerReason {
    /// The work was finished.
    Complete,
    /// A token threshold was reached.
    Threshold,
    /// The session was inactive for too long.
    Abandoned,
}

named!(TaskStatus { Complete => "complete", Partial => "partial", Abandoned => "abandoned" });

named!(TriggerReason { Complete => "complete", Threshold => "threshold", Abandoned => "abandoned" });

/// A decision with its reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// The decision.
    pub choice: String,
    /// The reason for it.
    pub reason: String,
}

/// The state of a file when a task was saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilePin {
    /// The path relative to the top of the working tree.
    pub path: String,
    /// XXH3-128 of its content in hexadecimal; `None` if the file did not exist.
    pub hash: Option<String>,
}

/// A finished task in team memory. Serializes to the record that `grov memory export` prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// The key.
    pub id: TaskId,
    /// The project's key.
    #[serde(default)]
    pub project_path: String,
    /// The URL of the project's remote, the key that teammates share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_remote: Option<String>,
    /// The user.
    pub user: Option<String>,
    /// The client session. Together with `session_id` it makes saving idempotent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_session_id: Option<ClientSessionId>,
    /// The id of the task while it was active.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The prompt that started it.
    pub original_query: String,
    /// The goal.
    pub goal: Option<String>,
    /// The steps and results, in order.
    #[serde(default)]
    pub reasoning_trace: Vec<String>,
    /// Files touched.
    #[serde(default)]
    pub files_touched: Vec<String>,
    /// Decisions with reasons.
    #[serde(default)]
    pub decisions: Vec<Decision>,
    /// Constraints that were stated or found.
    #[serde(default)]
    pub constraints: Vec<String>,
    /// How it ended.
    pub status: TaskStatus,
    /// Why it was saved.
    pub trigger_reason: Option<TriggerReason>,
    /// The commit with the result.
    pub linked_commit: Option<String>,
    /// The id of the parent task while it was active. `parent_task_id` is set when the parent is saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_session_id: Option<SessionId>,
    /// The saved parent task.
    pub parent_task_id: Option<TaskId>,
    /// Tags.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The touched files in their final state; empty for imports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub file_pins: Vec<FilePin>,
    /// What kind of memory item it is, if it is one; `None` for the record of a task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<MemoryType>,
    /// The task that supersedes this one. Both are kept.
    pub superseded_by: Option<TaskId>,
    /// The fingerprint of the text that was checked for orders to the agent and had none; see `grov_memory::screened`.
    #[serde(skip)]
    pub screened: Option<i64>,
    /// What a model found in its text, or the user said of it; `None` until then. An export has none: what another person
    /// trusts is not trusted here.
    #[serde(skip)]
    pub model_screening: Option<ModelScreening>,
    /// What a person changed in it.
    #[serde(skip)]
    pub edits: MemoryEdits,
    /// Time of saving.
    #[serde(with = "time::serde::rfc3339")]
    pub created_at: OffsetDateTime,
}

impl Task {
    /// Returns a complete task saved at the Unix epoch; all optional fields are empty.
    pub fn new(id: &str, project_path: &str, original_query: &str) -> Self {
        Self {
            id: TaskId::new(id),
            project_path: project_path.to_owned(),
            project_remote: None,
            user: None,
            client_session_id: None,
            session_id: None,
            original_query: original_query.to_owned(),
            goal: None,
            reasoning_trace: Vec::new(),
            files_touched: Vec::new(),
            decisions: Vec::new(),
            constraints: Vec::new(),
            status: TaskStatus::Complete,
            trigger_reason: None,
            linked_commit: None,
            parent_session_id: None,
            parent_task_id: None,
            tags: Vec::new(),
            file_pins: Vec::new(),
            item: None,
            superseded_by: None,
            screened: None,
            model_screening: None,
            edits: MemoryEdits::default(),
            created_at: OffsetDateTime::UNIX_EPOCH,
        }
    }

    /// Returns the goal as it was captured, before a person changed it.
    pub fn captured_goal(&self) -> Option<&str> {
        let captured = self.edits.captured_goal.as_deref().or(self.goal.as_deref());
        captured.filter(|goal| !goal.is_empty())
    }
}

/// An action that was judged off goal. It outlives its session. Serializes to the fields that the command line prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DriftEvent {
    /// The key.
    pub id: DriftEventId,
    /// The task. Not a foreign key: events outlive tasks.
    pub session_id: SessionId,
    /// Time of the action.
    #[serde(with = "time::serde::rfc3339")]
    pub timestamp: OffsetDateTime,
    /// Kind of action.
    pub action_type: Option<ActionType>,
    /// Files touched.
    pub files: Vec<String>,
    /// 1 to 10.
    pub drift_score: Option<u8>,
    /// `nudge`, `correct`, `intervene` or `halt`.
    pub level: Option<String>,
    /// The reason.
    pub reason: Option<String>,
    /// The text of the correction.
    pub correction_given: Option<String>,
    /// The recovery plan.
    pub recovery_plan: Vec<String>,
    /// The client session, if known.
    pub client_session_id: Option<ClientSessionId>,
    /// The step, if it was recorded as one.
    pub step_id: Option<StepId>,
    /// The tool call's id.
    pub tool_use_id: Option<String>,
    /// The command, pattern, query or prompt of the action.
    pub command: Option<String>,
    /// The findings, most severe first.
    pub findings: Vec<Finding>,
    /// Who judged.
    pub judged_by: Option<JudgedBy>,
    /// How it ended, if it did not succeed: then it changed nothing.
    pub outcome: Option<StepOutcome>,
}

impl DriftEvent {
    /// Returns the command or files of the action, to be shown.
    pub fn subject(&self) -> String {
        match &self.command {
            Some(command) if self.action_type == Some(ActionType::Bash) || self.files.is_empty() => {
                command.clone()
            }
            _ => self.files.join(" "),
        }
    }
}

/// The reason for a change of a file, captured on the hook path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileReasoning {
    /// The key.
    pub id: String,
    /// The task in team memory.
    pub task_id: Option<TaskId>,
    /// The project's key.
    pub project_path: String,
    /// The file.
    pub file_path: String,
    /// The symbol that was changed.
    pub anchor: Option<String>,
    /// First line, counted from 1.
    pub line_start: Option<u32>,
    /// Last line.
    pub line_end: Option<u32>,
    /// Hash of the code after the change.
    pub code_hash: Option<String>,
    /// `create`, `edit`, `read`, …
    pub change_type: Option<String>,
    /// The reasoning.
    pub reasoning: String,
    /// Time of the change.
    pub created_at: OffsetDateTime,
}
