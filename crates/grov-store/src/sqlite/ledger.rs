//! The injection ledger and the switches.

mod cuts;
mod lineages;

use super::columns::{RowExt, from_row, params};
use super::{SqliteStore, StoreError};
use async_trait::async_trait;
use grov_domain::{
    AgentId, ClientSessionId, HistoryKey, LedgerEntry, LedgerLineage, LedgerStore, LedgerUse, Lineage,
    LineageTip, NewLineage, Redacted, SwitchScope, SwitchStore, TaskId,
};
use std::time::Instant;

/// Stores the decision for injection point `?3` of lineage `?1`, `?2`, which quotes the memories in list `?6`. Returns
/// one row if there was no decision and none of the memories was forgotten. A memory that was imported again is not
/// forgotten.
const DECIDE: &str = "INSERT INTO ledger_entries (lineage, anchor, block, decided_at) \
     SELECT id, ?3, ?4, ?5 FROM ledger_lineages WHERE client_session_id = ?1 AND agent_id = ?2 \
     AND NOT EXISTS (SELECT 1 FROM json_each(?6) m JOIN forgotten f ON f.task_id = m.value \
      WHERE NOT EXISTS (SELECT 1 FROM tasks t WHERE t.id = f.task_id)) \
     ON CONFLICT DO NOTHING RETURNING 1; \
     INSERT INTO ledger_memories (lineage, anchor, task_id) SELECT DISTINCT l.id, ?3, m.value \
     FROM ledger_lineages l, json_each(?6) m \
     WHERE changes() > 0 AND l.client_session_id = ?1 AND l.agent_id = ?2";

#[async_trait]
impl LedgerStore for SqliteStore {
    async fn lineage(&self, lineage: &Lineage) -> Result<Option<LedgerLineage>, StoreError> {
        let rows = self
            .rows(lineages::stored!(), params![lineage.session, agent(lineage)])
            .await?;
        lineages::from_rows(&rows)
    }

    async fn adopt(&self, new: &NewLineage) -> Result<LedgerLineage, StoreError> {
        lineages::adopt(self, new).await
    }

    /// Stores nothing for an unknown lineage or for text that quotes a forgotten memory.
    async fn decide(
        &self,
        lineage: &Lineage,
        entry: &LedgerEntry<Redacted>,
        until: Instant,
    ) -> Result<bool, StoreError> {
        let values = params![
            lineage.session,
            agent(lineage),
            entry.anchor,
            entry.block.as_deref(),
            entry.decided_at,
            entry.memories,
        ];
        let Some((transaction, stored)) = self.begin_until(until, DECIDE, values).await? else {
            return Ok(false);
        };
        if stored.is_empty() || Instant::now() >= until {
            transaction.roll_back().await?;
            return Ok(false);
        }
        transaction.commit_without_checkpoint().await?;
        Ok(true)
    }

    async fn withdraw(&self, lineage: &Lineage, anchors: &[HistoryKey]) -> Result<(), StoreError> {
        if anchors.is_empty() {
            return Ok(());
        }
        let sql = "DELETE FROM ledger_memories WHERE (lineage, anchor) IN (SELECT l.id, unhex(a.value) \
             FROM ledger_lineages l, json_each(?3) a WHERE l.client_session_id = ?1 AND l.agent_id = ?2); \
             INSERT INTO ledger_entries (lineage, anchor, block, decided_at) \
             SELECT l.id, unhex(a.value), NULL, CAST(unixepoch('subsec') * 1000 AS INTEGER) \
             FROM ledger_lineages l, json_each(?3) a WHERE l.client_session_id = ?1 AND l.agent_id = ?2 \
             ON CONFLICT (lineage, anchor) DO UPDATE SET block = NULL";
        let values = params![lineage.session, agent(lineage), keys(anchors)];
        self.execute(sql, values).await.map(drop)
    }

    async fn note_tips(&self, tips: &[LineageTip]) -> Result<(), StoreError> {
        if tips.is_empty() {
            return Ok(());
        }
        let mut transaction = self.begin().await?;
        for tip in tips {
            let values = params![
                tip.lineage.session,
                agent(&tip.lineage),
                tip.project_path,
                tip.model,
                tip.at,
                tip.tip,
                keys(&tip.nothing_at),
            ];
            transaction.execute(lineages::NOTE_TIP, values).await?;
        }
        transaction.commit().await
    }

    async fn disable_edits(&self, lineage: &Lineage) -> Result<(), StoreError> {
        let sql = "INSERT INTO ledger_lineages \
             (client_session_id, agent_id, project_path, model, barred, created_at, seen_at) \
             SELECT ?1, ?2, '', '', 1, now, now FROM (SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER) AS now) \
             WHERE true ON CONFLICT (client_session_id, agent_id) DO UPDATE SET barred = 1";
        self.execute(sql, params![lineage.session, agent(lineage)])
            .await
            .map(drop)
    }

    async fn uses(&self, tasks: &[TaskId]) -> Result<Vec<LedgerUse>, StoreError> {
        // The summaries of cleared conversations, and their copies in forks, tell of every task of their session.
        let sql = "WITH held (lineage, task_id, added_at) AS (SELECT m.lineage, m.task_id, e.decided_at \
              FROM ledger_memories m JOIN ledger_entries e ON e.lineage = m.lineage AND e.anchor = m.anchor \
              WHERE m.task_id IN (SELECT value FROM json_each(?1)) UNION ALL \
              SELECT DISTINCT c.lineage, t.id, c.decided_at FROM tasks t \
              JOIN ledger_lineages o ON o.client_session_id = t.client_session_id \
              JOIN ledger_cuts own ON own.lineage = o.id \
              JOIN ledger_cuts c ON c.anchor = own.anchor AND c.block = own.block \
              WHERE c.applied_at IS NOT NULL AND t.id IN (SELECT value FROM json_each(?1))) \
             SELECT l.client_session_id, l.agent_id, l.model, l.seen_at AS last_seen_at, h.task_id, h.added_at, \
             (SELECT x.input + x.cache_read + x.cache_creation FROM session_states s \
              JOIN exchanges x ON x.session_id = s.session_id \
              WHERE s.client_session_id = l.client_session_id AND x.moved_to IS NULL \
              AND x.kind IN ('main', 'subagent') AND coalesce(x.agent_id, '') = l.agent_id \
              AND x.input + x.cache_read + x.cache_creation > 0 \
              ORDER BY x.ended_at DESC, x.id DESC LIMIT 1) AS prompt_tokens \
             FROM held h JOIN ledger_lineages l ON l.id = h.lineage \
             ORDER BY l.seen_at DESC, l.id DESC, h.added_at, h.task_id";
        self.read(sql, params![tasks], |row| {
            Ok(from_row!(row => LedgerUse {
                lineage: lineages::lineage(row)?,
                model, task_id, added_at, last_seen_at, prompt_tokens,
            }))
        })
        .await
    }
}

const PROJECT: &str = "project";
const SESSION: &str = "session";

#[async_trait]
impl SwitchStore for SqliteStore {
    async fn switch(&self, scope: &SwitchScope, on: bool) -> Result<(), StoreError> {
        let (kind, key) = match scope {
            SwitchScope::Project(key) => (PROJECT, key.as_str()),
            SwitchScope::Session(session) => (SESSION, session.as_str()),
        };
        let sql = if on {
            "DELETE FROM switched_off WHERE kind = ?1 AND key = ?2"
        } else {
            "INSERT INTO switched_off (kind, key, at) VALUES (?1, ?2, CAST(unixepoch('subsec') * 1000 AS INTEGER)) \
             ON CONFLICT DO NOTHING"
        };
        let mut transaction = self.begin().await?;
        if transaction.execute(sql, params![kind, key]).await? == 0 {
            return transaction.roll_back().await;
        }
        transaction.execute(BUMP_REVISION, params![]).await?;
        transaction.commit().await
    }

    async fn switched_off(&self) -> Result<Vec<SwitchScope>, StoreError> {
        let sql = "SELECT kind, key FROM switched_off ORDER BY kind, key";
        self.read(sql, params![], |row| {
            let key: String = row.read("key")?;
            Ok(match row.text("kind")? {
                Some(PROJECT) => SwitchScope::Project(key),
                _ => SwitchScope::Session(ClientSessionId::new(key)),
            })
        })
        .await
    }

    async fn revision(&self) -> Result<i64, StoreError> {
        let revision = self.connection().await?.value(REVISION, params![]).await?;
        Ok(revision.unwrap_or(0))
    }
}

/// Selects the number that [`BUMP_REVISION`] increments.
pub(super) const REVISION: &str = "SELECT number FROM revisions WHERE id = 1";

/// Makes running daemons reload their cached state.
pub(super) const BUMP_REVISION: &str = "UPDATE revisions SET number = number + 1 WHERE id = 1";

/// Returns the agent of a lineage as stored; empty for the main conversation.
fn agent(lineage: &Lineage) -> &str {
    lineage.agent.as_ref().map_or("", AgentId::as_str)
}

/// Returns keys as a JSON list of hexadecimal numbers, for `unhex`.
fn keys(keys: &[HistoryKey]) -> String {
    use std::fmt::Write;
    let mut list = String::with_capacity(keys.len() * 35 + 2);
    list.push('[');
    for key in keys {
        if list.len() > 1 {
            list.push(',');
        }
        // Writing to a string does not fail.
        let _ = write!(list, "\"{:032x}\"", key.0);
    }
    list.push(']');
    list
}
