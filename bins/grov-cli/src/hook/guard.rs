//! The agent is about to use a tool: whether it may. And it has used one: somebody said yes.
//!
//! The client waits, so the guard looks for [`BUDGET`] at most. What it could not look at runs, or does not if it was set
//! to fail closed; then, and only then, a hook ends with the exit code that the client takes for a refusal.

use super::following::{Whose, catch_up, last};
use super::{Call, Reply, note, proxy, runtime};
use crate::chosen;
use crate::held::Held;
use grov_actions::{ToolCall, content, understand};
use grov_domain::{
    Action, ActionSketch, ClientSessionId, Clock, GoalContract, GoalStore, GuardVerdict, Guarded,
    HookSession, HookStore, IntentQuestion, SessionStore, StoreError, SystemClock,
};
use grov_drift::Following;
use grov_drift::guard::{Question, Stop, decide};
use grov_hooks::memory::is_off;
use grov_hooks::permission;
use grov_llm::offline::extract_intent;
use grov_project::Place;
use grov_runtime::{GuardMode, GuardSettings};
use grov_store::{OpenOptions, SqliteStore};
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// What the guard may cost before an action. A program without optimisation, which nobody is given, is slower by far.
const BUDGET: Duration = Duration::from_millis(if cfg!(debug_assertions) { 5_000 } else { 50 });

/// In this mode the client changes nothing, unless a hook makes it ask and its user says yes.
const PLAN_MODE: &str = "plan";

/// Looks at a tool call that has not run yet.
pub(super) fn before(call: &Call<'_>) -> Reply {
    let start = Instant::now();
    let guard = match settings(call) {
        Ok(guard) => guard,
        Err((fault, fails_closed)) => return failed(call, fails_closed, &fault),
    };
    if guard.mode == GuardMode::Off {
        return Reply::Silence;
    }
    let inquiry = catch_unwind(AssertUnwindSafe(|| Inquiry::of(call, guard, start + BUDGET / 2)));
    let inquiry = match inquiry {
        Ok(Some(inquiry)) => inquiry,
        // That is no call.
        Ok(None) if !guard.fails_closed => return Reply::Silence,
        _ => {
            return failed(
                call,
                guard.fails_closed,
                "what is about to run could not be understood",
            );
        }
    };
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        // Whoever waited may be gone.
        let _ = sender.send(inquiry.look());
    });
    match receiver.recv_timeout((start + BUDGET).saturating_duration_since(Instant::now())) {
        Ok(Ok(Looked::Fine)) => Reply::Silence,
        Ok(Ok(Looked::Stopped(stop, fault))) => {
            if let Some(fault) = fault {
                note(Some(call.home), &format!("what the guard said: {fault}"));
            }
            Reply::Text(permission(stop.verdict, &stop.reason))
        }
        // A session that began before there were hooks is no fault.
        Ok(Ok(Looked::Unknown)) if !guard.fails_closed => Reply::Silence,
        Ok(Ok(Looked::Unknown)) => failed(call, true, "nothing is known of this session"),
        Ok(Err(fault)) => failed(call, guard.fails_closed, &fault),
        Err(RecvTimeoutError::Timeout) => failed(call, guard.fails_closed, "there was no time to look"),
        Err(RecvTimeoutError::Disconnected) => failed(call, guard.fails_closed, "it broke off"),
    }
}

/// Notes that a tool call ran: whoever was asked about it said yes.
pub(super) fn after(call: &Call<'_>) -> Result<Option<String>, String> {
    let is_off = settings(call).is_ok_and(|guard| guard.mode == GuardMode::Off);
    let (false, Some(whose), Some(tool_use_id)) = (is_off, call.whose(), call.input.tool_use_id.as_deref())
    else {
        return Ok(None);
    };
    let noted = runtime()?.block_on(note_ran(&call.home.database(), &whose.id(), tool_use_id));
    noted.map_err(|error| error.to_string())?;
    Ok(None)
}

/// Nearly every call was never asked about: only for those that were the database is opened to be written.
async fn note_ran(database: &Path, session: &ClientSessionId, tool_use_id: &str) -> Result<(), StoreError> {
    let Some(store) = SqliteStore::open_existing(database, &OpenOptions::brief()).await? else {
        return Ok(());
    };
    let log = store.guard_log(session).await?;
    if log
        .iter()
        .any(|guarded| guarded.tool_use_id == tool_use_id && !guarded.ran)
    {
        let store = SqliteStore::open(database, &OpenOptions::brief()).await?;
        store.guarded_ran(session, tool_use_id).await?;
    }
    Ok(())
}

/// The guard's settings, without those of the project, whose files the agent writes. Where they cannot be read: why, and
/// whether something says that the guard fails closed.
fn settings(call: &Call<'_>) -> Result<GuardSettings, (String, bool)> {
    call.settings(None)
        .map(|settings| settings.guard())
        .map_err(|fault| {
            let variable = call.environment.get("GROV_GUARD_FAIL");
            let file = std::fs::read_to_string(call.home.config_file()).unwrap_or_default();
            let says_closed = |line: &str| {
                let line = line.split('#').next().unwrap_or_default();
                line.contains("fail") && line.contains("closed")
            };
            let fails_closed = match variable {
                Some(word) => word == "closed",
                None => file.lines().any(says_closed),
            };
            (fault, fails_closed)
        })
}

/// What becomes of a tool call that could not be looked at.
fn failed(call: &Call<'_>, fails_closed: bool, fault: &str) -> Reply {
    note(Some(call.home), &format!("the guard: {fault}"));
    if fails_closed {
        let fault = fault.lines().next().unwrap_or_default();
        Reply::Refusal(format!(
            "Grov could not look at this before it runs, and guard.fail is \"closed\": {fault}. The user can look with grov doctor."
        ))
    } else {
        Reply::Silence
    }
}

/// A tool call, and all that is needed to look at it.
struct Inquiry {
    whose: Whose,
    /// The folder that the session's paths are meant from.
    root: String,
    database: PathBuf,
    tool_use_id: String,
    action: ActionSketch,
    verdict: GuardVerdict,
    /// The session goes through the proxy, which records it.
    is_proxied: bool,
    /// Until when what was done before is looked for: what was forbidden is forbidden without that.
    until: Instant,
}

/// What came out of it.
enum Looked {
    Fine,
    /// With what hindered noting it.
    Stopped(Stop, Option<StoreError>),
    /// Nobody knows what the session is held to.
    Unknown,
}

/// What is known of a session.
struct Known {
    contract: GoalContract,
    /// As hooks know it.
    session: Option<HookSession>,
}

impl Inquiry {
    fn of(call: &Call<'_>, guard: GuardSettings, until: Instant) -> Option<Self> {
        let input = call.input;
        let whose = call.whose()?;
        let tool = ToolCall {
            name: input.tool_name.as_deref()?,
            id: input.tool_use_id.as_deref(),
            input: input.tool_input.as_ref()?.into(),
            working_directory: whose.directory.to_str(),
        };
        // A shell may have gone elsewhere since the session began.
        let began = call.environment.get("CLAUDE_PROJECT_DIR").map(PathBuf::from);
        let began = began.filter(|folder| folder.is_dir());
        let place = Place::locate(began.as_deref().unwrap_or(&whose.directory));
        let root = place.work_tree().or(began.as_deref()).unwrap_or(&whose.directory);
        let is_plan = input.permission_mode.as_deref() == Some(PLAN_MODE);
        Some(Self {
            root: root.to_str()?.to_owned(),
            database: call.home.database(),
            tool_use_id: input.tool_use_id.clone().unwrap_or_default(),
            action: sketch(understand(&tool), content(&tool)),
            verdict: match guard.mode {
                GuardMode::Deny => GuardVerdict::Deny,
                _ if is_plan => GuardVerdict::Deny,
                _ => GuardVerdict::Ask,
            },
            is_proxied: call
                .settings(None)
                .is_ok_and(|settings| proxy::own(call, &settings).is_some()),
            until,
            whose,
        })
    }

    fn look(&self) -> Result<Looked, String> {
        let looked = runtime()?.block_on(async {
            match SqliteStore::open_existing(&self.database, &OpenOptions::brief()).await? {
                Some(store) => self.look_with(&store).await,
                None => Ok(Looked::Unknown),
            }
        });
        looked.map_err(|error| error.to_string())
    }

    async fn look_with(&self, store: &SqliteStore) -> Result<Looked, StoreError> {
        let id = self.whose.id();
        let project = Place::locate(&self.whose.directory).project();
        if is_off(store, project.key(), Some(&id)).await? {
            return Ok(Looked::Fine);
        }
        let Some(mut known) = self.known(store, &id).await? else {
            return Ok(Looked::Unknown);
        };
        if decide(&self.question(&known.contract, Some(&[]), &[])).is_none() {
            return Ok(Looked::Fine);
        }
        // Something stands against it, which is rare. Whether that holds tells what happened before.
        let (allowed, stopped) = guard_log(store, &id).await?;
        let past = self.past(store, &mut known, &stopped).await;
        let Some(stop) = decide(&self.question(&known.contract, past.as_deref(), &allowed)) else {
            return Ok(Looked::Fine);
        };
        let guarded = Guarded {
            client_session_id: id,
            tool_use_id: self.tool_use_id.clone(),
            verdict: stop.verdict,
            subject: stop.subject.clone(),
            reason: stop.reason.clone(),
            ran: false,
            at: SystemClock.now(),
        };
        // What cannot be noted is asked again, which is better than not at all.
        let noted = match SqliteStore::open(&self.database, &OpenOptions::brief()).await {
            Ok(store) => store.guarded(&guarded).await,
            Err(error) => Err(error),
        };
        Ok(Looked::Stopped(stop, noted.err()))
    }

    fn question<'a>(
        &'a self,
        contract: &'a GoalContract,
        past: Option<&'a [ActionSketch]>,
        allowed: &'a [String],
    ) -> Question<'a> {
        Question {
            contract,
            root: Some(&self.root),
            directory: self.whose.directory.to_str(),
            action: &self.action,
            past,
            allowed,
            verdict: self.verdict,
        }
    }

    /// What the session is held to; `None` where nobody knows.
    async fn known(&self, store: &SqliteStore, id: &ClientSessionId) -> Result<Option<Known>, StoreError> {
        if self.is_proxied {
            let tasks = store.client_session(id).await?;
            let contract = match chosen::in_work(&tasks) {
                Some(task) => Held::of(store, task, None).await?.contract,
                None => GoalContract::default().with_edits(&store.goal_edits(id).await?),
            };
            let newest = last(self.whose.transcript.as_deref()).prompt;
            return Ok(Some(Known {
                contract: with_prompt(contract, newest),
                session: None,
            }));
        }
        let Some(session) = store.hook_session(id).await? else {
            return Ok(None);
        };
        let edits = store.goal_edits(id).await?;
        Ok(Some(Known {
            contract: session.contract.clone().with_edits(&edits),
            session: Some(session),
        }))
    }

    /// What the agent did before, as far as that is known; what was stopped it did not. What was typed meanwhile is taken
    /// into the contract.
    async fn past(
        &self,
        store: &SqliteStore,
        known: &mut Known,
        stopped: &HashSet<String>,
    ) -> Option<Vec<ActionSketch>> {
        let id = self.whose.id();
        let is_done =
            |call: Option<&str>| call.is_none_or(|call| call != self.tool_use_id && !stopped.contains(call));
        let Some(session) = known.session.take() else {
            let mut past = Vec::new();
            for task in store.client_session(&id).await.ok()? {
                let steps = store.steps(&task.state.session_id).await.ok()?;
                let done = steps
                    .into_iter()
                    .filter(|step| is_done(step.tool_use_id.as_deref()));
                past.extend(done.map(|step| ActionSketch {
                    action_type: step.action_type,
                    files: step.files,
                    command: step.command,
                    effects: step.effects.iter().map(|effect| effect.kind).collect(),
                    ..nothing()
                }));
            }
            return Some(past);
        };
        let mut steps = store.hook_steps(&id).await.ok()?;
        let edits = store.goal_edits(&id).await.ok()?;
        let mut following = Following::resume(session, &edits, Arc::new(extract_intent));
        let is_whole = catch_up(&mut following, self.until).unwrap_or(false);
        known.contract = following.contract().clone();
        steps.extend(following.into_progress(SystemClock.now()).steps);
        let done = steps
            .into_iter()
            .filter(|step| is_done(step.tool_use_id.as_deref()) && step.action.failed != Some(true));
        is_whole.then(|| done.map(|step| step.action).collect())
    }
}

/// Subjects that ran though the guard asked about them, and the calls that it stopped.
async fn guard_log(
    store: &SqliteStore,
    id: &ClientSessionId,
) -> Result<(Vec<String>, HashSet<String>), StoreError> {
    let (ran, stopped): (Vec<Guarded>, Vec<Guarded>) = store
        .guard_log(id)
        .await?
        .into_iter()
        .partition(|guarded| guarded.ran);
    let allowed = ran.into_iter().map(|guarded| guarded.subject);
    let stopped = stopped.into_iter().map(|guarded| guarded.tool_use_id);
    Ok((allowed.collect(), stopped.collect()))
}

/// A contract with what was typed last, which is recorded only after the answer to it has begun.
fn with_prompt(mut contract: GoalContract, prompt: Option<String>) -> GoalContract {
    let Some(prompt) = prompt.filter(|prompt| !contract.instructions.contains(prompt)) else {
        return contract;
    };
    let intent = extract_intent(&IntentQuestion {
        prompts: vec![prompt.clone()],
        first_files: Vec::new(),
    });
    contract.instructions.push(prompt);
    for constraint in intent.constraints {
        if !contract.constraints.contains(&constraint) {
            contract.constraints.push(constraint);
        }
    }
    if contract.goal.is_empty() {
        contract.goal = intent.goal;
    }
    contract
}

fn sketch(action: Action, content: Option<String>) -> ActionSketch {
    ActionSketch {
        action_type: action.action_type,
        files: action.files,
        command: action.command,
        effects: action.effects.iter().map(|effect| effect.kind).collect(),
        content,
        ..nothing()
    }
}

fn nothing() -> ActionSketch {
    ActionSketch {
        action_type: grov_domain::ActionType::Other,
        files: Vec::new(),
        command: None,
        effects: Vec::new(),
        reasoning: None,
        failed: None,
        output: None,
        content: None,
    }
}
