//! The drift monitor and its shared state.

use crate::backend::DriftBackend;
use crate::counters::Counters;
use crate::judging::JudgeJob;
use crate::saving::Save;
use crate::session::{Session, Slot};
use crate::work::{DriftWorker, Job};
use grov_domain::{ClientSessionId, Clock, CorrectionId, Judge};
use grov_live::{SessionCache, StoreWatcher};
use grov_session::{
    Effects, EventContext, IntentReader, JudgeRequest, JudgeTrigger, Policy, Transition, instructions,
};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// Sessions in memory, some megabytes each. The least recently used are loaded again when needed.
const MAX_SESSIONS: usize = 64;
/// Time for preloading at startup.
const RECALL_LIMIT: Duration = Duration::from_millis(500);
/// Queued background jobs.
const MOST_JOBS: usize = 1024;
/// Queued records.
const MOST_SAVES: usize = 4096;

/// Watches live traffic for drift: an [`ActionChecker`](grov_live::ActionChecker) that judges what was done, and a
/// [`ContextSource`](grov_live::ContextSource) that says what is to be said of it.
pub struct DriftMonitor {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) policy: Policy,
    pub(crate) judge: Arc<dyn Judge>,
    pub(crate) store: Arc<dyn DriftBackend>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) counters: Arc<Counters>,
    reader: IntentReader,
    pub(crate) sessions: SessionCache<ClientSessionId, Slot>,
    pub(crate) watcher: StoreWatcher,
    jobs: mpsc::Sender<Job>,
    saves: mpsc::Sender<Save>,
}

impl DriftMonitor {
    /// The watch, and the work to be run beside the proxy. `reader` tells what prompts ask for, by rules; it is called on
    /// the observers' thread.
    pub fn new(
        policy: Policy,
        judge: Arc<dyn Judge>,
        store: Arc<dyn DriftBackend>,
        clock: Arc<dyn Clock>,
        reader: IntentReader,
    ) -> (Arc<Self>, DriftWorker) {
        let (jobs, waiting_jobs) = mpsc::channel(MOST_JOBS);
        let (saves, waiting_saves) = mpsc::channel(MOST_SAVES);
        let watcher = StoreWatcher::new(Arc::clone(&store) as Arc<_>);
        let shared = Arc::new(Shared {
            policy,
            judge,
            store,
            clock,
            counters: Arc::default(),
            reader,
            sessions: SessionCache::new(MAX_SESSIONS),
            watcher,
            jobs,
            saves,
        });
        let work = DriftWorker::new(Arc::clone(&shared), waiting_jobs, waiting_saves);
        (Arc::new(Self { shared }), work)
    }

    /// Recalls where the sessions stood that were at work lately, so that what waits in them is said at their very next
    /// request. Awaited before requests are served; half a second at most, and what is not known by then is loaded when it
    /// is needed.
    pub async fn preload(&self) {
        let recalled = tokio::time::timeout(RECALL_LIMIT, self.shared.preload()).await;
        match recalled {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(%error, "where sessions stood is not known yet"),
            Err(_) => tracing::debug!("the store takes long to tell where sessions stood"),
        }
    }

    /// Returns the counters.
    pub fn counters(&self) -> Arc<Counters> {
        Arc::clone(&self.shared.counters)
    }
}

impl Shared {
    /// Returns the session, created if it is not in memory.
    pub(crate) fn slot(&self, id: &ClientSessionId) -> Arc<Slot> {
        let create = || {
            let reader = Arc::clone(&self.reader);
            Slot::new(id.clone(), reader, self.policy, self.clock.now())
        };
        // Evicting a session with an undelivered correction would send that correction twice.
        self.sessions
            .get_or_create(id, create, |slot| !slot.has_undelivered())
    }

    /// Has what was stored of a session brought into memory.
    pub(crate) fn request_load(&self, slot: &Arc<Slot>, session: &mut Session) {
        if !session.is_loading && !session.engine.is_history_loaded() {
            session.is_loading = self.ask(Job::Load(Arc::clone(slot)));
        }
    }

    /// Has the contract of a session read again.
    pub(crate) fn request_refresh(&self, slot: &Arc<Slot>, session: &mut Session) {
        if !session.is_refreshing && session.engine.is_history_loaded() {
            session.is_refreshing = self.ask(Job::Refresh(Arc::clone(slot)));
        }
    }

    /// Has a judge asked.
    pub(crate) fn request_judgement(&self, errand: JudgeJob) -> bool {
        self.ask(Job::Judge(Box::new(errand)))
    }

    /// Has done what comes of an event. Whether the state is another one now.
    pub(crate) fn apply_effects(
        &self,
        slot: &Arc<Slot>,
        session: &mut Session,
        effects: &mut Effects,
    ) -> bool {
        self.follow_up(&effects.transition);
        let mut changed = effects.transition.state_changed;
        for (request, trigger) in std::mem::take(&mut effects.judge_requests) {
            match trigger {
                Some(trigger) => changed |= self.request_periodic_judgement(slot, session, request, trigger),
                None => {
                    let task = session.task.clone();
                    self.request_judgement(JudgeJob::new(slot, session, task, request));
                }
            }
        }
        changed
    }

    /// Has a judge asked, unless one is being asked. Of suspicions one waits, the first: what is asked about it bears on what
    /// follows as well.
    fn request_periodic_judgement(
        &self,
        slot: &Arc<Slot>,
        session: &mut Session,
        request: JudgeRequest,
        trigger: JudgeTrigger,
    ) -> bool {
        let task = session.task.clone();
        if session.is_judging {
            if trigger != JudgeTrigger::Suspicion || session.next_request.is_some() {
                return false;
            }
            session.next_request = Some((task, Box::new(request)));
        } else if !self.request_judgement(JudgeJob::new(slot, session, task, request)) {
            return false;
        }
        session.is_judging = true;
        session.engine.judge_requested(trigger, self.clock.now());
        true
    }

    /// Prompts that say something.
    pub(crate) fn instructions(&self, prompts: &[String]) -> Vec<String> {
        instructions(&self.reader, prompts)
    }

    pub(crate) fn ask(&self, job: Job) -> bool {
        let is_taken = self.jobs.try_send(job).is_ok();
        if !is_taken {
            self.counters.lost.increment();
            tracing::warn!("too much to do about drift: something is left out");
        }
        is_taken
    }

    pub(crate) fn save(&self, save: Save) {
        if self.saves.try_send(save).is_err() {
            self.counters.lost.increment();
            tracing::warn!("too much to save about drift: something is left out");
        }
    }

    pub(crate) fn context(&self, session: &Session) -> EventContext {
        EventContext {
            at: self.clock.now(),
            id: CorrectionId::fresh(),
            task: session.task.clone(),
        }
    }

    /// Counts what came of a change, and has what was settled saved.
    pub(crate) fn follow_up(&self, transition: &Transition) {
        if let Some((_, correction)) = &transition.new_correction {
            self.counters.correction_created(correction.level);
        }
        for correction in &transition.resolved {
            if let Some(outcome) = correction.outcome {
                self.counters.correction_resolved(outcome);
            }
            self.save(Save::Correction(Box::new(correction.clone())));
        }
        self.counters.expired.add(transition.expired);
    }

    /// Has the state of a session saved as it is now.
    pub(crate) fn save_state(&self, session: &Session) {
        let state = session.engine.drift().state().clone();
        self.save(Save::State(Box::new(state), session.task.clone()));
    }
}
