//! The contract on PostgreSQL, and what is particular to it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use grov_agent::{AgentStore, AgentStoreError, Category, SearchBy, SearchFilter, SearchStore};
use grov_agent_store::contract::load::{self, Load};
use grov_agent_store::contract::postgres::{PostgresServer, run};
use grov_agent_store::contract::{Check, Store, sample};
use grov_agent_store::{AgentDatabase, DatabaseOptions};
use grov_domain::Embedding;
use sqlx::{Connection, Executor, Row};
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

    /// A project with more embeddings than are compared one by one. One in twenty meets the filter, of which an index that
    /// stops after its first candidates would find few.
    #[test]
    fn a_large_project_is_searched_through_the_index() {
        const FILL: &str = "SET search_path = grov_agent, public; \
             INSERT INTO documents SELECT gen_random_uuid()::text, id, 'a', 'FACTS', 'text/plain', 1, 3000, 0, '', 0, 0 \
             FROM projects; \
             INSERT INTO chunks SELECT gen_random_uuid()::text, d.id, i, '[]', i::text, 0, 0 \
             FROM documents d, generate_series(0, 2999) i; \
             INSERT INTO entries (kind, project_id, label, chunk_id, words) SELECT 'chunk', d.project_id, \
             CASE WHEN c.ordinal % 20 = 0 THEN 'RULES' ELSE 'FACTS' END, c.id, '' \
             FROM chunks c JOIN documents d ON d.id = c.document_id; \
             SELECT setseed(0.5); \
             INSERT INTO vectors (model, entry, kind, project_id, label, embedding) \
             SELECT m.number, e.number, e.kind, e.project_id, e.label, (SELECT array_agg((random() * 254 - 127)::int) \
             FROM generate_series(1, 16) WHERE e.number > 0)::real[]::vector::halfvec FROM entries e, models m; \
             ANALYZE vectors";
        const EXACT: &str = "SELECT c.text FROM vectors v JOIN entries e ON e.number = v.entry JOIN chunks c \
             ON c.id = e.chunk_id WHERE e.label = ANY (string_to_array($1, ' ')) \
             ORDER BY (v.embedding <=> $2::text::halfvec) + 0 LIMIT 10";
        const SCANS: &str = "SELECT coalesce(sum(idx_scan), 0)::bigint FROM pg_stat_all_indexes \
             WHERE indexrelname LIKE 'vectors_of_model_%'";
        let Some(server) = PostgresServer::start() else {
            return;
        };
        runtime().block_on(async {
            let url = server.database("large").await;
            let options = DatabaseOptions {
                compared_embeddings: 1_000,
                ..options()
            };
            let database = AgentDatabase::open(&url, &options).await.unwrap();
            let project = sample::project(&database).await;
            database.use_model("m", 16).await.unwrap();
            run(&url, FILL).await;
            let mut connection = sqlx::AnyConnection::connect(&url).await.unwrap();
            connection
                .execute("SET search_path = grov_agent, public")
                .await
                .unwrap();
            let (mut hits, mut asked) = (0, 0);
            for question in 0_u8..20 {
                let values: Vec<f32> = (0_u8..16)
                    .map(|place| {
                        f32::from(question.wrapping_mul(37).wrapping_add(place.wrapping_mul(59))) - 127.0
                    })
                    .collect();
                let embedding = Embedding::of(&values).unwrap();
                for categories in [vec![], vec![Category::Rules]] {
                    let labels = if categories.is_empty() {
                        "RULES FACTS"
                    } else {
                        "RULES"
                    };
                    let exact = sqlx::query(EXACT)
                        .bind(labels)
                        .bind(format!("{values:?}"))
                        .fetch_all(&mut connection)
                        .await
                        .unwrap();
                    let exact: Vec<String> = exact.iter().map(|row| row.get(0)).collect();
                    let filter = SearchFilter {
                        categories,
                        types: Vec::new(),
                    };
                    let by = SearchBy::Vector {
                        model: "m",
                        embedding: &embedding,
                    };
                    let scope = sample::scope(project, &filter);
                    let found = database.find_chunks(&by, &scope).await.unwrap();
                    assert_eq!(found.len(), 10);
                    assert!(found.windows(2).all(|pair| pair[0].score >= pair[1].score));
                    asked += 10;
                    hits += found.iter().filter(|found| exact.contains(&found.text)).count();
                }
            }
            assert!(hits * 100 >= asked * 95, "{hits} of {asked} nearest were found");
            database.close().await;
            // The statistics of a connection are complete some time after it ended.
            let mut scans: i64 = 0;
            for _ in 0..200 {
                scans = sqlx::query(SCANS)
                    .fetch_one(&mut connection)
                    .await
                    .unwrap()
                    .get(0);
                if scans >= 20 {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            assert!(scans >= 20, "the index was used {scans} times");
        });
    }

    #[test]
    fn an_unreachable_server_is_reported_as_such() {
        runtime().block_on(async {
            let url = "postgresql://user:hunter2@localhost/x?host=/nowhere";
            let error = AgentDatabase::open(url, &options()).await.unwrap_err();
            assert!(matches!(error, AgentStoreError::Unavailable(_)), "{error:?}");
            let text = error.to_string();
            assert!(!text.contains("hunter2") && !text.contains("pool"), "{text}");
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
