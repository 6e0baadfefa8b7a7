//! Sets up the injection ledger and its sources, and the monitor of context windows.

use crate::assembly::DaemonStore;
use crate::context_material::RecordedMaterial;
use grov_context::Thresholds;
use grov_domain::{Judge, SystemClock};
use grov_live::{
    ContextMonitor, ContextPolicy, ContextSource, ContextWorker, Injection, InjectionWorker, MemorySource,
    RestorationSource,
};
use grov_memory::{Budget, Ranking};
use grov_runtime::{ContextSettings, MemorySettings};
use std::sync::Arc;

/// Returns the policy and its worker: corrections first, then what a compaction lost, then team memory. Without sources, it
/// only repeats the text that histories already contain.
pub(crate) fn injection(
    store: Arc<DaemonStore>,
    corrections: Option<Arc<dyn ContextSource>>,
    monitor: Arc<ContextMonitor>,
    settings: MemorySettings,
) -> (Injection, InjectionWorker) {
    let mut sources: Vec<Arc<dyn ContextSource>> = corrections.into_iter().collect();
    let restoration = RestorationSource::new(monitor, Arc::clone(&store) as Arc<_>);
    sources.push(Arc::new(restoration));
    if settings.enabled {
        let budget = Budget {
            tokens: settings.budget_tokens,
        };
        let memory = MemorySource::new(Arc::clone(&store) as Arc<_>, Ranking::for_injection(), budget);
        sources.push(Arc::new(memory));
    }
    Injection::new(store, sources)
}

/// Returns the monitor of context windows and its worker.
pub(crate) fn monitor(
    settings: ContextSettings,
    store: Arc<DaemonStore>,
    judge: Arc<dyn Judge>,
) -> (Arc<ContextMonitor>, ContextWorker) {
    let policy = ContextPolicy {
        thresholds: Thresholds {
            warning: settings.warning_threshold,
            clear: settings.clear_threshold,
        },
        window: settings.window,
    };
    let material = Arc::new(RecordedMaterial::new(Arc::clone(&store)));
    ContextMonitor::new(policy, store, material, judge, Arc::new(SystemClock))
}
