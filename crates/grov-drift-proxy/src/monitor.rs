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
    is_about_subagent,
};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// Sessions in memory, each up to a few megabytes. Evicted sessions are loaded again when needed.
const MAX_SESSIONS: usize = 64;
/// Time for preloading at startup.
const PRELOAD_TIMEOUT: Duration = Duration::from_millis(500);
/// Queued background jobs.
const MAX_JOBS: usize = 1024;
/// Queued changes to save.
const MAX_SAVES: usize = 4096;

/// Detects drift in live traffic. As an [`ActionChecker`](grov_live::ActionChecker) it judges actions, and as a
/// [`ContextSource`](grov_live::ContextSource) it delivers corrections.
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
    /// Creates a monitor and its background work. `reader` extracts goals and constraints from prompts by rules; it is
    /// called on the observers' thread.
    pub fn new(
        policy: Policy,
        judge: Arc<dyn Judge>,
        store: Arc<dyn DriftBackend>,
        clock: Arc<dyn Clock>,
        reader: IntentReader,
    ) -> (Arc<Self>, DriftWorker) {
        let (jobs, waiting_jobs) = mpsc::channel(MAX_JOBS);
        let (saves, waiting_saves) = mpsc::channel(MAX_SAVES);
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

    /// Loads the drift states of recently active sessions, so that pending corrections are delivered with the next
    /// request. Call it before serving requests. Takes at most half a second; the remaining sessions are loaded when
    /// needed.
    pub async fn preload(&self) {
        let preloaded = tokio::time::timeout(PRELOAD_TIMEOUT, self.shared.preload()).await;
        match preloaded {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::debug!(%error, "cannot preload recent sessions; loading them when needed")
            }
            Err(_) => tracing::debug!("preloading recent sessions timed out; loading them when needed"),
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

    /// Starts loading a session, unless it is loaded or loading.
    pub(crate) fn request_load(&self, slot: &Arc<Slot>, session: &mut Session) {
        if !session.is_loading && !session.engine.is_history_loaded() {
            session.is_loading = self.enqueue(Job::Load(Arc::clone(slot)));
        }
    }

    /// Starts reading the contract of a session again.
    pub(crate) fn request_refresh(&self, slot: &Arc<Slot>, session: &mut Session) {
        if !session.is_refreshing && session.engine.is_history_loaded() {
            session.is_refreshing = self.enqueue(Job::Refresh(Arc::clone(slot)));
        }
    }

    /// Queues a question to the judge. Returns whether there was room.
    pub(crate) fn request_judgement(&self, job: JudgeJob) -> bool {
        self.enqueue(Job::Judge(Box::new(job)))
    }

    /// Executes the effects of an event. Returns whether the drift state changed.
    pub(crate) fn apply_effects(
        &self,
        slot: &Arc<Slot>,
        session: &mut Session,
        effects: &mut Effects,
    ) -> bool {
        self.record_transition(&effects.transition);
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

    /// Asks the judge, unless it is already judging this session. Then the first suspicion waits; later ones are
    /// dropped, because its verdict also covers them.
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

    /// Returns the prompts that contain instructions.
    pub(crate) fn instructions(&self, prompts: &[String]) -> Vec<String> {
        instructions(&self.reader, prompts)
    }

    pub(crate) fn enqueue(&self, job: Job) -> bool {
        let is_queued = self.jobs.try_send(job).is_ok();
        if !is_queued {
            self.counters.lost.increment();
            tracing::warn!("too many drift detection jobs are queued; one is dropped");
        }
        is_queued
    }

    pub(crate) fn save(&self, save: Save) {
        if self.saves.try_send(save).is_err() {
            self.counters.lost.increment();
            tracing::warn!("too many drift states are queued for saving; one is dropped");
        }
    }

    pub(crate) fn context(&self, session: &Session) -> EventContext {
        EventContext {
            at: self.clock.now(),
            correction_id: CorrectionId::fresh(),
            task: session.task.clone(),
        }
    }

    /// Counts the corrections of a state change and saves those that are resolved.
    pub(crate) fn record_transition(&self, transition: &Transition) {
        if let Some((_, correction)) = &transition.new_correction {
            self.counters.correction_created(correction.level);
        }
        for correction in &transition.resolved {
            if correction.delivered_at.is_none() && is_about_subagent(correction) {
                let session = &correction.client_session_id;
                tracing::warn!(%session, reason = %correction.reason, "the correction of a subagent was not delivered");
            }
            if let Some(outcome) = correction.outcome {
                self.counters.correction_resolved(outcome);
            }
            self.save(Save::Correction(Box::new(correction.clone())));
        }
        self.counters.expired.add(transition.expired);
    }

    /// Queues the current state of a session for saving.
    pub(crate) fn save_state(&self, session: &Session) {
        let state = session.engine.drift().state().clone();
        self.save(Save::State(Box::new(state), session.task.clone()));
    }
}
