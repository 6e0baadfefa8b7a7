//! Lineages: what is kept of one, which one a new one continues, where they stand.

use super::{agent, key, keys};
use crate::sqlite::values::{Columns, millis};
use crate::sqlite::{SqliteStore, StoreError};
use grov_domain::{
    AgentId, ClientSessionId, HistoryKey, LedgerEntry, LedgerLineage, Lineage, LineageTip, NewLineage, TaskId,
};
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

/// The lineage of session `?1` and agent `?2` with its decisions; one row without a decision when it has none.
const KEPT: &str = "SELECT l.barred, l.tip, e.anchor, e.block, e.decided_at, \
     (SELECT json_group_array(m.task_id) FROM ledger_memories m \
      WHERE m.lineage = e.lineage AND m.anchor = e.anchor) AS memories \
     FROM ledger_lineages l LEFT JOIN ledger_entries e ON e.lineage = l.id \
     WHERE l.client_session_id = ?1 AND l.agent_id = ?2";

/// The lineage whose tip stands latest among the keys `?1`, of project `?2` and model `?3`.
const CONTINUED: &str = "WITH found AS MATERIALIZED (SELECT h.key AS place, h.value AS tip, l.id, l.seen_at \
     FROM json_each(?1) h CROSS JOIN ledger_tips t ON t.tip = unhex(h.value) \
     CROSS JOIN ledger_lineages l ON l.id = t.lineage \
     WHERE l.project_path = ?2 AND l.model = ?3 AND NOT (l.client_session_id = ?4 AND l.agent_id = ?5)) \
     SELECT f.id, unhex(f.tip) AS tip FROM found f WHERE f.place = (SELECT max(place) FROM found) \
     ORDER BY (SELECT max(h.key) FROM json_each(?1) h JOIN ledger_entries e \
     ON e.lineage = f.id AND e.anchor = unhex(h.value)) DESC NULLS LAST, f.seen_at DESC, f.id DESC LIMIT 1";

impl SqliteStore {
    pub(super) async fn ledger_lineage(
        &self,
        lineage: &Lineage,
    ) -> Result<Option<LedgerLineage>, StoreError> {
        let query = sqlx::query(KEPT)
            .bind(lineage.session.as_str())
            .bind(agent(lineage));
        let rows = self.reader().await?.rows(self, query).await?;
        kept(&rows)
    }

    pub(super) async fn adopt_lineage(&self, new: &NewLineage) -> Result<LedgerLineage, StoreError> {
        let fault = |error| self.error(error);
        let history = keys(&new.history);
        // Looked for before the lock is taken: others wait for it.
        let continued = self.continued_by(new, &history).await?;
        let mut writer = self.writer().await?;
        let connection = writer.connection()?;
        let added = sqlx::query(
            "INSERT INTO ledger_lineages (client_session_id, agent_id, project_path, model, tip, barred, created_at, \
             seen_at) VALUES (?1, ?2, ?3, ?4, ?7, coalesce((SELECT barred FROM ledger_lineages WHERE id = ?5), 0), \
             ?6, ?6) \
             ON CONFLICT (client_session_id, agent_id) DO NOTHING RETURNING id",
        )
        .bind(new.lineage.session.as_str())
        .bind(agent(&new.lineage))
        .bind(new.project_path.as_str())
        .bind(new.model.as_str())
        .bind(continued.as_ref().map(|(id, _)| *id))
        .bind(millis(new.at))
        .bind(continued.as_ref().map(|(_, tip)| tip.as_slice()))
        .fetch_optional(&mut *connection)
        .await
        .map_err(fault)?;
        if let (Some(row), Some((continued, _))) = (added, &continued) {
            sqlx::query(
                "INSERT INTO ledger_entries (lineage, anchor, block, decided_at) \
                 SELECT ?1, anchor, block, decided_at FROM ledger_entries \
                 WHERE lineage = ?2 AND anchor IN (SELECT unhex(value) FROM json_each(?3)); \
                 INSERT INTO ledger_memories (lineage, anchor, task_id) \
                 SELECT ?1, m.anchor, m.task_id FROM ledger_memories m \
                 JOIN ledger_entries e ON e.lineage = ?1 AND e.anchor = m.anchor WHERE m.lineage = ?2",
            )
            .bind(row.try_get::<i64, _>(0).map_err(fault)?)
            .bind(*continued)
            .bind(history)
            .execute(&mut *connection)
            .await
            .map_err(fault)?;
        }
        let rows = sqlx::query(KEPT)
            .bind(new.lineage.session.as_str())
            .bind(agent(&new.lineage))
            .fetch_all(connection)
            .await
            .map_err(fault)?;
        writer.commit().await.map_err(fault)?;
        Ok(kept(&rows)?.unwrap_or_default())
    }

    /// The lineage that a new one continues, and the tip by which it was found.
    async fn continued_by(
        &self,
        new: &NewLineage,
        history: &str,
    ) -> Result<Option<(i64, Vec<u8>)>, StoreError> {
        if new.history.is_empty() || new.project_path.is_empty() {
            return Ok(None);
        }
        let query = sqlx::query(CONTINUED)
            .bind(history)
            .bind(new.project_path.as_str())
            .bind(new.model.as_str())
            .bind(new.lineage.session.as_str())
            .bind(agent(&new.lineage));
        let rows = self.reader().await?.rows(self, query).await?;
        rows.first()
            .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
            .transpose()
            .map_err(|error| self.error(error))
    }

    pub(super) async fn keep_tips(&self, tips: &[LineageTip]) -> Result<(), StoreError> {
        if tips.is_empty() {
            return Ok(());
        }
        let fault = |error| self.error(error);
        let mut writer = self.writer().await?;
        for tip in tips {
            let connection = writer.connection()?;
            let id: i64 = sqlx::query(
                "INSERT INTO ledger_lineages (client_session_id, agent_id, project_path, model, tip, created_at, seen_at) \
                 VALUES (?1, ?2, ?3, ?4, ?6, ?5, ?5) ON CONFLICT (client_session_id, agent_id) DO UPDATE SET \
                 tip = coalesce(excluded.tip, tip), \
                 project_path = iif(excluded.project_path = '', project_path, excluded.project_path), \
                 model = excluded.model, seen_at = max(seen_at, excluded.seen_at) RETURNING id",
            )
            .bind(tip.lineage.session.as_str())
            .bind(agent(&tip.lineage))
            .bind(tip.project_path.as_str())
            .bind(tip.model.as_str())
            .bind(millis(tip.at))
            .bind(tip.tip.map(key))
            .fetch_one(&mut *connection)
            .await
            .and_then(|row| row.try_get(0))
            .map_err(fault)?;
            // What was decided stays: that nothing is added is the weaker word.
            sqlx::query(
                "INSERT INTO ledger_tips (tip, lineage) SELECT ?2, ?1 WHERE ?2 IS NOT NULL \
                 ON CONFLICT DO NOTHING; \
                 INSERT INTO ledger_entries (lineage, anchor, block, decided_at) \
                 SELECT ?1, unhex(value), NULL, ?4 FROM json_each(?3) WHERE true ON CONFLICT DO NOTHING",
            )
            .bind(id)
            .bind(tip.tip.map(key))
            .bind(keys(&tip.nothing_at))
            .bind(millis(tip.at))
            .execute(connection)
            .await
            .map_err(fault)?;
        }
        writer.commit().await.map_err(fault)
    }

    /// A lineage that is not known yet becomes known: what was learnt must hold.
    pub(super) async fn bar_lineage(&self, lineage: &Lineage) -> Result<(), StoreError> {
        let fault = |error| self.error(error);
        let mut writer = self.writer().await?;
        sqlx::query(
            "INSERT INTO ledger_lineages (client_session_id, agent_id, project_path, model, barred, created_at, seen_at) \
             SELECT ?1, ?2, '', '', 1, now, now FROM (SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER) AS now) \
             WHERE true ON CONFLICT (client_session_id, agent_id) DO UPDATE SET barred = 1",
        )
        .bind(lineage.session.as_str())
        .bind(agent(lineage))
        .execute(writer.connection()?)
        .await
        .map_err(fault)?;
        writer.commit().await.map_err(fault)
    }

    pub(super) async fn barred_lineages(&self) -> Result<Vec<Lineage>, StoreError> {
        let query = sqlx::query(
            "SELECT client_session_id, agent_id FROM ledger_lineages WHERE barred = 1 \
             ORDER BY seen_at DESC, id DESC",
        );
        let rows = self.reader().await?.rows(self, query).await?;
        rows.iter().map(|row| lineage(&Columns(row))).collect()
    }
}

/// The lineage that a row names.
pub(super) fn lineage(columns: &Columns<'_>) -> Result<Lineage, StoreError> {
    let agent: String = columns.get("agent_id")?;
    Ok(Lineage {
        session: ClientSessionId::new(columns.get::<String>("client_session_id")?),
        agent: (!agent.is_empty()).then(|| AgentId::new(agent)),
    })
}

fn history_key(bytes: &[u8]) -> Result<HistoryKey, StoreError> {
    let key: [u8; 16] = bytes.try_into().map_err(|_| {
        StoreError::Other(format!(
            "the ledger holds what no version of Grov writes: a key of {} bytes",
            bytes.len()
        ))
    })?;
    Ok(HistoryKey(u128::from_be_bytes(key)))
}

fn kept(rows: &[SqliteRow]) -> Result<Option<LedgerLineage>, StoreError> {
    let Some(first) = rows.first() else {
        return Ok(None);
    };
    let mut kept = LedgerLineage {
        entries: Vec::with_capacity(rows.len()),
        barred: Columns(first).flag("barred")?,
        tip: Columns(first)
            .get::<Option<&[u8]>>("tip")?
            .map(history_key)
            .transpose()?,
    };
    for row in rows {
        let columns = Columns(row);
        let Some(anchor) = columns.get::<Option<&[u8]>>("anchor")? else {
            continue;
        };
        kept.entries.push(LedgerEntry {
            anchor: history_key(anchor)?,
            block: columns.get("block")?,
            memories: columns
                .list::<String>("memories")?
                .into_iter()
                .map(TaskId::new)
                .collect(),
            decided_at: columns.time("decided_at")?,
        });
    }
    Ok(Some(kept))
}
