//! Writes lineage tips to the store in the background.

use super::lineage_state::history_key;
use super::{Counters, LedgerBackend};
use grov_domain::{Lineage, LineageTip};
use grov_wire::Key128;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// Notes of where lineages stand that may wait. More than that are lost: a session that is forked later may then not be
/// recognised. That something is not to be said any more is never lost.
const MAX_WAITING: usize = 4096;

/// Notes of about so long are written together.
const PAUSE: Duration = Duration::from_millis(200);

/// Pause after the store refused.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(2);

/// Notes in one transaction.
const BATCH: usize = 512;

/// What there is to write down.
#[derive(Debug)]
pub(super) enum LedgerUpdate {
    /// A lineage was here.
    Tip(LineageTip),
    /// A decision was taken back.
    Withdrawn(Lineage, Key128),
    /// A lineage is edited no more.
    Barred(Lineage),
}

impl LedgerUpdate {
    fn may_be_lost(&self) -> bool {
        matches!(self, Self::Tip(_))
    }
}

/// Takes notes. Returns at once.
#[derive(Clone, Debug)]
pub(super) struct LedgerWriter {
    tips: mpsc::Sender<LedgerUpdate>,
    /// There is one for a text that was said, at most, so there are few.
    others: mpsc::UnboundedSender<LedgerUpdate>,
    counters: Arc<Counters>,
}

/// Writes notes down.
pub(super) struct LedgerWriterTask {
    tips: mpsc::Receiver<LedgerUpdate>,
    others: mpsc::UnboundedReceiver<LedgerUpdate>,
    store: Arc<dyn LedgerBackend>,
    counters: Arc<Counters>,
}

impl LedgerWriter {
    pub(super) fn new(store: Arc<dyn LedgerBackend>, counters: Arc<Counters>) -> (Self, LedgerWriterTask) {
        let (tip_sender, tips) = mpsc::channel(MAX_WAITING);
        let (sender, others) = mpsc::unbounded_channel();
        let writer = Self {
            tips: tip_sender,
            others: sender,
            counters: Arc::clone(&counters),
        };
        let writing = LedgerWriterTask {
            tips,
            others,
            store,
            counters,
        };
        (writer, writing)
    }

    pub(super) fn note(&self, note: LedgerUpdate) {
        let is_taken = match note.may_be_lost() {
            true => self.tips.try_send(note).is_ok(),
            false => self.others.send(note).is_ok(),
        };
        if !is_taken {
            self.counters.notes_lost.increment();
        }
    }
}

impl LedgerWriterTask {
    /// Writes until `stop` resolves or nobody takes notes any more; what waits then is still written.
    pub(super) async fn run(mut self, stop: impl Future<Output = ()> + Send) {
        let mut batch = Vec::new();
        tokio::pin!(stop);
        loop {
            tokio::select! {
                // What could not be written is tried again, whether there is more or not.
                () = std::future::ready(()), if !batch.is_empty() => {}
                Some(note) = self.others.recv() => batch.push(note),
                received = self.tips.recv_many(&mut batch, BATCH) => if received == 0 {
                    break;
                },
                () = &mut stop => break,
            }
            // The store's writer has other work as well; notes come in bursts.
            tokio::select! {
                () = tokio::time::sleep(PAUSE) => {}
                () = &mut stop => break,
            }
            self.take_more(&mut batch);
            if !self.write(&mut batch).await {
                tokio::select! {
                    () = tokio::time::sleep(PAUSE_AFTER_FAILURE) => {}
                    () = &mut stop => break,
                }
            }
        }
        self.take_more(&mut batch);
        self.write(&mut batch).await;
    }

    fn take_more(&mut self, batch: &mut Vec<LedgerUpdate>) {
        while let Ok(note) = self.others.try_recv() {
            batch.push(note);
        }
        while batch.len() < MAX_WAITING {
            match self.tips.try_recv() {
                Ok(note) => batch.push(note),
                Err(_) => return,
            }
        }
    }

    /// Writes what is in the batch, in order; what could not be written stays in it.
    async fn write(&self, batch: &mut Vec<LedgerUpdate>) -> bool {
        let mut done = 0;
        let mut result = Ok(());
        while result.is_ok() && done < batch.len() {
            let rest = &batch[done..];
            let tips: Vec<LineageTip> = rest
                .iter()
                .map_while(|note| match note {
                    LedgerUpdate::Tip(tip) => Some(tip.clone()),
                    LedgerUpdate::Withdrawn(..) | LedgerUpdate::Barred(_) => None,
                })
                .collect();
            let written = match rest.first() {
                Some(LedgerUpdate::Withdrawn(lineage, key)) => {
                    result = self.store.withdraw(lineage, &[history_key(*key)]).await;
                    1
                }
                Some(LedgerUpdate::Barred(lineage)) => {
                    result = self.store.disable_edits(lineage).await;
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
                tracing::warn!(%error, waiting = batch.len(), "the injection ledger is behind; trying again");
                self.lose_the_oldest(batch);
                false
            }
        }
    }

    /// Tips that are too many.
    fn lose_the_oldest(&self, batch: &mut Vec<LedgerUpdate>) {
        let waiting = batch.len();
        let mut over = waiting.saturating_sub(MAX_WAITING);
        batch.retain(|note| {
            let is_lost = over > 0 && note.may_be_lost();
            over -= usize::from(is_lost);
            !is_lost
        });
        self.counters.notes_lost.add(waiting - batch.len());
    }
}
