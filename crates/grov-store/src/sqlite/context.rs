//! Records of context windows.

use super::columns::{Record, record};
use super::select::Select;
use super::{SqliteStore, StoreError};
use async_trait::async_trait;
use grov_domain::{ClientSessionId, Compaction, ContextReading, ContextStore, PreparedSummary, Redacted};

record! {
    ContextReading in "context_readings", key (client_session_id);
    model, tokens, window_tokens, window_source, content, measured_at
}

record! {
    PreparedSummary in "prepared_summaries", key (client_session_id);
    points, written_by, prompts, made_at
}

record! {
    Compaction in "compactions", key (client_session_id, id);
    is_compared, tokens_before, kept, lost, restored, restored_at, at
}

impl SqliteStore {
    async fn save_context<T: Record + Sync>(&self, record: &T) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        transaction.upsert(record).await?;
        transaction.commit().await
    }

    async fn context_of<T: Record + Send>(
        &self,
        table: &'static str,
        session: &ClientSessionId,
    ) -> Result<Option<T>, StoreError> {
        let mut select = Select::new(table);
        select.and("client_session_id =", Some(session));
        select.end("", Some(1));
        let rows = select.read(self, T::from_row).await?;
        Ok(rows.into_iter().next())
    }
}

#[async_trait]
impl ContextStore for SqliteStore {
    async fn save_context_reading(&self, reading: &Redacted<ContextReading>) -> Result<(), StoreError> {
        self.save_context(&**reading).await
    }

    async fn context_reading(&self, session: &ClientSessionId) -> Result<Option<ContextReading>, StoreError> {
        self.context_of("SELECT * FROM context_readings", session).await
    }

    async fn save_prepared_summary(&self, summary: &Redacted<PreparedSummary>) -> Result<(), StoreError> {
        self.save_context(&**summary).await
    }

    async fn prepared_summary(
        &self,
        session: &ClientSessionId,
    ) -> Result<Option<PreparedSummary>, StoreError> {
        self.context_of("SELECT * FROM prepared_summaries", session).await
    }

    async fn save_compaction(&self, compaction: &Redacted<Compaction>) -> Result<(), StoreError> {
        self.save_context(&**compaction).await
    }

    async fn compactions(
        &self,
        session: &ClientSessionId,
        limit: u32,
    ) -> Result<Vec<Compaction>, StoreError> {
        let mut select = Select::new("SELECT * FROM compactions");
        select.and("client_session_id =", Some(session));
        select.end("ORDER BY at DESC, id DESC", Some(limit));
        select.read(self, Compaction::from_row).await
    }
}
