//! Resolves the directory of a request to its project, with a cache.

use crate::dialect;
use crate::identity::project_header;
use crate::working_directory;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use grov_domain::Project;
use grov_project::ProjectLocation;
use grov_proxy_core::MessagesRequest;
use hashlink::LruCache;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Directories in the cache.
const MAX_DIRECTORIES: usize = 1024;

/// How long a result is valid. A directory may become a repository or get a remote.
const VALID_FOR: Duration = Duration::from_secs(60);

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

/// A lookup that several callers can await. Returns when it ended and what it found; `None` if it panicked.
type Lookup = Shared<BoxFuture<'static, Option<(Instant, Arc<Location>)>>>;

/// Lookups by directory.
type Lookups = LruCache<String, Lookup>;

/// Resolves directories. Caches the results.
pub(crate) struct ProjectLocator {
    lookups: Mutex<Lookups>,
}

impl Default for ProjectLocator {
    fn default() -> Self {
        Self {
            lookups: Mutex::new(LruCache::new(MAX_DIRECTORIES)),
        }
    }
}

impl ProjectLocator {
    /// Returns the directory that a request names.
    pub(crate) fn directory(request: &MessagesRequest) -> Option<String> {
        let named = project_header(request).map(str::to_owned);
        named.or_else(|| {
            let index = request.index()?;
            working_directory::find(dialect::of(request), index)
        })
    }

    /// Resolves a directory. The caller sets a timeout. After a timeout the lookup continues, and later callers get its
    /// result. A file system that hangs blocks one thread per directory.
    pub(crate) async fn locate(&self, directory: &str) -> Option<Arc<Location>> {
        let lookup = {
            let mut lookups = self.lookups();
            match lookups.get(directory) {
                Some(lookup) if is_usable(lookup) => lookup.clone(),
                _ => {
                    let lookup = look_up(PathBuf::from(directory));
                    lookups.insert(directory.to_owned(), lookup.clone());
                    lookup
                }
            }
        };
        lookup.await.map(|(_, location)| location)
    }

    fn lookups(&self) -> MutexGuard<'_, Lookups> {
        self.lookups.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a directory unresolved until the returned value is dropped.
    #[cfg(test)]
    pub(crate) fn hold(&self, directory: &str) -> tokio::sync::oneshot::Sender<Arc<Location>> {
        let (holder, located) = tokio::sync::oneshot::channel();
        let lookup = located.map(|location| Some((Instant::now(), location.ok()?)));
        self.lookups()
            .insert(directory.to_owned(), lookup.boxed().shared());
        holder
    }
}

/// Returns whether a lookup is running or its result is recent.
fn is_usable(lookup: &Lookup) -> bool {
    // Polls instead of peeking: callers whose timeout passed never polled the lookup to its end.
    match lookup.clone().now_or_never() {
        None => true,
        Some(found) => found.is_some_and(|(ended_at, _)| ended_at.elapsed() < VALID_FOR),
    }
}

/// Reads the files of a directory on a blocking thread.
fn look_up(directory: PathBuf) -> Lookup {
    let lookup = tokio::task::spawn_blocking(move || {
        let place = ProjectLocation::locate(&directory);
        let location = Arc::new(Location {
            project: place.project(),
            exists: directory.is_dir(),
            root: place.work_tree().map_or(directory, ToOwned::to_owned),
        });
        (Instant::now(), location)
    });
    lookup.map(Result::ok).boxed().shared()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_that_no_caller_waited_for_expires() {
        let location = Arc::new(Location {
            project: Project::default(),
            root: PathBuf::from("/p"),
            exists: true,
        });
        let ended = |ended_at: Option<Instant>| {
            let found = ended_at.map(|ended_at| (ended_at, Arc::clone(&location)));
            is_usable(&std::future::ready(found).boxed().shared())
        };
        assert!(ended(Some(Instant::now())));
        assert!(!ended(Instant::now().checked_sub(VALID_FOR)));
        assert!(
            is_usable(&std::future::pending().boxed().shared()),
            "it is still running"
        );
    }
}
