//! The background: loads sessions, follows what a person changes, asks the judge, saves.

use crate::judging::{JudgeJob, sketch};
use crate::monitor::Shared;
use crate::saving::{Save, saving};
use crate::session::{Session, Slot};
use grov_domain::{
    ClientSessionId, CorrectionId, SessionFilter, SessionId, StepId, StepVerdict, StoreError, active_task,
};
use grov_session::{ContractInputs, ObservedAction, Reassessed, SessionEvent, StoredHistory};
use scopeguard::ScopeGuard;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// Stored steps by which rules are brought up to date, the newest.
const MOST_STEPS: usize = 500;
/// Jobs at once. Most of them wait for a model, and loading a session must not wait for those.
const MOST_RUNNING: usize = 64;
/// Sessions that were at work in this time before a start are recalled, tasks at most.
const RECENT: time::Duration = time::Duration::hours(1);
const MOST_RECALLED: u32 = 32;
/// Tasks that a session may turn to while it is loaded.
const MOST_TASKS: usize = 3;
/// How long saving may take when everything stops.
const STOP_LIMIT: Duration = Duration::from_secs(2);

/// Something to be done.
pub(crate) enum Job {
    /// Bring what is stored of a session into memory.
    Load(Arc<Slot>),
    /// Read again what a session is held to.
    Refresh(Arc<Slot>),
    /// Look which of the actions that ran the user was asked about.
    Asked(Arc<Slot>),
    /// Write verdicts to steps that are recorded, or about to be.
    Verdicts(ClientSessionId, Vec<(StepId, StepVerdict)>),
    /// Ask the judge.
    Judge(Box<JudgeJob>),
}

/// The work behind [`DriftMonitor`](crate::DriftMonitor), to be run beside the proxy.
pub struct DriftWorker {
    shared: Arc<Shared>,
    jobs: mpsc::Receiver<Job>,
    saves: mpsc::Receiver<Save>,
}

impl DriftWorker {
    pub(crate) fn new(shared: Arc<Shared>, jobs: mpsc::Receiver<Job>, saves: mpsc::Receiver<Save>) -> Self {
        Self { shared, jobs, saves }
    }

    /// Serves until `stop` resolves; what waits to be saved is then saved, within two seconds.
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
                    Some(job) = jobs.recv(), if running.len() < MOST_RUNNING => {
                        let shared = Arc::clone(&shared);
                        running.spawn(async move { shared.perform(job).await });
                    }
                    Some(ended) = running.join_next() => if ended.is_err_and(|error| error.is_panic()) {
                        tracing::error!("work about drift panicked; its session is watched by rules alone");
                    },
                    else => std::future::pending().await,
                }
            }
        };
        tokio::select! {
            () = stop => {}
            () = working => {}
            () = saving(&shared.store, &mut saves) => {}
            () = shared.follow_revision() => {}
        }
        saves.close();
        if tokio::time::timeout(STOP_LIMIT, saving(&shared.store, &mut saves))
            .await
            .is_err()
        {
            tracing::warn!("stopped before everything about drift was saved");
        }
    }
}

impl Shared {
    /// Looks which of the actions that ran the user was asked about: those break nothing. An error: it cannot be known.
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
            self.ask(Job::Verdicts(id, verdicts));
        }
        Ok(())
    }

    async fn perform(self: &Arc<Self>, job: Job) {
        match job {
            Job::Load(slot) => self.load(slot).await,
            Job::Refresh(slot) => self.refresh(slot).await,
            Job::Asked(slot) => {
                if let Err(error) = self.check_permissions(&slot).await {
                    tracing::debug!(%error, "what the user was asked cannot be read");
                }
            }
            Job::Verdicts(session, verdicts) => {
                self.record_later(&session, &verdicts, verdicts.len()).await;
            }
            Job::Judge(errand) => errand.run(self).await,
        }
    }

    async fn load(self: &Arc<Self>, slot: Arc<Slot>) {
        // Also if loading fails or is aborted.
        let failed = scopeguard::guard(&slot, |slot| {
            slot.session().is_loading = false;
            slot.changed.notify_waiters();
        });
        let (id, _) = slot.ids();
        for _ in 0..MOST_TASKS {
            let (task, stored) = match self.load_stored(&slot, &id).await {
                Ok(found) => found,
                Err(error) => {
                    tracing::warn!(session = %id, %error, "what was before in this session cannot be read; trying again with its next action");
                    return;
                }
            };
            let loaded = Arc::clone(&slot);
            let loading = tokio::task::spawn_blocking(move || load(&loaded, stored, &task));
            let Ok(found) = loading.await else {
                tracing::error!(session = %id, "taking over what was before in this session panicked");
                return;
            };
            // It turned to another task meanwhile: what the last one asks for is no measure for what is done now.
            let Some(found) = found else { continue };
            ScopeGuard::into_inner(failed);
            slot.changed.notify_waiters();
            let verdicts = self.conclude(&slot, &mut slot.session(), found);
            self.record_later(&id, &verdicts, verdicts.len()).await;
            return;
        }
        tracing::debug!(session = %id, "a session turns from task to task; trying again with its next action");
    }

    /// Brings into memory where a session stands, and reads what else is stored of it, for the task in work.
    pub(crate) async fn load_stored(
        self: &Arc<Self>,
        slot: &Slot,
        id: &ClientSessionId,
    ) -> Result<(SessionId, StoredHistory), StoreError> {
        // Where it stood comes first: it is small, and a request may wait for it.
        self.place(slot, id).await?;
        let tasks = self.store.client_session(id).await?;
        if let Some(task) = active_task(tasks.iter().map(|task| &task.state)) {
            slot.set_task_if_unknown(&task.session_id);
        }
        let (_, task) = slot.ids();
        let stored = self.stored(id, &task).await?;
        Ok((task, stored))
    }

    /// Concludes from actions that were seen before the session was loaded. What is to be recorded of them, since they were
    /// recorded without verdicts.
    pub(crate) fn conclude(
        &self,
        slot: &Arc<Slot>,
        session: &mut Session,
        found: Reassessed,
    ) -> Vec<(StepId, StepVerdict)> {
        let context = self.context(session);
        let mut effects = session.engine.conclude(found, &context);
        // One that is asked already is enough.
        effects.judge_requests.retain(|_| !session.is_judging);
        if self.apply_effects(slot, session, &mut effects) && session.is_followed {
            self.save_state(session);
        }
        effects.later_verdicts
    }

    /// Brings into memory where a session stood.
    async fn place(&self, slot: &Slot, id: &ClientSessionId) -> Result<(), StoreError> {
        if slot.session().engine.is_state_loaded() {
            return Ok(());
        }
        let state = self.store.drift_state(id).await?;
        let transition = slot.session().engine.load_state(state, self.clock.now());
        slot.changed.notify_waiters();
        self.follow_up(&transition);
        let session = slot.session();
        if transition.state_changed && session.is_followed {
            self.save_state(&session);
        }
        Ok(())
    }

    /// Brings into memory where the sessions stood that were at work lately.
    pub(crate) async fn preload(&self) -> Result<(), StoreError> {
        let lately = SessionFilter {
            updated_since: Some(self.clock.now() - RECENT),
            limit: Some(MOST_RECALLED),
            ..SessionFilter::default()
        };
        let mut recalled: Vec<ClientSessionId> = Vec::new();
        for task in self.store.sessions(&lately).await? {
            let id = task.state.client_session_id;
            if recalled.contains(&id) {
                continue;
            }
            self.place(&self.slot(&id), &id).await?;
            recalled.push(id);
        }
        Ok(())
    }

    async fn refresh(self: &Arc<Self>, slot: Arc<Slot>) {
        // Also if this future is dropped.
        let aborted = scopeguard::guard(&slot, |slot| slot.session().is_refreshing = false);
        let (id, task) = slot.ids();
        let contract_inputs = self.contract_inputs(&id, &task).await;
        let correction = slot.session().engine.drift().state().correction.clone();
        let is_forgotten = match &correction {
            Some(correction) => self.is_forgotten(&id, &correction.id).await,
            None => false,
        };
        let taken = match contract_inputs {
            Ok(contract_inputs) => {
                let shown = Arc::clone(&slot);
                tokio::task::spawn_blocking(move || refresh_contract(&shown, contract_inputs, &task)).await
            }
            Err(error) => {
                tracing::debug!(session = %id, %error, "what a session is held to cannot be read again yet");
                Ok(true)
            }
        };
        ScopeGuard::into_inner(aborted);
        let mut session = slot.session();
        session.is_refreshing = false;
        let now = session.engine.drift().state().correction.as_ref();
        let is_same = now.map(|now| &now.id) == correction.as_ref().map(|before| &before.id);
        if is_forgotten && is_same {
            session.engine.clear_correction(self.clock.now());
            session.offered = None;
        }
        // It may have moved on to another task meanwhile, which asked for nothing because this was under way.
        if taken.is_ok_and(|taken| !taken) {
            self.request_refresh(&slot, &mut session);
        }
    }

    /// Whether a person had the words of a correction forgotten: they are taken out of the row that is kept.
    async fn is_forgotten(&self, session: &ClientSessionId, id: &CorrectionId) -> bool {
        let kept = self.store.corrections(session).await.unwrap_or_default();
        kept.iter().any(|one| one.id == *id && one.text.is_empty())
    }

    /// What is stored of a session.
    async fn stored(
        self: &Arc<Self>,
        id: &ClientSessionId,
        task: &SessionId,
    ) -> Result<StoredHistory, StoreError> {
        let steps = self.store.client_steps(id).await?;
        let main: Vec<_> = steps.iter().filter(|step| step.agent_id.is_none()).collect();
        let newest = main.into_iter().rev().take(MOST_STEPS).rev();
        let steps = newest.map(|step| ObservedAction {
            step: Some(step.id.clone()),
            action: sketch(step),
            call: step.tool_use_id.clone(),
            is_delegated: false,
        });
        let steps = steps.collect();
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

    /// What a session is held to, as stored.
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
        let telling = tokio::task::spawn_blocking(move || shared.instructions(&prompts));
        Ok(ContractInputs {
            task: task.unwrap_or_default(),
            // Reading them panicked: what is in memory stands.
            prompts: telling.await.unwrap_or_default(),
            edits,
        })
    }

    /// Takes over what a person changes while sessions are at work.
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

/// Takes over what is stored of a session, with what happened meanwhile: what takes long is done without its lock. What rules
/// find of actions from which nothing was concluded yet; `None`: it turned to another task meanwhile, and nothing was taken
/// over.
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

/// Takes over what a session is held to, unless it turned to another task meanwhile: then `false`.
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
