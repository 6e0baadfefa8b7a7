//! The queue between the writer's callers and its thread.

use grov_domain::{ExchangeRecord, Redacted, SinkHealth};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, watch};

/// Estimated memory of a record and of a step without their texts, in bytes.
const RECORD_BYTES: usize = 1024;
const STEP_BYTES: usize = 512;

pub(super) struct Queue {
    state: Mutex<State>,
    max_bytes: usize,
    /// The number of records that are written without waiting.
    full_batch: usize,
    /// Notified when a record arrives in the empty queue.
    arrived: Notify,
    /// Notified when a caller flushes, or a batch is full.
    urgent: Notify,
    /// The number of accepted records that were stored, spooled or lost.
    settled: watch::Sender<u64>,
}

#[derive(Default)]
struct State {
    records: Vec<Redacted<ExchangeRecord>>,
    /// Bytes of all accepted records that are not settled.
    queued_bytes: usize,
    accepted: u64,
    closed: bool,
    health: SinkHealth,
}

impl Queue {
    pub(super) fn new(max_bytes: usize, full_batch: usize) -> Self {
        Self {
            state: Mutex::default(),
            max_bytes,
            full_batch,
            arrived: Notify::new(),
            urgent: Notify::new(),
            settled: watch::Sender::new(0),
        }
    }

    /// No code that can panic runs under this lock, so a poisoned lock is safe to use.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn push(&self, record: Redacted<ExchangeRecord>) {
        let bytes = weight(&record);
        let mut state = self.state();
        if state.closed || state.queued_bytes + bytes > self.max_bytes {
            state.health.lost += 1;
            return;
        }
        let first = state.records.is_empty();
        state.records.push(record);
        let full = state.records.len() == self.full_batch;
        state.queued_bytes += bytes;
        state.accepted += 1;
        drop(state);
        if first {
            self.arrived.notify_one();
        }
        if full {
            self.urgent.notify_one();
        }
    }

    pub(super) fn take(&self) -> Vec<Redacted<ExchangeRecord>> {
        std::mem::take(&mut self.state().records)
    }

    /// Whether more than half of the maximum size waits, because the store is too slow.
    pub(super) fn is_backlogged(&self) -> bool {
        self.state().queued_bytes > self.max_bytes / 2
    }

    /// Whether the queue accepts no more records.
    pub(super) fn is_closed(&self) -> bool {
        self.state().closed
    }

    pub(super) fn close(&self) {
        self.state().closed = true;
        self.urgent.notify_one();
        self.arrived.notify_one();
    }

    pub(super) async fn arrived(&self) {
        self.arrived.notified().await;
    }

    pub(super) async fn urgent(&self) {
        self.urgent.notified().await;
    }

    pub(super) async fn flush(&self, deadline: Duration) -> bool {
        let target = self.state().accepted;
        let mut settled = self.settled.subscribe();
        self.urgent.notify_one();
        tokio::time::timeout(deadline, settled.wait_for(|settled| *settled >= target))
            .await
            .is_ok_and(|seen| seen.is_ok())
    }

    /// Adds records that were stored, spooled or lost to that `counter`.
    pub(super) fn settle(
        &self,
        records: &[Redacted<ExchangeRecord>],
        counter: fn(&mut SinkHealth) -> &mut u64,
    ) {
        let bytes: usize = records.iter().map(|record| weight(record)).sum();
        let count = records.len() as u64;
        {
            let mut state = self.state();
            state.queued_bytes = state.queued_bytes.saturating_sub(bytes);
            *counter(&mut state.health) += count;
        }
        self.settled.send_modify(|settled| *settled += count);
    }

    /// Counts records that were moved from the spool to the store.
    pub(super) fn drained(&self, count: u64) {
        let mut state = self.state();
        state.health.stored += count;
        state.health.spooled = state.health.spooled.saturating_sub(count);
    }

    pub(super) fn set_spooled(&self, count: u64) {
        self.state().health.spooled = count;
    }

    pub(super) fn set_error(&self, error: Option<String>) {
        self.state().health.last_error = error;
    }

    pub(super) fn health(&self) -> SinkHealth {
        let settled = *self.settled.borrow();
        let state = self.state();
        SinkHealth {
            queued: state.accepted.saturating_sub(settled),
            ..state.health.clone()
        }
    }
}

/// Approximate size of a record in memory, in bytes.
pub(super) fn weight(record: &ExchangeRecord) -> usize {
    let prompts: usize = record.prompts.iter().map(|prompt| prompt.text.len()).sum();
    let steps: usize = record
        .steps
        .iter()
        .map(|step| {
            let action = &step.action;
            let texts = action.files.iter().chain(&action.folders).chain(&step.keywords);
            STEP_BYTES
                + texts.map(String::len).sum::<usize>()
                + action.command.as_ref().map_or(0, String::len)
                + step.reasoning.as_ref().map_or(0, String::len)
        })
        .sum();
    RECORD_BYTES + prompts + steps
}
