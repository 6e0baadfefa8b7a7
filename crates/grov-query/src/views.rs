//! Serialised views of sessions, steps and memories.

use grov_domain::{ActionType, Decision, Effect, SessionSummary, StepRow, Task, TokenUsage};
use serde::Serialize;
use time::OffsetDateTime;

/// Tokens by the class they are billed in.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct TokensView {
    /// Input tokens outside the cache.
    pub input: u64,
    /// Input tokens read from the cache.
    pub cache_read: u64,
    /// Input tokens written to the cache.
    pub cache_creation: u64,
    /// Output tokens.
    pub output: u64,
}

/// One task of a client session.
#[derive(Debug, Serialize)]
pub struct SessionView {
    /// The task.
    pub session_id: String,
    /// The client's session.
    pub client_session_id: String,
    /// The project.
    pub project_path: Option<String>,
    /// The type of the task.
    pub task_type: &'static str,
    /// The parent task.
    pub parent_session_id: Option<String>,
    /// The goal.
    pub original_goal: Option<String>,
    /// The session mode, which shows whether it drifted.
    pub session_mode: &'static str,
    /// The number of prompts.
    pub prompts: u64,
    /// The number of actions.
    pub steps: u64,
    /// The number of exchanges.
    pub exchanges: u64,
    /// The tokens of the exchanges.
    pub tokens: TokensView,
    /// The start time.
    #[serde(with = "time::serde::rfc3339")]
    pub start_time: OffsetDateTime,
    /// The time of the last activity.
    #[serde(with = "time::serde::rfc3339")]
    pub last_update: OffsetDateTime,
    /// The status.
    pub status: &'static str,
    /// The newest action.
    pub last_action: Option<StepView>,
}

/// One action.
#[derive(Debug, Serialize)]
pub struct StepView {
    /// Its id.
    pub id: String,
    /// The same as `task_id`, under its former name.
    pub session_id: String,
    /// The task that it belongs to.
    pub task_id: String,
    /// The exchange; `None` if only hooks recorded the step.
    pub exchange_id: Option<String>,
    /// The client's tool.
    pub tool: String,
    /// The id of the tool call.
    pub tool_use_id: Option<String>,
    /// The type of the action.
    pub action_type: &'static str,
    /// The files that it reads or changes.
    pub files: Vec<String>,
    /// The folders that it reads or changes.
    pub folders: Vec<String>,
    /// The shell command.
    pub command: Option<String>,
    /// The effects of the command.
    pub effects: Vec<Effect>,
    /// The agent's text about it.
    pub reasoning: Option<String>,
    /// The score, 1 to 10.
    pub drift_score: Option<u8>,
    /// The score in a word.
    pub drift_type: Option<String>,
    /// Whether it contains a key decision.
    pub is_key_decision: bool,
    /// The subagent.
    pub agent_id: Option<String>,
    /// The time of the action.
    #[serde(with = "time::serde::rfc3339")]
    pub timestamp: OffsetDateTime,
}

/// A finished task.
#[derive(Debug, Serialize)]
pub struct TaskView {
    /// Its id.
    pub id: String,
    /// The project.
    pub project_path: String,
    /// The goal.
    pub goal: Option<String>,
    /// The user's prompt.
    pub original_query: String,
    /// The status.
    pub status: &'static str,
    /// The reason for saving it.
    pub trigger_reason: Option<&'static str>,
    /// The decisions.
    pub decisions: Vec<Decision>,
    /// The constraints.
    pub constraints: Vec<String>,
    /// The reasoning trace.
    pub reasoning_trace: Vec<String>,
    /// The files that it read or changed.
    pub files_touched: Vec<String>,
    /// Tags.
    pub tags: Vec<String>,
    /// The commit made during the task.
    pub linked_commit: Option<String>,
    /// The memory of the parent task.
    pub parent_task_id: Option<String>,
    /// The memory that replaces it.
    pub superseded_by: Option<String>,
    /// The time at which it was saved.
    #[serde(with = "time::serde::rfc3339")]
    pub created_at: OffsetDateTime,
}

impl From<TokenUsage> for TokensView {
    fn from(usage: TokenUsage) -> Self {
        Self {
            input: usage.input,
            cache_read: usage.cache_read,
            cache_creation: usage.cache_creation,
            output: usage.output,
        }
    }
}

impl From<SessionSummary> for SessionView {
    fn from(summary: SessionSummary) -> Self {
        let state = summary.state;
        Self {
            session_id: state.session_id.to_string(),
            client_session_id: state.client_session_id.to_string(),
            // Empty while the project is unknown.
            project_path: Some(state.project_path).filter(|path| !path.is_empty()),
            task_type: state.task_type.as_str(),
            parent_session_id: state.parent_session_id.map(|id| id.to_string()),
            original_goal: state.original_goal,
            session_mode: state.session_mode.as_str(),
            prompts: summary.prompts,
            steps: summary.steps,
            exchanges: summary.exchanges,
            tokens: summary.tokens.into(),
            start_time: state.start_time,
            last_update: state.last_update,
            status: state.status.as_str(),
            last_action: summary.last_action.map(StepView::from),
        }
    }
}

impl From<StepRow> for StepView {
    fn from(step: StepRow) -> Self {
        Self {
            id: step.id.to_string(),
            task_id: step.session_id.to_string(),
            session_id: step.session_id.to_string(),
            exchange_id: Some(step.exchange_id.to_string()).filter(|id| !id.is_empty()),
            tool: step.tool,
            tool_use_id: step.tool_use_id,
            action_type: step.action_type.as_str(),
            files: step.files,
            folders: step.folders,
            command: step.command,
            effects: step.effects,
            reasoning: step.reasoning,
            drift_score: step.drift_score,
            drift_type: step.drift_type,
            is_key_decision: step.is_key_decision,
            agent_id: step.agent_id.map(|id| id.to_string()),
            timestamp: step.timestamp,
        }
    }
}

impl From<Task> for TaskView {
    fn from(task: Task) -> Self {
        Self {
            id: task.id.to_string(),
            project_path: task.project_path,
            goal: task.goal,
            original_query: task.original_query,
            status: task.status.as_str(),
            trigger_reason: task.trigger_reason.map(|reason| reason.as_str()),
            decisions: task.decisions,
            constraints: task.constraints,
            reasoning_trace: task.reasoning_trace,
            files_touched: task.files_touched,
            tags: task.tags,
            linked_commit: task.linked_commit,
            parent_task_id: task.parent_task_id.map(|id| id.to_string()),
            superseded_by: task.superseded_by.map(|id| id.to_string()),
            created_at: task.created_at,
        }
    }
}

impl TokensView {
    /// Adds two token counts.
    pub fn plus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_creation: self.cache_creation.saturating_add(other.cache_creation),
            output: self.output.saturating_add(other.output),
        }
    }
}

impl StepView {
    /// The command, files or folders of the action, for display.
    pub fn subject(&self) -> String {
        let runs_a_command = self.action_type == ActionType::Bash.as_str();
        match &self.command {
            Some(command) if runs_a_command || self.files.is_empty() => command.clone(),
            _ if !self.files.is_empty() => self.files.join(" "),
            _ => self.folders.join(" "),
        }
    }
}
