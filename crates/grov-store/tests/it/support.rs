//! Shared helpers of the tests.

use async_trait::async_trait;
use grov_domain::{ExchangeRecord, ExchangeStore, RecordSink, Redacted, SinkHealth, StoreError};
use grov_store::contract::sample_exchange;
use grov_store::{BatchWriter, OpenOptions, Spool, SqliteStore, WriterOptions};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::sync::watch;

/// A timeout that is not reached on slow machines.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A directory for one test.
pub(crate) struct Home(pub(crate) TempDir);

impl Home {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.path().join("grov.db")
    }

    pub(crate) fn spool(&self) -> Spool {
        Spool::for_database(&self.database())
    }

    pub(crate) async fn open(&self) -> SqliteStore {
        SqliteStore::open(&self.database(), &OpenOptions::default())
            .await
            .unwrap()
    }
}

/// Polls a future a few times and drops it.
pub(crate) fn abandon(future: impl Future, polls: usize) {
    let mut future = Box::pin(future);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..polls {
        if matches!(future.as_mut().poll(&mut context), Poll::Ready(_)) {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The ids of all recorded steps of the sessions `names`.
pub(crate) async fn step_ids(store: &SqliteStore, names: &[&str]) -> BTreeSet<String> {
    use grov_domain::{SessionId, SessionStore};
    let mut ids = BTreeSet::new();
    for name in names {
        let steps = store.steps(&SessionId::new(*name)).await.unwrap();
        ids.extend(steps.into_iter().map(|step| step.id.to_string()));
    }
    ids
}

/// `count` exchanges of the session `name`, two steps each.
pub(crate) fn exchanges(name: &str, count: i64) -> Vec<ExchangeRecord> {
    (0..count).map(|seconds| sample_exchange(name, seconds)).collect()
}

/// Assembled here, so that scanners do not report this file.
pub(crate) fn secret() -> String {
    format!("ghp_{}", "a1B2c3D4e5F6".repeat(3))
}

/// An exchange with a secret in its prompt and its command.
pub(crate) fn leaky_exchange(name: &str) -> ExchangeRecord {
    let mut record = sample_exchange(name, 1);
    record.prompts = vec![grov_domain::Prompt {
        text: format!("use {}", secret()),
        queued: false,
    }];
    record.steps[1].action.command = Some(format!(
        "curl -H 'authorization: bearer {}' example.com",
        secret()
    ));
    record
}

/// The names of the files under `folder` that hold `text`.
pub(crate) fn files_with(folder: &Path, text: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            // A file that is being written is renamed in the meantime.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => panic!("{}: {error}", path.display()),
        };
        if bytes.windows(text.len()).any(|window| window == text.as_bytes()) {
            found.push(path);
        }
    }
    found
}

/// Waits until `condition` holds.
pub(crate) async fn eventually(what: &str, mut condition: impl AsyncFnMut() -> bool) {
    let start = Instant::now();
    while !condition().await {
        assert!(start.elapsed() < PATIENCE, "in vain: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Waits until the writer's state satisfies the condition.
pub(crate) async fn healthy(writer: &BatchWriter, what: &str, condition: impl Fn(&SinkHealth) -> bool) {
    let start = Instant::now();
    while !condition(&writer.health()) {
        assert!(
            start.elapsed() < PATIENCE,
            "in vain: {what}; {:?}",
            writer.health()
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Options that retry quickly.
pub(crate) fn quick(spool: Spool) -> WriterOptions {
    WriterOptions {
        linger: Duration::from_millis(1),
        slow_after: Duration::from_millis(50),
        retry_after: Duration::from_millis(100),
        ..WriterOptions::new(spool)
    }
}

/// The behaviour of a [`FakeStore`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mood {
    Fine,
    Busy,
    Broken,
    Panicking,
    /// Returns once the behaviour has changed.
    Stuck,
}

/// A store in memory with configurable errors.
pub(crate) struct FakeStore {
    mood: watch::Sender<Mood>,
    /// Ids in the order of storing, including repetitions.
    pub(crate) stored: Mutex<Vec<String>>,
    /// Sizes of the stored batches.
    pub(crate) batches: Mutex<Vec<usize>>,
    pub(crate) calls: watch::Sender<usize>,
}

impl FakeStore {
    pub(crate) fn new(mood: Mood) -> Arc<Self> {
        Arc::new(Self {
            mood: watch::Sender::new(mood),
            stored: Mutex::default(),
            batches: Mutex::default(),
            calls: watch::Sender::new(0),
        })
    }

    pub(crate) fn set(&self, mood: Mood) {
        self.mood.send_replace(mood);
    }

    pub(crate) fn ids(&self) -> BTreeSet<String> {
        self.stored.lock().unwrap().iter().cloned().collect()
    }
}

#[async_trait]
impl ExchangeStore for FakeStore {
    async fn append(&self, batch: &[Redacted<ExchangeRecord>]) -> Result<usize, StoreError> {
        self.calls.send_modify(|calls| *calls += 1);
        let mut mood = self.mood.subscribe();
        let mood = *mood.wait_for(|mood| *mood != Mood::Stuck).await.unwrap();
        match mood {
            Mood::Busy => return Err(StoreError::Busy("fake".to_owned())),
            Mood::Broken => return Err(StoreError::NotWritable("fake".to_owned())),
            Mood::Panicking => panic!("the fake store panics as configured"),
            Mood::Fine | Mood::Stuck => {}
        }
        self.stored
            .lock()
            .unwrap()
            .extend(batch.iter().map(|record| record.id.to_string()));
        self.batches.lock().unwrap().push(batch.len());
        Ok(batch.len())
    }
}

/// The ids of records.
pub(crate) fn ids(records: &[ExchangeRecord]) -> BTreeSet<String> {
    records.iter().map(|record| record.id.to_string()).collect()
}
