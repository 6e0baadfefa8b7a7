//! Chooses the implementations of store and judge.

use grov_domain::{
    Clock, Judge, LinkStore, MicroUsd, SpendingStore, StoreConnection, StoreError, SystemClock,
};
use grov_drift::{IntentReader, Services};
use grov_llm::{JudgeSettings, ModelJudge, Provider};
use grov_rules::extract_intent;
use grov_runtime::{Environment, LlmProvider, Settings, daemon};
use grov_store::{OnCorruption, OpenOptions, SqliteOpener, SqliteStore};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) use grov_store::{IntegrityReport, set_aside_databases};

/// Opens the store for writing, and creates it if there is none.
pub(crate) async fn open(database: &Path) -> Result<impl StoreConnection + 'static, StoreError> {
    SqliteStore::open(database, &OpenOptions::default()).await
}

/// Opens the existing store for reading; `None` if there is none.
pub(crate) async fn open_existing(database: &Path) -> Result<Option<impl StoreConnection>, StoreError> {
    SqliteStore::open_existing(database, &OpenOptions::default()).await
}

/// Like [`open_existing`], for a store that is kept.
pub(crate) async fn open_to_follow(database: &Path) -> Result<Option<Box<dyn StoreConnection>>, StoreError> {
    let store = SqliteStore::open_existing(database, &OpenOptions::default()).await?;
    Ok(store.map(|store| Box::new(store) as Box<dyn StoreConnection>))
}

/// Like [`open_existing`], but does not wait for a busy database.
pub(crate) async fn open_briefly(database: &Path) -> Result<Option<impl StoreConnection>, StoreError> {
    SqliteStore::open_existing(database, &OpenOptions::brief()).await
}

/// Checks the whole database, and counts the records in the spool; `None` if there is no database.
pub(crate) async fn examine(database: &Path) -> Result<Option<(IntegrityReport, u64)>, StoreError> {
    let Some(store) = SqliteStore::open_existing(database, &OpenOptions::default()).await? else {
        return Ok(None);
    };
    let spooled = grov_domain::MaintenanceStore::stats(&store).await?.spooled;
    Ok(Some((store.check_integrity().await?, spooled)))
}

/// Whether a database is known to hold no secrets from before schema 10.
pub(crate) async fn is_scrubbed(database: &Path) -> Result<bool, StoreError> {
    SqliteStore::is_scrubbed(database, &OpenOptions::brief()).await
}

/// Removes secrets from rows written before schema 10.
pub(crate) async fn scrub_secrets(database: &Path) -> Result<(), StoreError> {
    let store = SqliteStore::open(database, &OpenOptions::default()).await?;
    let scrubbed = store.scrub_secrets().await;
    store.close().await.and(scrubbed)
}

/// The spending ledger of a database, which is opened at the first call.
pub(crate) fn ledger(database: &Path) -> Arc<dyn SpendingStore> {
    Arc::new(SqliteStore::reopening(
        database,
        &OpenOptions::default(),
        OnCorruption::Fail,
    ))
}

/// The configured judge with the ledger of this database; `None` if rules judge alone. `warn` is called with the reason if
/// the judge cannot be used.
pub(crate) fn judge(settings: &Settings, database: &Path, warn: impl Fn(&str)) -> Option<ModelJudge> {
    let proxy = settings.proxy();
    let own_listeners = settings.own_listeners(SocketAddr::new(proxy.host, proxy.port));
    let client_environment = daemon::client_environment(&Environment::of_process(), settings);
    let settings = settings.llm();
    if let Some(missing) = settings.missing {
        warn(&format!("rules judge alone: {missing}"));
    }
    let wanted = JudgeSettings {
        provider: match settings.provider {
            LlmProvider::Anthropic => Provider::Anthropic,
            LlmProvider::OpenAi => Provider::OpenAi,
            LlmProvider::ClaudeCli => Provider::ClaudeCli,
            LlmProvider::Offline => return None,
        },
        base_url: settings.base_url.as_ref().map(|url| url.as_str().to_owned()),
        api_key: settings.api_key.clone(),
        model: settings.model.clone(),
        daily_budget: MicroUsd(settings.daily_budget_micro_usd),
        timeout: settings.timeout,
        concurrency: settings.concurrency,
        proxy: settings.proxy.as_ref().map(|url| url.as_str().to_owned()),
        own_listeners,
        client_environment,
    };
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    match ModelJudge::new(wanted, ledger(database), clock) {
        Ok(judge) => Some(judge),
        Err(error) => {
            warn(&format!("rules judge alone: {error}"));
            None
        }
    }
}

/// The links of a database, which is opened at the first call, and never created.
pub(crate) fn link_store(database: &Path) -> Arc<dyn LinkStore> {
    let options = OpenOptions {
        must_exist: true,
        ..OpenOptions::default()
    };
    Arc::new(SqliteStore::reopening(database, &options, OnCorruption::Fail))
}

/// The rules that extract a contract's parts from prompts.
pub(crate) fn intent_reader() -> IntentReader {
    Arc::new(extract_intent)
}

/// The services for hooks, with the database at this path.
pub(crate) fn hook_services(database: PathBuf) -> Arc<Services> {
    let stores = Box::new(SqliteOpener::new(&database));
    let judge = move |settings: &Settings| {
        let judge = match judge(settings, &database, |_| ()) {
            Some(judge) => judge,
            None => ModelJudge::new(JudgeSettings::default(), ledger(&database), Arc::new(SystemClock))
                .map_err(|error| StoreError::Other(error.to_string()))?,
        };
        Ok(Box::new(judge) as Box<dyn Judge>)
    };
    Arc::new(Services {
        stores,
        judge: Box::new(judge),
    })
}
