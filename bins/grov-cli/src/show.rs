//! Records as scripts see them, and times and sizes as people do. The names are a contract.

use grov_domain::{ActionType, Effect, MicroUsd, SessionSummary, StepRow, Task, TokenUsage};
use serde::Serialize;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Tokens by the class they are billed in.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct TokensView {
    pub(crate) input: u64,
    pub(crate) cache_read: u64,
    pub(crate) cache_creation: u64,
    pub(crate) output: u64,
}

/// One task of a client session.
#[derive(Debug, Serialize)]
pub(crate) struct SessionView {
    pub(crate) session_id: String,
    pub(crate) client_session_id: String,
    pub(crate) project_path: Option<String>,
    pub(crate) task_type: &'static str,
    pub(crate) parent_session_id: Option<String>,
    pub(crate) original_goal: Option<String>,
    pub(crate) session_mode: &'static str,
    pub(crate) prompts: u64,
    pub(crate) steps: u64,
    pub(crate) exchanges: u64,
    pub(crate) tokens: TokensView,
    #[serde(with = "time::serde::rfc3339")]
    pub(crate) start_time: OffsetDateTime,
    #[serde(with = "time::serde::rfc3339")]
    pub(crate) last_update: OffsetDateTime,
    pub(crate) status: &'static str,
    pub(crate) last_action: Option<StepView>,
}

/// One action.
#[derive(Debug, Serialize)]
pub(crate) struct StepView {
    pub(crate) id: String,
    /// The same as `task_id`, under its older name.
    pub(crate) session_id: String,
    pub(crate) task_id: String,
    /// `None` where hooks alone know of it.
    pub(crate) exchange_id: Option<String>,
    pub(crate) tool: String,
    pub(crate) tool_use_id: Option<String>,
    pub(crate) action_type: &'static str,
    pub(crate) files: Vec<String>,
    pub(crate) folders: Vec<String>,
    pub(crate) command: Option<String>,
    pub(crate) effects: Vec<Effect>,
    pub(crate) reasoning: Option<String>,
    pub(crate) drift_score: Option<u8>,
    pub(crate) drift_type: Option<String>,
    pub(crate) is_key_decision: bool,
    pub(crate) agent_id: Option<String>,
    #[serde(with = "time::serde::rfc3339")]
    pub(crate) timestamp: OffsetDateTime,
}

/// A choice and why it was made.
#[derive(Debug, Serialize)]
pub(crate) struct DecisionView {
    pub(crate) choice: String,
    pub(crate) reason: String,
}

/// A finished task.
#[derive(Debug, Serialize)]
pub(crate) struct TaskView {
    pub(crate) id: String,
    pub(crate) project_path: String,
    pub(crate) goal: Option<String>,
    pub(crate) original_query: String,
    pub(crate) status: &'static str,
    pub(crate) trigger_reason: Option<&'static str>,
    pub(crate) decisions: Vec<DecisionView>,
    pub(crate) constraints: Vec<String>,
    pub(crate) reasoning_trace: Vec<String>,
    pub(crate) files_touched: Vec<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) linked_commit: Option<String>,
    pub(crate) parent_task_id: Option<String>,
    /// The memory that replaces it.
    pub(crate) superseded_by: Option<String>,
    #[serde(with = "time::serde::rfc3339")]
    pub(crate) created_at: OffsetDateTime,
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
        let decision = |decision: grov_domain::Decision| DecisionView {
            choice: decision.choice,
            reason: decision.reason,
        };
        Self {
            id: task.id.to_string(),
            project_path: task.project_path,
            goal: task.goal,
            original_query: task.original_query,
            status: task.status.as_str(),
            trigger_reason: task.trigger_reason.map(|reason| reason.as_str()),
            decisions: task.decisions.into_iter().map(decision).collect(),
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
    pub(crate) fn plus(self, other: Self) -> Self {
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
    pub(crate) fn subject(&self) -> String {
        let runs_a_command = self.action_type == ActionType::Bash.as_str();
        match &self.command {
            Some(command) if runs_a_command || self.files.is_empty() => command.clone(),
            _ if !self.files.is_empty() => self.files.join(" "),
            _ => self.folders.join(" "),
        }
    }
}

/// Date and time to the second, UTC.
pub(crate) fn moment(time: OffsetDateTime) -> String {
    let seconds = time.replace_nanosecond(0).unwrap_or(time);
    seconds.format(&Rfc3339).unwrap_or_else(|_| time.to_string())
}

/// How long ago `time` was, in the largest unit that fits.
pub(crate) fn ago(time: OffsetDateTime, now: OffsetDateTime) -> String {
    let seconds = (now - time).whole_seconds().max(0);
    match seconds {
        0..60 => format!("{seconds}s ago"),
        60..3600 => format!("{}m ago", seconds / 60),
        3600..172_800 => format!("{}h ago", seconds / 3600),
        _ => format!("{}d ago", seconds / 86_400),
    }
}

/// A number of tokens, short.
pub(crate) fn count(number: u64) -> String {
    let in_tenths = |unit: u64, name: &str| {
        let tenths = number / (unit / 10);
        format!("{}.{}{name}", tenths / 10, tenths % 10)
    };
    match number {
        0..10_000 => number.to_string(),
        10_000..1_000_000 => in_tenths(1000, "k"),
        _ => in_tenths(1_000_000, "M"),
    }
}

/// So many of something: the noun for one and for several.
pub(crate) fn some(number: u64, one: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { several })
}

/// An amount of money with two to six decimal places.
pub(crate) fn dollars(amount: MicroUsd) -> String {
    let text = amount.to_string();
    let short = text.trim_end_matches('0');
    let least = text.len().saturating_sub(4);
    text[..short.len().max(least)].to_owned()
}

/// A number of bytes, short.
pub(crate) fn bytes(number: u64) -> String {
    let in_tenths = |unit: u64, name: &str| format!("{}.{} {name}", number / unit, number % unit * 10 / unit);
    match number {
        0..1024 => format!("{number} B"),
        1024..1_048_576 => in_tenths(1024, "KiB"),
        _ => in_tenths(1_048_576, "MiB"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::Duration;

    #[test]
    fn money_for_people() {
        let shown = |amount| dollars(MicroUsd(amount));
        assert_eq!(
            [
                shown(0),
                shown(500_000),
                shown(1_234_500),
                shown(7),
                shown(100_000_000)
            ]
            .join(" "),
            "$0.00 $0.50 $1.2345 $0.000007 $100.00"
        );
    }

    #[test]
    fn times_and_sizes_for_people() {
        let now = OffsetDateTime::UNIX_EPOCH + Duration::days(100) + Duration::milliseconds(5);
        assert_eq!(moment(now), "1970-04-11T00:00:00Z");
        let shown = |seconds| ago(now - Duration::seconds(seconds), now);
        assert_eq!(
            [
                shown(-5),
                shown(59),
                shown(60),
                shown(7199),
                shown(172_799),
                shown(172_800)
            ]
            .join(" "),
            "0s ago 59s ago 1m ago 1h ago 47h ago 2d ago"
        );
        assert_eq!(
            [
                count(0),
                count(9999),
                count(12_345),
                count(999_999),
                count(1_050_000)
            ]
            .join(" "),
            "0 9999 12.3k 999.9k 1.0M"
        );
        assert_eq!(
            [bytes(0), bytes(1023), bytes(1536), bytes(5 << 20)].join(" "),
            "0 B 1023 B 1.5 KiB 5.0 MiB"
        );
    }
}
