//! The integrity check of a database.

use super::columns::{RowExt, params};
use super::{SqliteStore, StoreError};
use time::OffsetDateTime;

/// Result of an integrity check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntegrityReport {
    /// Schema version.
    pub schema_version: i64,
    /// The first three errors, as reported by SQLite; empty for an intact database.
    pub faults: Vec<String>,
    /// The latest time in any record; `None` without records.
    pub newest: Option<OffsetDateTime>,
    /// Whether rows written before schema 10 may hold secrets: see [`SqliteStore::scrub_secrets`].
    pub may_hold_secrets: bool,
    /// The number of histories that are not edited any more, because the API refused an edited request and accepted the
    /// original.
    pub edits_disabled: u64,
}

impl SqliteStore {
    /// Checks the whole database, which takes seconds for gigabytes.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn check_integrity(&self) -> Result<IntegrityReport, StoreError> {
        const NEWEST: &str = "SELECT nullif(max(coalesce((SELECT max(last_update) FROM session_states), 0), \
             coalesce((SELECT max(created_at) FROM tasks), 0)), 0) AS newest, \
             (SELECT count(*) FROM ledger_lineages WHERE barred <> 0) AS barred";
        let mut connection = self.connection().await?;
        let schema_version = connection.schema_version().await?;
        let mut faults: Vec<String> = connection
            .read("PRAGMA quick_check(3)", params![], |row| row.read(0))
            .await?;
        faults.retain(|line| line != "ok");
        let row = connection.row(NEWEST, params![]).await?;
        drop(connection);
        Ok(IntegrityReport {
            schema_version,
            faults,
            newest: row.as_ref().map_or(Ok(None), |row| row.read("newest"))?,
            may_hold_secrets: self.may_hold_secrets().await?,
            edits_disabled: row.map_or(Ok(0), |row| row.read("barred"))?,
        })
    }
}
