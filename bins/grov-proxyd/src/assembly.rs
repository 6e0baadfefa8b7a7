//! Constructs the store and the judge. The only module that names their implementations.

use grov_domain::{Judge, MicroUsd, SpendingStore, StoreError, SystemClock};
use grov_drift::Services;
use grov_llm::{JudgeSettings, ModelJudge, Provider};
use grov_runtime::{Environment, Home, LlmProvider, Settings, daemon};
use grov_store::{OnCorruption, OpenOptions, SqliteOpener, SqliteStore};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

/// The store of the daemon.
pub(crate) type DaemonStore = SqliteStore;

/// Returns the store for recording. It sets a corrupt database aside.
pub(crate) fn recording_store(home: &Home) -> Arc<DaemonStore> {
    store(&home.database(), OnCorruption::SetAside)
}

/// Returns the store on a separate connection. It fails on a corrupt database, which only the recording store sets aside.
pub(crate) fn store_apart(home: &Home) -> Arc<DaemonStore> {
    store(&home.database(), OnCorruption::Fail)
}

fn store(database: &Path, on_corruption: OnCorruption) -> Arc<DaemonStore> {
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

/// Returns the judge's settings. The judge never calls `listener`, which is the daemon itself.
pub(crate) fn judge_settings(
    settings: &Settings,
    environment: &Environment,
    listener: SocketAddr,
) -> JudgeSettings {
    let own_listeners = settings.own_listeners(listener);
    let client_environment = daemon::client_environment(environment, settings);
    let settings = settings.llm();
    JudgeSettings {
        provider: match settings.provider {
            LlmProvider::Anthropic => Provider::Anthropic,
            LlmProvider::OpenAi => Provider::OpenAi,
            LlmProvider::ClaudeCli => Provider::ClaudeCli,
            LlmProvider::Offline => Provider::Offline,
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
    }
}

/// Returns the services for hooks that use this home.
pub(crate) fn hook_services(home: &Home, environment: &Environment) -> Arc<Services> {
    let environment = environment.clone();
    let database = home.database();
    let stores = Box::new(SqliteOpener::new(&database));
    let judge = move |settings: &Settings| {
        let proxy = settings.proxy();
        let configured = judge_settings(settings, &environment, SocketAddr::new(proxy.host, proxy.port));
        let ledger: Arc<dyn SpendingStore> = store(&database, OnCorruption::Fail);
        let judge = ModelJudge::new(configured, Arc::clone(&ledger), Arc::new(SystemClock))
            .or_else(|_| ModelJudge::new(JudgeSettings::default(), ledger, Arc::new(SystemClock)))
            .map_err(|error| StoreError::Other(error.to_string()))?;
        Ok(Box::new(judge) as Box<dyn Judge>)
    };
    Arc::new(Services {
        stores,
        judge: Box::new(judge),
    })
}
