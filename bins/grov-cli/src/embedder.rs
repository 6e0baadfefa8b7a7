//! The embedding model for searches, if one is configured.

use crate::assembly;
use crate::context::Context;
use crate::output::note;
use crate::progress::Waiting;
use grov_domain::{Embedder, MicroUsd, StoreConnection, StoreError, SystemClock};
use grov_llm::{EmbedderProvider, EmbedderSettings, HttpEmbedder, StaticEmbedder};
use grov_memory::{Found, Query, Ranking, search, semantic_search};
use grov_runtime::EmbeddingProvider;
use std::cell::Cell;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// Maximum time that a search waits for the model.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Searches memory, by meaning if a model is configured.
pub(crate) struct Searcher {
    embedder: Option<Box<dyn Embedder>>,
    /// Whether a failure of the model was reported.
    warned: Cell<bool>,
}

impl Searcher {
    /// Searches by words alone if the model cannot be used, with a warning.
    pub(crate) fn of(context: &Context) -> Self {
        let embedder = embedder(context).unwrap_or_else(|error| {
            note!("warning: searching by words alone: {error}");
            None
        });
        Self {
            embedder,
            warned: Cell::new(false),
        }
    }

    /// The memories that match a query, best first.
    pub(crate) async fn search(
        &self,
        store: &dyn StoreConnection,
        query: &Query,
    ) -> Result<Vec<Found>, StoreError> {
        let ranking = Ranking::default();
        let Some(embedder) = &self.embedder else {
            return search(store, query, &ranking).await;
        };
        let waiting = Waiting::with("asking the embedding model");
        let answer = semantic_search(store, embedder.as_ref(), query, &ranking).await?;
        drop(waiting);
        if let Some(error) = answer.error.filter(|_| !self.warned.replace(true)) {
            note!("warning: searching by words alone: {error}");
        }
        Ok(answer.found)
    }
}

/// The configured embedder; `None` if there is none.
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
        timeout: llm.timeout.min(TIMEOUT),
        proxy: llm.proxy.as_ref().map(|url| url.as_str().to_owned()),
        own_listeners: vec![SocketAddr::new(proxy.host, proxy.port)],
        ..EmbedderSettings::new(provider, &settings.model)
    };
    // The search's own connection is read-only.
    let ledger = assembly::ledger(&context.database());
    let embedder = HttpEmbedder::new(wanted, ledger, Arc::new(SystemClock));
    Ok(Some(Box::new(embedder.map_err(|error| error.to_string())?)))
}
