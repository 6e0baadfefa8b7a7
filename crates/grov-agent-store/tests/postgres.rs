//! The contract on PostgreSQL, and what is particular to it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use grov_agent::{AgentStore, AgentStoreError, SearchStore};
use grov_agent_store::contract::load::{self, Load};
use grov_agent_store::contract::postgres::{PostgresServer, run};
use grov_agent_store::contract::{Check, Store, sample};
use grov_agent_store::{AgentDatabase, DatabaseOptions};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::runtime::Runtime;

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

fn options() -> DatabaseOptions {
    DatabaseOptions {
        connections: 8,
        ..DatabaseOptions::default()
    }
}

/// The module's name tells the test runner that the tests need PostgreSQL.
mod postgres {
    use super::*;

    /// All checks in one database, which is emptied between them: a database or a server for each takes longer than they do.
    #[test]
    fn the_contract_holds() {
        const EMPTY: &str = "TRUNCATE grov_agent.projects, grov_agent.api_keys, grov_agent.models, \
             grov_agent.replays CASCADE";
        let Some(server) = PostgresServer::start() else {
            return;
        };
        let runtime = runtime();
        let (url, store) = runtime.block_on(async {
            let url = server.database("contract").await;
            let database = AgentDatabase::open(&url, &options()).await.unwrap();
            (url, Arc::new(database) as Store)
        });
        let mut failed = Vec::new();
        let mut number = 0;
        let mut one = |name: &'static str, check: fn(Store) -> Check| {
            number += 1;
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                runtime.block_on(async {
                    run(&url, EMPTY).await;
                    check(Arc::clone(&store)).await;
                });
            }));
            if outcome.is_err() {
                failed.push(name);
            }
        };
        grov_agent_store::contract_tests!(all in one);
        runtime.block_on(store.close());
        assert!(number > 50, "{number} checks ran");
        assert!(
            failed.is_empty(),
            "{} of {number} checks failed: {failed:?}",
            failed.len()
        );
    }

    #[test]
    fn instances_that_start_at_once_share_a_database() {
        let Some(server) = PostgresServer::start() else {
            return;
        };
        runtime().block_on(async {
            let url = server.database("shared").await;
            let options = options();
            let opening = (0..6).map(|_| AgentDatabase::open(&url, &options));
            let opened = futures_util::future::join_all(opening).await;
            for database in opened {
                let database = database.unwrap();
                database.use_model("m", 8).await.unwrap();
                database.close().await;
            }
        });
    }

    /// The server is killed again and again while four tasks write. What was acknowledged is there, and nothing is half
    /// there.
    #[test]
    fn a_server_that_crashes_under_load_keeps_what_it_acknowledged() {
        let Some(mut server) = PostgresServer::start() else {
            return;
        };
        runtime().block_on(async {
            let url = server.database("crashing").await;
            let database = Arc::new(AgentDatabase::open(&url, &options()).await.unwrap());
            let project = sample::project(&*database).await;
            database.use_model("m", 8).await.unwrap();
            let acknowledged = Arc::new(Mutex::new(Vec::new()));
            let is_over = Arc::new(AtomicBool::new(false));
            let writers: Vec<_> = (0..4)
                .map(|seed| {
                    let (database, acknowledged) = (Arc::clone(&database), Arc::clone(&acknowledged));
                    let is_over = Arc::clone(&is_over);
                    #[expect(clippy::disallowed_methods, reason = "joined below")]
                    tokio::spawn(async move {
                        let mut failures = 0_u32;
                        let mut load = Load::new(project, seed);
                        while !is_over.load(Ordering::Relaxed) {
                            match load.step(&*database).await {
                                Ok(done) => acknowledged.lock().unwrap().extend(done),
                                Err(AgentStoreError::Unavailable(_)) => failures += 1,
                                Err(error) => panic!("{error:?}"),
                            }
                        }
                        failures
                    })
                })
                .collect();
            let mut before = 0;
            for _ in 0..8 {
                tokio::time::sleep(Duration::from_millis(400)).await;
                server = tokio::task::block_in_place(|| {
                    server.crash();
                    server
                });
                let now = acknowledged.lock().unwrap().len();
                assert!(now > before, "nothing was written between two crashes");
                before = now;
            }
            is_over.store(true, Ordering::Relaxed);
            let failures: Vec<u32> = futures_util::future::join_all(writers)
                .await
                .into_iter()
                .map(Result::unwrap)
                .collect();
            assert!(failures.iter().sum::<u32>() > 0, "no write met a crash");
            assert!(database.health().await.is_ok);
            let acknowledged = acknowledged.lock().unwrap().clone();
            load::verify(&*database, &url, project, &acknowledged).await;
            database.close().await;
        });
    }

    #[test]
    fn a_newer_schema_is_refused() {
        let Some(server) = PostgresServer::start() else {
            return;
        };
        runtime().block_on(async {
            let url = server.database("newer").await;
            AgentDatabase::open(&url, &options()).await.unwrap().close().await;
            run(&url, "UPDATE grov_agent.schema_version SET version = 99").await;
            let opened = AgentDatabase::open(&url, &options()).await;
            assert!(
                matches!(opened, Err(AgentStoreError::NewerSchema { found: 99, .. })),
                "{opened:?}"
            );
        });
    }
}
