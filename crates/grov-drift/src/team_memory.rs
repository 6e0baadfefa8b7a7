//! Selects memories for a prompt and for the start of a session.

use crate::resume::SessionRef;
use grov_domain::{
    ClientSessionId, Clock, MemoryScope, MemorySearch, StoreError, SwitchScope, SwitchStore, SystemClock,
    Task, TaskId, TaskStatus, TaskStore,
};
use grov_memory::{
    Budget, Freshness, Query, Ranking, Recalled, demote_stale, mentioned_files, prompt_kind, recall, render,
};
use grov_project::{Place, pins};
use grov_redact::Redactor;
use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, Instant};

pub(crate) use grov_memory::RenderedMemories;

/// Most memories ranked; fewer are injected, as the budget allows.
const MOST_RECALLED: usize = 8;
/// Most memories injected at the start of a session.
const MOST_NEWEST: usize = 3;
/// Newest memories considered for these.
const LOOKED_AT: u32 = 24;
/// Bytes of a prompt that are searched for; the rest was pasted.
const LONGEST_PROMPT: usize = 64 * 1024;
/// The client truncates at 10,000 characters; a token has at most three by this estimate.
const MOST_TOKENS: usize = 3_200;

/// A request for memories: for a prompt, or for the start of a session (empty text).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prompt<'a> {
    /// The prompt.
    pub(crate) text: &'a str,
    /// The session.
    pub(crate) session_ref: &'a SessionRef,
    /// Memories already in the session's history.
    pub(crate) told: &'a HashSet<TaskId>,
    /// Token budget.
    pub(crate) budget: Budget,
    /// Time limit for comparing files with the memories about them.
    pub(crate) time_for_files: Duration,
}

/// Whether memory is queried for a prompt: not for acknowledgements, commands and text by the client.
pub(crate) fn is_worth_recalling(prompt: &str) -> bool {
    prompt_kind(beginning(prompt)).is_substantive()
}

/// Memories that match a prompt, rendered; `None` if nothing matches or Grov is off for the project or session.
///
/// # Errors
/// Those of the store.
pub(crate) async fn remembered<S>(
    store: &S,
    prompt: &Prompt<'_>,
) -> Result<Option<RenderedMemories>, StoreError>
where
    S: MemorySearch + SwitchStore + ?Sized,
{
    let session = prompt.session_ref.id();
    let place = Place::locate(&prompt.session_ref.directory);
    let project = place.project().key().to_owned();
    if is_off(store, &project, &session).await? {
        return Ok(None);
    }
    let text = Redactor::shared().redact(beginning(prompt.text));
    let query = Query {
        // By local path only: the remote that a repository names may be false.
        scope: MemoryScope {
            project_path: project,
            project_remote: None,
        },
        files: mentioned_files(&text),
        text: text.into_owned(),
        before: Some(SystemClock.now()),
        limit: MOST_RECALLED,
    };
    let ranking = Ranking::for_injection();
    let mut recalled = recall(store, &query, &ranking, Some(&session)).await?;
    // Delivered memories are in the history.
    recalled.retain(|one| !prompt.told.contains(&one.task.id));
    let root = place.work_tree().unwrap_or(place.root());
    // The limit starts here; the database has its own.
    let until = Instant::now() + prompt.time_for_files;
    let recalled = demote_stale(recalled, |task| freshness(root, task, until), &ranking);
    let budget = Budget {
        tokens: prompt.budget.tokens.min(MOST_TOKENS),
    };
    Ok(render(&recalled, &[], budget))
}

/// The newest memories of a session's project, at most three and within half of the budget, rendered; `None` if there are
/// none or Grov is off for the project or session.
///
/// # Errors
/// Those of the store.
pub(crate) async fn newest<S>(
    store: &S,
    beginning: &Prompt<'_>,
) -> Result<Option<RenderedMemories>, StoreError>
where
    S: TaskStore + SwitchStore + ?Sized,
{
    let session = beginning.session_ref.id();
    let place = Place::locate(&beginning.session_ref.directory);
    let project = place.project().key().to_owned();
    if is_off(store, &project, &session).await? {
        return Ok(None);
    }
    let is_worth_telling = |task: &Task| {
        let is_own = task.client_session_id.as_ref() == Some(&session);
        let says_something = !task.decisions.is_empty() || !task.reasoning_trace.is_empty();
        !is_own
            && says_something
            && task.superseded_by.is_none()
            && task.status != TaskStatus::Abandoned
            && !beginning.told.contains(&task.id)
    };
    let mut tasks = store.tasks_for_project(&project, LOOKED_AT).await?;
    tasks.retain(is_worth_telling);
    tasks.truncate(MOST_NEWEST);
    let newest = tasks.into_iter().map(|task| Recalled {
        task,
        score: 1.0,
        freshness: Freshness::Unknown,
    });
    let root = place.work_tree().unwrap_or(place.root());
    let until = Instant::now() + beginning.time_for_files;
    let look = |task: &Task| freshness(root, task, until);
    let recalled = demote_stale(newest.collect(), look, &Ranking::for_injection());
    let budget = Budget {
        tokens: (beginning.budget.tokens / 2).min(MOST_TOKENS),
    };
    Ok(render(&recalled, &[], budget))
}

/// Whether Grov is turned off for the project or the session.
///
/// # Errors
/// Those of the store.
pub(crate) async fn is_off<S: SwitchStore + ?Sized>(
    store: &S,
    project: &str,
    session: &ClientSessionId,
) -> Result<bool, StoreError> {
    let off = store.switched_off().await?;
    Ok(off.iter().any(|scope| match scope {
        SwitchScope::Project(key) => key == project,
        SwitchScope::Session(off) => off == session,
    }))
}

/// Whether the files of a memory are unchanged; unknown once the time is over.
fn freshness(root: &Path, task: &Task, until: Instant) -> Freshness {
    if task.file_pins.is_empty() || Instant::now() >= until {
        return Freshness::Unknown;
    }
    let files: Vec<String> = task.file_pins.iter().map(|pin| pin.path.clone()).collect();
    Freshness::of(task, &pins(root, &files))
}

fn beginning(prompt: &str) -> &str {
    &prompt[..prompt.floor_char_boundary(LONGEST_PROMPT)]
}
