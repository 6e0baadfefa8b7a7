//! Beginnings that are left out of histories, and replaced results of tools.

use super::agent;
use crate::sqlite::columns::{RowExt, from_row, params};
use crate::sqlite::{SqliteStore, StoreError};
use async_trait::async_trait;
use grov_domain::{
    ClearSummary, ClientSessionId, CutEffect, CutNote, CutStore, HistoryCut, HistoryKey, Lineage,
    LineageCuts, Redacted, TrimmedResult,
};
use std::time::Instant;
use time::OffsetDateTime;

const CUTS: &str = "SELECT c.* FROM ledger_cuts c JOIN ledger_lineages l ON l.id = c.lineage \
     WHERE l.client_session_id = ?1 AND l.agent_id = ?2";

const TRIMS: &str = "SELECT t.* FROM ledger_trims t JOIN ledger_lineages l ON l.id = t.lineage \
     WHERE l.client_session_id = ?1 AND l.agent_id = ?2";

const SAVE_CUT: &str = "INSERT INTO ledger_cuts \
     (lineage, anchor, block, decided_at, tokens_before, tokens_after, cost, saving) \
     SELECT id, ?3, ?4, ?5, ?6, ?7, ?8, ?9 FROM ledger_lineages WHERE client_session_id = ?1 AND agent_id = ?2 \
     ON CONFLICT DO NOTHING";

/// Marks the cut at `?3` of lineage `?1`, `?2` as applied at `?4`, also in the newest task of the session.
const APPLY_CUT: &str = "UPDATE ledger_cuts SET applied_at = ?4 WHERE applied_at IS NULL AND anchor = ?3 AND lineage = \
     (SELECT id FROM ledger_lineages WHERE client_session_id = ?1 AND agent_id = ?2); \
     UPDATE session_states SET last_clear_at = ?4 WHERE changes() > 0 AND session_id = (SELECT session_id FROM session_states \
      WHERE client_session_id = ?1 ORDER BY last_update DESC, session_id DESC LIMIT 1)";

const DROP_CUT: &str = "DELETE FROM ledger_cuts WHERE applied_at IS NULL AND anchor = ?3 AND lineage = \
     (SELECT id FROM ledger_lineages WHERE client_session_id = ?1 AND agent_id = ?2)";

const MEASURE_CUT: &str = "UPDATE ledger_cuts SET tokens_after = ?4, is_measured = 1 WHERE anchor = ?3 AND lineage = \
     (SELECT id FROM ledger_lineages WHERE client_session_id = ?1 AND agent_id = ?2)";

/// Stores the replaced results in list `?3`, an array of `[id, content]`, decided at `?4`. Returns a row for each.
const SAVE_TRIMS: &str = "INSERT INTO ledger_trims (lineage, tool_use_id, content, decided_at) \
     SELECT l.id, t.value ->> 0, t.value ->> 1, ?4 FROM ledger_lineages l, json_each(?3) t \
     WHERE l.client_session_id = ?1 AND l.agent_id = ?2 ON CONFLICT DO NOTHING RETURNING 1";

/// The last clear of each client session, and their number.
const CLEARS: &str = "SELECT client_session_id, count, applied_at AS last_clear_at, tokens_before, tokens_after, \
     is_measured, cost AS cost_micro_usd, saving AS saving_micro_usd FROM \
     (SELECT l.client_session_id, c.*, count(*) OVER session AS count, \
      row_number() OVER (session ORDER BY c.applied_at DESC, c.anchor) AS place \
      FROM ledger_cuts c JOIN ledger_lineages l ON l.id = c.lineage \
      WHERE c.applied_at IS NOT NULL AND l.agent_id = '' \
      AND (?1 IS NULL OR l.client_session_id IN (SELECT value FROM json_each(?1))) \
      WINDOW session AS (PARTITION BY l.client_session_id)) \
     WHERE place = 1 ORDER BY last_clear_at DESC, client_session_id";

#[async_trait]
impl CutStore for SqliteStore {
    async fn cuts(&self, lineage: &Lineage) -> Result<LineageCuts, StoreError> {
        let mut connection = self.connection().await?;
        let of_lineage = || params![lineage.session, agent(lineage)];
        let cuts = connection
            .read(CUTS, of_lineage(), |row| {
                Ok(from_row!(row => HistoryCut {
                    anchor, block, decided_at, applied_at, is_measured,
                    effect: from_row!(row => CutEffect { tokens_before, tokens_after, cost, saving }),
                }))
            })
            .await?;
        let trims = connection
            .read(TRIMS, of_lineage(), |row| {
                Ok(from_row!(row => TrimmedResult { tool_use_id, content, decided_at }))
            })
            .await?;
        Ok(LineageCuts { cuts, trims })
    }

    async fn save_cut(&self, lineage: &Lineage, cut: &HistoryCut<Redacted>) -> Result<bool, StoreError> {
        let CutEffect {
            tokens_before,
            tokens_after,
            cost,
            saving,
        } = cut.effect;
        let values = params![
            lineage.session,
            agent(lineage),
            cut.anchor,
            &*cut.block,
            cut.decided_at,
            tokens_before,
            tokens_after,
            cost,
            saving,
        ];
        Ok(self.execute(SAVE_CUT, values).await? > 0)
    }

    async fn note_cut(&self, lineage: &Lineage, anchor: HistoryKey, note: CutNote) -> Result<(), StoreError> {
        let (session, agent) = (&lineage.session, agent(lineage));
        match note {
            CutNote::Applied(at) => self.execute(APPLY_CUT, params![session, agent, anchor, at]).await,
            CutNote::Measured(tokens) => {
                self.execute(MEASURE_CUT, params![session, agent, anchor, tokens])
                    .await
            }
            CutNote::Dropped => self.execute(DROP_CUT, params![session, agent, anchor]).await,
        }
        .map(drop)
    }

    async fn save_trims(
        &self,
        lineage: &Lineage,
        trims: &[TrimmedResult<Redacted>],
        until: Instant,
    ) -> Result<bool, StoreError> {
        let Some(first) = trims.first() else {
            return Ok(false);
        };
        let list: Vec<(&str, &str)> = trims
            .iter()
            .map(|trim| (trim.tool_use_id.as_str(), &*trim.content))
            .map(|(id, content)| (id, content.as_ref()))
            .collect();
        let list = serde_json::to_string(&list)
            .map_err(|error| StoreError::Other(format!("cannot write the replaced results: {error}")))?;
        let values = params![lineage.session, agent(lineage), list, first.decided_at];
        let Some((transaction, stored)) = self.begin_until(until, SAVE_TRIMS, values).await? else {
            return Ok(false);
        };
        if stored.len() < trims.len() || Instant::now() >= until {
            transaction.roll_back().await?;
            return Ok(false);
        }
        transaction.commit_without_checkpoint().await?;
        Ok(true)
    }

    async fn remove_trims(&self, lineage: &Lineage, tool_use_ids: &[String]) -> Result<(), StoreError> {
        let sql = "DELETE FROM ledger_trims WHERE tool_use_id IN (SELECT value FROM json_each(?3)) AND lineage = \
             (SELECT id FROM ledger_lineages WHERE client_session_id = ?1 AND agent_id = ?2)";
        self.execute(sql, params![lineage.session, agent(lineage), tool_use_ids])
            .await
            .map(drop)
    }

    async fn clears(&self, sessions: &[ClientSessionId]) -> Result<Vec<ClearSummary>, StoreError> {
        self.read(CLEARS, params![sessions], |row| {
            Ok(from_row!(row => ClearSummary {
                client_session_id, count, last_clear_at, tokens_before, tokens_after, is_measured,
                cost_micro_usd, saving_micro_usd,
            }))
        })
        .await
    }

    async fn last_request(&self) -> Result<Option<OffsetDateTime>, StoreError> {
        let mut connection = self.connection().await?;
        let newest = connection
            .value("SELECT max(seen_at) FROM ledger_lineages", params![])
            .await?;
        Ok(newest.flatten())
    }
}

/// Returns the anchors of the applied cuts of a lineage.
pub(super) async fn anchors(store: &SqliteStore, lineage: i64) -> Result<Vec<HistoryKey>, StoreError> {
    let sql = "SELECT anchor FROM ledger_cuts WHERE lineage = ?1 AND applied_at IS NOT NULL";
    store.read(sql, params![lineage], |row| row.read("anchor")).await
}
