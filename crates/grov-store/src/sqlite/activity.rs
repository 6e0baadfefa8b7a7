//! What is going on: the state of sessions, their usage, and recent changes.

mod changes;

use super::columns::{RowExt, from_row, params};
use super::hooks::session as hook_session;
use super::select::Select;
use super::{SqliteStore, StoreError};
use async_trait::async_trait;
use grov_domain::{
    ActivityStore, Change, ChangeCursor, ClientSessionId, ExchangeUsage, HookSession, KnownSession,
    SessionActivity, TokenUsage, UsageFilter,
};
use sqlx::sqlite::SqliteRow;
use time::OffsetDateTime;

/// Milliseconds of a day, by which times are rounded down to the start of a UTC day.
const USAGE: &str = "SELECT s.client_session_id, s.project_path, e.agent_id, e.kind, e.model, \
     e.ended_at - ((e.ended_at % 86400000 + 86400000) % 86400000) AS day, sum(e.input) AS input, \
     sum(e.cache_read) AS cache_read, sum(e.cache_creation) AS cache_creation, \
     sum(e.cache_creation_5m) AS cache_creation_5m, sum(e.cache_creation_1h) AS cache_creation_1h, \
     sum(e.output) AS output FROM session_states s JOIN exchanges e ON e.session_id = s.session_id \
     AND e.moved_to IS NULL";

#[async_trait]
impl ActivityStore for SqliteStore {
    async fn known_sessions(&self) -> Result<Vec<KnownSession>, StoreError> {
        // The proxy's record of a session names its project last.
        let sql = "SELECT client_session_id, max(project_path) AS project_path FROM \
             (SELECT client_session_id, project_path FROM session_states \
              UNION ALL SELECT client_session_id, project_path FROM hook_sessions) \
             GROUP BY client_session_id ORDER BY client_session_id";
        let known = |row: &SqliteRow| Ok(from_row!(row => KnownSession { client_session_id, project_path }));
        self.read(sql, params![], known).await
    }

    async fn recent_hook_sessions(
        &self,
        project_path: Option<&str>,
        limit: Option<u32>,
    ) -> Result<Vec<HookSession>, StoreError> {
        // Sorted before the long columns are read. A negative limit means none.
        let sql = "SELECT h.* FROM (SELECT rowid AS place FROM hook_sessions \
             WHERE ?1 IS NULL OR project_path = ?1 ORDER BY updated_at DESC, client_session_id DESC LIMIT ?2) newest \
             CROSS JOIN hook_sessions h ON h.rowid = newest.place \
             ORDER BY h.updated_at DESC, h.client_session_id DESC";
        let limit = limit.map_or(-1, i64::from);
        self.read(sql, params![project_path, limit], hook_session).await
    }

    async fn session_activity(&self, session: &ClientSessionId) -> Result<SessionActivity, StoreError> {
        // Ids are in the order of time, so that the newest request of each task is found without reading the others.
        let sql = "SELECT (SELECT at FROM session_ends WHERE client_session_id = ?1) AS ended_at, \
             newest.stop_reason, newest.ended_at AS responded_at FROM (SELECT 1) LEFT JOIN \
             (SELECT e.stop_reason, e.ended_at FROM session_states s JOIN exchanges e ON e.session_id = s.session_id \
              AND e.id = (SELECT id FROM exchanges WHERE session_id = s.session_id AND moved_to IS NULL AND kind = 'main' \
                          ORDER BY id DESC LIMIT 1) \
              WHERE s.client_session_id = ?1 ORDER BY e.ended_at DESC LIMIT 1) newest";
        let activity =
            |row: &SqliteRow| Ok(from_row!(row => SessionActivity { stop_reason, responded_at, ended_at }));
        let found = self.read(sql, params![session], activity).await?;
        Ok(found.into_iter().next().unwrap_or_default())
    }

    async fn record_session_end(
        &self,
        session: &ClientSessionId,
        at: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO session_ends (client_session_id, at) VALUES (?1, ?2) \
             ON CONFLICT (client_session_id) DO UPDATE SET at = max(at, excluded.at)";
        self.execute(sql, params![session, at]).await.map(drop)
    }

    async fn exchange_usage(&self, filter: &UsageFilter) -> Result<Vec<ExchangeUsage>, StoreError> {
        let mut select = Select::new(USAGE);
        select.and("s.client_session_id =", filter.client_session_id.as_ref());
        select.and("e.ended_at >=", filter.since);
        select.end(
            "GROUP BY s.client_session_id, s.project_path, e.agent_id, e.kind, e.model, day \
             ORDER BY day, s.client_session_id, e.agent_id, e.kind, e.model",
            None,
        );
        select.read(self, usage).await
    }

    async fn change_cursor(&self, from: OffsetDateTime) -> Result<ChangeCursor, StoreError> {
        changes::cursor(self, from).await
    }

    async fn changes(&self, since: &ChangeCursor) -> Result<(Vec<Change>, ChangeCursor), StoreError> {
        changes::since(self, since).await
    }
}

fn usage(row: &SqliteRow) -> Result<ExchangeUsage, StoreError> {
    Ok(from_row!(row => ExchangeUsage {
        client_session_id, project_path, agent_id, kind, model, day,
        tokens: tokens(row)?,
    }))
}

pub(super) fn tokens(row: &SqliteRow) -> Result<TokenUsage, StoreError> {
    Ok(from_row!(row => TokenUsage {
        input, cache_read, cache_creation, cache_creation_5m, cache_creation_1h, output,
    }))
}
