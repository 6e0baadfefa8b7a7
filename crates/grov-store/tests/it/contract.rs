//! Runs the contract tests against the SQLite backend.

use async_trait::async_trait;
use grov_domain::Store;
use grov_store::contract::Backend;
use grov_store::{OnCorruption, OpenOptions, SqliteStore};
use std::sync::Arc;
use tempfile::TempDir;

struct Sqlite(TempDir);

#[async_trait]
impl Backend for Sqlite {
    async fn fresh(&self) -> Arc<dyn Store> {
        Arc::new(
            SqliteStore::open(&self.0.path().join("grov.db"), &OpenOptions::default())
                .await
                .unwrap(),
        )
    }
}

grov_store::contract_tests!(Sqlite(TempDir::new().unwrap()));

struct Reopening(TempDir);

#[async_trait]
impl Backend for Reopening {
    async fn fresh(&self) -> Arc<dyn Store> {
        let path = self.0.path().join("grov.db");
        Arc::new(SqliteStore::reopening(
            &path,
            &OpenOptions::default(),
            OnCorruption::Fail,
        ))
    }
}

mod reopening {
    use super::{Reopening, TempDir};

    grov_store::contract_tests!(Reopening(TempDir::new().unwrap()));
}
