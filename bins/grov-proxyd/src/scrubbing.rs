//! Removal of secrets that an older version of Grov stored.

use crate::assembly;
use grov_runtime::{Home, Tasks};
use std::time::Duration;
use tokio::sync::oneshot;

/// How long the start waits for the removal: rows that are read before it may be written back.
const MAX_WAIT: Duration = Duration::from_secs(5);

/// Removes secrets from rows written before schema 10. Returns when that is done or after [`MAX_WAIT`]; the removal then
/// continues in the background.
pub(crate) async fn scrub_secrets(home: &Home, tasks: &Tasks) {
    let (done, is_done) = oneshot::channel();
    let database = home.database();
    tasks.spawn("scrubbing", async move {
        if let Err(error) = assembly::scrub_secrets(&database).await {
            tracing::warn!(%error, "rows of an older version may hold secrets; grov doctor --fix removes them");
        }
        // The receiver may have timed out.
        let _ = done.send(());
    });
    let _ = tokio::time::timeout(MAX_WAIT, is_done).await;
}
