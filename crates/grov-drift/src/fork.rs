//! Registers forks. The client reports the start of a fork with the id of the original session, and writes the fork's transcript
//! only after the first response. But it writes its current session id to a file, the session note.

use crate::error::HookError;
use crate::follower::TranscriptFollower;
use crate::hook::HookContext;
use crate::resume::{SessionRef, inherit_session, intent_reader, new_session};
use crate::transcript_file::read_range;
use crate::{daemon, runtime};
use grov_domain::{ClientSessionId, Clock, StoreError, SystemClock};
use grov_hooks::settings::user_folder;
use grov_redact::Redactor;
use grov_runtime::Environment;
use serde::Deserialize;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Maximum number of ancestor processes searched for the client: it runs hooks in a shell, which may run another one.
const MAX_ANCESTORS: usize = 6;
/// Maximum size of a session note in bytes.
const MAX_NOTE_BYTES: u64 = 64 * 1024;

/// Registers a resumed session that is a fork, with its inherited state. Sessions that go through the proxy are registered
/// there.
pub(crate) fn register_fork(
    context: &HookContext<'_>,
    session_ref: &SessionRef,
    timeout: Duration,
) -> Result<(), HookError> {
    let fork = client_session(context.environment);
    let Some(session) = fork.filter(|session| *session != session_ref.session) else {
        return Ok(());
    };
    let settings = context.settings(Some(&session_ref.directory))?;
    if daemon::proxy_address(context, &settings).is_some() {
        return Ok(());
    }
    let fork = SessionRef {
        session,
        directory: session_ref.directory.clone(),
        transcript: None,
    };
    let registered = runtime()?.block_on(register(context, &session_ref.id(), &fork, timeout));
    registered.map_err(HookError::Fork)
}

async fn register(
    context: &HookContext<'_>,
    origin: &ClientSessionId,
    fork: &SessionRef,
    timeout: Duration,
) -> Result<(), StoreError> {
    let store = context.services.stores.open(Some(timeout)).await?;
    let id = fork.id();
    if store.hook_session(&id).await?.is_some() {
        return Ok(());
    }
    inherit_session(&*store, context.home, origin, &id).await?;
    let edits = store.goal_edits(&id).await?;
    let contract = store.hook_session(origin).await?.map(|origin| origin.contract);
    let follower = TranscriptFollower::fork(
        new_session(fork),
        &contract.unwrap_or_default(),
        &edits,
        intent_reader(),
    );
    // `false` means another hook has registered it.
    let progress = follower.into_progress(SystemClock.now());
    store
        .save_hook_progress(&Redactor::shared().clean(progress))
        .await?;
    Ok(())
}

/// The current session of the client that runs this hook.
fn client_session(environment: &Environment) -> Option<String> {
    let folder = user_folder(|name| environment.get(name).filter(|value| !value.is_empty()))?;
    session_of(&folder.join("sessions"), std::os::unix::process::parent_id())
}

/// The session id in the note of a process or its nearest ancestor that has one.
fn session_of(folder: &Path, process: u32) -> Option<String> {
    let mut ancestors = std::iter::successors(Some(process), |process| parent_process(*process));
    ancestors
        .by_ref()
        .take(MAX_ANCESTORS)
        .find_map(|process| read_note(folder, process))
}

fn read_note(folder: &Path, process: u32) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Note {
        pid: u32,
        session_id: String,
    }
    let bytes = read_range(&folder.join(format!("{process}.json")), 0, MAX_NOTE_BYTES).ok()?;
    let note: Note = serde_json::from_slice(&bytes).ok()?;
    (note.pid == process && !note.session_id.is_empty()).then_some(note.session_id)
}

/// The parent of a process.
fn parent_process(process: u32) -> Option<u32> {
    if let Ok(stat) = std::fs::read_to_string(format!("/proc/{process}/stat")) {
        // The program's name is in parentheses and may contain any character.
        let (_, fields) = stat.rsplit_once(')')?;
        return fields.split_whitespace().nth(1)?.parse().ok();
    }
    let asked = Command::new("ps")
        .args(["-o", "ppid=", "-p", &process.to_string()])
        .output();
    String::from_utf8(asked.ok()?.stdout).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_session_is_read_from_an_ancestors_note() {
        let folder = tempfile::tempdir().unwrap();
        let own = std::process::id();
        assert_eq!(session_of(folder.path(), own), None);
        let client = parent_process(own).unwrap();
        assert_eq!(client, std::os::unix::process::parent_id());
        let note = |process: u32, pid: u32, session: &str| {
            let text = format!("{{\"pid\":{pid},\"sessionId\":\"{session}\",\"cwd\":\"/p\"}}");
            std::fs::write(folder.path().join(format!("{process}.json")), text).unwrap();
        };
        note(client, client, "fork");
        assert_eq!(session_of(folder.path(), own).as_deref(), Some("fork"));
        // The note of another process, and one without a session id.
        note(client, client + 1, "other");
        assert_eq!(session_of(folder.path(), own), None);
        note(client, client, "");
        assert_eq!(session_of(folder.path(), own), None);
    }
}
