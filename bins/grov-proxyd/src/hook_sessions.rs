//! Looks up whether hooks run in a session.

use grov_domain::{ClientSessionId, Clock, HookStore, SystemClock};
use grov_live::HookSessions;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;

/// A session without a hook for this long is no longer recorded by hooks: they may have been unregistered.
const MAX_SILENCE: Duration = Duration::from_secs(24 * 3600);

/// Maximum time for a look-up. Then the session counts as one without hooks.
const TIMEOUT: Duration = Duration::from_secs(1);

/// The hook sessions of a store.
pub(crate) struct StoredHookSessions<S> {
    store: Arc<S>,
    /// Runs the query.
    runtime: Handle,
}

impl<S: HookStore + 'static> StoredHookSessions<S> {
    pub(crate) fn new(store: Arc<S>, runtime: Handle) -> Self {
        Self { store, runtime }
    }
}

impl<S: HookStore + 'static> HookSessions for StoredHookSessions<S> {
    fn is_hooked(&self, session: &ClientSessionId) -> bool {
        let query = async {
            let query = self.store.hook_session_summary(session);
            tokio::time::timeout(TIMEOUT, query).await
        };
        match self.runtime.block_on(query) {
            Ok(Ok(found)) => found.is_some_and(|found| SystemClock.now() - found.updated_at < MAX_SILENCE),
            Ok(Err(error)) => {
                tracing::warn!(%error, "it is unknown whether hooks record a session; the proxy records it");
                false
            }
            Err(_) => {
                tracing::warn!(
                    "the store did not say in time whether hooks record a session; the proxy records it"
                );
                false
            }
        }
    }
}
