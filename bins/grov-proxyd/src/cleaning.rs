//! Cleaning what an older version of Grov wrote, once.

use crate::assembly;
use grov_runtime::{Home, Tasks};
use std::time::Duration;
use tokio::sync::oneshot;

/// How long the start waits for old rows to be clean: what is read of them afterwards is written back.
const PATIENCE: Duration = Duration::from_secs(5);

/// Has old rows cleaned, if there are any, and returns when they are clean or that takes long. What is left of them in the
/// files is taken out meanwhile.
pub(crate) async fn clean(home: &Home, tasks: &Tasks) {
    let (clean, is_clean) = oneshot::channel();
    let database = home.database();
    tasks.spawn("cleaning", async move {
        if let Err(error) = assembly::clean(&database, clean).await {
            tracing::warn!(%error, "what an older version wrote may hold secrets; grov doctor --fix cleans it");
        }
    });
    // The sender goes with a fault, too.
    let _ = tokio::time::timeout(PATIENCE, is_clean).await;
}
