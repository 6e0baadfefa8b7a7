//! Looking whether a database is sound.

use super::values::Columns;
use super::{SqliteStore, StoreError, schema};
use sqlx::Row;
use time::OffsetDateTime;

/// What a look into the whole database found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Examination {
    /// Schema version.
    pub schema_version: i64,
    /// What is broken, as SQLite says it, three faults at most; nothing in a sound database.
    pub faults: Vec<String>,
    /// The newest time that a record bears; `None` without records.
    pub newest: Option<OffsetDateTime>,
    /// Rows of an older version may hold secrets: see [`SqliteStore::clean`].
    pub needs_cleaning: bool,
    /// Histories to which nothing is added any more, because the API refused a request with an addition and took it
    /// without.
    pub edits_disabled: u64,
}

impl SqliteStore {
    /// Reads the whole database, so it takes the longer the larger it is: seconds for gigabytes.
    ///
    /// # Errors
    /// The database cannot be read at all.
    pub async fn examine(&self) -> Result<Examination, StoreError> {
        const NEWEST: &str = "SELECT nullif(max(coalesce((SELECT max(last_update) FROM session_states), 0), \
             coalesce((SELECT max(created_at) FROM tasks), 0)), 0) AS newest, \
             (SELECT count(*) FROM ledger_lineages WHERE barred <> 0) AS barred";
        let mut reader = self.reader().await?;
        let schema_version = schema::version(reader.connection()?)
            .await
            .map_err(|error| self.error(error))?;
        let rows = reader.rows(self, sqlx::query("PRAGMA quick_check(3)")).await?;
        let said = rows.iter().map(|row| row.try_get::<String, _>(0));
        let mut faults: Vec<String> = said
            .collect::<Result<_, _>>()
            .map_err(|error| self.error(error))?;
        faults.retain(|line| line != "ok");
        let mut examination = Examination {
            schema_version,
            faults,
            newest: None,
            needs_cleaning: self.needs_cleaning().await?,
            edits_disabled: 0,
        };
        for row in &self.reader().await?.rows(self, sqlx::query(NEWEST)).await? {
            examination.newest = Columns(row).optional_time("newest")?;
            examination.edits_disabled = Columns(row).count("barred")?;
        }
        Ok(examination)
    }
}
