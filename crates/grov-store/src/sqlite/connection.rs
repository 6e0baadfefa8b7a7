//! The connection to the database, held for one call.

use super::columns::{FromColumn, Record, RowExt, Values, params};
use super::error::Replaced;
use super::open_files::OpenFiles;
use super::{OnCorruption, SqliteStore, schema};
use crate::files::Identity;
use crate::sqlite::insert::{Insert, portions};
use futures_util::TryStreamExt;
use grov_domain::StoreError;
use sqlx::query::Query;
use sqlx::sqlite::{Sqlite, SqliteArguments, SqliteConnection, SqliteRow};
use sqlx::{AssertSqlSafe, Executor, SqlSafeStr};
use std::ops::{Deref, DerefMut};
use std::time::{Duration, Instant};
use tokio::sync::MutexGuard;
use tokio::time::timeout_at;

/// Begins a write transaction. It takes the write lock immediately: a transaction that first reads fails if another
/// process has written since, regardless of the busy timeout.
macro_rules! begin {
    () => {
        "BEGIN IMMEDIATE; PRAGMA user_version; "
    };
}
pub(super) use begin;

/// Statements with a busy timeout below this many milliseconds stay prepared.
const MAX_PREPARED_TIMEOUT_MS: u128 = 16;

/// The store's one connection.
#[derive(Default)]
pub(super) enum Slot {
    /// No connection; the next call opens the database.
    #[default]
    Closed,
    Open(SqliteConnection),
    /// SQLite reported damage in this file; the next call sets the database aside.
    Damaged {
        damage: String,
        identity: Option<Identity>,
        /// Kept open until the database is set aside: the last connection to close would write the log's pages, damaged
        /// or not, into the database and delete the log.
        _connection: Option<SqliteConnection>,
    },
}

/// The connection, locked for one call.
pub(super) struct Connection<'a> {
    store: &'a SqliteStore,
    pub(super) slot: MutexGuard<'a, Slot>,
    /// While `true`, dropping the guard closes the connection, which rolls back. A `ROLLBACK` would fail if SQLite
    /// rolled back already.
    pub(super) in_transaction: bool,
}

impl SqliteStore {
    /// Locks the connection and opens the database if needed.
    pub(super) async fn connection(&self) -> Result<Connection<'_>, StoreError> {
        let mut slot = self.slot.lock().await;
        if self.must_recover(&slot) {
            Box::pin(self.recover(&mut slot)).await?;
        }
        let is_open = matches!(*slot, Slot::Open(_));
        let mut connection = Connection {
            store: self,
            slot,
            in_transaction: false,
        };
        if !is_open {
            Box::pin(connection.open()).await?;
        }
        Ok(connection)
    }

    /// Begins a write transaction.
    pub(super) async fn begin(&self) -> Result<Transaction<'_>, StoreError> {
        Ok(self.begin_with(begin!(), Values::default()).await?.0)
    }

    /// Begins a write transaction. `statements` start with [`begin!`] and run in the same round trip to the
    /// connection's thread. Returns their rows too.
    pub(super) async fn begin_with(
        &self,
        statements: impl SqlSafeStr,
        values: Values,
    ) -> Result<(Transaction<'_>, Vec<SqliteRow>), StoreError> {
        let mut connection = self.connection().await?;
        let rows = connection.begin(values.query(statements)?, 0).await?;
        Ok((Transaction(connection), rows))
    }

    /// Like [`Self::begin_with`], but waits for other writers only until `until`; `None` if they took longer.
    /// `statements` follow [`begin!`].
    pub(super) async fn begin_until(
        &self,
        until: Instant,
        statements: &str,
        values: Values,
    ) -> Result<Option<(Transaction<'_>, Vec<SqliteRow>)>, StoreError> {
        // Opening can exceed the deadline; a call without one opens the database.
        let Ok(connection) = timeout_at(until.into(), self.connection()).await else {
            return Ok(None);
        };
        let mut connection = connection?;
        let timeout = until.saturating_duration_since(Instant::now());
        // A pragma takes no bound value; the numbers are ours.
        let statements = AssertSqlSafe(format!(
            concat!(
                "PRAGMA busy_timeout = {}; ",
                begin!(),
                "PRAGMA busy_timeout = {}; {}"
            ),
            timeout.as_millis(),
            self.options.busy_timeout.as_millis(),
            statements
        ));
        let query = values
            .query(statements)?
            .persistent(timeout.as_millis() < MAX_PREPARED_TIMEOUT_MS);
        match connection.begin(query, 1).await {
            Ok(mut rows) => {
                // Skips the row of the second pragma.
                rows.remove(0);
                Ok(Some((Transaction(connection), rows)))
            }
            Err(error) if error.is_transient() && !connection.in_transaction => {
                connection.set_busy_timeout(self.options.busy_timeout).await?;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Runs one statement in a separate transaction. Returns the number of changed rows.
    pub(super) async fn execute(&self, sql: impl SqlSafeStr, values: Values) -> Result<u64, StoreError> {
        let mut transaction = self.begin().await?;
        let changed = transaction.execute(sql, values).await?;
        transaction.commit().await?;
        Ok(changed)
    }

    /// Returns all rows of a statement.
    pub(super) async fn rows(
        &self,
        sql: impl SqlSafeStr,
        values: Values,
    ) -> Result<Vec<SqliteRow>, StoreError> {
        self.connection().await?.rows(sql, values).await
    }

    /// Returns all rows of a statement, converted by `read`.
    pub(super) async fn read<T>(
        &self,
        sql: impl SqlSafeStr,
        values: Values,
        read: impl Fn(&SqliteRow) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        self.connection().await?.read(sql, values, read).await
    }
}

impl<'a> Connection<'a> {
    /// Returns the store that the connection belongs to.
    pub(super) fn store(&self) -> &'a SqliteStore {
        self.store
    }

    /// Returns the connection itself, for streaming. Pass its errors to [`Connection::failed`].
    pub(super) fn raw(&mut self) -> Result<&mut SqliteConnection, StoreError> {
        match &mut *self.slot {
            Slot::Open(connection) => Ok(connection),
            _ => Err(StoreError::Other(
                "the connection is gone; the next call opens a new one".to_owned(),
            )),
        }
    }

    /// Converts an error. A store that reopens its database also closes the connection, unless the error is transient.
    pub(super) fn failed(&mut self, error: sqlx::Error) -> StoreError {
        let error = self.store.error(error);
        if let Some(on_corruption) = self.store.mode.reopens()
            && !error.is_transient()
        {
            *self.slot = match &error {
                StoreError::Corrupt(damage) if on_corruption == OnCorruption::SetAside => Slot::Damaged {
                    damage: damage.clone(),
                    identity: self.store.open_files().and_then(OpenFiles::identity),
                    _connection: match std::mem::take(&mut *self.slot) {
                        // A transaction would keep the database locked for others.
                        Slot::Open(connection) if !self.in_transaction => Some(connection),
                        _ => None,
                    },
                },
                _ => Slot::Closed,
            };
            self.store.set_open_files(None);
        }
        error
    }

    /// Returns all rows of a statement.
    pub(super) async fn rows(
        &mut self,
        sql: impl SqlSafeStr,
        values: Values,
    ) -> Result<Vec<SqliteRow>, StoreError> {
        let rows = values.query(sql)?.fetch_all(self.raw()?).await;
        rows.map_err(|error| self.failed(error))
    }

    /// Returns all rows of a statement, converted by `read`.
    pub(super) async fn read<T>(
        &mut self,
        sql: impl SqlSafeStr,
        values: Values,
        read: impl Fn(&SqliteRow) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        self.rows(sql, values).await?.iter().map(read).collect()
    }

    /// Returns the first row of a statement.
    pub(super) async fn row(
        &mut self,
        sql: impl SqlSafeStr,
        values: Values,
    ) -> Result<Option<SqliteRow>, StoreError> {
        let row = values.query(sql)?.fetch_optional(self.raw()?).await;
        row.map_err(|error| self.failed(error))
    }

    /// Returns the first column of the first row; `None` without a row.
    pub(super) async fn value<T: FromColumn>(
        &mut self,
        sql: impl SqlSafeStr,
        values: Values,
    ) -> Result<Option<T>, StoreError> {
        self.row(sql, values).await?.map(|row| row.read(0)).transpose()
    }

    /// Returns the schema version of the database.
    pub(super) async fn schema_version(&mut self) -> Result<i64, StoreError> {
        let version = schema::version(self.raw()?).await;
        version.map_err(|error| self.failed(error))
    }

    /// Runs one or several statements. Returns the number of changed rows.
    pub(super) async fn execute(&mut self, sql: impl SqlSafeStr, values: Values) -> Result<u64, StoreError> {
        let done = values.query(sql)?.execute(self.raw()?).await;
        done.map(|done| done.rows_affected())
            .map_err(|error| self.failed(error))
    }

    /// Runs many statements without values.
    pub(super) async fn run_script(&mut self, sql: &'static str) -> Result<(), StoreError> {
        let done = self.raw()?.execute(sql).await;
        done.map(drop).map_err(|error| self.failed(error))
    }

    /// Inserts a record or updates the one with the same key.
    pub(super) async fn upsert<R: Record>(&mut self, record: &R) -> Result<u64, StoreError> {
        self.save(record, R::UPSERT.tail).await
    }

    /// Inserts a record. `on_conflict` is the clause for an existing record with the same key.
    pub(super) async fn save<R: Record>(
        &mut self,
        record: &R,
        on_conflict: &'static str,
    ) -> Result<u64, StoreError> {
        let insert = Insert {
            tail: on_conflict,
            ..R::UPSERT
        };
        let (sql, values) = insert.statement(&[record], &|values, record| record.bind(values));
        self.execute(sql, values).await
    }

    /// Inserts many rows with few statements; `bind` adds the values of one row. Returns the number of changed rows.
    pub(super) async fn insert<T>(
        &mut self,
        insert: &Insert,
        rows: &[T],
        bind: impl Fn(&mut Values, &T),
    ) -> Result<u64, StoreError> {
        let mut changed = 0;
        for portion in portions(rows) {
            let (sql, values) = insert.statement(portion, &bind);
            changed += self.execute(sql, values).await?;
        }
        Ok(changed)
    }

    /// Like [`Self::insert`] for an insert with a `RETURNING` clause. Returns its rows.
    pub(super) async fn insert_returning<T>(
        &mut self,
        insert: &Insert,
        rows: &[T],
        bind: impl Fn(&mut Values, &T),
    ) -> Result<Vec<SqliteRow>, StoreError> {
        let mut returned = Vec::new();
        for portion in portions(rows) {
            let (sql, values) = insert.statement(portion, &bind);
            returned.append(&mut self.rows(sql, values).await?);
        }
        Ok(returned)
    }

    /// Runs statements that contain [`begin!`], after statements that return `before` rows. Returns the rows that
    /// follow.
    async fn begin(
        &mut self,
        statements: Query<'_, Sqlite, SqliteArguments>,
        before: usize,
    ) -> Result<Vec<SqliteRow>, StoreError> {
        // From here on, an error or a cancelled call must not leave a transaction open.
        self.in_transaction = true;
        let (begun, rest) = match run_begin(self.raw()?, statements, before).await {
            Ok(begun) => begun,
            Err(error) => {
                let error = self.failed(error);
                // After a busy timeout no transaction began, so the connection stays open.
                self.in_transaction = !error.is_transient();
                return Err(error);
            }
        };
        // A newer Grov may have changed the schema since the database was opened.
        if begun != schema::KNOWN {
            return Err(self.newer_schema(begun));
        }
        rest.map_err(|error| self.failed(error))
    }

    /// Returns the error for an unknown schema. The connection is closed when it is dropped.
    pub(super) fn newer_schema(&mut self, found: i64) -> StoreError {
        self.in_transaction = true;
        StoreError::NewerSchema {
            found,
            known: schema::KNOWN,
        }
    }

    /// Sets how long the connection waits for another process that is writing.
    async fn set_busy_timeout(&mut self, timeout: Duration) -> Result<(), StoreError> {
        // A pragma takes no bound value; the number is ours.
        let pragma = AssertSqlSafe(format!("PRAGMA busy_timeout = {}", timeout.as_millis()));
        let query = Values::default().query(pragma)?.persistent(false);
        let done = query.execute(self.raw()?).await;
        done.map(drop).map_err(|error| self.failed(error))
    }
}

impl Drop for Connection<'_> {
    fn drop(&mut self) {
        if self.in_transaction && matches!(*self.slot, Slot::Open(_)) {
            // The last connection to close deletes the log.
            self.store.set_open_files(None);
            *self.slot = Slot::Closed;
        }
    }
}

/// Returns the schema version within the transaction, and the rows after it.
async fn run_begin(
    connection: &mut SqliteConnection,
    statements: Query<'_, Sqlite, SqliteArguments>,
    before: usize,
) -> Result<(i64, Result<Vec<SqliteRow>, sqlx::Error>), sqlx::Error> {
    use sqlx::Row;
    let mut rows = statements.fetch(connection);
    for _ in 0..before {
        rows.try_next().await?;
    }
    let version = rows
        .try_next()
        .await?
        .ok_or(sqlx::Error::RowNotFound)?
        .try_get(0)?;
    if version != schema::KNOWN {
        return Ok((version, Ok(Vec::new())));
    }
    Ok((version, rows.try_collect().await))
}

/// A write transaction. Dropping it without [`Transaction::commit`] closes the connection, which rolls back.
pub(super) struct Transaction<'a>(Connection<'a>);

impl<'a> Deref for Transaction<'a> {
    type Target = Connection<'a>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Transaction<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl Transaction<'_> {
    pub(super) async fn commit(self) -> Result<(), StoreError> {
        self.commit_with("COMMIT").await
    }

    /// Commits without checkpointing the write-ahead log, which takes time and is left to the next writer.
    pub(super) async fn commit_without_checkpoint(self) -> Result<(), StoreError> {
        self.commit_with("PRAGMA wal_autocheckpoint = 0; COMMIT; PRAGMA wal_autocheckpoint = 1000")
            .await
    }

    async fn commit_with(mut self, statements: &'static str) -> Result<(), StoreError> {
        self.execute(statements, params![]).await?;
        self.in_transaction = false;
        // SQLite does not report that another process replaced the file, and continues to write to the old one.
        if self.store.is_same_file() {
            Ok(())
        } else {
            Err(self.failed(Replaced.into()))
        }
    }

    /// Rolls back and keeps the connection. Only after statements that all succeeded.
    pub(super) async fn roll_back(mut self) -> Result<(), StoreError> {
        self.execute("ROLLBACK", params![]).await?;
        self.in_transaction = false;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
