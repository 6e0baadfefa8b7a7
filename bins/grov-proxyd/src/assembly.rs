//! Opens the store and builds the judge: the one place that knows which.

use async_trait::async_trait;
use grov_domain::{
    IntentExtractor, MicroUsd, SessionDigest, SettlingJudge, SpendingStore, Store, StoreError,
    SummaryQuestion, SystemClock,
};
use grov_drift::{HookBackend, Services};
use grov_drift_proxy::DriftBackend;
use grov_live::{LedgerBackend, MemoryBackend, TaskLedger};
use grov_llm::{JudgeSettings, ModelJudge, Provider};
use grov_rules::{IntentMemo, extract_intent, session_summary};
use grov_runtime::{Home, LlmProvider, LlmSettings, Settings};
use grov_store::{OnCorruption, OpenOptions, SqliteStore};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

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
    Store + TaskLedger + LedgerBackend + MemoryBackend + DriftBackend + DatabaseFile
{
}

impl<T: Store + TaskLedger + LedgerBackend + MemoryBackend + DriftBackend + DatabaseFile> DaemonStore for T {}

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

/// Cleans what an older version wrote, if there is any. `clean` is told, or dropped, when what is read is clean.
pub(crate) async fn clean(database: &Path, clean: oneshot::Sender<()>) -> Result<(), StoreError> {
    let Some(existing) = SqliteStore::open_existing(database, &OpenOptions::default()).await? else {
        return Ok(());
    };
    if !existing.needs_cleaning().await? {
        return Ok(());
    }
    existing.close().await?;
    let store = SqliteStore::open(database, &OpenOptions::default()).await?;
    store.clean_rows(&extract_intent).await?;
    // Nobody may be waiting any more.
    let _ = clean.send(());
    store.clean(&extract_intent).await?;
    tracing::info!("what an older version wrote was cleaned");
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

/// What hooks are answered from.
pub(crate) struct HookServices {
    database: PathBuf,
}

impl HookServices {
    /// Those of a home.
    pub(crate) fn of(home: &Home) -> Arc<dyn Services> {
        let database = home.database();
        Arc::new(Self { database })
    }
}

fn options(patience: Option<Duration>) -> OpenOptions {
    patience.map_or_else(OpenOptions::default, OpenOptions::with_timeout)
}

#[async_trait]
impl Services for HookServices {
    async fn store(&self, patience: Option<Duration>) -> Result<Box<dyn HookBackend>, StoreError> {
        let store = SqliteStore::open(&self.database, &options(patience)).await?;
        Ok(Box::new(store))
    }

    async fn existing_store(
        &self,
        patience: Option<Duration>,
    ) -> Result<Option<Box<dyn HookBackend>>, StoreError> {
        let store = SqliteStore::open_existing(&self.database, &options(patience)).await?;
        Ok(store.map(|store| Box::new(store) as Box<dyn HookBackend>))
    }

    fn judge(&self, settings: &Settings) -> Result<Box<dyn SettlingJudge>, StoreError> {
        let proxy = settings.proxy();
        let wanted = judge_settings(settings.llm(), SocketAddr::new(proxy.host, proxy.port));
        let ledger: Arc<dyn SpendingStore> = store(&self.database, OnCorruption::Fail);
        let clock = Arc::new(SystemClock);
        let judge = ModelJudge::new(wanted, Arc::clone(&ledger), Arc::clone(&clock) as Arc<_>)
            .or_else(|_| ModelJudge::new(JudgeSettings::default(), ledger, clock));
        Ok(Box::new(
            judge.map_err(|error| StoreError::Other(error.to_string()))?,
        ))
    }

    fn intents(&self) -> Arc<dyn IntentExtractor> {
        Arc::new(IntentMemo::default())
    }

    fn summary(&self, question: &SummaryQuestion) -> SessionDigest {
        session_summary(question)
    }
}
