//! The store, its writer, and the removal of old records.

use crate::assembly::{self, DaemonStore};
use crate::home_monitor::{HomeMonitor, HomeMonitorSink};
use grov_domain::{Clock, MaintenanceStore, RecordSink, Retention, SinkHealth, SystemClock};
use grov_runtime::{Home, Shutdown, StoreSettings};
use grov_store::{BatchWriter, Spool, WriterOptions};
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// Interval between two removals of old records.
const PRUNE_INTERVAL: Duration = Duration::from_secs(60 * 60);

/// Delay of the first removal, so that it does not slow down startup.
const FIRST_PRUNE: Duration = Duration::from_secs(60);

/// The store and its writer.
pub(crate) struct Recording {
    store: Arc<DaemonStore>,
    writer: Arc<BatchWriter>,
    sink: Arc<HomeMonitorSink>,
    retention: Retention,
}

impl Recording {
    /// Starts the writer. The first record opens the store, so a faulty store does not prevent startup.
    pub(crate) fn start(
        home: &Home,
        home_monitor: &Arc<HomeMonitor>,
        settings: &StoreSettings,
    ) -> io::Result<Self> {
        let store = assembly::recording_store(home);
        let options = WriterOptions::new(Spool::new(home.spool()));
        let writer = Arc::new(BatchWriter::start(Arc::clone(&store) as Arc<_>, options)?);
        let sink = HomeMonitorSink {
            writer: Arc::clone(&writer),
            store: Arc::clone(&store),
            home: Arc::clone(home_monitor),
            dropped: AtomicU64::new(0),
        };
        let retention = Retention {
            completed_sessions: settings.retention_completed,
            drift_log: settings.retention_drift,
            idle_sessions: settings.retention_idle,
            spending: settings.retention_spending,
            ledger: settings.retention_ledger,
        };
        Ok(Self {
            store,
            writer,
            sink: Arc::new(sink),
            retention,
        })
    }

    /// Returns the store.
    pub(crate) fn store(&self) -> Arc<DaemonStore> {
        Arc::clone(&self.store)
    }

    /// Returns the sink for records.
    pub(crate) fn sink(&self) -> Arc<dyn RecordSink> {
        Arc::clone(&self.sink) as Arc<_>
    }

    /// Removes records older than the retention period, every hour.
    pub(crate) fn prune_regularly(
        &self,
        mut shutdown: Shutdown,
    ) -> impl Future<Output = ()> + Send + 'static {
        let (store, retention) = (Arc::clone(&self.store), self.retention);
        async move {
            let mut pause = FIRST_PRUNE;
            loop {
                tokio::select! {
                    () = shutdown.requested() => return,
                    () = tokio::time::sleep(pause) => {}
                }
                pause = PRUNE_INTERVAL;
                match store.prune(&retention, SystemClock.now(), false).await {
                    Ok(report) => tracing::debug!(?report, "removed old records"),
                    Err(error) => {
                        tracing::warn!(%error, "old records could not be removed; trying again in an hour")
                    }
                }
            }
        }
    }

    /// Stores or spools the unwritten records and closes the store. Returns the final state of the writer.
    pub(crate) async fn stop(&self, timeout: Duration) -> SinkHealth {
        let health = self.writer.shutdown(timeout).await;
        if let Err(error) = self.store.close().await {
            tracing::warn!(%error, "the store could not be closed in order; it recovers when it is opened next");
        }
        health
    }
}
