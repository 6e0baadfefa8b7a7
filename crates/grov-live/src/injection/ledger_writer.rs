//! Writes changes of the ledger to the store in the background.

use super::lineage_state::history_key;
use super::{Counters, LedgerBackend};
use grov_domain::{CutNote, Lineage, LineageTip};
use grov_wire::Key128;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// Queued tips. When more are queued, tips are dropped; a later fork of the session may then not be recognised. Other
/// updates are never dropped.
const MAX_QUEUED: usize = 4096;

/// Delay that collects updates for one transaction.
const COLLECT_DELAY: Duration = Duration::from_millis(200);

/// Delay after a failed write.
const RETRY_DELAY: Duration = Duration::from_secs(2);

/// Updates received at a time.
const MAX_BATCH: usize = 512;

/// A change of the ledger.
#[derive(Debug)]
pub(super) enum LedgerUpdate {
    /// The newest request of a lineage.
    Tip(LineageTip),
    /// The block at an injection point was withdrawn.
    Withdrawn(Lineage, Key128),
    /// Edits of a lineage are disabled.
    EditsDisabled(Lineage),
    /// Something happened to the cut at a place.
    Cut(Lineage, Key128, CutNote),
    /// The results of these tool calls were not replaced.
    NotTrimmed(Lineage, Vec<String>),
}

impl LedgerUpdate {
    fn is_droppable(&self) -> bool {
        matches!(self, Self::Tip(_))
    }
}

/// Queues updates.
#[derive(Clone, Debug)]
pub(super) struct LedgerWriter {
    tips: mpsc::Sender<LedgerUpdate>,
    /// Unbounded, because there is at most one for each added text and a few for each cut.
    reliable: mpsc::UnboundedSender<LedgerUpdate>,
    counters: Arc<Counters>,
}

/// Writes queued updates.
pub(super) struct LedgerWriterTask {
    tips: mpsc::Receiver<LedgerUpdate>,
    reliable: mpsc::UnboundedReceiver<LedgerUpdate>,
    store: Arc<dyn LedgerBackend>,
    counters: Arc<Counters>,
}

impl LedgerWriter {
    pub(super) fn new(store: Arc<dyn LedgerBackend>, counters: Arc<Counters>) -> (Self, LedgerWriterTask) {
        let (tip_sender, tips) = mpsc::channel(MAX_QUEUED);
        let (sender, reliable) = mpsc::unbounded_channel();
        let writer = Self {
            tips: tip_sender,
            reliable: sender,
            counters: Arc::clone(&counters),
        };
        let writing = LedgerWriterTask {
            tips,
            reliable,
            store,
            counters,
        };
        (writer, writing)
    }

    pub(super) fn queue(&self, update: LedgerUpdate) {
        let is_queued = match update.is_droppable() {
            true => self.tips.try_send(update).is_ok(),
            false => self.reliable.send(update).is_ok(),
        };
        if !is_queued {
            self.counters.notes_lost.increment();
        }
    }
}

impl LedgerWriterTask {
    /// Writes updates until `stop` resolves or all senders are dropped, then writes the queued ones.
    pub(super) async fn run(mut self, stop: impl Future<Output = ()> + Send) {
        let mut batch = Vec::new();
        tokio::pin!(stop);
        loop {
            tokio::select! {
                // Retries a failed batch, even without new updates.
                () = std::future::ready(()), if !batch.is_empty() => {}
                Some(update) = self.reliable.recv() => batch.push(update),
                received = self.tips.recv_many(&mut batch, MAX_BATCH) => if received == 0 {
                    break;
                },
                () = &mut stop => break,
            }
            // Updates come in bursts, and the store's writer has other work.
            tokio::select! {
                () = tokio::time::sleep(COLLECT_DELAY) => {}
                () = &mut stop => break,
            }
            self.receive_queued(&mut batch);
            if !self.write(&mut batch).await {
                tokio::select! {
                    () = tokio::time::sleep(RETRY_DELAY) => {}
                    () = &mut stop => break,
                }
            }
        }
        self.receive_queued(&mut batch);
        self.write(&mut batch).await;
    }

    fn receive_queued(&mut self, batch: &mut Vec<LedgerUpdate>) {
        while let Ok(update) = self.reliable.try_recv() {
            batch.push(update);
        }
        while batch.len() < MAX_QUEUED {
            match self.tips.try_recv() {
                Ok(update) => batch.push(update),
                Err(_) => return,
            }
        }
    }

    /// Writes the batch in order. Updates that could not be written stay in it.
    async fn write(&self, batch: &mut Vec<LedgerUpdate>) -> bool {
        let mut done = 0;
        let mut result = Ok(());
        while result.is_ok() && done < batch.len() {
            let rest = &batch[done..];
            let tips: Vec<LineageTip> = rest
                .iter()
                .map_while(|update| match update {
                    LedgerUpdate::Tip(tip) => Some(tip.clone()),
                    _ => None,
                })
                .collect();
            let written = match rest.first() {
                Some(LedgerUpdate::Withdrawn(lineage, key)) => {
                    result = self.store.withdraw(lineage, &[history_key(*key)]).await;
                    1
                }
                Some(LedgerUpdate::EditsDisabled(lineage)) => {
                    result = self.store.disable_edits(lineage).await;
                    1
                }
                Some(LedgerUpdate::Cut(lineage, key, note)) => {
                    result = self.store.note_cut(lineage, history_key(*key), *note).await;
                    1
                }
                Some(LedgerUpdate::NotTrimmed(lineage, calls)) => {
                    result = self.store.remove_trims(lineage, calls).await;
                    1
                }
                _ => {
                    result = self.store.note_tips(&tips).await;
                    tips.len()
                }
            };
            if result.is_ok() {
                done += written;
            }
        }
        batch.drain(..done);
        match result {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(%error, waiting = batch.len(), "cannot write the injection ledger; retrying");
                self.drop_oldest_tips(batch);
                false
            }
        }
    }

    /// Drops the oldest tips beyond [`MAX_QUEUED`].
    fn drop_oldest_tips(&self, batch: &mut Vec<LedgerUpdate>) {
        let waiting = batch.len();
        let mut over = waiting.saturating_sub(MAX_QUEUED);
        batch.retain(|update| {
            let is_lost = over > 0 && update.is_droppable();
            over -= usize::from(is_lost);
            !is_lost
        });
        self.counters.notes_lost.add(waiting - batch.len());
    }
}
