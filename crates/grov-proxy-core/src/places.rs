//! Which project a request is about, looked up once per directory.

use crate::request::MessagesRequest;
use crate::working_directory;
use grov_domain::Project;
use grov_project::Place;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Directories kept in mind; more than anybody works in on one day.
const MAX_DIRECTORIES: usize = 1024;

/// A directory is looked at again after this: it may have become a repository, or got a remote.
const GOOD_FOR: Duration = Duration::from_secs(60);

/// A directory and the project it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The project.
    pub project: Project,
    /// The top of the working tree, or the directory itself: what file names are relative to.
    pub root: PathBuf,
}

/// When a directory was looked at, and what was found.
type Known = HashMap<String, (Instant, Arc<Location>)>;

/// Directories that were looked at.
#[derive(Debug, Default)]
pub(crate) struct Places {
    known: Arc<Mutex<Known>>,
}

impl Places {
    /// The directory that a request names; `None`: it names none.
    pub(crate) fn directory(request: &MessagesRequest) -> Option<String> {
        let named = request.project_header().map(str::to_owned);
        named.or_else(|| request.index().and_then(working_directory::find))
    }

    /// Where a directory belongs. Files are read on a thread that may wait: the caller sets the limit.
    pub(crate) async fn locate(&self, directory: &str) -> Option<Arc<Location>> {
        if let Some((looked_at, location)) = self.known().get(directory)
            && looked_at.elapsed() < GOOD_FOR
        {
            return Some(Arc::clone(location));
        }
        let (known, directory) = (Arc::clone(&self.known), directory.to_owned());
        // What is found late is there for the next one who asks.
        let looking = tokio::task::spawn_blocking(move || {
            let path = PathBuf::from(&directory);
            let place = Place::locate(&path);
            let location = Arc::new(Location {
                project: place.project(),
                root: place.work_tree().map_or(path, ToOwned::to_owned),
            });
            let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= MAX_DIRECTORIES {
                known.clear();
            }
            known.insert(directory, (Instant::now(), Arc::clone(&location)));
            location
        });
        looking.await.ok()
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
