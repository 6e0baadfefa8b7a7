//! Sessions of the hook path.

use crate::sqlite::columns::{Json, RowExt, from_row, params};
use crate::sqlite::connection::{Connection, Transaction, begin};
use crate::sqlite::{SqliteStore, StoreError};
use grov_domain::HookSession;
use sqlx::sqlite::SqliteRow;

/// Inserts a session, unless it is there. One row if it was not.
const INSERT_SESSION: &str = concat!(
    begin!(),
    "INSERT INTO hook_sessions (client_session_id, project_path, working_directory, transcript_path, read_to, \
     drift_score, escalation, prompts, actions, memories_told, started_at, updated_at, ended_at, revision, contract, \
     waiting, is_unchecked) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14 + 1, ?15, ?16, ?17) \
     ON CONFLICT DO NOTHING RETURNING forgotten_at"
);

/// Replaces a session, unless another process did since it was read. One row if none did.
const REPLACE_SESSION: &str = concat!(
    begin!(),
    "UPDATE hook_sessions SET project_path = ?2, working_directory = ?3, transcript_path = ?4, read_to = ?5, \
     drift_score = ?6, escalation = ?7, prompts = ?8, actions = ?9, memories_told = ?10, started_at = ?11, \
     updated_at = ?12, ended_at = ?13, revision = ?14 + 1, contract = ?15, waiting = ?16, is_unchecked = ?17 \
     WHERE client_session_id = ?1 AND revision = ?14 RETURNING forgotten_at"
);

/// Begins a transaction that inserts or replaces a session without its course. Returns one row with `forgotten_at` if no
/// other process changed the session since it was read.
pub(super) async fn save<'a>(
    store: &'a SqliteStore,
    session: &HookSession,
) -> Result<(Transaction<'a>, Vec<SqliteRow>), StoreError> {
    let is_new = session.revision == 0;
    let statement = if is_new { INSERT_SESSION } else { REPLACE_SESSION };
    let values = params![
        session.client_session_id,
        session.project_path,
        session.working_directory,
        session.transcript_path,
        session.read_to,
        session.drift_score,
        session.escalation,
        session.prompts,
        session.actions,
        session.memories_told,
        session.started_at,
        session.updated_at,
        session.ended_at,
        session.revision,
        Json(&session.contract),
        session.waiting,
        session.is_unchecked,
    ];
    store.begin_with(statement, values).await
}

/// Replaces the course of a session, or deletes it.
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

/// A session without its course.
pub(super) fn session(row: &SqliteRow) -> Result<HookSession, StoreError> {
    let is_forgotten = row.text("contract")? == Some("");
    Ok(from_row!(row => HookSession {
        client_session_id, project_path, working_directory, transcript_path, read_to,
        contract: if is_forgotten { Default::default() } else { row.read("contract").map(|Json(contract)| contract)? },
        engine_state: None,
        waiting, is_unchecked, drift_score, escalation, prompts, actions, memories_told, started_at, updated_at,
        ended_at, revision,
    }))
}
