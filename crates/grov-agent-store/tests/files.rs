//! The file of a SQLite database: who may read it, who has it open, copies of it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use grov_agent::{AgentStore, AgentStoreError, ProjectStore, SearchStore};
use grov_agent_store::contract::load::{self, Load};
use grov_agent_store::contract::{postgres::run, sample};
use grov_agent_store::{AgentDatabase, DatabaseOptions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

async fn open(path: &Path) -> Result<AgentDatabase, AgentStoreError> {
    let options = DatabaseOptions {
        connections: 4,
        ..DatabaseOptions::default()
    };
    AgentDatabase::open(&url(path), &options).await
}

fn url(path: &Path) -> String {
    format!("sqlite:{}", path.display())
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// A directory, and the path of a database in it.
fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new folder").join("agent.db");
    (folder, path)
}

#[tokio::test]
async fn only_the_user_can_read_it() {
    let (_folder, path) = place();
    let database = open(&path).await.unwrap();
    sample::project(&database).await;
    for suffix in ["", "-wal", "-shm", ".lock"] {
        let path = PathBuf::from(format!("{}{suffix}", path.display()));
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    database.close().await;
    drop(database);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    open(&path).await.unwrap();
    assert_eq!(mode(&path), 0o600);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn instances_that_start_at_once_share_a_database() {
    let (_folder, path) = place();
    let opened = futures_util::future::join_all((0..6).map(|_| open(&path))).await;
    for database in &opened {
        sample::project(database.as_ref().unwrap()).await;
    }
    let projects = opened[0].as_ref().unwrap().projects(&[], &sample::page(10)).await;
    assert_eq!(projects.unwrap().items.len(), 6);
}

#[tokio::test]
async fn a_newer_schema_is_refused() {
    let (_folder, path) = place();
    open(&path).await.unwrap().close().await;
    run(&url(&path), "PRAGMA user_version = 99").await;
    let opened = open(&path).await;
    assert!(
        matches!(opened, Err(AgentStoreError::NewerSchema { found: 99, .. })),
        "{opened:?}"
    );
}

#[tokio::test]
async fn something_else_is_not_a_database() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.db");
    std::fs::write(
        &path,
        "not a database, but long enough to look like one ".repeat(50),
    )
    .unwrap();
    let opened = open(&path).await;
    assert!(opened.is_err());
    assert!(open(Path::new("/proc/agent.db")).await.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_that_is_made_during_writes_is_whole_and_restores() {
    let (folder, path) = place();
    let database = open(&path).await.unwrap();
    let project = sample::project(&database).await;
    database.use_model("m", 8).await.unwrap();
    let copy = folder.path().join("copy.db");
    let (mut load, mut acknowledged) = (Load::new(project, 0), Vec::new());
    for _ in 0..30 {
        acknowledged.extend(load.step(&database).await.unwrap());
    }
    let writing = async {
        for _ in 0..40 {
            load.step(&database).await.unwrap();
        }
    };
    let (copied, ()) = tokio::join!(database.backup(&copy), writing);
    copied.unwrap();
    assert_eq!(mode(&copy), 0o600);
    let again = database.backup(&copy).await;
    assert!(matches!(again, Err(AgentStoreError::Conflict(_))), "{again:?}");

    let refused = AgentDatabase::restore(&copy, &path).await;
    assert!(
        matches!(refused, Err(AgentStoreError::Conflict(_))),
        "it is open: {refused:?}"
    );
    let later = sample::project(&database).await;
    database.close().await;
    drop(database);
    AgentDatabase::restore(&copy, &path).await.unwrap();

    let database = open(&path).await.unwrap();
    load::verify(&database, &url(&path), project, &acknowledged).await;
    assert_eq!(
        database.project(later).await.unwrap(),
        None,
        "it came after the copy"
    );
    let replaced = PathBuf::from(format!("{}.before-restore", path.display()));
    let before = open(&replaced).await.unwrap();
    assert!(before.project(later).await.unwrap().is_some());
}

#[tokio::test]
async fn a_damaged_or_foreign_copy_is_refused() {
    let (folder, path) = place();
    let database = open(&path).await.unwrap();
    let project = sample::project(&database).await;
    let mut load = Load::new(project, 0);
    for _ in 0..40 {
        load.step(&database).await.ok();
    }
    let copy = folder.path().join("copy.db");
    database.backup(&copy).await.unwrap();
    database.close().await;
    drop(database);
    let bytes = std::fs::read(&copy).unwrap();

    let mut damaged = bytes.clone();
    let middle = damaged.len() / 2;
    damaged[middle..middle + 20_000].fill(0x5a);
    let foreign = folder.path().join("foreign.db");
    std::fs::write(&foreign, b"").unwrap();
    run(&url(&foreign), "CREATE TABLE x (y)").await;
    let newer = folder.path().join("newer.db");
    std::fs::write(&newer, &bytes).unwrap();
    run(&url(&newer), "PRAGMA user_version = 99").await;
    for (name, bytes) in [
        ("damaged.db", damaged),
        ("cut.db", bytes[..bytes.len() / 2].to_vec()),
        ("text.db", b"no database".repeat(1_000)),
        ("empty.db", Vec::new()),
    ] {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    for name in [
        "damaged.db",
        "cut.db",
        "text.db",
        "empty.db",
        "foreign.db",
        "newer.db",
        "missing.db",
    ] {
        let restored = AgentDatabase::restore(&folder.path().join(name), &path).await;
        assert!(restored.is_err(), "{name}");
    }
    let database = open(&path).await.unwrap();
    assert!(
        database.project(project).await.unwrap().is_some(),
        "nothing was changed"
    );
}

#[tokio::test]
async fn a_restore_keeps_others_from_opening_the_database() {
    let (_folder, path) = place();
    open(&path).await.unwrap().close().await;
    let lock = std::fs::File::open(format!("{}.lock", path.display())).unwrap();
    lock.lock().unwrap();
    let options = DatabaseOptions {
        migration_wait: Duration::from_millis(50),
        ..DatabaseOptions::default()
    };
    let opened = AgentDatabase::open(&url(&path), &options).await;
    assert!(
        matches!(opened, Err(AgentStoreError::Unavailable(_))),
        "{opened:?}"
    );
}
