//! Sessions whose transcript nobody read to its end: the worker after the last turn died, such as by a power failure.
//!
//! The next session of the project looks for them, and a worker follows them as if their turn had just ended.

use super::Work;
use crate::error::HookError;
use crate::error_log::log_error;
use crate::resume::SessionRef;
use crate::runtime;
use crate::services::Services;
use crate::transcript_file::last;
use grov_domain::{ClientSessionId, StoreConnection, StoreError};
use grov_hooks::event;
use grov_project::ProjectLocation;
use grov_redact::Redactor;
use grov_runtime::{Environment, Home};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Sessions of a project that are looked at, the newest.
const LOOKED_AT: u32 = 8;
/// Sessions that one worker follows at most.
const MAX_FOLLOWED: usize = 4;
/// A transcript that was written to more recently has its own worker, or is about to get one.
const SETTLED: Duration = Duration::from_secs(10);
/// A turn that has not ended counts as interrupted after this time.
const INTERRUPTED: Duration = Duration::from_secs(15 * 60);

/// The other sessions of a project with an unread end of their transcript, newest first. One query, and one look at each
/// transcript.
pub(crate) async fn unread_sessions(
    store: &dyn StoreConnection,
    project_path: &str,
    current: &ClientSessionId,
) -> Result<Vec<SessionRef>, StoreError> {
    let sessions = store.hook_sessions(project_path, LOOKED_AT).await?;
    let others = sessions
        .into_iter()
        .filter(|session| session.client_session_id != *current);
    Ok(others
        .filter_map(|session| {
            let transcript = PathBuf::from(session.transcript_path?);
            let file = std::fs::metadata(&transcript)
                .ok()
                .filter(std::fs::Metadata::is_file)?;
            let is_unread = file.len() > session.read_to && age(&transcript)? > SETTLED;
            is_unread.then(|| SessionRef {
                session: session.client_session_id.to_string(),
                directory: PathBuf::from(session.working_directory),
                transcript: Some(transcript),
            })
        })
        .collect())
}

/// How long ago a file was written to; `None` if that is unknown.
fn age(path: &Path) -> Option<Duration> {
    std::fs::metadata(path).ok()?.modified().ok()?.elapsed().ok()
}

/// Follows the unread sessions of the project in which `started` began.
pub(super) fn follow_unread(
    started: &SessionRef,
    home: &Home,
    environment: &Environment,
    services: &Services,
) -> Result<(), HookError> {
    let place = ProjectLocation::locate(&started.directory);
    let unread = runtime()?.block_on(async {
        let store = services.stores.open(None).await?;
        let mut unread = Vec::new();
        for found in unread_sessions(&*store, place.project().key(), &started.id()).await? {
            // The proxy records what goes through it.
            if store.client_session(&found.id()).await?.is_empty() {
                unread.push(found);
            }
        }
        store.close().await?;
        Ok::<_, StoreError>(unread)
    })?;
    let turns = unread.into_iter().filter_map(ended_turn);
    for work in turns.take(MAX_FOLLOWED) {
        // If the lane is busy, a worker of its own runs.
        if let Err(fault) = work.try_run(home, environment, services) {
            log_error(Some(home), fault);
        }
    }
    Ok(())
}

/// The work at the end of a session's last turn; `None` while the turn may still run.
fn ended_turn(session_ref: SessionRef) -> Option<Work> {
    let answer = last(session_ref.transcript.as_deref()).answer;
    let is_interrupted = || Some(age(session_ref.transcript.as_deref()?)? > INTERRUPTED);
    if answer.trim().is_empty() && !is_interrupted().unwrap_or(false) {
        return None;
    }
    Some(Work {
        answer: Redactor::shared().redact(&answer).into_owned(),
        event: event::STOP.to_owned(),
        agent: None,
        session_ref,
    })
}
