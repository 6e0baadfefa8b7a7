//! Embedding memories in the background, where a model is set up.

use grov_domain::{Embedder, EmbeddingStore, MicroUsd, SpendingStore, SystemClock};
use grov_llm::{EmbedderProvider, EmbedderSettings, HttpEmbedder};
use grov_memory::{EmbeddingState, EmbeddingWork};
use grov_runtime::{EmbeddingProvider, Settings, Shutdown};
use grov_store::ReopeningStore;
use std::net::SocketAddr;
use std::sync::Arc;

/// The work and its state; `None` where nobody named a model, or what was named cannot be used.
pub(crate) fn embedding(
    settings: &Settings,
    listener: SocketAddr,
    store: Arc<ReopeningStore>,
) -> Option<(Embedding, EmbeddingState)> {
    let (embedder, llm) = (settings.embedder(), settings.llm());
    if let Some(missing) = embedder.missing {
        tracing::warn!("{missing}; memories are not embedded");
    }
    let provider = match embedder.provider {
        EmbeddingProvider::Off => return None,
        EmbeddingProvider::OpenAi => EmbedderProvider::OpenAi,
        EmbeddingProvider::Ollama => EmbedderProvider::Ollama,
    };
    let wanted = EmbedderSettings {
        base_url: embedder.base_url.as_ref().map(|url| url.as_str().to_owned()),
        api_key: embedder.api_key.clone(),
        daily_budget: MicroUsd(llm.daily_budget_micro_usd),
        timeout: llm.timeout,
        proxy: llm.proxy.as_ref().map(|url| url.as_str().to_owned()),
        own_listeners: vec![listener],
        ..EmbedderSettings::new(provider, &embedder.model)
    };
    let ledger = Arc::clone(&store) as Arc<dyn SpendingStore>;
    let embedder = match HttpEmbedder::new(wanted, ledger, Arc::new(SystemClock)) {
        Ok(embedder) => Arc::new(embedder),
        Err(error) => {
            tracing::error!(%error, "memories are not embedded");
            return None;
        }
    };
    let (work, state) = EmbeddingWork::new(
        store as Arc<dyn EmbeddingStore>,
        Arc::clone(&embedder) as Arc<dyn Embedder>,
    );
    Some((Embedding { work, embedder }, state))
}

/// The work, to be run beside the proxy.
pub(crate) struct Embedding {
    work: EmbeddingWork,
    embedder: Arc<HttpEmbedder>,
}

impl Embedding {
    /// Goes on until the daemon stops; what is under way then is done again next time.
    pub(crate) async fn run(mut self, mut stopping: Shutdown) {
        let work = async {
            loop {
                let rest = self.work.step().await;
                tokio::time::sleep(rest).await;
            }
        };
        tokio::select! {
            () = work => {}
            () = stopping.requested() => {}
        }
        self.embedder.close().await;
    }
}

/// How it stands, for the health page.
pub(crate) fn state(state: Option<&EmbeddingState>) -> serde_json::Value {
    let Some(status) = state.map(EmbeddingState::read) else {
        return serde_json::json!({"model": null});
    };
    serde_json::json!({
        "model": status.model,
        "memories": status.progress.memories,
        "done": status.progress.done,
        "trouble": status.trouble,
    })
}
