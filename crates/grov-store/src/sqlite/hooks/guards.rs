//! What a guard said of actions before they ran.

use crate::sqlite::values::{Columns, millis};
use crate::sqlite::{SqliteStore, StoreError, begin};
use grov_domain::{ClientSessionId, GuardRecord, GuardVerdict, Redacted};
use sqlx::sqlite::SqliteRow;

const KEEP: &str = concat!(
    begin!(),
    "INSERT INTO hook_guards (client_session_id, tool_use_id, verdict, subject, reason, ran, at) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (client_session_id, tool_use_id) DO UPDATE SET \
     verdict = excluded.verdict, subject = excluded.subject, reason = excluded.reason, ran = excluded.ran, \
     at = excluded.at"
);

const RAN: &str = concat!(
    begin!(),
    "UPDATE hook_guards SET ran = 1 WHERE client_session_id = ?1 AND tool_use_id = ?2"
);

impl SqliteStore {
    pub(super) async fn keep_guarded(&self, guarded: &Redacted<GuardRecord>) -> Result<(), StoreError> {
        let query = sqlx::query(KEEP)
            .bind(guarded.client_session_id.as_str())
            .bind(guarded.tool_use_id.as_str())
            .bind(guarded.verdict.as_str())
            .bind(guarded.subject.as_str())
            .bind(guarded.reason.as_str())
            .bind(guarded.ran)
            .bind(millis(guarded.at));
        let (writer, _) = self.writer_running(query).await?;
        writer.commit().await.map_err(|error| self.error(error))
    }

    /// A guard says something of very few calls: only then the write lock is taken.
    pub(super) async fn note_ran(
        &self,
        session: &ClientSessionId,
        tool_use_id: &str,
    ) -> Result<bool, StoreError> {
        let query =
            sqlx::query("SELECT ran FROM hook_guards WHERE client_session_id = ? AND tool_use_id = ?")
                .bind(session.as_str())
                .bind(tool_use_id);
        let rows = self.reader().await?.rows(self, query).await?;
        let Some(row) = rows.first() else {
            return Ok(false);
        };
        if !Columns(row).flag("ran")? {
            let query = sqlx::query(RAN).bind(session.as_str()).bind(tool_use_id);
            let (writer, _) = self.writer_running(query).await?;
            writer.commit().await.map_err(|error| self.error(error))?;
        }
        Ok(true)
    }

    pub(in crate::sqlite) async fn guards_of(
        &self,
        session: &ClientSessionId,
    ) -> Result<Vec<GuardRecord>, StoreError> {
        let query =
            sqlx::query("SELECT * FROM hook_guards WHERE client_session_id = ? ORDER BY at, tool_use_id");
        let rows = self
            .reader()
            .await?
            .rows(self, query.bind(session.as_str()))
            .await?;
        rows.iter().map(guarded).collect()
    }
}

fn guarded(row: &SqliteRow) -> Result<GuardRecord, StoreError> {
    let columns = Columns(row);
    Ok(GuardRecord {
        client_session_id: ClientSessionId::new(columns.get::<String>("client_session_id")?),
        tool_use_id: columns.get("tool_use_id")?,
        verdict: columns.named("verdict", GuardVerdict::from_name)?,
        subject: columns.get("subject")?,
        reason: columns.get("reason")?,
        ran: columns.flag("ran")?,
        at: columns.time("at")?,
    })
}
