//! The hook path: sessions as hooks saw them, what the agent did in them, and what a guard said.

mod guards;
mod sessions;
mod steps;

use super::{SqliteStore, StoreError};
use async_trait::async_trait;
use grov_domain::{
    ClientSessionId, GuardRecord, HookCheck, HookProgress, HookSession, HookStep, HookStore, Redacted,
};

#[async_trait]
impl HookStore for SqliteStore {
    async fn hook_session(&self, id: &ClientSessionId) -> Result<Option<HookSession>, StoreError> {
        self.session_of_hooks(id).await
    }

    async fn hook_session_summary(&self, id: &ClientSessionId) -> Result<Option<HookSession>, StoreError> {
        self.standing_of_hooks(id).await
    }

    async fn save_hook_session(&self, session: &Redacted<HookSession>) -> Result<bool, StoreError> {
        self.keep_prompted(session).await
    }

    async fn hook_sessions(&self, project_path: &str, limit: u32) -> Result<Vec<HookSession>, StoreError> {
        self.sessions_of_hooks(project_path, limit).await
    }

    async fn save_hook_progress(&self, progress: &Redacted<HookProgress>) -> Result<bool, StoreError> {
        self.keep_progress(progress).await
    }

    async fn hook_steps(&self, id: &ClientSessionId) -> Result<Vec<HookStep>, StoreError> {
        self.steps_of_hooks(id).await
    }

    async fn hook_checks(&self, id: &ClientSessionId) -> Result<Vec<HookCheck>, StoreError> {
        self.checks_of_hooks(id).await
    }

    async fn save_guard_record(&self, guarded: &Redacted<GuardRecord>) -> Result<(), StoreError> {
        self.keep_guarded(guarded).await
    }

    async fn mark_guarded_run(&self, id: &ClientSessionId, tool_use_id: &str) -> Result<bool, StoreError> {
        self.note_ran(id, tool_use_id).await
    }

    async fn guard_log(&self, id: &ClientSessionId) -> Result<Vec<GuardRecord>, StoreError> {
        self.guards_of(id).await
    }
}
