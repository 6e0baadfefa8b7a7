//! Registers forks. The client reports a fork's start under the id of the session it came from, and writes the fork's
//! transcript only after its first response; but it notes its current session id in a file of its own.

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

/// Ancestor processes searched for the client: it runs hooks in a shell, which may run another.
const MOST_ANCESTORS: usize = 6;
/// Largest session note that is read, in bytes.
const LONGEST_NOTE: u64 = 64 * 1024;

/// Registers a resumed session that is a fork, with what it inherits. Sessions that go through the proxy are registered
/// there.
pub(crate) fn register_fork(
    context: &HookContext<'_>,
    session_ref: &SessionRef,
    patience: Duration,
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
    let registered = runtime()?.block_on(register(context, &session_ref.id(), &fork, patience));
    registered.map_err(HookError::Fork)
}

async fn register(
    context: &HookContext<'_>,
    origin: &ClientSessionId,
    fork: &SessionRef,
    patience: Duration,
) -> Result<(), StoreError> {
    let store = context.services.stores.open(Some(patience)).await?;
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
    // Another hook was faster: it is registered.
    let progress = follower.into_progress(SystemClock.now());
    store
        .save_hook_progress(&Redactor::shared().clean(progress))
        .await?;
    Ok(())
}

/// The current session of the client that runs this hook.
fn client_session(environment: &Environment) -> Option<String> {
    let folder = user_folder(|name| environment.get(name).filter(|value| !value.is_empty()))?;
    session_among(&folder.join("sessions"), std::os::unix::process::parent_id())
}

/// The session noted by the nearest of a process and its ancestors.
fn session_among(folder: &Path, process: u32) -> Option<String> {
    let mut ancestors = std::iter::successors(Some(process), |process| parent_process(*process));
    ancestors
        .by_ref()
        .take(MOST_ANCESTORS)
        .find_map(|process| read_note(folder, process))
}

fn read_note(folder: &Path, process: u32) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Note {
        pid: u32,
        session_id: String,
    }
    let bytes = read_range(&folder.join(format!("{process}.json")), 0, LONGEST_NOTE).ok()?;
    let note: Note = serde_json::from_slice(&bytes).ok()?;
    (note.pid == process && !note.session_id.is_empty()).then_some(note.session_id)
}

/// The parent of a process.
fn parent_process(process: u32) -> Option<u32> {
    if let Ok(stat) = std::fs::read_to_string(format!("/proc/{process}/stat")) {
        // The program's name stands in parentheses, and may hold anything.
        let (_, behind) = stat.rsplit_once(')')?;
        return behind.split_whitespace().nth(1)?.parse().ok();
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
    fn the_session_is_the_one_that_an_ancestor_noted_down() {
        let folder = tempfile::tempdir().unwrap();
        let own = std::process::id();
        assert_eq!(session_among(folder.path(), own), None);
        let client = parent_process(own).unwrap();
        assert_eq!(client, std::os::unix::process::parent_id());
        let note = |process: u32, pid: u32, session: &str| {
            let text = format!("{{\"pid\":{pid},\"sessionId\":\"{session}\",\"cwd\":\"/p\"}}");
            std::fs::write(folder.path().join(format!("{process}.json")), text).unwrap();
        };
        note(client, client, "fork");
        assert_eq!(session_among(folder.path(), own).as_deref(), Some("fork"));
        // Somebody else's, or none.
        note(client, client + 1, "other");
        assert_eq!(session_among(folder.path(), own), None);
        note(client, client, "");
        assert_eq!(session_among(folder.path(), own), None);
    }
}
