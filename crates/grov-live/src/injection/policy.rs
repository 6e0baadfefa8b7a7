//! The policy: what was said before is said again, and sources are asked for new text.

use super::cache_window::CacheWindow;
use super::ledger_writer::{LedgerUpdate, LedgerWriter, LedgerWriterTask};
use super::lineage_state::{CachedPrefix, Decision, Place, history_key};
use super::shared::{MAX_LINEAGES, Shared, Timeouts, model};
use super::slot::{Loading, Slot};
use super::{ContextSource, Counters, InjectionPoint, LedgerBackend, ToolResult};
use crate::identity::Identity;
use crate::project_locator::ProjectLocator;
use crate::prompts;
use crate::session_cache::SessionCache;
use crate::store_watcher::StoreWatcher;
use async_trait::async_trait;
use grov_domain::{ExchangeKind, HistoryKey, Lineage, LineageTip, OWN_TEXT_OPENING, SideRequest};
use grov_proxy_core::MessagesRequest;
use grov_proxy_core::RequestPolicy;
use grov_wire::{Edit, Key128, Link, RequestIndex, Role, Skeleton};
use scopeguard::ScopeGuard;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

/// Decisions that may wait to be begun.
const MAX_JOBS: usize = 256;

/// Says again what was said, and asks sources for what is new.
pub struct Injection {
    pub(super) shared: Arc<Shared>,
    jobs: mpsc::Sender<Job>,
}

/// The work behind [`Injection`], to be run beside the proxy.
pub struct InjectionWorker {
    shared: Arc<Shared>,
    jobs: mpsc::Receiver<Job>,
    writing: LedgerWriterTask,
}

/// A decision to be made.
type Job = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What is kept with a request between the calls of the policy.
#[derive(Clone)]
struct Prepared {
    slot: Arc<Slot>,
    lineage: Lineage,
    /// The newest place was decided when the replay was put together, so the replay has it.
    newest_is_replayed: bool,
    /// Injection points whose blocks this request adds to the prompt cache, if it is accepted.
    caches: Vec<Key128>,
    /// The prefix that it caches then.
    prefix: Option<CachedPrefix>,
    /// The place that was decided for this request.
    decided_here: Option<Key128>,
}

impl Prepared {
    /// Where the lineage stands with this request.
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
    /// The policy, and the work to be run. Sources are asked in this order, and what they say stands in this order.
    pub fn new(
        store: Arc<dyn LedgerBackend>,
        sources: Vec<Arc<dyn ContextSource>>,
    ) -> (Self, InjectionWorker) {
        Self::within(Timeouts::default(), store, sources)
    }

    /// The same with other timeouts.
    pub(super) fn within(
        timeouts: Timeouts,
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
            writer,
            counters,
            places: ProjectLocator::default(),
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

    /// What is counted.
    pub fn counters(&self) -> Arc<Counters> {
        Arc::clone(&self.shared.counters)
    }
}

impl InjectionWorker {
    /// Serves until `stop` resolves; notes that wait are then still written.
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
                        tracing::error!("a source of context panicked; nothing is said at that place");
                    },
                    // Nobody asks any more, and nothing is under way.
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
        let lineage = identity.lineage();
        let slot = self.shared.slot(&lineage);
        self.shared.locate(&slot, request).await;
        if self.is_loaded(&slot, &lineage, request).await {
            request.extensions().insert(Prepared {
                slot: Arc::clone(&slot),
                lineage,
                newest_is_replayed: false,
                caches: Vec::new(),
                prefix: None,
                decided_here: None,
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
        let replay = prepared.slot.state().replay(index, skeleton);
        let counters = &self.shared.counters;
        for key in replay.withdrawn {
            counters.withdrawn.increment();
            self.shared
                .writer
                .note(LedgerUpdate::Withdrawn(prepared.lineage.clone(), key));
        }
        counters.repeated.add(replay.edits.len());
        prepared.newest_is_replayed = replay.newest_is_decided;
        (prepared.caches, prepared.prefix) = (replay.caches, replay.prefix);
        request.extensions().insert(prepared);
        replay.edits
    }

    async fn propose(&self, request: &MessagesRequest) -> Vec<Edit> {
        let Some(prepared) = prepared(request) else {
            return Vec::new();
        };
        let kind = Identity::of(request).kind;
        let (Some(index), Some(skeleton)) = (request.index(), request.skeleton()) else {
            return Vec::new();
        };
        let newest = skeleton.newest_user_link();
        let outcome = match newest {
            Some(link) if kind == ExchangeKind::Main && !prepared.newest_is_replayed => {
                self.open(request, index, link, &prepared)
            }
            _ => Opened::Known(None),
        };
        if kind.is_turn() || skeleton.tip_at_last_assistant().is_some() {
            let nothing_at = match (&outcome, newest) {
                (Opened::Nothing, Some(link)) => vec![history_key(link.key)],
                _ => Vec::new(),
            };
            let tip = skeleton.tip_at_last_assistant();
            let model = index.model().unwrap_or_default();
            // A request that is repeated says nothing new.
            if prepared.slot.state().has_moved(tip, &model) || !nothing_at.is_empty() {
                let tip = prepared.tip(request, tip.map(history_key), nothing_at);
                self.shared.writer.note(LedgerUpdate::Tip(tip));
            }
        }
        let (Some(link), slot) = (newest, &prepared.slot) else {
            return Vec::new();
        };
        let (decision, is_new) = match outcome {
            Opened::Nothing => (None, false),
            Opened::Known(decision) => (decision, false),
            Opened::Waiting(told) => (self.wait(told, link.key, &prepared).await, true),
        };
        let Some(block) = decision else {
            return Vec::new();
        };
        slot.state().sent(index, link);
        if is_new && let Some(prepared) = request.extensions().get_mut::<Prepared>() {
            prepared.decided_here = Some(link.key);
        }
        vec![Edit::Insert {
            at: link.insertion_point(),
            bytes: block,
        }]
    }

    fn untouched(&self, request: &MessagesRequest) {
        let Some(prepared) = prepared(request) else {
            return;
        };
        if let Some(key) = prepared.decided_here {
            prepared.slot.state().take_back(key);
            for source in &self.shared.sources {
                source.withdrawn(&prepared.lineage);
            }
            self.shared
                .writer
                .note(LedgerUpdate::Withdrawn(prepared.lineage, key));
        }
    }

    fn accepted(&self, request: &MessagesRequest) {
        if let Some(prepared) = prepared(request) {
            prepared.slot.state().cached(&prepared.caches, prepared.prefix);
        }
    }

    fn refused(&self, request: &MessagesRequest) {
        let Some(prepared) = prepared(request) else {
            return;
        };
        prepared.slot.state().bar();
        if prepared.decided_here.is_some() {
            // The original went out in its place.
            for source in &self.shared.sources {
                source.withdrawn(&prepared.lineage);
            }
        }
        self.shared.writer.note(LedgerUpdate::Barred(prepared.lineage));
    }
}

/// What came of looking at the newest place.
enum Opened {
    /// It was decided before.
    Known(Decision),
    /// There is nobody to ask: nothing is said here.
    Nothing,
    /// It is being decided.
    Waiting(watch::Receiver<Option<Decision>>),
}

impl Injection {
    /// Brings what was kept of a lineage into memory, and waits for it a while. Loading is work of its own, which goes on
    /// when nobody waits any more.
    async fn is_loaded(&self, slot: &Arc<Slot>, lineage: &Lineage, request: &MessagesRequest) -> bool {
        let mut loading = slot.loading.subscribe();
        if *loading.borrow() == Loading::Done {
            return true;
        }
        let begins = slot.loading.send_if_modified(|state| {
            let begins = *state == Loading::No;
            *state = if begins { Loading::UnderWay } else { *state };
            begins
        });
        if begins {
            let (shared, slot, new) = (
                Arc::clone(&self.shared),
                Arc::clone(slot),
                self.shared.new_lineage(slot, lineage, request),
            );
            let done = slot.clone();
            let job = Box::pin(async move { shared.load(&slot, &new).await });
            if self.jobs.try_send(job).is_err() {
                done.loading.send_replace(Loading::No);
            }
        }
        if slot.waits_no_more() {
            return false;
        }
        let waiting = loading.wait_for(|state| *state != Loading::UnderWay);
        match tokio::time::timeout(self.shared.timeouts.load, waiting).await {
            Ok(ended) => ended.is_ok_and(|state| *state == Loading::Done),
            Err(_) => {
                slot.wait_no_more();
                self.shared.not_loaded("the store did not answer in time");
                false
            }
        }
    }

    /// Sees to it that the newest place is decided.
    fn open(
        &self,
        request: &MessagesRequest,
        index: &RequestIndex,
        link: &Link,
        prepared: &Prepared,
    ) -> Opened {
        let slot = &prepared.slot;
        let place = {
            let mut state = slot.state();
            if state.is_barred() {
                return Opened::Known(None);
            }
            state.place(link.key)
        };
        let sender = match place {
            Place::Decided(decision) => return Opened::Known(decision),
            Place::Deciding(told) => return Opened::Waiting(told),
            Place::Open(sender) => sender,
        };
        let Some(point) = self.point(request, index, link, prepared) else {
            self.shared.counters.nothing.increment();
            sender.send_replace(Some(slot.state().decide(link.key, None)));
            return Opened::Nothing;
        };
        let told = sender.subscribe();
        let stood_at = request.skeleton().and_then(Skeleton::tip_at_last_assistant);
        let note = prepared.tip(request, stood_at.map(history_key), vec![history_key(link.key)]);
        let shared = Arc::clone(&self.shared);
        let (slot, key) = (Arc::clone(slot), link.key);
        // Not on this request's own time: when it can wait no longer, what was kept has to be taken back.
        let job = Box::pin(async move {
            if shared.decide(&slot, key, &point, sender).await.is_none() {
                shared.writer.note(LedgerUpdate::Tip(note));
            }
        });
        if self.jobs.try_send(job).is_err() {
            // The sender is gone with the job, so whoever waits hears of it.
            self.shared.counters.late.increment();
        }
        Opened::Waiting(told)
    }

    /// The decision that somebody is about to make.
    async fn wait(
        &self,
        mut told: watch::Receiver<Option<Decision>>,
        key: Key128,
        prepared: &Prepared,
    ) -> Decision {
        let Prepared { slot, lineage, .. } = prepared;
        // A request that stops waiting goes out without the text, so no later request may have it.
        let gave_up = scopeguard::guard((), |()| {
            self.shared.counters.late.increment();
            slot.state().decide(key, None);
        });
        let decision = told
            .wait_for(Option::is_some)
            .await
            .ok()
            .and_then(|told| told.clone());
        ScopeGuard::into_inner(gave_up);
        // One that is never told is "nothing", for good.
        decision.unwrap_or_else(|| {
            self.shared
                .writer
                .note(LedgerUpdate::Withdrawn(lineage.clone(), key));
            slot.state().decide(key, None)
        })
    }

    /// The point, if there is one: somebody to ask, a project, and room.
    fn point(
        &self,
        request: &MessagesRequest,
        index: &RequestIndex,
        link: &Link,
        prepared: &Prepared,
    ) -> Option<InjectionPoint> {
        let location = prepared.slot.location()?;
        let (session, project) = (&prepared.lineage.session, location.project.key());
        if self.shared.watcher.is_switched_off(session, project) || has_own_text(index) {
            return None;
        }
        let prompts: Vec<String> = prompts::newest(request)
            .into_iter()
            .map(|prompt| prompt.text)
            .collect();
        let point = InjectionPoint {
            lineage: prepared.lineage.clone(),
            location,
            prompt: prompts.join("\n"),
            answered: answered(index),
            begins: prompts::begins(index),
            body: request.body().clone(),
            quoted: prepared.slot.state().quoted_in(request.skeleton()?),
            deadline: Instant::now() + self.shared.timeouts.text,
        };
        let applies = self.shared.sources.iter().any(|source| source.applies(&point));
        (applies && CacheWindow::of(index, link).allows_new()).then_some(point)
    }
}

fn prepared(request: &MessagesRequest) -> Option<Prepared> {
    request.extensions().get::<Prepared>().cloned()
}

/// Whether requests of this kind carry the history of a lineage.
fn shares_history(kind: ExchangeKind) -> bool {
    match kind {
        ExchangeKind::Main | ExchangeKind::Subagent => true,
        ExchangeKind::Side(side) => matches!(side, SideRequest::Suggestion | SideRequest::Compaction),
    }
}

/// The tool calls that the newest message brings the results of.
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

/// Whether the newest turn holds text of ours already: a hook put it there.
fn has_own_text(index: &RequestIndex) -> bool {
    let newest = index
        .messages()
        .rev()
        .take_while(|message| message.role() != Role::Assistant);
    newest
        .flat_map(|message| message.texts())
        .any(|text| text.contains(OWN_TEXT_OPENING))
}
