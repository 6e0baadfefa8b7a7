//! State shared by all requests: lineages, the store, the switches.

use super::cache_use::CacheUse;
use super::late::{SourcedText, TakenTexts, ask_again};
use super::ledger_writer::{LedgerUpdate, LedgerWriter};
use super::lineage_state::{Decision, history_key};
use super::policy::ContextEdits;
use super::slot::{Loading, Slot};
use super::{ContextSource, Counters, InjectionPoint, LedgerBackend};
use crate::project_locator::ProjectLocator;
use crate::session_cache::SessionCache;
use crate::store_watcher::StoreWatcher;
use bytes::Bytes;
use futures_util::future::join_all;
use grov_domain::{
    Clock, LedgerEntry, LedgerLineage, Lineage, LineageCuts, NewLineage, Redacted, StoreError, SystemClock,
    TaskId,
};
use grov_proxy_core::MessagesRequest;
use grov_wire::{Key128, RequestIndex};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use time::OffsetDateTime;
use tokio::sync::watch;

/// How long a request waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeouts {
    /// For its directory to be resolved.
    pub(crate) locate: Duration,
    /// For the earlier texts of its lineage to be loaded. Without them the cached prompt is billed again, which costs
    /// more than the wait.
    pub(crate) load: Duration,
    /// The same for a large request while contexts are cleared: sent whole, it may exceed the model's window.
    pub(crate) load_large: Duration,
    /// For new text. Less than the limit of all policies together, so that stored text can still be added.
    pub(crate) text: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            locate: Duration::from_millis(20),
            load: Duration::from_secs(1),
            load_large: Duration::from_secs(10),
            text: Duration::from_millis(8),
        }
    }
}

/// Requests of a lineage that wait for its directory, so that a file system that hangs does not delay all of them.
const MAX_LOOKUPS: u8 = 5;

/// Lineages in memory. Evicted lineages are loaded again when needed.
pub(super) const MAX_LINEAGES: usize = 512;

pub(super) struct Shared {
    pub(super) timeouts: Timeouts,
    pub(super) store: Arc<dyn LedgerBackend>,
    pub(super) sources: Vec<Arc<dyn ContextSource>>,
    pub(super) edits: ContextEdits,
    pub(super) cache_use: CacheUse,
    pub(super) writer: LedgerWriter,
    pub(super) counters: Arc<Counters>,
    pub(super) projects: ProjectLocator,
    pub(super) lineages: SessionCache<Lineage, Slot>,
    pub(super) watcher: StoreWatcher,
}

impl Shared {
    pub(super) fn slot(&self, lineage: &Lineage) -> Arc<Slot> {
        self.lineages.get_or_create(lineage, Slot::default, |_| true)
    }

    /// Resolves the project of a lineage, once.
    pub(super) async fn locate(&self, slot: &Slot, request: &MessagesRequest) {
        if slot.location.get().is_some() || slot.lookups.load(Ordering::Relaxed) >= MAX_LOOKUPS {
            return;
        }
        slot.lookups.fetch_add(1, Ordering::Relaxed);
        let Some(directory) = ProjectLocator::directory(request) else {
            return;
        };
        // Without a project, no new text is added.
        let located = tokio::time::timeout(self.timeouts.locate, self.projects.locate(&directory)).await;
        match located {
            Ok(Some(location)) => {
                // A concurrent request may have set it.
                let _ = slot.location.set(location);
            }
            Ok(None) | Err(_) => {
                self.counters.not_located.increment();
                tracing::debug!(
                    directory,
                    "a directory was not resolved in time; no new text is added"
                );
            }
        }
    }

    /// Loads the stored decisions of a lineage.
    pub(super) async fn load(&self, slot: &Slot, new: &NewLineage) {
        // Also sent if this future is dropped.
        let mut outcome = scopeguard::guard(Loading::NotLoaded, |outcome| {
            slot.loading.send_replace(outcome);
        });
        match self.load_or_adopt(slot, new).await {
            Ok(Some((stored, cuts))) => {
                let mut state = slot.state();
                state.load(stored);
                state.load_cuts(cuts);
                *outcome = Loading::Done;
            }
            // The next request tries again.
            Ok(None) => {}
            Err(error) => {
                slot.back_off();
                self.not_loaded(&error.to_string());
            }
        }
    }

    /// Returns the stored decisions of a lineage, which adopts those of another one if it continues its history.
    /// Returns `None` if its project is still unknown; without it, no lineage can be adopted.
    pub(super) async fn load_or_adopt(
        &self,
        slot: &Slot,
        new: &NewLineage,
    ) -> Result<Option<(LedgerLineage, LineageCuts)>, StoreError> {
        self.watcher.load().await?;
        self.cache_use.load(&*self.store).await?;
        if let Some(stored) = self.store.lineage(&new.lineage).await? {
            let cuts = self.store.cuts(&new.lineage).await?;
            return Ok(Some((stored, cuts)));
        }
        if new.history.len() <= 1 {
            // A conversation that begins continues nothing. It is stored with its first text, so that a busy database
            // does not delay its first request.
            slot.is_unstored.store(true, Ordering::Relaxed);
            return Ok(Some(Default::default()));
        }
        if new.project_path.is_empty() && slot.lookups.load(Ordering::Relaxed) < MAX_LOOKUPS {
            return Ok(None);
        }
        let adopted = self.store.adopt(new).await?;
        let cuts = self.store.cuts(&new.lineage).await?;
        Ok(Some((adopted, cuts)))
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
            "cannot load the earlier texts of this conversation; the request goes out without them"
        );
    }

    /// Asks the sources, stores their texts and sends the decision. `late` are texts for the prompt of this turn that
    /// came too late for their own injection point; those that do not go out now wait for the next one.
    pub(super) async fn decide(
        &self,
        slot: &Slot,
        key: Key128,
        point: &InjectionPoint,
        late: TakenTexts,
        sender: watch::Sender<Option<Decision>>,
    ) -> Decided {
        let late_texts = late.texts.len();
        let late_memories = late.texts.iter().filter(|late| late.source.is_memory()).count();
        let mut answers = self.ask(point, late.texts.clone()).await;
        let committed = self.commit_text(slot, key, point, &answers.texts).await;
        let block = committed.as_ref().map(|committed| committed.block.clone());
        let decision = {
            let mut state = slot.state();
            let decision = state.decide(key, block);
            if let (Some(committed), true) = (&committed, decision.is_some()) {
                state.quote(key, committed.memories.clone());
            }
            decision
        };
        if decision.is_some() {
            self.counters.added_later.add(late_texts);
            self.counters.memory_added_later.add(late_memories);
            for answer in &answers.texts {
                answer.source.delivered(point);
            }
        } else {
            slot.state().late_texts().put_back(late);
            let sources = answers.texts.iter().map(|answer| Arc::clone(&answer.source));
            answers.missed.extend(sources);
        }
        match (&committed, &decision) {
            (Some(_), Some(_)) => {}
            (Some(_), None) => {
                // The request stopped waiting and went out without the text. Written at once, because after a crash the
                // text would be repeated.
                let withdrawn = self.store.withdraw(&point.lineage, &[history_key(key)]).await;
                if withdrawn.is_err() {
                    self.writer
                        .queue(LedgerUpdate::Withdrawn(point.lineage.clone(), key));
                }
            }
            (None, _) => {}
        }
        let counter = match decision {
            Some(_) => &self.counters.added,
            None => &self.counters.nothing,
        };
        counter.increment();
        sender.send_replace(Some(decision.clone()));
        Decided {
            decision,
            missed: answers.missed,
        }
    }

    /// Prepares the texts of sources that missed the deadline for the next injection point of the same turn. Inside a tool
    /// loop no source is asked again.
    pub(super) async fn prepare_late(
        &self,
        slot: &Slot,
        key: Key128,
        point: &InjectionPoint,
        mut missed: Vec<Arc<dyn ContextSource>>,
    ) {
        missed.retain(|source| source.is_useful_later());
        if point.prompt.is_empty() || missed.is_empty() {
            return;
        }
        ask_again(missed, point, |text| {
            if text.source.is_memory() {
                self.counters.memory_late.increment();
            }
            slot.state().late_texts().keep(key, text);
        })
        .await;
    }

    /// Asks all sources that apply, concurrently, so that a slow source does not take time from the others.
    async fn ask(&self, point: &InjectionPoint, late: Vec<SourcedText>) -> Answers {
        let mut answers = Answers {
            texts: late,
            missed: Vec::new(),
        };
        let deadline = tokio::time::Instant::from_std(point.deadline);
        let applicable = self.sources.iter().filter(|source| source.applies(point));
        let is_asked = applicable.clone().any(|source| source.is_memory());
        self.counters.memory_asked.add(usize::from(is_asked));
        let (slow, quick): (Vec<_>, Vec<_>) =
            applicable.partition(|source| source.answers_within().is_some());
        answers.missed.extend(slow.into_iter().map(Arc::clone));
        let asked = quick.into_iter().map(async |source| {
            let answer = tokio::time::timeout_at(deadline, source.context(point)).await;
            (Arc::clone(source), answer)
        });
        for (source, answer) in join_all(asked).await {
            match answer {
                Ok(Some(text)) => answers.texts.push(SourcedText { source, text }),
                Ok(None) => {}
                Err(_) => {
                    self.counters.late.increment();
                    tracing::debug!(
                        source = source.name(),
                        "a source took too long; its text is not in this request"
                    );
                    answers.missed.push(source);
                }
            }
        }
        answers
    }

    /// Returns the block to add, or `None` if there is no text or it could not be stored in time.
    async fn commit_text(
        &self,
        slot: &Slot,
        key: Key128,
        point: &InjectionPoint,
        answers: &[SourcedText],
    ) -> Option<CommittedText> {
        if answers.is_empty() {
            return None;
        }
        let texts: Vec<Redacted> = answers.iter().map(|answer| answer.text.text.clone()).collect();
        let memories = answers.iter().flat_map(|answer| &answer.text.memories);
        let memories: Vec<TaskId> = memories.cloned().collect();
        let block = block_of(&texts);
        let entry = LedgerEntry {
            anchor: history_key(key),
            block: Some(block.clone()),
            memories: memories.clone(),
            decided_at: SystemClock.now(),
        };
        match self.commit(slot, point, &entry).await {
            Ok(true) => {
                return Some(CommittedText {
                    block: Bytes::from(block.into_inner()),
                    memories,
                });
            }
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, "cannot store the text for a request; nothing is added"),
        }
        self.counters.not_kept.increment();
        None
    }

    /// Stores a decision, and its lineage if that is new. Returns whether it was stored before the deadline.
    async fn commit(
        &self,
        slot: &Slot,
        point: &InjectionPoint,
        entry: &LedgerEntry<Redacted>,
    ) -> Result<bool, StoreError> {
        self.ensure_stored(slot, &point.lineage, entry.decided_at).await?;
        self.store.decide(&point.lineage, entry, point.deadline).await
    }

    /// Stores a lineage that is not stored yet.
    pub(super) async fn ensure_stored(
        &self,
        slot: &Slot,
        lineage: &Lineage,
        at: OffsetDateTime,
    ) -> Result<(), StoreError> {
        if slot.is_unstored.load(Ordering::Relaxed) {
            let new = NewLineage {
                lineage: lineage.clone(),
                project_path: slot.project_path(),
                // Stored with the request's tip.
                model: String::new(),
                history: Vec::new(),
                at,
            };
            self.store.adopt(&new).await?;
            slot.is_unstored.store(false, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Applies changes of other processes: switches and forgotten memories.
    pub(super) async fn follow_revision(&self) {
        loop {
            self.watcher.changed().await;
            while let Err(error) = self.reload().await {
                tracing::warn!(%error, "cannot apply changes of other processes yet; retrying");
                // Switches are followed meanwhile.
                self.watcher.changed_within_interval().await;
            }
        }
    }

    /// Withdraws blocks that were withdrawn in the store.
    pub(super) async fn reload(&self) -> Result<(), StoreError> {
        // Includes lineages that are being loaded: a withdrawn decision wins over a loaded one.
        let mut outcome = Ok(());
        for (lineage, slot) in self.lineages.newest_first() {
            match self.store.lineage(&lineage).await {
                Ok(Some(stored)) => {
                    slot.state().reload(&stored);
                    match self.store.cuts(&lineage).await {
                        Ok(cuts) => slot.state().reload_cuts(cuts),
                        Err(error) => outcome = outcome.and(Err(error)),
                    }
                }
                Ok(None) => slot.state().late_texts().clear(),
                // One unreadable lineage must not keep others from being withdrawn.
                Err(error) => outcome = outcome.and(Err(error)),
            }
        }
        outcome
    }
}

/// A stored block.
pub(super) struct CommittedText {
    block: Bytes,
    /// The memories quoted in it.
    memories: Vec<TaskId>,
}

/// The answers of the sources at an injection point.
struct Answers {
    texts: Vec<SourcedText>,
    /// Sources that did not answer before the deadline.
    missed: Vec<Arc<dyn ContextSource>>,
}

/// A decision.
pub(super) struct Decided {
    pub(super) decision: Decision,
    /// Sources whose text did not go out, because it came too late or could not be stored.
    pub(super) missed: Vec<Arc<dyn ContextSource>>,
}

/// Joins the texts to one text block, byte for byte as it is sent.
pub(super) fn block_of(texts: &[Redacted]) -> Redacted {
    Redacted::joined(texts, "\n").in_json(r#"{"text":"#, r#","type":"text"}"#)
}

pub(super) fn model(index: &RequestIndex) -> String {
    index.model().unwrap_or_default().into_owned()
}
