//! The drift log.

use super::verdicts::{plan_texts, reason};
use crate::sqlite::StoreError;
use crate::sqlite::append::NewExchange;
use crate::sqlite::columns::{params, record};
use crate::sqlite::connection::Connection;
use crate::sqlite::insert::insert;
use crate::sqlite::select::Select;
use grov_domain::{DriftEvent, DriftFilter, ExchangeRecord, Step};

record! {
    DriftEvent in "drift_log", key (id);
    session_id, timestamp, action_type, files, drift_score, level, reason, correction_given, recovery_plan,
    client_session_id, step_id, tool_use_id, command, findings, judged_by,
    outcome
}

insert! {
    INSERT_EVENTS, bind_event((exchange, step) in (&ExchangeRecord, &Step)):
    "INSERT OR ROLLBACK INTO drift_log", "ON CONFLICT (id) DO NOTHING";
    exchange => { session_id, client_session_id, exchange_id = id, agent_id }
    step => { id, step_id = id, timestamp, reasoning, is_key_decision, keywords }
    step.action => { tool, tool_use_id, action_type, files, folders, command, effects }
    ? step.verdict => { drift_score = score, level, correction_given = correction, findings, judged_by = by };
    reason: step.verdict.as_ref().and_then(reason),
    recovery_plan: step.verdict.as_ref().map(plan_texts),
}

/// Selects a judged step in the form of an event, without the columns that only the log has.
pub(super) const JUDGED_STEP: &str = "SELECT st.id, st.session_id, st.timestamp, st.action_type, st.files, st.drift_score, \
     st.correction_level AS level, json_extract(st.findings, '$[0].reason') AS reason, st.correction_given, \
     NULL AS recovery_plan, s.client_session_id, st.id AS step_id, st.tool_use_id, st.command, st.findings, st.judged_by, \
     st.outcome FROM session_states s CROSS JOIN steps st ON st.session_id = s.session_id \
     WHERE st.drift_score IS NOT NULL AND st.id = ?";

/// Selects the events of a session that have all that a step has, in the form of steps.
pub(super) const AS_STEPS: &str = "SELECT id, session_id, exchange_id, agent_id, tool, tool_use_id, action_type, files, folders, \
     command, effects, reasoning, drift_score, \
     CASE WHEN drift_score >= 3 THEN 'major' WHEN drift_score IS NOT NULL THEN 'critical' END AS drift_type, outcome, is_key_decision, 0 AS is_validated, \
     correction_given, level AS correction_level, timestamp, keywords AS step_keywords \
     FROM drift_log WHERE client_session_id = ? AND tool IS NOT NULL AND exchange_id IS NOT NULL \
     AND action_type IS NOT NULL ORDER BY timestamp, id";

/// Adds steps of new exchanges that were already judged off goal. Their tasks are stored.
pub(in crate::sqlite) async fn insert_events(
    connection: &mut Connection<'_>,
    new: &[&NewExchange<'_>],
) -> Result<(), StoreError> {
    let rows: Vec<(&ExchangeRecord, &Step)> = new
        .iter()
        .flat_map(|exchange| exchange.off_goal.iter().map(move |step| (exchange.record, *step)))
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    connection.insert(&INSERT_EVENTS, &rows, bind_event).await?;
    let ids: Vec<&str> = rows.iter().map(|(_, step)| step.id.as_str()).collect();
    set_projects(connection, &ids).await
}

/// Sets the projects of events.
pub(super) async fn set_projects(connection: &mut Connection<'_>, ids: &[&str]) -> Result<(), StoreError> {
    let sql = "UPDATE drift_log SET project_path = coalesce((SELECT s.project_path FROM session_states s \
         WHERE s.session_id = drift_log.session_id), '') WHERE id IN (SELECT value FROM json_each(?))";
    connection.execute(sql, params![ids]).await.map(drop)
}

/// Selects events, newest first.
pub(super) fn select(filter: &DriftFilter) -> Select {
    let mut select = Select::new("SELECT * FROM drift_log");
    select.and("session_id =", filter.session_id.as_ref());
    select.and("client_session_id =", filter.client_session_id.as_ref());
    select.and("project_path =", filter.project_path.as_ref());
    select.end("ORDER BY timestamp DESC, id DESC", filter.limit);
    select
}
