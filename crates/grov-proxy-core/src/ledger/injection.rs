//! The policy: what was said before is said again, and sources are asked for new text.

use super::lineage::{Decision, LineageState, Place, stored};
use super::reach::Reach;
use super::scribe::{Note, Scribe, Writing};
use super::{ContextSource, Counters, LedgerBackend, Occasion, Words};
use crate::places::{Location, Places};
use crate::policy::RequestPolicy;
use crate::prompts;
use crate::request::MessagesRequest;
use async_trait::async_trait;
use bytes::Bytes;
use grov_domain::{
    ClientSessionId, ExchangeKind, HistoryKey, LedgerEntry, LedgerLineage, Lineage, LineageTip, NewLineage,
    OWN_TEXT_OPENING, SideRequest, StoreError, SwitchScope, TaskId,
};
use grov_wire::{Edit, Key128, Link, RequestIndex, Role, text_block};
use std::collections::{HashMap, HashSet};
use std::pin::Pin;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{OnceCell, mpsc, watch};
use tokio::task::JoinSet;

/// After a request has waited in vain for what was said in its conversation before, no other does for so long.
const PAUSE_BETWEEN_WAITS: Duration = Duration::from_secs(5);

/// How long the first request of a lineage waits for what was said in it before. Missing that, the cached prompt is
/// billed again, which costs more than the wait.
const LOAD_LIMIT: Duration = Duration::from_secs(1);

/// How long a request waits for its directory to be looked at.
const LOCATE_LIMIT: Duration = Duration::from_millis(20);

/// Requests of a lineage that wait for that: a file system that does not answer must not hold up every one.
const MAX_LOOKS: u8 = 5;

/// Time for new text, a little less than all policies have together: what is kept must also be used.
const TEXT_LIMIT: Duration = Duration::from_millis(8);

/// Decisions that may wait to be begun.
const MAX_JOBS: usize = 256;

/// Lineages held in memory; the least recently used are loaded again when they come back.
const MAX_LINEAGES: usize = 512;

/// Pause between two looks whether another process changed what is held here.
const REVISION_PAUSE: Duration = Duration::from_secs(1);

/// Says again what was said, and asks sources for what is new.
pub struct Injection {
    shared: Arc<Shared>,
    jobs: mpsc::Sender<Job>,
}

/// The work behind [`Injection`], to be run beside the proxy.
pub struct InjectionWork {
    shared: Arc<Shared>,
    jobs: mpsc::Receiver<Job>,
    writing: Writing,
}

/// A decision to be made.
type Job = Pin<Box<dyn Future<Output = ()> + Send>>;

struct Shared {
    store: Arc<dyn LedgerBackend>,
    sources: Vec<Arc<dyn ContextSource>>,
    scribe: Scribe,
    counters: Arc<Counters>,
    places: Places,
    lineages: Mutex<HashMap<Lineage, Arc<Slot>>>,
    /// Counts uses, to tell which lineage was used least recently.
    uses: AtomicU64,
    switched_off: Mutex<HashSet<SwitchScope>>,
    /// The revision of the store that `switched_off` and the lineages stand for; `None` before the first look.
    revision: OnceCell<Mutex<i64>>,
}

/// Whether what was kept of a lineage is in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Loading {
    /// It is not, and nobody is at it.
    #[default]
    No,
    /// Somebody is at it.
    UnderWay,
    /// It is.
    Done,
}

/// A lineage in memory.
#[derive(Default)]
struct Slot {
    loading: watch::Sender<Loading>,
    /// No request waits for loading until then.
    waits_again_at: Mutex<Option<Instant>>,
    state: Mutex<LineageState>,
    location: Mutex<Option<Arc<Location>>>,
    /// How often the directory was looked for.
    looks: AtomicU8,
    used: AtomicU64,
}

impl Slot {
    fn state(&self) -> MutexGuard<'_, LineageState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn location(&self) -> Option<Arc<Location>> {
        self.location
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn waits_no_more(&self) -> bool {
        let until = *self.waits_again_at.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_some_and(|until| Instant::now() < until)
    }

    fn wait_no_more(&self) {
        let until = Instant::now() + PAUSE_BETWEEN_WAITS;
        *self.waits_again_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(until);
    }

    /// The project's key, `""` while it is not known.
    fn project_path(&self) -> String {
        self.location()
            .map_or_else(String::new, |location| location.project.key().to_owned())
    }
}

/// What is kept with a request between the calls of the policy.
#[derive(Clone)]
struct Prepared {
    slot: Arc<Slot>,
    lineage: Lineage,
    /// The newest place was decided when the replay was put together, so the replay has it.
    newest_is_replayed: bool,
    /// The place that was decided for this request.
    decided_here: Option<Key128>,
}

impl Injection {
    /// The policy, and the work to be run. Sources are asked in this order, and what they say stands in this order.
    pub fn new(store: Arc<dyn LedgerBackend>, sources: Vec<Arc<dyn ContextSource>>) -> (Self, InjectionWork) {
        let counters = Arc::new(Counters::default());
        let (scribe, writing) = Scribe::new(Arc::clone(&store), Arc::clone(&counters));
        let shared = Arc::new(Shared {
            store,
            sources,
            scribe,
            counters,
            places: Places::default(),
            lineages: Mutex::default(),
            uses: AtomicU64::default(),
            switched_off: Mutex::default(),
            revision: OnceCell::new(),
        });
        let (sender, jobs) = mpsc::channel(MAX_JOBS);
        let work = InjectionWork {
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

impl InjectionWork {
    /// Serves until `stop` resolves; notes that wait are then still written.
    pub async fn run(self, stop: impl Future<Output = ()> + Send) {
        let Self {
            shared,
            mut jobs,
            writing,
        } = self;
        let mut running: JoinSet<()> = JoinSet::new();
        let opening = Arc::clone(&shared);
        // Opened before the first conversation needs it. What is wrong with the store is told when it does.
        running.spawn(async move {
            let _ = opening.revision().await;
        });
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
        let identity = request.identity();
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
        if let Some(key) = replay.withdrawn {
            counters.withdrawn.fetch_add(1, Ordering::Relaxed);
            self.shared
                .scribe
                .note(Note::Withdrawn(prepared.lineage.clone(), key));
        }
        let repeated = u64::try_from(replay.edits.len()).unwrap_or(u64::MAX);
        counters.repeated.fetch_add(repeated, Ordering::Relaxed);
        prepared.newest_is_replayed = replay.newest_is_decided;
        request.extensions().insert(prepared);
        replay.edits
    }

    async fn propose(&self, request: &MessagesRequest) -> Vec<Edit> {
        let Some(prepared) = prepared(request) else {
            return Vec::new();
        };
        let kind = request.identity().kind;
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
                (Opened::Nothing, Some(link)) => vec![stored(link.key)],
                _ => Vec::new(),
            };
            let tip = skeleton.tip_at_last_assistant().map(stored);
            let tip = self.shared.tip(&prepared, index, request, tip, nothing_at);
            self.shared.scribe.note(Note::Tip(tip));
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
            at: link.seam(),
            bytes: block,
        }]
    }

    fn untouched(&self, request: &MessagesRequest) {
        let Some(prepared) = prepared(request) else {
            return;
        };
        if let Some(key) = prepared.decided_here {
            prepared.slot.state().take_back(key);
            self.shared.scribe.note(Note::Withdrawn(prepared.lineage, key));
        }
    }

    fn refused(&self, request: &MessagesRequest) {
        let Some(prepared) = prepared(request) else {
            return;
        };
        prepared.slot.state().bar();
        self.shared.scribe.note(Note::Barred(prepared.lineage));
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
        match tokio::time::timeout(LOAD_LIMIT, waiting).await {
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
        let teller = match place {
            Place::Decided(decision) => return Opened::Known(decision),
            Place::Deciding(told) => return Opened::Waiting(told),
            Place::Open(teller) => teller,
        };
        let Some(occasion) = self.occasion(request, index, link, prepared) else {
            self.shared.counters.nothing.fetch_add(1, Ordering::Relaxed);
            teller.send_replace(Some(slot.state().decide(link.key, None)));
            return Opened::Nothing;
        };
        let told = teller.subscribe();
        let note = self
            .shared
            .tip(prepared, index, request, None, vec![stored(link.key)]);
        let shared = Arc::clone(&self.shared);
        let (slot, key) = (Arc::clone(slot), link.key);
        // Not on this request's own time: when it can wait no longer, what was kept has to be taken back.
        let job = Box::pin(async move {
            if shared.decide(&slot, key, &occasion, teller).await.is_none() {
                shared.scribe.note(Note::Tip(note));
            }
        });
        if self.jobs.try_send(job).is_err() {
            // The teller is gone with the job, so whoever waits hears of it.
            self.shared.counters.late.fetch_add(1, Ordering::Relaxed);
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
        let mut patience = Patience {
            slot,
            key,
            counters: &self.shared.counters,
            is_over: false,
        };
        let decision = told
            .wait_for(Option::is_some)
            .await
            .ok()
            .and_then(|told| told.clone());
        patience.is_over = true;
        // One that is never told is "nothing", for good.
        decision.unwrap_or_else(|| {
            self.shared.scribe.note(Note::Withdrawn(lineage.clone(), key));
            slot.state().decide(key, None)
        })
    }

    /// The occasion, if there is one: somebody to ask, a project, and room.
    fn occasion(
        &self,
        request: &MessagesRequest,
        index: &RequestIndex,
        link: &Link,
        prepared: &Prepared,
    ) -> Option<Occasion> {
        let location = prepared.slot.location()?;
        if self.shared.is_switched_off(&prepared.lineage.session, &location) || has_own_text(index) {
            return None;
        }
        let prompts: Vec<String> = prompts::newest(request)
            .into_iter()
            .map(|prompt| prompt.text)
            .collect();
        let occasion = Occasion {
            lineage: prepared.lineage.clone(),
            location,
            prompt: prompts.join("\n"),
            quoted: prepared.slot.state().quoted_in(request.skeleton()?),
            deadline: Instant::now() + TEXT_LIMIT,
        };
        let applies = self.shared.sources.iter().any(|source| source.applies(&occasion));
        (applies && Reach::of(index, link).allows_new()).then_some(occasion)
    }
}

/// Tells at its end how loading ended.
struct Ends<'a> {
    loading: &'a watch::Sender<Loading>,
    state: Loading,
}

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.loading.send_replace(self.state);
    }
}

/// Whoever stops waiting for a decision goes out without the text: then nobody may say it later.
struct Patience<'a> {
    slot: &'a Slot,
    key: Key128,
    counters: &'a Counters,
    is_over: bool,
}

impl Drop for Patience<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.counters.late.fetch_add(1, Ordering::Relaxed);
            self.slot.state().decide(self.key, None);
        }
    }
}

impl Shared {
    fn slot(&self, lineage: &Lineage) -> Arc<Slot> {
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
    async fn locate(&self, slot: &Slot, request: &MessagesRequest) {
        if slot.location().is_some() || slot.looks.load(Ordering::Relaxed) >= MAX_LOOKS {
            return;
        }
        slot.looks.fetch_add(1, Ordering::Relaxed);
        let Some(directory) = Places::directory(request) else {
            return;
        };
        // A directory that does not answer: nothing new is said until it does.
        let located = tokio::time::timeout(LOCATE_LIMIT, self.places.locate(&directory)).await;
        if let Ok(Some(location)) = located {
            *slot.location.lock().unwrap_or_else(PoisonError::into_inner) = Some(location);
        }
    }

    /// Brings what was kept of a lineage into memory.
    async fn load(&self, slot: &Slot, new: &NewLineage) {
        // Also where this is broken off.
        let mut ends = Ends {
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
    async fn kept(&self, slot: &Slot, new: &NewLineage) -> Result<Option<LedgerLineage>, StoreError> {
        self.revision().await?;
        if let Some(kept) = self.store.lineage(&new.lineage).await? {
            return Ok(Some(kept));
        }
        let may_continue = new.history.len() > 1;
        if may_continue && new.project_path.is_empty() && slot.looks.load(Ordering::Relaxed) < MAX_LOOKS {
            return Ok(None);
        }
        self.store.adopt(new).await.map(Some)
    }

    /// The revision that is followed; read at the first call.
    async fn revision(&self) -> Result<&Mutex<i64>, StoreError> {
        let first = || async { self.look_at_switches().await.map(Mutex::new) };
        self.revision.get_or_try_init(first).await
    }

    fn new_lineage(&self, slot: &Slot, lineage: &Lineage, request: &MessagesRequest) -> NewLineage {
        let links = request.skeleton().map(|skeleton| skeleton.links());
        NewLineage {
            lineage: lineage.clone(),
            project_path: slot.project_path(),
            model: request.index().map(model).unwrap_or_default(),
            history: links
                .unwrap_or_default()
                .iter()
                .map(|link| stored(link.key))
                .collect(),
            at: request.received_at(),
        }
    }

    fn not_loaded(&self, why: &str) {
        self.counters.not_loaded.fetch_add(1, Ordering::Relaxed);
        tracing::warn!(
            why,
            "what was said in this conversation before cannot be read; the request goes out without it"
        );
    }

    /// Asks the sources, keeps what they say, and tells it.
    async fn decide(
        &self,
        slot: &Slot,
        key: Key128,
        occasion: &Occasion,
        teller: watch::Sender<Option<Decision>>,
    ) -> Decision {
        let kept = self.kept_text(key, occasion).await;
        let is_kept = kept.is_some();
        let decision = {
            let mut state = slot.state();
            let (block, quoted) = kept.map_or((None, Vec::new()), |(block, quoted)| (Some(block), quoted));
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
            let withdrawn = self.store.withdraw(&occasion.lineage, &[stored(key)]).await;
            if withdrawn.is_err() {
                self.scribe.note(Note::Withdrawn(occasion.lineage.clone(), key));
            }
        }
        teller.send_replace(Some(decision.clone()));
        decision
    }

    fn tip(
        &self,
        prepared: &Prepared,
        index: &RequestIndex,
        request: &MessagesRequest,
        tip: Option<HistoryKey>,
        nothing_at: Vec<HistoryKey>,
    ) -> LineageTip {
        LineageTip {
            lineage: prepared.lineage.clone(),
            project_path: prepared.slot.project_path(),
            model: model(index),
            tip,
            nothing_at,
            at: request.received_at(),
        }
    }

    /// The block that is said from now on; `None`: nothing is to be said, or it could not be kept in time.
    async fn kept_text(&self, key: Key128, occasion: &Occasion) -> Option<(Bytes, Vec<TaskId>)> {
        let mut texts = Vec::new();
        let mut memories: Vec<TaskId> = Vec::new();
        let until = tokio::time::Instant::from_std(occasion.deadline);
        for source in self.sources.iter().filter(|source| source.applies(occasion)) {
            match tokio::time::timeout_at(until, source.words(occasion)).await {
                Ok(Some(Words {
                    text,
                    memories: quoted,
                })) => {
                    texts.push(text);
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
        let block = text_block(&texts.join("\n"));
        let entry = LedgerEntry {
            anchor: stored(key),
            block: Some(String::from_utf8_lossy(&block).into_owned()),
            memories: memories.clone(),
            decided_at: time::OffsetDateTime::now_utc(),
        };
        match self
            .store
            .decide(&occasion.lineage, &entry, occasion.deadline)
            .await
        {
            Ok(true) => Some((block, memories)),
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

    fn is_switched_off(&self, session: &ClientSessionId, location: &Location) -> bool {
        let off = self.switched_off.lock().unwrap_or_else(PoisonError::into_inner);
        !off.is_empty()
            && (off.contains(&SwitchScope::Session(session.clone()))
                || off.contains(&SwitchScope::Project(location.project.key().to_owned())))
    }

    /// Reads the switches; the revision they stand for.
    async fn look_at_switches(&self) -> Result<i64, StoreError> {
        // The number first: what changes in between is looked at again.
        let revision = self.store.revision().await?;
        let off = self.store.switched_off().await?;
        *self.switched_off.lock().unwrap_or_else(PoisonError::into_inner) = off.into_iter().collect();
        Ok(revision)
    }

    /// Takes over what other processes change: switches, and memories that were forgotten.
    async fn follow_revision(&self) {
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
    async fn reload(&self) -> Result<(), StoreError> {
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

fn model(index: &RequestIndex) -> String {
    index.model().unwrap_or_default().into_owned()
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
