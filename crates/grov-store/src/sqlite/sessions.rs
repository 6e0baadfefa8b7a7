//! Sessions and their steps.

use super::append::fill_in_project;
use super::columns::{Record, RowExt, from_row, params, record};
use super::connection::Connection;
use super::select::Select;
use super::{SqliteStore, StoreError};
use crate::stored_form::as_stored;
use async_trait::async_trait;
use grov_domain::{
    ClientSessionId, Redacted, SessionFilter, SessionId, SessionState, SessionStore, SessionSummary, StepId,
    StepRow, TokenUsage,
};
use sqlx::sqlite::SqliteRow;

/// The columns of a step `st`. `keywords` is also the name of a column of sessions.
macro_rules! step_columns {
    () => {
        "st.*, st.keywords AS step_keywords"
    };
}

pub(super) use step_columns;

/// A session `s` with its newest step, if it has one. The columns of the session come last: where a name is repeated, the
/// last column is read.
const SUMMARIES: &str = concat!(
    "SELECT ",
    step_columns!(),
    ", s.* FROM session_states s LEFT JOIN steps st ON st.session_id = s.session_id AND st.id = s.last_step_id"
);

/// The steps of a task, in order of time.
const STEPS: &str = concat!(
    "SELECT ",
    step_columns!(),
    " FROM steps st WHERE st.session_id = ? ORDER BY st.timestamp, st.id"
);

// A caller that read the row earlier must not overwrite columns that recording fills in, that never change, or that
// hold the drift state. A session that is over does not wait for a recovery.
record! {
    SessionState in "session_states", key (session_id);
    client_session_id, parent_session_id, task_type,
    user_id = "coalesce(excluded.user_id, user_id)",
    project_path = "CASE excluded.project_path WHEN '' THEN project_path ELSE excluded.project_path END",
    working_directory = "coalesce(excluded.working_directory, working_directory)",
    head_at_start = "coalesce(excluded.head_at_start, head_at_start)",
    original_goal = "coalesce(excluded.original_goal, original_goal)",
    expected_scope, constraints, keywords,
    token_count = "CASE WHEN token_count_at IS NULL THEN excluded.token_count ELSE token_count END",
    escalation_count = "iif(excluded.status = 'active', escalation_count, 0)",
    session_mode = "iif(excluded.status = 'active', session_mode, 'normal')",
    waiting_for_recovery = "iif(excluded.status = 'active', waiting_for_recovery, 0)",
    last_checked_at = "last_checked_at", last_clear_at = "coalesce(excluded.last_clear_at, last_clear_at)",
    judged_at = "coalesce(excluded.judged_at, judged_at)",
    start_time = "min(start_time, excluded.start_time)",
    last_update = "max(last_update, excluded.last_update)",
    status
}

#[async_trait]
impl SessionStore for SqliteStore {
    async fn save_session(&self, state: &Redacted<SessionState>) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        upsert_session(&mut transaction, state).await?;
        transaction.commit().await
    }

    async fn session(&self, id: &SessionId) -> Result<Option<SessionSummary>, StoreError> {
        let mut select = Select::new(SUMMARIES);
        select.and("s.session_id =", Some(id));
        Ok(select.read(self, summary).await?.pop())
    }

    async fn sessions(&self, filter: &SessionFilter) -> Result<Vec<SessionSummary>, StoreError> {
        let mut select = Select::new(SUMMARIES);
        select.and("s.project_path =", filter.project_path.as_ref());
        select.and("s.status =", filter.status);
        select.and("s.last_update >=", filter.updated_since);
        select.and("s.last_update <", filter.updated_before);
        select.end("ORDER BY s.last_update DESC, s.session_id DESC", filter.limit);
        select.read(self, summary).await
    }

    async fn client_session(&self, id: &ClientSessionId) -> Result<Vec<SessionSummary>, StoreError> {
        let mut select = Select::new(SUMMARIES);
        select.and("s.client_session_id =", Some(id));
        select.end("ORDER BY s.start_time, s.session_id", None);
        select.read(self, summary).await
    }

    async fn steps(&self, id: &SessionId) -> Result<Vec<StepRow>, StoreError> {
        self.read(STEPS, params![id], step).await
    }

    async fn client_steps(&self, id: &ClientSessionId) -> Result<Vec<StepRow>, StoreError> {
        const SQL: &str = concat!(
            "SELECT ",
            step_columns!(),
            " FROM session_states s JOIN steps st ON st.session_id = s.session_id \
             WHERE s.client_session_id = ? ORDER BY st.timestamp, st.id"
        );
        self.read(SQL, params![id], step).await
    }

    async fn steps_reasoning_by_path(
        &self,
        project_path: &str,
        file_path: &str,
        limit: u32,
    ) -> Result<Vec<StepRow>, StoreError> {
        const SQL: &str = concat!(
            "SELECT ",
            step_columns!(),
            " FROM step_files f CROSS JOIN steps st ON st.session_id = f.session_id AND st.id = f.step_id \
             CROSS JOIN session_states s ON s.session_id = st.session_id \
             WHERE f.path = ? AND s.project_path = ? ORDER BY f.timestamp DESC, f.step_id DESC LIMIT ?"
        );
        self.read(SQL, params![as_stored(file_path), project_path, limit], step)
            .await
    }
}

/// Creates or updates a session, and sets the project of other rows of the client session. The state is redacted.
pub(super) async fn upsert_session(
    connection: &mut Connection<'_>,
    state: &SessionState,
) -> Result<(), StoreError> {
    connection.upsert(state).await?;
    fill_in_project(
        connection,
        state.client_session_id.as_str(),
        &state.project_path,
        None,
    )
    .await
}

/// Returns the steps of a task, in order of time, as seen by a transaction.
pub(super) async fn steps_of(
    connection: &mut Connection<'_>,
    session: &str,
) -> Result<Vec<StepRow>, StoreError> {
    connection.read(STEPS, params![session], step).await
}

fn summary(row: &SqliteRow) -> Result<SessionSummary, StoreError> {
    let last_step: Option<StepId> = row.read("id")?;
    Ok(SessionSummary {
        state: SessionState::from_row(row)?,
        prompts: row.read("prompt_count")?,
        steps: row.read("step_count")?,
        exchanges: row.read("exchange_count")?,
        tokens: TokenUsage {
            input: row.read("tokens_input")?,
            cache_read: row.read("tokens_cache_read")?,
            cache_creation: row.read("tokens_cache_creation")?,
            cache_creation_5m: row.read("tokens_cache_creation_5m")?,
            cache_creation_1h: row.read("tokens_cache_creation_1h")?,
            output: row.read("tokens_output")?,
        },
        last_action: last_step.map(|_| step(row)).transpose()?,
    })
}

/// Reads a step from the columns of [`step_columns!`].
pub(super) fn step(row: &SqliteRow) -> Result<StepRow, StoreError> {
    Ok(from_row!(row => StepRow {
        id, session_id, exchange_id, agent_id, tool, tool_use_id, action_type, files, folders, command, effects,
        reasoning, drift_score, drift_type, outcome, is_key_decision, is_validated, correction_given, correction_level, timestamp,
        keywords: row.read("step_keywords")?,
    }))
}
