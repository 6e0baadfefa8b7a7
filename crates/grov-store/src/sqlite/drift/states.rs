//! Drift states of client sessions, and corrections.

use crate::sqlite::StoreError;
use crate::sqlite::columns::{Json, params, record};
use crate::sqlite::connection::Connection;
use grov_domain::{Consent, Correction, DriftState, SessionId};

// A correction stays with its task, to which its step may have moved.
record! {
    Correction in "corrections", key (client_session_id, id);
    session_id = "session_id", step_id, tool_use_id, level, score, reason, text, recovery_plan, made_at, delivered_at, outcome
}

/// Only adds the outcome to an existing correction, whose other columns may be newer.
const ADD_OUTCOME: &str = "ON CONFLICT (client_session_id, id) DO UPDATE SET \
     delivered_at = coalesce(delivered_at, excluded.delivered_at), outcome = coalesce(outcome, excluded.outcome)";

/// The corrections of a client session, oldest first.
pub(super) const CORRECTIONS: &str =
    "SELECT * FROM corrections WHERE client_session_id = ? ORDER BY made_at, id";

/// Saves the drift state of a client session with its correction, and copies it to the row of the task if there is one.
/// The state is redacted.
pub(in crate::sqlite) async fn save_state(
    connection: &mut Connection<'_>,
    state: &DriftState,
    task: &SessionId,
) -> Result<(), StoreError> {
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
    let saved = connection
        .execute(
            "INSERT INTO drift_states (client_session_id, state, updated_at) VALUES (?, ?, ?) \
             ON CONFLICT (client_session_id) DO UPDATE SET state = excluded.state, updated_at = excluded.updated_at \
             WHERE excluded.updated_at >= updated_at",
            params![state.client_session_id, Json(state), state.updated_at],
        )
        .await?;
    if saved > 0 {
        let values = params![
            state.mode,
            state.escalation,
            waits_for_recovery(state),
            state.judged_at_prompt,
            task,
            state.client_session_id,
        ];
        connection
            .execute(
                "UPDATE session_states SET session_mode = ?, escalation_count = ?, waiting_for_recovery = ?, \
                 last_checked_at = ? WHERE session_id = ? AND client_session_id = ?",
                values,
            )
            .await?;
    }
    if let Some(correction) = &state.correction {
        connection.save(correction, ADD_OUTCOME).await?;
    }
    Ok(())
}

/// Whether a correction was forgotten, or its task was forgotten after the correction was made.
pub(super) async fn is_forgotten(
    connection: &mut Connection<'_>,
    correction: &Correction,
) -> Result<bool, StoreError> {
    let sql = "SELECT coalesce((SELECT text = '' FROM corrections WHERE client_session_id = ? AND id = ?), \
         EXISTS (SELECT 1 FROM session_states WHERE session_id = ? AND forgotten_at >= ?))";
    let Correction {
        client_session_id,
        id,
        session_id,
        made_at,
        ..
    } = correction;
    let forgotten = connection
        .value(sql, params![client_session_id, id, session_id, made_at])
        .await?;
    Ok(forgotten.unwrap_or(false))
}

async fn is_task_forgotten(connection: &mut Connection<'_>, task: &SessionId) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM session_states WHERE session_id = ? AND forgotten_at IS NOT NULL";
    Ok(connection.row(sql, params![task]).await?.is_some())
}

/// Whether a recovery plan was delivered but not followed yet.
fn waits_for_recovery(state: &DriftState) -> bool {
    state.correction.as_ref().is_some_and(|correction| {
        !correction.recovery_plan.is_empty()
            && correction.delivered_at.is_some()
            && correction.outcome.is_none()
    })
}
