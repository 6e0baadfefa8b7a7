//! Selects memories for a prompt and for the start of a session.

use crate::resume::SessionRef;
use grov_domain::{
    ClientSessionId, Clock, HookStore, MemoryScope, MemorySearch, StoreError, SwitchScope, SwitchStore,
    SystemClock, Task, TaskId, TaskStore,
};
use grov_memory::{
    Budget, Freshness, Query, Ranking, Recalled, demote_stale, mentioned_files, names_work, prompt_kind,
    recall, recent, refers_to_earlier_work, render, worth_telling,
};
use grov_project::{ProjectLocation, pins};
use grov_redact::Redactor;
use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, Instant};

pub(crate) use grov_memory::RenderedMemories;

/// Maximum number of memories that are ranked. The budget may allow fewer.
const MAX_RECALLED: usize = 8;
/// Maximum number of memories injected at the start of a session.
const MAX_NEWEST: usize = 3;
/// Number of newest memories considered at the start of a session.
const CANDIDATES: u32 = 24;
/// Maximum number of files of a session whose memories are looked up, newest first.
const MAX_OPEN_FILES: usize = 16;
/// Maximum number of bytes of a prompt used as a query; the rest was probably pasted.
const MAX_PROMPT_BYTES: usize = 64 * 1024;
/// Maximum token budget. The client truncates at 10,000 characters, and a token is estimated at three characters.
const MAX_TOKENS: usize = 3_200;

/// A request for memories: for a prompt, or for the start of a session (empty text).
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryRequest<'a> {
    /// The prompt.
    pub(crate) text: &'a str,
    /// The session.
    pub(crate) session_ref: &'a SessionRef,
    /// Memories already in the session's history.
    pub(crate) delivered: &'a HashSet<TaskId>,
    /// Token budget.
    pub(crate) tokens: usize,
    /// Time limit for comparing files with the memories about them.
    pub(crate) file_check_timeout: Duration,
}

/// Whether to query memory for a prompt: not for acknowledgements, commands and text written by the client.
pub(crate) fn is_worth_recalling(prompt: &str) -> bool {
    let prompt = beginning(prompt);
    prompt_kind(prompt).is_substantive() || refers_to_earlier_work(prompt)
}

/// Finds and renders memories that match a prompt; `None` if nothing matches or Grov is off for the project or session.
///
/// # Errors
/// The store's errors.
pub(crate) async fn matching_memories<S>(
    store: &S,
    prompt: &MemoryRequest<'_>,
) -> Result<Option<RenderedMemories>, StoreError>
where
    S: MemorySearch + SwitchStore + TaskStore + HookStore + ?Sized,
{
    let session = prompt.session_ref.id();
    let place = ProjectLocation::locate(&prompt.session_ref.directory);
    let project = place.project().key().to_owned();
    if is_off(store, &project, &session).await? {
        return Ok(None);
    }
    let text = Redactor::shared().redact(beginning(prompt.text));
    if refers_to_earlier_work(&text) {
        let mut recalled = earlier_work(store, &place, &session).await?;
        recalled.retain(|one| !prompt.delivered.contains(&one.task.id));
        return Ok(render_fresh(
            recalled,
            &place,
            prompt.file_check_timeout,
            prompt.tokens,
        ));
    }
    let query = Query {
        // By local path only: a repository can name any remote.
        scope: MemoryScope {
            project_path: project,
            project_remote: None,
        },
        files: mentioned_files(&text),
        text: text.into_owned(),
        before: Some(SystemClock.now()),
        limit: MAX_RECALLED,
    };
    let mut recalled = recall(store, &query, &Ranking::for_injection(), Some(&session)).await?;
    // The history contains the delivered memories already.
    recalled.retain(|one| !prompt.delivered.contains(&one.task.id));
    Ok(render_fresh(
        recalled,
        &place,
        prompt.file_check_timeout,
        prompt.tokens,
    ))
}

/// The memories that a prompt without a subject refers to: none if the session has changed something, because then it
/// refers to that.
///
/// # Errors
/// The store's errors.
async fn earlier_work<S>(
    store: &S,
    place: &ProjectLocation,
    session: &ClientSessionId,
) -> Result<Vec<Recalled>, StoreError>
where
    S: TaskStore + HookStore + ?Sized,
{
    let steps = store.hook_steps(session).await?;
    if steps.iter().any(|step| step.action.is_change()) {
        return Ok(Vec::new());
    }
    let mut files: Vec<String> = Vec::new();
    let root = place.work_tree().unwrap_or(place.root());
    for file in steps.iter().rev().flat_map(|step| &step.action.files) {
        let inside = Path::new(file).strip_prefix(root).ok().and_then(Path::to_str);
        let file = inside.unwrap_or(file).to_owned();
        if files.len() < MAX_OPEN_FILES && !files.contains(&file) {
            files.push(file);
        }
    }
    recent(store, place.project().key(), &files, session).await
}

/// Renders the newest memories of a session's project, at most three and within half of the budget; `None` if there are none
/// or Grov is off for the project or session.
///
/// # Errors
/// The store's errors.
pub(crate) async fn newest_memories<S>(
    store: &S,
    beginning: &MemoryRequest<'_>,
) -> Result<Option<RenderedMemories>, StoreError>
where
    S: TaskStore + SwitchStore + ?Sized,
{
    let session = beginning.session_ref.id();
    let place = ProjectLocation::locate(&beginning.session_ref.directory);
    let project = place.project().key().to_owned();
    if is_off(store, &project, &session).await? {
        return Ok(None);
    }
    let mut tasks = worth_telling(
        store.tasks_for_project(&project, CANDIDATES).await?,
        Some(&session),
    );
    tasks.retain(|task| names_work(task) && !beginning.delivered.contains(&task.id));
    tasks.truncate(MAX_NEWEST);
    let newest = tasks.into_iter().map(|task| Recalled {
        task,
        score: 1.0,
        freshness: Freshness::Unknown,
    });
    let (file_check_timeout, tokens) = (beginning.file_check_timeout, beginning.tokens / 2);
    Ok(render_fresh(newest.collect(), &place, file_check_timeout, tokens))
}

/// Whether Grov is turned off for the project or the session.
///
/// # Errors
/// The store's errors.
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

/// Demotes memories whose files changed, and renders them. The time limit starts here: the database has its own.
fn render_fresh(
    recalled: Vec<Recalled>,
    place: &ProjectLocation,
    file_check_timeout: Duration,
    tokens: usize,
) -> Option<RenderedMemories> {
    let root = place.work_tree().unwrap_or(place.root());
    let until = Instant::now() + file_check_timeout;
    let freshness_of = |task: &Task| freshness(root, task, until);
    let recalled = demote_stale(recalled, freshness_of, &Ranking::for_injection());
    let tokens = tokens.min(MAX_TOKENS);
    render(&recalled, &[], Budget { tokens })
}

/// Whether the files of a memory are unchanged; unknown after the deadline.
fn freshness(root: &Path, task: &Task, until: Instant) -> Freshness {
    if task.file_pins.is_empty() || Instant::now() >= until {
        return Freshness::Unknown;
    }
    let files: Vec<String> = task.file_pins.iter().map(|pin| pin.path.clone()).collect();
    Freshness::of(task, &pins(root, &files))
}

fn beginning(prompt: &str) -> &str {
    &prompt[..prompt.floor_char_boundary(MAX_PROMPT_BYTES)]
}
