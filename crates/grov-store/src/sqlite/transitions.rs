//! Transitions: changes of the tasks of a client session after a judgement.

use super::columns::{RowExt, from_row, params};
use super::connection::Connection;
use super::items::propose;
use super::ledger::REVISION;
use super::sessions::upsert_session;
use super::tasks::save_task;
use super::{SqliteStore, StoreError};
use async_trait::async_trait;
use grov_domain::{
    Applied, ExchangeId, Move, OrchestrationStore, Prompt, Redacted, SessionId, TaskTransition,
};
use std::collections::{BTreeMap, BTreeSet};
use time::OffsetDateTime;

#[async_trait]
impl OrchestrationStore for SqliteStore {
    async fn apply(&self, transition: &Redacted<TaskTransition>) -> Result<Applied, StoreError> {
        let mut transaction = self.begin().await?;
        if let Some(judged_under) = transition.judged_under {
            let revision: Option<i64> = transaction.value(REVISION, params![]).await?;
            if revision.unwrap_or(0) != judged_under {
                transaction.roll_back().await?;
                return Ok(Applied::Outdated);
            }
        }
        let (mut found, mut missing) = (Places::new(), Vec::new());
        if let Some(moves) = &transition.moves {
            (found, missing) = places(&mut transaction, moves).await?;
            if moves.all_or_nothing && !missing.is_empty() {
                transaction.roll_back().await?;
                return Ok(Applied::NotYet { missing });
            }
        }
        for state in &transition.sessions {
            upsert_session(&mut transaction, state).await?;
        }
        if let Some(moves) = &transition.moves {
            let task = "SELECT 1 FROM session_states WHERE session_id = ? AND client_session_id = ?";
            let task = transaction
                .row(task, params![moves.to, moves.client_session_id])
                .await?;
            if task.is_none() {
                return Err(StoreError::Other(format!(
                    "{}: cannot move exchanges to {}, which is not a task of {}; nothing was changed",
                    self.path.display(),
                    moves.to,
                    moves.client_session_id
                )));
            }
            let sessions = transition.sessions.iter();
            let mut changed: BTreeSet<&str> = sessions.map(|state| state.session_id.as_str()).collect();
            changed.insert(moves.to.as_str());
            for (from, exchanges) in &found {
                if from != moves.to.as_str() {
                    move_exchanges(&mut transaction, from, moves.to.as_str(), exchanges).await?;
                    changed.insert(from);
                }
            }
            for session in changed {
                recount(&mut transaction, session).await?;
            }
        }
        for task in &transition.finished {
            save_task(&mut transaction, task).await?;
        }
        for proposals in &transition.proposals {
            propose(&mut transaction, proposals, &transition.finished).await?;
        }
        transaction.commit().await?;
        Ok(Applied::Done { missing })
    }

    async fn prompts(
        &self,
        session: &SessionId,
        until: Option<OffsetDateTime>,
    ) -> Result<Vec<Prompt>, StoreError> {
        let sql = "SELECT text, queued FROM prompts WHERE session_id = ?1 AND (?2 IS NULL OR at <= ?2) \
             ORDER BY at, exchange_id, ordinal";
        self.read(sql, params![session, until], |row| {
            Ok(from_row!(row => Prompt { text, queued }))
        })
        .await
    }
}

/// Exchange ids by task.
type Places = BTreeMap<String, Vec<String>>;

/// Returns the tasks of the exchanges, and the exchanges that are not stored.
async fn places(
    connection: &mut Connection<'_>,
    moves: &Move,
) -> Result<(Places, Vec<ExchangeId>), StoreError> {
    let ids: Vec<&str> = moves.exchanges.iter().map(ExchangeId::as_str).collect();
    let rows = connection
        .rows(
            "SELECT DISTINCT e.session_id, e.id FROM json_each(?) wanted CROSS JOIN session_states s \
         CROSS JOIN exchanges e ON e.session_id = s.session_id AND e.id = wanted.value \
         WHERE s.client_session_id = ? AND e.moved_to IS NULL",
            params![ids, moves.client_session_id],
        )
        .await?;
    let mut places = Places::new();
    let mut missing: BTreeSet<&ExchangeId> = moves.exchanges.iter().collect();
    for row in &rows {
        let id: ExchangeId = row.read(1)?;
        missing.remove(&id);
        places.entry(row.read(0)?).or_default().push(id.to_string());
    }
    Ok((places, missing.into_iter().cloned().collect()))
}

/// Condition for the lookup rows of steps of exchanges `?3` in session `?1`, for steps that session `?2` has or does
/// not have.
macro_rules! lookups {
    ($condition:literal) => {
        concat!(
            "(path, timestamp, session_id, step_id) IN (SELECT f.value, st.timestamp, st.session_id, st.id \
             FROM steps st, json_each(st.files) f \
             WHERE st.session_id = ?1 AND st.exchange_id IN (SELECT value FROM json_each(?3)) AND st.id ",
            $condition,
            " (SELECT id FROM steps WHERE session_id = ?2))"
        )
    };
}

/// Moves exchanges with all their rows. A step that both tasks have is not moved.
async fn move_exchanges(
    connection: &mut Connection<'_>,
    from: &str,
    to: &str,
    exchanges: &[String],
) -> Result<(), StoreError> {
    const STATEMENTS: [&str; 9] = [
        concat!("DELETE FROM step_files WHERE ", lookups!("IN")),
        concat!("UPDATE step_files SET session_id = ?2 WHERE ", lookups!("NOT IN")),
        "DELETE FROM steps WHERE session_id = ?1 AND exchange_id IN (SELECT value FROM json_each(?3)) \
         AND id IN (SELECT id FROM steps WHERE session_id = ?2)",
        "UPDATE steps SET session_id = ?2 \
         WHERE session_id = ?1 AND exchange_id IN (SELECT value FROM json_each(?3))",
        "UPDATE drift_log SET session_id = ?2 \
         WHERE session_id = ?1 AND exchange_id IN (SELECT value FROM json_each(?3))",
        // Corrections sent because of an action.
        "UPDATE corrections SET session_id = ?2 WHERE client_session_id = \
         (SELECT client_session_id FROM session_states WHERE session_id = ?2) AND step_id IN \
         (SELECT id FROM steps WHERE session_id = ?2 AND exchange_id IN (SELECT value FROM json_each(?3)) \
          UNION ALL SELECT id FROM drift_log \
          WHERE session_id = ?2 AND exchange_id IN (SELECT value FROM json_each(?3)))",
        "UPDATE prompts SET session_id = ?2 \
         WHERE session_id = ?1 AND exchange_id IN (SELECT value FROM json_each(?3))",
        // The target may have had the exchange before.
        "INSERT INTO exchanges (session_id, id, agent_id, kind, model, stop_reason, outcome, started_at, ended_at, \
         input, cache_read, cache_creation, cache_creation_5m, cache_creation_1h, output) \
         SELECT ?2, id, agent_id, kind, model, stop_reason, outcome, started_at, ended_at, \
         input, cache_read, cache_creation, cache_creation_5m, cache_creation_1h, output \
         FROM exchanges WHERE session_id = ?1 AND id IN (SELECT value FROM json_each(?3)) \
         ON CONFLICT (session_id, id) DO UPDATE SET moved_to = NULL",
        "UPDATE exchanges SET moved_to = ?2 \
         WHERE session_id = ?1 AND id IN (SELECT value FROM json_each(?3))",
    ];
    for statement in STATEMENTS {
        connection
            .execute(statement, params![from, to, exchanges])
            .await?;
    }
    Ok(())
}

/// Recomputes the counters of a task. A task without exchanges keeps its times. Its context size is then zero as of the
/// Unix epoch, so that any exchange is newer.
async fn recount(connection: &mut Connection<'_>, session: &str) -> Result<(), StoreError> {
    recount_steps(connection, session).await?;
    connection.execute("UPDATE session_states SET \
         prompt_count = (SELECT count(*) FROM prompts WHERE session_id = ?1), \
         (exchange_count, start_time, last_update, tokens_input, tokens_cache_read, tokens_cache_creation, \
          tokens_cache_creation_5m, tokens_cache_creation_1h, tokens_output) = \
          (SELECT count(*), coalesce(min(started_at), start_time), coalesce(max(ended_at), last_update), \
           coalesce(sum(input), 0), coalesce(sum(cache_read), 0), coalesce(sum(cache_creation), 0), \
           coalesce(sum(cache_creation_5m), 0), coalesce(sum(cache_creation_1h), 0), coalesce(sum(output), 0) \
           FROM exchanges WHERE session_id = ?1 AND moved_to IS NULL) \
         WHERE session_id = ?1", params![session])
    .await?;
    connection.execute("WITH newest AS (SELECT ended_at, input + cache_read + cache_creation + output AS tokens FROM exchanges \
          WHERE session_id = ?1 AND moved_to IS NULL AND kind = 'main' \
          AND input + cache_read + cache_creation + output > 0 ORDER BY ended_at DESC, id DESC LIMIT 1) \
         UPDATE session_states SET token_count = coalesce((SELECT tokens FROM newest), 0), \
         token_count_at = coalesce((SELECT ended_at FROM newest), 0) \
         WHERE session_id = ?1 AND (token_count_at IS NOT NULL OR exchange_count > 0)", params![session])
    .await?;
    Ok(())
}

/// Recomputes the number of steps and the newest step of a task.
pub(super) async fn recount_steps(connection: &mut Connection<'_>, session: &str) -> Result<(), StoreError> {
    connection
        .execute(
            "UPDATE session_states SET step_count = (SELECT count(*) FROM steps WHERE session_id = ?1), \
         (last_step_id, last_step_at) = (SELECT id, timestamp FROM steps WHERE session_id = ?1 \
          ORDER BY timestamp DESC, id DESC LIMIT 1) \
         WHERE session_id = ?1",
            params![session],
        )
        .await?;
    Ok(())
}
