//! The model that says what a question means, where one is set up.

use crate::assembly::{self, CommandStore};
use crate::context::Context;
use crate::output::say;
use grov_domain::{Embedder, MicroUsd, StoreError, SystemClock};
use grov_llm::{EmbedderProvider, EmbedderSettings, HttpEmbedder, StaticEmbedder};
use grov_memory::{Found, Query, Ranking, search, semantic_search};
use grov_runtime::EmbeddingProvider;
use std::cell::Cell;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// How long somebody who searches waits for the model at most.
const PATIENCE: Duration = Duration::from_secs(5);

/// Searches memory, with the help of a model where one is set up.
pub(crate) struct Searcher {
    embedder: Option<Box<dyn Embedder>>,
    /// Trouble is told once.
    told: Cell<bool>,
}

impl Searcher {
    /// What the settings come to. A model that cannot be used costs its help and no more.
    pub(crate) fn of(context: &Context) -> Self {
        let embedder = embedder(context).unwrap_or_else(|trouble| {
            say(&format!("warning: searching by words alone: {trouble}"));
            None
        });
        Self {
            embedder,
            told: Cell::new(false),
        }
    }

    /// The memories that fit a question, best first.
    pub(crate) async fn search(
        &self,
        store: &dyn CommandStore,
        query: &Query,
    ) -> Result<Vec<Found>, StoreError> {
        let ranking = Ranking::default();
        let Some(embedder) = &self.embedder else {
            return search(store, query, &ranking).await;
        };
        let answer = semantic_search(store, embedder.as_ref(), query, &ranking).await?;
        if let Some(trouble) = answer.error.filter(|_| !self.told.replace(true)) {
            say(&format!("warning: searching by words alone: {trouble}"));
        }
        Ok(answer.found)
    }
}

/// The embedder that the settings name; `None` where they name none.
pub(crate) fn embedder(context: &Context) -> Result<Option<Box<dyn Embedder>>, String> {
    let (settings, llm) = (context.settings.embedder(), context.settings.llm());
    if let Some(missing) = settings.missing {
        return Err(missing.to_owned());
    }
    let provider = match &settings.provider {
        EmbeddingProvider::Off => return Ok(None),
        EmbeddingProvider::OpenAi => EmbedderProvider::OpenAi,
        EmbeddingProvider::Ollama => EmbedderProvider::Ollama,
        EmbeddingProvider::Static(folder) => {
            let embedder = StaticEmbedder::load(folder).map_err(|error| error.to_string())?;
            return Ok(Some(Box::new(embedder)));
        }
    };
    let proxy = context.settings.proxy();
    let wanted = EmbedderSettings {
        base_url: settings.base_url.as_ref().map(|url| url.as_str().to_owned()),
        api_key: settings.api_key.clone(),
        daily_budget: MicroUsd(llm.daily_budget_micro_usd),
        timeout: llm.timeout.min(PATIENCE),
        proxy: llm.proxy.as_ref().map(|url| url.as_str().to_owned()),
        own_listeners: vec![SocketAddr::new(proxy.host, proxy.port)],
        ..EmbedderSettings::new(provider, &settings.model)
    };
    // What the search itself reads is opened for reading alone.
    let ledger = assembly::ledger(&context.database());
    let embedder = HttpEmbedder::new(wanted, ledger, Arc::new(SystemClock));
    Ok(Some(Box::new(embedder.map_err(|error| error.to_string())?)))
}
