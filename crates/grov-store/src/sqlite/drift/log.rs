//! The drift log.

use super::verdicts::{plan_texts, reason};
use crate::sqlite::StoreError;
use crate::sqlite::append::NewExchange;
use crate::sqlite::columns::{params, record};
use crate::sqlite::connection::Connection;
use crate::sqlite::insert::Insert;
use crate::sqlite::select::Select;
use grov_domain::{DriftEvent, DriftFilter};

record! {
    DriftEvent in "drift_log", key (id);
    session_id, timestamp, action_type, files, drift_score, level, reason, correction_given, recovery_plan,
    client_session_id, step_id, command, findings, judged_by
}

const INSERT_EVENTS: Insert = Insert {
    head: "INSERT OR ROLLBACK INTO drift_log (id, step_id, session_id, client_session_id, exchange_id, timestamp, \
           action_type, files, command, drift_score, level, reason, correction_given, recovery_plan, findings, judged_by, \
           agent_id, tool, tool_use_id, folders, effects, reasoning, is_key_decision, keywords)",
    columns: 24,
    tail: "ON CONFLICT (id) DO NOTHING",
};

/// A judged step in the form of an event, without the columns that only the log has.
pub(super) const JUDGED_STEP: &str = "SELECT st.id, st.session_id, st.timestamp, st.action_type, st.files, st.drift_score, \
     st.correction_level AS level, json_extract(st.findings, '$[0].reason') AS reason, st.correction_given, \
     NULL AS recovery_plan, s.client_session_id, st.id AS step_id, st.command, st.findings, st.judged_by \
     FROM session_states s CROSS JOIN steps st ON st.session_id = s.session_id \
     WHERE st.drift_score IS NOT NULL AND st.id = ?";

/// Adds the steps of new exchanges that were judged off goal at once. Their tasks are stored already.
pub(in crate::sqlite) async fn insert_events(
    connection: &mut Connection<'_>,
    new: &[&NewExchange<'_>],
) -> Result<(), StoreError> {
    let rows: Vec<_> = new
        .iter()
        .flat_map(|exchange| exchange.off_goal.iter().map(move |step| (exchange.record, *step)))
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    connection
        .insert(&INSERT_EVENTS, &rows, |values, (exchange, step)| {
            let (action, verdict) = (&step.action, step.verdict.as_ref());
            values.add(&step.id);
            values.add(&step.id);
            values.add(&exchange.session_id);
            values.add(&exchange.client_session_id);
            values.add(&exchange.id);
            values.add(&step.timestamp);
            values.add(&action.action_type);
            values.add(&action.files);
            values.add(&action.command);
            values.add(&verdict.map(|verdict| verdict.score));
            values.add(&verdict.and_then(|verdict| verdict.level));
            values.add(&verdict.and_then(reason));
            values.add(&verdict.and_then(|verdict| verdict.correction.as_ref()));
            values.add(&verdict.map(plan_texts));
            values.add(&verdict.map(|verdict| &verdict.findings));
            values.add(&verdict.map(|verdict| verdict.by));
            values.add(&exchange.agent_id);
            values.add(&action.tool);
            values.add(&action.tool_use_id);
            values.add(&action.folders);
            values.add(&action.effects);
            values.add(&step.reasoning);
            values.add(&step.is_key_decision);
            values.add(&step.keywords);
        })
        .await?;
    let ids: Vec<&str> = rows.iter().map(|(_, step)| step.id.as_str()).collect();
    set_projects(connection, &ids).await
}

/// Fills in the projects of events.
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
