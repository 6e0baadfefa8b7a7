//! Verdicts on recorded actions.

use super::judge_name;
use crate::door;
use crate::sqlite::transitions::recount_steps;
use crate::sqlite::values::{list, list_value};
use crate::sqlite::{SqliteStore, StoreError};
use grov_domain::{CorrectionLevel, RecoveryStep, StepId, StepVerdict};
use sqlx::Row;
use sqlx::sqlite::SqliteConnection;
use std::collections::{BTreeSet, HashMap};

/// A verdict on its way in, redacted and encoded.
pub(in crate::sqlite) struct NewVerdict {
    pub(in crate::sqlite) score: u8,
    pub(in crate::sqlite) drift_type: &'static str,
    pub(in crate::sqlite) judged_by: &'static str,
    pub(in crate::sqlite) findings: Option<String>,
    pub(in crate::sqlite) level: Option<&'static str>,
    pub(in crate::sqlite) correction: Option<String>,
    /// The way back, one text per step; kept in the log alone.
    pub(super) plan: Option<String>,
    reason: Option<String>,
    is_off_goal: bool,
}

impl NewVerdict {
    pub(in crate::sqlite) fn new(verdict: &StepVerdict) -> Result<Self, StoreError> {
        let mut verdict = door::verdict(verdict);
        let plan: Vec<String> = verdict.recovery_plan.iter().map(in_words).collect();
        Ok(Self {
            score: verdict.score,
            drift_type: verdict.drift_type().as_str(),
            judged_by: judge_name(verdict.by),
            findings: list(&verdict.findings)?,
            level: verdict.level.map(CorrectionLevel::as_str),
            plan: list(&plan)?,
            is_off_goal: verdict.is_off_goal(),
            correction: verdict.correction.take(),
            reason: verdict.findings.into_iter().next().map(|finding| finding.reason),
        })
    }

    /// What the gravest finding says; kept in the log alone.
    pub(super) fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
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
    pub(super) async fn judge(&self, verdicts: &[(StepId, StepVerdict)]) -> Result<usize, StoreError> {
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
        let changed = judge(writer.connection()?, &new).await.map_err(fault)?;
        writer.commit().await.map_err(fault)?;
        Ok(changed)
    }
}

async fn judge(
    connection: &mut SqliteConnection,
    verdicts: &[(&str, NewVerdict)],
) -> Result<usize, sqlx::Error> {
    let ids: Vec<&str> = verdicts.iter().map(|(id, _)| *id).collect();
    let places = places(connection, &ids).await?;
    let (mut changed, mut concerned) = (0, BTreeSet::new());
    for (id, verdict) in verdicts {
        let Some(session) = places.get(*id) else {
            continue;
        };
        let rows = if verdict.is_off_goal {
            log(connection, session, id, verdict).await?;
            concerned.insert(session.as_str());
            remove(connection, session, id).await?
        } else {
            mark(connection, session, id, verdict).await?
        };
        changed += usize::try_from(rows).unwrap_or(usize::MAX);
    }
    for session in concerned {
        recount_steps(connection, session).await?;
    }
    Ok(changed)
}

/// Which task each of these steps is in, as far as they are there.
///
/// A step is stored under its task. Those that are judged together are mostly of one client session: where one of them
/// is, the others are looked for first, so that all tasks of the store are asked for few of them.
async fn places(
    connection: &mut SqliteConnection,
    ids: &[&str],
) -> Result<HashMap<String, String>, sqlx::Error> {
    let mut places = HashMap::with_capacity(ids.len());
    let mut wanted: BTreeSet<&str> = ids.iter().copied().collect();
    while let Some(first) = wanted.pop_first() {
        let listed: Vec<&str> = wanted.iter().copied().chain([first]).collect();
        let rows = sqlx::query(
            "SELECT st.id, st.session_id FROM \
             (SELECT s.client_session_id AS client FROM session_states s \
              CROSS JOIN steps st ON st.session_id = s.session_id AND st.id = ?1 LIMIT 1) home \
             CROSS JOIN session_states s ON s.client_session_id = home.client \
             CROSS JOIN json_each(?2) wanted \
             CROSS JOIN steps st ON st.session_id = s.session_id AND st.id = wanted.value",
        )
        .bind(first)
        .bind(list_value(&listed)?)
        .fetch_all(&mut *connection)
        .await?;
        for row in &rows {
            let id: String = row.try_get(0)?;
            wanted.remove(id.as_str());
            places.insert(id, row.try_get(1)?);
        }
    }
    Ok(places)
}

/// Writes the verdict beside the step. What the agent was told because of an earlier one stays.
async fn mark(
    connection: &mut SqliteConnection,
    session: &str,
    id: &str,
    verdict: &NewVerdict,
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
    .bind(verdict.correction.as_deref())
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
    verdict: &NewVerdict,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO drift_log (id, step_id, session_id, client_session_id, project_path, exchange_id, timestamp, \
         action_type, files, command, drift_score, level, reason, correction_given, recovery_plan, findings, judged_by) \
         SELECT st.id, st.id, st.session_id, s.client_session_id, s.project_path, st.exchange_id, st.timestamp, \
         st.action_type, st.files, st.command, ?3, coalesce(?4, st.correction_level), ?5, \
         coalesce(?6, st.correction_given), ?7, ?8, ?9 \
         FROM steps st JOIN session_states s ON s.session_id = st.session_id \
         WHERE st.session_id = ?1 AND st.id = ?2 ON CONFLICT (id) DO NOTHING",
    )
    .bind(session)
    .bind(id)
    .bind(verdict.score)
    .bind(verdict.level)
    .bind(verdict.reason())
    .bind(verdict.correction.as_deref())
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

/// Removes steps that are in the log by now, wherever they are.
pub(in crate::sqlite) async fn take_out(
    connection: &mut SqliteConnection,
    ids: &[&str],
) -> Result<(), sqlx::Error> {
    let mut concerned = BTreeSet::new();
    for (id, session) in places(connection, ids).await? {
        remove(connection, &session, &id).await?;
        concerned.insert(session);
    }
    for session in &concerned {
        recount_steps(connection, session).await?;
    }
    Ok(())
}
