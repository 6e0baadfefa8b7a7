//! Drift: the log of actions judged off goal, later verdicts, where sessions stand, what the agent was told, and what
//! people changed of goals.

mod edits;
mod log;
mod marks;
mod related;
mod states;
mod verdicts;

pub(super) use log::insert_events;
pub(super) use states::keep_state;
pub(super) use verdicts::{NewVerdict, take_out};

use super::{SqliteStore, StoreError};
use async_trait::async_trait;
use grov_domain::{
    AskedCall, ClientSessionId, Correction, DriftEvent, DriftEventId, DriftFilter, DriftLogStore, DriftState,
    DriftStore, GoalEdit, GoalStore, GuardVerdict, JudgedBy, Redacted, RelatedSteps, SessionId, StepId,
    StepRow, StepVerdict,
};

#[async_trait]
impl DriftLogStore for SqliteStore {
    async fn append_drift(&self, event: &Redacted<DriftEvent>) -> Result<(), StoreError> {
        self.add_event(event).await
    }

    async fn drift_log(&self, session: Option<&SessionId>) -> Result<Vec<DriftEvent>, StoreError> {
        let filter = DriftFilter {
            session_id: session.cloned(),
            ..DriftFilter::default()
        };
        self.events(&filter).await
    }
}

#[async_trait]
impl DriftStore for SqliteStore {
    async fn drift_events(&self, filter: &DriftFilter) -> Result<Vec<DriftEvent>, StoreError> {
        self.events(filter).await
    }

    async fn drift_event(&self, id: &DriftEventId) -> Result<Option<DriftEvent>, StoreError> {
        self.event(id).await
    }

    async fn drift_state(&self, session: &ClientSessionId) -> Result<Option<DriftState>, StoreError> {
        self.state_of(session).await
    }

    async fn save_drift_state(
        &self,
        state: &Redacted<DriftState>,
        task: &SessionId,
    ) -> Result<(), StoreError> {
        self.save_state(state, task).await
    }

    async fn save_correction(&self, correction: &Redacted<Correction>) -> Result<(), StoreError> {
        self.replace_correction(correction).await
    }

    async fn corrections(&self, session: &ClientSessionId) -> Result<Vec<Correction>, StoreError> {
        self.corrections_of(session).await
    }

    async fn judge_steps(
        &self,
        session: &ClientSessionId,
        verdicts: &[(StepId, Redacted<StepVerdict>)],
    ) -> Result<usize, StoreError> {
        self.judge(session, verdicts).await
    }

    async fn related_steps(&self, related: &RelatedSteps) -> Result<Vec<StepRow>, StoreError> {
        self.steps_related_to(related).await
    }
}

#[async_trait]
impl GoalStore for SqliteStore {
    async fn edit_goal(&self, edit: &Redacted<GoalEdit>) -> Result<(), StoreError> {
        self.keep_edit(edit).await
    }

    async fn goal_edits(&self, session: &ClientSessionId) -> Result<Vec<GoalEdit>, StoreError> {
        self.edits_of(session).await
    }

    async fn asked_calls(&self, session: &ClientSessionId) -> Result<Vec<AskedCall>, StoreError> {
        let log = self.guards_of(session).await?.into_iter();
        let asked = log.filter(|one| one.ran || one.verdict == GuardVerdict::Ask);
        Ok(asked
            .map(|one| AskedCall {
                tool_use_id: one.tool_use_id,
                ran: one.ran,
            })
            .collect())
    }
}

/// The name under which it is stored who judged.
fn judge_name(by: JudgedBy) -> &'static str {
    match by {
        JudgedBy::Model => "model",
        JudgedBy::Rules => "rules",
    }
}

/// Who judged, by that name.
fn judge_of_name(name: &str) -> Option<JudgedBy> {
    match name {
        "model" => Some(JudgedBy::Model),
        "rules" => Some(JudgedBy::Rules),
        _ => None,
    }
}
