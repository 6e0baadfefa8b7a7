//! Sessions and their steps.

use super::append::rehome;
use super::values::{Columns, integer, list_value, millis};
use super::{SqliteStore, StoreError};
use crate::door;
use async_trait::async_trait;
use grov_domain::{
    ActionType, AgentId, ClientSessionId, ExchangeId, Redacted, SessionFilter, SessionId, SessionMode,
    SessionState, SessionStatus, SessionStore, SessionSummary, StepId, StepRow, TaskType, TokenTotals,
};
use sqlx::QueryBuilder;
use sqlx::sqlite::{Sqlite, SqliteConnection, SqliteRow};

/// The columns of a step `st`, under names that no other table uses.
macro_rules! step_columns {
    () => {
        "st.id AS step_id, st.session_id AS step_session, st.exchange_id AS step_exchange, st.agent_id AS step_agent, \
         st.tool AS step_tool, st.tool_use_id AS step_tool_use, st.action_type AS step_action, st.files AS step_files, \
         st.folders AS step_folders, st.command AS step_command, st.effects AS step_effects, \
         st.reasoning AS step_reasoning, st.drift_score AS step_score, st.drift_type AS step_drift, \
         st.is_key_decision AS step_key_decision, st.is_validated AS step_validated, \
         st.correction_given AS step_correction, st.correction_level AS step_level, st.keywords AS step_keywords, \
         st.timestamp AS step_time"
    };
}

pub(super) use step_columns;

/// A session `s` with its newest step, which is missing in a session without any.
const SUMMARIES: &str = concat!(
    "SELECT s.*, ",
    step_columns!(),
    " FROM session_states s LEFT JOIN steps st ON st.session_id = s.session_id AND st.id = s.last_step_id"
);

#[async_trait]
impl SessionStore for SqliteStore {
    async fn save_session(&self, state: &Redacted<SessionState>) -> Result<(), StoreError> {
        let mut writer = self.writer().await?;
        upsert_session(writer.connection()?, state)
            .await
            .map_err(|error| self.error(error))?;
        writer.commit().await.map_err(|error| self.error(error))
    }

    async fn session(&self, id: &SessionId) -> Result<Option<SessionSummary>, StoreError> {
        let mut query = QueryBuilder::new(SUMMARIES);
        query.push(" WHERE s.session_id = ").push_bind(id.as_str());
        Ok(self.summaries(query).await?.pop())
    }

    async fn sessions(&self, filter: &SessionFilter) -> Result<Vec<SessionSummary>, StoreError> {
        let mut query = QueryBuilder::new(SUMMARIES);
        query.push(" WHERE true");
        if let Some(project) = &filter.project_path {
            query.push(" AND s.project_path = ").push_bind(project);
        }
        if let Some(status) = filter.status {
            query.push(" AND s.status = ").push_bind(status.as_str());
        }
        if let Some(since) = filter.updated_since {
            query.push(" AND s.last_update >= ").push_bind(millis(since));
        }
        if let Some(before) = filter.updated_before {
            query.push(" AND s.last_update < ").push_bind(millis(before));
        }
        query.push(" ORDER BY s.last_update DESC, s.session_id DESC");
        if let Some(limit) = filter.limit {
            query.push(" LIMIT ").push_bind(limit);
        }
        self.summaries(query).await
    }

    async fn client_session(&self, id: &ClientSessionId) -> Result<Vec<SessionSummary>, StoreError> {
        let mut query = QueryBuilder::new(SUMMARIES);
        query.push(" WHERE s.client_session_id = ").push_bind(id.as_str());
        query.push(" ORDER BY s.start_time, s.session_id");
        self.summaries(query).await
    }

    async fn steps(&self, id: &SessionId) -> Result<Vec<StepRow>, StoreError> {
        self.step_rows(sqlx::query(STEPS).bind(id.as_str())).await
    }

    async fn client_steps(&self, id: &ClientSessionId) -> Result<Vec<StepRow>, StoreError> {
        const SQL: &str = concat!(
            "SELECT ",
            step_columns!(),
            " FROM session_states s JOIN steps st ON st.session_id = s.session_id \
             WHERE s.client_session_id = ? ORDER BY st.timestamp, st.id"
        );
        self.step_rows(sqlx::query(SQL).bind(id.as_str())).await
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
        self.step_rows(
            sqlx::query(SQL)
                .bind(door::text(file_path))
                .bind(project_path)
                .bind(limit),
        )
        .await
    }
}

/// Creates or changes a row, and gives its siblings its project. The state is redacted.
///
/// What recording fills in is not taken back by a caller who read the row before, nor what is known once and for all,
/// nor what the watch over the goal says; a task that is over needs no recovery.
pub(super) async fn upsert_session(
    connection: &mut SqliteConnection,
    state: &SessionState,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO session_states (session_id, client_session_id, parent_session_id, task_type, user_id, \
         project_path, working_directory, head_at_start, original_goal, expected_scope, constraints, keywords, \
         token_count, escalation_count, session_mode, waiting_for_recovery, last_checked_at, last_clear_at, \
         judged_at, start_time, last_update, status) \
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) \
         ON CONFLICT (session_id) DO UPDATE SET \
         client_session_id = excluded.client_session_id, parent_session_id = excluded.parent_session_id, \
         task_type = excluded.task_type, user_id = coalesce(excluded.user_id, user_id), \
         project_path = CASE excluded.project_path WHEN '' THEN project_path ELSE excluded.project_path END, \
         working_directory = coalesce(excluded.working_directory, working_directory), \
         head_at_start = coalesce(excluded.head_at_start, head_at_start), \
         original_goal = coalesce(excluded.original_goal, original_goal), \
         expected_scope = excluded.expected_scope, constraints = excluded.constraints, \
         keywords = excluded.keywords, \
         token_count = CASE WHEN token_count_at IS NULL THEN excluded.token_count ELSE token_count END, \
         escalation_count = iif(excluded.status = 'active', escalation_count, 0), \
         session_mode = iif(excluded.status = 'active', session_mode, 'normal'), \
         waiting_for_recovery = iif(excluded.status = 'active', waiting_for_recovery, 0), \
         last_clear_at = excluded.last_clear_at, \
         judged_at = coalesce(excluded.judged_at, judged_at), start_time = min(start_time, excluded.start_time), \
         last_update = max(last_update, excluded.last_update), status = excluded.status",
    )
    .bind(state.session_id.as_str())
    .bind(state.client_session_id.as_str())
    .bind(state.parent_session_id.as_ref().map(SessionId::as_str))
    .bind(state.task_type.as_str())
    .bind(state.user_id.as_deref())
    .bind(state.project_path.as_str())
    .bind(state.working_directory.as_deref())
    .bind(state.head_at_start.as_deref())
    .bind(state.original_goal.as_deref())
    .bind(list_value(&state.expected_scope)?)
    .bind(list_value(&state.constraints)?)
    .bind(list_value(&state.keywords)?)
    .bind(integer(state.token_count))
    .bind(state.escalation_count)
    .bind(state.session_mode.as_str())
    .bind(state.waiting_for_recovery)
    .bind(integer(state.last_checked_at))
    .bind(state.last_clear_at.map(millis))
    .bind(state.judged_at.map(millis))
    .bind(millis(state.start_time))
    .bind(millis(state.last_update))
    .bind(state.status.as_str())
    .execute(&mut *connection)
    .await?;
    rehome(
        connection,
        state.client_session_id.as_str(),
        &state.project_path,
        None,
    )
    .await
}

impl SqliteStore {
    async fn summaries(&self, mut query: QueryBuilder<Sqlite>) -> Result<Vec<SessionSummary>, StoreError> {
        let rows = self.reader().await?.rows(self, query.build()).await?;
        rows.iter().map(summary).collect()
    }

    pub(super) async fn step_rows(
        &self,
        query: sqlx::query::Query<'_, Sqlite, sqlx::sqlite::SqliteArguments>,
    ) -> Result<Vec<StepRow>, StoreError> {
        let rows = self.reader().await?.rows(self, query).await?;
        rows.iter().map(step).collect()
    }
}

/// The steps of a task, in order of time.
const STEPS: &str = concat!(
    "SELECT ",
    step_columns!(),
    " FROM steps st WHERE st.session_id = ? ORDER BY st.timestamp, st.id"
);

/// The same, as a transaction sees them.
pub(super) async fn steps_of(
    connection: &mut SqliteConnection,
    session: &str,
) -> Result<Vec<StepRow>, sqlx::Error> {
    let rows = sqlx::query(STEPS).bind(session).fetch_all(connection).await?;
    rows.iter()
        .map(|row| step(row).map_err(|error| sqlx::Error::Decode(error.into())))
        .collect()
}

fn summary(row: &SqliteRow) -> Result<SessionSummary, StoreError> {
    let columns = Columns(row);
    let has_step = columns.get::<Option<&str>>("step_id")?.is_some();
    Ok(SessionSummary {
        state: state(&columns)?,
        prompts: columns.count("prompt_count")?,
        steps: columns.count("step_count")?,
        exchanges: columns.count("exchange_count")?,
        tokens: TokenTotals {
            input: columns.count("tokens_input")?,
            cache_read: columns.count("tokens_cache_read")?,
            cache_creation: columns.count("tokens_cache_creation")?,
            cache_creation_5m: columns.count("tokens_cache_creation_5m")?,
            cache_creation_1h: columns.count("tokens_cache_creation_1h")?,
            output: columns.count("tokens_output")?,
        },
        last_action: if has_step { Some(step(row)?) } else { None },
    })
}

fn state(columns: &Columns<'_>) -> Result<SessionState, StoreError> {
    Ok(SessionState {
        session_id: SessionId::new(columns.get::<String>("session_id")?),
        client_session_id: ClientSessionId::new(columns.get::<String>("client_session_id")?),
        parent_session_id: columns
            .get::<Option<String>>("parent_session_id")?
            .map(SessionId::new),
        task_type: columns.named("task_type", TaskType::from_name)?,
        user_id: columns.get("user_id")?,
        project_path: columns.get("project_path")?,
        working_directory: columns.get("working_directory")?,
        head_at_start: columns.get("head_at_start")?,
        original_goal: columns.get("original_goal")?,
        expected_scope: columns.list("expected_scope")?,
        constraints: columns.list("constraints")?,
        keywords: columns.list("keywords")?,
        token_count: columns.count("token_count")?,
        escalation_count: columns.small("escalation_count")?.unwrap_or(0),
        session_mode: columns.named("session_mode", SessionMode::from_name)?,
        waiting_for_recovery: columns.flag("waiting_for_recovery")?,
        last_checked_at: columns.count("last_checked_at")?,
        last_clear_at: columns.optional_time("last_clear_at")?,
        judged_at: columns.optional_time("judged_at")?,
        start_time: columns.time("start_time")?,
        last_update: columns.time("last_update")?,
        status: columns.named("status", SessionStatus::from_name)?,
    })
}

fn step(row: &SqliteRow) -> Result<StepRow, StoreError> {
    let columns = Columns(row);
    Ok(StepRow {
        id: StepId::new(columns.get::<String>("step_id")?),
        session_id: SessionId::new(columns.get::<String>("step_session")?),
        exchange_id: ExchangeId::new(columns.get::<String>("step_exchange")?),
        agent_id: columns.get::<Option<String>>("step_agent")?.map(AgentId::new),
        tool: columns.get("step_tool")?,
        tool_use_id: columns.get("step_tool_use")?,
        action_type: ActionType::from_name(columns.get("step_action")?),
        files: columns.list("step_files")?,
        folders: columns.list("step_folders")?,
        command: columns.get("step_command")?,
        effects: columns.list("step_effects")?,
        reasoning: columns.get("step_reasoning")?,
        drift_score: columns.small("step_score")?,
        drift_type: columns.get("step_drift")?,
        is_key_decision: columns.flag("step_key_decision")?,
        is_validated: columns.flag("step_validated")?,
        correction_given: columns.get("step_correction")?,
        correction_level: columns.get("step_level")?,
        keywords: columns.list("step_keywords")?,
        timestamp: columns.time("step_time")?,
    })
}
