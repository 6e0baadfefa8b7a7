//! Team memory for a prompt: what is remembered, told in a few lines before the model sees the prompt.

use grov_domain::{
    ClientSessionId, MemoryScope, MemoryStore, StoreError, SwitchScope, SwitchStore, Task, TaskId,
};
use grov_memory::{Budget, Freshness, Query, Ranking, asks, demote, files_named, recall, tell};
use grov_project::{Place, pins};
use grov_redact::Redactor;
use std::collections::HashSet;
use std::path::Path;
use std::time::Instant;
use time::OffsetDateTime;

pub use grov_memory::Told;

/// Memories looked at closely; fewer are told, as the budget has it.
const MOST_RECALLED: usize = 8;
/// Bytes of a prompt that are looked at: what is behind was pasted.
const LONGEST_PROMPT: usize = 64 * 1024;
/// The client passes on 10,000 characters whole; a token is three of them at most.
const MOST_TOKENS: usize = 3_200;

/// A prompt that the user has sent.
#[derive(Clone, Copy, Debug)]
pub struct Prompt<'a> {
    /// What the user said.
    pub text: &'a str,
    /// In which session.
    pub session: Option<&'a ClientSessionId>,
    /// The directory that the session works in.
    pub directory: &'a Path,
    /// Memories that stand in the session's history already.
    pub told: &'a HashSet<TaskId>,
    /// How much may be told.
    pub budget: Budget,
    /// Until when files are looked at to see whether memories of them still hold.
    pub until: Instant,
}

/// Whether a prompt is worth a question to memory: acknowledgements, commands and what the client says by itself are not.
pub fn is_worth_asking(prompt: &str) -> bool {
    asks(beginning(prompt)).is_something()
}

/// What is remembered for a prompt, as a text for the agent; nothing where nothing fits, or where Grov is turned off for
/// the project or the session.
///
/// # Errors
/// Those of the store.
pub async fn remembered<S>(store: &S, prompt: &Prompt<'_>) -> Result<Option<Told>, StoreError>
where
    S: MemoryStore + SwitchStore + ?Sized,
{
    let place = Place::locate(prompt.directory);
    let project = place.project().key().to_owned();
    if is_off(store, &project, prompt.session).await? {
        return Ok(None);
    }
    let text = Redactor::shared().redact(beginning(prompt.text));
    let query = Query {
        // By its place on this machine alone: what a repository says its remote is need not be true.
        scope: MemoryScope {
            project_path: project,
            project_remote: None,
        },
        files: files_named(&text),
        text: text.into_owned(),
        before: Some(OffsetDateTime::now_utc()),
        limit: MOST_RECALLED,
    };
    let ranking = Ranking::for_injection();
    let mut recalled = recall(store, &query, &ranking, prompt.session).await?;
    // Said once is enough: it stands in the history.
    recalled.retain(|one| !prompt.told.contains(&one.task.id));
    let root = place.work_tree().unwrap_or(place.root());
    let recalled = demote(recalled, |task| freshness(root, task, prompt.until), &ranking);
    let budget = Budget {
        tokens: prompt.budget.tokens.min(MOST_TOKENS),
    };
    Ok(tell(&recalled, &[], budget))
}

async fn is_off<S: SwitchStore + ?Sized>(
    store: &S,
    project: &str,
    session: Option<&ClientSessionId>,
) -> Result<bool, StoreError> {
    let off = store.switched_off().await?;
    Ok(off.iter().any(|scope| match scope {
        SwitchScope::Project(key) => key == project,
        SwitchScope::Session(off) => Some(off) == session,
    }))
}

/// Whether the files that a memory is about are as it left them; nobody knows when the time is over.
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
