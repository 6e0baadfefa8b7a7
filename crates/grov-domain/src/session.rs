//! Stored sessions, tasks and steps.

use crate::macros::named;
use crate::{
    ActionSketch, ActionType, AgentId, ClientSessionId, Effect, ExchangeId, Intent, SessionId, StepId,
    StepOutcome, TokenUsage,
};
use serde::{Deserialize, Serialize, Serializer};
use time::OffsetDateTime;

/// The relation of a task to the other tasks of its client session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskType {
    /// The main line of work.
    #[default]
    Main,
    /// Work that the parent task needs first.
    Subtask,
    /// Work in parallel to the parent task.
    Parallel,
}

/// Whether the agent is on goal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionMode {
    /// On goal.
    #[default]
    Normal,
    /// Off goal.
    Drifted,
    /// Corrections failed; a single action is demanded.
    Forced,
}

/// The status of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionStatus {
    /// Open.
    #[default]
    Active,
    /// Finished and saved to team memory.
    Completed,
    /// Left unfinished.
    Abandoned,
}

named!(TaskType { Main => "main", Subtask => "subtask", Parallel => "parallel" });
named!(SessionMode { Normal => "normal", Drifted => "drifted", Forced => "forced" });
named!(SessionStatus { Active => "active", Completed => "completed", Abandoned => "abandoned" });

/// A task of a client session: a row of `session_states`. Serializes to the fields that the command line prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SessionState {
    /// The task.
    pub session_id: SessionId,
    /// The client session.
    pub client_session_id: ClientSessionId,
    /// The task this one was started from.
    pub parent_session_id: Option<SessionId>,
    /// The relation to other tasks.
    pub task_type: TaskType,
    /// The user.
    #[serde(rename = "user", skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// The project's key; empty if unknown.
    #[serde(serialize_with = "empty_as_null")]
    pub project_path: String,
    /// The working directory: a folder of the project, or one of its worktrees.
    #[serde(skip)]
    pub working_directory: Option<String>,
    /// The checked-out commit when the task started.
    #[serde(skip)]
    pub head_at_start: Option<String>,
    /// The goal.
    pub original_goal: Option<String>,
    /// Paths and identifiers that the goal names.
    #[serde(skip)]
    pub expected_scope: Vec<String>,
    /// Constraints that the user stated.
    #[serde(skip)]
    pub constraints: Vec<String>,
    /// Search terms.
    #[serde(skip)]
    pub keywords: Vec<String>,
    /// Size of the context after the newest main turn, in tokens.
    #[serde(skip)]
    pub token_count: u64,
    /// The escalation, 0 to 3.
    #[serde(skip)]
    pub escalation_count: u32,
    /// Whether the agent is on goal.
    pub session_mode: SessionMode,
    /// Whether a recovery plan was delivered and its first step is expected.
    #[serde(skip)]
    pub waiting_for_recovery: bool,
    /// Number of prompts at the last drift check.
    #[serde(skip)]
    pub last_checked_at: u64,
    /// When the context was last cleared.
    #[serde(skip)]
    pub last_clear_at: Option<OffsetDateTime>,
    /// Time of the last verdict that assigned a turn to this task; `None` before the first. Recording does not change it,
    /// so that the active task is the open one with the latest time.
    #[serde(skip)]
    pub judged_at: Option<OffsetDateTime>,
    /// Time of the first exchange.
    #[serde(with = "time::serde::rfc3339")]
    pub start_time: OffsetDateTime,
    /// Time of the newest exchange.
    #[serde(with = "time::serde::rfc3339")]
    pub last_update: OffsetDateTime,
    /// The status.
    pub status: SessionStatus,
}

impl SessionState {
    /// Creates an active main task on goal. `project_path` is the project's key, empty if unknown.
    pub fn new(
        client_session_id: ClientSessionId,
        session_id: SessionId,
        project_path: impl Into<String>,
        at: OffsetDateTime,
    ) -> Self {
        Self {
            session_id,
            client_session_id,
            parent_session_id: None,
            task_type: TaskType::default(),
            user_id: None,
            project_path: project_path.into(),
            working_directory: None,
            head_at_start: None,
            original_goal: None,
            expected_scope: Vec::new(),
            constraints: Vec::new(),
            keywords: Vec::new(),
            token_count: 0,
            escalation_count: 0,
            session_mode: SessionMode::default(),
            waiting_for_recovery: false,
            last_checked_at: 0,
            last_clear_at: None,
            judged_at: None,
            start_time: at,
            last_update: at,
            status: SessionStatus::default(),
        }
    }

    /// Returns the intent of the task as stored: its goal, scope, constraints and keywords.
    pub fn intent(&self) -> Intent {
        Intent {
            goal: self.original_goal.clone().unwrap_or_default(),
            scope: self.expected_scope.clone(),
            constraints: self.constraints.clone(),
            keywords: self.keywords.clone(),
            turns_away: false,
        }
    }
}

/// A task with its counters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SessionSummary {
    /// The task.
    #[serde(flatten)]
    pub state: SessionState,
    /// Number of prompts.
    pub prompts: u64,
    /// Number of recorded actions.
    pub steps: u64,
    /// Number of recorded exchanges, including side requests.
    pub exchanges: u64,
    /// Token counts by class.
    pub tokens: TokenUsage,
    /// The newest action.
    pub last_action: Option<StepRow>,
}

/// A recorded action: a row of `steps`. Serializes to the fields that the command line prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StepRow {
    /// The key.
    pub id: StepId,
    /// The task; serialized as `task_id`, too.
    #[serde(flatten, serialize_with = "task_ids")]
    pub session_id: SessionId,
    /// The exchange whose response contained the action; empty if only hooks recorded it.
    #[serde(serialize_with = "empty_as_null")]
    pub exchange_id: ExchangeId,
    /// The subagent that acted, if it was one.
    pub agent_id: Option<AgentId>,
    /// The tool's name.
    pub tool: String,
    /// The tool call's id.
    pub tool_use_id: Option<String>,
    /// Kind of action.
    pub action_type: ActionType,
    /// Files touched.
    pub files: Vec<String>,
    /// Folders touched or searched.
    pub folders: Vec<String>,
    /// Command line, pattern, query, URL or delegated prompt.
    pub command: Option<String>,
    /// Effects that the command line shows.
    pub effects: Vec<Effect>,
    /// The assistant's last text before the action.
    pub reasoning: Option<String>,
    /// 1 (far off) to 10 (on goal); `None` if not judged.
    pub drift_score: Option<u8>,
    /// `none`, `minor`, `major` or `critical`.
    pub drift_type: Option<String>,
    /// How the action ended; `None` if it succeeded or its result is unknown.
    pub outcome: Option<StepOutcome>,
    /// Whether the action carries a decision.
    pub is_key_decision: bool,
    /// Whether the step was not judged off goal.
    #[serde(skip)]
    pub is_validated: bool,
    /// The text of the correction about this step.
    #[serde(skip)]
    pub correction_given: Option<String>,
    /// `nudge`, `correct`, `intervene` or `halt`.
    #[serde(skip)]
    pub correction_level: Option<String>,
    /// Search terms.
    #[serde(skip)]
    pub keywords: Vec<String>,
    /// When the response with the action ended.
    #[serde(with = "time::serde::rfc3339")]
    pub timestamp: OffsetDateTime,
}

/// Serializes an empty text, which means unknown, as `null`.
fn empty_as_null<S: Serializer>(text: &impl ToString, serializer: S) -> Result<S::Ok, S::Error> {
    let text = Some(text.to_string());
    text.filter(|text| !text.is_empty()).serialize(serializer)
}

/// Serializes the id of a task under its present and its former name.
fn task_ids<S: Serializer>(task: &SessionId, serializer: S) -> Result<S::Ok, S::Error> {
    [("task_id", task), ("session_id", task)]
        .into_iter()
        .collect::<std::collections::BTreeMap<_, _>>()
        .serialize(serializer)
}

impl StepRow {
    /// Returns the command, files or folders of the action, to be shown.
    pub fn subject(&self) -> String {
        match &self.command {
            Some(command) if self.action_type == ActionType::Bash || self.files.is_empty() => command.clone(),
            _ if !self.files.is_empty() => self.files.join(" "),
            _ => self.folders.join(" "),
        }
    }

    /// Returns the action for a judgement, without its result, which is stored elsewhere.
    pub fn sketch(&self) -> ActionSketch {
        ActionSketch {
            files: self.files.clone(),
            command: self.command.clone(),
            effects: self.effects.iter().map(|effect| effect.kind).collect(),
            reasoning: self.reasoning.clone(),
            ..ActionSketch::empty(self.action_type)
        }
    }
}

/// Returns the active task of a client session: of the open tasks the one that last received a verdict or, if all are
/// finished, of those. Records decide only between tasks without a verdict, because turns without a verdict are stored
/// in the first task.
pub fn active_task<'a>(tasks: impl IntoIterator<Item = &'a SessionState>) -> Option<&'a SessionState> {
    tasks.into_iter().max_by_key(|task| {
        let is_open = task.status != SessionStatus::Completed;
        (is_open, task.judged_at, task.last_update)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::Duration;

    /// An open task with the times of its last verdict and its newest record, in seconds.
    fn task(id: &str, judged_at: Option<i64>, last_update: i64) -> SessionState {
        let at = |seconds| OffsetDateTime::UNIX_EPOCH + Duration::seconds(seconds);
        let (client, task) = (ClientSessionId::new("s1"), SessionId::new(id));
        SessionState {
            judged_at: judged_at.map(at),
            last_update: at(last_update),
            ..SessionState::new(client, task, "/p", OffsetDateTime::UNIX_EPOCH)
        }
    }

    fn done(task: SessionState) -> SessionState {
        SessionState {
            status: SessionStatus::Completed,
            ..task
        }
    }

    fn active_id(tasks: &[SessionState]) -> Option<&str> {
        active_task(tasks).map(|task| task.session_id.as_str())
    }

    #[test]
    fn a_session_without_tasks_has_no_active_task() {
        assert_eq!(active_id(&[]), None);
    }

    #[test]
    fn the_task_with_the_newest_verdict_is_active_whatever_was_recorded_since() {
        let tasks = [task("first", Some(1), 9), task("second", Some(2), 2)];
        assert_eq!(active_id(&tasks), Some("second"));
        let tasks = [task("first", Some(2), 2), task("second", Some(1), 9)];
        assert_eq!(active_id(&tasks), Some("first"));
    }

    #[test]
    fn an_open_task_is_active_even_if_another_was_finished_later() {
        let tasks = [task("first", Some(1), 1), done(task("second", Some(2), 2))];
        assert_eq!(active_id(&tasks), Some("first"));
        let tasks = [task("first", None, 1), done(task("second", Some(2), 2))];
        assert_eq!(active_id(&tasks), Some("first"));
    }

    #[test]
    fn without_verdicts_the_task_recorded_last_is_active() {
        let tasks = [task("first", None, 9), task("second", None, 2)];
        assert_eq!(active_id(&tasks), Some("first"));
    }

    #[test]
    fn if_all_tasks_are_finished_the_one_with_the_newest_verdict_is_active() {
        // After a restart, exchanges are recorded in the first task until they are judged.
        let tasks = [done(task("first", Some(1), 9)), done(task("second", Some(2), 2))];
        assert_eq!(active_id(&tasks), Some("second"));
    }
}
