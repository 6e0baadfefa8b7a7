//! The journal of a session. Rows are chosen by their times alone before their long columns are read.

use super::activity::tokens;
use super::columns::{RowExt, from_row, params};
use super::hooks::hook_step;
use super::sessions::{step, step_columns};
use super::{SqliteStore, StoreError};
use async_trait::async_trait;
use grov_domain::{ClientSessionId, Journal, JournalExchange, JournalPrompt, JournalStore};
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

#[async_trait]
impl JournalStore for SqliteStore {
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
}

fn prompt(row: &SqliteRow) -> Result<JournalPrompt, StoreError> {
    Ok(from_row!(row => JournalPrompt { at, text, queued }))
}

fn exchange(row: &SqliteRow) -> Result<JournalExchange, StoreError> {
    Ok(from_row!(row => JournalExchange {
        id, session_id, agent_id, kind, model, stop_reason, outcome, started_at, ended_at,
        tokens: tokens(row)?,
    }))
}
