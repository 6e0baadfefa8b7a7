//! Notices when the home is removed, or taken by another daemon, while this one runs.

use crate::assembly::{DaemonStore, DatabaseFile};
use grov_domain::{ExchangeRecord, RecordSink, Redacted, SinkHealth};
use grov_runtime::daemon::{Lock, LockError, Record};
use grov_runtime::{Home, Shutdown};
use grov_store::BatchWriter;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Pause between two looks; each is two system calls.
const PAUSE: Duration = Duration::from_secs(1);

/// Holds the lock of the home, and takes it again where its file is gone.
pub(crate) struct HomeMonitor {
    home: Home,
    state: Mutex<State>,
}

struct State {
    lock: Option<Lock>,
    /// What other programs find the daemon by; `None` before it accepts.
    record: Option<Record>,
    /// Why the home cannot be used; `None` where it can.
    fault: Option<Fault>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Fault {
    /// Another daemon works there: nothing may be recorded by this one.
    Taken(String),
    /// It cannot be written.
    Unusable(String),
}

impl HomeMonitor {
    /// Watches a home. `lock` is `None` where it could not be had at the start: then there is nothing to lose.
    pub(crate) fn new(home: &Home, lock: Option<Lock>) -> Self {
        let state = State {
            lock,
            record: None,
            fault: None,
        };
        Self {
            home: home.clone(),
            state: Mutex::new(state),
        }
    }

    /// Tells other programs where the daemon listens.
    pub(crate) fn publish(&self, record: Record) -> Result<(), LockError> {
        let mut state = self.state();
        let published = state.lock.as_ref().map_or(Ok(()), |lock| lock.publish(&record));
        state.record = Some(record);
        published
    }

    /// Looks every second until the daemon stops, after the home and after the database.
    pub(crate) async fn run(self: Arc<Self>, store: Arc<dyn DaemonStore>, mut shutdown: Shutdown) {
        loop {
            tokio::select! {
                () = shutdown.requested() => return,
                () = tokio::time::sleep(PAUSE) => {}
            }
            self.look();
            self.look_after(&*store).await;
        }
    }

    /// Saves what is in a log that was deleted, before the daemon ends and it is lost. The next record may be hours away.
    async fn look_after(&self, store: &dyn DatabaseFile) {
        if self.fault().is_none()
            && !store.is_current()
            && let Err(error) = store.reopen().await
        {
            tracing::debug!(%error, "the database is not opened anew yet");
        }
    }

    /// Takes the lock again if its file is gone.
    fn look(&self) {
        let mut state = self.state();
        let Some(lock) = &state.lock else { return };
        if lock.is_in_place() {
            return;
        }
        // A failure shows with the lock.
        let _ = self.home.create();
        let fault = match Lock::try_acquire(&self.home) {
            Ok(lock) => {
                if let Some(Err(error)) = state.record.as_ref().map(|record| lock.publish(record)) {
                    tracing::error!(%error, "other programs will not find this daemon");
                }
                tracing::error!(
                    home = %self.home.root().display(),
                    "the home was removed while the daemon was running, and is made anew; what was recorded there is gone"
                );
                state.lock = Some(lock);
                None
            }
            Err(error @ LockError::Held { .. }) => Some(Fault::Taken(format!(
                "the home was removed and {error}; this daemon relays requests and records nothing: stop one of the two"
            ))),
            Err(error) => Some(Fault::Unusable(format!("the home was removed: {error}"))),
        };
        if let Some(Fault::Taken(fault) | Fault::Unusable(fault)) = &fault
            && state.fault.as_ref().is_none_or(|known| !known.is_as(fault))
        {
            tracing::error!("{fault}");
        }
        state.fault = fault;
    }

    /// Lets go of the home: the daemon has stopped.
    pub(crate) fn release(&self) {
        self.state().lock = None;
    }

    fn fault(&self) -> Option<Fault> {
        self.state().fault.clone()
    }

    /// Nothing that can panic runs under this lock.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Fault {
    fn is_as(&self, text: &str) -> bool {
        let (Self::Taken(known) | Self::Unusable(known)) = self;
        known == text
    }
}

/// Where records go while the home is this daemon's. Its health tells when that is not so.
pub(crate) struct HomeMonitorSink {
    pub(crate) writer: Arc<BatchWriter>,
    pub(crate) store: Arc<dyn DaemonStore>,
    pub(crate) home: Arc<HomeMonitor>,
    /// Records that were dropped because another daemon has the home.
    pub(crate) dropped: AtomicU64,
}

impl RecordSink for HomeMonitorSink {
    fn submit(&self, record: Redacted<ExchangeRecord>) {
        match self.home.fault() {
            Some(Fault::Taken(_)) => {
                self.dropped.fetch_add(1, Ordering::Relaxed);
            }
            _ => self.writer.submit(record),
        }
    }

    fn health(&self) -> SinkHealth {
        let mut health = self.writer.health();
        health.lost += self.dropped.load(Ordering::Relaxed);
        if let Some(Fault::Taken(fault) | Fault::Unusable(fault)) = self.home.fault() {
            health.last_error = Some(fault);
        } else if !self.store.is_current() {
            let fault =
                "the database or its write-ahead log was deleted, replaced or overwritten; it is opened anew";
            health.last_error.get_or_insert_with(|| fault.to_owned());
        }
        health
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_domain::SystemClock;
    use grov_runtime::{Environment, daemon};
    use grov_store::{Spool, WriterOptions};
    use std::path::Path;

    fn home(root: &Path) -> Home {
        Home::locate(Some(root), &Environment::default()).unwrap()
    }

    fn watch(home: &Home) -> Arc<HomeMonitor> {
        home.create().unwrap();
        let watch = HomeMonitor::new(home, Some(Lock::acquire(home).unwrap()));
        let now = grov_domain::Clock::now(&SystemClock);
        let record = Record::of_this_process("http://127.0.0.1:8080", "1.2.3", now);
        watch.publish(record).unwrap();
        Arc::new(watch)
    }

    fn sink(home: &Home, watch: &Arc<HomeMonitor>) -> HomeMonitorSink {
        let store = crate::assembly::recording_store(home);
        let options = WriterOptions::new(Spool::new(home.spool()));
        HomeMonitorSink {
            writer: Arc::new(BatchWriter::start(Arc::clone(&store) as Arc<_>, options).unwrap()),
            store,
            home: Arc::clone(watch),
            dropped: AtomicU64::new(0),
        }
    }

    #[test]
    fn a_home_that_was_removed_is_taken_again() {
        let folder = tempfile::tempdir().unwrap();
        let home = home(&folder.path().join("home"));
        let watch = watch(&home);
        std::fs::remove_dir_all(home.root()).unwrap();
        watch.look();
        assert_eq!(watch.fault(), None);
        assert!(daemon::is_running(&home), "a second daemon cannot start there");
        assert_eq!(
            daemon::read(&home).map(|record| record.pid),
            Some(std::process::id())
        );
    }

    #[tokio::test]
    async fn nothing_is_recorded_in_a_home_that_another_daemon_took() {
        let folder = tempfile::tempdir().unwrap();
        let home = home(&folder.path().join("home"));
        let watch = watch(&home);
        let sink = sink(&home, &watch);
        assert_eq!(sink.health().last_error, None);
        std::fs::remove_dir_all(home.root()).unwrap();
        home.create().unwrap();
        let other = Lock::acquire(&home).unwrap();
        watch.look();
        sink.submit(Redacted::of(&record()));
        let health = sink.health();
        assert!(
            health
                .last_error
                .is_some_and(|error| error.contains("records nothing"))
        );
        assert_eq!((health.queued, health.stored, health.lost), (0, 0, 1));
        drop(other);
        watch.look();
        assert_eq!(sink.health().last_error, None, "the other one stopped");
    }

    #[tokio::test]
    async fn health_is_not_ok_until_a_deleted_log_is_saved() {
        let folder = tempfile::tempdir().unwrap();
        let home = home(&folder.path().join("home"));
        let sink = sink(&home, &watch(&home));
        sink.store.revision().await.unwrap();
        assert_eq!(sink.health().last_error, None);
        std::fs::remove_file(home.root().join("grov.db-wal")).unwrap();
        assert!(
            sink.health()
                .last_error
                .is_some_and(|error| error.contains("write-ahead log"))
        );
        sink.store.revision().await.unwrap();
        assert_eq!(sink.health().last_error, None);
    }

    #[tokio::test]
    async fn a_deleted_log_is_saved_though_nothing_is_recorded() {
        let folder = tempfile::tempdir().unwrap();
        let home = home(&folder.path().join("home"));
        let watch = watch(&home);
        let sink = sink(&home, &watch);
        sink.store.revision().await.unwrap();
        std::fs::remove_file(home.root().join("grov.db-wal")).unwrap();
        assert!(!sink.store.is_current());
        watch.look_after(&*sink.store).await;
        assert!(sink.store.is_current());
    }

    fn record() -> ExchangeRecord {
        grov_store::contract::sample_exchange("s", 1)
    }
}
