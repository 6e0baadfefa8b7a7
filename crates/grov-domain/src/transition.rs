//! Changes to the tasks of a client session.

use crate::{ClientSessionId, ExchangeId, Prompt, SessionId, SessionState, StoreError, Task, TaskProposals};
use async_trait::async_trait;
use grov_redact::Redacted;
use time::OffsetDateTime;

/// Moves exchanges to a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// The client session.
    pub client_session_id: ClientSessionId,
    /// The exchanges, which are moved with their prompts and steps.
    pub exchanges: Vec<ExchangeId>,
    /// The target task. Its row exists or is in [`TaskTransition::sessions`].
    pub to: SessionId,
    /// Whether to change nothing if one of the exchanges is not stored yet.
    pub all_or_nothing: bool,
}

/// The changes after a verdict, applied in one transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskTransition {
    /// Tasks to create or replace, except for their counters.
    pub sessions: Vec<SessionState>,
    /// Exchanges to move. The counters of both tasks are updated.
    pub moves: Option<Move>,
    /// Tasks to save to team memory, as by [`crate::TaskStore::save_task`].
    pub finished: Vec<Task>,
    /// What finished tasks propose to remember.
    pub proposals: Vec<TaskProposals>,
    /// The store's revision ([`crate::SwitchStore::revision`]) before the texts of this transition were read; `None` if it
    /// has no texts. If the revision has changed, some of the texts may have been forgotten.
    pub judged_under: Option<i64>,
}

/// The result of a transition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Applied {
    /// All changes were applied. Exchanges that are not stored were skipped.
    Done {
        /// Exchanges that are not stored.
        missing: Vec<ExchangeId>,
    },
    /// Nothing was changed, because the store's revision differs from [`TaskTransition::judged_under`].
    Outdated,
    /// Nothing was changed, because exchanges are not stored yet.
    NotYet {
        /// Exchanges that are not stored.
        missing: Vec<ExchangeId>,
    },
}

/// Changes tasks and reads their prompts.
#[async_trait]
pub trait OrchestrationStore: Send + Sync {
    /// Applies a transition in one transaction. Idempotent.
    async fn apply(&self, transition: &Redacted<TaskTransition>) -> Result<Applied, StoreError>;
    /// Returns the prompts of a task, oldest first; with `until` only those sent up to that time.
    async fn prompts(
        &self,
        session: &SessionId,
        until: Option<OffsetDateTime>,
    ) -> Result<Vec<Prompt>, StoreError>;
}
