//! The store and the settings of drift detection on the proxy path.

use grov_domain::{DriftStore, GoalStore, OrchestrationStore, SessionStore, SwitchStore};
use grov_session::{Delivery, Policy};

/// The stores that drift detection needs.
pub trait DriftBackend: DriftStore + GoalStore + SessionStore + OrchestrationStore + SwitchStore {}

impl<T: DriftStore + GoalStore + SessionStore + OrchestrationStore + SwitchStore> DriftBackend for T {}

/// The settings of drift detection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriftSettings {
    /// Whether drift detection is on.
    pub enabled: bool,
    /// Prompts between two periodic judgements. Default 3.
    pub check_interval: u32,
    /// Whether corrections are sent; otherwise drift is only recorded.
    pub corrections: bool,
    /// Most tokens of a correction. Default 600.
    pub budget: usize,
}

impl Default for DriftSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            check_interval: 3,
            corrections: true,
            budget: 600,
        }
    }
}

impl DriftSettings {
    /// Returns the policy of the engine: corrections go out with every request.
    pub(crate) fn policy(&self) -> Policy {
        Policy {
            corrects: self.corrections,
            budget: self.budget,
            delivery: Delivery::PerAction,
            check_interval: self.check_interval.max(1),
        }
    }
}
