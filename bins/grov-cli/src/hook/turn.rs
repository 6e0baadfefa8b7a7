//! A turn, a subagent or a session is over: what was done is followed and kept, by a process that nobody waits for.

use super::Call;
use super::following::Whose;
use super::proxy;
use super::worker::Work;
use grov_domain::{ClientSessionId, HookStore, StoreError};
use grov_runtime::daemon;
use grov_store::{OpenOptions, SqliteStore};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Stdio;

/// Characters of what the agent said last that are handed over.
const LONGEST_ANSWER: usize = 8_000;

/// Starts the work, and returns at once.
pub(super) fn is_over(call: &Call<'_>, event: &str) -> Result<Option<String>, String> {
    let Some(whose) = whose(call)? else {
        return Ok(None);
    };
    let settings = call.settings(Some(&whose.directory))?;
    // What goes through the proxy is recorded there.
    if proxy::own(call, &settings).is_some() {
        return Ok(None);
    }
    let answer = call.input.last_assistant_message.as_deref().unwrap_or_default();
    let work = Work {
        answer: answer.chars().take(LONGEST_ANSWER).collect(),
        event: event.to_owned(),
        whose,
    };
    let text = serde_json::to_vec(&work).map_err(|error| format!("work to be handed over: {error}"))?;
    let mut command = call.own_command()?;
    command.arg("hook-worker").arg(&work.whose.session);
    // The client's keys, tokens and addresses are none of ours.
    let environment = daemon::scrubbed(call.environment, &settings);
    command.env_clear().envs(environment.iter());
    // Where the worker lives may have to be made first.
    call.home.create().map_err(|error| error.to_string())?;
    command
        .current_dir(call.home.root())
        // The client may end its own process group as soon as its hooks are done.
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut worker = command.spawn().map_err(|error| format!("a worker: {error}"))?;
    if let Some(mut stdin) = worker.stdin.take() {
        // It fits into the pipe: nobody is waited for.
        stdin
            .write_all(&text)
            .map_err(|error| format!("a worker did not take its work: {error}"))?;
    }
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
    let began = call.environment.get("CLAUDE_PROJECT_DIR").map(PathBuf::from);
    let directory = match began.filter(|directory| directory.is_dir()) {
        Some(directory) => directory,
        None => super::runtime()?
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
    let database = call.home.database();
    let Some(store) = SqliteStore::open_existing(&database, &OpenOptions::brief()).await? else {
        return Ok(None);
    };
    let session = store.hook_session(&ClientSessionId::new(session)).await?;
    let directories = session.map(|session| [session.working_directory, session.project_path]);
    let mut directories = directories.into_iter().flatten().map(PathBuf::from);
    Ok(directories.find(|directory| directory.is_dir()))
}
