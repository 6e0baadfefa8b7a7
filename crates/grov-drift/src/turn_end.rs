//! A turn, a subagent or a session is over: what was done is followed and kept, while nobody waits.

use crate::hook::Call;
use crate::resume::Whose;
use crate::services::STORE_TIMEOUT;
use crate::worker::Work;
use crate::{daemon, runtime};
use grov_domain::{ClientSessionId, StoreError};
use grov_hooks::event;
use grov_redact::Redactor;
use std::path::PathBuf;

/// Characters of what the agent said last that are handed over.
const LONGEST_ANSWER: usize = 8_000;

/// Hands the work over, and returns at once.
pub(crate) fn is_over(call: &Call<'_>, event: &str) -> Result<Option<String>, String> {
    let Some(whose) = whose(call)? else {
        return Ok(None);
    };
    let settings = call.settings(Some(&whose.directory))?;
    // What goes through the proxy is recorded there.
    if daemon::own(call, &settings).is_some() {
        return Ok(None);
    }
    let answer = call.input.last_assistant_message.as_deref().unwrap_or_default();
    let answer = Redactor::shared().redact(answer);
    let work = Work {
        answer: answer.chars().take(LONGEST_ANSWER).collect(),
        event: event.to_owned(),
        agent: call
            .input
            .agent_id
            .clone()
            .filter(|_| event == event::SUBAGENT_STOP),
        whose,
    };
    call.programs.hand_over(work, &settings)?;
    Ok(None)
}

/// Which session it is. A directory that is gone, such as a worktree that the agent removed, is no reason to lose what was
/// done there.
fn whose(call: &Call<'_>) -> Result<Option<Whose>, String> {
    let whose = call.whose();
    let session = call.input.session_id.as_deref().unwrap_or_default();
    if whose.is_some() || session.is_empty() || call.input.cwd.is_none() {
        return Ok(whose);
    }
    let directory = match call.began() {
        Some(directory) => directory,
        None => runtime()?
            .block_on(stored(call, session))
            .map_err(|error| error.to_string())?
            .ok_or("the directory of a session is gone, and no other is known of it")?,
    };
    let transcript = call.input.transcript_path.as_deref();
    Ok(Some(Whose {
        session: session.to_owned(),
        directory,
        transcript: transcript.filter(|path| !path.is_empty()).map(PathBuf::from),
    }))
}

/// A directory of the session that is still there, as hooks before this one knew it: where it began, else its project.
async fn stored(call: &Call<'_>, session: &str) -> Result<Option<PathBuf>, StoreError> {
    let Some(store) = call.services.stores.open_existing(Some(STORE_TIMEOUT)).await? else {
        return Ok(None);
    };
    let session = store.hook_session_summary(&ClientSessionId::new(session)).await?;
    let directories = session.map(|session| [session.working_directory, session.project_path]);
    let mut directories = directories.into_iter().flatten().map(PathBuf::from);
    Ok(directories.find(|directory| directory.is_dir()))
}
