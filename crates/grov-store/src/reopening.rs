//! A store that is opened when it is first needed, and again after it failed.

use crate::files::{self, Identity};
use crate::{OpenOptions, SqliteStore};
use async_trait::async_trait;
use grov_domain::{ExchangeRecord, ExchangeStore, StoreError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::Mutex;

/// What to do with a damaged database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnCorruption {
    /// Rename it (see [`crate::set_aside`]) and start a new one: for a daemon, which has to go on recording.
    SetAside,
    /// Leave it and fail.
    Fail,
}

/// Stands in front of a database that may be missing, locked, damaged or replaced at any time: opens it on demand and
/// opens it again when a call failed or when the file under the path has become another one.
///
/// Each call tries once, so the caller sets the pace; [`crate::BatchWriter`] does that with a back-off.
pub struct ReopeningStore {
    path: PathBuf,
    options: OpenOptions,
    on_corruption: OnCorruption,
    open: Mutex<Option<Arc<SqliteStore>>>,
}

impl ReopeningStore {
    /// A store at `path`; nothing is opened yet.
    pub fn new(path: impl Into<PathBuf>, options: OpenOptions, on_corruption: OnCorruption) -> Self {
        Self {
            path: path.into(),
            options,
            on_corruption,
            open: Mutex::new(None),
        }
    }

    /// The database file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The open store, opened now if need be.
    ///
    /// # Errors
    /// See [`SqliteStore::open`].
    pub async fn store(&self) -> Result<Arc<SqliteStore>, StoreError> {
        let mut open = self.open.lock().await;
        if let Some(store) = open.as_ref().filter(|store| store.is_current()) {
            return Ok(Arc::clone(store));
        }
        *open = None;
        let found = Identity::of(&self.path);
        let store = match SqliteStore::open(&self.path, &self.options).await {
            Err(StoreError::Corrupt(damage)) => {
                self.set_aside(damage, found).await?;
                SqliteStore::open(&self.path, &self.options).await
            }
            other => other,
        }?;
        let store = Arc::new(store);
        *open = Some(Arc::clone(&store));
        Ok(store)
    }

    /// Ends the connection in order, see [`SqliteStore::close`]. The next call opens the database anew.
    ///
    /// # Errors
    /// When SQLite cannot close the file.
    pub async fn close(&self) -> Result<(), StoreError> {
        match self.open.lock().await.take() {
            Some(store) => store.close().await,
            None => Ok(()),
        }
    }

    /// Makes the next call open the database anew.
    async fn forget(&self) {
        *self.open.lock().await = None;
    }

    async fn set_aside(&self, damage: String, damaged: Option<Identity>) -> Result<(), StoreError> {
        if self.on_corruption == OnCorruption::Fail {
            return Err(StoreError::Corrupt(damage));
        }
        match files::set_aside_if(&self.path, damaged).await {
            Ok(Some(kept)) => {
                tracing::error!(%damage, kept = %kept.display(), "the store was damaged; it is set aside and a new one begun");
                Ok(())
            }
            Ok(None) => Ok(()),
            Err(error) => Err(StoreError::Corrupt(format!(
                "{damage}; setting it aside failed: {error}"
            ))),
        }
    }
}

#[async_trait]
impl ExchangeStore for ReopeningStore {
    async fn append(&self, batch: &[ExchangeRecord]) -> Result<usize, StoreError> {
        let store = self.store().await?;
        match store.append(batch).await {
            Err(StoreError::Corrupt(damage)) => {
                self.forget().await;
                self.set_aside(damage, store.identity()).await?;
                self.store().await?.append(batch).await
            }
            Err(error) if !error.is_transient() => {
                self.forget().await;
                Err(error)
            }
            other => other,
        }
    }
}
