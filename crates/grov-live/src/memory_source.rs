//! Team memory as a source of context.

use crate::injection::{ContextSource, ContextText, InjectionPoint};
use crate::warm_up::PROMPTS;
use async_trait::async_trait;
use grov_domain::{
    Clock, MemoryScope, MemorySearch, SessionId, SessionStore, StepRow, StoreError, SystemClock, Task,
    TaskId, TaskStore,
};
use grov_memory::{
    Budget, FileNote, Freshness, Query, Ranking, Recalled, demote_stale, mentioned_files, prompt_kind,
    recall, recent, refers_to_earlier_work, render,
};
use grov_project::{GrovIgnore, ProjectLocation, pins};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Memories recalled for a prompt. The budget limits how many are added.
pub(crate) const MAX_RECALLED: usize = 8;

/// Files of a prompt that are looked up.
const MAX_NOTED_FILES: usize = 3;

/// Files of a session whose memories are looked up, newest first.
const MAX_OPEN_FILES: usize = 16;

/// Steps searched per file.
const STEPS_PER_FILE: u32 = 16;

/// Memories searched for the files of a prompt.
const MAX_MEMORIES_ABOUT_FILES: u32 = 32;

/// Time reserved for comparing files. With less time left, files are not compared.
const RESERVED_FOR_FILES: Duration = Duration::from_millis(3);

/// The stores that team memory needs.
pub trait MemoryBackend: MemorySearch + SessionStore + TaskStore {}

impl<T: MemorySearch + SessionStore + TaskStore> MemoryBackend for T {}

/// A source that adds memories related to the prompt.
pub struct MemorySource {
    store: Arc<dyn MemoryBackend>,
    ranking: Ranking,
    budget: Budget,
}

impl MemorySource {
    /// Creates a source over `store`, ranked by `ranking`, limited by `budget`.
    pub fn new(store: Arc<dyn MemoryBackend>, ranking: Ranking, budget: Budget) -> Self {
        Self {
            store,
            ranking,
            budget,
        }
    }

    /// Searches once for nothing in particular, so that the first prompt does not wait for the database to be opened and read, or
    /// for tables of words to be built.
    pub async fn warm_up(&self) {
        for prompt in PROMPTS {
            let query = Query {
                scope: MemoryScope {
                    project_path: "/".to_owned(),
                    project_remote: None,
                },
                text: (*prompt).to_owned(),
                files: mentioned_files(prompt),
                before: Some(SystemClock.now()),
                limit: MAX_RECALLED,
            };
            if let Err(error) = recall(self.store.as_ref(), &query, &self.ranking, None).await {
                tracing::debug!(%error, "cannot search team memory yet");
                return;
            }
        }
    }

    async fn recall_text(&self, point: &InjectionPoint) -> Result<Option<ContextText>, StoreError> {
        if refers_to_earlier_work(&point.prompt) {
            return self.earlier_work(point).await;
        }
        let files = mentioned_files(&point.prompt);
        let query = Query {
            scope: scope_of(point),
            text: point.prompt.clone(),
            files: files.clone(),
            before: Some(SystemClock.now()),
            limit: MAX_RECALLED,
        };
        let own = Some(&point.lineage.session);
        let mut recalled = recall(self.store.as_ref(), &query, &self.ranking, own).await?;
        // Quoted once is enough, because the quote stays in the history.
        recalled.retain(|memory| !point.quoted.contains(&memory.task.id));
        let notes = self.notes(point, &files).await?;
        if recalled.is_empty() && notes.is_empty() {
            return Ok(None);
        }
        let (recalled, notes) = check_files(recalled, notes, point, &self.ranking).await;
        let rendered = render(&recalled, &notes, self.budget);
        Ok(rendered.map(|rendered| ContextText {
            text: rendered.text,
            memories: rendered.memories,
        }))
    }

    /// Returns the memories that a prompt without a subject refers to: none if the session has changed something, because
    /// then it refers to that.
    async fn earlier_work(&self, point: &InjectionPoint) -> Result<Option<ContextText>, StoreError> {
        let session = &point.lineage.session;
        let steps = self.store.client_steps(session).await?;
        if steps.iter().any(is_change) {
            return Ok(None);
        }
        let project = point.location.project.key();
        let mut files: Vec<String> = Vec::new();
        for file in steps.iter().rev().flat_map(|step| &step.files) {
            let path = Path::new(file);
            let inside = path
                .strip_prefix(&point.location.root)
                .or_else(|_| path.strip_prefix(project))
                .unwrap_or(path);
            let file = inside.to_string_lossy().into_owned();
            if files.len() < MAX_OPEN_FILES && !files.contains(&file) {
                files.push(file);
            }
        }
        let mut recalled = recent(self.store.as_ref(), project, &files, session).await?;
        recalled.retain(|memory| !point.quoted.contains(&memory.task.id));
        let (recalled, _) = check_files(recalled, Vec::new(), point, &self.ranking).await;
        let rendered = render(&recalled, &[], self.budget);
        Ok(rendered.map(|rendered| ContextText {
            text: rendered.text,
            memories: rendered.memories,
        }))
    }

    /// Returns the newest reasoning about each file that the prompt names, from sessions that are in memory.
    async fn notes(&self, point: &InjectionPoint, files: &[String]) -> Result<Vec<FileNote>, StoreError> {
        let mut notes = Vec::new();
        let files: Vec<String> = files.iter().take(MAX_NOTED_FILES).cloned().collect();
        if files.is_empty() {
            return Ok(notes);
        }
        let project = point.location.project.key();
        let memories = self.memories_about(point, &files).await?;
        if memories.is_empty() {
            return Ok(notes);
        }
        for file in files {
            for path in paths(&file, &point.location.root, Path::new(project)) {
                let steps = self
                    .store
                    .steps_reasoning_by_path(project, &path, STEPS_PER_FILE)
                    .await?;
                let validated = steps.into_iter().filter(|step| step.is_validated);
                let newest = validated
                    .filter_map(|step| {
                        Some((step.reasoning?, step.timestamp, memories.get(&step.session_id)?))
                    })
                    .next();
                if let Some((reasoning, at, memory)) = newest {
                    notes.push(FileNote {
                        file: file.clone(),
                        reasoning,
                        memory: memory.clone(),
                        at,
                    });
                    break;
                }
            }
        }
        Ok(notes)
    }

    /// Returns the memories of other sessions that touched these files and are not quoted yet, by the task that they
    /// were saved from.
    async fn memories_about(
        &self,
        point: &InjectionPoint,
        files: &[String],
    ) -> Result<HashMap<SessionId, TaskId>, StoreError> {
        let root = &point.location.root;
        let relative = files.iter().filter_map(|file| {
            let inside = Path::new(file).strip_prefix(root).ok()?;
            Some(inside.to_str()?.to_owned())
        });
        let files: Vec<String> = relative.chain(files.iter().cloned()).collect();
        let project = point.location.project.key();
        let tasks = self
            .store
            .tasks_by_files(project, &files, MAX_MEMORIES_ABOUT_FILES)
            .await?;
        let own = Some(&point.lineage.session);
        Ok(tasks
            .into_iter()
            .filter(|task| task.client_session_id.as_ref() != own && !point.quoted.contains(&task.id))
            .filter_map(|task| Some((task.session_id?, task.id)))
            .collect())
    }
}

#[async_trait]
impl ContextSource for MemorySource {
    fn name(&self) -> &'static str {
        "team memory"
    }

    fn applies(&self, point: &InjectionPoint) -> bool {
        has_work(point)
    }

    fn is_useful_later(&self) -> bool {
        true
    }

    fn is_memory(&self) -> bool {
        true
    }

    async fn context(&self, point: &InjectionPoint) -> Option<ContextText> {
        match self.recall_text(point).await {
            Ok(text) => text,
            Err(error) => {
                tracing::debug!(%error, "cannot search team memory; no memory is added");
                None
            }
        }
    }
}

/// The memories that a prompt may get. Matches the path on this machine only: a repository can claim any remote, and the memory
/// of another project must not reach an agent that reads untrusted files.
pub(crate) fn scope_of(point: &InjectionPoint) -> MemoryScope {
    MemoryScope {
        project_path: point.location.project.key().to_owned(),
        project_remote: None,
    }
}

/// Whether a prompt at this point asks for work in a known project.
pub(crate) fn has_work(point: &InjectionPoint) -> bool {
    point.location.exists
        && (prompt_kind(&point.prompt).is_substantive() || refers_to_earlier_work(&point.prompt))
}

/// Returns whether a step changed files, the repository or installed packages.
fn is_change(step: &StepRow) -> bool {
    step.action_type.modifies_files() || step.effects.iter().any(|effect| effect.kind.is_change())
}

/// Returns the paths under which records may contain a file: as named, in the working tree, and in the project.
fn paths(file: &str, root: &Path, project: &Path) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for path in [root.join(file), project.join(file), PathBuf::from(file)] {
        let path = path.to_string_lossy().into_owned();
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

/// Demotes memories whose files changed, and drops notes on ignored files. Reads files on a blocking thread, until the
/// deadline.
pub(crate) async fn check_files(
    recalled: Vec<Recalled>,
    notes: Vec<FileNote>,
    point: &InjectionPoint,
    ranking: &Ranking,
) -> (Vec<Recalled>, Vec<FileNote>) {
    let Some(until) = point.deadline.checked_sub(RESERVED_FOR_FILES) else {
        return (recalled, Vec::new());
    };
    let root = point.location.root.clone();
    let tasks: Vec<Task> = recalled.iter().map(|memory| memory.task.clone()).collect();
    let named: Vec<String> = notes.iter().map(|note| note.file.clone()).collect();
    let check = tokio::task::spawn_blocking(move || {
        let ignore = GrovIgnore::at(&ProjectLocation::locate(&root));
        let fresh = tasks
            .iter()
            .map(|task| (task.id.clone(), freshness_in(&root, task)));
        let fresh: HashMap<TaskId, Freshness> = fresh.collect();
        let ignored: Vec<bool> = named.iter().map(|file| ignore.ignores(file)).collect();
        (fresh, ignored)
    });
    let until = tokio::time::Instant::from_std(until);
    let Ok(Ok((fresh, ignored))) = tokio::time::timeout_at(until, check).await else {
        return (recalled, Vec::new());
    };
    let freshness = |task: &Task| fresh.get(&task.id).cloned().unwrap_or_default();
    let recalled = demote_stale(recalled, freshness, ranking);
    let notes = notes.into_iter().zip(ignored).filter(|(_, ignored)| !ignored);
    (recalled, notes.map(|(note, _)| note).collect())
}

fn freshness_in(root: &Path, task: &Task) -> Freshness {
    let files: Vec<String> = task.file_pins.iter().map(|pin| pin.path.clone()).collect();
    Freshness::of(task, &pins(root, &files))
}
