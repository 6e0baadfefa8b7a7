//! Where a task takes place.

use grov_project::Place;
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
        let place = Place::locate(&directory);
        Location {
            root: Some(place.work_tree().map_or(directory, ToOwned::to_owned)),
            head: place.head().commit,
        }
    });
    looking.await.unwrap_or_default()
}
