//! Sets up the injection ledger and its sources: corrections first, then team memory.

use crate::assembly::DaemonStore;
use grov_live::{ContextSource, Injection, InjectionWorker, MemorySource};
use grov_memory::{Budget, Ranking};
use grov_runtime::MemorySettings;
use std::sync::Arc;

/// Returns the policy and its worker. Without sources, it only repeats the text that histories already contain.
pub(crate) fn injection(
    store: Arc<DaemonStore>,
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
