//! The stores that drift detection needs.

use grov_domain::{DriftStore, GoalStore, LimitStore, OrchestrationStore, SessionStore, SwitchStore};

/// The stores that drift detection needs.
pub trait DriftBackend:
    DriftStore + GoalStore + LimitStore + SessionStore + OrchestrationStore + SwitchStore
{
}

impl<T: DriftStore + GoalStore + LimitStore + SessionStore + OrchestrationStore + SwitchStore> DriftBackend
    for T
{
}
