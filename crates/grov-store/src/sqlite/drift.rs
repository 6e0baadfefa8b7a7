//! The drift log, verdicts, drift states, corrections, and changes of goals by the user.

mod log;
mod related;
mod review;
mod states;
mod verdicts;

pub(super) use log::insert_events;
pub(super) use states::save_state;
pub(super) use verdicts::remove_steps;

use super::columns::{Json, Record, RowExt, params, record};
use super::ledger::BUMP_REVISION;
use super::sessions::step;
use super::{SqliteStore, StoreError};
use crate::stored_form::as_stored_each;
use async_trait::async_trait;
use grov_domain::{
    AskedCall, ClientSessionId, Correction, DriftEvent, DriftEventId, DriftFilter, DriftState, DriftStore,
    Finding, GoalEdit, GoalStore, GuardRecord, GuardVerdict, HookStore, MAX_RELATED_CANDIDATES,
    OFF_GOAL_BELOW, Redacted, RelatedSteps, SessionId, StepId, StepRow, StepVerdict,
};

record! {
    GoalEdit in "goal_edits", key (client_session_id, id);
    kind, text, at, since_prompt
}

#[async_trait]
impl DriftStore for SqliteStore {
    async fn append_drift(&self, event: &Redacted<DriftEvent>) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        transaction.upsert(&**event).await?;
        log::set_projects(&mut transaction, &[event.id.as_str()]).await?;
        transaction.commit().await
    }

    async fn drift_events(&self, filter: &DriftFilter) -> Result<Vec<DriftEvent>, StoreError> {
        let mut events = log::select(filter).read(self, DriftEvent::from_row).await?;
        events.reverse();
        Ok(events)
    }

    async fn off_goal_steps(&self, session: &ClientSessionId) -> Result<Vec<StepRow>, StoreError> {
        self.read(log::AS_STEPS, params![session], step).await
    }

    async fn off_goal_findings(&self, session: &ClientSessionId) -> Result<Vec<Vec<Finding>>, StoreError> {
        let sql = "SELECT findings FROM drift_log WHERE client_session_id = ?1 \
             UNION ALL SELECT findings FROM hook_steps WHERE client_session_id = ?1 AND score < ?2";
        let found = self.read(sql, params![session, OFF_GOAL_BELOW], |row| row.read(0));
        let found: Vec<Option<Json<Vec<Finding>>>> = found.await?;
        Ok(found
            .into_iter()
            .map(|found| found.map(|Json(found)| found).unwrap_or_default())
            .collect())
    }

    async fn drift_event(&self, id: &DriftEventId) -> Result<Option<DriftEvent>, StoreError> {
        for select in ["SELECT * FROM drift_log WHERE id = ?", log::JUDGED_STEP] {
            let mut events = self.read(select, params![id], DriftEvent::from_row).await?;
            if let Some(event) = events.pop() {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    async fn drift_state(&self, session: &ClientSessionId) -> Result<Option<DriftState>, StoreError> {
        let sql = "SELECT state FROM drift_states WHERE client_session_id = ?";
        let state = self.connection().await?.value(sql, params![session]).await?;
        Ok(state.map(|Json(state)| state))
    }

    async fn save_drift_state(
        &self,
        state: &Redacted<DriftState>,
        task: &SessionId,
    ) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        save_state(&mut transaction, state, task).await?;
        transaction.commit().await
    }

    async fn save_correction(&self, correction: &Redacted<Correction>) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        if states::is_forgotten(&mut transaction, correction).await? {
            return transaction.roll_back().await;
        }
        transaction.upsert(&**correction).await?;
        transaction.commit().await
    }

    async fn corrections(&self, session: &ClientSessionId) -> Result<Vec<Correction>, StoreError> {
        self.read(states::CORRECTIONS, params![session], Correction::from_row)
            .await
    }

    async fn judge_steps(
        &self,
        session: &ClientSessionId,
        verdicts: &[(StepId, Redacted<StepVerdict>)],
    ) -> Result<usize, StoreError> {
        verdicts::judge_steps(self, session, verdicts).await
    }

    async fn related_steps(&self, related: &RelatedSteps) -> Result<Vec<StepRow>, StoreError> {
        let values = params![
            related.client_session_id,
            as_stored_each(&related.files),
            as_stored_each(&related.folders),
            as_stored_each(&related.keywords),
            (related.limit / 2).max(1),
            related.limit,
            MAX_RELATED_CANDIDATES,
        ];
        self.read(related::SQL, values, step).await
    }
}

#[async_trait]
impl GoalStore for SqliteStore {
    async fn edit_goal(&self, edit: &Redacted<GoalEdit>) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        let added = transaction
            .save(&**edit, "ON CONFLICT (client_session_id, id) DO NOTHING")
            .await?;
        if added == 0 {
            return transaction.roll_back().await;
        }
        transaction.execute(BUMP_REVISION, params![]).await?;
        transaction.commit().await
    }

    async fn goal_edits(&self, session: &ClientSessionId) -> Result<Vec<GoalEdit>, StoreError> {
        let sql = "SELECT * FROM goal_edits WHERE client_session_id = ? ORDER BY at, id";
        self.read(sql, params![session], GoalEdit::from_row).await
    }

    async fn asked_calls(&self, session: &ClientSessionId) -> Result<Vec<AskedCall>, StoreError> {
        let log = self.guard_log(session).await?.into_iter();
        let asked = log.filter(|one: &GuardRecord| one.ran || one.verdict == GuardVerdict::Ask);
        Ok(asked
            .map(|one| AskedCall {
                tool_use_id: one.tool_use_id,
                ran: one.ran,
            })
            .collect())
    }
}
