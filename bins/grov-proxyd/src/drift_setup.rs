//! Watching the goal: rules and a judge look at what the agent does, and it hears when it leaves its goal.

use crate::assembly::DaemonStore;
use grov_domain::{Judge, SystemClock};
use grov_drift_proxy::{Counters, DriftMonitor, DriftWorker};
use grov_runtime::DriftSettings;
use std::sync::Arc;

/// The watch and its work; `None` where it is switched off.
pub(crate) fn watch(
    settings: DriftSettings,
    judge: Arc<dyn Judge>,
    store: Arc<dyn DaemonStore>,
) -> Option<(Arc<DriftMonitor>, DriftWorker)> {
    let wanted = grov_drift_proxy::DriftSettings {
        enabled: settings.enabled,
        check_interval: u32::try_from(settings.check_interval).unwrap_or(u32::MAX),
        corrections: settings.corrections,
        ..grov_drift_proxy::DriftSettings::default()
    };
    let reader = Arc::new(grov_rules::extract_intent);
    settings
        .enabled
        .then(|| DriftMonitor::new(wanted, judge, store, Arc::new(SystemClock), reader))
}

/// How it stands, for the health page.
pub(crate) fn state(counters: Option<&Counters>) -> serde_json::Value {
    let counters = counters.map_or_else(Vec::new, |counters| counters.all().to_vec());
    counters
        .into_iter()
        .map(|(name, count)| (name.to_owned(), serde_json::Value::from(count)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}
