//! `grov memory adopt [PROJECT]`

use crate::arguments::AdoptArguments;
use crate::context::Context;
use crate::failure::Failure;
use crate::format::plural;
use crate::output::{ExitStatus, Outcome, Style, note};
use crate::table::one_line;
use grov_domain::{MemoryProject, MemoryScope, Project, StoreConnection, Task, TaskId};
use grov_query::copy_id;
use grov_redact::Redactor;
use serde::Serialize;
use std::path::Path;

/// Memories copied at once.
const BATCH: u32 = 512;

#[derive(Serialize)]
struct Answer {
    project_path: String,
    candidates: Vec<Candidate>,
    /// Number of memories that this project has more than before.
    adopted: u64,
    dry_run: bool,
}

/// A project whose memories may belong to this one.
#[derive(Clone, Serialize)]
struct Candidate {
    project_path: String,
    memories: u64,
    /// Whether its directory exists: then its memories are copied, otherwise moved.
    exists: bool,
    /// `same_remote`, `same_name` (its directory is gone) or `named`.
    reason: &'static str,
}

pub(super) fn run(context: &Context, arguments: &AdoptArguments) -> Outcome {
    let project = context.project()?;
    let mut gone = Vec::new();
    let answer = context.write(async |store| {
        let all = store.memory_projects().await?;
        gone = gone_directories(&project, &all);
        let candidates = candidates(&project, all, arguments.from.as_deref());
        let mut adopted = 0;
        // One with the same name only may be another project.
        let sure = candidates
            .iter()
            .filter(|candidate| candidate.reason != SAME_NAME);
        for candidate in sure.filter(|_| !arguments.dry_run) {
            adopted += if candidate.exists {
                copy(store, &candidate.project_path, &project).await?
            } else {
                store
                    .move_memories(&candidate.project_path, project.key())
                    .await?
            };
        }
        Ok(Answer {
            project_path: project.key().to_owned(),
            candidates,
            adopted,
            dry_run: arguments.dry_run,
        })
    })?;
    let none = || {
        let none = Failure::negative("no_memories", "no other project has memories of this repository");
        if gone.is_empty() {
            return none;
        }
        let gone: Vec<String> = gone
            .iter()
            .map(|path| format!("`grov memory adopt {}`", quoted(path)))
            .collect();
        none.hint(format!(
            "if it was renamed, take over those of its old directory: {}",
            gone.join(", ")
        ))
    };
    let answer = answer.ok_or_else(none)?;
    if answer.candidates.is_empty() {
        return Err(none());
    }
    let is_unsure = answer
        .candidates
        .iter()
        .all(|candidate| candidate.reason == SAME_NAME);
    if is_unsure {
        note!("these have the same name only: `grov memory adopt PROJECT` takes over one of them");
    }
    context.answer(answer, text)?;
    Ok(ExitStatus::success_if(!is_unsure))
}

const SAME_NAME: &str = "same_name";

/// Maximum number of old directories that are named.
const MAX_GONE: usize = 3;

/// The projects with memories whose directory is gone: those beside `project` first, because a renamed directory stays there.
fn gone_directories(project: &Project, all: &[MemoryProject]) -> Vec<String> {
    let parent = Path::new(project.key()).parent();
    let gone = all.iter().map(|other| &other.project_path);
    let mut gone: Vec<String> = gone
        .filter(|path| !Path::new(path.as_str()).exists())
        .cloned()
        .collect();
    gone.sort_by_key(|path| Path::new(path).parent() != parent);
    gone.dedup();
    gone.truncate(MAX_GONE);
    gone
}

/// A path as an argument of a command line.
fn quoted(path: &str) -> String {
    let path = one_line(path);
    let is_plain = path
        .chars()
        .all(|letter| letter.is_alphanumeric() || "/._-+@:".contains(letter));
    if is_plain {
        path
    } else {
        format!("'{}'", path.replace('\'', "'\\''"))
    }
}

/// The projects whose memories may belong to `project`; of one that the user names, that one.
fn candidates(project: &Project, all: Vec<MemoryProject>, named: Option<&str>) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    for other in all
        .into_iter()
        .filter(|other| other.project_path != project.key())
    {
        let exists = Path::new(&other.project_path).exists();
        let has_remote = project
            .remote
            .as_deref()
            .is_some_and(|remote| remote == other.project_remote);
        let name = |path: &str| Path::new(path).file_name().map(ToOwned::to_owned);
        let has_name = !exists && name(&other.project_path) == name(project.key());
        let reason = match named {
            Some(named) if named == other.project_path => "named",
            Some(_) => continue,
            None if has_remote => "same_remote",
            None if has_name && other.project_remote.is_empty() => SAME_NAME,
            None => continue,
        };
        match found
            .iter_mut()
            .find(|known| known.project_path == other.project_path)
        {
            Some(known) => known.memories += other.memories,
            None => found.push(Candidate {
                project_path: other.project_path,
                memories: other.memories,
                exists,
                reason,
            }),
        }
    }
    found
}

/// Copies the memories of a project that is still used. Repeating it changes nothing. Returns the number of new ones.
async fn copy(store: &dyn StoreConnection, from: &str, to: &Project) -> Result<u64, Failure> {
    let scope = MemoryScope {
        project_path: from.to_owned(),
        project_remote: None,
    };
    let mut added = 0;
    let mut after = None;
    loop {
        let tasks = store.export(Some(&scope), after, BATCH).await?;
        let Some(last) = tasks.last() else {
            return Ok(added);
        };
        after = Some((last.created_at, last.id.clone()));
        let copies: Vec<_> = tasks
            .into_iter()
            .map(|task| Redactor::shared().clean(copied(task, to)))
            .collect();
        added += store.import(&copies).await?.added;
    }
}

/// A copy of a memory for another project, with an id of its own and without the session, of which there is one.
fn copied(task: Task, to: &Project) -> Task {
    let id = |id: &TaskId| copy_id(id, to.key());
    Task {
        id: id(&task.id),
        project_path: to.key().to_owned(),
        project_remote: to.remote.clone(),
        session_id: None,
        client_session_id: None,
        parent_session_id: None,
        parent_task_id: None,
        superseded_by: task.superseded_by.as_ref().map(id),
        ..task
    }
}

fn text(answer: &Answer, style: Style) -> String {
    let mut text = String::new();
    for candidate in &answer.candidates {
        let memories = plural(candidate.memories, "memory", "memories");
        let how = match (candidate.reason, candidate.exists) {
            (SAME_NAME, _) => "same name, directory is gone",
            (_, true) => "another clone, copied",
            (_, false) => "directory is gone, moved",
        };
        let path = style.bold(&one_line(&candidate.project_path));
        text.push_str(&format!("{path}: {memories} ({how})\n"));
    }
    if !answer.dry_run && answer.adopted > 0 {
        let memories = plural(answer.adopted, "memory", "memories");
        text.push_str(&format!(
            "{memories} adopted by {}\n",
            one_line(&answer.project_path)
        ));
    }
    text
}
