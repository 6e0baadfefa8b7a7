//! The writer's thread.

use super::WriterOptions;
use super::queue::{Queue, weight};
use crate::spool::{Drain, Spool, SpoolError};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, OptionFuture};
use grov_domain::{ExchangeRecord, ExchangeStore, Redacted, StoreError};
use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

/// Pause before a batch is retried on a busy store.
const BUSY_PAUSE: Duration = Duration::from_millis(20);

/// Size limit of a batch in bytes, because every record is copied.
const MAX_BATCH_BYTES: usize = 4 * 1024 * 1024;

/// An append in progress.
type Attempt = BoxFuture<'static, Result<usize, StoreError>>;

pub(super) struct Task {
    store: Arc<dyn ExchangeStore>,
    options: WriterOptions,
    queue: Arc<Queue>,
    /// Accepted records that are neither stored nor spooled, oldest first.
    pending: VecDeque<Redacted<ExchangeRecord>>,
    /// An append that exceeded its time. Its records are spooled already. The store is not called until it ends.
    slow: Option<Attempt>,
    drain: Option<Drain>,
    /// After a failure of the store: the time of the next attempt.
    retry_at: Option<Instant>,
    backoff: Duration,
    /// The latest error; cleared by a success.
    fault: Option<String>,
    /// Whether the latest write to the spool succeeded.
    spool_works: bool,
    last_batch: Option<Instant>,
    last_spool_check: Option<Instant>,
}

/// The outcome of an append.
enum Outcome {
    Done,
    Failed(StoreError),
    Slow,
}

impl Task {
    pub(super) fn new(store: Arc<dyn ExchangeStore>, options: WriterOptions, queue: Arc<Queue>) -> Self {
        let backoff = options.retry_after / 20;
        Self {
            store,
            options,
            queue,
            pending: VecDeque::new(),
            slow: None,
            drain: None,
            retry_at: None,
            backoff,
            fault: None,
            spool_works: true,
            last_batch: None,
            last_spool_check: None,
        }
    }

    pub(super) async fn run(mut self) {
        self.queue.set_spooled(self.options.spool.waiting());
        loop {
            // Also drains records that other processes spooled before this one started.
            if !self.drain_some().await {
                self.wait().await;
            }
            let closed = self.queue.is_closed();
            self.pending.extend(self.queue.take());
            self.store_pending().await;
            if closed {
                break;
            }
        }
        let rest: Vec<_> = self.pending.drain(..).collect();
        if !rest.is_empty() {
            tracing::error!(
                records = rest.len(),
                "the last records could neither be stored nor spooled; they are lost"
            );
        }
        self.queue.settle(&rest, |health| &mut health.lost);
    }

    /// Waits until there is something to do.
    async fn wait(&mut self) {
        let next_batch = self.last_batch.map(|last| last + self.options.linger);
        let has_waiting = !self.pending.is_empty() || !self.options.spool.is_empty();
        let retry = if has_waiting && self.slow.is_none() {
            Some(self.next_try())
        } else {
            None
        };
        tokio::select! {
            biased;
            () = self.queue.urgent() => {}
            Some(result) = OptionFuture::from(self.slow.as_mut()) => {
                self.slow = None;
                match result {
                    Ok(_) => self.recovered(),
                    Err(error) => self.failed(&error),
                }
            }
            Some(()) = OptionFuture::from(retry.map(sleep_until)) => {}
            () = async {
                OptionFuture::from(next_batch.map(sleep_until)).await;
                self.queue.arrived().await;
            } => {}
        }
    }

    /// The time of the next attempt. Always later than an attempt that just failed.
    fn next_try(&self) -> Instant {
        let now = Instant::now();
        let next_look = self.last_spool_check.map(|last| last + self.options.retry_after);
        self.retry_at
            .filter(|time| *time > now)
            .or(next_look)
            .unwrap_or(now)
    }

    /// Whether the store can be called now.
    fn store_is_due(&self) -> bool {
        self.slow.is_none() && self.retry_at.is_none_or(|time| time <= Instant::now())
    }

    /// Stores the pending records, or spools them.
    async fn store_pending(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        self.last_batch = Some(Instant::now());
        let due = Instant::now() + self.options.slow_after;
        while !self.pending.is_empty() && self.store_is_due() && Instant::now() < due && !self.is_backlogged()
        {
            let count = self.batch_size();
            let batch: Arc<Vec<_>> = Arc::new(self.pending.drain(..count).collect());
            match self.try_store(&batch, due).await {
                Outcome::Done => self.queue.settle(&batch, |health| &mut health.stored),
                Outcome::Failed(error) => {
                    self.failed(&error);
                    self.put_back(batch);
                }
                Outcome::Slow => self.put_back(batch),
            }
        }
        self.spool_pending();
    }

    /// The number of pending records in the next batch.
    fn batch_size(&self) -> usize {
        let mut bytes = 0;
        let fitting = self
            .pending
            .iter()
            .take(self.options.max_batch)
            .take_while(|record| {
                let fits = bytes < MAX_BATCH_BYTES;
                bytes += weight(record);
                fits
            });
        fitting.count()
    }

    /// Whether the store is too slow and the spool can accept the records.
    fn is_backlogged(&self) -> bool {
        self.spool_works && self.queue.is_backlogged()
    }

    fn put_back(&mut self, batch: Arc<Vec<Redacted<ExchangeRecord>>>) {
        for record in Arc::unwrap_or_clone(batch).into_iter().rev() {
            self.pending.push_front(record);
        }
    }

    /// Tries to store a batch until `due`.
    async fn try_store(&mut self, batch: &Arc<Vec<Redacted<ExchangeRecord>>>, due: Instant) -> Outcome {
        loop {
            let mut append = self.append(Arc::clone(batch));
            match timeout_at(due, &mut append).await {
                Ok(Ok(_)) => {
                    self.recovered();
                    return Outcome::Done;
                }
                Ok(Err(error)) if error.is_transient() && Instant::now() + BUSY_PAUSE < due => {
                    sleep(BUSY_PAUSE).await
                }
                Ok(Err(error)) => return Outcome::Failed(error),
                Err(_) => {
                    self.slow = Some(append);
                    let fault = format!("it takes longer than {:?}", self.options.slow_after);
                    self.failed(&StoreError::Busy(fault));
                    return Outcome::Slow;
                }
            }
        }
    }

    fn append(&self, batch: Arc<Vec<Redacted<ExchangeRecord>>>) -> Attempt {
        let store = Arc::clone(&self.store);
        let append = async move { store.append(&batch).await };
        Box::pin(
            AssertUnwindSafe(append).catch_unwind().map(|result| {
                result.unwrap_or_else(|_| Err(StoreError::Other("the store panicked".to_owned())))
            }),
        )
    }

    fn spool_pending(&mut self) {
        while !self.pending.is_empty() {
            let count = self.batch_size();
            let batch = &self.pending.make_contiguous()[..count];
            match spool(&self.options.spool, batch) {
                Ok(()) => {
                    self.spool_works = true;
                    self.queue.settle(batch, |health| &mut health.spooled);
                    self.pending.drain(..count);
                }
                Err(error) => {
                    self.spool_works = false;
                    self.failed(&error);
                    return;
                }
            }
        }
    }

    /// Moves one chunk from the spool to the store. Returns whether to call this again immediately.
    async fn drain_some(&mut self) -> bool {
        if !self.store_is_due() || !self.find_drain() {
            self.drain = None;
            return false;
        }
        let Some(drain) = &mut self.drain else {
            return false;
        };
        match drain.read_chunk() {
            Ok(chunk) if chunk.is_empty() => {
                self.finish_drain();
                true
            }
            Ok(chunk) => {
                let batch = Arc::new(chunk);
                match self
                    .try_store(&batch, Instant::now() + self.options.slow_after)
                    .await
                {
                    Outcome::Done => {
                        self.queue.drained(batch.len() as u64);
                        return true;
                    }
                    Outcome::Failed(error) => self.failed(&error),
                    Outcome::Slow => {}
                }
                self.drain = None;
                false
            }
            Err(error) => {
                self.drain = None;
                self.failed(&StoreError::Other(error.to_string()));
                false
            }
        }
    }

    /// Checks for records to drain, once per pause and after an error. Returns whether there are any.
    fn find_drain(&mut self) -> bool {
        if self.drain.is_some() {
            return true;
        }
        let now = Instant::now();
        let looked = self
            .last_spool_check
            .is_some_and(|last| now < last + self.options.retry_after);
        if looked && self.retry_at.is_none() {
            return false;
        }
        self.last_spool_check = Some(now);
        match self.options.spool.drain() {
            Ok(drain) => self.drain = drain,
            Err(error) => self.failed(&StoreError::Other(error.to_string())),
        }
        self.drain.is_some()
    }

    fn finish_drain(&mut self) {
        let Some(drain) = self.drain.take() else { return };
        if drain.rejected > 0 {
            tracing::warn!(
                lines = drain.rejected,
                "the spool had invalid lines; they were moved to the file ending in .rejected"
            );
        }
        if let Err(error) = drain.finish() {
            self.failed(&StoreError::Other(error.to_string()));
        }
        self.queue.set_spooled(self.options.spool.waiting());
        // Records appended during the drain are drained next.
        self.last_spool_check = None;
    }

    fn failed(&mut self, error: &StoreError) {
        self.retry_at = Some(Instant::now() + self.backoff);
        self.backoff = (self.backoff * 2).min(self.options.retry_after);
        let fault = error.to_string();
        if self.fault.as_ref() != Some(&fault) {
            tracing::warn!(%fault, "records cannot be stored; they wait in the spool");
            self.queue.set_error(Some(fault.clone()));
            self.fault = Some(fault);
        }
    }

    fn recovered(&mut self) {
        if self.retry_at.take().is_some() {
            self.last_spool_check = None;
        }
        self.backoff = self.options.retry_after / 20;
        if self.fault.take().is_some() {
            tracing::info!("records are stored again");
            self.queue.set_error(None);
        }
    }
}

/// Writes to the spool. A panic is treated as an error.
fn spool(spool: &Spool, batch: &[Redacted<ExchangeRecord>]) -> Result<(), StoreError> {
    std::panic::catch_unwind(AssertUnwindSafe(|| spool.append(batch)))
        .map_err(|_| StoreError::NotWritable("writing to the spool panicked".to_owned()))?
        .map_err(|error: SpoolError| StoreError::NotWritable(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Busy;

    #[async_trait::async_trait]
    impl ExchangeStore for Busy {
        async fn append(&self, _batch: &[Redacted<ExchangeRecord>]) -> Result<usize, StoreError> {
            Err(StoreError::Busy("busy".to_owned()))
        }
    }

    #[tokio::test]
    async fn spool_drained_by_another_process_is_not_polled_without_pause() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::new(folder.path().join("spool.jsonl"));
        std::fs::write(spool.path(), "{}\n").unwrap();
        let elsewhere = spool.drain().unwrap();
        assert!(elsewhere.is_some());
        let mut task = Task::new(
            Arc::new(Busy),
            WriterOptions::new(spool),
            Arc::new(Queue::new(1, 1)),
        );
        task.retry_at = Some(Instant::now());
        assert!(!task.drain_some().await, "another process drains it");
        assert!(task.next_try() > Instant::now());
    }
}
