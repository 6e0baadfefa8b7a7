//! Notices changes that other processes make to the store.

use grov_domain::{ClientSessionId, StoreError, SwitchScope, SwitchStore};
use std::collections::HashSet;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::OnceCell;

/// Pause between two reads of the store's revision.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Polls the store's revision and keeps in memory for which sessions and projects Grov is switched off.
pub struct StoreWatcher {
    store: Arc<dyn SwitchStore>,
    switched_off: Mutex<HashSet<SwitchScope>>,
    /// The last revision read, after the first successful read.
    revision: OnceCell<AtomicI64>,
}

impl StoreWatcher {
    /// Creates a watcher that has not read the store yet: everything counts as switched on.
    pub fn new(store: Arc<dyn SwitchStore>) -> Self {
        Self {
            store,
            switched_off: Mutex::default(),
            revision: OnceCell::new(),
        }
    }

    /// Returns whether the user switched Grov off for a session or its project.
    pub fn is_switched_off(&self, session: &ClientSessionId, project: &str) -> bool {
        let off = self.switched_off();
        !off.is_empty()
            && (off.contains(&SwitchScope::Session(session.clone()))
                || off.contains(&SwitchScope::Project(project.to_owned())))
    }

    /// Reads the revision and the switches, once.
    ///
    /// # Errors
    ///
    /// If the store cannot be read. The next call tries again.
    pub async fn load(&self) -> Result<(), StoreError> {
        self.revision().await.map(drop)
    }

    /// Waits until another process changes the store, and reads the switches again.
    pub async fn changed(&self) {
        if let Err(error) = self.load().await {
            tracing::debug!(%error, "cannot read the revision of the store; retrying");
        }
        while !self.changed_within_interval().await {}
    }

    /// Waits one polling interval. Returns whether another process changed the store, and reads the switches again if so.
    pub(crate) async fn changed_within_interval(&self) -> bool {
        tokio::time::sleep(POLL_INTERVAL).await;
        self.poll().await.unwrap_or_else(|error| {
            tracing::debug!(%error, "cannot read the revision of the store; retrying");
            false
        })
    }

    async fn poll(&self) -> Result<bool, StoreError> {
        let last = self.revision().await?;
        // Read before the switches, so that a change in between is found by the next poll.
        let revision = self.store.revision().await?;
        if last.load(Ordering::Relaxed) == revision {
            return Ok(false);
        }
        self.read_switches().await?;
        last.store(revision, Ordering::Relaxed);
        Ok(true)
    }

    async fn revision(&self) -> Result<&AtomicI64, StoreError> {
        let read = || async {
            let revision = self.store.revision().await?;
            self.read_switches().await?;
            Ok(AtomicI64::new(revision))
        };
        self.revision.get_or_try_init(read).await
    }

    async fn read_switches(&self) -> Result<(), StoreError> {
        let off = self.store.switched_off().await?;
        *self.switched_off() = off.into_iter().collect();
        Ok(())
    }

    fn switched_off(&self) -> MutexGuard<'_, HashSet<SwitchScope>> {
        self.switched_off.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
