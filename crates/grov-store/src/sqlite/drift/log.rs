//! The drift log.

use super::verdicts::NewVerdict;
use super::{judge_name, judge_of_name};
use crate::sqlite::append::NewExchange;
use crate::sqlite::error::decoding;
use crate::sqlite::rows::{Insert, portions};
use crate::sqlite::values::{Columns, list, list_value, millis};
use crate::sqlite::{SqliteStore, StoreError};
use grov_domain::{
    ActionType, ClientSessionId, DriftEvent, DriftEventId, DriftFilter, JudgedBy, Redacted, SessionId, StepId,
};
use sqlx::QueryBuilder;
use sqlx::sqlite::{Sqlite, SqliteConnection, SqliteRow};

const INSERT_EVENTS: Insert = Insert {
    head: "INSERT OR ROLLBACK INTO drift_log (id, step_id, session_id, client_session_id, exchange_id, timestamp, \
           action_type, files, command, drift_score, level, reason, correction_given, recovery_plan, findings, judged_by, \
           agent_id, tool, tool_use_id, folders, effects, reasoning, is_key_decision, keywords)",
    columns: 24,
    tail: "ON CONFLICT (id) DO NOTHING",
};

/// Judged steps in the form of events; what the log alone keeps is missing.
const JUDGED_STEPS: &str = "SELECT st.id, st.session_id, st.timestamp, st.action_type, st.files, st.drift_score, \
     st.correction_level AS level, json_extract(st.findings, '$[0].reason') AS reason, st.correction_given, \
     NULL AS recovery_plan, s.client_session_id, st.id AS step_id, st.command, st.findings, st.judged_by \
     FROM session_states s CROSS JOIN steps st ON st.session_id = s.session_id \
     WHERE st.drift_score IS NOT NULL AND st.id = ";

/// Adds the steps of new exchanges that were judged off goal at once. Their tasks are stored already.
pub(in crate::sqlite) async fn insert_events(
    connection: &mut SqliteConnection,
    new: &[&NewExchange<'_>],
) -> Result<(), sqlx::Error> {
    let rows: Vec<_> = new
        .iter()
        .flat_map(|exchange| exchange.off_goal.iter().map(move |step| (exchange, step)))
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    for portion in portions(&rows) {
        let query = INSERT_EVENTS.query(portion, |values, (exchange, new)| {
            let verdict = new.verdict.as_ref();
            values.shared(&new.id);
            values.shared(&new.id);
            values.shared(&exchange.session);
            values.text(exchange.record.client_session_id.as_str());
            values.shared(&exchange.id);
            values.integer(millis(new.step.timestamp));
            values.text(new.step.action.action_type.as_str());
            values.optional(new.files.as_deref());
            values.optional(new.command);
            values.optional_integer(verdict.map(|verdict| i64::from(verdict.score)));
            values.optional(verdict.and_then(|verdict| verdict.level));
            values.optional(verdict.and_then(NewVerdict::reason));
            values.optional(verdict.and_then(|verdict| verdict.correction));
            values.optional(verdict.and_then(|verdict| verdict.plan.as_deref()));
            values.optional(verdict.and_then(|verdict| verdict.findings.as_deref()));
            values.optional(verdict.map(|verdict| verdict.judged_by));
            let action = &new.step.action;
            values.optional(exchange.record.agent_id.as_ref().map(|id| id.as_str()));
            values.text(&action.tool);
            values.optional(action.tool_use_id.as_deref());
            values.optional(new.folders.as_deref());
            values.optional(new.effects.as_deref());
            values.optional(new.reasoning);
            values.integer(i64::from(new.step.is_key_decision));
            values.optional(new.keywords.as_deref());
        })?;
        query.execute(&mut *connection).await?;
    }
    let ids: Vec<&str> = rows.iter().map(|(_, step)| &*step.id).collect();
    sqlx::query(
        "UPDATE drift_log SET project_path = coalesce((SELECT s.project_path FROM session_states s \
         WHERE s.session_id = drift_log.session_id), '') WHERE id IN (SELECT value FROM json_each(?))",
    )
    .bind(list_value(&ids)?)
    .execute(connection)
    .await?;
    Ok(())
}

impl SqliteStore {
    pub(super) async fn add_event(&self, event: &Redacted<DriftEvent>) -> Result<(), StoreError> {
        let fault = |error| self.error(error);
        let mut writer = self.writer().await?;
        sqlx::query(
            "INSERT INTO drift_log (id, session_id, timestamp, action_type, files, drift_score, level, reason, \
             correction_given, recovery_plan, client_session_id, step_id, command, findings, judged_by, project_path) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, \
             coalesce((SELECT project_path FROM session_states WHERE session_id = ?2), '')) \
             ON CONFLICT (id) DO UPDATE SET session_id = excluded.session_id, timestamp = excluded.timestamp, \
             action_type = excluded.action_type, files = excluded.files, drift_score = excluded.drift_score, \
             level = excluded.level, reason = excluded.reason, correction_given = excluded.correction_given, \
             recovery_plan = excluded.recovery_plan, client_session_id = excluded.client_session_id, \
             step_id = excluded.step_id, command = excluded.command, findings = excluded.findings, \
             judged_by = excluded.judged_by, project_path = excluded.project_path",
        )
        .bind(event.id.as_str())
        .bind(event.session_id.as_str())
        .bind(millis(event.timestamp))
        .bind(event.action_type.map(ActionType::as_str))
        .bind(list(&event.files)?)
        .bind(event.drift_score)
        .bind(event.level.as_deref())
        .bind(event.reason.as_deref())
        .bind(event.correction_given.as_deref())
        .bind(list(&event.recovery_plan)?)
        .bind(event.client_session_id.as_ref().map(ClientSessionId::as_str))
        .bind(event.step_id.as_ref().map(StepId::as_str))
        .bind(event.command.as_deref())
        .bind(list(&event.findings)?)
        .bind(event.judged_by.map(judge_name))
        .execute(writer.connection()?)
        .await
        .map_err(fault)?;
        writer.commit().await.map_err(fault)
    }

    pub(super) async fn events(&self, filter: &DriftFilter) -> Result<Vec<DriftEvent>, StoreError> {
        let mut query = QueryBuilder::<Sqlite>::new("SELECT * FROM drift_log WHERE true");
        if let Some(session) = &filter.session_id {
            query.push(" AND session_id = ").push_bind(session.as_str());
        }
        if let Some(session) = &filter.client_session_id {
            query
                .push(" AND client_session_id = ")
                .push_bind(session.as_str());
        }
        if let Some(project) = &filter.project_path {
            query.push(" AND project_path = ").push_bind(project);
        }
        query.push(" ORDER BY timestamp DESC, id DESC");
        if let Some(limit) = filter.limit {
            query.push(" LIMIT ").push_bind(limit);
        }
        let rows = self.reader().await?.rows(self, query.build()).await?;
        rows.iter().rev().map(event).collect()
    }

    /// The event of that id or, where a step of that id was judged and kept its place, what was found of the step.
    pub(super) async fn event(&self, id: &DriftEventId) -> Result<Option<DriftEvent>, StoreError> {
        for select in ["SELECT * FROM drift_log WHERE id = ", JUDGED_STEPS] {
            let mut query = QueryBuilder::<Sqlite>::new(select);
            query.push_bind(id.as_str());
            let rows = self.reader().await?.rows(self, query.build()).await?;
            if let Some(row) = rows.first() {
                return event(row).map(Some);
            }
        }
        Ok(None)
    }
}

/// The events of a task, oldest first.
pub(super) async fn events_of(
    connection: &mut SqliteConnection,
    session: &str,
) -> Result<Vec<DriftEvent>, sqlx::Error> {
    let rows = sqlx::query("SELECT * FROM drift_log WHERE session_id = ? ORDER BY timestamp, id")
        .bind(session)
        .fetch_all(connection)
        .await?;
    rows.iter().map(|row| event(row).map_err(decoding)).collect()
}

fn event(row: &SqliteRow) -> Result<DriftEvent, StoreError> {
    let columns = Columns(row);
    Ok(DriftEvent {
        id: DriftEventId::new(columns.get::<String>("id")?),
        session_id: SessionId::new(columns.get::<String>("session_id")?),
        timestamp: columns.time("timestamp")?,
        action_type: columns
            .get::<Option<&str>>("action_type")?
            .map(ActionType::from_name),
        files: columns.list("files")?,
        drift_score: columns.small("drift_score")?,
        level: columns.get("level")?,
        reason: columns.get("reason")?,
        correction_given: columns.get("correction_given")?,
        recovery_plan: columns.list("recovery_plan")?,
        client_session_id: columns
            .get::<Option<String>>("client_session_id")?
            .map(ClientSessionId::new),
        step_id: columns.get::<Option<String>>("step_id")?.map(StepId::new),
        command: columns.get("command")?,
        findings: columns.list("findings")?,
        judged_by: judged_by(&columns)?,
    })
}

fn judged_by(columns: &Columns<'_>) -> Result<Option<JudgedBy>, StoreError> {
    Ok(columns.get::<Option<&str>>("judged_by")?.and_then(judge_of_name))
}
