//! The directory of a task.

use grov_domain::Task;
use grov_project::{GrovIgnore, ProjectLocation, pins};
use std::path::PathBuf;

/// A directory and its commit.
#[derive(Clone, Debug, Default)]
pub(super) struct Location {
    /// The root of the working tree, or the directory itself. Paths are relative to it.
    pub(super) root: Option<PathBuf>,
    /// The commit that is checked out.
    pub(super) head: Option<String>,
}

/// Resolves a directory. Reads files on a blocking thread, because a network file system may hang.
pub(super) async fn locate(directory: Option<&str>) -> Location {
    let Some(directory) = directory.map(PathBuf::from) else {
        return Location::default();
    };
    let lookup = tokio::task::spawn_blocking(move || {
        let place = ProjectLocation::locate(&directory);
        Location {
            root: Some(place.work_tree().map_or(directory, ToOwned::to_owned)),
            head: place.head().commit,
        }
    });
    lookup.await.unwrap_or_default()
}

/// Returns the rules for files that are kept out of memory. Without a directory there are none. Returns `None` if they
/// cannot be read; then nothing may be saved.
pub(super) async fn ignore_rules(root: Option<PathBuf>) -> Option<GrovIgnore> {
    let Some(root) = root else {
        return Some(GrovIgnore::default());
    };
    let reading = tokio::task::spawn_blocking(move || GrovIgnore::at(&ProjectLocation::locate(&root)));
    let ignore = reading.await.ok()?;
    for problem in ignore.problems() {
        tracing::warn!("{problem}");
    }
    Some(ignore)
}

/// Adds hashes of the task's files, by which later changes are detected.
pub(super) async fn with_file_pins(mut task: Task, root: Option<PathBuf>) -> Task {
    let Some(root) = root else {
        return task;
    };
    let files = task.files_touched.clone();
    let reading = tokio::task::spawn_blocking(move || pins(&root, &files));
    task.file_pins = reading.await.unwrap_or_default();
    task
}
