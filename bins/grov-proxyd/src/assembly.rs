//! Opens the store and builds the judge: the one place that knows which.

use async_trait::async_trait;
use grov_domain::{MicroUsd, SettlingJudge, SpendingStore, Store, StoreError, SystemClock};
use grov_drift::Services;
use grov_drift_proxy::DriftBackend;
use grov_live::{LedgerBackend, MemoryBackend, TaskBackend};
use grov_llm::{JudgeSettings, ModelJudge, Provider};
use grov_runtime::{Home, LlmProvider, LlmSettings, Settings};
use grov_store::{OnCorruption, OpenOptions, SqliteOpener, SqliteStore};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

/// The file under a store, which may be deleted or replaced at any time.
#[async_trait]
pub(crate) trait DatabaseFile: Send + Sync {
    /// Whether what is written now reaches the file on disk. Cheap, and never waits.
    fn is_current(&self) -> bool;
    /// Opens it anew if it is another one than before, and saves what only the open connection still sees.
    async fn reopen(&self) -> Result<(), StoreError>;
    /// Ends the connection in order. The next call opens it anew.
    async fn close(&self) -> Result<(), StoreError>;
}

/// What the daemon reads and writes.
pub(crate) trait DaemonStore:
    Store + TaskBackend + LedgerBackend + MemoryBackend + DriftBackend + DatabaseFile
{
}

impl<T: Store + TaskBackend + LedgerBackend + MemoryBackend + DriftBackend + DatabaseFile> DaemonStore for T {}

#[async_trait]
impl DatabaseFile for SqliteStore {
    fn is_current(&self) -> bool {
        Self::is_current(self)
    }

    async fn reopen(&self) -> Result<(), StoreError> {
        Self::reopen(self).await
    }

    async fn close(&self) -> Result<(), StoreError> {
        Self::close(self).await
    }
}

/// The store of whoever records: one that is damaged is set aside.
pub(crate) fn recording_store(home: &Home) -> Arc<dyn DaemonStore> {
    store(&home.database(), OnCorruption::SetAside)
}

/// The store once more, on a connection of its own. One that is damaged is left to whoever records.
pub(crate) fn store_apart(home: &Home) -> Arc<dyn DaemonStore> {
    store(&home.database(), OnCorruption::Fail)
}

fn store(database: &Path, on_corruption: OnCorruption) -> Arc<dyn DaemonStore> {
    Arc::new(SqliteStore::reopening(
        database,
        &OpenOptions::default(),
        on_corruption,
    ))
}

/// Removes secrets from rows written before schema 10, if there are any.
pub(crate) async fn scrub_secrets(database: &Path) -> Result<(), StoreError> {
    let Some(existing) = SqliteStore::open_existing(database, &OpenOptions::default()).await? else {
        return Ok(());
    };
    if !existing.may_hold_secrets().await? {
        return Ok(());
    }
    existing.close().await?;
    let store = SqliteStore::open(database, &OpenOptions::default()).await?;
    store.scrub_secrets().await?;
    tracing::info!("secrets were removed from rows written by an older version");
    store.close().await
}

/// The judge as the settings have it. Their own listeners are never asked.
pub(crate) fn judge_settings(settings: &LlmSettings, listener: SocketAddr) -> JudgeSettings {
    JudgeSettings {
        provider: match settings.provider {
            LlmProvider::Anthropic => Provider::Anthropic,
            LlmProvider::OpenAi => Provider::OpenAi,
            LlmProvider::Offline => Provider::Offline,
        },
        base_url: settings.base_url.as_ref().map(|url| url.as_str().to_owned()),
        api_key: settings.api_key.clone(),
        model: settings.model.clone(),
        daily_budget: MicroUsd(settings.daily_budget_micro_usd),
        timeout: settings.timeout,
        concurrency: settings.concurrency,
        proxy: settings.proxy.as_ref().map(|url| url.as_str().to_owned()),
        own_listeners: vec![listener],
    }
}

/// What answers hooks, with the store of a home.
pub(crate) fn hook_services(home: &Home) -> Arc<Services> {
    let database = home.database();
    let stores = Box::new(SqliteOpener::new(&database));
    let judge = move |settings: &Settings| {
        let proxy = settings.proxy();
        let configured = judge_settings(settings.llm(), SocketAddr::new(proxy.host, proxy.port));
        let ledger: Arc<dyn SpendingStore> = store(&database, OnCorruption::Fail);
        let judge = ModelJudge::new(configured, Arc::clone(&ledger), Arc::new(SystemClock))
            .or_else(|_| ModelJudge::new(JudgeSettings::default(), ledger, Arc::new(SystemClock)))
            .map_err(|error| StoreError::Other(error.to_string()))?;
        Ok(Box::new(judge) as Box<dyn SettlingJudge>)
    };
    Arc::new(Services {
        stores,
        judge: Box::new(judge),
    })
}
