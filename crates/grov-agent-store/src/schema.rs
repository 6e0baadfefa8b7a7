//! The schema and its migrations: numbered files, applied in order, never changed after a release.

use crate::column::Columns;
use crate::error::failed;
use grov_agent::AgentStoreError;
use sqlx::{AnyConnection, AssertSqlSafe, Connection, Executor, Transaction};

/// Migration N is at index N - 1.
const SQLITE: &[&str] = &[
    include_str!("../../../migrations/agent/sqlite/0001_agent.sql"),
    include_str!("../../../migrations/agent/sqlite/0002_records.sql"),
    include_str!("../../../migrations/agent/sqlite/0003_qdrant.sql"),
    include_str!("../../../migrations/agent/sqlite/0004_sharing.sql"),
];
const POSTGRES: &[&str] = &[
    include_str!("../../../migrations/postgres/0001_agent.sql"),
    include_str!("../../../migrations/postgres/0002_records.sql"),
    include_str!("../../../migrations/postgres/0003_qdrant.sql"),
    include_str!("../../../migrations/postgres/0004_sharing.sql"),
];

/// The newest known schema, the same number on both databases.
pub(crate) const KNOWN: i64 = SQLITE.len() as i64;

/// "GrAg" in ASCII: marks a SQLite database as ours.
pub(crate) const APPLICATION: i64 = 0x4772_4167;

/// "grov" in ASCII, then a number of its own: the lock under which the schema is changed.
const MIGRATION_LOCK: &str = "SELECT pg_advisory_xact_lock(7454406418205310977)";

/// What pgvector needs to be for `hnsw.iterative_scan`.
const OLDEST_PGVECTOR: (u32, u32) = (0, 8);

/// Migrates a SQLite database in one transaction.
pub(crate) async fn migrate_sqlite(connection: &mut AnyConnection) -> Result<(), AgentStoreError> {
    run(connection, "PRAGMA busy_timeout = 10000").await?;
    must_be_ours(connection).await?;
    run(connection, "PRAGMA journal_mode = WAL").await?;
    if is_known(sqlite_version(connection).await?)? {
        return Ok(());
    }
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
    let found = sqlite_version(&mut transaction).await?;
    if !is_known(found)? {
        apply(&mut transaction, SQLITE, found).await?;
        run(&mut transaction, format!("PRAGMA user_version = {KNOWN}")).await?;
    }
    transaction.commit().await.map_err(failed)
}

/// Refuses the database of another program before anything in it is changed.
async fn must_be_ours(connection: &mut AnyConnection) -> Result<(), AgentStoreError> {
    const TABLES: &str = "SELECT count(*) AS tables FROM sqlite_master";
    // Tables first: if another process creates ours meanwhile, the mark is there when they are.
    let is_empty = pragma(connection, TABLES, "tables").await? == 0;
    let application = pragma(connection, "PRAGMA application_id", "application_id").await?;
    if is_empty || application == APPLICATION {
        return Ok(());
    }
    Err(AgentStoreError::Other(
        "the file in DATABASE_URL is a SQLite database of another program, so nothing was changed in it; give the path of a new file"
            .to_owned(),
    ))
}

/// Returns the schema of a SQLite database; 0 for an empty one.
pub(crate) async fn sqlite_version(connection: &mut AnyConnection) -> Result<i64, AgentStoreError> {
    pragma(connection, "PRAGMA user_version", "user_version").await
}

/// Returns a numeric setting of a SQLite database.
pub(crate) async fn pragma(
    connection: &mut AnyConnection,
    sql: &'static str,
    name: &str,
) -> Result<i64, AgentStoreError> {
    connection
        .fetch_one(sqlx::query(sql))
        .await
        .map_err(failed)?
        .get_as(name)
}

/// Migrates a PostgreSQL database in one transaction, under a lock that every instance takes.
pub(crate) async fn migrate_postgres(connection: &mut AnyConnection) -> Result<(), AgentStoreError> {
    let mut transaction = connection.begin().await.map_err(failed)?;
    // Another instance may need longer than other calls wait for a lock.
    run(&mut transaction, "SET LOCAL lock_timeout = 0").await?;
    run(&mut transaction, MIGRATION_LOCK).await?;
    let found = postgres_version(&mut transaction).await?;
    if !is_known(found)? {
        need_pgvector(&mut transaction).await?;
        run(
            &mut transaction,
            "CREATE SCHEMA IF NOT EXISTS grov_agent; \
             CREATE TABLE IF NOT EXISTS grov_agent.schema_version (version BIGINT NOT NULL)",
        )
        .await?;
        apply(&mut transaction, POSTGRES, found).await?;
        run(
            &mut transaction,
            format!(
                "DELETE FROM grov_agent.schema_version; INSERT INTO grov_agent.schema_version VALUES ({KNOWN})"
            ),
        )
        .await?;
    }
    transaction.commit().await.map_err(failed)
}

async fn postgres_version(connection: &mut AnyConnection) -> Result<i64, AgentStoreError> {
    const IS_THERE: &str =
        "SELECT CASE WHEN to_regclass('grov_agent.schema_version') IS NULL THEN 0 ELSE 1 END AS is_there";
    let is_there: bool = connection
        .fetch_one(sqlx::query(IS_THERE))
        .await
        .map_err(failed)?
        .get_as("is_there")?;
    if !is_there {
        return Ok(0);
    }
    let version = sqlx::query("SELECT coalesce(max(version), 0) AS version FROM grov_agent.schema_version");
    connection
        .fetch_one(version)
        .await
        .map_err(failed)?
        .get_as("version")
}

/// Creates the extension if the server has it.
async fn need_pgvector(connection: &mut AnyConnection) -> Result<(), AgentStoreError> {
    const VERSION: &str = "SELECT coalesce((SELECT extversion FROM pg_extension WHERE extname = 'vector'), \
         (SELECT default_version FROM pg_available_extensions WHERE name = 'vector')::text, '') AS version";
    let version: String = connection
        .fetch_one(sqlx::query(VERSION))
        .await
        .map_err(failed)?
        .get_as("version")?;
    let mut numbers = version.split('.').map(|part| part.parse().unwrap_or(0_u32));
    let found = (
        numbers.next().unwrap_or_default(),
        numbers.next().unwrap_or_default(),
    );
    if version.is_empty() {
        return Err(AgentStoreError::Other(
            "the PostgreSQL server has no pgvector, which holds the embeddings; install the package pgvector (0.8 or \
             newer) on the server, for example postgresql-18-pgvector, or use sqlite:PATH as DATABASE_URL"
                .to_owned(),
        ));
    }
    if found < OLDEST_PGVECTOR {
        return Err(AgentStoreError::Other(format!(
            "the PostgreSQL server has pgvector {version}, and 0.8 or newer is needed; update the package on the server \
             and run ALTER EXTENSION vector UPDATE"
        )));
    }
    run(connection, "CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
        .await
        .map_err(|error| {
            AgentStoreError::Other(format!(
                "the extension pgvector cannot be created: {error}; run CREATE EXTENSION vector in this database as a \
                 superuser once"
            ))
        })
}

/// Whether this is the newest schema.
pub(crate) fn is_known(found: i64) -> Result<bool, AgentStoreError> {
    if found > KNOWN {
        return Err(AgentStoreError::NewerSchema { found, known: KNOWN });
    }
    Ok(found == KNOWN)
}

async fn apply(
    transaction: &mut Transaction<'_, sqlx::Any>,
    migrations: &[&'static str],
    found: i64,
) -> Result<(), AgentStoreError> {
    let done = usize::try_from(found).unwrap_or_default();
    for migration in migrations.iter().skip(done) {
        run(transaction, *migration).await?;
    }
    Ok(())
}

/// Runs statements of this crate that have no values.
async fn run(connection: &mut AnyConnection, sql: impl Into<String>) -> Result<(), AgentStoreError> {
    sqlx::raw_sql(AssertSqlSafe(sql.into()))
        .execute(connection)
        .await
        .map(drop)
        .map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_databases_have_the_same_migrations() {
        assert_eq!(SQLITE.len(), POSTGRES.len());
    }

    #[test]
    fn the_first_migration_marks_the_database_as_ours() {
        assert!(SQLITE[0].contains(&format!("PRAGMA application_id = {APPLICATION};")));
    }
}
