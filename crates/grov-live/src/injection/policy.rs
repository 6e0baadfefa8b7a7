//! The policy that repeats earlier texts and adds new ones.

use super::cache_use::{CacheUse, CachedConversation};
use super::cache_window::CacheWindow;
use super::clearing::{ClearSettings, ContextClearing};
use super::history::{Beginning, History};
use super::late::TakenTexts;
use super::ledger_writer::{LedgerUpdate, LedgerWriter, LedgerWriterTask};
use super::lineage_state::{CachedPrefix, Decision, PointState, history_key};
use super::shared::{MAX_LINEAGES, Shared, Timeouts, model};
use super::slot::{Loading, Slot};
use super::trimming;
use super::{ContextSource, Counters, InjectionPoint, LedgerBackend, ToolResult};
use crate::identity::Identity;
use crate::project_locator::ProjectLocator;
use crate::prompts;
use crate::session_cache::SessionCache;
use crate::store_watcher::StoreWatcher;
use async_trait::async_trait;
use grov_domain::{
    ClientDialect, CutNote, ExchangeKind, HistoryKey, Lineage, LineageTip, OWN_TEXT_OPENING, SideRequest,
};
use grov_proxy_core::MessagesRequest;
use grov_proxy_core::RequestPolicy;
use grov_wire::{Edit, Key128, Link, RequestIndex, Role, Skeleton};
use scopeguard::ScopeGuard;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use time::OffsetDateTime;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

/// From this size on, in bytes, a conversation may have been cleared: about 100,000 tokens.
const LARGE_BODY: usize = 400 * 1024;

/// The pause before a lineage that could not be loaded is loaded again for the same request.
const LOAD_RETRY: Duration = Duration::from_millis(100);

/// Decisions that may wait to start.
const MAX_JOBS: usize = 256;

/// Which parts of histories are left out. What was left out once stays out, whatever the settings are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextEdits {
    /// Apply the cuts that [`ContextClearing`] decides.
    pub clear: bool,
    /// Replace results of tools whose content is repeated later, when the prompt cache is cold.
    pub trim: bool,
}

/// The request policy of the ledger: repeats earlier texts and asks sources for new ones.
pub struct Injection {
    pub(super) shared: Arc<Shared>,
    jobs: mpsc::Sender<Job>,
}

/// The background work of an [`Injection`].
pub struct InjectionWorker {
    shared: Arc<Shared>,
    jobs: mpsc::Receiver<Job>,
    writing: LedgerWriterTask,
}

/// A decision in progress.
pub(super) type Job = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The state of a request between the calls of the policy.
#[derive(Clone)]
pub(super) struct Prepared {
    pub(super) slot: Arc<Slot>,
    pub(super) lineage: Lineage,
    /// When the request arrived.
    arrived: Instant,
    /// How the history begins as it is sent.
    pub(super) beginning: Beginning,
    /// Whether an earlier request of the history came through Grov.
    pub(super) is_known: bool,
    /// Whether the replay includes the decision for the newest injection point.
    newest_is_replayed: bool,
    /// Injection points whose blocks this request adds to the prompt cache, if it is accepted.
    caches: Vec<Key128>,
    /// The prefix that this request caches, if it is accepted.
    prefix: Option<CachedPrefix>,
    /// The injection point whose text this request adds for the first time.
    added_here: Option<Key128>,
    /// The tool calls whose results this request replaces for the first time.
    trimmed_here: Vec<String>,
}

impl Prepared {
    /// Records that the prompt cache of this conversation was in use until `at`.
    pub(super) fn note_cache_use(&self, shared: &Shared, request: &MessagesRequest, at: OffsetDateTime) {
        if let Some(conversation) = conversation(request) {
            shared.cache_use.used(conversation, at);
        }
    }

    /// Returns the tip of the lineage at this request.
    fn tip(
        &self,
        request: &MessagesRequest,
        tip: Option<HistoryKey>,
        nothing_at: Vec<HistoryKey>,
    ) -> LineageTip {
        LineageTip {
            lineage: self.lineage.clone(),
            project_path: self.slot.project_path(),
            model: request.index().map(model).unwrap_or_default(),
            tip,
            nothing_at,
            at: request.received_at(),
        }
    }
}

impl Injection {
    /// Creates a policy and its background work. Texts are added in the order of `sources`.
    pub fn new(
        store: Arc<dyn LedgerBackend>,
        sources: Vec<Arc<dyn ContextSource>>,
    ) -> (Self, InjectionWorker) {
        Self::create(Timeouts::default(), ContextEdits::default(), store, sources)
    }

    /// Creates a policy that also leaves out parts of histories.
    pub fn with_context_edits(
        edits: ContextEdits,
        store: Arc<dyn LedgerBackend>,
        sources: Vec<Arc<dyn ContextSource>>,
    ) -> (Self, InjectionWorker) {
        Self::create(Timeouts::default(), edits, store, sources)
    }

    /// Returns the observer that decides when the context of a conversation is cleared.
    pub fn clearing(&self, settings: ClearSettings) -> ContextClearing {
        ContextClearing::new(Arc::clone(&self.shared), self.jobs.clone(), settings)
    }

    /// Creates a policy with other timeouts.
    #[cfg(test)]
    pub(crate) fn with_timeouts(
        timeouts: Timeouts,
        store: Arc<dyn LedgerBackend>,
        sources: Vec<Arc<dyn ContextSource>>,
    ) -> (Self, InjectionWorker) {
        Self::create(timeouts, ContextEdits::default(), store, sources)
    }

    /// Creates a policy with other timeouts that leaves out parts of histories.
    #[cfg(test)]
    pub(crate) fn for_tests(
        timeouts: Timeouts,
        edits: ContextEdits,
        store: Arc<dyn LedgerBackend>,
        sources: Vec<Arc<dyn ContextSource>>,
    ) -> (Self, InjectionWorker) {
        Self::create(timeouts, edits, store, sources)
    }

    fn create(
        timeouts: Timeouts,
        edits: ContextEdits,
        store: Arc<dyn LedgerBackend>,
        sources: Vec<Arc<dyn ContextSource>>,
    ) -> (Self, InjectionWorker) {
        let counters = Arc::new(Counters::default());
        let (writer, writing) = LedgerWriter::new(Arc::clone(&store), Arc::clone(&counters));
        let watcher = StoreWatcher::new(Arc::clone(&store) as Arc<_>);
        let shared = Arc::new(Shared {
            timeouts,
            store,
            sources,
            edits,
            cache_use: CacheUse::default(),
            writer,
            counters,
            projects: ProjectLocator::default(),
            lineages: SessionCache::new(MAX_LINEAGES),
            watcher,
        });
        let (sender, jobs) = mpsc::channel(MAX_JOBS);
        let work = InjectionWorker {
            shared: Arc::clone(&shared),
            jobs,
            writing,
        };
        (Self { shared, jobs: sender }, work)
    }

    /// Returns the counters.
    pub fn counters(&self) -> Arc<Counters> {
        Arc::clone(&self.shared.counters)
    }
}

impl InjectionWorker {
    /// Runs until `stop` resolves, then writes queued updates.
    pub async fn run(self, stop: impl Future<Output = ()> + Send) {
        let Self {
            shared,
            mut jobs,
            writing,
        } = self;
        let mut running: JoinSet<()> = JoinSet::new();
        let deciding = async {
            loop {
                tokio::select! {
                    Some(job) = jobs.recv() => {
                        running.spawn(job);
                    }
                    Some(ended) = running.join_next() => if ended.is_err() {
                        tracing::error!("a context source panicked; nothing is added to the request");
                    },
                    else => std::future::pending().await,
                }
            }
        };
        tokio::select! {
            () = writing.run(stop) => {}
            () = shared.follow_revision() => {}
            () = deciding => {}
        }
    }
}

#[async_trait]
impl RequestPolicy for Injection {
    fn name(&self) -> &'static str {
        "injection"
    }

    async fn prepare(&self, request: &MessagesRequest) {
        let identity = Identity::of(request);
        if !identity.session_is_named || !shares_history(identity.kind) {
            return;
        }
        let arrived = Instant::now();
        self.shared.cache_use.arrived(request.received_at());
        let lineage = identity.lineage();
        let slot = self.shared.slot(&lineage);
        self.shared.locate(&slot, request).await;
        if self.ensure_loaded(&slot, &lineage, request).await {
            let is_known = slot.state().is_known();
            request.extensions().insert(Prepared {
                slot: Arc::clone(&slot),
                lineage,
                arrived,
                beginning: Beginning::default(),
                is_known,
                newest_is_replayed: false,
                caches: Vec::new(),
                prefix: None,
                added_here: None,
                trimmed_here: Vec::new(),
            });
        }
    }

    fn replay(&self, request: &MessagesRequest) -> Vec<Edit> {
        let Some(mut prepared) = prepared(request) else {
            return Vec::new();
        };
        let (Some(index), Some(skeleton)) = (request.index(), request.skeleton()) else {
            return Vec::new();
        };
        let may_start_cut = self.shared.edits.clear
            && Identity::of(request).kind == ExchangeKind::Main
            && !self.is_switched_off(&prepared);
        let replay = prepared.slot.state().replay(index, skeleton, may_start_cut);
        let counters = &self.shared.counters;
        if let Some(key) = replay.started_cut {
            counters.cleared.increment();
            tracing::info!(session = %prepared.lineage.session, "the context is cleared");
            let note = CutNote::Applied(request.received_at());
            let update = LedgerUpdate::Cut(prepared.lineage.clone(), key, note);
            self.shared.writer.queue(update);
        }
        for key in replay.withdrawn {
            counters.withdrawn.increment();
            self.shared
                .writer
                .queue(LedgerUpdate::Withdrawn(prepared.lineage.clone(), key));
        }
        counters.repeated.add(replay.edits.len());
        prepared.newest_is_replayed = replay.newest_is_decided;
        prepared.beginning = replay.beginning;
        (prepared.caches, prepared.prefix) = (replay.caches, replay.prefix);
        request.extensions().insert(prepared);
        replay.edits
    }

    async fn propose(&self, request: &MessagesRequest) -> Vec<Edit> {
        let Some(prepared) = prepared(request) else {
            return Vec::new();
        };
        let (mut edits, trims) = tokio::join!(
            self.propose_text(request, &prepared),
            trimming::propose(&self.shared, request, &prepared)
        );
        // Only here: until then, the time limit of all policies may end this call.
        if let Some(trims) = trims {
            let contents = trims.keep();
            edits.extend(trimming::edits(request, &prepared, &contents));
            if let Some(prepared) = request.extensions().get_mut::<Prepared>() {
                prepared.trimmed_here = contents.into_keys().collect();
            }
        }
        edits
    }

    fn edits_discarded(&self, request: &MessagesRequest) {
        let Some(prepared) = prepared(request) else {
            return;
        };
        if !prepared.trimmed_here.is_empty() {
            trimming::undo(&self.shared, &prepared, prepared.trimmed_here.clone());
        }
        if let Some(key) = prepared.added_here {
            prepared.slot.state().withdraw(key);
            for source in &self.shared.sources {
                source.withdrawn(&prepared.lineage);
            }
            self.shared
                .writer
                .queue(LedgerUpdate::Withdrawn(prepared.lineage, key));
        }
    }

    fn accepted(&self, request: &MessagesRequest) {
        if let Some(prepared) = prepared(request) {
            prepared
                .slot
                .state()
                .mark_cached(&prepared.caches, prepared.prefix, prepared.beginning);
            prepared.note_cache_use(
                &self.shared,
                request,
                request.received_at() + prepared.arrived.elapsed(),
            );
        }
    }

    fn edits_rejected(&self, request: &MessagesRequest) {
        let Some(prepared) = prepared(request) else {
            return;
        };
        prepared.slot.state().disable_edits();
        if prepared.added_here.is_some() {
            // The original was sent instead.
            for source in &self.shared.sources {
                source.withdrawn(&prepared.lineage);
            }
        }
        self.shared
            .writer
            .queue(LedgerUpdate::EditsDisabled(prepared.lineage));
    }
}

impl Injection {
    /// Returns whether new edits are switched off for this conversation.
    fn is_switched_off(&self, prepared: &Prepared) -> bool {
        let (session, project) = (&prepared.lineage.session, prepared.slot.project_path());
        self.shared.watcher.is_switched_off(session, &project)
    }

    /// Returns the new text for a request.
    async fn propose_text(&self, request: &MessagesRequest, prepared: &Prepared) -> Vec<Edit> {
        let kind = Identity::of(request).kind;
        let (Some(index), Some(skeleton)) = (request.index(), request.skeleton()) else {
            return Vec::new();
        };
        let newest = skeleton.newest_user_link();
        let outcome = match newest {
            Some(link) if kind == ExchangeKind::Main && !prepared.newest_is_replayed => {
                self.start_decision(request, index, link, prepared)
            }
            _ => PointStatus::Decided(None),
        };
        if kind.is_turn() || skeleton.tip_at_last_assistant().is_some() {
            let nothing_at = match (&outcome, newest) {
                (PointStatus::Skipped, Some(link)) => vec![history_key(link.key)],
                _ => Vec::new(),
            };
            let tip = skeleton.tip_at_last_assistant();
            let model = index.model().unwrap_or_default();
            // A repeated request does not change the tip.
            if prepared.slot.state().has_moved(tip, &model) || !nothing_at.is_empty() {
                let tip = prepared.tip(request, tip.map(history_key), nothing_at);
                self.shared.writer.queue(LedgerUpdate::Tip(tip));
            }
        }
        let (Some(link), slot) = (newest, &prepared.slot) else {
            return Vec::new();
        };
        let (decision, is_new) = match outcome {
            PointStatus::Skipped => (None, false),
            PointStatus::Decided(decision) => (decision, false),
            PointStatus::Pending(receiver) => {
                (self.wait_for_decision(receiver, link.key, prepared).await, true)
            }
        };
        let Some(block) = decision else {
            return Vec::new();
        };
        let history = History::new(index, skeleton, prepared.beginning);
        slot.state().mark_sent(&history, link);
        if is_new && let Some(prepared) = request.extensions().get_mut::<Prepared>() {
            prepared.added_here = Some(link.key);
        }
        vec![Edit::insert(link.insertion_point(), block)]
    }
}

/// The state of the decision for the newest injection point.
enum PointStatus {
    /// Decided by an earlier request.
    Decided(Decision),
    /// No source applies, or there is no room. Nothing is added.
    Skipped,
    /// Being decided.
    Pending(watch::Receiver<Option<Decision>>),
}

impl Injection {
    /// Loads a lineage and waits for it within the time limit. Loading continues in the background if the request
    /// stops waiting.
    async fn ensure_loaded(&self, slot: &Arc<Slot>, lineage: &Lineage, request: &MessagesRequest) -> bool {
        if *slot.loading.borrow() == Loading::Done {
            return true;
        }
        // The client sends the history of a cleared conversation whole. Without its cut, the model's window may not hold it.
        let may_be_cleared = self.shared.edits.clear && request.body().len() >= LARGE_BODY;
        let limit = match may_be_cleared {
            true => self.shared.timeouts.load_large,
            false => self.shared.timeouts.load,
        };
        let deadline = tokio::time::Instant::now() + limit;
        let mut loading = slot.loading.subscribe();
        loop {
            self.start_loading(slot, lineage, request);
            if slot.is_backing_off() && !may_be_cleared {
                return false;
            }
            let waiting = loading.wait_for(|state| *state != Loading::InProgress);
            match tokio::time::timeout_at(deadline, waiting).await {
                Ok(Ok(state)) if *state == Loading::Done => return true,
                // After an error of the store, loading may succeed soon.
                Ok(Ok(_)) if may_be_cleared && slot.is_backing_off() => {}
                Ok(_) => return false,
                Err(_) => {
                    slot.back_off();
                    self.shared.not_loaded("the store did not answer in time");
                    return false;
                }
            }
            tokio::time::sleep(LOAD_RETRY).await;
        }
    }

    /// Loads a lineage in the background, unless that is in progress or done.
    fn start_loading(&self, slot: &Arc<Slot>, lineage: &Lineage, request: &MessagesRequest) {
        let starts = slot.loading.send_if_modified(|state| {
            let starts = *state == Loading::NotLoaded;
            *state = if starts { Loading::InProgress } else { *state };
            starts
        });
        if starts {
            let (shared, slot, new) = (
                Arc::clone(&self.shared),
                Arc::clone(slot),
                self.shared.new_lineage(slot, lineage, request),
            );
            let done = slot.clone();
            let job = Box::pin(async move { shared.load(&slot, &new).await });
            if self.jobs.try_send(job).is_err() {
                done.loading.send_replace(Loading::NotLoaded);
            }
        }
    }

    /// Starts the decision for the newest injection point, unless there is one.
    fn start_decision(
        &self,
        request: &MessagesRequest,
        index: &RequestIndex,
        link: &Link,
        prepared: &Prepared,
    ) -> PointStatus {
        let slot = &prepared.slot;
        let state = {
            let mut state = slot.state();
            if state.edits_disabled() {
                return PointStatus::Decided(None);
            }
            state.point_state(link.key)
        };
        let sender = match state {
            PointState::Decided(decision) => return PointStatus::Decided(decision),
            PointState::Deciding(receiver) => return PointStatus::Pending(receiver),
            PointState::Undecided(sender) => sender,
        };
        let Some((point, late)) = self.injection_point(request, index, link, prepared) else {
            self.shared.counters.nothing.increment();
            sender.send_replace(Some(slot.state().decide(link.key, None)));
            return PointStatus::Skipped;
        };
        let receiver = sender.subscribe();
        let loaded_tip = request.skeleton().and_then(Skeleton::tip_at_last_assistant);
        let note = prepared.tip(request, loaded_tip.map(history_key), vec![history_key(link.key)]);
        let shared = Arc::clone(&self.shared);
        let (slot, key) = (Arc::clone(slot), link.key);
        // In the background: if the request stops waiting, the stored text must be withdrawn.
        let job = Box::pin(async move {
            let decided = shared.decide(&slot, key, &point, late, sender).await;
            if decided.decision.is_none() {
                shared.writer.queue(LedgerUpdate::Tip(note));
            }
            shared.prepare_late(&slot, key, &point, decided.missed).await;
        });
        if self.jobs.try_send(job).is_err() {
            // Dropping the job drops the sender, which wakes all waiting requests.
            self.shared.counters.late.increment();
        }
        PointStatus::Pending(receiver)
    }

    /// Waits for a decision.
    async fn wait_for_decision(
        &self,
        mut receiver: watch::Receiver<Option<Decision>>,
        key: Key128,
        prepared: &Prepared,
    ) -> Decision {
        let Prepared { slot, lineage, .. } = prepared;
        // A request that stops waiting goes out without the text, so no later request may have it.
        let gave_up = scopeguard::guard((), |()| {
            self.shared.counters.late.increment();
            slot.state().decide(key, None);
        });
        let decision = receiver
            .wait_for(Option::is_some)
            .await
            .ok()
            .and_then(|receiver| receiver.clone());
        ScopeGuard::into_inner(gave_up);
        // If the sender is dropped without a decision, the decision is "nothing".
        decision.unwrap_or_else(|| {
            self.shared
                .writer
                .queue(LedgerUpdate::Withdrawn(lineage.clone(), key));
            slot.state().decide(key, None)
        })
    }

    /// Returns the injection point and late texts for it, if a source applies or there is a late text, and there is room
    /// for a block.
    fn injection_point(
        &self,
        request: &MessagesRequest,
        index: &RequestIndex,
        link: &Link,
        prepared: &Prepared,
    ) -> Option<(InjectionPoint, TakenTexts)> {
        let prompts: Vec<String> = prompts::newest(request)
            .into_iter()
            .map(|prompt| prompt.text)
            .collect();
        if !prompts.is_empty() {
            prepared.slot.state().late_texts().begin_turn(link.key);
        }
        let location = Arc::clone(prepared.slot.location.get()?);
        let (session, project) = (&prepared.lineage.session, location.project.key());
        if self.shared.watcher.is_switched_off(session, project) || has_own_text(index) {
            return None;
        }
        let skeleton = request.skeleton()?;
        let history = History::new(index, skeleton, prepared.beginning);
        let point = InjectionPoint {
            lineage: prepared.lineage.clone(),
            location,
            prompt: prompts.join("\n"),
            answered: answered(index),
            begins: prompts::begins(&ClientDialect::CLAUDE_CODE, index),
            body: request.body().clone(),
            quoted: prepared.slot.state().quoted_in(&history),
            deadline: Instant::now() + self.shared.timeouts.text,
        };
        let applies = self.shared.sources.iter().any(|source| source.applies(&point));
        if !CacheWindow::of(&history, link).has_room() {
            return None;
        }
        let mut late = prepared.slot.state().late_texts().take(skeleton);
        // Another text of this turn may have quoted the same.
        late.texts.retain(|late| !late.is_quoted(&point.quoted));
        (applies || !late.texts.is_empty()).then_some((point, late))
    }
}

pub(super) fn prepared(request: &MessagesRequest) -> Option<Prepared> {
    request.extensions().get::<Prepared>().cloned()
}

/// Returns the conversation whose prompt cache a request uses, or `None` without a history.
pub(super) fn conversation(request: &MessagesRequest) -> Option<CachedConversation> {
    Some(CachedConversation {
        first_part: request.skeleton()?.links().first()?.key,
    })
}

/// Returns whether requests of this kind contain the history of a lineage.
fn shares_history(kind: ExchangeKind) -> bool {
    match kind {
        ExchangeKind::Main | ExchangeKind::Subagent => true,
        ExchangeKind::Side(side) => matches!(side, SideRequest::Suggestion | SideRequest::Compaction),
    }
}

/// Returns the tool results in the newest message.
fn answered(index: &RequestIndex) -> Vec<ToolResult> {
    index
        .newest_results()
        .filter_map(|block| {
            Some(ToolResult {
                tool_use_id: block.tool_use_id()?.into_owned(),
                failed: block.is_error(),
            })
        })
        .collect()
}

/// Returns whether the newest turn already contains text that a hook added: in a reminder or a system message. A block that the
/// user pasted into a prompt is neither.
fn has_own_text(index: &RequestIndex) -> bool {
    let reminder = ClientDialect::CLAUDE_CODE.reminder_opening;
    let mut newest = index
        .messages()
        .rev()
        .take_while(|message| message.role() != Role::Assistant);
    newest.any(|message| {
        let is_added = |text: &str| message.role() == Role::System || text.trim_start().starts_with(reminder);
        message
            .texts()
            .any(|text| text.contains(OWN_TEXT_OPENING) && is_added(&text))
    })
}
