//! The model that judges, where one is set up.

use crate::context::Context;
use crate::output::say;
use grov_domain::{Clock, MicroUsd, SpendingStore, SystemClock};
use grov_llm::{JudgeSettings, ModelJudge, Provider};
use grov_runtime::LlmProvider;
use grov_store::{OnCorruption, OpenOptions, ReopeningStore};
use std::net::SocketAddr;
use std::sync::Arc;

/// The judge that the settings name; `None` where rules judge alone. One that cannot be used costs its help and no more.
pub(crate) fn of(context: &Context) -> Option<ModelJudge> {
    let settings = context.settings.llm();
    if let Some(missing) = settings.missing {
        say(&format!("warning: rules judge alone: {missing}"));
    }
    let proxy = context.settings.proxy();
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
    let ledger = ReopeningStore::new(context.database(), OpenOptions::default(), OnCorruption::Fail);
    let ledger: Arc<dyn SpendingStore> = Arc::new(ledger);
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    match ModelJudge::new(wanted, ledger, clock) {
        Ok(judge) => Some(judge),
        Err(trouble) => {
            say(&format!("warning: rules judge alone: {trouble}"));
            None
        }
    }
}
