//! Where a task takes place.

use grov_domain::Task;
use grov_project::{GrovIgnore, ProjectLocation, pins};
use std::path::PathBuf;

/// What is known of a directory.
#[derive(Clone, Debug, Default)]
pub(super) struct Location {
    /// The folder that paths are told relative to: the top of the working tree, or the directory itself.
    pub(super) root: Option<PathBuf>,
    /// The commit that is checked out.
    pub(super) head: Option<String>,
}

/// Looks at a directory, on a thread that may wait: a network file system may hang, and the relay shares these.
pub(super) async fn locate(directory: Option<&str>) -> Location {
    let Some(directory) = directory.map(PathBuf::from) else {
        return Location::default();
    };
    let looking = tokio::task::spawn_blocking(move || {
        let place = ProjectLocation::locate(&directory);
        Location {
            root: Some(place.work_tree().map_or(directory, ToOwned::to_owned)),
            head: place.head().commit,
        }
    });
    looking.await.unwrap_or_default()
}

/// What is kept out of memory in a working tree; without one nothing is, for there are no files to speak of. `None`: it
/// cannot be told, and nothing may be remembered.
pub(super) async fn ignored(root: Option<PathBuf>) -> Option<GrovIgnore> {
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

/// The task with what its files are like now, so that it can be told later whether they have changed since.
pub(super) async fn pinned(mut task: Task, root: Option<PathBuf>) -> Task {
    let Some(root) = root else {
        return task;
    };
    let files = task.files_touched.clone();
    let reading = tokio::task::spawn_blocking(move || pins(&root, &files));
    task.file_pins = reading.await.unwrap_or_default();
    task
}
