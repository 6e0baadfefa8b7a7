//! The stores that drift detection needs.

use grov_domain::{DriftStore, GoalStore, OrchestrationStore, SessionStore, SwitchStore};

/// The stores that drift detection needs.
pub trait DriftBackend: DriftStore + GoalStore + SessionStore + OrchestrationStore + SwitchStore {}

impl<T: DriftStore + GoalStore + SessionStore + OrchestrationStore + SwitchStore> DriftBackend for T {}
