//! The model that judges, where one is set up.

use grov_domain::{Clock, MicroUsd, SpendingStore, SystemClock};
use grov_llm::{JudgeSettings, ModelJudge, Provider};
use grov_runtime::{LlmProvider, Settings};
use grov_store::{OnCorruption, OpenOptions, ReopeningStore};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

/// The judge that the settings name, with its ledger in this database; `None` where rules judge alone. One that cannot be
/// used costs its help and no more: `tell` hears why.
pub fn of(settings: &Settings, database: &Path, tell: impl Fn(&str)) -> Option<ModelJudge> {
    let proxy = settings.proxy();
    let settings = settings.llm();
    if let Some(missing) = settings.missing {
        tell(&format!("rules judge alone: {missing}"));
    }
    let wanted = JudgeSettings {
        provider: match settings.provider {
            LlmProvider::Anthropic => Provider::Anthropic,
            LlmProvider::OpenAi => Provider::OpenAi,
            LlmProvider::Offline => return None,
        },
        base_url: settings.base_url.as_ref().map(|url| url.as_str().to_owned()),
        api_key: settings.api_key.clone(),
        model: settings.model.clone(),
        daily_budget: MicroUsd(settings.daily_budget_micro_usd),
        timeout: settings.timeout,
        concurrency: settings.concurrency,
        proxy: settings.proxy.as_ref().map(|url| url.as_str().to_owned()),
        own_listeners: vec![SocketAddr::new(proxy.host, proxy.port)],
    };
    let ledger = ReopeningStore::new(database.to_owned(), OpenOptions::default(), OnCorruption::Fail);
    let ledger: Arc<dyn SpendingStore> = Arc::new(ledger);
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    match ModelJudge::new(wanted, ledger, clock) {
        Ok(judge) => Some(judge),
        Err(trouble) => {
            tell(&format!("rules judge alone: {trouble}"));
            None
        }
    }
}
