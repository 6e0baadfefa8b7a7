//! Where client sessions stand, and what the agent was told.

use crate::sqlite::error::decoding;
use crate::sqlite::values::{Columns, damaged, integer, list, millis};
use crate::sqlite::{SqliteStore, StoreError};
use grov_domain::{
    ClientSessionId, Consent, Correction, CorrectionId, CorrectionLevel, CorrectionOutcome, DriftState,
    Redacted, SessionId, StepId,
};
use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};

/// How a correction is written; what follows says what becomes of the one that is there.
macro_rules! insert_correction {
    ($conflict:literal) => {
        concat!(
            "INSERT INTO corrections (client_session_id, id, session_id, step_id, tool_use_id, level, score, \
             reason, text, recovery_plan, made_at, delivered_at, outcome) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) \
             ON CONFLICT (client_session_id, id) DO UPDATE SET ",
            $conflict
        )
    };
}

/// The task is the one that its step moved to, if it did.
const REPLACE_CORRECTION: &str = insert_correction!(
    "step_id = excluded.step_id, tool_use_id = excluded.tool_use_id, level = excluded.level, score = excluded.score, \
     reason = excluded.reason, text = excluded.text, recovery_plan = excluded.recovery_plan, \
     made_at = excluded.made_at, delivered_at = excluded.delivered_at, outcome = excluded.outcome"
);

/// A state may be written after what was known later: what became of its correction is only added.
const ADD_CORRECTION: &str = insert_correction!(
    "delivered_at = coalesce(delivered_at, excluded.delivered_at), outcome = coalesce(outcome, excluded.outcome)"
);

/// What the agent was told in a client session, oldest first.
const CORRECTIONS: &str = "SELECT * FROM corrections WHERE client_session_id = ? ORDER BY made_at, id";

/// Keeps where a session stands, which is redacted, with its correction. The task shows it, where it is stored.
pub(in crate::sqlite) async fn keep_state(
    connection: &mut SqliteConnection,
    state: &DriftState,
    task: &SessionId,
) -> Result<(), sqlx::Error> {
    let forgotten = match &state.correction {
        Some(correction) => is_forgotten(connection, correction).await?,
        None => false,
    };
    let consent_forgotten =
        state.consent != Consent::default() && is_task_forgotten(connection, task).await?;
    let without_words;
    let state = if forgotten || consent_forgotten {
        without_words = DriftState {
            correction: state.correction.clone().filter(|_| !forgotten),
            consent: if consent_forgotten {
                Consent::default()
            } else {
                state.consent.clone()
            },
            ..state.clone()
        };
        &without_words
    } else {
        state
    };
    let text = serde_json::to_string(state).map_err(|error| sqlx::Error::Encode(error.into()))?;
    let kept = sqlx::query(
        "INSERT INTO drift_states (client_session_id, state, updated_at) VALUES (?, ?, ?) \
         ON CONFLICT (client_session_id) DO UPDATE SET state = excluded.state, updated_at = excluded.updated_at \
         WHERE excluded.updated_at >= updated_at",
    )
    .bind(state.client_session_id.as_str())
    .bind(text)
    .bind(millis(state.updated_at))
    .execute(&mut *connection)
    .await?;
    if kept.rows_affected() > 0 {
        sqlx::query(
            "UPDATE session_states SET session_mode = ?, escalation_count = ?, waiting_for_recovery = ?, \
             last_checked_at = ? WHERE session_id = ? AND client_session_id = ?",
        )
        .bind(state.mode.as_str())
        .bind(state.escalation)
        .bind(waits_for_recovery(state))
        .bind(integer(state.judged_at_prompt))
        .bind(task.as_str())
        .bind(state.client_session_id.as_str())
        .execute(&mut *connection)
        .await?;
    }
    match &state.correction {
        Some(correction) => write_correction(connection, ADD_CORRECTION, correction).await,
        None => Ok(()),
    }
}

/// Whether its words were forgotten, or are of a task that was forgotten after they were made.
async fn is_forgotten(
    connection: &mut SqliteConnection,
    correction: &Correction,
) -> Result<bool, sqlx::Error> {
    sqlx::query(
        "SELECT coalesce((SELECT text = '' FROM corrections WHERE client_session_id = ? AND id = ?), \
         EXISTS (SELECT 1 FROM session_states WHERE session_id = ? AND forgotten_at >= ?))",
    )
    .bind(correction.client_session_id.as_str())
    .bind(correction.id.as_str())
    .bind(correction.session_id.as_str())
    .bind(millis(correction.made_at))
    .fetch_one(connection)
    .await?
    .try_get(0)
}

async fn is_task_forgotten(connection: &mut SqliteConnection, task: &SessionId) -> Result<bool, sqlx::Error> {
    sqlx::query(
        "SELECT EXISTS (SELECT 1 FROM session_states WHERE session_id = ? AND forgotten_at IS NOT NULL)",
    )
    .bind(task.as_str())
    .fetch_one(connection)
    .await?
    .try_get(0)
}

/// Whether the agent was told a way back and has not gone it yet.
fn waits_for_recovery(state: &DriftState) -> bool {
    state.correction.as_ref().is_some_and(|correction| {
        !correction.recovery_plan.is_empty()
            && correction.delivered_at.is_some()
            && correction.outcome.is_none()
    })
}

async fn write_correction(
    connection: &mut SqliteConnection,
    statement: &'static str,
    correction: &Correction,
) -> Result<(), sqlx::Error> {
    let plan = list(&correction.recovery_plan).map_err(|error| sqlx::Error::Encode(error.into()))?;
    sqlx::query(statement)
        .bind(correction.client_session_id.as_str())
        .bind(correction.id.as_str())
        .bind(correction.session_id.as_str())
        .bind(correction.step_id.as_ref().map(StepId::as_str))
        .bind(correction.tool_use_id.as_deref())
        .bind(correction.level.as_str())
        .bind(correction.score)
        .bind(correction.reason.as_str())
        .bind(correction.text.as_str())
        .bind(plan)
        .bind(millis(correction.made_at))
        .bind(correction.delivered_at.map(millis))
        .bind(correction.outcome.map(CorrectionOutcome::as_str))
        .execute(connection)
        .await?;
    Ok(())
}

impl SqliteStore {
    pub(super) async fn state_of(&self, session: &ClientSessionId) -> Result<Option<DriftState>, StoreError> {
        let query = sqlx::query("SELECT state FROM drift_states WHERE client_session_id = ?");
        let rows = self
            .reader()
            .await?
            .rows(self, query.bind(session.as_str()))
            .await?;
        rows.first()
            .map(|row| {
                let text: &str = Columns(row).get("state")?;
                serde_json::from_str(text).map_err(|error| damaged("state", &error))
            })
            .transpose()
    }

    pub(super) async fn save_state(
        &self,
        state: &Redacted<DriftState>,
        task: &SessionId,
    ) -> Result<(), StoreError> {
        let fault = |error| self.error(error);
        let mut writer = self.writer().await?;
        keep_state(writer.connection()?, state, task)
            .await
            .map_err(fault)?;
        writer.commit().await.map_err(fault)
    }

    pub(super) async fn replace_correction(
        &self,
        correction: &Redacted<Correction>,
    ) -> Result<(), StoreError> {
        let fault = |error| self.error(error);
        let mut writer = self.writer().await?;
        if is_forgotten(writer.connection()?, correction)
            .await
            .map_err(fault)?
        {
            return writer.roll_back().await.map_err(fault);
        }
        write_correction(writer.connection()?, REPLACE_CORRECTION, correction)
            .await
            .map_err(fault)?;
        writer.commit().await.map_err(fault)
    }

    pub(super) async fn corrections_of(
        &self,
        session: &ClientSessionId,
    ) -> Result<Vec<Correction>, StoreError> {
        let query = sqlx::query(CORRECTIONS);
        let rows = self
            .reader()
            .await?
            .rows(self, query.bind(session.as_str()))
            .await?;
        rows.iter().map(correction).collect()
    }
}

/// What the agent was told in a client session, oldest first.
pub(super) async fn corrections_in(
    connection: &mut SqliteConnection,
    client_session: &str,
) -> Result<Vec<Correction>, sqlx::Error> {
    let rows = sqlx::query(CORRECTIONS)
        .bind(client_session)
        .fetch_all(connection)
        .await?;
    rows.iter().map(|row| correction(row).map_err(decoding)).collect()
}

fn correction(row: &SqliteRow) -> Result<Correction, StoreError> {
    let columns = Columns(row);
    Ok(Correction {
        id: CorrectionId::new(columns.get::<String>("id")?),
        client_session_id: ClientSessionId::new(columns.get::<String>("client_session_id")?),
        session_id: SessionId::new(columns.get::<String>("session_id")?),
        step_id: columns.get::<Option<String>>("step_id")?.map(StepId::new),
        tool_use_id: columns.get("tool_use_id")?,
        level: columns.named("level", CorrectionLevel::from_name)?,
        score: columns.small("score")?.unwrap_or(0),
        reason: columns.get("reason")?,
        text: columns.get("text")?,
        recovery_plan: columns.list("recovery_plan")?,
        made_at: columns.time("made_at")?,
        delivered_at: columns.optional_time("delivered_at")?,
        outcome: columns
            .get::<Option<&str>>("outcome")?
            .and_then(CorrectionOutcome::from_name),
    })
}
