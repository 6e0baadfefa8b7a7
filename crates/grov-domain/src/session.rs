//! Sessions as stored and as shown.

use crate::macros::named;
use crate::{
    ActionSketch, ActionType, AgentId, ClientSessionId, Effect, ExchangeId, Intent, SessionId, StepId,
    TokenUsage,
};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

/// The place of a task among the tasks of its client session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskType {
    /// The main line of work.
    #[default]
    Main,
    /// Work that the parent needs first.
    Subtask,
    /// Work beside the parent.
    Parallel,
}

/// Whether the agent is on its goal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionMode {
    /// On its goal.
    #[default]
    Normal,
    /// Off its goal, a correction was given.
    Drifted,
    /// Corrections failed; one action is demanded.
    Forced,
}

/// Life of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionStatus {
    /// In work.
    #[default]
    Active,
    /// Finished and saved.
    Completed,
    /// Left unfinished.
    Abandoned,
}

named!(TaskType { Main => "main", Subtask => "subtask", Parallel => "parallel" });
named!(SessionMode { Normal => "normal", Drifted => "drifted", Forced => "forced" });
named!(SessionStatus { Active => "active", Completed => "completed", Abandoned => "abandoned" });

/// Tokens summed over the exchanges of a task, side requests included: what was billed.
pub type TokenTotals = TokenUsage;

/// One row of `session_states`: a task of a client session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionState {
    /// The task.
    pub session_id: SessionId,
    /// The client's session.
    pub client_session_id: ClientSessionId,
    /// The task this one was started from.
    pub parent_session_id: Option<SessionId>,
    /// Place among the tasks.
    pub task_type: TaskType,
    /// Who works.
    pub user_id: Option<String>,
    /// Key of the project; empty while unknown.
    pub project_path: String,
    /// Where the agent works: a folder of the project, or one of its worktrees.
    pub working_directory: Option<String>,
    /// The commit that was checked out when the task began.
    pub head_at_start: Option<String>,
    /// What the user wants.
    pub original_goal: Option<String>,
    /// Paths and identifiers the goal names.
    pub expected_scope: Vec<String>,
    /// What the user forbade or demanded.
    pub constraints: Vec<String>,
    /// Words for search.
    pub keywords: Vec<String>,
    /// Size of the context after the newest main turn, in tokens.
    pub token_count: u64,
    /// 0 to 3: how often corrections were needed lately.
    pub escalation_count: u32,
    /// Whether the agent is on its goal.
    pub session_mode: SessionMode,
    /// A recovery plan was given and its first step is awaited.
    pub waiting_for_recovery: bool,
    /// Number of prompts at the last drift check.
    pub last_checked_at: u64,
    /// When the context was last cleared.
    pub last_clear_at: Option<OffsetDateTime>,
    /// When a verdict last put a turn into this task; `None` before the first. Recording does not touch it, so the
    /// newest of a client session's open tasks by this is the one in work.
    pub judged_at: Option<OffsetDateTime>,
    /// First exchange.
    pub start_time: OffsetDateTime,
    /// Newest exchange.
    pub last_update: OffsetDateTime,
    /// Life.
    pub status: SessionStatus,
}

impl SessionState {
    /// Creates a new task: a main task, active, on its goal. `project_path` is the project's key, empty if unknown.
    pub fn begun(
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
        }
    }
}

/// A task with its counters, as `grov proxy-status` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionSummary {
    /// The task.
    pub state: SessionState,
    /// Prompts the user typed.
    pub prompts: u64,
    /// Actions recorded.
    pub steps: u64,
    /// Exchanges recorded, side requests included.
    pub exchanges: u64,
    /// Tokens by class.
    pub tokens: TokenTotals,
    /// The newest action.
    pub last_action: Option<StepRow>,
}

/// One row of `steps`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepRow {
    /// Key.
    pub id: StepId,
    /// The task.
    pub session_id: SessionId,
    /// The exchange whose response held the action.
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
    /// The assistant's text nearest before the action.
    pub reasoning: Option<String>,
    /// 1 (critical drift) to 10 (on goal); `None` while unjudged.
    pub drift_score: Option<u8>,
    /// `none`, `minor`, `major` or `critical`.
    pub drift_type: Option<String>,
    /// Whether the action carries a decision.
    pub is_key_decision: bool,
    /// False when the step was judged off goal.
    pub is_validated: bool,
    /// Correction that was given because of this step.
    pub correction_given: Option<String>,
    /// `nudge`, `correct`, `intervene` or `halt`.
    pub correction_level: Option<String>,
    /// Words for search.
    pub keywords: Vec<String>,
    /// When the response that holds the action ended.
    pub timestamp: OffsetDateTime,
}

impl StepRow {
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

    /// An open task: when a verdict was last given on it, and its newest record, in seconds.
    fn task(id: &str, judged_at: Option<i64>, last_update: i64) -> SessionState {
        let at = |seconds| OffsetDateTime::UNIX_EPOCH + Duration::seconds(seconds);
        let (client, task) = (ClientSessionId::new("s1"), SessionId::new(id));
        SessionState {
            judged_at: judged_at.map(at),
            last_update: at(last_update),
            ..SessionState::begun(client, task, "/p", OffsetDateTime::UNIX_EPOCH)
        }
    }

    fn done(task: SessionState) -> SessionState {
        SessionState {
            status: SessionStatus::Completed,
            ..task
        }
    }

    fn id_in_work(tasks: &[SessionState]) -> Option<&str> {
        active_task(tasks).map(|task| task.session_id.as_str())
    }

    #[test]
    fn a_session_without_tasks_has_none_in_work() {
        assert_eq!(id_in_work(&[]), None);
    }

    #[test]
    fn the_task_of_the_newest_verdict_is_in_work_whatever_was_recorded_since() {
        let tasks = [task("first", Some(1), 9), task("second", Some(2), 2)];
        assert_eq!(id_in_work(&tasks), Some("second"));
        let tasks = [task("first", Some(2), 2), task("second", Some(1), 9)];
        assert_eq!(id_in_work(&tasks), Some("first"));
    }

    #[test]
    fn an_open_task_is_in_work_though_another_was_done_after_it() {
        let tasks = [task("first", Some(1), 1), done(task("second", Some(2), 2))];
        assert_eq!(id_in_work(&tasks), Some("first"));
        let tasks = [task("first", None, 1), done(task("second", Some(2), 2))];
        assert_eq!(id_in_work(&tasks), Some("first"));
    }

    #[test]
    fn of_tasks_that_no_verdict_tells_apart_the_one_recorded_last_is_in_work() {
        let tasks = [task("first", None, 9), task("second", None, 2)];
        assert_eq!(id_in_work(&tasks), Some("first"));
    }

    #[test]
    fn where_all_is_done_the_task_of_the_newest_verdict_is_still_the_one() {
        // What came behind the restart is recorded in the first one until it is judged.
        let tasks = [done(task("first", Some(1), 9)), done(task("second", Some(2), 2))];
        assert_eq!(id_in_work(&tasks), Some("second"));
    }
}
