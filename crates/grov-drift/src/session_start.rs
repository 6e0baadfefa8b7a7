//! Handles SessionStart: startup, resume, clear and compaction.

use crate::answered_events::answer_once;
use crate::delivery_log::DeliveryLog;
use crate::error::HookError;
use crate::error_log::{log_error, single_line};
use crate::hook::HookContext;
use crate::resume::{SessionRef, intent_reader, resume};
use crate::team_memory::{MemoryRequest, RenderedMemories, is_off, newest_memories};
use crate::transcript_file::catch_up;
use crate::worker::{Work, unread_sessions};
use crate::{adoption, daemon, fork, proxied, runtime, task_rows};
use grov_context::{Retention, SessionPoints, restoration, restoration_notice};
use grov_domain::{
    Clock, Compaction, MemoryScope, Redacted, StoreConnection, StoreError, SystemClock, fresh_uuid,
};
use grov_hooks::event;
use grov_project::ProjectLocation;
use grov_redact::Redactor;
use grov_runtime::Settings;
use std::time::{Duration, Instant, SystemTime};

/// Time limit for comparing files with the memories about them.
const FILE_CHECK_TIMEOUT: Duration = Duration::from_millis(50);
/// Time limit for following an unread transcript after a compaction.
const FOLLOW_TIMEOUT: Duration = Duration::from_secs(5);
/// How long to wait for a busy database: a session that just ended may still use it, and the user is not waiting.
const BUSY_TIMEOUT: Duration = Duration::from_millis(500);
/// Maximum size of the text after a compaction in tokens. The client truncates it at 10,000 characters.
const MAX_RESTORED_TOKENS: usize = 3_000;
/// Retries if another hook wrote at the same time.
const MAX_ATTEMPTS: usize = 3;
/// Starts within this interval are the same event, reported by duplicate hooks.
const DUPLICATE_INTERVAL: Duration = Duration::from_secs(2);

/// Starts the daemon if the client needs it, registers the session, and injects recent memories or, after a compaction, the
/// context that was lost.
pub(crate) fn handle(context: &HookContext<'_>) -> Result<Option<String>, HookError> {
    // First, because the client retries for minutes without its proxy.
    let fault = daemon::start(context).err();
    if let Some(fault) = fault
        .as_ref()
        .filter(|fault| !matches!(fault, HookError::Moving(_)))
    {
        log_error(Some(context.home), fault);
    }
    let source = context.input.source.as_deref().unwrap_or_default();
    let event = match source {
        "compact" => "compacted",
        "clear" => "cleared",
        "resume" => "resumed",
        _ => "began",
    };
    // Not deduplicated: two forks of one session may start at the same time.
    if source == "resume"
        && let Some(session_ref) = context.session_ref()
        && let Err(fault) = fork::register_fork(context, &session_ref, BUSY_TIMEOUT)
    {
        log_error(Some(context.home), fault);
    }
    let answer = answer_once(context, Some(event), Some(DUPLICATE_INTERVAL), || {
        startup_context(context, source)
    });
    DeliveryLog::remove_old(context.home.root(), SystemTime::now());
    let Some(fault) = fault else { return answer };
    // The user must know why the client gets no response.
    let notice = format!("Grov: {}", single_line(&fault.to_string()));
    let answer = answer.unwrap_or_else(|fault| {
        log_error(Some(context.home), fault);
        None
    });
    Ok(Some(event::with_notice(answer.as_deref(), &notice)))
}

/// Builds the reply.
fn startup_context(context: &HookContext<'_>, source: &str) -> Result<Option<String>, HookError> {
    let is_new_history = matches!(source, "compact" | "clear");
    if is_new_history && let Some(Err(error)) = context.delivery_log().map(|log| log.clear()) {
        log_error(Some(context.home), HookError::DeliveryLog(error));
    }
    let Some(session_ref) = context.session_ref() else {
        return Ok(None);
    };
    match source {
        "compact" => runtime()?.block_on(on_compaction(context, &session_ref)),
        // The history of a resumed session contains the delivered memories.
        "resume" => Ok(None),
        _ => runtime()?.block_on(on_start(context, &session_ref)),
    }
}

/// Registers a session and injects recent memories of its project.
async fn on_start(context: &HookContext<'_>, session_ref: &SessionRef) -> Result<Option<String>, HookError> {
    let settings = context.settings(Some(&session_ref.directory))?;
    if daemon::proxy_address(context, &settings).is_some() {
        let notice = proxied_notice(context, session_ref).await?;
        return Ok(notice.map(|notice| event::with_notice(None, &notice)));
    }
    let memory = settings.memory();
    let tokens = if memory.enabled { memory.budget_tokens } else { 0 };
    let Registered {
        memories,
        notice,
        has_unread,
    } = register(context, session_ref, tokens).await?;
    if has_unread {
        follow_unread(context, session_ref, &settings);
    }
    let Some(memories) = memories else {
        return Ok(notice.map(|notice| event::with_notice(None, &notice)));
    };
    let Some(list) = context.delivery_log() else {
        return Ok(None);
    };
    list.add(&memories.memories).map_err(HookError::DeliveryLog)?;
    Ok(Some(event::context(
        event::SESSION_START,
        &memories.text,
        notice.as_deref(),
    )))
}

/// Starts a worker for sessions whose own worker died.
fn follow_unread(context: &HookContext<'_>, session_ref: &SessionRef, settings: &Settings) {
    let work = Work {
        session_ref: session_ref.clone(),
        event: event::SESSION_START.to_owned(),
        answer: String::new(),
        agent: None,
    };
    // The next start tries again.
    if let Err(fault) = context.programs.start_worker(work, settings) {
        log_error(Some(context.home), fault);
    }
}

/// Says in a session that goes through the proxy that proposals wait.
async fn proxied_notice(
    context: &HookContext<'_>,
    session_ref: &SessionRef,
) -> Result<Option<String>, StoreError> {
    let store = context.services.stores.open(Some(BUSY_TIMEOUT)).await?;
    let place = ProjectLocation::locate(&session_ref.directory);
    let notice = if is_off(&*store, place.project().key(), &session_ref.id()).await? {
        None
    } else {
        inbox_notice(&*store, &place).await?
    };
    context.release(store);
    Ok(notice)
}

/// The line about proposals that wait for the user, at most once a day.
async fn inbox_notice(
    store: &dyn StoreConnection,
    place: &ProjectLocation,
) -> Result<Option<String>, StoreError> {
    let project = place.project();
    let scope = MemoryScope {
        project_path: project.key().to_owned(),
        project_remote: project.remote.clone(),
    };
    Ok(store
        .due_notice(&scope, SystemClock.now())
        .await?
        .map(|waiting| match waiting {
            1 => "Grov: 1 proposal waits: grov memory inbox".to_owned(),
            several => format!("Grov: {several} proposals wait: grov memory inbox"),
        }))
}

/// What the start of a session found.
struct Registered {
    /// The newest memories of the project.
    memories: Option<RenderedMemories>,
    /// A notice or an offer for the user.
    notice: Option<String>,
    /// Whether an earlier session of the project was not read to its end.
    has_unread: bool,
}

/// Registers a session, and looks into its project.
async fn register(
    context: &HookContext<'_>,
    session_ref: &SessionRef,
    tokens: usize,
) -> Result<Registered, StoreError> {
    let store = context.services.stores.open(Some(BUSY_TIMEOUT)).await?;
    let delivered = context.delivery_log().map(|list| list.read()).unwrap_or_default();
    let beginning = MemoryRequest {
        text: "",
        session_ref,
        delivered: &delivered,
        tokens,
        file_check_timeout: FILE_CHECK_TIMEOUT,
    };
    let memories = newest_memories(&*store, &beginning).await?;
    let mut follower = resume(&*store, context.home, session_ref, intent_reader()).await?;
    follower.session_mut().memories_injected += memories
        .as_ref()
        .map_or(0, |memories| memories.memories.len() as u64);
    let progress = follower.into_progress(SystemClock.now());
    // `false` means another hook registered it.
    store
        .save_hook_progress(&Redactor::shared().clean(progress))
        .await?;
    let place = ProjectLocation::locate(&session_ref.directory);
    let is_off = is_off(&*store, place.project().key(), &session_ref.id()).await?;
    let waiting = if is_off {
        None
    } else {
        inbox_notice(&*store, &place).await?
    };
    let offer = if memories.is_none() && tokens > 0 && !is_off {
        adoption::offer(&*store, context.home.root(), &place).await?
    } else {
        None
    };
    let unread = unread_sessions(&*store, place.project().key(), &session_ref.id()).await?;
    context.release(store);
    Ok(Registered {
        memories,
        notice: waiting.or(offer),
        has_unread: !unread.is_empty(),
    })
}

/// Gives back goal, constraints, decisions and open work after a compaction, and notifies the user.
async fn on_compaction(
    context: &HookContext<'_>,
    session_ref: &SessionRef,
) -> Result<Option<String>, HookError> {
    let settings = context.settings(Some(&session_ref.directory))?;
    let points = match daemon::proxy_address(context, &settings) {
        Some(_) => proxied::lost_points(context, session_ref).await?,
        None => all_points(context, session_ref).await?,
    };
    Ok(points.and_then(|points| {
        let points = Redacted::of(&points);
        let text = restoration(&points, MAX_RESTORED_TOKENS)?;
        let notice = restoration_notice(&points);
        Some(event::context(event::SESSION_START, &text, Some(&notice)))
    }))
}

/// Loads all that a session must not lose, because the client has not written its summary yet; `None` if Grov is off.
async fn all_points(
    context: &HookContext<'_>,
    session_ref: &SessionRef,
) -> Result<Option<SessionPoints>, StoreError> {
    let store = context.services.stores.open(Some(BUSY_TIMEOUT)).await?;
    let place = ProjectLocation::locate(&session_ref.directory);
    let id = session_ref.id();
    if is_off(&*store, place.project().key(), &id).await? {
        return Ok(None);
    }
    for _ in 0..MAX_ATTEMPTS {
        let mut follower = resume(&*store, context.home, session_ref, intent_reader()).await?;
        if let Err(error) = catch_up(&mut follower, Instant::now() + FOLLOW_TIMEOUT) {
            log_error(Some(context.home), HookError::Transcript(error));
        }
        let contract = follower.contract().clone();
        let progress = Redactor::shared().clean(follower.into_progress(SystemClock.now()));
        if !store.save_hook_progress(&progress).await? {
            continue;
        }
        let steps = store.hook_steps(&id).await?;
        let points = task_rows::points(session_ref, &place, &contract, task_rows::done(&steps));
        if !points.is_empty() {
            let compaction = given_back(session_ref, &points);
            store.save_compaction(&Redacted::of(&compaction)).await?;
        }
        return Ok(Some(points));
    }
    Ok(None)
}

/// The record of a compaction after which all points are given back. They are compared with the client's summary when
/// somebody asks: it is in the transcript then.
fn given_back(session_ref: &SessionRef, points: &SessionPoints) -> Compaction {
    let all = Retention::of(points, "").lost;
    let now = SystemClock.now();
    Compaction {
        client_session_id: session_ref.id(),
        id: fresh_uuid().to_string(),
        is_compared: false,
        tokens_before: None,
        kept: Vec::new(),
        restored: all.clone(),
        lost: all,
        restored_at: Some(now),
        at: now,
    }
}
