//! Lineages: what is kept of one, which one a new one continues, where they stand.

use super::{agent, key, keys};
use crate::sqlite::values::{Columns, millis};
use crate::sqlite::{SqliteStore, StoreError, begin};
use grov_domain::{
    AgentId, ClientSessionId, HistoryKey, LedgerEntry, LedgerLineage, Lineage, LineageTip, NewLineage, TaskId,
};
use sqlx::sqlite::SqliteRow;
use std::collections::HashMap;

/// The lineage of session `?1` and agent `?2` with its decisions; one row without a decision when it has none.
macro_rules! kept {
    () => {
        "SELECT l.barred, l.tip, e.anchor, e.block, e.decided_at, \
         (SELECT json_group_array(m.task_id) FROM ledger_memories m \
          WHERE m.lineage = e.lineage AND m.anchor = e.anchor) AS memories \
         FROM ledger_lineages l LEFT JOIN ledger_entries e ON e.lineage = l.id \
         WHERE l.client_session_id = ?1 AND l.agent_id = ?2"
    };
}

/// The lineages of project `?2` whose tip stands latest among the keys `?1`, of those that stand there with model `?3`
/// if any does, last seen first, with the places decided in each; one row without a place where there is none.
const CONTINUED: &str = "WITH found AS MATERIALIZED (SELECT h.key AS place, h.value AS tip, l.id, l.seen_at, \
     max(t.model = ?3) AS of_model FROM json_each(?1) h CROSS JOIN ledger_tips t ON t.tip = unhex(h.value) \
     CROSS JOIN ledger_lineages l ON l.id = t.lineage \
     WHERE l.project_path = ?2 AND NOT (l.client_session_id = ?4 AND l.agent_id = ?5) GROUP BY h.key, l.id) \
     SELECT f.id, unhex(f.tip) AS tip, e.anchor FROM found f LEFT JOIN ledger_entries e ON e.lineage = f.id \
     WHERE (f.of_model, f.place) = \
     (SELECT of_model, place FROM found ORDER BY of_model DESC, place DESC LIMIT 1) \
     ORDER BY f.seen_at DESC, f.id DESC";

/// Makes lineage `?1`, `?2` known and, if it was not, gives it what lineage `?5`, which stands at `?8`, has at the
/// places `?7`. What is kept of it.
const ADOPT: &str = concat!(
    begin!(),
    "INSERT INTO ledger_lineages (client_session_id, agent_id, project_path, model, tip, barred, created_at, seen_at) \
     VALUES (?1, ?2, ?3, ?4, ?8, coalesce((SELECT barred FROM ledger_lineages WHERE id = ?5), 0), ?6, ?6) \
     ON CONFLICT (client_session_id, agent_id) DO NOTHING; \
     INSERT INTO ledger_entries (lineage, anchor, block, decided_at) \
     SELECT l.id, e.anchor, e.block, e.decided_at FROM ledger_lineages l, ledger_entries e \
     WHERE changes() > 0 AND l.client_session_id = ?1 AND l.agent_id = ?2 \
     AND e.lineage = ?5 AND e.anchor IN (SELECT unhex(value) FROM json_each(?7)); \
     INSERT INTO ledger_memories (lineage, anchor, task_id) \
     SELECT l.id, m.anchor, m.task_id FROM ledger_lineages l, ledger_entries e, ledger_memories m \
     WHERE changes() > 0 AND l.client_session_id = ?1 AND l.agent_id = ?2 \
     AND e.lineage = l.id AND m.lineage = ?5 AND m.anchor = e.anchor; ",
    kept!()
);

/// Notes that lineage `?1`, `?2` stood at `?6`, and that nothing is added at the places `?7`. What was decided stays:
/// that nothing is added is the weaker word.
const NOTE_TIP: &str = "\
     INSERT INTO ledger_lineages (client_session_id, agent_id, project_path, model, tip, created_at, seen_at) \
     VALUES (?1, ?2, ?3, ?4, ?6, ?5, ?5) ON CONFLICT (client_session_id, agent_id) DO UPDATE SET \
     tip = excluded.tip, \
     project_path = iif(excluded.project_path = '', project_path, excluded.project_path), \
     model = excluded.model, seen_at = max(seen_at, excluded.seen_at); \
     INSERT INTO ledger_tips (tip, lineage, model) SELECT ?6, id, ?4 FROM ledger_lineages \
     WHERE ?6 IS NOT NULL AND client_session_id = ?1 AND agent_id = ?2 ON CONFLICT DO NOTHING; \
     INSERT INTO ledger_entries (lineage, anchor, block, decided_at) \
     SELECT l.id, unhex(a.value), NULL, ?5 FROM ledger_lineages l, json_each(?7) a \
     WHERE l.client_session_id = ?1 AND l.agent_id = ?2 ON CONFLICT DO NOTHING";

/// So many of the newest keys are looked up first: a session that goes on where another stood is found there, and a cached
/// prefix that ends before them is out of the API's sight.
const NEWEST: usize = 64;

impl SqliteStore {
    pub(super) async fn ledger_lineage(
        &self,
        lineage: &Lineage,
    ) -> Result<Option<LedgerLineage>, StoreError> {
        let query = sqlx::query(kept!())
            .bind(lineage.session.as_str())
            .bind(agent(lineage));
        let rows = self.reader().await?.rows(self, query).await?;
        kept(&rows)
    }

    pub(super) async fn adopt_lineage(&self, new: &NewLineage) -> Result<LedgerLineage, StoreError> {
        // Looked for before the lock is taken: others wait for it.
        let continued = self.continued_by(new).await?;
        let adopt = sqlx::query(ADOPT)
            .bind(new.lineage.session.as_str())
            .bind(agent(&new.lineage))
            .bind(new.project_path.as_str())
            .bind(new.model.as_str())
            .bind(continued.as_ref().map(|found| found.id))
            .bind(millis(new.at))
            .bind(continued.as_ref().map(|found| keys(&found.places)))
            .bind(continued.as_ref().map(|found| found.tip.as_slice()));
        let (writer, rows) = self.writer_running(adopt).await?;
        writer.commit().await.map_err(|error| self.error(error))?;
        Ok(kept(&rows)?.unwrap_or_default())
    }

    /// The lineage that a new one continues.
    async fn continued_by(&self, new: &NewLineage) -> Result<Option<Continued>, StoreError> {
        if new.project_path.is_empty() {
            return Ok(None);
        }
        let (older, newest) = new.history.split_at(new.history.len().saturating_sub(NEWEST));
        for part in [newest, older] {
            if part.is_empty() {
                continue;
            }
            let query = sqlx::query(CONTINUED)
                .bind(keys(part))
                .bind(new.project_path.as_str())
                .bind(new.model.as_str())
                .bind(new.lineage.session.as_str())
                .bind(agent(&new.lineage));
            let rows = self.reader().await?.rows(self, query).await?;
            if !rows.is_empty() {
                return latest_decided(&rows, &new.history);
            }
        }
        Ok(None)
    }

    pub(super) async fn keep_tips(&self, tips: &[LineageTip]) -> Result<(), StoreError> {
        if tips.is_empty() {
            return Ok(());
        }
        let fault = |error| self.error(error);
        let mut writer = self.writer().await?;
        for tip in tips {
            sqlx::query(NOTE_TIP)
                .bind(tip.lineage.session.as_str())
                .bind(agent(&tip.lineage))
                .bind(tip.project_path.as_str())
                .bind(tip.model.as_str())
                .bind(millis(tip.at))
                .bind(tip.tip.map(key))
                .bind(keys(&tip.nothing_at))
                .execute(writer.connection()?)
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

/// A lineage that goes on in another.
struct Continued {
    id: i64,
    /// Where it stood, by which it was found.
    tip: Vec<u8>,
    /// What was decided in it for the history of the other.
    places: Vec<HistoryKey>,
    /// The last of them in that history.
    latest: Option<usize>,
}

/// Of lineages that stand at the same place, the one that decided something latest in the history: a fork that went
/// another way stands there as well. Of equals the first.
fn latest_decided(rows: &[SqliteRow], history: &[HistoryKey]) -> Result<Option<Continued>, StoreError> {
    let positions: HashMap<HistoryKey, usize> = history.iter().copied().zip(0..).collect();
    let mut found: Vec<Continued> = Vec::new();
    for row in rows {
        let columns = Columns(row);
        let id = columns.get("id")?;
        if found.last().is_none_or(|last| last.id != id) {
            found.push(Continued {
                id,
                tip: columns.get("tip")?,
                places: Vec::new(),
                latest: None,
            });
        }
        let place = columns.get::<Option<&[u8]>>("anchor")?.map(history_key);
        if let (Some(place), Some(last)) = (place.transpose()?, found.last_mut())
            && let Some(position) = positions.get(&place)
        {
            last.places.push(place);
            last.latest = last.latest.max(Some(*position));
        }
    }
    found.reverse();
    Ok(found.into_iter().max_by_key(|lineage| lineage.latest))
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
        edits_disabled: Columns(first).flag("barred")?,
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
