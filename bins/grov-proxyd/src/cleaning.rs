//! Cleaning what an older version of Grov wrote, once.

use grov_domain::StoreError;
use grov_llm::offline::extract_intent;
use grov_runtime::{Home, Tasks};
use grov_store::{OpenOptions, SqliteStore};
use std::path::{Path, PathBuf};
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
        if let Err(error) = of_database(&database, clean).await {
            tracing::warn!(%error, "what an older version wrote may hold secrets; grov doctor --fix cleans it");
        }
    });
    // The sender goes with a fault, too.
    let _ = tokio::time::timeout(PATIENCE, is_clean).await;
}

async fn of_database(database: &Path, clean: oneshot::Sender<()>) -> Result<(), StoreError> {
    let path: PathBuf = database.to_owned();
    let Some(existing) = SqliteStore::open_existing(&path, &OpenOptions::default()).await? else {
        return Ok(());
    };
    if !existing.needs_cleaning().await? {
        return Ok(());
    }
    existing.close().await?;
    let store = SqliteStore::open(&path, &OpenOptions::default()).await?;
    store.clean_rows(&extract_intent).await?;
    // Nobody may be waiting any more.
    let _ = clean.send(());
    store.clean(&extract_intent).await?;
    tracing::info!("what an older version wrote was cleaned");
    store.close().await
}
