use super::params;
use crate::contract::sample_exchange;
use crate::sqlite::{OnCorruption, OpenOptions, SqliteStore};
use grov_domain::{
    ExchangeStore, OrchestrationStore, Redacted, SessionFilter, SessionStore, StoreError, TaskTransition,
};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Executor, Row};
use std::path::Path;
use tempfile::TempDir;

async fn raw(path: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(path);
    options.connect().await.unwrap()
}

/// Marks the connection, to recognise it later.
async fn mark(store: &SqliteStore) {
    let mut connection = store.connection().await.unwrap();
    connection
        .execute("PRAGMA cache_size = -777", params![])
        .await
        .unwrap();
}

async fn is_marked(store: &SqliteStore) -> bool {
    let mut connection = store.connection().await.unwrap();
    let size: Option<i64> = connection.value("PRAGMA cache_size", params![]).await.unwrap();
    size == Some(-777)
}

async fn append(store: &SqliteStore, seconds: i64) {
    let batch = Redacted::each(&[sample_exchange("a", seconds)]);
    store.append(&batch).await.unwrap();
}

#[tokio::test]
async fn store_is_opened_again_after_a_fault_but_not_after_a_wait() {
    let home = TempDir::new().unwrap();
    let path = home.path().join("grov.db");
    let store = SqliteStore::reopening(&path, &OpenOptions::brief(), OnCorruption::Fail);
    append(&store, 1).await;
    mark(&store).await;
    let nothing = Redacted::of(&TaskTransition::default());
    let mut other = raw(&path).await;
    other.execute("BEGIN IMMEDIATE").await.unwrap();
    let error = store.apply(&nothing).await.unwrap_err();
    assert!(error.is_transient(), "{error}");
    other.execute("ROLLBACK").await.unwrap();
    assert!(is_marked(&store).await);

    let version: i64 = other.fetch_one("PRAGMA user_version").await.unwrap().get(0);
    other.execute("PRAGMA user_version = 99").await.unwrap();
    let error = store.apply(&nothing).await.unwrap_err();
    assert!(matches!(error, StoreError::NewerSchema { .. }), "{error}");
    let back = AssertSqlSafe(format!("PRAGMA user_version = {version}"));
    other.execute(back).await.unwrap();
    store.apply(&nothing).await.unwrap();
    assert!(!is_marked(&store).await);

    store.close().await.unwrap();
    let sessions = store.sessions(&SessionFilter::default()).await.unwrap();
    assert_eq!(sessions.len(), 1, "it opens again after being closed");
}

#[tokio::test]
async fn log_that_is_emptied_or_begun_anew_in_order_is_no_fault() {
    let home = TempDir::new().unwrap();
    let path = home.path().join("grov.db");
    let store = SqliteStore::reopening(&path, &OpenOptions::default(), OnCorruption::SetAside);
    append(&store, 1).await;
    mark(&store).await;
    let mut other = raw(&path).await;
    other.execute("PRAGMA wal_checkpoint(TRUNCATE)").await.unwrap();
    assert!(store.is_current(), "emptied");
    append(&store, 2).await;
    other.execute("PRAGMA wal_checkpoint(RESTART)").await.unwrap();
    append(&store, 3).await;
    assert!(store.is_current(), "a new log");
    assert!(is_marked(&store).await);
}
