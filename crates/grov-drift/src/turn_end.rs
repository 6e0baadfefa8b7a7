//! Handles the end of a turn, subagent or session: passes the work to a worker.

use crate::error::HookError;
use crate::hook::HookContext;
use crate::resume::SessionRef;
use crate::services::STORE_TIMEOUT;
use crate::team_memory::is_off;
use crate::worker::Work;
use crate::{ask_agent, context_warning, daemon, runtime};
use grov_domain::{ClientSessionId, Clock, StoreError, SystemClock};
use grov_hooks::event;
use grov_project::ProjectLocation;
use grov_redact::Redactor;
use std::path::PathBuf;
use std::time::Duration;

/// Maximum number of characters of the last message that are passed to the worker.
const MAX_ANSWER_CHARS: usize = 8_000;
/// How long to wait for a busy database at the end of a session. The client waits for 1.5 seconds.
const END_TIMEOUT: Duration = Duration::from_millis(500);

/// Starts the worker and returns at once, with a question to the agent if the user wants that.
pub(crate) fn handle(context: &HookContext<'_>, event: &str) -> Result<Option<String>, HookError> {
    let Some(session_ref) = session_ref(context)? else {
        return Ok(None);
    };
    let settings = context.settings(Some(&session_ref.directory))?;
    let warning = match event {
        event::STOP => context_warning::notice(context, &session_ref, settings.context()),
        _ => None,
    };
    let with_warning = |answer: Option<String>| match &warning {
        Some(warning) => Some(event::with_notice(answer.as_deref(), warning)),
        None => answer,
    };
    // The proxy records the sessions that go through it.
    if daemon::proxy_address(context, &settings).is_some() {
        if event == event::SESSION_END {
            runtime()?.block_on(record_end(context, &session_ref))?;
        }
        return Ok(with_warning(None));
    }
    let answer = context
        .input
        .last_assistant_message
        .as_deref()
        .unwrap_or_default();
    let answer = Redactor::shared().redact(answer);
    let asked = session_ref.clone();
    let work = Work {
        answer: answer.chars().take(MAX_ANSWER_CHARS).collect(),
        event: event.to_owned(),
        agent: context
            .input
            .agent_id
            .clone()
            .filter(|_| event == event::SUBAGENT_STOP),
        session_ref,
    };
    context.programs.start_worker(work, &settings)?;
    let may_ask = event == event::STOP && settings.memory().ask_agent && settings.memory().enabled;
    if may_ask && runtime()?.block_on(is_on(context, &asked)).unwrap_or(false) {
        return Ok(with_warning(ask_agent::question(
            context,
            asked.transcript.as_deref(),
        )?));
    }
    Ok(with_warning(None))
}

/// Records the end of a session that goes through the proxy, which does not see it.
async fn record_end(context: &HookContext<'_>, session_ref: &SessionRef) -> Result<(), StoreError> {
    let store = context.services.stores.open(Some(END_TIMEOUT)).await?;
    store
        .record_session_end(&session_ref.id(), SystemClock.now())
        .await?;
    context.release(store);
    Ok(())
}

/// Whether added text is switched on for the session.
async fn is_on(context: &HookContext<'_>, session_ref: &SessionRef) -> Result<bool, StoreError> {
    let Some(store) = context.services.stores.open_existing(Some(STORE_TIMEOUT)).await? else {
        return Ok(true);
    };
    let project = ProjectLocation::locate(&session_ref.directory).project();
    Ok(!is_off(&*store, project.key(), &session_ref.id()).await?)
}

/// The session. If its directory was removed, such as a worktree, an earlier one is used.
fn session_ref(context: &HookContext<'_>) -> Result<Option<SessionRef>, HookError> {
    let session_ref = context.session_ref();
    let session = context.input.session_id.as_deref().unwrap_or_default();
    if session_ref.is_some() || session.is_empty() || context.input.cwd.is_none() {
        return Ok(session_ref);
    }
    let directory = match context.start_directory() {
        Some(directory) => directory,
        None => runtime()?
            .block_on(stored(context, session))?
            .ok_or(HookError::DirectoryGone)?,
    };
    let transcript = context.input.transcript_path.as_deref();
    Ok(Some(SessionRef {
        session: session.to_owned(),
        directory,
        transcript: transcript.filter(|path| !path.is_empty()).map(PathBuf::from),
    }))
}

/// An existing directory of the stored session: its working directory, or else its project.
async fn stored(context: &HookContext<'_>, session: &str) -> Result<Option<PathBuf>, StoreError> {
    let Some(store) = context.services.stores.open_existing(Some(STORE_TIMEOUT)).await? else {
        return Ok(None);
    };
    let session = store.hook_session_summary(&ClientSessionId::new(session)).await?;
    let directories = session.map(|session| [session.working_directory, session.project_path]);
    let mut directories = directories.into_iter().flatten().map(PathBuf::from);
    Ok(directories.find(|directory| directory.is_dir()))
}
