//! Notices when the home is removed, or used by another daemon, while this one runs.

use crate::assembly::DaemonStore;
use grov_domain::{ExchangeRecord, RecordSink, Redacted, SinkHealth};
use grov_runtime::daemon::{Lock, LockError, Record};
use grov_runtime::{Home, Shutdown};
use grov_store::BatchWriter;
use std::fs::File;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Interval between two checks. Each takes two system calls.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Holds the lock of the home. Acquires it again when its file is removed.
pub(crate) struct HomeMonitor {
    home: Home,
    state: Mutex<State>,
}

struct State {
    lock: Option<Lock>,
    /// The record by which other programs find the daemon. `None` before the daemon accepts connections.
    record: Option<Record>,
    /// Whether the record could not be published, for example because the disk was full.
    is_unpublished: bool,
    /// Why the home cannot be used.
    fault: Option<Fault>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Fault {
    /// Another daemon holds its lock. This one must not record anything.
    Taken(String),
    /// It is not writable.
    Unusable(String),
}

impl HomeMonitor {
    /// Monitors a home. `lock` is `None` if it could not be acquired at startup; then only the database is checked.
    pub(crate) fn new(home: &Home, lock: Option<Lock>) -> Self {
        let state = State {
            lock,
            record: None,
            is_unpublished: false,
            fault: None,
        };
        Self {
            home: home.clone(),
            state: Mutex::new(state),
        }
    }

    /// Publishes where the daemon listens, for other programs.
    pub(crate) fn publish(&self, record: Record) -> Result<(), LockError> {
        let mut state = self.state();
        let published = state.lock.as_ref().map_or(Ok(()), |lock| lock.publish(&record));
        state.is_unpublished = state.lock.is_none() || published.is_err();
        state.record = Some(record);
        published
    }

    /// Notes for other programs that the daemon stops, and how many responses it waits for.
    pub(crate) fn note_stopping(&self, responses: u64) {
        let mut state = self.state();
        let State { lock, record, .. } = &mut *state;
        let Some(record) = record else { return };
        record.stopping = Some(responses);
        if let Some(Err(error)) = lock.as_ref().map(|lock| lock.publish(record)) {
            tracing::debug!(%error, "other programs do not learn that this daemon stops");
        }
    }

    /// Checks the lock and the database every second until the daemon stops.
    pub(crate) async fn run(self: Arc<Self>, store: Arc<DaemonStore>, mut shutdown: Shutdown) {
        loop {
            tokio::select! {
                () = shutdown.requested() => return,
                () = tokio::time::sleep(CHECK_INTERVAL) => {}
            }
            self.check_lock();
            self.check_database(&store).await;
        }
    }

    /// Reopens the database if its files were deleted or replaced. This recovers a deleted write-ahead log, which would be lost
    /// when the daemon stops: the next record, which would reopen the database too, may be hours away.
    async fn check_database(&self, store: &DaemonStore) {
        if self.fault().is_none()
            && !store.is_current()
            && let Err(error) = store.reopen().await
        {
            tracing::debug!(%error, "the database could not be reopened yet");
        }
    }

    /// Acquires the lock again if its file was removed.
    fn check_lock(&self) {
        let mut state = self.state();
        if state.is_unpublished {
            state.publish_late(&self.home);
        }
        let Some(lock) = &state.lock else { return };
        if lock.is_in_place() {
            return;
        }
        // If this fails, the lock fails too.
        let _ = self.home.create();
        let fault = match Lock::try_acquire(&self.home) {
            Ok(lock) => {
                if let Some(Err(error)) = state.record.as_ref().map(|record| lock.publish(record)) {
                    tracing::error!(%error, "other programs will not find this daemon");
                }
                tracing::error!(
                    home = %self.home.root().display(),
                    "the home was deleted while the daemon was running and has been recreated; its records are lost"
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
            && state.fault.as_ref().is_none_or(|known| !known.has_text(fault))
        {
            tracing::error!("{fault}");
        }
        state.fault = fault;
    }

    /// Uses the lock that another daemon passed on, or acquires it. Without it, other programs do not find this daemon.
    pub(crate) fn take_over(&self, file: Option<File>) {
        let inherited = file.and_then(|file| Lock::inherited(&self.home, file));
        let lock = inherited.map_or_else(|| Lock::acquire(&self.home), Ok);
        match lock {
            Ok(lock) => self.state().lock = Some(lock),
            Err(error) => tracing::error!(%error, "other programs will not find this daemon"),
        }
    }

    /// Passes the lock to another daemon by `send`, and keeps no part in it.
    pub(crate) fn hand_over(
        &self,
        send: impl FnOnce(Option<BorrowedFd<'_>>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut state = self.state();
        send(state.lock.as_ref().map(Lock::file))?;
        // The other daemon is the one to find from now on.
        state.is_unpublished = false;
        if let Some(lock) = state.lock.take() {
            lock.pass_on();
        }
        Ok(())
    }

    /// Whether this daemon holds the lock, so that others find it.
    pub(crate) fn is_locked(&self) -> bool {
        self.state().lock.is_some()
    }

    /// Releases the lock.
    pub(crate) fn release(&self) {
        self.state().lock = None;
    }

    fn fault(&self) -> Option<Fault> {
        self.state().fault.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Tries again to take the lock and to publish the record, which fails while the home cannot be written or another daemon has
    /// the lock.
    fn publish_late(&mut self, home: &Home) {
        if self.lock.is_none() {
            self.lock = Lock::try_acquire(home).ok();
        }
        if let (Some(lock), Some(record)) = (&self.lock, &self.record)
            && lock.publish(record).is_ok()
        {
            self.is_unpublished = false;
            tracing::info!("other programs find this daemon now");
        }
    }
}

impl Fault {
    fn has_text(&self, text: &str) -> bool {
        let (Self::Taken(known) | Self::Unusable(known)) = self;
        known == text
    }
}

/// A sink that drops records while another daemon holds the home. Its health reports faults of the home.
pub(crate) struct HomeMonitorSink {
    pub(crate) writer: Arc<BatchWriter>,
    pub(crate) store: Arc<DaemonStore>,
    pub(crate) home: Arc<HomeMonitor>,
    /// Records dropped because another daemon holds the home.
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
    use grov_domain::{SwitchStore, SystemClock};
    use grov_runtime::{Environment, daemon};
    use grov_store::{Spool, WriterOptions};
    use std::path::Path;

    fn home(root: &Path) -> Home {
        Home::locate(Some(root), &Environment::default()).unwrap()
    }

    fn monitor(home: &Home) -> Arc<HomeMonitor> {
        home.create().unwrap();
        let monitor = HomeMonitor::new(home, Some(Lock::acquire(home).unwrap()));
        let now = grov_domain::Clock::now(&SystemClock);
        let record = Record::of_this_process("http://127.0.0.1:8080", "1.2.3", now);
        monitor.publish(record).unwrap();
        Arc::new(monitor)
    }

    fn sink(home: &Home, monitor: &Arc<HomeMonitor>) -> HomeMonitorSink {
        let store = crate::assembly::recording_store(home);
        let options = WriterOptions::new(Spool::new(home.spool()));
        HomeMonitorSink {
            writer: Arc::new(BatchWriter::start(Arc::clone(&store) as Arc<_>, options).unwrap()),
            store,
            home: Arc::clone(monitor),
            dropped: AtomicU64::new(0),
        }
    }

    #[test]
    fn a_removed_home_is_locked_again() {
        let folder = tempfile::tempdir().unwrap();
        let home = home(&folder.path().join("home"));
        let monitor = monitor(&home);
        std::fs::remove_dir_all(home.root()).unwrap();
        monitor.check_lock();
        assert_eq!(monitor.fault(), None);
        assert!(daemon::is_running(&home), "a second daemon cannot start there");
        assert_eq!(
            daemon::read(&home).map(|record| record.pid),
            Some(std::process::id())
        );
    }

    #[test]
    fn a_daemon_that_started_on_a_full_disk_is_found_once_there_is_room() {
        let folder = tempfile::tempdir().unwrap();
        let home = home(&folder.path().join("home"));
        home.create().unwrap();
        let now = grov_domain::Clock::now(&SystemClock);
        let record = || Record::of_this_process("http://127.0.0.1:8080", "1.2.3", now);
        for is_locked in [true, false] {
            // Instead of a full disk: a directory that cannot be replaced by a file.
            let blocked = [home.daemon_record(), home.daemon_lock()];
            let blocked = if is_locked { &blocked[..1] } else { &blocked[..] };
            for path in blocked {
                std::fs::create_dir_all(path.join("inside")).unwrap();
            }
            let monitor = HomeMonitor::new(&home, Lock::acquire(&home).ok());
            assert_eq!(monitor.is_locked(), is_locked);
            assert_eq!(monitor.publish(record()).is_err(), is_locked);
            monitor.check_lock();
            assert_eq!(daemon::read(&home), None);
            for path in blocked {
                std::fs::remove_dir_all(path).unwrap();
            }
            monitor.check_lock();
            assert_eq!(daemon::read(&home), Some(record()), "locked: {is_locked}");
            monitor.release();
            std::fs::remove_file(home.daemon_lock()).unwrap();
        }
    }

    #[tokio::test]
    async fn nothing_is_recorded_while_another_daemon_holds_the_home() {
        let folder = tempfile::tempdir().unwrap();
        let home = home(&folder.path().join("home"));
        let monitor = monitor(&home);
        let sink = sink(&home, &monitor);
        assert_eq!(sink.health().last_error, None);
        std::fs::remove_dir_all(home.root()).unwrap();
        home.create().unwrap();
        let other = Lock::acquire(&home).unwrap();
        monitor.check_lock();
        sink.submit(Redacted::of(&record()));
        let health = sink.health();
        assert!(
            health
                .last_error
                .is_some_and(|error| error.contains("records nothing"))
        );
        assert_eq!((health.queued, health.stored, health.lost), (0, 0, 1));
        drop(other);
        monitor.check_lock();
        assert_eq!(sink.health().last_error, None, "the other one stopped");
    }

    #[tokio::test]
    async fn health_reports_a_deleted_write_ahead_log_until_it_is_recovered() {
        let folder = tempfile::tempdir().unwrap();
        let home = home(&folder.path().join("home"));
        let sink = sink(&home, &monitor(&home));
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
    async fn a_deleted_write_ahead_log_is_recovered_without_a_new_record() {
        let folder = tempfile::tempdir().unwrap();
        let home = home(&folder.path().join("home"));
        let monitor = monitor(&home);
        let sink = sink(&home, &monitor);
        sink.store.revision().await.unwrap();
        std::fs::remove_file(home.root().join("grov.db-wal")).unwrap();
        assert!(!sink.store.is_current());
        monitor.check_database(&sink.store).await;
        assert!(sink.store.is_current());
    }

    fn record() -> ExchangeRecord {
        grov_store::contract::sample_exchange("s", 1)
    }
}
