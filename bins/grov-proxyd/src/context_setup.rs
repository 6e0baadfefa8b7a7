//! Sets up the injection ledger and its sources, and the monitor of context windows.

use crate::assembly::DaemonStore;
use crate::context_material::RecordedMaterial;
use grov_context::{Level, Thresholds};
use grov_domain::{Judge, Lineage, SystemClock};
use grov_live::{
    ContextEdits, ContextMonitor, ContextPolicy, ContextSource, ContextWorker, Injection, InjectionWorker,
    InputPrices, MemoryChoiceSource, MemorySource, ReadySummary, RestorationSource, SummarySource, Window,
};
use grov_memory::{Budget, Ranking};
use grov_route::PriceTable;
use grov_runtime::{ContextSettings, MemorySettings};
use std::sync::Arc;

/// Returns the policy and its worker: corrections first, then what a compaction lost, then team memory. Where words find
/// none, the judge of `choice` chooses, with a store of its own, so that its searches delay no request. Without sources, it only repeats the text that histories already contain.
/// The source of memory is returned to be warmed up.
pub(crate) fn injection(
    store: Arc<DaemonStore>,
    corrections: Option<Arc<dyn ContextSource>>,
    monitor: Arc<ContextMonitor>,
    context: ContextSettings,
    settings: MemorySettings,
    choice: Option<(Arc<dyn Judge>, Arc<DaemonStore>)>,
) -> (Injection, InjectionWorker, Option<Arc<MemorySource>>) {
    let mut sources: Vec<Arc<dyn ContextSource>> = corrections.into_iter().collect();
    let restoration = RestorationSource::new(monitor, Arc::clone(&store) as Arc<_>);
    sources.push(Arc::new(restoration));
    let mut memory = None;
    if settings.enabled {
        let budget = Budget {
            tokens: settings.budget_tokens,
        };
        let source = MemorySource::new(Arc::clone(&store) as Arc<_>, Ranking::for_injection(), budget);
        let source = Arc::new(source);
        sources.push(Arc::clone(&source) as Arc<_>);
        memory = Some(source);
        let choice = choice
            .map(|(judge, store)| MemoryChoiceSource::new(store, judge, Ranking::for_injection(), budget));
        sources.extend(choice.map(|choice| Arc::new(choice) as Arc<_>));
    }
    let edits = ContextEdits {
        clear: context.clear,
        trim: context.trim,
    };
    let (injection, worker) = Injection::with_context_edits(edits, store, sources);
    (injection, worker, memory)
}

/// Summaries and windows of the monitor, and list prices.
pub(crate) struct Summaries(pub(crate) Arc<ContextMonitor>);

impl SummarySource for Summaries {
    fn window(&self, lineage: &Lineage) -> Option<Window> {
        let meter = self.0.meter(&lineage.session)?;
        // A window that is larger than assumed would be cleared much too early.
        let is_known = !meter.window.source.is_guess() || meter.thresholds.clear.is_some();
        is_known.then(|| Window {
            tokens: meter.window.tokens,
            clear_at: meter.threshold(Level::Clear),
        })
    }

    fn prices(&self, model: &str) -> Option<InputPrices> {
        // A suffix such as `[1m]` selects a larger window.
        let model = model.split('[').next().unwrap_or_default();
        PriceTable::built_in().of(model).map(|prices| InputPrices {
            cache_read: prices.cache_read,
            cache_write: prices.cache_write,
        })
    }

    fn ready(&self, lineage: &Lineage) -> Option<ReadySummary> {
        let (summary, age) = self.0.summary_and_age(&lineage.session)?;
        Some(ReadySummary {
            text: summary.text.clone(),
            age,
        })
    }

    fn refresh(&self, lineage: &Lineage) {
        self.0.refresh(&lineage.session);
    }
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
