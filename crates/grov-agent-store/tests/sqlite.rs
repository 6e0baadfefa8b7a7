//! The contract on SQLite.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use grov_agent_store::contract::{Check, Store};
use grov_agent_store::{AgentDatabase, DatabaseOptions};
use std::sync::Arc;

fn run(check: impl FnOnce(Store) -> Check) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("agent.db").display());
        let database = AgentDatabase::open(&url, &DatabaseOptions::default())
            .await
            .unwrap();
        let store: Store = Arc::new(database);
        check(Arc::clone(&store)).await;
        store.close().await;
    });
}

grov_agent_store::contract_tests!(run);
