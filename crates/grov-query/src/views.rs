//! Records as scripts see them.

use grov_domain::{ActionType, Decision, Effect, SessionSummary, StepRow, Task, TokenUsage};
use serde::Serialize;
use time::OffsetDateTime;

/// Tokens by the class they are billed in.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct TokensView {
    /// Not read from the cache.
    pub input: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Written to the cache.
    pub cache_creation: u64,
    /// Answered.
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
    /// Whether it serves another task.
    pub task_type: &'static str,
    /// The task that it serves.
    pub parent_session_id: Option<String>,
    /// What it is about.
    pub original_goal: Option<String>,
    /// Whether it drifted.
    pub session_mode: &'static str,
    /// Prompts typed.
    pub prompts: u64,
    /// Actions.
    pub steps: u64,
    /// Requests answered.
    pub exchanges: u64,
    /// What they cost.
    pub tokens: TokensView,
    /// When it began.
    #[serde(with = "time::serde::rfc3339")]
    pub start_time: OffsetDateTime,
    /// When something last happened.
    #[serde(with = "time::serde::rfc3339")]
    pub last_update: OffsetDateTime,
    /// How it is.
    pub status: &'static str,
    /// Its newest action.
    pub last_action: Option<StepView>,
}

/// One action.
#[derive(Debug, Serialize)]
pub struct StepView {
    /// Its id.
    pub id: String,
    /// The same as `task_id`, under its older name.
    pub session_id: String,
    /// The task that it belongs to.
    pub task_id: String,
    /// `None` where hooks alone know of it.
    pub exchange_id: Option<String>,
    /// The client's tool.
    pub tool: String,
    /// The call.
    pub tool_use_id: Option<String>,
    /// What kind of action.
    pub action_type: &'static str,
    /// Files it is about.
    pub files: Vec<String>,
    /// Folders it is about.
    pub folders: Vec<String>,
    /// The shell's command.
    pub command: Option<String>,
    /// What the command does.
    pub effects: Vec<Effect>,
    /// What the agent said about it.
    pub reasoning: Option<String>,
    /// How well it serves the goal.
    pub drift_score: Option<u8>,
    /// The score in a word.
    pub drift_type: Option<String>,
    /// Whether it decides something.
    pub is_key_decision: bool,
    /// The subagent.
    pub agent_id: Option<String>,
    /// When.
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
    /// What it was about.
    pub goal: Option<String>,
    /// What was typed.
    pub original_query: String,
    /// How it is.
    pub status: &'static str,
    /// Why it was saved.
    pub trigger_reason: Option<&'static str>,
    /// What was decided.
    pub decisions: Vec<Decision>,
    /// What it was held to.
    pub constraints: Vec<String>,
    /// What was done and found.
    pub reasoning_trace: Vec<String>,
    /// Files it touched.
    pub files_touched: Vec<String>,
    /// Tags.
    pub tags: Vec<String>,
    /// The commit made meanwhile.
    pub linked_commit: Option<String>,
    /// The memory that it served.
    pub parent_task_id: Option<String>,
    /// The memory that replaces it.
    pub superseded_by: Option<String>,
    /// When it was saved.
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
    /// The sum.
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
    /// What the action was about, for a person: a shell's command as it was given, else files, else what else there is.
    pub fn subject(&self) -> String {
        let runs_a_command = self.action_type == ActionType::Bash.as_str();
        match &self.command {
            Some(command) if runs_a_command || self.files.is_empty() => command.clone(),
            _ if !self.files.is_empty() => self.files.join(" "),
            _ => self.folders.join(" "),
        }
    }
}
