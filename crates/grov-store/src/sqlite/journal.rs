//! The journal of a session. Rows are chosen by their times alone before their long columns are read.

use super::activity::tokens;
use super::columns::{RowExt, from_row, params};
use super::hooks::hook_step;
use super::sessions::{step, step_columns};
use super::{SqliteStore, StoreError};
use async_trait::async_trait;
use grov_domain::{
    CacheDrop, ClientSessionId, ExchangeId, Journal, JournalExchange, JournalPrompt, JournalStore,
};
use sqlx::sqlite::SqliteRow;
use time::OffsetDateTime;

const PROMPTS: &str = "SELECT p.at, p.text, p.queued FROM session_states s JOIN prompts p ON p.session_id = s.session_id \
     WHERE s.client_session_id = ?1 AND (?2 IS NULL OR p.at < ?2) ORDER BY p.at DESC, p.rowid DESC LIMIT ?3";

const STEPS: &str = concat!(
    "SELECT ",
    step_columns!(),
    " FROM (SELECT st.rowid AS place FROM session_states s JOIN steps st ON st.session_id = s.session_id \
     WHERE s.client_session_id = ?1 AND (?2 IS NULL OR st.timestamp < ?2) \
     ORDER BY st.timestamp DESC, st.id DESC LIMIT ?3) newest \
     CROSS JOIN steps st ON st.rowid = newest.place ORDER BY st.timestamp DESC, st.id DESC"
);

const HOOK_STEPS: &str = "SELECT h.* FROM (SELECT number FROM hook_steps \
     WHERE client_session_id = ?1 AND (?2 IS NULL OR timestamp < ?2) \
     ORDER BY timestamp DESC, number DESC LIMIT ?3) newest \
     CROSS JOIN hook_steps h ON h.number = newest.number ORDER BY h.timestamp DESC, h.number DESC";

const EXCHANGES: &str = "SELECT e.* FROM session_states s JOIN exchanges e ON e.session_id = s.session_id \
     WHERE s.client_session_id = ?1 AND e.moved_to IS NULL AND (?2 IS NULL OR e.started_at < ?2) \
     ORDER BY e.started_at DESC, e.id DESC LIMIT ?3";

const EXCHANGE: &str = "SELECT e.* FROM session_states s JOIN exchanges e ON e.session_id = s.session_id \
     WHERE s.client_session_id = ?1 AND e.id = ?2 AND e.moved_to IS NULL LIMIT 1";

/// Side requests have prompts of their own and say nothing of the conversation's prefix. All requests are sorted, so only the columns
/// by which a drop is found are; the others are read of the drops.
const DROPS: &str = "SELECT d.client_session_id, e.*, b.model AS before_model, b.started_at AS before_started_at, \
     b.input + b.cache_read + b.cache_creation AS before_prompt, b.cache_read + b.cache_creation AS before_cached, \
     b.cache_creation_1h AS before_hourly, b.edits AS before_edits \
     FROM (SELECT * FROM (SELECT s.client_session_id, e.session_id, e.id, e.started_at, e.cache_read, \
     lag(e.session_id) OVER earlier AS before_session, lag(e.id) OVER earlier AS before_id, \
     lag(e.cache_read + e.cache_creation) OVER earlier AS before_cached \
     FROM session_states s JOIN exchanges e ON e.session_id = s.session_id \
     WHERE e.moved_to IS NULL AND e.kind IN ('main', 'subagent') AND e.outcome = 'complete' \
     AND (?1 IS NULL OR e.started_at >= ?1) \
     WINDOW earlier AS (PARTITION BY s.client_session_id, e.agent_id ORDER BY e.started_at, e.id)) \
     WHERE before_cached - cache_read >= ?2 ORDER BY started_at DESC, id DESC LIMIT ?3) d \
     CROSS JOIN exchanges e ON e.session_id = d.session_id AND e.id = d.id \
     CROSS JOIN exchanges b ON b.session_id = d.before_session AND b.id = d.before_id \
     ORDER BY e.started_at DESC, e.id DESC";

#[async_trait]
impl JournalStore for SqliteStore {
    async fn newest_sessions(
        &self,
        limit: u32,
    ) -> Result<Vec<(ClientSessionId, OffsetDateTime)>, StoreError> {
        // Walks the index of times from its end, and so reads few rows of many.
        let sql = "SELECT s.client_session_id, s.last_update AS newest FROM session_states s WHERE NOT EXISTS \
             (SELECT 1 FROM session_states o WHERE o.client_session_id = s.client_session_id \
              AND (o.last_update, o.session_id) > (s.last_update, s.session_id)) \
             ORDER BY s.last_update DESC, s.client_session_id DESC LIMIT ?";
        let read = |row: &SqliteRow| Ok((row.read("client_session_id")?, row.read("newest")?));
        self.read(sql, params![limit], read).await
    }

    async fn journal(
        &self,
        session: &ClientSessionId,
        before: Option<OffsetDateTime>,
        limit: u32,
    ) -> Result<Journal, StoreError> {
        let values = || params![session, before, limit];
        Ok(Journal {
            prompts: self.read(PROMPTS, values(), prompt).await?,
            steps: self.read(STEPS, values(), step).await?,
            hook_steps: self.read(HOOK_STEPS, values(), hook_step).await?,
            exchanges: self.read(EXCHANGES, values(), exchange).await?,
        })
    }

    async fn exchange(
        &self,
        session: &ClientSessionId,
        id: &ExchangeId,
    ) -> Result<Option<JournalExchange>, StoreError> {
        let found = self.read(EXCHANGE, params![session, id], exchange).await?;
        Ok(found.into_iter().next())
    }

    async fn cache_drops(
        &self,
        since: Option<OffsetDateTime>,
        tokens: u64,
        limit: u32,
    ) -> Result<Vec<CacheDrop>, StoreError> {
        let tokens = i64::try_from(tokens).unwrap_or(i64::MAX);
        self.read(DROPS, params![since, tokens, limit], drop_of_cache)
            .await
    }
}

fn prompt(row: &SqliteRow) -> Result<JournalPrompt, StoreError> {
    Ok(from_row!(row => JournalPrompt { at, text, queued }))
}

fn exchange(row: &SqliteRow) -> Result<JournalExchange, StoreError> {
    Ok(from_row!(row => JournalExchange {
        id, session_id, agent_id, kind, model, stop_reason, outcome, started_at, ended_at, edits,
        tokens: tokens(row)?,
    }))
}

fn drop_of_cache(row: &SqliteRow) -> Result<CacheDrop, StoreError> {
    Ok(from_row!(row => CacheDrop {
        client_session_id, before_model, before_started_at, before_prompt, before_cached, before_hourly, before_edits,
        exchange: exchange(row)?,
    }))
}
