//! Screens memories again after an upgrade of the rules, so that prompts need not.

use crate::assembly::DaemonStore;
use grov_memory::rescreen;
use grov_runtime::Shutdown;
use std::sync::Arc;
use std::time::Duration;

/// Memories screened at once.
const BATCH_SIZE: u32 = 64;
/// Pause between batches, to leave the machine time for other work.
const BATCH_PAUSE: Duration = Duration::from_millis(250);

/// Runs until all memories are screened, the store fails or the daemon stops. The next start continues.
pub(crate) async fn run(store: Arc<DaemonStore>, mut stopping: Shutdown) {
    let work = async {
        loop {
            match rescreen(&*store, BATCH_SIZE).await {
                Ok(true) => tokio::time::sleep(BATCH_PAUSE).await,
                Ok(false) => return,
                Err(error) => {
                    tracing::warn!(%error, "memories are not screened again; every prompt checks those that it finds");
                    return;
                }
            }
        }
    };
    tokio::select! {
        () = work => {}
        () = stopping.requested() => {}
    }
}
