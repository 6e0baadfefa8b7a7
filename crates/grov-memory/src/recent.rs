//! The memories that a prompt without a subject refers to, and those told at the start of a session: the newest work,
//! unfinished work included.

use crate::pointed::has_subject;
use crate::{Freshness, Recalled, prompt_kind, refers_to_earlier_work};
use grov_domain::{ClientSessionId, StoreError, Task, TaskStatus, TaskStore, file_name, is_common_file};

/// Memories considered.
const CANDIDATES: u32 = 24;
/// Maximum number of memories of open files.
const MAX_OF_FILES: usize = 2;

/// The newest memories of a project that touched these files, at most two; without any, the newest memory, and the newest
/// unfinished work if that is older. Files are paths in the project, as memories name them. Memories of the session
/// `except` are left out.
///
/// # Errors
/// Those of the store.
pub async fn recent<S: TaskStore + ?Sized>(
    store: &S,
    project: &str,
    files: &[String],
    except: &ClientSessionId,
) -> Result<Vec<Recalled>, StoreError> {
    let mut tasks = Vec::new();
    if !files.is_empty() {
        tasks = worth_telling(
            store.tasks_by_files(project, files, CANDIDATES).await?,
            Some(except),
        );
        tasks.truncate(MAX_OF_FILES);
    }
    if tasks.is_empty() {
        tasks = worth_telling(store.tasks_for_project(project, CANDIDATES).await?, Some(except));
        let mut is_newest = true;
        // "Go on" may mean the work that was left, even if something small was finished since.
        tasks.retain(|task| std::mem::take(&mut is_newest) || task.status == TaskStatus::Abandoned);
    }
    let recalled = tasks.into_iter().map(|task| Recalled {
        task,
        score: 1.0,
        freshness: Freshness::Unknown,
    });
    Ok(recalled.collect())
}

/// The memories of a project, newest first, that are told without a question about them: finished work with content, and the
/// newest unfinished work. Memories of the session `except` are left out.
pub fn worth_telling(tasks: Vec<Task>, except: Option<&ClientSessionId>) -> Vec<Task> {
    let mut has_unfinished = false;
    let mut told: Vec<Task> = Vec::with_capacity(tasks.len());
    // Files of finished work that is newer.
    let mut finished: Vec<String> = Vec::new();
    for task in tasks {
        // A changelog is touched by everything.
        let own = || {
            task.files_touched
                .iter()
                .filter(|file| !is_common_file(&file_name(file)))
        };
        let is_continued = own().any(|file| finished.contains(file))
            && own().filter(|file| finished.contains(*file)).count() * 2 >= own().count();
        let is_told = is_finished(&task) || !has_unfinished && !is_continued && is_unfinished(&task);
        if task.status == TaskStatus::Complete {
            finished.extend(task.files_touched.iter().cloned());
        }
        if is_told && (except.is_none() || task.client_session_id.as_ref() != except) {
            has_unfinished |= is_unfinished(&task);
            told.push(task);
        }
    }
    told
}

/// Whether a memory says what its work was: it is unfinished, has decisions, or a goal with a subject. That of "@a.py fix" has
/// none.
pub fn names_work(task: &Task) -> bool {
    let goal = task.goal.as_deref().unwrap_or(&task.original_query);
    let is_stated =
        || prompt_kind(goal).is_substantive() && !refers_to_earlier_work(goal) && has_subject(goal);
    task.status == TaskStatus::Abandoned || task.item.is_some() || !task.decisions.is_empty() || is_stated()
}

/// Whether a memory has content, was finished, and is not replaced.
pub(crate) fn is_finished(task: &Task) -> bool {
    let has_content = !task.decisions.is_empty() || !task.reasoning_trace.is_empty();
    has_content && task.superseded_by.is_none() && task.status != TaskStatus::Abandoned
}

/// Whether a memory is of work that was left unfinished, and touched something.
fn is_unfinished(task: &Task) -> bool {
    let has_content = !task.files_touched.is_empty() && task.item.is_none();
    has_content && task.superseded_by.is_none() && task.status == TaskStatus::Abandoned
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;

    fn saved(id: &str, status: TaskStatus, files: &[&str]) -> Task {
        Task {
            status,
            reasoning_trace: vec!["Edited".to_owned()],
            files_touched: files.iter().map(ToString::to_string).collect(),
            ..sample(id, "Add metrics")
        }
    }

    /// The ids of what is told of these memories, newest first.
    fn told(tasks: &[Task]) -> Vec<String> {
        let told = worth_telling(tasks.to_vec(), None);
        told.into_iter().map(|task| task.id.as_str().to_owned()).collect()
    }

    #[test]
    fn a_vague_goal_names_no_work() {
        let names = |goal: &str| {
            names_work(&Task {
                goal: Some(goal.to_owned()),
                decisions: Vec::new(),
                ..saved("one", TaskStatus::Complete, &["a.py"])
            })
        };
        for goal in [
            "why?",
            "@a.py fix",
            "/review",
            "fix it",
            "weiter",
            "yes",
            "same for b.py",
            "ok do it",
        ] {
            assert!(!names(goal), "{goal}");
        }
        for goal in [
            "Add metrics",
            "Fix the login test",
            "Dark mode for the settings page",
            "Docker image is too big",
            "Die Bestellliste ist zu langsam",
            "バックアップを毎日取る",
        ] {
            assert!(names(goal), "{goal}");
        }
    }

    #[test]
    fn unfinished_work_is_told_before_older_finished_work() {
        use TaskStatus::{Abandoned, Complete};
        let left = saved("left", Abandoned, &["metrics.py"]);
        let older = saved("older", Complete, &["metrics.py"]);
        let other = saved("other", Complete, &["login.py"]);
        assert_eq!(told(&[left.clone(), older.clone()]), ["left", "older"]);
        assert_eq!(told(&[other.clone(), left.clone()]), ["other", "left"]);
        // Only the newest.
        let earlier = saved("earlier", Abandoned, &["other.py"]);
        assert_eq!(told(&[left.clone(), earlier, older]), ["left", "older"]);
        // It was finished since.
        let done = saved("done", Complete, &["metrics.py", "b.py"]);
        assert_eq!(told(&[done, left.clone()]), ["done"]);
        // Nothing came of it, or something else replaced it.
        assert!(told(&[saved("tried", Abandoned, &[])]).is_empty());
        let replaced = Task {
            superseded_by: Some(grov_domain::TaskId::new("new")),
            ..left
        };
        assert!(told(&[replaced]).is_empty());
    }
}
