//! Checks one tool call: loads what is known of its session, and decides.

use super::decision::{Done, Question, Stop, decide};
use super::unread_prompts::{newest_prompt, with_prompt, with_unread};
use crate::follower::Following;
use crate::hook::Call;
use crate::resume::{Whose, begun, intent_reader};
use crate::services::{STORE_TIMEOUT, Services};
use crate::team_memory::is_off;
use crate::transcript_file::catch_up;
use crate::{daemon, runtime};
use grov_actions::{ToolCall, content, understand_redacted_whole, understand_whole};
use grov_domain::{
    Action, ActionSketch, ClientSessionId, Clock, GoalContract, GuardRecord, GuardVerdict, HookSession, Rule,
    StoreConnection, StoreError, SystemClock, active_task,
};
use grov_hooks::event::Input;
use grov_project::Place;
use grov_query::ActiveConstraints;
use grov_redact::Redactor;
use grov_runtime::{GuardMode, Settings};
use grov_session::IntentReader;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long what was done before is looked for.
const TIME_FOR_PAST: Duration = Duration::from_secs(2);

/// After which a busy database is asked again.
const ASK_AGAIN: Duration = Duration::from_millis(10);

/// In this mode the client changes nothing, unless a hook makes it ask and its user says yes.
const PLAN_MODE: &str = "plan";

/// A tool call, and all that is needed to look at it.
pub(super) struct Inquiry {
    whose: Whose,
    /// The folder that the session's paths are meant from.
    pub(super) root: String,
    services: Arc<Services>,
    reader: IntentReader,
    tool_use_id: String,
    pub(super) action: ActionSketch,
    /// The same without its secrets, if it has any.
    masked: Option<ActionSketch>,
    verdict: GuardVerdict,
    /// What becomes of a call where the contract could not be read in time.
    pub(super) verdict_unread: GuardVerdict,
    /// The session goes through the proxy, which records it.
    is_proxied: bool,
    pub(super) fails_closed: bool,
    /// When the client must be answered.
    until: Instant,
}

/// What came out of it.
pub(super) enum Looked {
    Fine,
    Stopped(Stop),
    /// It is fine only if the agent did something before, which could not be read.
    InPart(Stop),
    /// The store was busy until the client must be answered.
    Late,
    /// Nothing is known of the session, and the guard fails closed.
    Unknown,
}

/// What is known of a session.
pub(super) struct Known {
    pub(super) contract: GoalContract,
    /// The user let go of the wish that nothing be changed.
    pub(super) is_released: bool,
    /// As hooks know it, or as it begins where they do not; `None` where the proxy records it.
    pub(super) session: Option<HookSession>,
}

impl Inquiry {
    pub(super) fn of(call: &Call<'_>, settings: &Settings, until: Instant) -> Option<Self> {
        let input = call.input;
        let whose = call.whose().or_else(|| nowhere(input))?;
        let tool = ToolCall {
            name: input.tool_name.as_deref()?,
            id: input.tool_use_id.as_deref(),
            input: input.tool_input.as_ref()?.into(),
            working_directory: whose.directory.to_str(),
        };
        // A shell may have gone elsewhere since the session began.
        let began = call.began();
        let place = Place::locate(began.as_deref().unwrap_or(&whose.directory));
        let root = place.work_tree().or(began.as_deref()).unwrap_or(&whose.directory);
        let is_plan = input.permission_mode.as_deref() == Some(PLAN_MODE);
        let action = sketch(&understand_whole(&tool), content(&tool));
        let safe = understand_redacted_whole(&tool);
        let safe = sketch(&safe.action, safe.content);
        Some(Self {
            root: root.to_str()?.to_owned(),
            services: Arc::clone(call.services),
            reader: intent_reader(),
            tool_use_id: input.tool_use_id.clone().unwrap_or_default(),
            masked: (safe != action).then_some(safe),
            action,
            verdict: match settings.guard().mode {
                GuardMode::Deny => GuardVerdict::Deny,
                _ if is_plan => GuardVerdict::Deny,
                _ => GuardVerdict::Ask,
            },
            // In plan mode a yes would let it run.
            verdict_unread: if is_plan {
                GuardVerdict::Deny
            } else {
                GuardVerdict::Ask
            },
            fails_closed: settings.guard().fails_closed,
            is_proxied: daemon::own(call, settings).is_some(),
            until,
            whose,
        })
    }

    pub(super) fn look(&self) -> Result<Looked, String> {
        let looked = runtime()?.block_on(patiently(self.until, async || self.look_once().await));
        match looked {
            Err(error) if error.is_transient() => Ok(Looked::Late),
            looked => looked.map_err(|error| error.to_string()),
        }
    }

    /// Whether the call destroys something, as far as that shows without the store.
    pub(super) fn destroys(&self) -> Option<Stop> {
        let look = || runtime().ok()?.block_on(self.look_with(None)).ok();
        match catch_unwind(AssertUnwindSafe(look)) {
            Ok(Some(Looked::Stopped(stop) | Looked::InPart(stop))) => Some(stop),
            _ => None,
        }
    }

    async fn look_once(&self) -> Result<Looked, StoreError> {
        let store = self.services.stores.open_existing(Some(STORE_TIMEOUT)).await?;
        self.look_with(store.as_deref()).await
    }

    async fn look_with(&self, store: Option<&dyn StoreConnection>) -> Result<Looked, StoreError> {
        let id = self.whose.id();
        let project = Place::locate(&self.whose.directory).project();
        if let Some(store) = store
            && is_off(store, project.key(), Some(&id)).await?
        {
            return Ok(Looked::Fine);
        }
        let known = match store {
            Some(store) => self.known(store, &id).await?,
            None => None,
        };
        if known.is_none() && self.fails_closed {
            return Ok(Looked::Unknown);
        }
        // A session that began before there were hooks is held to what was typed last.
        let mut known = match (known, store) {
            (Some(known), _) => known,
            (None, store) => {
                let edits = match store {
                    Some(store) => store.goal_edits(&id).await?,
                    None => Vec::new(),
                };
                let newest = newest_prompt(self.whose.transcript.as_deref());
                let (contract, is_released) =
                    with_prompt(GoalContract::default().with_edits(&edits), newest, &self.reader);
                Known {
                    contract,
                    is_released,
                    session: Some(begun(&self.whose)),
                }
            }
        };
        let is_fine = |known: &Known| decide(&self.question(known, Some(&[]), &[])).is_none();
        if is_fine(&known) {
            match with_unread(&known, &self.reader) {
                Some(unread) if !is_fine(&unread) => known = unread,
                _ => return Ok(Looked::Fine),
            }
        }
        // Something stands against it, which is rare. Whether that holds depends on what happened before.
        let (allowed, stopped) = match store {
            Some(store) => guard_log(store, &id).await?,
            None => Default::default(),
        };
        let until = self.until.min(Instant::now() + TIME_FOR_PAST);
        let past = self.past(store, &mut known, &stopped, until).await;
        let stands_with = |past| decide(&self.question(&known, past, &allowed));
        Ok(match (stands_with(past.as_deref()), past.is_some()) {
            (Some(stop), _) => Looked::Stopped(stop),
            (None, true) => Looked::Fine,
            (None, false) => stands_with(Some(&[])).map_or(Looked::Fine, Looked::InPart),
        })
    }

    /// Notes what is said about the call.
    pub(super) fn write_down(&self, stop: &Stop) -> Result<(), String> {
        let guarded = GuardRecord {
            client_session_id: self.whose.id(),
            tool_use_id: self.tool_use_id.clone(),
            verdict: stop.verdict,
            subject: stop.subject.clone(),
            reason: stop.reason.clone(),
            ran: false,
            at: SystemClock.now(),
        };
        let noted = runtime()?.block_on(async {
            let store = self.services.stores.open(Some(STORE_TIMEOUT)).await?;
            store.save_guard_record(&Redactor::shared().clean(guarded)).await
        });
        noted.map_err(|error| error.to_string())
    }

    fn question<'a>(
        &'a self,
        known: &'a Known,
        past: Option<&'a [Done]>,
        allowed: &'a [String],
    ) -> Question<'a> {
        Question {
            contract: &known.contract,
            is_released: known.is_released,
            root: Some(&self.root),
            directory: self.whose.directory.to_str(),
            action: &self.action,
            masked: self.masked.as_ref(),
            past,
            allowed,
            verdict: self.verdict,
        }
    }

    /// What the session is held to; `None` where nobody knows.
    async fn known(
        &self,
        store: &dyn StoreConnection,
        id: &ClientSessionId,
    ) -> Result<Option<Known>, StoreError> {
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
            let newest = newest_prompt(self.whose.transcript.as_deref());
            let (contract, is_released) = with_prompt(contract, newest, &self.reader);
            return Ok(Some(Known {
                contract,
                is_released,
                session: None,
            }));
        }
        let Some(session) = store.hook_session_summary(id).await? else {
            return Ok(None);
        };
        let edits = store.goal_edits(id).await?;
        Ok(Some(Known {
            contract: session.contract.clone().with_edits(&edits),
            is_released: false,
            session: Some(session),
        }))
    }

    /// What the agent did before, as far as that is known; what was stopped it did not. What was typed meanwhile is taken
    /// into the contract.
    async fn past(
        &self,
        store: Option<&dyn StoreConnection>,
        known: &mut Known,
        stopped: &HashSet<String>,
        until: Instant,
    ) -> Option<Vec<Done>> {
        let id = self.whose.id();
        let is_done =
            |call: Option<&str>| call.is_none_or(|call| call != self.tool_use_id && !stopped.contains(call));
        let Some(standing) = known.session.take() else {
            let mut past = Vec::new();
            for task in store?.client_session(&id).await.ok()? {
                let steps = store?.steps(&task.state.session_id).await.ok()?;
                let done = steps
                    .into_iter()
                    .filter(|step| is_done(step.tool_use_id.as_deref()));
                // What broke a constraint is no step: it is in the drift log.
                past.extend(done.map(|step| Done {
                    action: ActionSketch {
                        files: step.files,
                        command: step.command,
                        effects: step.effects.iter().map(|effect| effect.kind).collect(),
                        ..ActionSketch::empty(step.action_type)
                    },
                    broke: false,
                    is_told: false,
                }));
            }
            return Some(past);
        };
        let (session, mut steps, edits, checks) = match store {
            Some(store) => {
                let session = store.hook_session(&id).await.ok()?.unwrap_or(standing);
                let steps = store.hook_steps(&id).await.ok()?;
                let checks = store.hook_checks(&id).await.ok()?;
                (session, steps, store.goal_edits(&id).await.ok()?, checks)
            }
            None => (standing, Vec::new(), Vec::new(), Vec::new()),
        };
        let corrected = checks.iter().filter(|check| check.correction.is_some());
        let told_at = corrected.map(|check| check.at).max();
        let mut following = Following::resume(session, &edits, Arc::clone(&self.reader));
        let is_whole = catch_up(&mut following, until).unwrap_or(false);
        if is_whole {
            known.contract = following.contract().clone();
            known.is_released = following.is_released();
        }
        steps.extend(following.into_progress(SystemClock.now()).steps);
        let done = steps
            .into_iter()
            .filter(|step| is_done(step.tool_use_id.as_deref()) && step.action.failed != Some(true));
        let done = done.map(|step| Done {
            broke: step
                .findings
                .iter()
                .any(|finding| finding.rule == Rule::Constraint),
            is_told: told_at.is_some_and(|told_at| step.timestamp <= told_at),
            action: step.action,
        });
        is_whole.then(|| done.collect())
    }
}

/// Asks a store again while it is busy, until then.
async fn patiently<T>(
    until: Instant,
    attempt: impl AsyncFn() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    loop {
        match attempt().await {
            Err(error) if error.is_transient() && Instant::now() < until => {
                tokio::time::sleep(ASK_AGAIN).await;
            }
            other => return other,
        }
    }
}

/// A call of a session that has no name, or works in a folder that is gone.
fn nowhere(input: &Input) -> Option<Whose> {
    Some(Whose {
        session: input.session_id.clone().unwrap_or_default(),
        directory: PathBuf::from(input.cwd.as_deref().filter(|cwd| cwd.starts_with('/'))?),
        transcript: None,
    })
}

/// Subjects that ran though the guard asked about them, and the calls that it stopped.
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
