//! What outlives a session: finished tasks, drift events, reasoning about files.

use crate::macros::named;
use crate::{ActionType, ClientSessionId, DriftEventId, Finding, JudgedBy, SessionId, StepId, TaskId};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

/// How a saved task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// Done.
    Complete,
    /// Done, but to be reviewed.
    Partial,
    /// Left lying.
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
    /// Nobody came back.
    Abandoned,
}

named!(TaskStatus { Complete => "complete", Partial => "partial", Abandoned => "abandoned" });

named!(TriggerReason { Complete => "complete", Threshold => "threshold", Abandoned => "abandoned" });

/// A choice and why it was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// What was decided.
    pub choice: String,
    /// Why this over the alternatives.
    pub reason: String,
}

/// A file as it was when a task was saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilePin {
    /// Relative to the top of the working tree.
    pub path: String,
    /// XXH3-128 of its content in hexadecimal; `None`: there was no such file.
    pub hash: Option<String>,
}

/// A finished task in team memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Key.
    pub id: TaskId,
    /// The project's key.
    pub project_path: String,
    /// The project's remote, the key that teammates share.
    pub project_remote: Option<String>,
    /// Who did it.
    pub user: Option<String>,
    /// The client session it came from. With `session_id` it makes saving idempotent.
    pub client_session_id: Option<ClientSessionId>,
    /// The task it was while in work.
    pub session_id: Option<SessionId>,
    /// What the user typed.
    pub original_query: String,
    /// The goal behind it.
    pub goal: Option<String>,
    /// What was done and found, in order.
    pub reasoning_trace: Vec<String>,
    /// Files touched.
    pub files_touched: Vec<String>,
    /// Decisions with reasons.
    pub decisions: Vec<Decision>,
    /// Limits that were found.
    pub constraints: Vec<String>,
    /// How it ended.
    pub status: TaskStatus,
    /// Why it was saved.
    pub trigger_reason: Option<TriggerReason>,
    /// The commit that holds the result.
    pub linked_commit: Option<String>,
    /// What the task that this one served was while in work: the link is made when that one is saved.
    pub parent_session_id: Option<SessionId>,
    /// The task that this one served, once it is saved.
    pub parent_task_id: Option<TaskId>,
    /// Labels.
    pub tags: Vec<String>,
    /// Files touched, as they were left; empty where nobody looked (imports).
    pub file_pins: Vec<FilePin>,
    /// The task whose knowledge replaces this one's. Both are kept.
    pub superseded_by: Option<TaskId>,
    /// When it was saved.
    pub created_at: OffsetDateTime,
}

/// An action that was judged off goal. It outlives its session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriftEvent {
    /// Key.
    pub id: DriftEventId,
    /// The task it happened in; not a foreign key.
    pub session_id: SessionId,
    /// When.
    pub timestamp: OffsetDateTime,
    /// Kind of action.
    pub action_type: Option<ActionType>,
    /// Files touched.
    pub files: Vec<String>,
    /// 1 to 10.
    pub drift_score: Option<u8>,
    /// `nudge`, `correct`, `intervene` or `halt`.
    pub level: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// What the agent was told.
    pub correction_given: Option<String>,
    /// The way back, step by step.
    pub recovery_plan: Vec<String>,
    /// The client's session, where it is known.
    #[serde(default)]
    pub client_session_id: Option<ClientSessionId>,
    /// The step it was, where it was one.
    #[serde(default)]
    pub step_id: Option<StepId>,
    /// The command, pattern, query or prompt of the action.
    #[serde(default)]
    pub command: Option<String>,
    /// What was found, the gravest first.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// Who said so.
    #[serde(default)]
    pub judged_by: Option<JudgedBy>,
}

/// Why a file is as it is, as captured on the hook path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileReasoning {
    /// Key.
    pub id: String,
    /// The task in team memory it belongs to.
    pub task_id: Option<TaskId>,
    /// The project's key.
    pub project_path: String,
    /// The file.
    pub file_path: String,
    /// The symbol it is about.
    pub anchor: Option<String>,
    /// First line, counted from 1.
    pub line_start: Option<u32>,
    /// Last line.
    pub line_end: Option<u32>,
    /// Hash of the code at that time.
    pub code_hash: Option<String>,
    /// `create`, `edit`, `read`, …
    pub change_type: Option<String>,
    /// The reasoning.
    pub reasoning: String,
    /// When.
    pub created_at: OffsetDateTime,
}
