//! What the hook path needs of the program that runs it: the store, the judge and the rules that read prompts.

use async_trait::async_trait;
use grov_domain::{
    FileReasoningStore, GoalStore, HookStore, IntentExtractor, MaintenanceStore, MemorySearch,
    OrchestrationStore, SessionDigest, SessionStore, SettlingJudge, StoreConnection, StoreError,
    SummaryQuestion, SwitchStore, TaskStore,
};
use grov_runtime::Settings;
use std::sync::Arc;
use std::time::Duration;

/// How long others who hold the store are waited for while the client waits.
pub(crate) const BRIEF: Duration = Duration::from_millis(20);

/// What the hook path reads and writes.
pub trait HookBackend:
    HookStore
    + GoalStore
    + SwitchStore
    + SessionStore
    + TaskStore
    + OrchestrationStore
    + MemorySearch
    + FileReasoningStore
    + MaintenanceStore
    + StoreConnection
{
}

impl<T> HookBackend for T where
    T: HookStore
        + GoalStore
        + SwitchStore
        + SessionStore
        + TaskStore
        + OrchestrationStore
        + MemorySearch
        + FileReasoningStore
        + MaintenanceStore
        + StoreConnection
{
}

/// Opens the store and builds the judge. Each call opens or builds anew.
#[async_trait]
pub trait Services: Send + Sync {
    /// The store, opened for writing and created if there is none. Waits at most `patience` for others who hold it, or
    /// with `None` as long as the store waits by default.
    async fn store(&self, patience: Option<Duration>) -> Result<Box<dyn HookBackend>, StoreError>;

    /// The store that is there, opened for reading alone; `None` if there is none.
    async fn existing_store(
        &self,
        patience: Option<Duration>,
    ) -> Result<Option<Box<dyn HookBackend>>, StoreError>;

    /// The judge that the settings name, or the rules where they name none.
    ///
    /// # Errors
    /// The judge cannot be set up.
    fn judge(&self, settings: &Settings) -> Result<Box<dyn SettlingJudge>, StoreError>;

    /// The rules that read prompts, with an empty memory of what they read.
    fn intents(&self) -> Arc<dyn IntentExtractor>;

    /// Where a session stands, by rules alone.
    fn summary(&self, question: &SummaryQuestion) -> SessionDigest;
}
