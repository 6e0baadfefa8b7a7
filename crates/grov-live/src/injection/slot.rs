//! A lineage in memory, and how it gets there.

use super::lineage_state::LineageState;
use crate::project_locator::Location;
use std::sync::atomic::{AtomicBool, AtomicU8};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// After a request has waited in vain for what was said in its conversation before, no other does for so long.
const PAUSE_BETWEEN_WAITS: Duration = Duration::from_secs(5);

/// Whether what was kept of a lineage is in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Loading {
    /// It is not, and nobody is at it.
    #[default]
    No,
    /// Somebody is at it.
    UnderWay,
    /// It is.
    Done,
}

/// A lineage in memory.
#[derive(Default)]
pub(super) struct Slot {
    pub(super) loading: watch::Sender<Loading>,
    /// No request waits for loading until then.
    pub(super) waits_again_at: Mutex<Option<Instant>>,
    pub(super) state: Mutex<LineageState>,
    pub(super) location: Mutex<Option<Arc<Location>>>,
    /// The store does not know it yet.
    pub(super) is_unknown: AtomicBool,
    /// How often the directory was looked for.
    pub(super) looks: AtomicU8,
}

impl Slot {
    pub(super) fn state(&self) -> MutexGuard<'_, LineageState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn location(&self) -> Option<Arc<Location>> {
        self.location
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(super) fn waits_no_more(&self) -> bool {
        let until = *self.waits_again_at.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_some_and(|until| Instant::now() < until)
    }

    pub(super) fn wait_no_more(&self) {
        let until = Instant::now() + PAUSE_BETWEEN_WAITS;
        *self.waits_again_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(until);
    }

    /// The project's key, `""` while it is not known.
    pub(super) fn project_path(&self) -> String {
        self.location()
            .map_or_else(String::new, |location| location.project.key().to_owned())
    }
}
