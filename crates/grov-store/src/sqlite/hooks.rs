//! Sessions, actions and guard verdicts of the hook path.

mod sessions;
mod steps;

use super::columns::{Record, RowExt, params, record};
use super::{SqliteStore, StoreError};
use async_trait::async_trait;
use grov_domain::{
    ClientSessionId, GuardRecord, HookCheck, HookProgress, HookSession, HookStep, HookStore, Redacted,
};
pub(super) use sessions::session;
pub(super) use steps::step as hook_step;

record! {
    GuardRecord in "hook_guards", key (client_session_id, tool_use_id);
    verdict, subject, reason, ran, at
}

#[async_trait]
impl HookStore for SqliteStore {
    /// One statement reads the session and its engine state, so that both have the same revision.
    async fn hook_session(&self, id: &ClientSessionId) -> Result<Option<HookSession>, StoreError> {
        let sql = "SELECT h.*, c.course FROM hook_sessions h LEFT JOIN hook_courses c USING (client_session_id) \
             WHERE client_session_id = ?";
        let with_course = |row: &_| {
            Ok(HookSession {
                engine_state: RowExt::read(row, "course")?,
                ..session(row)?
            })
        };
        Ok(self.read(sql, params![id], with_course).await?.pop())
    }

    async fn hook_session_summary(&self, id: &ClientSessionId) -> Result<Option<HookSession>, StoreError> {
        let sql = "SELECT * FROM hook_sessions WHERE client_session_id = ?";
        Ok(self.read(sql, params![id], session).await?.pop())
    }

    async fn save_hook_session(&self, session: &Redacted<HookSession>) -> Result<bool, StoreError> {
        let (transaction, saved) = sessions::save(self, session).await?;
        if saved.is_empty() {
            transaction.roll_back().await?;
            return Ok(false);
        }
        transaction.commit().await?;
        Ok(true)
    }

    async fn hook_sessions(&self, project_path: &str, limit: u32) -> Result<Vec<HookSession>, StoreError> {
        // Sorted before the long columns are read.
        let sql = "SELECT h.* FROM (SELECT rowid AS place FROM hook_sessions WHERE project_path = ? \
             ORDER BY updated_at DESC, client_session_id DESC LIMIT ?) newest \
             CROSS JOIN hook_sessions h ON h.rowid = newest.place \
             ORDER BY h.updated_at DESC, h.client_session_id DESC";
        self.read(sql, params![project_path, limit], session).await
    }

    async fn save_hook_progress(&self, progress: &Redacted<HookProgress>) -> Result<bool, StoreError> {
        let session = &progress.session;
        let (mut transaction, saved) = sessions::save(self, session).await?;
        let Some(row) = saved.first() else {
            transaction.roll_back().await?;
            return Ok(false);
        };
        let forgotten_at = row.read(0)?;
        let id = &session.client_session_id;
        sessions::save_course(&mut transaction, session).await?;
        steps::insert_steps(&mut transaction, id, &progress.steps, forgotten_at).await?;
        steps::end_steps(&mut transaction, id, &progress.ended, forgotten_at).await?;
        steps::allow_steps(&mut transaction, id, &progress.allowed).await?;
        if let Some(check) = &progress.check {
            steps::insert_check(&mut transaction, id, check, forgotten_at).await?;
        }
        transaction.commit().await?;
        Ok(true)
    }

    async fn hook_steps(&self, id: &ClientSessionId) -> Result<Vec<HookStep>, StoreError> {
        let sql = "SELECT * FROM hook_steps WHERE client_session_id = ? ORDER BY number";
        self.read(sql, params![id], steps::step).await
    }

    async fn hook_checks(&self, id: &ClientSessionId) -> Result<Vec<HookCheck>, StoreError> {
        let sql = "SELECT * FROM hook_checks WHERE client_session_id = ? ORDER BY at, id";
        self.read(sql, params![id], steps::check).await
    }

    async fn save_guard_record(&self, guarded: &Redacted<GuardRecord>) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        transaction.upsert(&**guarded).await?;
        transaction.commit().await
    }

    /// Takes the write lock only if the guard stopped the call, which is rare.
    async fn mark_guarded_run(&self, id: &ClientSessionId, tool_use_id: &str) -> Result<bool, StoreError> {
        let sql = "SELECT ran FROM hook_guards WHERE client_session_id = ? AND tool_use_id = ?";
        let mut connection = self.connection().await?;
        let ran: Option<bool> = connection.value(sql, params![id, tool_use_id]).await?;
        drop(connection);
        if ran == Some(false) {
            let sql = "UPDATE hook_guards SET ran = 1 WHERE client_session_id = ? AND tool_use_id = ?";
            self.execute(sql, params![id, tool_use_id]).await?;
        }
        Ok(ran.is_some())
    }

    async fn guard_log(&self, id: &ClientSessionId) -> Result<Vec<GuardRecord>, StoreError> {
        let sql = "SELECT * FROM hook_guards WHERE client_session_id = ? ORDER BY at, tool_use_id";
        self.read(sql, params![id], GuardRecord::from_row).await
    }
}
