//! Embedding memories in the background, where a model is set up.

use crate::assembly::DaemonStore;
use grov_domain::{Embedder, EmbeddingStore, MicroUsd, SpendingStore, SystemClock};
use grov_llm::{EmbedderProvider, EmbedderSettings, HttpEmbedder, StaticEmbedder};
use grov_memory::{EmbeddingState, EmbeddingWorker};
use grov_runtime::{EmbeddingProvider, EmbeddingSettings, LlmSettings, Settings, Shutdown};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

/// How it stands: empty until the model is ready; why there is none where it cannot be used.
type State = Arc<OnceLock<Result<EmbeddingState, String>>>;

/// The work, to be run beside the proxy.
pub(crate) struct Embedding {
    settings: EmbeddingSettings,
    llm: LlmSettings,
    listener: SocketAddr,
    store: Arc<dyn DaemonStore>,
    state: State,
}

/// Reads how the work stands, for the health page.
pub(crate) struct StatusSnapshot(Option<State>);

/// The work and how it stands; `None` where nobody named a model.
pub(crate) fn embedding(
    settings: &Settings,
    listener: SocketAddr,
    store: Arc<dyn DaemonStore>,
) -> (Option<Embedding>, StatusSnapshot) {
    let embedder = settings.embedder();
    if embedder.provider == EmbeddingProvider::Off && embedder.missing.is_none() {
        return (None, StatusSnapshot(None));
    }
    let state = State::default();
    let embedding = Embedding {
        settings: embedder.clone(),
        llm: settings.llm().clone(),
        listener,
        store,
        state: Arc::clone(&state),
    };
    (Some(embedding), StatusSnapshot(Some(state)))
}

impl Embedding {
    /// Goes on until the daemon stops; what is under way then is done again next time.
    pub(crate) async fn run(self, mut stopping: Shutdown) {
        let store = Arc::clone(&self.store);
        let state = Arc::clone(&self.state);
        // A table is read from the disk, and the first connection reads the system's certificates: nobody waits for that.
        let ready = tokio::task::spawn_blocking(move || self.embedder());
        let ready = ready.await.unwrap_or_else(|fault| Err(fault.to_string()));
        let embedder = match ready {
            Ok(embedder) => embedder,
            Err(trouble) => {
                tracing::error!(%trouble, "memories are not embedded");
                let _ = state.set(Err(trouble));
                return;
            }
        };
        let (mut work, progress) =
            EmbeddingWorker::new(store as Arc<dyn EmbeddingStore>, Arc::clone(&embedder));
        let _ = state.set(Ok(progress));
        let work = async {
            loop {
                let rest = work.step().await;
                tokio::time::sleep(rest).await;
            }
        };
        tokio::select! {
            () = work => {}
            () = stopping.requested() => {}
        }
        embedder.close().await;
    }

    /// The embedder that the settings name.
    fn embedder(self) -> Result<Arc<dyn Embedder>, String> {
        if let Some(missing) = self.settings.missing {
            return Err(missing.to_owned());
        }
        match &self.settings.provider {
            EmbeddingProvider::Off => Err("no embedder is named".to_owned()),
            EmbeddingProvider::OpenAi => self.on_a_server(EmbedderProvider::OpenAi),
            EmbeddingProvider::Ollama => self.on_a_server(EmbedderProvider::Ollama),
            EmbeddingProvider::Static(folder) => {
                let embedder = StaticEmbedder::load(folder).map_err(|error| error.to_string())?;
                Ok(Arc::new(embedder))
            }
        }
    }

    fn on_a_server(&self, provider: EmbedderProvider) -> Result<Arc<dyn Embedder>, String> {
        let (settings, llm) = (&self.settings, &self.llm);
        let wanted = EmbedderSettings {
            base_url: settings.base_url.as_ref().map(|url| url.as_str().to_owned()),
            api_key: settings.api_key.clone(),
            daily_budget: MicroUsd(llm.daily_budget_micro_usd),
            timeout: llm.timeout,
            proxy: llm.proxy.as_ref().map(|url| url.as_str().to_owned()),
            own_listeners: vec![self.listener],
            ..EmbedderSettings::new(provider, &settings.model)
        };
        let ledger = Arc::clone(&self.store) as Arc<dyn SpendingStore>;
        let embedder = HttpEmbedder::new(wanted, ledger, Arc::new(SystemClock));
        Ok(Arc::new(embedder.map_err(|error| error.to_string())?))
    }
}

impl StatusSnapshot {
    /// How it stands, for the health page.
    pub(crate) fn read(&self) -> Value {
        match self.0.as_ref().and_then(|state| state.get()) {
            Some(Ok(state)) => {
                let status = state.read();
                json!({
                    "model": status.model,
                    "memories": status.progress.memories,
                    "done": status.progress.done,
                    "trouble": status.error,
                })
            }
            Some(Err(trouble)) => json!({"model": null, "trouble": trouble}),
            None => json!({"model": null}),
        }
    }
}
