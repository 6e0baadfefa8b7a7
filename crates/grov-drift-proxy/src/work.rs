//! Background work: loads sessions, reads changed contracts, asks the judge, saves state.

use crate::judging::{JudgeJob, sketch};
use crate::monitor::Shared;
use crate::saving::{Save, save_all};
use crate::session::{Session, Slot};
use grov_domain::{
    ClientSessionId, CorrectionId, DriftEvent, DriftFilter, SessionFilter, SessionId, StepId, StepRow,
    StepVerdict, StoreError, active_task,
};
use grov_session::{ContractInputs, ObservedAction, Reassessed, SessionEvent, StoredHistory};
use scopeguard::ScopeGuard;
use std::sync::Arc;
use std::time::Duration;
use time::OffsetDateTime;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// The newest stored steps that are replayed when a session is loaded.
const MAX_STEPS: usize = 500;
/// The newest actions off the goal that are replayed with them.
const MAX_OFF_GOAL: u32 = 100;
/// Concurrent jobs. Most of them wait for a model, which must not delay loading a session.
const MAX_RUNNING: usize = 64;
/// Sessions active this long before startup are preloaded, at most [`MAX_PRELOADED`] tasks.
const PRELOAD_AGE: time::Duration = time::Duration::hours(1);
const MAX_PRELOADED: u32 = 32;
/// How often loading starts again because the session changed its task.
const MAX_LOAD_ATTEMPTS: usize = 3;
/// Time for unsaved changes at shutdown.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// A background job.
pub(crate) enum Job {
    /// Load the stored state and history of a session.
    Load(Arc<Slot>),
    /// Read the goal and constraints of a session again.
    Refresh(Arc<Slot>),
    /// Read which calls the user was asked to permit.
    Permissions(Arc<Slot>),
    /// Add verdicts to steps that are recorded, or about to be.
    Verdicts(ClientSessionId, Vec<(StepId, StepVerdict)>),
    /// Ask the judge which limits the user set.
    ReadLimits(Arc<Slot>),
    Judge(Box<JudgeJob>),
}

/// The background work of a [`DriftMonitor`](crate::DriftMonitor).
pub struct DriftWorker {
    shared: Arc<Shared>,
    jobs: mpsc::Receiver<Job>,
    saves: mpsc::Receiver<Save>,
}

impl DriftWorker {
    pub(crate) fn new(shared: Arc<Shared>, jobs: mpsc::Receiver<Job>, saves: mpsc::Receiver<Save>) -> Self {
        Self { shared, jobs, saves }
    }

    /// Runs until `stop` resolves, then saves queued changes for at most two seconds.
    pub async fn run(self, stop: impl Future<Output = ()> + Send) {
        let Self {
            shared,
            mut jobs,
            mut saves,
        } = self;
        let mut running: JoinSet<()> = JoinSet::new();
        let working = async {
            loop {
                tokio::select! {
                    Some(job) = jobs.recv(), if running.len() < MAX_RUNNING => {
                        let shared = Arc::clone(&shared);
                        running.spawn(async move { shared.perform(job).await });
                    }
                    Some(ended) = running.join_next() => if ended.is_err_and(|error| error.is_panic()) {
                        tracing::error!("a drift detection job panicked");
                    },
                    else => std::future::pending().await,
                }
            }
        };
        tokio::select! {
            () = stop => {}
            () = working => {}
            () = save_all(&shared.store, &mut saves) => {}
            () = shared.follow_revision() => {}
        }
        saves.close();
        if tokio::time::timeout(STOP_TIMEOUT, save_all(&shared.store, &mut saves))
            .await
            .is_err()
        {
            tracing::warn!("stopped before all drift states and corrections were saved");
        }
    }
}

impl Shared {
    /// Reads which calls the user was asked to permit, and updates the session: permitted calls break no constraint.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    pub(crate) async fn check_permissions(self: &Arc<Self>, slot: &Arc<Slot>) -> Result<(), StoreError> {
        let (id, _) = slot.ids();
        let asked = self.store.asked_calls(&id).await?;
        let verdicts = {
            let mut session = slot.session();
            let context = self.context(&session);
            let mut effects = session
                .engine
                .apply(SessionEvent::PermissionAsked(&asked), &context);
            if self.apply_effects(slot, &mut session, &mut effects) {
                self.save_state(&session);
            }
            effects.later_verdicts
        };
        if !verdicts.is_empty() {
            self.enqueue(Job::Verdicts(id, verdicts));
        }
        Ok(())
    }

    async fn perform(self: &Arc<Self>, job: Job) {
        match job {
            Job::Load(slot) => self.load(slot).await,
            Job::Refresh(slot) => self.refresh(slot).await,
            Job::Permissions(slot) => {
                if let Err(error) = self.check_permissions(&slot).await {
                    tracing::debug!(%error, "cannot read which calls the user permitted");
                }
            }
            Job::Verdicts(session, verdicts) => {
                self.record_later(&session, &verdicts, verdicts.len()).await;
            }
            Job::ReadLimits(slot) => self.read_limits(&slot).await,
            Job::Judge(job) => job.run(self).await,
        }
    }

    async fn load(self: &Arc<Self>, slot: Arc<Slot>) {
        // Resets the flag if loading fails or this future is dropped.
        let failed = scopeguard::guard(&slot, |slot| {
            slot.session().is_loading = false;
            slot.changed.notify_waiters();
        });
        let (id, _) = slot.ids();
        for _ in 0..MAX_LOAD_ATTEMPTS {
            let (task, stored) = match self.load_stored(&slot, &id).await {
                Ok(found) => found,
                Err(error) => {
                    tracing::warn!(session = %id, %error, "cannot load the history of this session; retrying at its next action");
                    return;
                }
            };
            let loaded = Arc::clone(&slot);
            let loading = tokio::task::spawn_blocking(move || load(&loaded, stored, &task));
            let Ok(found) = loading.await else {
                tracing::error!(session = %id, "loading the history of this session panicked");
                return;
            };
            // The session changed its task meanwhile, so the loaded contract is outdated.
            let Some(found) = found else { continue };
            ScopeGuard::into_inner(failed);
            slot.changed.notify_waiters();
            let verdicts = self.apply_findings(&slot, &mut slot.session(), found);
            self.record_later(&id, &verdicts, verdicts.len()).await;
            return;
        }
        tracing::debug!(session = %id, "this session keeps changing its task; loading it at its next action");
    }

    /// Loads the drift state of a session and returns its current task with the stored history.
    pub(crate) async fn load_stored(
        self: &Arc<Self>,
        slot: &Slot,
        id: &ClientSessionId,
    ) -> Result<(SessionId, StoredHistory), StoreError> {
        // First, because it is small and a request may wait for it.
        self.load_state(slot, id).await?;
        let tasks = self.store.client_session(id).await?;
        if let Some(task) = active_task(tasks.iter().map(|task| &task.state)) {
            slot.set_task_if_unknown(&task.session_id);
        }
        let (_, task) = slot.ids();
        let stored = self.stored(id, &task).await?;
        Ok((task, stored))
    }

    /// Applies the rules' findings about actions that arrived before the session was loaded. Returns the verdicts on
    /// steps that were recorded without one.
    pub(crate) fn apply_findings(
        &self,
        slot: &Arc<Slot>,
        session: &mut Session,
        found: Reassessed,
    ) -> Vec<(StepId, StepVerdict)> {
        let context = self.context(session);
        let mut effects = session.engine.conclude(found, &context);
        // A pending question is enough.
        effects.judge_requests.retain(|_| !session.is_judging);
        if self.apply_effects(slot, session, &mut effects) && session.is_observed {
            self.save_state(session);
        }
        effects.later_verdicts
    }

    /// Loads the drift state of a session.
    async fn load_state(&self, slot: &Slot, id: &ClientSessionId) -> Result<(), StoreError> {
        if slot.session().engine.is_state_loaded() {
            return Ok(());
        }
        let state = self.store.drift_state(id).await?;
        let transition = slot.session().engine.load_state(state, self.clock.now());
        slot.changed.notify_waiters();
        self.record_transition(&transition);
        let session = slot.session();
        if transition.state_changed && session.is_observed {
            self.save_state(&session);
        }
        Ok(())
    }

    /// Loads the drift states of recently active sessions.
    pub(crate) async fn preload(&self) -> Result<(), StoreError> {
        let recent = SessionFilter {
            updated_since: Some(self.clock.now() - PRELOAD_AGE),
            limit: Some(MAX_PRELOADED),
            ..SessionFilter::default()
        };
        let mut preloaded: Vec<ClientSessionId> = Vec::new();
        for task in self.store.sessions(&recent).await? {
            let id = task.state.client_session_id;
            if preloaded.contains(&id) {
                continue;
            }
            self.load_state(&self.slot(&id), &id).await?;
            preloaded.push(id);
        }
        Ok(())
    }

    async fn refresh(self: &Arc<Self>, slot: Arc<Slot>) {
        // Resets the flag if this future is dropped.
        let aborted = scopeguard::guard(&slot, |slot| slot.session().is_refreshing = false);
        let (id, task) = slot.ids();
        let contract_inputs = self.contract_inputs(&id, &task).await;
        let correction = slot.session().engine.drift().state().correction.clone();
        let is_forgotten = match &correction {
            Some(correction) => self.is_forgotten(&id, &correction.id).await,
            None => false,
        };
        let is_same_task = match contract_inputs {
            Ok(contract_inputs) => {
                let refreshed = Arc::clone(&slot);
                tokio::task::spawn_blocking(move || refresh_contract(&refreshed, contract_inputs, &task))
                    .await
            }
            Err(error) => {
                tracing::debug!(session = %id, %error, "cannot read the contract of this session; keeping the old one");
                Ok(true)
            }
        };
        ScopeGuard::into_inner(aborted);
        let mut session = slot.session();
        session.is_refreshing = false;
        let now = session.engine.drift().state().correction.as_ref();
        let is_same_correction = now.map(|now| &now.id) == correction.as_ref().map(|before| &before.id);
        if is_forgotten && is_same_correction {
            session.engine.clear_correction(self.clock.now());
            session.offered = None;
        }
        // The session changed its task, and its own request was ignored because this job was running.
        if is_same_task.is_ok_and(|is_same| !is_same) {
            self.request_refresh(&slot, &mut session);
        }
    }

    /// Returns whether the user had the text of a correction forgotten. The stored row then has an empty text.
    async fn is_forgotten(&self, session: &ClientSessionId, id: &CorrectionId) -> bool {
        let corrections = self.store.corrections(session).await.unwrap_or_default();
        corrections
            .iter()
            .any(|stored| stored.id == *id && stored.text.is_empty())
    }

    /// Reads the stored history of a session.
    async fn stored(
        self: &Arc<Self>,
        id: &ClientSessionId,
        task: &SessionId,
    ) -> Result<StoredHistory, StoreError> {
        let steps = self.store.client_steps(id).await?;
        let main: Vec<_> = steps.iter().filter(|step| step.agent_id.is_none()).collect();
        let newest = main.into_iter().rev().take(MAX_STEPS).rev();
        let mut steps: Vec<_> = newest.map(|step| (step.timestamp, recorded(step))).collect();
        // Actions off the goal are only in the drift log. Undoing them must be recognized.
        steps.extend(self.off_goal(id).await?);
        steps.sort_by_key(|(at, _)| *at);
        let steps = steps.into_iter().map(|(_, step)| step).collect();
        let asked = self.store.asked_calls(id).await?.into_iter();
        let allowed = asked
            .filter(|call| call.ran)
            .map(|call| call.tool_use_id)
            .collect();
        let contract_inputs = self.contract_inputs(id, task).await?;
        Ok(StoredHistory {
            steps,
            allowed,
            inputs: contract_inputs,
        })
    }

    /// Reads the newest actions off the goal, with their times.
    async fn off_goal(
        &self,
        id: &ClientSessionId,
    ) -> Result<Vec<(OffsetDateTime, ObservedAction)>, StoreError> {
        let of_session = DriftFilter {
            client_session_id: Some(id.clone()),
            limit: Some(MAX_OFF_GOAL),
            ..DriftFilter::default()
        };
        let mut events = self.store.drift_events(&of_session).await?;
        // The log does not contain whether a call failed. A call whose correction was delivered did not.
        let corrections = self.store.corrections(id).await?;
        let is_corrected = |event: &DriftEvent| {
            let mut delivered = corrections
                .iter()
                .filter(|correction| correction.delivered_at.is_some());
            event.tool_use_id.is_some()
                && delivered.any(|correction| correction.tool_use_id == event.tool_use_id)
        };
        events.retain(is_corrected);
        let action = |event: &DriftEvent| ObservedAction {
            step: event.step_id.clone(),
            action: grov_actions::recorded_action(event),
            call: event.tool_use_id.clone(),
            is_delegated: false,
        };
        Ok(events
            .iter()
            .map(|event| (event.timestamp, action(event)))
            .collect())
    }

    /// Reads the stored goal, prompts and user edits.
    async fn contract_inputs(
        self: &Arc<Self>,
        id: &ClientSessionId,
        task: &SessionId,
    ) -> Result<ContractInputs, StoreError> {
        let edits = self.store.goal_edits(id).await?;
        let prompts = self.store.prompts(task, None).await?;
        let row = self.store.session(task).await?;
        let task = row.map(|row| row.state.intent());
        let prompts: Vec<String> = prompts.into_iter().map(|prompt| prompt.text).collect();
        let shared = Arc::clone(self);
        let reading = tokio::task::spawn_blocking(move || shared.instructions(&prompts));
        Ok(ContractInputs {
            task: task.unwrap_or_default(),
            // After a panic the prompts in memory are kept.
            prompts: reading.await.unwrap_or_default(),
            edits,
        })
    }

    /// Reads the contracts of sessions in memory again whenever another process changes the store.
    async fn follow_revision(&self) {
        loop {
            self.watcher.changed().await;
            for (_, slot) in self.sessions.newest_first() {
                let mut session = slot.session();
                self.request_refresh(&slot, &mut session);
            }
        }
    }
}

/// Returns a stored step as an action.
fn recorded(step: &StepRow) -> ObservedAction {
    ObservedAction {
        step: Some(step.id.clone()),
        action: sketch(step),
        call: step.tool_use_id.clone(),
        is_delegated: false,
    }
}

/// Merges the stored history with the actions that arrived meanwhile. Slow parts run without the session's lock.
/// Returns the rules' findings about actions that are not judged yet, or `None` if the session changed its task; then
/// nothing is merged.
pub(crate) fn load(slot: &Slot, stored: StoredHistory, task: &SessionId) -> Option<Reassessed> {
    let of_task = |session: &Session| session.task == *task;
    let pending = Some(slot.session())
        .filter(|session| of_task(session))?
        .engine
        .begin_load();
    let merged = pending.merge(stored);
    let mut session = Some(slot.session()).filter(|session| of_task(session))?;
    Some(session.engine.finish_load(merged))
}

/// Replaces the contract of a session. Returns `false` if the session changed its task meanwhile; then the contract is
/// not replaced.
pub(crate) fn refresh_contract(slot: &Slot, contract_inputs: ContractInputs, task: &SessionId) -> bool {
    let of_task = |session: &Session| session.task == *task;
    let Some(session) = Some(slot.session()).filter(|session| of_task(session)) else {
        return false;
    };
    let refresh = session.engine.begin_contract_refresh(contract_inputs);
    drop(session);
    let refresh = refresh.parse();
    let Some(mut session) = Some(slot.session()).filter(|session| of_task(session)) else {
        return false;
    };
    session.engine.finish_contract_refresh(refresh);
    true
}
