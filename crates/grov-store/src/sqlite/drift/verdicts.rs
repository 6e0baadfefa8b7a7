//! Verdicts on recorded actions.

use super::judge_name;
use super::marks::mark_saved;
use crate::sqlite::transitions::recount_steps;
use crate::sqlite::values::{list, list_value};
use crate::sqlite::{SqliteStore, StoreError};
use grov_domain::{
    ClientSessionId, CorrectionLevel, Finding, JudgedBy, RecoveryStep, Redacted, StepId, StepVerdict,
};
use sqlx::Row;
use sqlx::sqlite::SqliteConnection;
use std::collections::{BTreeSet, HashMap};

/// A verdict on its way in, redacted and encoded.
pub(in crate::sqlite) struct NewVerdict<'a> {
    pub(in crate::sqlite) score: u8,
    pub(in crate::sqlite) drift_type: &'static str,
    pub(in crate::sqlite) judged_by: &'static str,
    pub(in crate::sqlite) findings: Option<String>,
    pub(in crate::sqlite) level: Option<&'static str>,
    pub(in crate::sqlite) correction: Option<&'a str>,
    /// The way back, one text per step; kept in the log alone.
    pub(super) plan: Option<String>,
    reason: Option<&'a str>,
    is_off_goal: bool,
    has_hard: bool,
    /// Rules found nothing after all: the user had allowed it.
    is_acquittal: bool,
}

impl<'a> NewVerdict<'a> {
    pub(in crate::sqlite) fn new(verdict: &'a StepVerdict) -> Result<Self, StoreError> {
        let plan: Vec<String> = verdict.recovery_plan.iter().map(in_words).collect();
        Ok(Self {
            score: verdict.score,
            drift_type: verdict.drift_type().as_str(),
            judged_by: judge_name(verdict.by),
            findings: list(&verdict.findings)?,
            level: verdict.level.map(CorrectionLevel::as_str),
            plan: list(&plan)?,
            is_off_goal: verdict.is_off_goal(),
            has_hard: has_hard(&verdict.findings),
            is_acquittal: verdict.by == JudgedBy::Rules
                && verdict.findings.is_empty()
                && !verdict.is_off_goal(),
            correction: verdict.correction.as_deref(),
            reason: verdict.findings.first().map(|finding| finding.reason.as_str()),
        })
    }

    /// What the gravest finding says; kept in the log alone.
    pub(super) fn reason(&self) -> Option<&str> {
        self.reason
    }

    /// Whether the action belongs into the log instead of among the steps.
    pub(in crate::sqlite) fn is_off_goal(&self) -> bool {
        self.is_off_goal
    }
}

/// A step of a way back, as one text.
fn in_words(step: &RecoveryStep) -> String {
    match &step.file {
        Some(file) if !step.action.contains(file.as_str()) => format!("{file}: {}", step.action),
        _ => step.action.clone(),
    }
}

impl SqliteStore {
    pub(super) async fn judge(
        &self,
        client_session: &ClientSessionId,
        verdicts: &[(StepId, Redacted<StepVerdict>)],
    ) -> Result<usize, StoreError> {
        if verdicts.is_empty() {
            return Ok(0);
        }
        let fault = |error| self.error(error);
        // Before the lock is taken: other processes wait for it.
        let mut new: Vec<(&str, NewVerdict)> = Vec::with_capacity(verdicts.len());
        for (id, verdict) in verdicts {
            new.push((id.as_str(), NewVerdict::new(verdict)?));
        }
        let mut writer = self.writer().await?;
        let changed = judge(writer.connection()?, client_session.as_str(), &new)
            .await
            .map_err(fault)?;
        writer.commit().await.map_err(fault)?;
        Ok(changed)
    }
}

async fn judge(
    connection: &mut SqliteConnection,
    client_session: &str,
    verdicts: &[(&str, NewVerdict<'_>)],
) -> Result<usize, sqlx::Error> {
    let ids: Vec<&str> = verdicts.iter().map(|(id, _)| *id).collect();
    let mut places = places(connection, client_session, &ids).await?;
    let (mut changed, mut moved, mut judged) = (0, BTreeSet::new(), BTreeSet::new());
    for (id, verdict) in verdicts {
        let Some(place) = places.get_mut(*id) else {
            continue;
        };
        let session = place.session.as_str();
        let rows = if place.is_logged {
            let stands = place.has_hard && !verdict.is_acquittal;
            if verdict.is_off_goal || verdict.has_hard || stands {
                continue;
            }
            bring_back(connection, id, verdict).await?
        } else if verdict.is_off_goal {
            log(connection, session, id, verdict).await?;
            remove(connection, session, id).await?
        } else {
            mark(connection, session, id, verdict).await?
        };
        if place.is_logged || verdict.is_off_goal {
            moved.insert(place.session.clone());
        }
        if rows > 0 {
            judged.insert(place.session.clone());
        }
        place.has_hard = verdict.has_hard;
        place.is_logged = verdict.is_off_goal;
        changed += usize::try_from(rows).unwrap_or(usize::MAX);
    }
    for session in &moved {
        recount_steps(connection, session).await?;
    }
    for session in &judged {
        mark_saved(connection, client_session, session).await?;
    }
    Ok(changed)
}

/// Where a judged action is.
struct Place {
    /// Its task.
    session: String,
    /// In the log instead of among the steps.
    is_logged: bool,
    /// Whether a rule found a fact there that no later verdict changes.
    has_hard: bool,
}

/// Where these actions of a client session are, as far as they are there: of those in the log only what was a step, and
/// nothing that was forgotten.
async fn places(
    connection: &mut SqliteConnection,
    client_session: &str,
    ids: &[&str],
) -> Result<HashMap<String, Place>, sqlx::Error> {
    let rows = sqlx::query(
        "SELECT st.id, st.session_id, 0 AS is_logged, NULL AS findings FROM session_states s \
         CROSS JOIN json_each(?2) wanted \
         CROSS JOIN steps st ON st.session_id = s.session_id AND st.id = wanted.value \
         WHERE s.client_session_id = ?1 AND st.timestamp > coalesce(s.forgotten_at, st.timestamp - 1) \
         UNION ALL SELECT d.id, d.session_id, 1, d.findings FROM json_each(?2) wanted \
         CROSS JOIN drift_log d ON d.id = wanted.value CROSS JOIN session_states s ON s.session_id = d.session_id \
         WHERE s.client_session_id = ?1 AND d.tool IS NOT NULL AND d.exchange_id IS NOT NULL \
         AND d.timestamp > coalesce(s.forgotten_at, d.timestamp - 1)",
    )
    .bind(client_session)
    .bind(list_value(ids)?)
    .fetch_all(connection)
    .await?;
    let mut places = HashMap::with_capacity(rows.len());
    for row in &rows {
        let findings: Option<&str> = row.try_get(3)?;
        // What cannot be read is left where it is.
        let has_hard = findings.is_some_and(|text| {
            serde_json::from_str::<Vec<Finding>>(text).map_or(true, |findings| has_hard(&findings))
        });
        let place = Place {
            session: row.try_get(1)?,
            is_logged: row.try_get(2)?,
            has_hard,
        };
        places.insert(row.try_get(0)?, place);
    }
    Ok(places)
}

fn has_hard(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.rule.is_hard())
}

/// Makes an event the step again that it was. What the agent was told because of it stays.
async fn bring_back(
    connection: &mut SqliteConnection,
    id: &str,
    verdict: &NewVerdict<'_>,
) -> Result<u64, sqlx::Error> {
    let back = sqlx::query(
        "INSERT INTO steps (session_id, id, exchange_id, agent_id, tool, tool_use_id, action_type, files, folders, \
         command, effects, reasoning, is_key_decision, keywords, timestamp, drift_score, drift_type, judged_by, \
         findings, correction_level, correction_given) \
         SELECT session_id, id, exchange_id, agent_id, tool, tool_use_id, action_type, files, folders, \
         command, effects, reasoning, is_key_decision, keywords, timestamp, ?2, ?3, ?4, ?5, coalesce(?6, level), \
         coalesce(?7, correction_given) FROM drift_log WHERE id = ?1 ON CONFLICT DO NOTHING",
    )
    .bind(id)
    .bind(verdict.score)
    .bind(verdict.drift_type)
    .bind(verdict.judged_by)
    .bind(verdict.findings.as_deref())
    .bind(verdict.level)
    .bind(verdict.correction)
    .execute(&mut *connection)
    .await?;
    sqlx::query(
        "INSERT INTO step_files (path, timestamp, session_id, step_id) \
         SELECT f.value, d.timestamp, d.session_id, d.id FROM drift_log d, json_each(d.files) f \
         WHERE d.id = ?1 AND d.reasoning IS NOT NULL ON CONFLICT DO NOTHING; \
         DELETE FROM drift_log WHERE id = ?1",
    )
    .bind(id)
    .execute(connection)
    .await?;
    Ok(back.rows_affected())
}

/// Writes the verdict beside the step. What the agent was told because of an earlier one stays.
async fn mark(
    connection: &mut SqliteConnection,
    session: &str,
    id: &str,
    verdict: &NewVerdict<'_>,
) -> Result<u64, sqlx::Error> {
    let marked = sqlx::query(
        "UPDATE steps SET drift_score = ?, drift_type = ?, judged_by = ?, findings = ?, is_validated = 1, \
         correction_level = coalesce(?, correction_level), correction_given = coalesce(?, correction_given) \
         WHERE session_id = ? AND id = ?",
    )
    .bind(verdict.score)
    .bind(verdict.drift_type)
    .bind(verdict.judged_by)
    .bind(verdict.findings.as_deref())
    .bind(verdict.level)
    .bind(verdict.correction)
    .bind(session)
    .bind(id)
    .execute(connection)
    .await?;
    Ok(marked.rows_affected())
}

/// Writes the step into the log.
async fn log(
    connection: &mut SqliteConnection,
    session: &str,
    id: &str,
    verdict: &NewVerdict<'_>,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO drift_log (id, step_id, session_id, client_session_id, project_path, exchange_id, timestamp, \
         action_type, files, command, drift_score, level, reason, correction_given, recovery_plan, findings, judged_by, \
         agent_id, tool, tool_use_id, folders, effects, reasoning, is_key_decision, keywords) \
         SELECT st.id, st.id, st.session_id, s.client_session_id, s.project_path, st.exchange_id, st.timestamp, \
         st.action_type, st.files, st.command, ?3, coalesce(?4, st.correction_level), ?5, \
         coalesce(?6, st.correction_given), ?7, ?8, ?9, \
         st.agent_id, st.tool, st.tool_use_id, st.folders, st.effects, st.reasoning, st.is_key_decision, st.keywords \
         FROM steps st JOIN session_states s ON s.session_id = st.session_id \
         WHERE st.session_id = ?1 AND st.id = ?2 ON CONFLICT (id) DO NOTHING",
    )
    .bind(session)
    .bind(id)
    .bind(verdict.score)
    .bind(verdict.level)
    .bind(verdict.reason())
    .bind(verdict.correction)
    .bind(verdict.plan.as_deref())
    .bind(verdict.findings.as_deref())
    .bind(verdict.judged_by)
    .execute(connection)
    .await?;
    Ok(())
}

/// Removes a step and the lookups of its files.
async fn remove(connection: &mut SqliteConnection, session: &str, id: &str) -> Result<u64, sqlx::Error> {
    sqlx::query(
        "DELETE FROM step_files WHERE (path, timestamp, session_id, step_id) IN \
         (SELECT f.value, st.timestamp, st.session_id, st.id FROM steps st, json_each(st.files) f \
          WHERE st.session_id = ? AND st.id = ?)",
    )
    .bind(session)
    .bind(id)
    .execute(&mut *connection)
    .await?;
    let removed = sqlx::query("DELETE FROM steps WHERE session_id = ? AND id = ?")
        .bind(session)
        .bind(id)
        .execute(connection)
        .await?;
    Ok(removed.rows_affected())
}

/// Removes the steps of a client session that are in the log by now.
pub(in crate::sqlite) async fn take_out(
    connection: &mut SqliteConnection,
    client_session: &str,
    ids: &[&str],
) -> Result<(), sqlx::Error> {
    let rows = sqlx::query(
        "SELECT st.id, st.session_id FROM session_states s CROSS JOIN json_each(?2) wanted \
         CROSS JOIN steps st ON st.session_id = s.session_id AND st.id = wanted.value \
         WHERE s.client_session_id = ?1",
    )
    .bind(client_session)
    .bind(list_value(ids)?)
    .fetch_all(&mut *connection)
    .await?;
    let mut concerned = BTreeSet::new();
    for row in &rows {
        let session: String = row.try_get(1)?;
        remove(connection, &session, row.try_get(0)?).await?;
        concerned.insert(session);
    }
    for session in &concerned {
        recount_steps(connection, session).await?;
    }
    Ok(())
}
