//! Changes of the tasks of a client session.

use crate::{ClientSessionId, ExchangeId, Prompt, SessionId, SessionState, StoreError, Task};
use async_trait::async_trait;
use grov_redact::Redacted;
use time::OffsetDateTime;

/// Moves exchanges to a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// The client session.
    pub client_session_id: ClientSessionId,
    /// The exchanges; their prompts and steps go with them.
    pub exchanges: Vec<ExchangeId>,
    /// The task they belong to. Its row exists or is among [`TaskTransition::sessions`].
    pub to: SessionId,
    /// Change nothing while one of the exchanges is not stored yet.
    pub all_or_nothing: bool,
}

/// The changes of a verdict, applied in one transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskTransition {
    /// Tasks to create or change. Counters are not touched.
    pub sessions: Vec<SessionState>,
    /// Exchanges to move. Counters of all tasks concerned follow.
    pub moves: Option<Move>,
    /// Tasks for team memory, saved as by [`crate::TaskStore::save_task`].
    pub finished: Vec<Task>,
    /// The store's revision ([`crate::SwitchStore::revision`]) from before the texts in here were read. Once it is another
    /// one, some of them may have been forgotten. `None`: there are no texts in here.
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
    /// Nothing was changed: the store's revision differs from [`TaskTransition::judged_under`].
    Outdated,
    /// Nothing was changed: these exchanges are not stored yet.
    NotYet {
        /// Exchanges that are not stored.
        missing: Vec<ExchangeId>,
    },
}

/// Task orchestration.
#[async_trait]
pub trait OrchestrationStore: Send + Sync {
    /// Applies a transition in one transaction. Applying it twice is the same as once.
    async fn apply(&self, transition: &Redacted<TaskTransition>) -> Result<Applied, StoreError>;
    /// What the user typed in a task, oldest first; with `until` only what was sent up to that time.
    async fn prompts(
        &self,
        session: &SessionId,
        until: Option<OffsetDateTime>,
    ) -> Result<Vec<Prompt>, StoreError>;
}
