//! The batching writer: stores records in the background.
//!
//! It runs on its own thread with its own small runtime, so that file writes never block a thread that serves requests. It
//! costs one wake-up per batch, not per record.

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
    /// Bound of the records held in memory, in bytes (approximate); past half of it they go to the spool even when the
    /// store works, past all of it new ones are lost and counted. Default 64 MiB.
    pub max_held_bytes: usize,
    /// Most records in one transaction. Default 256.
    pub max_batch: usize,
    /// Least time between two batches: records that arrive meanwhile share the next one. The first record after a
    /// pause does not wait. Default 100 ms.
    pub linger: Duration,
    /// How long a batch may take before its records, and later ones, go to the spool. Default 500 ms, so that a record is on
    /// disk within a second whatever the store does.
    pub slow_after: Duration,
    /// Longest pause between attempts to reach a store that failed; the first is a twentieth of it. Default 5 s.
    pub retry_after: Duration,
}

impl WriterOptions {
    /// The defaults, with this spool.
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
/// Records are stored in batches. While the store is busy, slow, broken or absent they go to the spool, redacted, and
/// from there into the store once it works again; so do records that other processes spooled. While the spool fails too
/// they stay in memory, up to a limit.
///
/// When it is dropped, the thread finishes its records in the background; [`BatchWriter::shutdown`] waits for that.
pub struct BatchWriter {
    queue: Arc<Queue>,
}

impl BatchWriter {
    /// Starts the writer's thread.
    ///
    /// # Errors
    /// When no thread can be started.
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

    /// Waits until everything submitted so far is stored or in the spool, at most `deadline`. Whether it is.
    pub async fn flush(&self, deadline: Duration) -> bool {
        self.queue.flush(deadline).await
    }

    /// Refuses further records, and stores or spools the accepted ones. Returns the final state; records still `queued` in it
    /// did not make it within `deadline`.
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
