//! Writing down where lineages stand, behind the requests.

use super::lineage::stored;
use super::{Counters, LedgerBackend};
use grov_domain::{Lineage, LineageTip};
use grov_wire::Key128;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::mpsc;

/// Notes that may wait. Behind that many, further ones are lost: a session that is forked later may then not be
/// recognised.
const MAX_WAITING: usize = 4096;

/// Notes of about so long are written together.
const PAUSE: Duration = Duration::from_millis(200);

/// Pause after the store refused.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(2);

/// Notes in one transaction.
const BATCH: usize = 512;

/// What there is to write down.
#[derive(Debug)]
pub(super) enum Note {
    /// A lineage was here.
    Tip(LineageTip),
    /// A decision was taken back.
    Withdrawn(Lineage, Key128),
    /// A lineage is edited no more.
    Barred(Lineage),
}

/// Takes notes. Returns at once.
#[derive(Clone, Debug)]
pub(super) struct Scribe {
    notes: mpsc::Sender<Note>,
    counters: Arc<Counters>,
}

/// Writes notes down.
pub(super) struct Writing {
    notes: mpsc::Receiver<Note>,
    store: Arc<dyn LedgerBackend>,
    counters: Arc<Counters>,
}

impl Scribe {
    pub(super) fn new(store: Arc<dyn LedgerBackend>, counters: Arc<Counters>) -> (Self, Writing) {
        let (sender, notes) = mpsc::channel(MAX_WAITING);
        let scribe = Self {
            notes: sender,
            counters: Arc::clone(&counters),
        };
        let writing = Writing {
            notes,
            store,
            counters,
        };
        (scribe, writing)
    }

    pub(super) fn note(&self, note: Note) {
        if self.notes.try_send(note).is_err() {
            self.counters.notes_lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Writing {
    /// Writes until `stop` resolves or nobody takes notes any more; what waits then is still written.
    pub(super) async fn run(mut self, stop: impl Future<Output = ()> + Send) {
        let mut batch = Vec::new();
        tokio::pin!(stop);
        loop {
            tokio::select! {
                received = self.notes.recv_many(&mut batch, BATCH) => if received == 0 {
                    return;
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

    fn take_more(&mut self, batch: &mut Vec<Note>) {
        while batch.len() < MAX_WAITING {
            match self.notes.try_recv() {
                Ok(note) => batch.push(note),
                Err(_) => return,
            }
        }
    }

    /// Writes what is in the batch, in order; what could not be written stays in it.
    async fn write(&self, batch: &mut Vec<Note>) -> bool {
        let mut done = 0;
        let mut result = Ok(());
        while result.is_ok() && done < batch.len() {
            let rest = &batch[done..];
            let tips: Vec<LineageTip> = rest
                .iter()
                .map_while(|note| match note {
                    Note::Tip(tip) => Some(tip.clone()),
                    Note::Withdrawn(..) | Note::Barred(_) => None,
                })
                .collect();
            let written = match rest.first() {
                Some(Note::Withdrawn(lineage, key)) => {
                    result = self.store.withdraw(lineage, &[stored(*key)]).await;
                    1
                }
                Some(Note::Barred(lineage)) => {
                    result = self.store.bar(lineage).await;
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
                let over = batch.len().saturating_sub(MAX_WAITING);
                batch.drain(..over);
                let over = u64::try_from(over).unwrap_or(u64::MAX);
                self.counters.notes_lost.fetch_add(over, Ordering::Relaxed);
                false
            }
        }
    }
}
