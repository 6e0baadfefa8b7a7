//! Sessions of the hook path.

use crate::sqlite::columns::{Json, RowExt, from_row, params};
use crate::sqlite::connection::{Connection, Transaction, begin};
use crate::sqlite::insert::insert;
use crate::sqlite::{SqliteStore, StoreError};
use grov_domain::HookSession;
use sqlx::sqlite::SqliteRow;

// Inserts a session unless it exists: then no row is returned.
insert! {
    INSERT_SESSION, bind_session(session in &HookSession):
    concat!(begin!(), "INSERT INTO hook_sessions"), "ON CONFLICT DO NOTHING RETURNING forgotten_at";
    session => {
        client_session_id, project_path, working_directory, transcript_path, read_to, drift_score, escalation, prompts,
        actions, memories_told = memories_injected, started_at, updated_at, ended_at, waiting, is_unchecked, turn_ended_at,
        prompt_readings
    };
    revision: session.revision + 1,
    contract: Json(&session.contract),
}

/// Replaces a session unless another process removed or changed it since it was read: then no row is returned. The numbers
/// are positions in [`INSERT_SESSION`].
const REPLACE_SESSION: &str = concat!(
    begin!(),
    "UPDATE hook_sessions SET project_path = ?2, working_directory = ?3, transcript_path = ?4, read_to = ?5, \
     drift_score = ?6, escalation = ?7, prompts = ?8, actions = ?9, memories_told = ?10, started_at = ?11, \
     updated_at = ?12, ended_at = ?13, waiting = ?14, is_unchecked = ?15, turn_ended_at = ?16, \
     prompt_readings = ?17, revision = ?18, contract = ?19 \
     WHERE client_session_id = ?1 AND revision = ?18 - 1 RETURNING forgotten_at"
);

/// Begins a transaction that inserts or replaces a session without its engine state. Returns one row with
/// `forgotten_at` if no other process changed the session since it was read.
pub(super) async fn save<'a>(
    store: &'a SqliteStore,
    session: &HookSession,
) -> Result<(Transaction<'a>, Vec<SqliteRow>), StoreError> {
    let (insert, values) = INSERT_SESSION.statement(&[session], &bind_session);
    if session.revision == 0 {
        store.begin_with(insert, values).await
    } else {
        store.begin_with(REPLACE_SESSION, values).await
    }
}

/// Replaces or deletes the engine state of a session.
pub(super) async fn save_course(
    connection: &mut Connection<'_>,
    session: &HookSession,
) -> Result<(), StoreError> {
    let id = &session.client_session_id;
    let saved = match &session.engine_state {
        Some(course) => {
            let sql = "INSERT INTO hook_courses (client_session_id, course) VALUES (?1, ?2) \
                 ON CONFLICT (client_session_id) DO UPDATE SET course = excluded.course";
            connection.execute(sql, params![id, course]).await
        }
        None => {
            let sql = "DELETE FROM hook_courses WHERE client_session_id = ?1";
            connection.execute(sql, params![id]).await
        }
    };
    saved.map(drop)
}

/// Reads a session without its engine state.
pub(in crate::sqlite) fn session(row: &SqliteRow) -> Result<HookSession, StoreError> {
    let is_forgotten = row.text("contract")? == Some("");
    Ok(from_row!(row => HookSession {
        client_session_id, project_path, working_directory, transcript_path, read_to,
        contract: if is_forgotten { Default::default() } else { row.read("contract").map(|Json(contract)| contract)? },
        prompt_readings, engine_state: None,
        waiting, is_unchecked, drift_score, escalation, prompts, actions, memories_injected: row.read("memories_told")?, started_at, updated_at,
        turn_ended_at, ended_at, forgotten_at, revision,
    }))
}
