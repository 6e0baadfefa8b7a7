//! What drift on the proxy path needs from outside: a store, and how it is set up.

use grov_domain::{DriftStore, GoalStore, OrchestrationStore, SessionStore, SwitchStore};
use grov_session::{Delivery, Policy};

/// What drift needs of a store.
pub trait DriftBackend: DriftStore + GoalStore + SessionStore + OrchestrationStore + SwitchStore {}

impl<T: DriftStore + GoalStore + SessionStore + OrchestrationStore + SwitchStore> DriftBackend for T {}

/// How drift is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriftSettings {
    /// Whether anything is watched at all.
    pub enabled: bool,
    /// Prompts between two looks of a judge. Default 3.
    pub check_interval: u32,
    /// Whether the agent is told; otherwise it is only recorded.
    pub corrections: bool,
    /// Tokens of a correction at most. Default 600.
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
    /// The same for the engine: words go out with every request.
    pub(crate) fn policy(&self) -> Policy {
        Policy {
            corrects: self.corrections,
            budget: self.budget,
            delivery: Delivery::PerAction,
            check_interval: self.check_interval.max(1),
        }
    }
}
