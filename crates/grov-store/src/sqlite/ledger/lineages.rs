//! Lineages: their decisions, which one a new one continues, and their tips.

use super::{agent, keys};
use crate::sqlite::columns::{RowExt, from_row, params};
use crate::sqlite::connection::begin;
use crate::sqlite::{SqliteStore, StoreError};
use grov_domain::{AgentId, HistoryKey, LedgerEntry, LedgerLineage, Lineage, NewLineage};
use sqlx::sqlite::SqliteRow;
use std::collections::HashMap;

/// The lineage of session `?1` and agent `?2` with its decisions; one row without a decision when it has none.
macro_rules! stored {
    () => {
        "SELECT l.barred, l.tip, e.anchor, e.block, e.decided_at, \
         (SELECT json_group_array(m.task_id) FROM ledger_memories m \
          WHERE m.lineage = e.lineage AND m.anchor = e.anchor) AS memories \
         FROM ledger_lineages l LEFT JOIN ledger_entries e ON e.lineage = l.id \
         WHERE l.client_session_id = ?1 AND l.agent_id = ?2"
    };
}

pub(super) use stored;

/// The lineages of project `?2` whose tip comes latest among the keys `?1`, preferring those with model `?3`, last seen
/// first, with the places decided in each; one row without a place where there is none.
const CONTINUED: &str = "WITH found AS MATERIALIZED (SELECT h.key AS place, h.value AS tip, l.id, l.seen_at, \
     max(t.model = ?3) AS of_model FROM json_each(?1) h CROSS JOIN ledger_tips t ON t.tip = unhex(h.value) \
     CROSS JOIN ledger_lineages l ON l.id = t.lineage \
     WHERE l.project_path = ?2 AND NOT (l.client_session_id = ?4 AND l.agent_id = ?5) GROUP BY h.key, l.id) \
     SELECT f.id, unhex(f.tip) AS tip, e.anchor FROM found f LEFT JOIN ledger_entries e ON e.lineage = f.id \
     WHERE (f.of_model, f.place) = \
     (SELECT of_model, place FROM found ORDER BY of_model DESC, place DESC LIMIT 1) \
     ORDER BY f.seen_at DESC, f.id DESC";

/// Inserts lineage `?1`, `?2` and, if it is new, copies the decisions of lineage `?5`, whose tip is `?8`, for the places
/// `?7`. Selects what is stored of it.
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
    stored!()
);

/// Records tip `?6` of lineage `?1`, `?2`, and that nothing is added at the places `?7`. Earlier decisions for these places
/// stay.
pub(super) const NOTE_TIP: &str = "\
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

/// The number of newest keys that are looked up first: a session that continues another is found there, and the API does
/// not look for a cached prefix that ends before them.
const NEWEST: usize = 64;

/// Stores a new lineage with the decisions of the one that it continues.
pub(super) async fn adopt(store: &SqliteStore, new: &NewLineage) -> Result<LedgerLineage, StoreError> {
    // Looked up before the write lock is taken: other processes wait for it.
    let continued = continued_by(store, new).await?;
    let values = params![
        new.lineage.session,
        agent(&new.lineage),
        new.project_path,
        new.model,
        continued.as_ref().map(|found| found.id),
        new.at,
        continued.as_ref().map(|found| keys(&found.places)),
        continued.as_ref().map(|found| found.tip),
    ];
    let (transaction, rows) = store.begin_with(ADOPT, values).await?;
    transaction.commit().await?;
    Ok(from_rows(&rows)?.unwrap_or_default())
}

/// The lineage that a new one continues.
async fn continued_by(store: &SqliteStore, new: &NewLineage) -> Result<Option<Continued>, StoreError> {
    if new.project_path.is_empty() {
        return Ok(None);
    }
    let (older, newest) = new.history.split_at(new.history.len().saturating_sub(NEWEST));
    for part in [newest, older] {
        if part.is_empty() {
            continue;
        }
        let Lineage { session, .. } = &new.lineage;
        let values = params![
            keys(part),
            new.project_path,
            new.model,
            session,
            agent(&new.lineage)
        ];
        let rows = store.rows(CONTINUED, values).await?;
        if !rows.is_empty() {
            return latest_decided(&rows, &new.history);
        }
    }
    Ok(None)
}

/// A lineage that a new one continues.
struct Continued {
    id: i64,
    /// The tip by which it was found.
    tip: HistoryKey,
    /// Its decisions for the history of the new one.
    places: Vec<HistoryKey>,
    /// The position of the last of them in that history.
    latest: Option<usize>,
}

/// Of lineages with the same tip, the one with the latest decision in the history: a fork that went another way has the
/// same tip. Of equals the first.
fn latest_decided(rows: &[SqliteRow], history: &[HistoryKey]) -> Result<Option<Continued>, StoreError> {
    let positions: HashMap<HistoryKey, usize> = history.iter().copied().zip(0..).collect();
    let mut found: Vec<Continued> = Vec::new();
    for row in rows {
        let id = row.read("id")?;
        if found.last().is_none_or(|last| last.id != id) {
            found.push(Continued {
                id,
                tip: row.read("tip")?,
                places: Vec::new(),
                latest: None,
            });
        }
        if let (Some(place), Some(last)) = (row.read::<Option<HistoryKey>>("anchor")?, found.last_mut())
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
pub(super) fn lineage(row: &SqliteRow) -> Result<Lineage, StoreError> {
    let agent: String = row.read("agent_id")?;
    Ok(Lineage {
        session: row.read("client_session_id")?,
        agent: (!agent.is_empty()).then(|| AgentId::new(agent)),
    })
}

pub(super) fn from_rows(rows: &[SqliteRow]) -> Result<Option<LedgerLineage>, StoreError> {
    let Some(first) = rows.first() else {
        return Ok(None);
    };
    let mut lineage = LedgerLineage {
        entries: Vec::with_capacity(rows.len()),
        edits_disabled: first.read("barred")?,
        tip: first.read("tip")?,
    };
    for row in rows {
        if let Some(anchor) = row.read("anchor")? {
            lineage
                .entries
                .push(from_row!(row => LedgerEntry { anchor: anchor, block, memories, decided_at }));
        }
    }
    Ok(Some(lineage))
}
