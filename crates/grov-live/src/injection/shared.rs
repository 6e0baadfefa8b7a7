//! What all requests share: the lineages, the store, the switches.

use super::ledger_writer::{LedgerUpdate, LedgerWriter};
use super::lineage_state::{Decision, history_key};
use super::slot::{Loading, LoadingGuard, Slot};
use super::{ContextSource, ContextText, Counters, InjectionPoint, LedgerBackend};
use crate::project_locator::{Location, ProjectLocator};
use bytes::Bytes;
use futures_util::future::join_all;
use grov_domain::{
    ClientSessionId, Clock, LedgerEntry, LedgerLineage, Lineage, NewLineage, Redacted, StoreError,
    SwitchScope, SystemClock, TaskId,
};
use grov_proxy_core::MessagesRequest;
use grov_wire::{Key128, RequestIndex};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{OnceCell, watch};

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
const MAX_LINEAGES: usize = 512;

/// Pause between two looks whether another process changed what is held here.
const REVISION_PAUSE: Duration = Duration::from_secs(1);

pub(super) struct Shared {
    pub(super) timeouts: Timeouts,
    pub(super) store: Arc<dyn LedgerBackend>,
    pub(super) sources: Vec<Arc<dyn ContextSource>>,
    pub(super) writer: LedgerWriter,
    pub(super) counters: Arc<Counters>,
    pub(super) places: ProjectLocator,
    pub(super) lineages: Mutex<HashMap<Lineage, Arc<Slot>>>,
    /// Counts uses, to tell which lineage was used least recently.
    pub(super) uses: AtomicU64,
    pub(super) switched_off: Mutex<HashSet<SwitchScope>>,
    /// The revision of the store that `switched_off` and the lineages stand for; `None` before the first look.
    pub(super) revision: OnceCell<Mutex<i64>>,
}

impl Shared {
    pub(super) fn slot(&self, lineage: &Lineage) -> Arc<Slot> {
        let now = self.uses.fetch_add(1, Ordering::Relaxed);
        let mut lineages = self.lineages.lock().unwrap_or_else(PoisonError::into_inner);
        if lineages.len() >= MAX_LINEAGES && !lineages.contains_key(lineage) {
            let mut uses: Vec<u64> = lineages
                .values()
                .map(|slot| slot.used.load(Ordering::Relaxed))
                .collect();
            uses.sort_unstable();
            let oldest = uses.get(MAX_LINEAGES / 4).copied().unwrap_or(now);
            // One that a request holds right now stays: there must not be two of it.
            lineages
                .retain(|_, slot| slot.used.load(Ordering::Relaxed) > oldest || Arc::strong_count(slot) > 1);
        }
        let slot = lineages.entry(lineage.clone()).or_default();
        slot.used.store(now, Ordering::Relaxed);
        Arc::clone(slot)
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
                self.counters.not_located.fetch_add(1, Ordering::Relaxed);
                tracing::debug!(
                    directory,
                    "a directory was not looked at in time; nothing new is said"
                );
            }
        }
    }

    /// Brings what was kept of a lineage into memory.
    pub(super) async fn load(&self, slot: &Slot, new: &NewLineage) {
        // Also where this is broken off.
        let mut ends = LoadingGuard {
            loading: &slot.loading,
            state: Loading::No,
        };
        match self.kept(slot, new).await {
            Ok(Some(kept)) => {
                slot.state().load(kept);
                ends.state = Loading::Done;
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
        self.revision().await?;
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

    /// The revision that is followed; read at the first call.
    pub(super) async fn revision(&self) -> Result<&Mutex<i64>, StoreError> {
        let first = || async { self.look_at_switches().await.map(Mutex::new) };
        self.revision.get_or_try_init(first).await
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
        self.counters.not_loaded.fetch_add(1, Ordering::Relaxed);
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
        counter.fetch_add(1, Ordering::Relaxed);
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
                    self.counters.late.fetch_add(1, Ordering::Relaxed);
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
                self.counters.not_kept.fetch_add(1, Ordering::Relaxed);
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
                self.counters.not_kept.fetch_add(1, Ordering::Relaxed);
                None
            }
            Err(error) => {
                self.counters.not_kept.fetch_add(1, Ordering::Relaxed);
                tracing::warn!(%error, "nothing was said: it could not be kept");
                None
            }
        }
    }

    pub(super) fn is_switched_off(&self, session: &ClientSessionId, location: &Location) -> bool {
        let off = self.switched_off.lock().unwrap_or_else(PoisonError::into_inner);
        !off.is_empty()
            && (off.contains(&SwitchScope::Session(session.clone()))
                || off.contains(&SwitchScope::Project(location.project.key().to_owned())))
    }

    /// Reads the switches; the revision they stand for.
    pub(super) async fn look_at_switches(&self) -> Result<i64, StoreError> {
        // The number first: what changes in between is looked at again.
        let revision = self.store.revision().await?;
        let off = self.store.switched_off().await?;
        *self.switched_off.lock().unwrap_or_else(PoisonError::into_inner) = off.into_iter().collect();
        Ok(revision)
    }

    /// Takes over what other processes change: switches, and memories that were forgotten.
    pub(super) async fn follow_revision(&self) {
        loop {
            tokio::time::sleep(REVISION_PAUSE).await;
            let Some(known) = self.revision.get() else {
                continue;
            };
            let last = *known.lock().unwrap_or_else(PoisonError::into_inner);
            match self.store.revision().await {
                Ok(revision) if revision != last => {}
                Ok(_) => continue,
                Err(error) => {
                    tracing::debug!(%error, "the store's revision cannot be read; trying again");
                    continue;
                }
            }
            let looked = async {
                let revision = self.look_at_switches().await?;
                self.reload().await?;
                Ok::<_, StoreError>(revision)
            };
            match looked.await {
                Ok(revision) => *known.lock().unwrap_or_else(PoisonError::into_inner) = revision,
                Err(error) => {
                    tracing::warn!(%error, "changes made elsewhere are not followed yet; trying again")
                }
            }
        }
    }

    /// Takes out of memory what the store holds no more.
    pub(super) async fn reload(&self) -> Result<(), StoreError> {
        let lineages: Vec<(Lineage, Arc<Slot>)> = {
            let lineages = self.lineages.lock().unwrap_or_else(PoisonError::into_inner);
            // Those that are just being loaded too: what is taken back here stays so.
            lineages
                .iter()
                .map(|(lineage, slot)| (lineage.clone(), Arc::clone(slot)))
                .collect()
        };
        for (lineage, slot) in lineages {
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
