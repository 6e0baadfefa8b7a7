//! Embeds memories in the background, if a model is configured.

use crate::assembly::DaemonStore;
use anyhow::bail;
use grov_domain::{Embedder, EmbeddingStore, MicroUsd, SpendingStore, SystemClock};
use grov_llm::{EmbedderProvider, EmbedderSettings, HttpEmbedder, StaticEmbedder};
use grov_memory::{EmbeddingState, EmbeddingWorker};
use grov_runtime::{EmbeddingProvider, EmbeddingSettings, LlmSettings, Settings, Shutdown};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

/// The progress of the worker, or why the model cannot be used. Empty until the model is loaded, and without a model.
#[derive(Clone, Default)]
pub(crate) struct EmbeddingStatus(Arc<OnceLock<anyhow::Result<EmbeddingState>>>);

/// The background work.
pub(crate) struct Embedding {
    settings: EmbeddingSettings,
    llm: LlmSettings,
    listener: SocketAddr,
    store: Arc<DaemonStore>,
    status: EmbeddingStatus,
}

impl Embedding {
    /// Returns the work, or `None` if no model is configured. It reports to `status`.
    pub(crate) fn new(
        settings: &Settings,
        listener: SocketAddr,
        store: Arc<DaemonStore>,
        status: EmbeddingStatus,
    ) -> Option<Self> {
        let embedder = settings.embedder();
        let is_configured = embedder.provider != EmbeddingProvider::Off || embedder.missing.is_some();
        is_configured.then(|| Self {
            settings: embedder.clone(),
            llm: settings.llm().clone(),
            listener,
            store,
            status,
        })
    }

    /// Runs until the daemon stops. The next start repeats an unfinished step.
    pub(crate) async fn run(self, mut stopping: Shutdown) {
        let store = Arc::clone(&self.store);
        let status = self.status.clone();
        // Blocking: reads a model from the disk, or the system's certificates.
        let loading = tokio::task::spawn_blocking(move || self.embedder());
        let embedder = match loading.await.unwrap_or_else(|error| Err(error.into())) {
            Ok(embedder) => embedder,
            Err(error) => {
                tracing::error!(trouble = %error, "memories are not embedded");
                let _ = status.0.set(Err(error));
                return;
            }
        };
        let (mut worker, progress) =
            EmbeddingWorker::new(store as Arc<dyn EmbeddingStore>, Arc::clone(&embedder));
        let _ = status.0.set(Ok(progress));
        let work = async {
            loop {
                let pause = worker.step().await;
                tokio::time::sleep(pause).await;
            }
        };
        tokio::select! {
            () = work => {}
            () = stopping.requested() => {}
        }
        embedder.close().await;
    }

    /// Creates the configured embedder.
    fn embedder(self) -> anyhow::Result<Arc<dyn Embedder>> {
        if let Some(missing) = self.settings.missing {
            bail!(missing);
        }
        match &self.settings.provider {
            EmbeddingProvider::Off => bail!("no embedder is named"),
            EmbeddingProvider::OpenAi => self.http_embedder(EmbedderProvider::OpenAi),
            EmbeddingProvider::Ollama => self.http_embedder(EmbedderProvider::Ollama),
            EmbeddingProvider::Static(folder) => Ok(Arc::new(StaticEmbedder::load(folder)?)),
        }
    }

    fn http_embedder(&self, provider: EmbedderProvider) -> anyhow::Result<Arc<dyn Embedder>> {
        let (settings, llm) = (&self.settings, &self.llm);
        let settings = EmbedderSettings {
            base_url: settings.base_url.as_ref().map(|url| url.as_str().to_owned()),
            api_key: settings.api_key.clone(),
            daily_budget: MicroUsd(llm.daily_budget_micro_usd),
            timeout: llm.timeout,
            proxy: llm.proxy.as_ref().map(|url| url.as_str().to_owned()),
            own_listeners: vec![self.listener],
            ..EmbedderSettings::new(provider, &settings.model)
        };
        let ledger = Arc::clone(&self.store) as Arc<dyn SpendingStore>;
        Ok(Arc::new(HttpEmbedder::new(
            settings,
            ledger,
            Arc::new(SystemClock),
        )?))
    }
}

impl EmbeddingStatus {
    /// Returns the status for the health page.
    pub(crate) fn to_json(&self) -> Value {
        match self.0.get() {
            Some(Ok(state)) => {
                let status = state.read();
                json!({
                    "model": status.model,
                    "memories": status.progress.memories,
                    "done": status.progress.done,
                    "trouble": status.error,
                })
            }
            Some(Err(error)) => json!({"model": null, "trouble": error.to_string()}),
            None => json!({"model": null}),
        }
    }
}
