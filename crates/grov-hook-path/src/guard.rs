//! The agent is about to use a tool: whether it may. And it has used one: somebody said yes.
//!
//! What the user forbade, and what destroys, is decided without a limit of ours: the guard waits for a busy database and asks
//! the user one second before the client would let the call run. Only the look at what was done before is limited
//! ([`TIME_FOR_PAST`]). What it could not look at for a fault runs, unless it destroys, or does not run if the guard was set to
//! fail closed; then, and only then, a hook ends with the exit code that the client takes for a refusal.

use crate::call::Call;
use crate::faults::{Fault, note, tellable};
use crate::following::{Whose, begun, catch_up, length, portion, reader};
use crate::reply::Reply;
use crate::services::{BRIEF, HookBackend, Services};
use crate::{proxy, runtime};
use grov_actions::transcript::{Event, Reader};
use grov_actions::{ToolCall, content, kept_whole, understand_whole};
use grov_domain::{
    Action, ActionSketch, ClientSessionId, Clock, GoalContract, GuardVerdict, Guarded, HookSession,
    IntentQuestion, Rule, StoreError, SystemClock, in_work,
};
use grov_drift::guard::{Done, Question, Stop, decide, is_never_stopped};
use grov_drift::{Following, IntentReader};
use grov_hooks::event::{GUARD_TIMEOUT, Input};
use grov_hooks::memory::is_off;
use grov_hooks::permission;
use grov_project::Place;
use grov_query::Held;
use grov_redact::Redactor;
use grov_runtime::{Environment, GuardMode, Home, Settings};
use grov_session::objection::has_objection;
use grov_session::{instructions, sanitize_prompt};
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// When the guard answers at the latest: a second before the client gives up on it and lets the call run.
const ANSWER_WITHIN: Duration = Duration::from_secs(GUARD_TIMEOUT - 1);

/// How long what was done before is looked for.
const TIME_FOR_PAST: Duration = Duration::from_secs(2);

/// After which a busy database is asked again.
const ASK_AGAIN: Duration = Duration::from_millis(10);

/// What the thread that looks may take to say that its time is over.
const GRACE: Duration = Duration::from_millis(250);

/// How long a process whose verdict is told stays to note it.
const TIME_TO_NOTE: Duration = Duration::from_millis(if cfg!(debug_assertions) { 5_000 } else { 100 });

/// Bytes at the end of a transcript in which the newest prompt is looked for.
const MOST_OF_TRANSCRIPT: u64 = 512 * 1024;

/// Bytes at the end of a transcript in which prompts are looked for that no hook told of.
const MOST_UNREAD: u64 = 2 * 1024 * 1024;

/// In this mode the client changes nothing, unless a hook makes it ask and its user says yes.
const PLAN_MODE: &str = "plan";

/// Looks at a tool call that has not run yet.
pub(crate) fn before(call: &Call<'_>) -> Reply {
    let settings = match call.settings(None) {
        Ok(settings) => settings,
        Err(fault) => return failed(call, says_closed(Some(call.home), call.environment), &fault),
    };
    let guard = settings.guard();
    if guard.mode == GuardMode::Off {
        return Reply::Silence;
    }
    let until = call.since + ANSWER_WITHIN;
    let inquiry = catch_unwind(AssertUnwindSafe(|| Inquiry::of(call, &settings, until)));
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
    if is_never_stopped(&inquiry.action, Some(&inquiry.root)) {
        return Reply::Silence;
    }
    let inquiry = Arc::new(inquiry);
    let (sender, receiver) = mpsc::channel();
    let (noter, noted) = mpsc::channel();
    let looking = Arc::clone(&inquiry);
    let look = move || {
        let looked = looking.look();
        let stop = match &looked {
            Ok(Looked::Stopped(stop) | Looked::InPart(stop)) => Some(stop.clone()),
            _ => None,
        };
        // Said first: what cannot be noted is asked again, which is better than not at all. Whoever waited may be gone.
        let _ = sender.send(looked);
        if let Some(stop) = stop {
            let _ = noter.send(looking.write_down(&stop));
        }
    };
    if let Err(error) = thread::Builder::new().spawn(look) {
        return unread(call, &inquiry, &format!("no thread: {error}"));
    }
    match receiver.recv_timeout((until + GRACE).saturating_duration_since(Instant::now())) {
        Ok(Ok(Looked::Fine)) => Reply::Silence,
        Ok(Ok(Looked::Stopped(stop))) => Reply::Verdict(
            permission(stop.verdict, &Redactor::shared().text(&stop.reason)),
            Noting(noted),
        ),
        Ok(Ok(Looked::InPart(_))) if guard.fails_closed => failed(call, true, UNREAD_PAST),
        Ok(Ok(Looked::InPart(stop))) => {
            note(Some(call.home), &format!("the guard: {UNREAD_PAST}"));
            Reply::Verdict(
                permission(stop.verdict, &Redactor::shared().text(&stop.reason)),
                Noting(noted),
            )
        }
        Ok(Ok(Looked::Unknown)) => failed(call, true, "nothing is known of this session"),
        Ok(Ok(Looked::Late)) | Err(RecvTimeoutError::Timeout) => late(call, &inquiry),
        Ok(Err(fault)) => unread(call, &inquiry, &fault),
        Err(RecvTimeoutError::Disconnected) => unread(call, &inquiry, "it broke off"),
    }
}

/// Where the past could not be read, nothing in it excuses a call.
const UNREAD_PAST: &str = "what was done before could not be read in time";

/// What becomes of a tool call while the store cannot be read: what destroys does so whatever the store says.
fn unread(call: &Call<'_>, inquiry: &Inquiry, fault: &str) -> Reply {
    if inquiry.fails_closed {
        return failed(call, true, fault);
    }
    note(Some(call.home), &format!("the guard: {fault}"));
    let Some(stop) = inquiry.destroys() else {
        return Reply::Silence;
    };
    let reason = format!(
        "{} What you forbade or allowed before could not be read: {}. grov doctor tells more.",
        stop.reason,
        tellable(fault.lines().next().unwrap_or_default())
    );
    Reply::Text(permission(stop.verdict, &Redactor::shared().text(&reason)))
}

/// What becomes of a tool call where the store was busy until the client must be answered.
fn late(call: &Call<'_>, inquiry: &Inquiry) -> Reply {
    let fault = format!("the database was busy for {} s", ANSWER_WITHIN.as_secs());
    if inquiry.fails_closed {
        return failed(call, true, &fault);
    }
    note(Some(call.home), &format!("the guard: {fault}"));
    let why = inquiry.destroys().map(|stop| stop.reason);
    let reason = format!(
        "{} {UNREAD}",
        why.as_deref().unwrap_or("Grov: this call could not be checked.")
    );
    Reply::Text(permission(
        inquiry.verdict_unread,
        &Redactor::shared().text(&reason),
    ))
}

/// Why nobody knows whether a call is forbidden.
const UNREAD: &str = "The database was busy for a minute, so it is not known what you forbade or allowed. Check the call before \
    you allow it; grov doctor tells more.";

/// Notes that a tool call ran: whoever was asked about it said yes.
pub(crate) fn after(call: &Call<'_>) -> Result<Option<String>, String> {
    let is_off = call
        .settings(None)
        .is_ok_and(|settings| settings.guard().mode == GuardMode::Off);
    let (false, Some(whose), Some(tool_use_id)) = (is_off, call.whose(), call.input.tool_use_id.as_deref())
    else {
        return Ok(None);
    };
    let noted = runtime()?.block_on(note_ran(&**call.services, &whose.id(), tool_use_id));
    noted.map_err(|error| error.to_string())?;
    Ok(None)
}

/// Nearly every call was never asked about: only for those that were the database is opened to be written.
async fn note_ran(
    services: &dyn Services,
    session: &ClientSessionId,
    tool_use_id: &str,
) -> Result<(), StoreError> {
    let Some(store) = services.existing_store(Some(BRIEF)).await? else {
        return Ok(());
    };
    let log = store.guard_log(session).await?;
    if log
        .iter()
        .any(|guarded| guarded.tool_use_id == tool_use_id && !guarded.ran)
    {
        let store = services.store(Some(BRIEF)).await?;
        store.guarded_ran(session, tool_use_id).await?;
    }
    Ok(())
}

/// Whether something says that the guard fails closed, where the settings cannot be read.
fn says_closed(home: Option<&Home>, environment: &Environment) -> bool {
    let line_says = |line: &str| {
        let line = line.split('#').next().unwrap_or_default();
        line.contains("fail") && line.contains("closed")
    };
    match environment.get("GROV_GUARD_FAIL") {
        Some(word) => word == "closed",
        None => home
            .and_then(|home| std::fs::read_to_string(home.config_file()).ok())
            .is_some_and(|file| file.lines().any(line_says)),
    }
}

/// What becomes of a tool call that could not be looked at.
fn failed(call: &Call<'_>, fails_closed: bool, fault: &str) -> Reply {
    note(Some(call.home), &format!("the guard: {fault}"));
    unseen(fails_closed, fault)
}

/// What becomes of a tool call if nobody came to look at it.
pub(crate) fn broke_off(home: Option<&Home>, environment: &Environment) -> Reply {
    unseen(says_closed(home, environment), "it broke off")
}

fn unseen(fails_closed: bool, fault: &str) -> Reply {
    if !fails_closed {
        return Reply::Silence;
    }
    let fault = tellable(fault.lines().next().unwrap_or_default());
    Reply::Refusal(format!(
        "Grov could not look at this before it runs, and guard.fail is \"closed\": {fault}. The user can look with grov doctor."
    ))
}

/// What the guard said, being noted while it is told.
#[derive(Debug)]
pub struct Noting(Receiver<Result<(), String>>);

impl Noting {
    /// Waits until it is noted, not for long. An error says what hindered it.
    ///
    /// # Errors
    /// What hindered it.
    pub fn finish(self) -> Result<(), Fault> {
        self.finish_within(TIME_TO_NOTE)
    }

    fn finish_within(self, patience: Duration) -> Result<(), Fault> {
        let noted = match self.0.recv_timeout(patience) {
            Ok(noted) => noted,
            Err(RecvTimeoutError::Timeout) => Err("there was no time to note it".to_owned()),
            Err(RecvTimeoutError::Disconnected) => Err("noting it broke off".to_owned()),
        };
        noted.map_err(|fault| Fault::from(format!("what the guard said: {fault}")))
    }
}

/// A tool call, and all that is needed to look at it.
struct Inquiry {
    whose: Whose,
    /// The folder that the session's paths are meant from.
    root: String,
    services: Arc<dyn Services>,
    reader: IntentReader,
    tool_use_id: String,
    action: ActionSketch,
    /// The same without its secrets, if it has any.
    masked: Option<ActionSketch>,
    verdict: GuardVerdict,
    /// What becomes of a call where the contract could not be read in time.
    verdict_unread: GuardVerdict,
    /// The session goes through the proxy, which records it.
    is_proxied: bool,
    fails_closed: bool,
    /// When the client must be answered.
    until: Instant,
}

/// What came out of it.
enum Looked {
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
struct Known {
    contract: GoalContract,
    /// The user let go of the wish that nothing be changed.
    is_released: bool,
    /// As hooks know it, or as it begins where they do not; `None` where the proxy records it.
    session: Option<HookSession>,
}

impl Inquiry {
    fn of(call: &Call<'_>, settings: &Settings, until: Instant) -> Option<Self> {
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
        let safe = kept_whole(&tool);
        let safe = sketch(&safe.action, safe.content);
        Some(Self {
            root: root.to_str()?.to_owned(),
            services: Arc::clone(call.services),
            reader: reader(&call.services.intents()),
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
            is_proxied: proxy::own(call, settings).is_some(),
            until,
            whose,
        })
    }

    fn look(&self) -> Result<Looked, String> {
        let looked = runtime()?.block_on(patiently(self.until, async || self.look_once().await));
        match looked {
            Err(error) if error.is_transient() => Ok(Looked::Late),
            looked => looked.map_err(|error| error.to_string()),
        }
    }

    /// Whether the call destroys something, as far as that shows without the store.
    fn destroys(&self) -> Option<Stop> {
        let look = || runtime().ok()?.block_on(self.look_with(None)).ok();
        match catch_unwind(AssertUnwindSafe(look)) {
            Ok(Some(Looked::Stopped(stop) | Looked::InPart(stop))) => Some(stop),
            _ => None,
        }
    }

    async fn look_once(&self) -> Result<Looked, StoreError> {
        let store = self.services.existing_store(Some(BRIEF)).await?;
        self.look_with(store.as_deref()).await
    }

    async fn look_with(&self, store: Option<&dyn HookBackend>) -> Result<Looked, StoreError> {
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
    fn write_down(&self, stop: &Stop) -> Result<(), String> {
        let guarded = Guarded {
            client_session_id: self.whose.id(),
            tool_use_id: self.tool_use_id.clone(),
            verdict: stop.verdict,
            subject: stop.subject.clone(),
            reason: stop.reason.clone(),
            ran: false,
            at: SystemClock.now(),
        };
        let noted = runtime()?.block_on(async {
            let store = self.services.store(Some(BRIEF)).await?;
            store.guarded(&Redactor::shared().clean(guarded)).await
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
        store: &dyn HookBackend,
        id: &ClientSessionId,
    ) -> Result<Option<Known>, StoreError> {
        if self.is_proxied {
            let tasks = store.client_session(id).await?;
            let contract = match in_work(tasks.iter().map(|task| &task.state)) {
                Some(task) => {
                    Held::of(store, Arc::clone(&self.reader), task, None)
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
        let Some(session) = store.hook_standing(id).await? else {
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
        store: Option<&dyn HookBackend>,
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
    store: &dyn HookBackend,
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

/// What was typed last.
fn newest_prompt(transcript: Option<&Path>) -> Option<String> {
    typed_since(transcript?, 0, MOST_OF_TRANSCRIPT).pop()
}

/// What was typed behind an offset of a transcript, at most so many bytes before its end. The long lines, which tell what
/// tools were given and answered, are passed over unread.
fn typed_since(path: &Path, from: u64, most: u64) -> Vec<String> {
    let Ok(Some(length)) = length(path) else {
        return Vec::new();
    };
    // A transcript that is shorter than it was is another one.
    let from = if from > length { 0 } else { from };
    let Ok(end) = portion(path, from.max(length.saturating_sub(most)), most) else {
        return Vec::new();
    };
    let end = String::from_utf8_lossy(&end);
    // Within a text the quotation marks have a backslash before them.
    let is_typed = |line: &&str| {
        let is_result = line.contains(r#""type":"tool_result""#) && !line.contains(r#""type":"text""#);
        !is_result && !line.contains(r#""type":"assistant""#)
    };
    let lines: String = end.split_inclusive('\n').filter(is_typed).collect();
    let entries = Reader::new(None).read(lines.as_bytes()).entries;
    let own = entries.into_iter().filter(|entry| entry.agent.is_none());
    own.filter_map(|entry| match entry.event {
        Event::Prompt { text, .. } => Some(text),
        _ => None,
    })
    .collect()
}

/// What a session is held to with prompts that hooks have not told of: for one that waited in the client's queue they are not
/// run, and one may have been typed while the store was busy. `None` where there are none.
fn with_unread(known: &Known, reader: &IntentReader) -> Option<Known> {
    let session = known.session.as_ref()?;
    let path = session.transcript_path.as_deref()?;
    let mut contract = known.contract.clone();
    for prompt in typed_since(Path::new(path), session.read_to, MOST_UNREAD) {
        contract = with_prompt(contract, Some(prompt), reader).0;
    }
    (contract != known.contract).then(|| Known {
        contract,
        is_released: known.is_released,
        session: Some(session.clone()),
    })
}

/// A contract with what was typed last, which is recorded only after the answer to it has begun. A "yes" is no instruction;
/// whether it lets go of the wish that nothing be changed.
fn with_prompt(
    mut contract: GoalContract,
    prompt: Option<String>,
    reader: &IntentReader,
) -> (GoalContract, bool) {
    let Some(prompt) = prompt.map(|prompt| sanitize_prompt(&prompt)) else {
        return (contract, false);
    };
    if contract.instructions.contains(&prompt) {
        return (contract, false);
    }
    let mut all = contract.instructions.clone();
    all.push(prompt.clone());
    if !instructions(reader, &all).contains(&prompt) && !contract.instructions.is_empty() {
        return (contract, !has_objection(&prompt));
    }
    let intent = reader(&IntentQuestion {
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
    (contract, false)
}

fn sketch(action: &Action, content: Option<String>) -> ActionSketch {
    ActionSketch {
        content,
        ..ActionSketch::of(action)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Opened;

    #[test]
    fn what_cannot_be_noted_is_not_waited_for() {
        let (sender, receiver) = mpsc::channel();
        drop(sender);
        assert!(
            Noting(receiver)
                .finish()
                .unwrap_err()
                .to_string()
                .contains("broke off")
        );
        let (sender, receiver) = mpsc::channel();
        let fault = Noting(receiver).finish_within(Duration::ZERO).unwrap_err();
        assert!(fault.to_string().contains("no time"), "{fault}");
        // Whoever notes it later is not listened to any more.
        assert!(sender.send(Ok(())).is_err());
        let (sender, receiver) = mpsc::channel();
        sender.send(Ok(())).unwrap();
        assert_eq!(Noting(receiver).finish(), Ok(()));
    }

    struct Nothing;

    impl crate::Programs for Nothing {
        fn start_proxy(&self, _: u16) -> Result<(), String> {
            Ok(())
        }

        fn hand_over(&self, _: crate::Work, _: &Settings) -> Result<(), String> {
            Ok(())
        }

        fn ends(&self) -> bool {
            false
        }
    }

    /// What is said of a command in a home whose database another process replaces all the time, to a client that has waited
    /// for a minute.
    fn said_at_last(command: &str, configuration: &str) -> Reply {
        let folder = tempfile::tempdir().unwrap();
        let environment = Environment::default();
        let home = Home::locate(Some(folder.path()), &environment).unwrap();
        std::fs::write(home.config_file(), configuration).unwrap();
        let database = home.database();
        let services: Arc<dyn Services> = Arc::new(Opened::at(database.clone()));
        runtime().unwrap().block_on(services.store(None)).unwrap();
        let lock = std::fs::File::open(database.with_extension("db.lock")).unwrap();
        lock.lock().unwrap();
        let input = serde_json::json!({
            "session_id": "s", "cwd": folder.path(), "tool_name": "Bash", "tool_input": {"command": command},
        });
        crate::answer(&crate::Hook {
            event: Some("PreToolUse"),
            input: input.to_string().as_bytes(),
            home: &home,
            environment: &environment,
            daemon_port: None,
            programs: &Nothing,
            services: &services,
            since: Instant::now().checked_sub(ANSWER_WITHIN).unwrap(),
        })
    }

    #[test]
    fn a_database_that_stays_busy_makes_the_guard_ask_before_the_client_lets_the_call_run() {
        let Reply::Text(text) = said_at_last("touch a", "") else {
            panic!("nothing is said");
        };
        assert!(text.contains(r#""ask""#) && text.contains("busy"), "{text}");
        let Reply::Text(text) = said_at_last("rm -rf /", "[guard]\nmode = \"deny\"\n") else {
            panic!("nothing is said");
        };
        assert!(
            text.contains("removes everything") && text.contains("busy"),
            "{text}"
        );
        assert!(
            matches!(said_at_last("ls", ""), Reply::Silence),
            "reading never waits"
        );
        let closed = said_at_last("touch a", "[guard]\nfail = \"closed\"\n");
        assert!(matches!(closed, Reply::Refusal(_)), "{closed:?}");
    }

    #[test]
    fn the_newest_prompt_is_found_behind_what_tools_said() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let line = |kind: &str, content: serde_json::Value| {
            let line = serde_json::json!({
                "type": kind, "sessionId": "s", "message": {"id": "m", "role": kind, "model": "m", "content": content},
            });
            format!("{line}\n")
        };
        let call =
            serde_json::json!([{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}]);
        let result =
            serde_json::json!([{"type": "tool_result", "tool_use_id": "t", "content": "x".repeat(100_000)}]);
        let typed = "Do not touch \"type\":\"tool_result\"";
        let text = [
            line("user", "first".into()),
            line("user", typed.into()),
            line("assistant", call),
            line("user", result),
        ]
        .concat();
        std::fs::write(&path, &text).unwrap();
        assert_eq!(newest_prompt(Some(&path)).as_deref(), Some(typed));
        std::fs::write(&path, text + "no json\n").unwrap();
        assert_eq!(newest_prompt(Some(&path)).as_deref(), Some(typed));
        assert_eq!(newest_prompt(Some(&folder.path().join("none"))), None);
        assert_eq!(newest_prompt(None), None);
    }
}
