//! Sessions as hooks saw them.

use super::steps::{NewCheck, NewStep, end_steps, insert_check, insert_steps};
use crate::door;
use crate::sqlite::values::{Columns, damaged, integer, millis};
use crate::sqlite::{SqliteStore, StoreError, begin};
use grov_domain::{ClientSessionId, GoalContract, HookEnded, HookProgress, HookSession};
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

/// Begins a session, unless it is there. One row if it was not.
const BEGIN_SESSION: &str = concat!(
    begin!(),
    "INSERT INTO hook_sessions (client_session_id, project_path, working_directory, transcript_path, read_to, \
     drift_score, escalation, prompts, actions, memories_told, started_at, updated_at, ended_at, revision, contract, \
     course) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14 + 1, ?15, ?16) \
     ON CONFLICT DO NOTHING RETURNING forgotten_at"
);

/// Replaces a session, unless somebody did since it was read. One row if nobody did.
const REPLACE_SESSION: &str = concat!(
    begin!(),
    "UPDATE hook_sessions SET project_path = ?2, working_directory = ?3, transcript_path = ?4, read_to = ?5, \
     drift_score = ?6, escalation = ?7, prompts = ?8, actions = ?9, memories_told = ?10, started_at = ?11, \
     updated_at = ?12, ended_at = ?13, revision = ?14 + 1, contract = ?15, course = ?16 \
     WHERE client_session_id = ?1 AND revision = ?14 RETURNING forgotten_at"
);

impl SqliteStore {
    pub(super) async fn session_of_hooks(
        &self,
        id: &ClientSessionId,
    ) -> Result<Option<HookSession>, StoreError> {
        let query = sqlx::query("SELECT * FROM hook_sessions WHERE client_session_id = ?").bind(id.as_str());
        let rows = self.reader().await?.rows(self, query).await?;
        rows.first().map(session).transpose()
    }

    pub(super) async fn sessions_of_hooks(
        &self,
        project_path: &str,
        limit: u32,
    ) -> Result<Vec<HookSession>, StoreError> {
        // Sorted by what stands before the long columns.
        let query = sqlx::query(
            "SELECT h.* FROM (SELECT rowid AS place FROM hook_sessions WHERE project_path = ? \
             ORDER BY updated_at DESC, client_session_id DESC LIMIT ?) newest \
             CROSS JOIN hook_sessions h ON h.rowid = newest.place \
             ORDER BY h.updated_at DESC, h.client_session_id DESC",
        )
        .bind(project_path)
        .bind(limit);
        let rows = self.reader().await?.rows(self, query).await?;
        rows.iter().map(session).collect()
    }

    pub(super) async fn keep_progress(&self, progress: &HookProgress) -> Result<bool, StoreError> {
        let fault = |error| self.error(error);
        // Before the lock is taken: other processes wait for it.
        let session = door::hook_session(&progress.session);
        let contract = serde_json::to_string(&session.contract)
            .map_err(|error| StoreError::Other(format!("cannot write a contract: {error}")))?;
        let steps: Vec<NewStep> = progress
            .steps
            .iter()
            .map(NewStep::new)
            .collect::<Result<_, _>>()?;
        let ended: Vec<HookEnded> = progress.ended.iter().map(door::hook_ended).collect();
        let check = progress.check.as_ref().map(NewCheck::new).transpose()?;
        let statement = if session.revision == 0 {
            BEGIN_SESSION
        } else {
            REPLACE_SESSION
        };
        let query = sqlx::query(statement)
            .bind(session.client_session_id.as_str())
            .bind(session.project_path)
            .bind(session.working_directory)
            .bind(session.transcript_path)
            .bind(integer(session.read_to))
            .bind(session.drift_score)
            .bind(session.escalation)
            .bind(integer(session.prompts))
            .bind(integer(session.actions))
            .bind(integer(session.memories_told))
            .bind(millis(session.started_at))
            .bind(millis(session.updated_at))
            .bind(session.ended_at.map(millis))
            .bind(integer(session.revision))
            .bind(contract)
            .bind(session.course);
        let (mut writer, kept) = self.writer_running(query).await?;
        let Some(row) = kept.first() else {
            writer.roll_back().await.map_err(fault)?;
            return Ok(false);
        };
        let forgotten_at: Option<i64> = row.try_get(0).map_err(fault)?;
        let id = session.client_session_id.as_str();
        let connection = writer.connection()?;
        insert_steps(connection, id, &steps, forgotten_at)
            .await
            .map_err(fault)?;
        end_steps(connection, id, &ended, forgotten_at)
            .await
            .map_err(fault)?;
        if let Some(check) = &check {
            insert_check(connection, id, check, forgotten_at)
                .await
                .map_err(fault)?;
        }
        writer.commit().await.map_err(fault)?;
        Ok(true)
    }
}

fn session(row: &SqliteRow) -> Result<HookSession, StoreError> {
    let columns = Columns(row);
    let contract: &str = columns.get("contract")?;
    Ok(HookSession {
        client_session_id: ClientSessionId::new(columns.get::<String>("client_session_id")?),
        project_path: columns.get("project_path")?,
        working_directory: columns.get("working_directory")?,
        transcript_path: columns.get("transcript_path")?,
        read_to: columns.count("read_to")?,
        contract: match contract {
            // Forgotten.
            "" => GoalContract::default(),
            text => serde_json::from_str(text).map_err(|error| damaged("contract", &error))?,
        },
        course: columns.get("course")?,
        drift_score: columns.small("drift_score")?,
        escalation: columns.small("escalation")?.unwrap_or(0),
        prompts: columns.count("prompts")?,
        actions: columns.count("actions")?,
        memories_told: columns.count("memories_told")?,
        started_at: columns.time("started_at")?,
        updated_at: columns.time("updated_at")?,
        ended_at: columns.optional_time("ended_at")?,
        revision: columns.count("revision")?,
    })
}
