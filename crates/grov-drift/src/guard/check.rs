//! Checks a tool call against the contract and history of its session.

use super::decision::{PastAction, Question, Stop, decide};
use super::proxied_past::proxied_past;
use super::replaced_text;
use super::script_reader::read_scripts;
use super::tool_access;
use super::unread_prompts::{newest_prompt, with_prompt, with_unread};
use crate::error::HookError;
use crate::follower::TranscriptFollower;
use crate::hook::HookContext;
use crate::resume::{SessionRef, load_readings, new_session, reader};
use crate::services::{STORE_TIMEOUT, Services};
use crate::transcript_file::catch_up;
use crate::{daemon, runtime};
use grov_actions::{ToolCall, content, understand_redacted_whole, understand_whole};
use grov_domain::{
    Action, ActionSketch, ActionType, ClientSessionId, Clock, GoalContract, GuardRecord, GuardVerdict,
    HookSession, Rule, StoreConnection, StoreError, SystemClock, active_task,
};
use grov_hooks::event::Input;
use grov_project::ProjectLocation;
use grov_query::ActiveConstraints;
use grov_redact::Redactor;
use grov_rules::IntentCache;
use grov_runtime::{GuardMode, Settings, ToolGrant};
use grov_scope::RunScript;
use grov_session::objection::has_objection;
use grov_session::{IntentReader, sanitize_prompt};
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Time limit for reading the history.
const HISTORY_TIMEOUT: Duration = Duration::from_secs(2);

/// Retry interval for a busy database.
const RETRY_INTERVAL: Duration = Duration::from_millis(10);

/// In plan mode the client runs no changes, unless a hook makes it ask and the user confirms.
const PLAN_MODE: &str = "plan";

/// A tool call with everything needed to check it.
pub(super) struct GuardCheck {
    session_ref: SessionRef,
    /// The folder that the session's relative paths refer to.
    pub(super) root: String,
    services: Arc<Services>,
    intents: Arc<IntentCache>,
    reader: IntentReader,
    tool_use_id: String,
    pub(super) action: ActionSketch,
    /// The action with its secrets masked, if it has any.
    masked: Option<ActionSketch>,
    /// The scripts that the call runs. Empty until they are read.
    scripts: OnceLock<Vec<RunScript>>,
    verdict: GuardVerdict,
    /// The verdict if the contract could not be read in time.
    pub(super) verdict_if_busy: GuardVerdict,
    /// The session goes through the proxy, which records it.
    is_proxied: bool,
    pub(super) fails_closed: bool,
    /// The client shows a question to a person.
    is_attended: bool,
    /// The deadline for the response.
    until: Instant,
}

/// The result of a check.
pub(super) enum CheckOutcome {
    Allowed,
    Stopped {
        stop: Stop,
        /// `false` if the history could not be read and an earlier action might excuse the call.
        is_certain: bool,
    },
    /// The store was busy until the deadline.
    TimedOut,
    /// The session is unknown, and the guard fails closed.
    UnknownSession,
}

/// The state of a session that a check uses.
pub(super) struct KnownSession {
    pub(super) contract: GoalContract,
    /// The user lifted a "change nothing" request.
    pub(super) is_released: bool,
    /// What of the agent's questions and plans the user agreed to, oldest first. Of a session that hooks record it is known only with
    /// the history.
    pub(super) consents: Vec<String>,
    /// The newest prompt objects and says nothing else: what a model read as asked for before holds no longer.
    pub(super) is_withdrawn: bool,
    /// The hook session, new if unknown; `None` if the proxy records it.
    pub(super) session: Option<HookSession>,
}

impl GuardCheck {
    pub(super) fn of(context: &HookContext<'_>, settings: &Settings, until: Instant) -> Option<Self> {
        let input = context.input;
        let session_ref = context.session_ref().or_else(|| without_session(input))?;
        let tool = ToolCall {
            name: input.tool_name.as_deref()?,
            id: input.tool_use_id.as_deref(),
            input: input.tool_input.as_ref()?.into(),
            working_directory: session_ref.directory.to_str(),
        };
        // The shell may have changed directory since the session began.
        let began = context.start_directory();
        let place = ProjectLocation::locate(began.as_deref().unwrap_or(&session_ref.directory));
        let root = place
            .work_tree()
            .or(began.as_deref())
            .unwrap_or(&session_ref.directory);
        let is_plan = input.permission_mode.as_deref() == Some(PLAN_MODE);
        let mut action = sketch(&understand_whole(&tool), content(&tool));
        let safe = understand_redacted_whole(&tool);
        let mut safe = sketch(&safe.action, safe.content);
        replaced_text::add(&mut action, &mut safe);
        let intents = Arc::<IntentCache>::default();
        Some(Self {
            root: root.to_str()?.to_owned(),
            services: Arc::clone(context.services),
            reader: reader(&intents),
            intents,
            tool_use_id: input.tool_use_id.clone().unwrap_or_default(),
            masked: (safe != action).then_some(safe),
            action,
            scripts: OnceLock::new(),
            verdict: match settings.guard().mode {
                GuardMode::Deny => GuardVerdict::Deny,
                _ if is_plan => GuardVerdict::Deny,
                _ => GuardVerdict::Ask,
            },
            // In plan mode, a confirmation would make the client run it.
            verdict_if_busy: if is_plan {
                GuardVerdict::Deny
            } else {
                GuardVerdict::Ask
            },
            fails_closed: settings.guard().fails_closed,
            is_attended: input.is_attended(),
            is_proxied: daemon::proxy_address(context, settings).is_some(),
            until,
            session_ref,
        })
    }

    /// The stop for a call of an external tool that the user's list does not allow this agent.
    pub(super) fn refused_tool(&self, input: &Input, grants: &[ToolGrant]) -> Option<Stop> {
        if grants.is_empty() {
            return None;
        }
        self.read_scripts();
        let scripts = self.scripts.get().into_iter().flatten();
        let command = self.action.command.as_deref();
        let reason = tool_access::refusal(input, command, scripts.map(|script| &script.line), grants)?;
        Some(Stop {
            verdict: GuardVerdict::Deny,
            subject: "external tool".to_owned(),
            reason,
        })
    }

    pub(super) fn run(&self) -> Result<CheckOutcome, HookError> {
        self.read_scripts();
        let outcome = runtime()?.block_on(retry_while_busy(self.until, async || self.check_once().await));
        match outcome {
            Err(error) if error.is_transient() => Ok(CheckOutcome::TimedOut),
            outcome => Ok(outcome?),
        }
    }

    /// Whether the call runs scripts that could be read.
    pub(super) fn runs_scripts(&self) -> bool {
        self.read_scripts();
        self.scripts.get().is_some_and(|scripts| !scripts.is_empty())
    }

    /// Reads the scripts that a command runs.
    fn read_scripts(&self) {
        let command = self.action.command.as_deref();
        let is_command = self.action.action_type == ActionType::Bash && self.scripts.get().is_none();
        if let Some(command) = command.filter(|_| is_command) {
            let scripts = read_scripts(command, &self.session_ref.directory, self.root.as_ref());
            // Only this thread sets it.
            let _ = self.scripts.set(scripts);
        }
    }

    /// The stop for a destructive call, decided without the store.
    pub(super) fn destructive_stop(&self) -> Option<Stop> {
        let look = || runtime().ok()?.block_on(self.check_with(None)).ok();
        match catch_unwind(AssertUnwindSafe(look)) {
            Ok(Some(CheckOutcome::Stopped { stop, .. })) => Some(stop),
            _ => None,
        }
    }

    async fn check_once(&self) -> Result<CheckOutcome, StoreError> {
        let store = self.services.stores.open_existing(Some(STORE_TIMEOUT)).await?;
        self.check_with(store.as_deref()).await
    }

    async fn check_with(&self, store: Option<&dyn StoreConnection>) -> Result<CheckOutcome, StoreError> {
        let id = self.session_ref.id();
        let known = match store {
            Some(store) => self.known(store, &id).await?,
            None => None,
        };
        if known.is_none() && self.fails_closed {
            return Ok(CheckOutcome::UnknownSession);
        }
        // The session started before its hooks were registered: only the newest prompt is known.
        let mut known = match (known, store) {
            (Some(known), _) => known,
            (None, store) => {
                let edits = match store {
                    Some(store) => store.goal_edits(&id).await?,
                    None => Vec::new(),
                };
                let newest = newest_prompt(self.session_ref.transcript.as_deref());
                let (contract, is_released) =
                    with_prompt(GoalContract::default().with_edits(&edits), newest, &self.reader);
                KnownSession {
                    contract,
                    is_released,
                    consents: Vec::new(),
                    is_withdrawn: false,
                    session: Some(new_session(&self.session_ref)),
                }
            }
        };
        let is_fine = |known: &KnownSession| decide(&self.question(known, Some(&[]), &[])).is_none();
        if is_fine(&known) {
            match with_unread(&known, &self.reader) {
                Some(unread) if !is_fine(&unread) => known = unread,
                _ => return Ok(CheckOutcome::Allowed),
            }
        }
        // Rare: there is a finding. Earlier actions or approvals may excuse it.
        let (allowed, stopped) = match store {
            Some(store) => guard_log(store, &id).await?,
            None => Default::default(),
        };
        let until = self.until.min(Instant::now() + HISTORY_TIMEOUT);
        let past = self.past(store, &mut known, &stopped, until).await;
        let stop_with = |past| decide(&self.question(&known, past, &allowed));
        let (stop, is_certain) = match (stop_with(past.as_deref()), &past) {
            (None, None) => (stop_with(Some(&[])), false),
            (stop, _) => (stop, true),
        };
        Ok(match stop {
            Some(stop) => CheckOutcome::Stopped { stop, is_certain },
            None => CheckOutcome::Allowed,
        })
    }

    /// Records the verdict.
    pub(super) fn record(&self, stop: &Stop) -> Result<(), HookError> {
        let guarded = GuardRecord {
            client_session_id: self.session_ref.id(),
            tool_use_id: self.tool_use_id.clone(),
            verdict: match stop.verdict {
                GuardVerdict::Ask if !self.is_attended => GuardVerdict::AskUnattended,
                verdict => verdict,
            },
            subject: stop.subject.clone(),
            reason: stop.reason.clone(),
            ran: false,
            at: SystemClock.now(),
        };
        runtime()?.block_on(async {
            let store = self.services.stores.open(Some(STORE_TIMEOUT)).await?;
            Ok(store
                .save_guard_record(&Redactor::shared().clean(guarded))
                .await?)
        })
    }

    fn question<'a>(
        &'a self,
        known: &'a KnownSession,
        past: Option<&'a [PastAction]>,
        allowed: &'a [String],
    ) -> Question<'a> {
        Question {
            contract: &known.contract,
            is_released: known.is_released,
            consents: &known.consents,
            root: Some(&self.root),
            directory: self.session_ref.directory.to_str(),
            action: &self.action,
            masked: self.masked.as_ref(),
            scripts: self.scripts.get().map_or(&[], Vec::as_slice),
            past,
            allowed,
            verdict: self.verdict,
        }
    }

    /// Loads the session's contract, with the limits that a model read; `None` if the session is unknown.
    async fn known(
        &self,
        store: &dyn StoreConnection,
        id: &ClientSessionId,
    ) -> Result<Option<KnownSession>, StoreError> {
        let mut known = self.known_by_rules(store, id).await?;
        if let Some(known) = &mut known {
            let read = match store.read_limits(id).await {
                // A damaged row: the limits of the rules hold.
                Err(error) if !error.is_transient() => None,
                read => read?,
            };
            let read = read.filter(|read| read.read_to == known.contract.newest_instruction());
            known.contract.reading = read.map(|read| read.reading);
            if let Some(reading) = known.contract.reading.as_mut().filter(|_| known.is_withdrawn) {
                reading.asked.clear();
            }
        }
        Ok(known)
    }

    async fn known_by_rules(
        &self,
        store: &dyn StoreConnection,
        id: &ClientSessionId,
    ) -> Result<Option<KnownSession>, StoreError> {
        if self.is_proxied {
            let tasks = store.client_session(id).await?;
            let contract = match active_task(tasks.iter().map(|task| &task.state)) {
                Some(task) => {
                    ActiveConstraints::load(store, Arc::clone(&self.reader), task, None)
                        .await?
                        .contract
                }
                None => GoalContract::default().with_edits(&store.goal_edits(id).await?),
            };
            let consents = store.drift_state(id).await?.map(|state| state.consent.orders);
            let newest = newest_prompt(self.session_ref.transcript.as_deref());
            let objects = newest.as_deref().is_some_and(has_objection);
            let (contract, is_released) = with_prompt(contract, newest.clone(), &self.reader);
            let is_instruction =
                newest.is_none_or(|newest| contract.newest_instruction() == sanitize_prompt(&newest));
            return Ok(Some(KnownSession {
                contract,
                is_released,
                consents: consents.filter(|_| !objects).unwrap_or_default(),
                is_withdrawn: objects && !is_instruction,
                session: None,
            }));
        }
        let Some(session) = store.hook_session_summary(id).await? else {
            return Ok(None);
        };
        let edits = store.goal_edits(id).await?;
        Ok(Some(KnownSession {
            contract: session.contract.clone().with_edits(&edits),
            is_released: false,
            consents: Vec::new(),
            is_withdrawn: false,
            session: Some(session),
        }))
    }

    /// Loads earlier actions, without stopped calls, and updates the contract with prompts typed since. `None` if they could
    /// not be read in time.
    async fn past(
        &self,
        store: Option<&dyn StoreConnection>,
        known: &mut KnownSession,
        stopped: &HashSet<String>,
        until: Instant,
    ) -> Option<Vec<PastAction>> {
        let id = self.session_ref.id();
        let is_done =
            |call: Option<&str>| call.is_none_or(|call| call != self.tool_use_id && !stopped.contains(call));
        let Some(stored_session) = known.session.take() else {
            return proxied_past(store?, &id, is_done).await.ok();
        };
        let (session, mut steps, edits, checks) = match store {
            Some(store) => {
                let session = store.hook_session(&id).await.ok()?.unwrap_or(stored_session);
                let steps = store.hook_steps(&id).await.ok()?;
                let checks = store.hook_checks(&id).await.ok()?;
                (session, steps, store.goal_edits(&id).await.ok()?, checks)
            }
            None => (stored_session, Vec::new(), Vec::new(), Vec::new()),
        };
        let corrected = checks.iter().filter(|check| check.correction.is_some());
        let corrected_at = corrected.map(|check| check.at).max();
        load_readings(&self.intents, &session);
        let mut follower = TranscriptFollower::resume(session, &edits, Arc::clone(&self.reader));
        let is_whole = catch_up(&mut follower, until).unwrap_or(false);
        if is_whole {
            let newest = follower.contract().newest_instruction();
            let reading = known.contract.reading.take();
            let reading = reading.filter(|_| newest == known.contract.newest_instruction());
            known.contract = GoalContract {
                reading,
                ..follower.contract().clone()
            };
            known.is_released = follower.is_released();
            known.consents = follower.consents().to_vec();
        }
        steps.extend(follower.into_progress(SystemClock.now()).steps);
        let done = steps
            .into_iter()
            .filter(|step| is_done(step.tool_use_id.as_deref()) && step.action.failed != Some(true));
        let done = done.map(|step| PastAction {
            broke_constraint: step
                .findings
                .iter()
                .any(|finding| finding.rule == Rule::Constraint),
            is_corrected: corrected_at.is_some_and(|corrected_at| step.timestamp <= corrected_at),
            action: step.action,
        });
        is_whole.then(|| done.collect())
    }
}

/// Retries while the store is busy, until the deadline.
async fn retry_while_busy<T>(
    until: Instant,
    attempt: impl AsyncFn() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    loop {
        match attempt().await {
            Err(error) if error.is_transient() && Instant::now() < until => {
                tokio::time::sleep(RETRY_INTERVAL).await;
            }
            other => return other,
        }
    }
}

/// The session reference of a call without a session id or whose directory was removed.
fn without_session(input: &Input) -> Option<SessionRef> {
    Some(SessionRef {
        session: input.session_id.clone().unwrap_or_default(),
        directory: PathBuf::from(input.cwd.as_deref().filter(|cwd| cwd.starts_with('/'))?),
        transcript: None,
    })
}

/// The subjects that the user allowed, and the ids of stopped calls.
async fn guard_log(
    store: &dyn StoreConnection,
    id: &ClientSessionId,
) -> Result<(Vec<String>, HashSet<String>), StoreError> {
    let (ran, stopped): (Vec<GuardRecord>, Vec<GuardRecord>) = store
        .guard_log(id)
        .await?
        .into_iter()
        .partition(|guarded| guarded.ran);
    let allowed = ran.into_iter().map(|guarded| guarded.subject);
    let stopped = stopped.into_iter().map(|guarded| guarded.tool_use_id);
    Ok((allowed.collect(), stopped.collect()))
}

fn sketch(action: &Action, content: Option<String>) -> ActionSketch {
    ActionSketch {
        content,
        ..ActionSketch::of(action)
    }
}
