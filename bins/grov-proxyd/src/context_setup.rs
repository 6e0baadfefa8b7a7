//! What is said to the agent: the injection ledger, and what it tells: corrections first, then team memory.

use crate::assembly::DaemonStore;
use grov_live::{ContextSource, Injection, InjectionCounters, InjectionWorker, MemorySource};
use grov_memory::{Budget, Ranking};
use grov_runtime::MemorySettings;
use std::sync::Arc;

/// The policy and its work. Where nobody has anything to say, what histories hold already is said again.
pub(crate) fn injection(
    store: Arc<dyn DaemonStore>,
    corrections: Option<Arc<dyn ContextSource>>,
    settings: MemorySettings,
) -> (Injection, InjectionWorker) {
    let mut sources: Vec<Arc<dyn ContextSource>> = corrections.into_iter().collect();
    if settings.enabled {
        let budget = Budget {
            tokens: settings.budget_tokens,
        };
        let memory = MemorySource::new(Arc::clone(&store) as Arc<_>, Ranking::for_injection(), budget);
        sources.push(Arc::new(memory));
    }
    Injection::new(store, sources)
}

/// How it stands, for the health page.
pub(crate) fn state(counters: &InjectionCounters) -> serde_json::Value {
    let counters = counters.all().into_iter();
    counters
        .map(|(name, count)| (name.to_owned(), serde_json::Value::from(count)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}
