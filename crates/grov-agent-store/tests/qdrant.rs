//! The contract with Qdrant's engine as the place where vectors are searched, and that its copy stays equal to the database.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]
#![allow(clippy::print_stderr, reason = "a skipped test says so")]

use async_trait::async_trait;
use grov_agent::{
    AgentStore, Category, DocumentStore, Embeddable, ProjectId, ProjectStore, SearchBy, SearchFilter,
    SearchStore,
};
use grov_agent_store::contract::sample::{self, direction, document, page};
use grov_agent_store::contract::{Check, Store};
use grov_agent_store::{AgentDatabase, DatabaseOptions, QdrantServer, QdrantTransport};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

/// A server started by `scripts/qdrant/serve`. It ends with this value.
struct Server {
    process: Child,
    address: String,
}

impl Server {
    /// Starts a server with its data in a directory, if `scripts/install-qdrant` has installed the engine. Otherwise the test is
    /// skipped with a visible warning, and fails in CI.
    fn start(data: &Path) -> Option<Self> {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
        if !root.join(".tools/qdrant/bin/python").exists() {
            let is_ci = std::env::var("CI").is_ok_and(|value| !value.is_empty() && value != "false");
            assert!(!is_ci, "Qdrant is not installed: run scripts/install-qdrant");
            eprintln!("SKIPPED: Qdrant is not installed: run scripts/install-qdrant");
            return None;
        }
        let mut process = Command::new(root.join("scripts/qdrant/serve"))
            .arg(data)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = line
            .trim()
            .strip_prefix("http://")
            .expect("an address")
            .to_owned();
        Some(Self { process, address })
    }

    fn qdrant(&self) -> QdrantServer {
        QdrantServer {
            address: "the server of the test".to_owned(),
            transport: Arc::new(Plain(self.address.clone())),
        }
    }

    fn options(&self) -> DatabaseOptions {
        DatabaseOptions {
            qdrant: Some(self.qdrant()),
            ..DatabaseOptions::default()
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// HTTP of a few lines.
#[derive(Clone, Debug)]
struct Plain(String);

impl Plain {
    fn exchange(&self, method: &str, path: &str, body: &Value) -> std::io::Result<(u16, Vec<u8>)> {
        let mut stream = TcpStream::connect(&self.0)?;
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: q\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        let head = answer
            .windows(4)
            .position(|four| four == b"\r\n\r\n")
            .unwrap_or_default();
        let status = String::from_utf8_lossy(&answer[..head]);
        let status = status.split(' ').nth(1).and_then(|status| status.parse().ok());
        Ok((status.unwrap_or_default(), answer.split_off(head + 4)))
    }
}

#[async_trait]
impl QdrantTransport for Plain {
    async fn send(&self, method: &'static str, path: &str, body: &Value) -> Result<(u16, Vec<u8>), String> {
        tokio::task::block_in_place(|| self.exchange(method, path, body)).map_err(|error| error.to_string())
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

/// Three chunks with embeddings. Returns the document's project.
async fn filled(store: &AgentDatabase) -> ProjectId {
    let project = sample::project(store).await;
    let new = document(
        project,
        "compass",
        Category::Facts,
        &[(&[], "East."), (&[], "North."), (&[], "West.")],
    );
    let id = store.store_document(&new).await.unwrap().document.id;
    store.use_model("m", 8).await.unwrap();
    let chunks = store.chunks(project, id, &page(10)).await.unwrap().items;
    let embeddings: Vec<_> = chunks
        .iter()
        .zip([0.0, 90.0, 180.0])
        .map(|(chunk, degrees)| (Embeddable::Chunk(chunk.id), Some(direction(degrees, 8))))
        .collect();
    store.store_embeddings("m", &embeddings).await.unwrap();
    project
}

async fn nearest(store: &AgentDatabase, project: ProjectId) -> Vec<String> {
    let filter = SearchFilter::default();
    let embedding = direction(5.0, 8);
    let by = SearchBy::Vector {
        model: "m",
        embedding: &embedding,
    };
    let found = store
        .find_chunks(&by, &sample::scope(project, &filter))
        .await
        .unwrap();
    found.into_iter().map(|found| found.text).collect()
}

fn count(server: &Server, project: ProjectId) -> Option<u64> {
    let path = format!("/collections/kb_{project}/points/count");
    let (status, body) = Plain(server.address.clone())
        .exchange("POST", &path, &json!({"exact": true}))
        .unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap();
    (status == 200).then(|| body["result"]["count"].as_u64().unwrap())
}

async fn settled(store: &AgentDatabase) {
    while store.copy_points().await.unwrap() {}
}

/// The module's name tells the test runner that the tests need Qdrant's engine.
mod qdrant {
    use super::*;

    #[test]
    fn the_contract_holds() {
        let folder = tempfile::tempdir().unwrap();
        let Some(server) = Server::start(&folder.path().join("qdrant")) else {
            return;
        };
        let runtime = runtime();
        let (mut failed, mut number) = (Vec::new(), 0);
        let mut one = |name: &'static str, check: fn(Store) -> Check| {
            number += 1;
            let url = format!("sqlite:{}", folder.path().join(format!("{number}.db")).display());
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                runtime.block_on(async {
                    let database = AgentDatabase::open(&url, &server.options()).await.unwrap();
                    database.use_qdrant().await.unwrap();
                    let store: Store = Arc::new(database);
                    check(Arc::clone(&store)).await;
                    store.close().await;
                });
            }));
            if outcome.is_err() {
                failed.push(name);
            }
        };
        grov_agent_store::contract_tests!(all in one);
        assert!(number > 50, "{number} checks ran");
        assert!(
            failed.is_empty(),
            "{} of {number} checks failed: {failed:?}",
            failed.len()
        );
    }

    #[test]
    fn the_copy_follows_deletions_and_a_server_that_lost_its_data() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("qdrant");
        let Some(server) = Server::start(&data) else {
            return;
        };
        let url = format!("sqlite:{}", folder.path().join("agent.db").display());
        runtime().block_on(async {
            // What was stored before Qdrant was chosen is copied too.
            let before = AgentDatabase::open(&url, &DatabaseOptions::default())
                .await
                .unwrap();
            let project = filled(&before).await;
            before.close().await;
            let store = AgentDatabase::open(&url, &server.options()).await.unwrap();
            store.use_qdrant().await.unwrap();
            settled(&store).await;
            assert_eq!(count(&server, project), Some(3));
            assert_eq!(nearest(&store, project).await, ["East.", "North.", "West."]);
            let again = document(project, "compass", Category::Facts, &[(&[], "East.")]);
            store.store_document(&again).await.unwrap();
            settled(&store).await;
            assert_eq!(count(&server, project), Some(1));
            store.close().await;
            drop(server);
            std::fs::remove_dir_all(&data).unwrap();

            let server = Server::start(&data).unwrap();
            let store = AgentDatabase::open(&url, &server.options()).await.unwrap();
            store.use_qdrant().await.unwrap();
            assert_eq!(store.reconcile_points().await.unwrap(), 1);
            settled(&store).await;
            assert_eq!(store.reconcile_points().await.unwrap(), 0);
            assert_eq!(count(&server, project), Some(1));
            store.delete_project(project).await.unwrap();
            settled(&store).await;
            assert_eq!(
                count(&server, project),
                None,
                "the collection is deleted with its project"
            );
            store.close().await;
        });
    }

    #[test]
    fn the_database_searches_while_qdrant_is_away_and_its_changes_wait() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("qdrant");
        let Some(server) = Server::start(&data) else {
            return;
        };
        let url = format!("sqlite:{}", folder.path().join("agent.db").display());
        runtime().block_on(async {
            let options = server.options();
            drop(server);
            let store = AgentDatabase::open(&url, &options).await.unwrap();
            store.use_qdrant().await.unwrap();
            let project = filled(&store).await;
            assert!(store.copy_points().await.is_err());
            assert_eq!(nearest(&store, project).await, ["East.", "North.", "West."]);
            let health = store.health().await;
            assert!(health.is_ok && !health.are_vectors_ok, "{health:?}");
            drop(store);

            let server = Server::start(&data).unwrap();
            let store = AgentDatabase::open(&url, &server.options()).await.unwrap();
            settled(&store).await;
            assert_eq!(count(&server, project), Some(3));
            assert_eq!(nearest(&store, project).await, ["East.", "North.", "West."]);
        });
    }
}
