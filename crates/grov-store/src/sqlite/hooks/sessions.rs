//! Sessions as hooks saw them.

use super::steps::{NewCheck, NewStep, acquit_steps, end_steps, insert_check, insert_steps};
use crate::sqlite::values::{Columns, damaged, integer, list, millis};
use crate::sqlite::{SqliteStore, StoreError, begin};
use grov_domain::{ClientSessionId, GoalContract, HookProgress, HookSession, PendingPrompt, Redacted};
use serde::{Deserialize, Serialize};
use sqlx::query::Query;
use sqlx::sqlite::{SqliteArguments, SqliteConnection, SqliteRow};
use sqlx::{Row, Sqlite};
use std::borrow::Cow;

/// Begins a session, unless it is there. One row if it was not.
const BEGIN_SESSION: &str = concat!(
    begin!(),
    "INSERT INTO hook_sessions (client_session_id, project_path, working_directory, transcript_path, read_to, \
     drift_score, escalation, prompts, actions, memories_told, started_at, updated_at, ended_at, revision, contract, \
     waiting, is_unchecked) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14 + 1, ?15, ?16, ?17) \
     ON CONFLICT DO NOTHING RETURNING forgotten_at"
);

/// Replaces a session, unless somebody did since it was read. One row if nobody did.
const REPLACE_SESSION: &str = concat!(
    begin!(),
    "UPDATE hook_sessions SET project_path = ?2, working_directory = ?3, transcript_path = ?4, read_to = ?5, \
     drift_score = ?6, escalation = ?7, prompts = ?8, actions = ?9, memories_told = ?10, started_at = ?11, \
     updated_at = ?12, ended_at = ?13, revision = ?14 + 1, contract = ?15, waiting = ?16, is_unchecked = ?17 \
     WHERE client_session_id = ?1 AND revision = ?14 RETURNING forgotten_at"
);

impl SqliteStore {
    /// A session with its course. Both are of the same revision: one statement reads them.
    pub(super) async fn session_of_hooks(
        &self,
        id: &ClientSessionId,
    ) -> Result<Option<HookSession>, StoreError> {
        let query = sqlx::query(
            "SELECT h.*, c.course FROM hook_sessions h LEFT JOIN hook_courses c USING (client_session_id) \
             WHERE client_session_id = ?",
        )
        .bind(id.as_str());
        let rows = self.reader().await?.rows(self, query).await?;
        let with_course = |row| {
            Ok(HookSession {
                engine_state: Columns(row).get("course")?,
                ..session(row)?
            })
        };
        rows.first().map(with_course).transpose()
    }

    pub(super) async fn standing_of_hooks(
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

    pub(super) async fn keep_progress(&self, progress: &Redacted<HookProgress>) -> Result<bool, StoreError> {
        let fault = |error| self.error(error);
        // Before the lock is taken: other processes wait for it.
        let session = NewSession::new(&progress.session)?;
        let steps: Vec<NewStep<'_>> = progress
            .steps
            .iter()
            .map(NewStep::new)
            .collect::<Result<_, _>>()?;
        let check = progress.check.as_ref().map(NewCheck::new).transpose()?;
        let (mut writer, kept) = self.writer_running(session.query()).await?;
        let Some(row) = kept.first() else {
            writer.roll_back().await.map_err(fault)?;
            return Ok(false);
        };
        let forgotten_at: Option<i64> = row.try_get(0).map_err(fault)?;
        let id = session.id();
        let connection = writer.connection()?;
        session.keep_course(connection).await.map_err(fault)?;
        insert_steps(connection, id, &steps, forgotten_at)
            .await
            .map_err(fault)?;
        end_steps(connection, id, &progress.ended, forgotten_at)
            .await
            .map_err(fault)?;
        acquit_steps(connection, id, &progress.allowed)
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

    pub(super) async fn keep_prompted(&self, session: &Redacted<HookSession>) -> Result<bool, StoreError> {
        let fault = |error| self.error(error);
        let session = NewSession::new(session)?;
        let (writer, kept) = self.writer_running(session.query()).await?;
        if kept.is_empty() {
            writer.roll_back().await.map_err(fault)?;
            return Ok(false);
        }
        writer.commit().await.map_err(fault)?;
        Ok(true)
    }
}

/// A session on its way in, encoded.
struct NewSession<'a> {
    session: &'a HookSession,
    contract: String,
    waiting: Option<String>,
}

impl<'a> NewSession<'a> {
    fn new(session: &'a HookSession) -> Result<Self, StoreError> {
        let contract = serde_json::to_string(&session.contract)
            .map_err(|error| StoreError::Other(format!("cannot write a contract: {error}")))?;
        let waiting: Vec<Waiting<'_>> = session.waiting.iter().map(Waiting::of).collect();
        Ok(Self {
            waiting: list(&waiting)?,
            contract,
            session,
        })
    }

    fn id(&self) -> &str {
        self.session.client_session_id.as_str()
    }

    /// Begins or replaces the row.
    fn query(&self) -> Query<'_, Sqlite, SqliteArguments> {
        let session = &self.session;
        let statement = if session.revision == 0 {
            BEGIN_SESSION
        } else {
            REPLACE_SESSION
        };
        sqlx::query(statement)
            .bind(self.id())
            .bind(&session.project_path)
            .bind(&session.working_directory)
            .bind(&session.transcript_path)
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
            .bind(&self.contract)
            .bind(&self.waiting)
            .bind(session.is_unchecked)
    }

    async fn keep_course(&self, connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
        let query = match &self.session.engine_state {
            Some(course) => sqlx::query(
                "INSERT INTO hook_courses (client_session_id, course) VALUES (?1, ?2) \
                 ON CONFLICT (client_session_id) DO UPDATE SET course = excluded.course",
            )
            .bind(self.id())
            .bind(course),
            None => sqlx::query("DELETE FROM hook_courses WHERE client_session_id = ?1").bind(self.id()),
        };
        query.execute(connection).await.map(drop)
    }
}

/// A waiting prompt as it is stored.
#[derive(Serialize, Deserialize)]
struct Waiting<'a> {
    text: Cow<'a, str>,
    known_by: u64,
    at: u64,
}

impl<'a> Waiting<'a> {
    fn of(prompt: &'a PendingPrompt) -> Self {
        Self {
            text: Cow::Borrowed(&prompt.text),
            known_by: prompt.known_by,
            at: prompt.at,
        }
    }

    fn into_prompt(self) -> PendingPrompt {
        PendingPrompt {
            text: self.text.into_owned(),
            known_by: self.known_by,
            at: self.at,
        }
    }
}

fn waiting(text: Option<&str>) -> Result<Vec<PendingPrompt>, StoreError> {
    let Some(text) = text else { return Ok(Vec::new()) };
    let prompts: Vec<Waiting<'_>> = serde_json::from_str(text).map_err(|error| damaged("waiting", &error))?;
    Ok(prompts.into_iter().map(Waiting::into_prompt).collect())
}

/// A session but for its course.
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
        engine_state: None,
        waiting: waiting(columns.get("waiting")?)?,
        is_unchecked: columns.get("is_unchecked")?,
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
