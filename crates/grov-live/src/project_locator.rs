//! Resolves the directory of a request to its project, with a cache.

use crate::identity::project_header;
use crate::working_directory;
use grov_domain::Project;
use grov_project::Place;
use grov_proxy_core::MessagesRequest;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Directories in the cache.
const MAX_DIRECTORIES: usize = 1024;

/// How long an entry is valid: a directory may become a repository, or get a remote.
const GOOD_FOR: Duration = Duration::from_secs(60);

/// A directory and the project it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The project.
    pub project: Project,
    /// The root of the working tree, or the directory itself. File names are relative to it.
    pub root: PathBuf,
    /// Whether the directory exists here. A client in a container names its own.
    pub exists: bool,
}

/// A cache entry.
#[derive(Debug)]
enum Look {
    /// Resolved at this time.
    Done(Instant, Arc<Location>),
    /// Being resolved. A file system that hangs blocks one thread, not all.
    UnderWay(watch::Receiver<Option<Arc<Location>>>),
}

type Known = HashMap<String, Look>;

/// The cache of resolved directories.
#[derive(Debug, Default)]
pub(crate) struct ProjectLocator {
    known: Arc<Mutex<Known>>,
}

impl ProjectLocator {
    /// Returns the directory that a request names.
    pub(crate) fn directory(request: &MessagesRequest) -> Option<String> {
        let named = project_header(request).map(str::to_owned);
        named.or_else(|| request.index().and_then(working_directory::find))
    }

    /// Resolves a directory. Files are read on a blocking thread: the caller sets a timeout.
    pub(crate) async fn locate(&self, directory: &str) -> Option<Arc<Location>> {
        let mut told = {
            let mut known = self.known();
            match known.get(directory) {
                Some(Look::Done(looked_at, location)) if looked_at.elapsed() < GOOD_FOR => {
                    return Some(Arc::clone(location));
                }
                Some(Look::UnderWay(told)) if told.has_changed().is_ok() => told.clone(),
                _ => {
                    let (sender, told) = watch::channel(None);
                    if known.len() >= MAX_DIRECTORIES {
                        known.retain(|_, look| matches!(look, Look::UnderWay(_)));
                    }
                    known.insert(directory.to_owned(), Look::UnderWay(told.clone()));
                    self.look(directory.to_owned(), sender);
                    told
                }
            }
        };
        told.wait_for(Option::is_some).await.ok()?.clone()
    }

    /// Resolves a directory on a blocking thread. A late result serves the next caller.
    fn look(&self, directory: String, sender: watch::Sender<Option<Arc<Location>>>) {
        let known = Arc::clone(&self.known);
        tokio::task::spawn_blocking(move || {
            let path = PathBuf::from(&directory);
            let place = Place::locate(&path);
            let location = Arc::new(Location {
                project: place.project(),
                exists: path.is_dir(),
                root: place.work_tree().map_or(path, ToOwned::to_owned),
            });
            let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
            known.insert(directory, Look::Done(Instant::now(), Arc::clone(&location)));
            drop(known);
            sender.send_replace(Some(location));
        });
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A directory that does not resolve until the returned value is dropped.
    #[cfg(test)]
    pub(crate) fn hold(&self, directory: &str) -> watch::Sender<Option<Arc<Location>>> {
        let (holder, told) = watch::channel(None);
        self.known().insert(directory.to_owned(), Look::UnderWay(told));
        holder
    }
}
