//! What all requests share: the lineages, the store, the switches.

use super::ledger_writer::{LedgerUpdate, LedgerWriter};
use super::lineage_state::{Decision, history_key};
use super::slot::{Loading, Slot};
use super::{ContextSource, ContextText, Counters, InjectionPoint, LedgerBackend};
use crate::project_locator::ProjectLocator;
use crate::session_cache::SessionCache;
use crate::store_watcher::StoreWatcher;
use bytes::Bytes;
use futures_util::future::join_all;
use grov_domain::{
    Clock, LedgerEntry, LedgerLineage, Lineage, NewLineage, Redacted, StoreError, SystemClock, TaskId,
};
use grov_proxy_core::MessagesRequest;
use grov_wire::{Key128, RequestIndex};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// How long a request waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timeouts {
    /// For its directory to be looked at.
    pub(super) locate: Duration,
    /// For what was said in its lineage before, if that is not in memory. Missing that, the cached prompt is billed again,
    /// which costs more than the wait.
    pub(super) load: Duration,
    /// For new text: a little less than all policies have together, for what is kept must also be used.
    pub(super) text: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            locate: Duration::from_millis(20),
            load: Duration::from_secs(1),
            text: Duration::from_millis(8),
        }
    }
}

/// Requests of a lineage that wait for that: a file system that does not answer must not hold up every one.
const MAX_LOOKS: u8 = 5;

/// Lineages held in memory; the least recently used are loaded again when they come back.
pub(super) const MAX_LINEAGES: usize = 512;

/// Pause before lineages are read again after a failure.
const RELOAD_PAUSE: Duration = Duration::from_secs(1);

pub(super) struct Shared {
    pub(super) timeouts: Timeouts,
    pub(super) store: Arc<dyn LedgerBackend>,
    pub(super) sources: Vec<Arc<dyn ContextSource>>,
    pub(super) writer: LedgerWriter,
    pub(super) counters: Arc<Counters>,
    pub(super) places: ProjectLocator,
    pub(super) lineages: SessionCache<Lineage, Slot>,
    pub(super) watcher: StoreWatcher,
}

impl Shared {
    pub(super) fn slot(&self, lineage: &Lineage) -> Arc<Slot> {
        self.lineages.get_or_create(lineage, Slot::default, |_| true)
    }

    /// Learns the project of a lineage, once.
    pub(super) async fn locate(&self, slot: &Slot, request: &MessagesRequest) {
        if slot.location().is_some() || slot.looks.load(Ordering::Relaxed) >= MAX_LOOKS {
            return;
        }
        slot.looks.fetch_add(1, Ordering::Relaxed);
        let Some(directory) = ProjectLocator::directory(request) else {
            return;
        };
        // A directory that does not answer: nothing new is said until it does.
        let located = tokio::time::timeout(self.timeouts.locate, self.places.locate(&directory)).await;
        match located {
            Ok(Some(location)) => {
                *slot.location.lock().unwrap_or_else(PoisonError::into_inner) = Some(location);
            }
            Ok(None) | Err(_) => {
                self.counters.not_located.increment();
                tracing::debug!(
                    directory,
                    "a directory was not looked at in time; nothing new is said"
                );
            }
        }
    }

    /// Brings what was kept of a lineage into memory.
    pub(super) async fn load(&self, slot: &Slot, new: &NewLineage) {
        // Also sent if this future is dropped.
        let mut outcome = scopeguard::guard(Loading::No, |outcome| {
            slot.loading.send_replace(outcome);
        });
        match self.kept(slot, new).await {
            Ok(Some(kept)) => {
                slot.state().load(kept);
                *outcome = Loading::Done;
            }
            // The next request tries again.
            Ok(None) => {}
            Err(error) => {
                slot.wait_no_more();
                self.not_loaded(&error.to_string());
            }
        }
    }

    /// What is kept of a lineage; an unknown one becomes known. `None`: it cannot be told yet whether it continues
    /// another, because its project is not known.
    pub(super) async fn kept(
        &self,
        slot: &Slot,
        new: &NewLineage,
    ) -> Result<Option<LedgerLineage>, StoreError> {
        self.watcher.load().await?;
        if let Some(kept) = self.store.lineage(&new.lineage).await? {
            return Ok(Some(kept));
        }
        if new.history.len() <= 1 {
            // Nobody has answered yet, so there is nothing to continue. It becomes known when there is something to keep:
            // a database that somebody else is writing to must not hold up a conversation that begins.
            slot.is_unknown.store(true, Ordering::Relaxed);
            return Ok(Some(LedgerLineage::default()));
        }
        if new.project_path.is_empty() && slot.looks.load(Ordering::Relaxed) < MAX_LOOKS {
            return Ok(None);
        }
        self.store.adopt(new).await.map(Some)
    }

    pub(super) fn new_lineage(
        &self,
        slot: &Slot,
        lineage: &Lineage,
        request: &MessagesRequest,
    ) -> NewLineage {
        let links = request.skeleton().map(|skeleton| skeleton.links());
        NewLineage {
            lineage: lineage.clone(),
            project_path: slot.project_path(),
            model: request.index().map(model).unwrap_or_default(),
            history: links
                .unwrap_or_default()
                .iter()
                .map(|link| history_key(link.key))
                .collect(),
            at: request.received_at(),
        }
    }

    pub(super) fn not_loaded(&self, why: &str) {
        self.counters.not_loaded.increment();
        tracing::warn!(
            why,
            "what was said in this conversation before cannot be read; the request goes out without it"
        );
    }

    /// Asks the sources, keeps what they say, and tells it.
    pub(super) async fn decide(
        &self,
        slot: &Slot,
        key: Key128,
        point: &InjectionPoint,
        sender: watch::Sender<Option<Decision>>,
    ) -> Decision {
        let kept = self.kept_text(slot, key, point).await;
        let is_kept = kept.is_some();
        let sources = kept.as_ref().map_or_else(Vec::new, |kept| kept.sources.clone());
        let decision = {
            let mut state = slot.state();
            let (block, quoted) = kept.map_or((None, Vec::new()), |kept| (Some(kept.block), kept.memories));
            let decision = state.decide(key, block);
            if decision.is_some() {
                state.quote(key, quoted);
            }
            decision
        };
        let counter = match (&decision, is_kept) {
            (Some(_), _) => &self.counters.added,
            (None, _) => &self.counters.nothing,
        };
        counter.increment();
        if is_kept && decision.is_none() {
            // The request could not wait and is gone. At once, for after a crash nobody would know.
            let withdrawn = self.store.withdraw(&point.lineage, &[history_key(key)]).await;
            if withdrawn.is_err() {
                self.writer
                    .note(LedgerUpdate::Withdrawn(point.lineage.clone(), key));
            }
        }
        if decision.is_some() {
            for source in sources {
                source.delivered(point);
            }
        }
        sender.send_replace(Some(decision.clone()));
        decision
    }

    /// The block that is said from now on; `None`: nothing is to be said, or it could not be kept in time.
    pub(super) async fn kept_text(
        &self,
        slot: &Slot,
        key: Key128,
        point: &InjectionPoint,
    ) -> Option<CommittedText> {
        let mut texts = Vec::new();
        let mut sources = Vec::new();
        let mut memories: Vec<TaskId> = Vec::new();
        let until = tokio::time::Instant::from_std(point.deadline);
        // Side by side: none has less time because another takes its own.
        let asked = self.sources.iter().filter(|source| source.applies(point));
        let asked = asked.map(async |source| {
            (
                source,
                tokio::time::timeout_at(until, source.context(point)).await,
            )
        });
        for (source, said) in join_all(asked).await {
            match said {
                Ok(Some(ContextText {
                    text,
                    memories: quoted,
                })) => {
                    texts.push(text);
                    sources.push(Arc::clone(source));
                    memories.extend(quoted);
                }
                Ok(None) => {}
                Err(_) => {
                    self.counters.late.increment();
                    tracing::debug!(source = source.name(), "nothing was said: it took too long");
                }
            }
        }
        if texts.is_empty() {
            return None;
        }
        let block = block_of(&texts);
        let entry = LedgerEntry {
            anchor: history_key(key),
            block: Some(block.clone()),
            memories: memories.clone(),
            decided_at: SystemClock.now(),
        };
        if slot.is_unknown.load(Ordering::Relaxed) {
            let new = NewLineage {
                lineage: point.lineage.clone(),
                project_path: slot.project_path(),
                // Noted with the request's tip.
                model: String::new(),
                history: Vec::new(),
                at: entry.decided_at,
            };
            if let Err(error) = self.store.adopt(&new).await {
                self.counters.not_kept.increment();
                tracing::warn!(%error, "nothing was said: the conversation could not be made known");
                return None;
            }
            slot.is_unknown.store(false, Ordering::Relaxed);
        }
        match self.store.decide(&point.lineage, &entry, point.deadline).await {
            Ok(true) => Some(CommittedText {
                block: Bytes::from(block.into_inner()),
                memories,
                sources,
            }),
            Ok(false) => {
                self.counters.not_kept.increment();
                None
            }
            Err(error) => {
                self.counters.not_kept.increment();
                tracing::warn!(%error, "nothing was said: it could not be kept");
                None
            }
        }
    }

    /// Takes over what other processes change: switches, and memories that were forgotten.
    pub(super) async fn follow_revision(&self) {
        loop {
            self.watcher.changed().await;
            while let Err(error) = self.reload().await {
                tracing::warn!(%error, "changes made elsewhere are not followed yet; trying again");
                tokio::time::sleep(RELOAD_PAUSE).await;
            }
        }
    }

    /// Takes out of memory what the store holds no more.
    pub(super) async fn reload(&self) -> Result<(), StoreError> {
        // Those that are just being loaded too: what is taken back here stays so.
        for (lineage, slot) in self.lineages.newest_first() {
            if let Some(kept) = self.store.lineage(&lineage).await? {
                slot.state().reload(&kept);
            }
        }
        Ok(())
    }
}

/// Text that is said from now on.
pub(super) struct CommittedText {
    block: Bytes,
    /// Memories it quotes.
    memories: Vec<TaskId>,
    /// Whose text it is.
    sources: Vec<Arc<dyn ContextSource>>,
}

/// The texts as one text block, byte for byte as it is sent.
pub(super) fn block_of(texts: &[Redacted]) -> Redacted {
    Redacted::joined(texts, "\n").in_json(r#"{"text":"#, r#","type":"text"}"#)
}

pub(super) fn model(index: &RequestIndex) -> String {
    index.model().unwrap_or_default().into_owned()
}
