//! Threads and messages.

use crate::AgentDatabase;
use crate::column::Columns;
use crate::pages::{InOrder, Newest};
use crate::turns;
use crate::work::{Arg, args};
use async_trait::async_trait;
use grov_agent::{
    AgentStoreError, Listed, Message, MessageId, NewTurn, Page, ProjectId, Thread, ThreadId, ThreadStore,
    ThreadSummary, Tool, Tools,
};
use sqlx::any::AnyRow;

#[async_trait]
impl ThreadStore for AgentDatabase {
    async fn store_turn(&self, turn: &NewTurn) -> Result<(), AgentStoreError> {
        let mut work = self.write_patiently().await?;
        turns::store(&mut work, turn).await?;
        work.commit().await
    }

    async fn thread(&self, id: ThreadId) -> Result<Option<Thread>, AgentStoreError> {
        let mut work = self.read().await?;
        let row = work.one("SELECT * FROM threads WHERE id = $1", args![id]).await?;
        row.map(|row| thread(&row)).transpose()
    }

    async fn threads(&self, project: ProjectId, page: &Page) -> Result<Listed<Thread>, AgentStoreError> {
        let page = Newest::of(page)?;
        let mut args = args![project];
        let clause = page.clause("t", &mut args);
        let select = format!("SELECT t.* FROM threads t WHERE t.project_id = $1{clause}");
        let rows = self.read().await?.all(select, args).await?;
        page.listed(&rows, thread)
    }

    async fn messages(&self, thread: ThreadId, page: &Page) -> Result<Listed<Message>, AgentStoreError> {
        const SELECT: &str =
            "SELECT * FROM messages WHERE thread_id = $1 AND ordinal > $2 ORDER BY ordinal LIMIT $3";
        let page = InOrder::of(page)?;
        let values = args![thread, page.after, page.limit + 1];
        let rows = self.read().await?.all(SELECT, values).await?;
        page.listed(&rows, message)
    }

    async fn history(
        &self,
        thread: ThreadId,
        limit: u32,
    ) -> Result<(Option<ThreadSummary>, Vec<Message>), AgentStoreError> {
        const SUMMARY: &str = "SELECT t.summary, t.summary_until, coalesce(m.ordinal, -1) AS covered \
             FROM threads t LEFT JOIN messages m ON m.id = t.summary_until WHERE t.id = $1";
        const NEWEST: &str =
            "SELECT * FROM messages WHERE thread_id = $1 AND ordinal > $2 ORDER BY ordinal DESC LIMIT $3";
        let mut work = self.snapshot().await?;
        let Some(row) = work.one(SUMMARY, args![thread]).await? else {
            return Ok((None, Vec::new()));
        };
        let text: Option<String> = row.get_as("summary")?;
        let until: Option<MessageId> = row.get_as("summary_until")?;
        let summary = text.zip(until).map(|(text, until)| ThreadSummary { text, until });
        let covered: i64 = row.get_as("covered")?;
        let rows = work.all(NEWEST, args![thread, covered, limit]).await?;
        let messages = rows.iter().rev().map(message).collect::<Result<_, _>>()?;
        Ok((summary, messages))
    }

    async fn thread_tools(&self, thread: ThreadId) -> Result<Vec<Tool>, AgentStoreError> {
        const SELECT: &str = "SELECT tools FROM threads WHERE id = $1";
        let row = self.read().await?.one(SELECT, args![thread]).await?;
        row.map_or(Ok(Vec::new()), |row| {
            row.json::<Tools>("tools").map(|tools| tools.0)
        })
    }

    async fn delete_thread(&self, id: ThreadId) -> Result<bool, AgentStoreError> {
        let mut work = self.write().await?;
        let deleted = work.run("DELETE FROM threads WHERE id = $1", args![id]).await?;
        work.commit().await?;
        Ok(deleted > 0)
    }

    async fn existing_messages(
        &self,
        project: ProjectId,
        ids: &[MessageId],
    ) -> Result<Vec<MessageId>, AgentStoreError> {
        let select = format!(
            "SELECT m.id FROM messages m JOIN threads t ON t.id = m.thread_id WHERE t.project_id = $1 AND {}",
            self.dialect.is_in("m.id", 2)
        );
        let values = vec![Arg::from(project), Arg::names(ids)];
        let rows = self.read().await?.all(select, values).await?;
        rows.iter().map(|row| row.get_as("id")).collect()
    }
}

fn thread(row: &AnyRow) -> Result<Thread, AgentStoreError> {
    Ok(Thread {
        id: row.get_as("id")?,
        project_id: row.get_as("project_id")?,
        title: row.get_as("title")?,
        messages: row.get_as("messages")?,
        created_at: row.get_as("created_at")?,
        updated_at: row.get_as("updated_at")?,
    })
}

fn message(row: &AnyRow) -> Result<Message, AgentStoreError> {
    Ok(Message {
        id: row.get_as("id")?,
        thread_id: row.get_as("thread_id")?,
        role: row.get_as("role")?,
        content: row.get_as("content")?,
        response_json: row.json_or_null("response_json")?,
        created_at: row.get_as("created_at")?,
    })
}
