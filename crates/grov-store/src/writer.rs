//! The batching writer: stores records in the background.
//!
//! It runs on its own thread with its own runtime, so that file writes never block threads that serve requests. It
//! wakes up once per batch, not per record.

mod queue;
mod task;

use crate::Spool;
use grov_domain::{ExchangeRecord, ExchangeStore, RecordSink, Redacted, SinkHealth};
use queue::Queue;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// Settings of a [`BatchWriter`].
#[derive(Clone, Debug)]
pub struct WriterOptions {
    /// Holds records while the store is unavailable.
    pub spool: Spool,
    /// Maximum size of the records in memory, in bytes (approximate). Above half of it, records go to the spool even if
    /// the store works; above all of it, new records are lost and counted. Default 64 MiB.
    pub max_held_bytes: usize,
    /// Maximum number of records per transaction. Default 256.
    pub max_batch: usize,
    /// Minimum time between two batches; records that arrive in between share the next one. The first record after a
    /// pause does not wait. Default 100 ms.
    pub linger: Duration,
    /// How long a batch may take before its records, and later ones, go to the spool. Default 500 ms, so that a record
    /// is on disk within a second even if the store is slow.
    pub slow_after: Duration,
    /// Maximum pause between attempts after the store failed. The first pause is a twentieth of it. Default 5 s.
    pub retry_after: Duration,
}

impl WriterOptions {
    /// The default settings with this spool.
    pub fn new(spool: Spool) -> Self {
        Self {
            spool,
            max_held_bytes: 64 * 1024 * 1024,
            max_batch: 256,
            linger: Duration::from_millis(100),
            slow_after: Duration::from_millis(500),
            retry_after: Duration::from_secs(5),
        }
    }
}

/// The record sink of a long-running process.
///
/// Records are stored in batches. While the store is busy, slow, broken or missing, they are written to the spool and
/// moved to the store later; so are records that other processes spooled. If the spool fails too, they stay in memory
/// up to a limit.
///
/// After a drop, the thread finishes its records in the background; [`BatchWriter::shutdown`] waits for that.
pub struct BatchWriter {
    queue: Arc<Queue>,
}

impl BatchWriter {
    /// Starts the writer's thread.
    ///
    /// # Errors
    /// The thread or its runtime cannot be started.
    pub fn start(store: Arc<dyn ExchangeStore>, options: WriterOptions) -> io::Result<Self> {
        let queue = Arc::new(Queue::new(options.max_held_bytes, options.max_batch));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()?;
        let task = task::Task::new(store, options, Arc::clone(&queue));
        std::thread::Builder::new()
            .name("grov-writer".to_owned())
            .spawn(move || runtime.block_on(task.run()))?;
        Ok(Self { queue })
    }

    /// Waits until all records submitted so far are stored or spooled, at most for `deadline`. Returns whether they
    /// are.
    pub async fn flush(&self, deadline: Duration) -> bool {
        self.queue.flush(deadline).await
    }

    /// Refuses further records, and stores or spools the accepted ones. Returns the final state; `queued` counts
    /// records that were neither stored nor spooled within `deadline`.
    pub async fn shutdown(&self, deadline: Duration) -> SinkHealth {
        self.queue.close();
        self.queue.flush(deadline).await;
        self.queue.health()
    }
}

impl Drop for BatchWriter {
    fn drop(&mut self) {
        self.queue.close();
    }
}

impl RecordSink for BatchWriter {
    fn submit(&self, record: Redacted<ExchangeRecord>) {
        self.queue.push(record);
    }

    fn health(&self) -> SinkHealth {
        self.queue.health()
    }
}
