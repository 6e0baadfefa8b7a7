//! Read models: sessions, steps, drift, goals and memories, as command line, dashboard and agents ask for them.
//!
//! Entry points: [`chosen`] and [`newest_active`] find the session that a person means; [`searched`] its steps;
//! [`drift_log`] and [`standing`] how it keeps to its goal; [`Held`] and [`GoalView`] what that is; [`named`] a memory, and
//! [`replacements`] and [`replaced`] what it is linked to; [`glance`] a session in four numbers. A session that only hooks
//! know has the shape of one that the proxy recorded.
//!
//! Views are structs that serialise; their names are a contract. Functions read through the ports of `grov-domain`. This
//! crate knows no SQL, no proxy, no hooks and no terminal.
#![forbid(unsafe_code)]

mod chosen;
mod drift;
mod glance;
mod goal;
mod held;
mod hooked;
mod memory;
mod steps;
mod views;

pub use chosen::{Choice, Chosen, Newest, chosen, newest, newest_active};
pub use drift::{
    CorrectionView, Counts, EventNamed, EventView, LogOf, StandingView, active, correction_of, drift_log,
    event_named, standing, way,
};
pub use glance::{Glance, glance};
pub use goal::{GoalView, OriginView};
pub use held::{Held, HeldStore};
pub use hooked::project_status;
pub use memory::{MOST_NAMED, Named, OtherView, ResultView, named, others, replaced, replacements, title};
pub use steps::{Search, Work, searched};
pub use views::{DecisionView, SessionView, StepView, TaskView, TokensView};

use grov_domain::{
    DriftStore, GoalStore, HookStore, LedgerStore, MemorySearch, MemoryStore, OrchestrationStore,
    SessionStore, SpendingStore, SwitchStore, TaskStore,
};

/// What read models are read from.
pub trait ReadStore:
    SessionStore
    + HookStore
    + OrchestrationStore
    + TaskStore
    + DriftStore
    + GoalStore
    + LedgerStore
    + MemorySearch
    + MemoryStore
    + SpendingStore
    + SwitchStore
{
}

impl<T> ReadStore for T where
    T: SessionStore
        + HookStore
        + OrchestrationStore
        + TaskStore
        + DriftStore
        + GoalStore
        + LedgerStore
        + MemorySearch
        + MemoryStore
        + SpendingStore
        + SwitchStore
{
}
