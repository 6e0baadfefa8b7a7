//! Opening a database, and the connections to it.

use crate::dialect::Dialect;
use crate::error::failed;
use crate::files::{self, InUse};
use crate::qdrant::QdrantServer;
use crate::schema;
use crate::work::{Work, args};
use async_trait::async_trait;
use grov_agent::{AgentStore, AgentStoreError, DatabaseHealth, MemoryItemId};
use sqlx::any::{AnyConnectOptions, AnyPoolOptions};
use sqlx::{Any, AnyConnection, AnyPool, ConnectOptions, Connection};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::AtomicI64;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How a database is opened.
#[derive(Clone, Debug)]
pub struct DatabaseOptions {
    /// The most connections to PostgreSQL, or that read SQLite. Default 16.
    pub connections: u32,
    /// How long a call waits for a free connection, and SQLite for another process that writes. Default 10 s.
    pub wait: Duration,
    /// How long opening waits for another process that opens, migrates or restores the database. Default 60 s.
    pub migration_wait: Duration,
    /// Up to this many embeddings of a project, PostgreSQL compares all of them: exact, and as fast as its index is there.
    /// Default 10,000.
    pub compared_embeddings: u32,
    /// Qdrant, if it keeps a copy of the embeddings and searches them.
    pub qdrant: Option<QdrantServer>,
}

impl Default for DatabaseOptions {
    fn default() -> Self {
        Self {
            connections: 16,
            wait: Duration::from_secs(10),
            migration_wait: Duration::from_secs(60),
            compared_embeddings: 10_000,
            qdrant: None,
        }
    }
}

/// The store of the agent service, on SQLite or PostgreSQL.
///
/// On SQLite one connection writes and others read. Several processes may open the same database.
#[derive(Debug)]
pub struct AgentDatabase {
    readers: AnyPool,
    writers: AnyPool,
    pub(crate) dialect: Dialect,
    /// The file of a SQLite database.
    pub(crate) path: Option<PathBuf>,
    /// Tells other processes that this SQLite database is open.
    _in_use: Option<InUse>,
    /// All entries with smaller numbers have an embedding of the model that was asked for last.
    pub(crate) embedded_below: AtomicI64,
    /// The entries of the items that were handed out last to be embedded: an item that was edited meanwhile has another one.
    handed_out: Mutex<HashMap<MemoryItemId, i64>>,
    pub(crate) compared_embeddings: u32,
    pub(crate) qdrant: Option<QdrantServer>,
    /// Held while Qdrant is changed.
    pub(crate) copying: tokio::sync::Mutex<()>,
}

/// See `write_patiently`.
const PATIENCE: Duration = Duration::from_secs(60);

/// Rolls back by itself if it is dropped.
const BEGIN_WRITE: &str = "BEGIN IMMEDIATE";
const BEGIN_READ: &str = "BEGIN";
const BEGIN_SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// Settings of each connection to SQLite. A commit survives the death of the process without a sync of the disk;
/// deleted content is overwritten.
const SQLITE_SETTINGS: &str = "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; \
     PRAGMA secure_delete = FAST; PRAGMA journal_size_limit = 16777216; PRAGMA cache_size = -8192; ";

/// Settings of each connection to PostgreSQL. The tables have a schema of their own, so that they do not meet others.
const POSTGRES_SETTINGS: &str = "SELECT set_config('search_path', concat_ws(',', 'grov_agent', current_setting('search_path'), \
     (SELECT quote_ident(n.nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace \
     WHERE e.extname = 'vector')), false); \
     SET lock_timeout = '10s'; SET work_mem = '32MB'; SET idle_in_transaction_session_timeout = '60s'; SET client_min_messages = 'warning'";

impl AgentDatabase {
    /// Opens `sqlite:PATH` or `postgresql://…`, creates what is missing and migrates an older schema.
    ///
    /// # Errors
    ///
    /// [`AgentStoreError::NewerSchema`] if a newer version wrote the database, [`AgentStoreError::NotWritable`] if it cannot
    /// be created or written, [`AgentStoreError::Unavailable`] if it cannot be reached or another process holds it,
    /// [`AgentStoreError::Other`] if the URL is not one of these or PostgreSQL has no pgvector.
    pub async fn open(url: &str, options: &DatabaseOptions) -> Result<Self, AgentStoreError> {
        sqlx::any::install_default_drivers();
        if let Some(path) = sqlite_path(url) {
            return Self::open_sqlite(Path::new(path), options).await;
        }
        if url.starts_with("postgresql://") || url.starts_with("postgres://") {
            return Self::open_postgres(url, options).await;
        }
        // The URL may hold a password, so it is not repeated.
        Err(AgentStoreError::Other(
            "DATABASE_URL is neither sqlite:PATH nor postgresql://USER:PASSWORD@HOST/DATABASE".to_owned(),
        ))
    }

    async fn open_sqlite(path: &Path, options: &DatabaseOptions) -> Result<Self, AgentStoreError> {
        let path = std::path::absolute(path).map_err(|error| files::not_writable(path, &error))?;
        files::create_private(&path)?;
        let in_use = InUse::wait(&path, options.migration_wait).await?;
        let connect = sqlite_options(&path, "rw")?;
        let mut first = connect.connect().await.map_err(failed)?;
        prepare_sqlite(&mut first, options).await?;
        first.close().await.map_err(failed)?;
        let settings = format!(
            "{SQLITE_SETTINGS}PRAGMA busy_timeout = {}",
            options.wait.as_millis()
        );
        let writers = pool(1, options, settings.clone())
            .connect_with(connect.clone())
            .await;
        let readers = pool(options.connections, options, settings).connect_lazy_with(connect);
        Ok(Self {
            readers,
            writers: writers.map_err(failed)?,
            dialect: Dialect::Sqlite,
            path: Some(path),
            _in_use: Some(in_use),
            embedded_below: AtomicI64::new(0),
            handed_out: Mutex::default(),
            compared_embeddings: options.compared_embeddings,
            qdrant: options.qdrant.clone(),
            copying: tokio::sync::Mutex::default(),
        })
    }

    async fn open_postgres(url: &str, options: &DatabaseOptions) -> Result<Self, AgentStoreError> {
        let connect = AnyConnectOptions::from_str(url)
            .map_err(|error| AgentStoreError::Other(format!("DATABASE_URL cannot be read: {error}")))?
            .disable_statement_logging();
        // Not through the pool, which says only that no connection came in time.
        let mut first = tokio::time::timeout(options.wait, connect.connect())
            .await
            .map_err(|_| AgentStoreError::Unavailable("the server does not answer".to_owned()))?
            .map_err(failed)?;
        sqlx::raw_sql(POSTGRES_SETTINGS)
            .execute(&mut first)
            .await
            .map_err(failed)?;
        schema::migrate_postgres(&mut first).await?;
        first.close().await.map_err(failed)?;
        let pool =
            pool(options.connections, options, POSTGRES_SETTINGS.to_owned()).connect_lazy_with(connect);
        Ok(Self {
            readers: pool.clone(),
            writers: pool,
            dialect: Dialect::Postgres,
            path: None,
            _in_use: None,
            embedded_below: AtomicI64::new(0),
            handed_out: Mutex::default(),
            compared_embeddings: options.compared_embeddings,
            qdrant: options.qdrant.clone(),
            copying: tokio::sync::Mutex::default(),
        })
    }

    /// See the field.
    pub(crate) fn handed_out(&self) -> MutexGuard<'_, HashMap<MemoryItemId, i64>> {
        self.handed_out.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection for statements that read, each for itself.
    pub(crate) async fn read(&self) -> Result<Work, AgentStoreError> {
        let connection = self.readers.acquire().await.map_err(failed)?;
        Ok(Work::plain(connection, self.dialect))
    }

    /// A transaction whose statements read the same state.
    pub(crate) async fn snapshot(&self) -> Result<Work, AgentStoreError> {
        let begin = self.dialect.pick(BEGIN_READ, BEGIN_SNAPSHOT);
        let transaction = self.readers.begin_with(begin).await.map_err(failed)?;
        Ok(Work::transaction(transaction, self.dialect))
    }

    /// A transaction that writes.
    pub(crate) async fn write(&self) -> Result<Work, AgentStoreError> {
        let begin = self.dialect.pick(BEGIN_WRITE, BEGIN_READ);
        let transaction = self.writers.begin_with(begin).await.map_err(failed)?;
        Ok(Work::transaction(transaction, self.dialect))
    }
}

impl AgentDatabase {
    /// A transaction that writes what is lost if it cannot be written, such as an answer that was paid: on SQLite it waits
    /// longer for others that write.
    pub(crate) async fn write_patiently(&self) -> Result<Work, AgentStoreError> {
        let start = Instant::now();
        loop {
            match self.write().await {
                Err(AgentStoreError::Unavailable(_))
                    if self.dialect == Dialect::Sqlite
                        && !self.writers.is_closed()
                        && start.elapsed() < PATIENCE =>
                {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                done => return done,
            }
        }
    }
}

#[async_trait]
impl AgentStore for AgentDatabase {
    async fn health(&self) -> DatabaseHealth {
        let ask = async { self.read().await?.one("SELECT 1 AS one", args![]).await };
        const LIMIT: Duration = Duration::from_millis(900);
        let qdrant = async {
            match &self.qdrant {
                Some(qdrant) => tokio::time::timeout(LIMIT, qdrant.is_ok()).await.unwrap_or(false),
                None => true,
            }
        };
        let (answered, is_qdrant_ok) = tokio::join!(tokio::time::timeout(LIMIT, ask), qdrant);
        let is_ok = matches!(answered, Ok(Ok(Some(_))));
        DatabaseHealth {
            kind: self.dialect.pick("sqlite", "postgresql"),
            vectors: match &self.qdrant {
                Some(_) => "qdrant",
                None => self.dialect.pick("sqlite", "pgvector"),
            },
            is_ok,
            are_vectors_ok: is_ok && is_qdrant_ok,
        }
    }

    async fn close(&self) {
        self.readers.close().await;
        self.writers.close().await;
    }
}

/// The path of `sqlite:PATH` or `sqlite://PATH`.
fn sqlite_path(url: &str) -> Option<&str> {
    let path = url.strip_prefix("sqlite:")?;
    Some(path.strip_prefix("//").unwrap_or(path))
}

/// How to connect to the SQLite database at an absolute path.
pub(crate) fn sqlite_options(path: &Path, mode: &str) -> Result<AnyConnectOptions, AgentStoreError> {
    let path = path.to_str().ok_or_else(|| {
        AgentStoreError::Other(format!(
            "the path {} is not UTF-8; use another one",
            path.display()
        ))
    })?;
    // A URL is the only way to name it, and a path may have characters that a URL gives a meaning.
    let mut encoded = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                encoded.push(char::from(byte));
            }
            other => encoded.push_str(&format!("%{other:02X}")),
        }
    }
    let url = format!("sqlite://{encoded}?mode={mode}");
    let options = AnyConnectOptions::from_str(&url).map_err(failed)?;
    Ok(options.disable_statement_logging())
}

fn pool(most: u32, options: &DatabaseOptions, settings: String) -> sqlx::pool::PoolOptions<Any> {
    AnyPoolOptions::new()
        .max_connections(most.max(1))
        .acquire_timeout(options.wait)
        // After an error of the disk SQLite has ended the transaction by itself, and sqlx would count it as open for ever.
        .before_acquire(|connection: &mut AnyConnection, _| {
            let is_usable = !connection.is_in_transaction();
            Box::pin(async move { Ok(is_usable) })
        })
        .after_connect(move |connection: &mut AnyConnection, _| {
            let settings = settings.clone();
            Box::pin(async move {
                sqlx::raw_sql(sqlx::AssertSqlSafe(settings))
                    .execute(connection)
                    .await
                    .map(drop)
            })
        })
}

/// Switches a new database to a write-ahead log and migrates it. Waits for other processes that do the same.
async fn prepare_sqlite(
    connection: &mut AnyConnection,
    options: &DatabaseOptions,
) -> Result<(), AgentStoreError> {
    let start = Instant::now();
    loop {
        match schema::migrate_sqlite(connection).await {
            // SQLite does not wait by itself when it switches to the log.
            Err(AgentStoreError::Unavailable(_)) if start.elapsed() < options.migration_wait => {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            done => return done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_the_sqlite_url_are_understood() {
        assert_eq!(sqlite_path("sqlite:agent.db"), Some("agent.db"));
        assert_eq!(
            sqlite_path("sqlite:///var/lib/agent.db"),
            Some("/var/lib/agent.db")
        );
        assert_eq!(sqlite_path("postgresql://localhost/x"), None);
    }

    #[tokio::test]
    async fn a_path_with_characters_of_a_url_is_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a b?c#d%41 é.db");
        let url = format!("sqlite:{}", path.display());
        let database = AgentDatabase::open(&url, &DatabaseOptions::default())
            .await
            .unwrap();
        assert!(database.health().await.is_ok);
        assert!(path.is_file());
        database.close().await;
        assert!(!database.health().await.is_ok);
    }

    #[tokio::test]
    async fn a_transaction_that_sqlite_ended_by_itself_blocks_no_later_one() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("agent.db").display());
        let database = AgentDatabase::open(&url, &DatabaseOptions::default())
            .await
            .unwrap();
        for _ in 0..2 {
            let mut work = database.write().await.unwrap();
            // What an error of the disk does.
            sqlx::raw_sql("ROLLBACK")
                .execute(work.connection())
                .await
                .unwrap();
            drop(work);
        }
        let work = database.write().await.unwrap();
        work.commit().await.unwrap();
    }

    #[tokio::test]
    async fn a_turn_waits_longer_for_another_writer_than_other_calls_do() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("agent.db").display());
        let options = DatabaseOptions {
            wait: Duration::from_millis(100),
            ..DatabaseOptions::default()
        };
        let database = AgentDatabase::open(&url, &options).await.unwrap();
        let long = database.write().await.unwrap();
        let refused = database.write().await.err();
        assert!(matches!(refused, Some(AgentStoreError::Unavailable(_))));
        let end = async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            drop(long);
        };
        let (waited, ()) = tokio::join!(database.write_patiently(), end);
        waited.unwrap().commit().await.unwrap();
        database.close().await;
        assert!(database.write_patiently().await.is_err());
    }

    #[tokio::test]
    async fn a_database_of_another_program_is_refused_and_not_changed() {
        sqlx::any::install_default_drivers();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("other.db");
        std::fs::write(&path, []).unwrap();
        let mut other = sqlite_options(&path, "rw").unwrap().connect().await.unwrap();
        sqlx::raw_sql("CREATE TABLE notes (text TEXT); PRAGMA user_version = 1")
            .execute(&mut other)
            .await
            .unwrap();
        other.close().await.unwrap();
        let before = std::fs::read(&path).unwrap();
        let url = format!("sqlite:{}", path.display());
        let refused = AgentDatabase::open(&url, &DatabaseOptions::default())
            .await
            .unwrap_err();
        assert!(refused.to_string().contains("another program"), "{refused}");
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }

    #[tokio::test]
    async fn an_error_about_the_url_does_not_repeat_it() {
        let url = "mysql://root:hunter2@localhost/x";
        let error = AgentDatabase::open(url, &DatabaseOptions::default())
            .await
            .unwrap_err();
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
}
