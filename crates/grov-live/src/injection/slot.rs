//! A lineage in memory.

use super::lineage_state::LineageState;
use crate::project_locator::Location;
use std::sync::atomic::{AtomicBool, AtomicU8};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// After a request waited in vain for its lineage, later requests do not wait for this long.
const BACKOFF: Duration = Duration::from_secs(5);

/// Whether the stored decisions of a lineage are in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Loading {
    /// Not loaded.
    #[default]
    NotLoaded,
    /// Being loaded.
    InProgress,
    /// Loaded.
    Done,
}

/// A lineage in memory.
#[derive(Default)]
pub(super) struct Slot {
    pub(super) loading: watch::Sender<Loading>,
    /// Until then, no request waits for loading.
    pub(super) backoff_until: Mutex<Option<Instant>>,
    pub(super) state: Mutex<LineageState>,
    /// The project, once it is resolved.
    pub(super) location: OnceLock<Arc<Location>>,
    /// Whether the lineage is not stored yet.
    pub(super) is_unstored: AtomicBool,
    /// How often resolving the directory was attempted.
    pub(super) lookups: AtomicU8,
}

impl Slot {
    pub(super) fn state(&self) -> MutexGuard<'_, LineageState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_backing_off(&self) -> bool {
        let until = *self.backoff_until.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_some_and(|until| Instant::now() < until)
    }

    pub(super) fn back_off(&self) {
        let until = Instant::now() + BACKOFF;
        *self.backoff_until.lock().unwrap_or_else(PoisonError::into_inner) = Some(until);
    }

    /// Returns the project's key, or `""` if the project is unknown.
    pub(super) fn project_path(&self) -> String {
        self.location
            .get()
            .map_or_else(String::new, |location| location.project.key().to_owned())
    }
}
