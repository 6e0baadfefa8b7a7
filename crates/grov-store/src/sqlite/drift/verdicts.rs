//! Stores verdicts on recorded actions.

use super::review::review_task;
use crate::sqlite::columns::{RowExt, params};
use crate::sqlite::connection::Connection;
use crate::sqlite::transitions::recount_steps;
use crate::sqlite::{SqliteStore, StoreError};
use grov_domain::{ClientSessionId, Finding, JudgedBy, RecoveryStep, Redacted, StepId, StepVerdict};
use std::collections::{BTreeSet, HashMap};

/// Returns the recovery plan as stored in the log: one text per step.
pub(super) fn plan_texts(verdict: &StepVerdict) -> Vec<String> {
    let text = |step: &RecoveryStep| match &step.file {
        Some(file) if !step.action.contains(file.as_str()) => format!("{file}: {}", step.action),
        _ => step.action.clone(),
    };
    verdict.recovery_plan.iter().map(text).collect()
}

/// Returns the reason of the most severe finding.
pub(super) fn reason(verdict: &StepVerdict) -> Option<&str> {
    verdict.findings.first().map(|finding| finding.reason.as_str())
}

fn has_hard(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.rule.is_hard())
}

/// Whether the rules withdrew their findings because the user had allowed the action.
fn withdraws_findings(verdict: &StepVerdict) -> bool {
    verdict.by == JudgedBy::Rules && verdict.findings.is_empty() && !verdict.is_off_goal()
}

/// Stores verdicts on actions of a client session. Returns the number of changed actions.
pub(super) async fn judge_steps(
    store: &SqliteStore,
    client_session: &ClientSessionId,
    verdicts: &[(StepId, Redacted<StepVerdict>)],
) -> Result<usize, StoreError> {
    if verdicts.is_empty() {
        return Ok(0);
    }
    let mut transaction = store.begin().await?;
    let client_session = client_session.as_str();
    let ids: Vec<&str> = verdicts.iter().map(|(id, _)| id.as_str()).collect();
    let mut places = places(&mut transaction, client_session, &ids).await?;
    let (mut changed, mut moved, mut judged) = (0, BTreeSet::new(), BTreeSet::new());
    for (id, verdict) in verdicts {
        let id = id.as_str();
        let Some(place) = places.get_mut(id) else {
            continue;
        };
        let has_hard = has_hard(&verdict.findings);
        let is_off_goal = verdict.is_off_goal();
        let session = place.session.as_str();
        let rows = if place.is_logged {
            let keeps = place.has_hard && !withdraws_findings(verdict);
            if is_off_goal || has_hard || keeps {
                continue;
            }
            move_to_steps(&mut transaction, id, verdict).await?
        } else if is_off_goal {
            copy_to_log(&mut transaction, session, id, verdict).await?;
            remove_step(&mut transaction, session, id).await?
        } else {
            set_verdict(&mut transaction, session, id, verdict).await?
        };
        if place.is_logged || is_off_goal {
            moved.insert(place.session.clone());
        }
        if rows > 0 {
            judged.insert(place.session.clone());
        }
        place.has_hard = has_hard;
        place.is_logged = is_off_goal;
        changed += usize::try_from(rows).unwrap_or(usize::MAX);
    }
    for session in &moved {
        recount_steps(&mut transaction, session).await?;
    }
    for session in &judged {
        review_task(&mut transaction, client_session, session).await?;
    }
    transaction.commit().await?;
    Ok(changed)
}

/// Where a judged action is stored.
struct Place {
    /// The task.
    session: String,
    /// In the drift log instead of the steps.
    is_logged: bool,
    /// Whether a rule found a fact, which no later verdict changes.
    has_hard: bool,
}

/// Finds the stored actions of a client session. Omits forgotten actions, and log entries that were never steps.
async fn places(
    connection: &mut Connection<'_>,
    client_session: &str,
    ids: &[&str],
) -> Result<HashMap<String, Place>, StoreError> {
    let rows = connection.rows("SELECT st.id, st.session_id, 0 AS is_logged, NULL AS findings FROM session_states s \
         CROSS JOIN json_each(?2) wanted \
         CROSS JOIN steps st ON st.session_id = s.session_id AND st.id = wanted.value \
         WHERE s.client_session_id = ?1 AND st.timestamp > coalesce(s.forgotten_at, st.timestamp - 1) \
         UNION ALL SELECT d.id, d.session_id, 1, d.findings FROM json_each(?2) wanted \
         CROSS JOIN drift_log d ON d.id = wanted.value CROSS JOIN session_states s ON s.session_id = d.session_id \
         WHERE s.client_session_id = ?1 AND d.tool IS NOT NULL AND d.exchange_id IS NOT NULL \
         AND d.timestamp > coalesce(s.forgotten_at, d.timestamp - 1)", params![client_session, ids])
    .await?;
    let mut places = HashMap::with_capacity(rows.len());
    for row in &rows {
        let place = Place {
            session: row.read(1)?,
            is_logged: row.read(2)?,
            // An action with unreadable findings is not moved.
            has_hard: row
                .read::<Vec<Finding>>(3)
                .map_or(true, |findings| has_hard(&findings)),
        };
        places.insert(row.read(0)?, place);
    }
    Ok(places)
}

/// Moves an event from the log back to the steps. The correction that it caused stays.
async fn move_to_steps(
    connection: &mut Connection<'_>,
    id: &str,
    verdict: &StepVerdict,
) -> Result<u64, StoreError> {
    let moved = connection.execute("INSERT INTO steps (session_id, id, exchange_id, agent_id, tool, tool_use_id, action_type, files, folders, \
         command, effects, reasoning, is_key_decision, keywords, timestamp, drift_score, drift_type, judged_by, \
         findings, correction_level, correction_given, outcome) \
         SELECT session_id, id, exchange_id, agent_id, tool, tool_use_id, action_type, files, folders, \
         command, effects, reasoning, is_key_decision, keywords, timestamp, ?2, ?3, ?4, ?5, coalesce(?6, level), \
         coalesce(?7, correction_given), outcome FROM drift_log WHERE id = ?1 ON CONFLICT DO NOTHING", params![id, verdict.score, verdict.drift_type().as_str(), verdict.by, verdict.findings, verdict.level, verdict.correction])
    .await?;
    connection
        .execute(
            "INSERT INTO step_files (path, timestamp, session_id, step_id) \
         SELECT f.value, d.timestamp, d.session_id, d.id FROM drift_log d, json_each(d.files) f \
         WHERE d.id = ?1 AND d.reasoning IS NOT NULL ON CONFLICT DO NOTHING; \
         DELETE FROM drift_log WHERE id = ?1",
            params![id],
        )
        .await?;
    Ok(moved)
}

/// Sets the verdict of a step. A correction that an earlier verdict caused stays.
async fn set_verdict(
    connection: &mut Connection<'_>,
    session: &str,
    id: &str,
    verdict: &StepVerdict,
) -> Result<u64, StoreError> {
    connection.execute("UPDATE steps SET drift_score = ?, drift_type = ?, judged_by = ?, findings = ?, is_validated = 1, \
         correction_level = coalesce(?, correction_level), correction_given = coalesce(?, correction_given) \
         WHERE session_id = ? AND id = ?", params![verdict.score, verdict.drift_type().as_str(), verdict.by, verdict.findings, verdict.level, verdict.correction, session, id])
    .await
}

/// Copies a step to the log.
async fn copy_to_log(
    connection: &mut Connection<'_>,
    session: &str,
    id: &str,
    verdict: &StepVerdict,
) -> Result<(), StoreError> {
    connection.execute("INSERT INTO drift_log (id, step_id, session_id, client_session_id, project_path, exchange_id, timestamp, \
         action_type, files, command, drift_score, level, reason, correction_given, recovery_plan, findings, judged_by, \
         agent_id, tool, tool_use_id, folders, effects, reasoning, is_key_decision, keywords, outcome) \
         SELECT st.id, st.id, st.session_id, s.client_session_id, s.project_path, st.exchange_id, st.timestamp, \
         st.action_type, st.files, st.command, ?3, coalesce(?4, st.correction_level), ?5, \
         coalesce(?6, st.correction_given), ?7, ?8, ?9, \
         st.agent_id, st.tool, st.tool_use_id, st.folders, st.effects, st.reasoning, st.is_key_decision, st.keywords, \
         st.outcome \
         FROM steps st JOIN session_states s ON s.session_id = st.session_id \
         WHERE st.session_id = ?1 AND st.id = ?2 ON CONFLICT (id) DO NOTHING", params![session, id, verdict.score, verdict.level, reason(verdict), verdict.correction, plan_texts(verdict), verdict.findings, verdict.by])
    .await?;
    Ok(())
}

/// Removes a step and the lookup rows of its files.
async fn remove_step(connection: &mut Connection<'_>, session: &str, id: &str) -> Result<u64, StoreError> {
    connection
        .execute(
            "DELETE FROM step_files WHERE (path, timestamp, session_id, step_id) IN \
         (SELECT f.value, st.timestamp, st.session_id, st.id FROM steps st, json_each(st.files) f \
          WHERE st.session_id = ? AND st.id = ?)",
            params![session, id],
        )
        .await?;
    connection
        .execute(
            "DELETE FROM steps WHERE session_id = ? AND id = ?",
            params![session, id],
        )
        .await
}

/// Removes these steps of a client session, which are now in the log.
pub(in crate::sqlite) async fn remove_steps(
    connection: &mut Connection<'_>,
    client_session: &str,
    ids: &[&str],
) -> Result<(), StoreError> {
    let rows = connection
        .rows(
            "SELECT st.id, st.session_id FROM session_states s CROSS JOIN json_each(?2) wanted \
         CROSS JOIN steps st ON st.session_id = s.session_id AND st.id = wanted.value \
         WHERE s.client_session_id = ?1",
            params![client_session, ids],
        )
        .await?;
    let mut concerned = BTreeSet::new();
    for row in &rows {
        let (id, session): (String, String) = (row.read(0)?, row.read(1)?);
        remove_step(connection, &session, &id).await?;
        concerned.insert(session);
    }
    for session in &concerned {
        recount_steps(connection, session).await?;
    }
    Ok(())
}
