//! Lineages: their decisions, tips, and continuation by new lineages.

use super::{agent, cuts, keys};
use crate::sqlite::columns::{RowExt, from_row, params};
use crate::sqlite::connection::begin;
use crate::sqlite::{SqliteStore, StoreError};
use grov_domain::{AgentId, HistoryKey, LedgerEntry, LedgerLineage, Lineage, NewLineage};
use sqlx::sqlite::SqliteRow;
use std::collections::HashMap;

/// Selects the lineage of session `?1` and agent `?2` with its decisions; one row without a decision if it has none.
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

/// Selects the lineages of project `?2` whose tip is latest among the keys `?1`, preferring those with model `?3`, in
/// the order last seen first, with their injection points; one row without an injection point if there is none.
const CONTINUED: &str = "WITH found AS MATERIALIZED (SELECT h.key AS place, h.value AS tip, l.id, l.seen_at, \
     max(t.model = ?3) AS of_model FROM json_each(?1) h CROSS JOIN ledger_tips t ON t.tip = unhex(h.value) \
     CROSS JOIN ledger_lineages l ON l.id = t.lineage \
     WHERE l.project_path = ?2 AND NOT (l.client_session_id = ?4 AND l.agent_id = ?5) GROUP BY h.key, l.id) \
     SELECT f.id, unhex(f.tip) AS tip, e.anchor FROM found f LEFT JOIN ledger_entries e ON e.lineage = f.id \
     WHERE (f.of_model, f.place) = \
     (SELECT of_model, place FROM found ORDER BY of_model DESC, place DESC LIMIT 1) \
     ORDER BY f.seen_at DESC, f.id DESC";

/// Inserts lineage `?1`, `?2`. If it is new, copies the decisions of lineage `?5` with tip `?8` for the injection
/// points `?7`. Selects the stored lineage.
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

/// If lineage `?1`, `?2` was inserted at `?3`, copies the replaced results of lineage `?4`, and its cuts at `?5`. Statements
/// have no gaps in their parameters, because those would shift the parameters of the next one.
const ADOPT_CUTS: &str = "INSERT INTO ledger_trims SELECT l.id, t.tool_use_id, t.content, t.decided_at \
     FROM ledger_lineages l, ledger_trims t WHERE l.client_session_id = ?1 AND l.agent_id = ?2 \
     AND l.created_at = ?3 AND l.seen_at = ?3 AND t.lineage = ?4 ON CONFLICT DO NOTHING; \
     INSERT INTO ledger_cuts SELECT l.id, c.anchor, c.block, c.decided_at, c.applied_at, c.tokens_before, \
      c.tokens_after, c.is_measured, c.cost, c.saving FROM ledger_lineages l, ledger_cuts c \
     WHERE l.client_session_id = ?1 AND l.agent_id = ?2 AND l.created_at = ?3 AND l.seen_at = ?3 \
     AND c.lineage = ?4 AND c.anchor IN (SELECT unhex(value) FROM json_each(?5)) ON CONFLICT DO NOTHING";

/// Stores tip `?6` of lineage `?1`, `?2`, and the decision to add nothing at the injection points `?7`. Existing
/// decisions are kept.
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

/// The number of newest keys that are looked up first. A continued session is usually found there, because the API does
/// not look for cached prefixes that end before them.
const NEWEST_KEYS: usize = 64;

/// Stores a new lineage with the decisions of the lineage that it continues.
pub(super) async fn adopt(store: &SqliteStore, new: &NewLineage) -> Result<LedgerLineage, StoreError> {
    // Looked up before taking the write lock, which makes other processes wait.
    let mut continued = continued_by(store, new).await?;
    if let Some(found) = &mut continued {
        found.cuts = cuts::anchors(store, found.id).await?;
        found.cuts.retain(|anchor| new.history.contains(anchor));
    }
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
    let (mut transaction, rows) = store.begin_with(ADOPT, values).await?;
    if let Some(found) = &continued {
        let Lineage { session, .. } = &new.lineage;
        let values = params![session, agent(&new.lineage), new.at, found.id, keys(&found.cuts)];
        transaction.execute(ADOPT_CUTS, values).await?;
    }
    transaction.commit().await?;
    Ok(from_rows(&rows)?.unwrap_or_default())
}

/// Finds the lineage that a new one continues.
async fn continued_by(store: &SqliteStore, new: &NewLineage) -> Result<Option<Continued>, StoreError> {
    if new.project_path.is_empty() {
        return Ok(None);
    }
    let (older, newest) = new
        .history
        .split_at(new.history.len().saturating_sub(NEWEST_KEYS));
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
    /// Its injection points in the history of the new one.
    places: Vec<HistoryKey>,
    /// The places in that history before which its beginning is left out.
    cuts: Vec<HistoryKey>,
    /// The position of the last of its injection points in that history.
    latest: Option<usize>,
}

/// Returns the lineage with the latest decision in the history, because a fork that continued differently has the same
/// tip. The first one of equals.
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
                cuts: Vec::new(),
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

/// Reads the lineage that a row names.
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
