//! Sets up drift detection.

use crate::assembly::DaemonStore;
use grov_domain::{Judge, SystemClock};
use grov_drift_proxy::{DriftMonitor, DriftWorker, Policy};
use grov_runtime::DriftSettings;
use std::sync::Arc;

/// Returns the monitor and its worker, or `None` if drift detection is disabled.
pub(crate) fn monitor(
    settings: DriftSettings,
    judge: Arc<dyn Judge>,
    store: Arc<DaemonStore>,
) -> Option<(Arc<DriftMonitor>, DriftWorker)> {
    let policy = Policy {
        check_interval: u32::try_from(settings.check_interval).map_or(u32::MAX, |interval| interval.max(1)),
        corrects: settings.corrections,
        ..Policy::PER_ACTION
    };
    let reader = Arc::new(grov_rules::extract_intent);
    settings
        .enabled
        .then(|| DriftMonitor::new(policy, judge, store, Arc::new(SystemClock), reader))
}
