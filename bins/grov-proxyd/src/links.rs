//! Keeps links to agent services going while the daemon runs.

use crate::assembly::DaemonStore;
use grov_domain::{LinkStore, SystemClock};
use grov_link::{Followed, SenderLock, follow};
use grov_runtime::{Home, Shutdown};
use std::sync::Arc;
use std::time::Duration;

/// How often the lock is tried that a worker may hold.
const LOCK_INTERVAL: Duration = Duration::from_secs(5);

/// Runs until the daemon stops. A worker of hooks that holds the lock goes on, and the daemon takes over when it ends.
pub(crate) async fn run(home: Home, store: Arc<DaemonStore>, mut stopping: Shutdown) {
    let work = async {
        let _lock = loop {
            match SenderLock::try_take(home.root()) {
                Ok(Some(lock)) => break lock,
                Ok(None) => {}
                Err(error) => tracing::debug!(%error, "the lock of the links cannot be taken"),
            }
            tokio::time::sleep(LOCK_INTERVAL).await;
        };
        let store: Arc<dyn LinkStore> = store;
        let followed = Followed {
            store,
            home: home.root().to_owned(),
            clock: Arc::new(SystemClock),
        };
        follow(followed, async |_| false).await;
    };
    tokio::select! {
        () = work => {}
        () = stopping.requested() => {}
    }
}
