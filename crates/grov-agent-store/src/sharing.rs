//! What developers' machines share, and the order of its changes.

use crate::AgentDatabase;
use crate::column::Columns;
use crate::work::{Work, args, json_of};
use crate::{entries, memory_rows};
use async_trait::async_trait;
use grov_agent::{
    AgentStoreError, Feed, FeedChange, MemoryItem, MemoryItemId, MemoryType, ProjectId, Put, SharedRecord,
    SharingStore,
};
use grov_domain::{SharedKind, Task};
use grov_redact::Redacted;
use sqlx::any::AnyRow;
use time::OffsetDateTime;

#[async_trait]
impl SharingStore for AgentDatabase {
    async fn feed(&self, project: ProjectId, after: i64, limit: u32) -> Result<Feed, AgentStoreError> {
        let mut work = self.snapshot().await?;
        let latest = latest(&mut work, project).await?;
        const CHANGES: &str = "SELECT kind, id, revision FROM feed WHERE project_id = $1 AND revision > $2 \
             ORDER BY revision LIMIT $3";
        let rows = work.all(CHANGES, args![project, after, limit]).await?;
        let mut changes = Vec::with_capacity(rows.len());
        for row in &rows {
            changes.push(change(&mut work, project, row).await?);
        }
        Ok(Feed { changes, latest })
    }

    async fn latest_revision(&self, project: ProjectId) -> Result<i64, AgentStoreError> {
        latest(&mut self.read().await?, project).await
    }

    async fn put_item(
        &self,
        item: &Redacted<MemoryItem>,
        base: Option<i64>,
        now: OffsetDateTime,
    ) -> Result<Put, AgentStoreError> {
        let project = item.project_id;
        let mut work = self.write().await?;
        memory_rows::lock_project(&mut work, project).await?;
        let id = item.id.to_string();
        let Some(found) = memory_rows::find(&mut work, project, item.id).await? else {
            memory_rows::insert(&mut work, item).await?;
            return stored(work, item, &id).await;
        };
        let known = revision_of(&mut work, project, SharedKind::Item, &id).await?;
        let is_same = found.content == item.content
            && found.status == item.status
            && found.kind == item.kind
            && found.expires_at == item.expires_at;
        if is_same {
            let revision = known.unwrap_or_default();
            let item = Box::new(found);
            return Ok(Put::Stored { revision, item });
        }
        if found.kind == MemoryType::Event || known != base {
            return Ok(Put::Conflict);
        }
        let changed = MemoryItem {
            status: item.status,
            content: item.content.clone(),
            expires_at: item.expires_at,
            decided_by: item.decided_by.clone(),
            updated_at: now,
            ..found
        };
        memory_rows::update(&mut work, &changed).await?;
        entries::index_item(&mut work, &changed).await?;
        stored(work, &changed, &id).await
    }

    async fn put_task(&self, project: ProjectId, task: &Redacted<Task>) -> Result<i64, AgentStoreError> {
        let mut work = self.write().await?;
        memory_rows::lock_project(&mut work, project).await?;
        let (id, body) = (task.id.as_str(), json_of(&**task)?);
        const FIND: &str = "SELECT body FROM shared_tasks WHERE project_id = $1 AND id = $2";
        if let Some(row) = work.one(FIND, args![project, id]).await? {
            let stored: String = row.get_as("body")?;
            if stored == body {
                let known = revision_of(&mut work, project, SharedKind::Task, id).await?;
                return Ok(known.unwrap_or_default());
            }
        }
        const PUT: &str = "INSERT INTO shared_tasks (project_id, id, body) VALUES ($1, $2, $3) \
             ON CONFLICT (project_id, id) DO UPDATE SET body = excluded.body";
        work.run(PUT, args![project, id, body]).await?;
        let revision = record(&mut work, project, SharedKind::Task, id).await?;
        work.commit().await?;
        Ok(revision)
    }

    async fn delete_shared(
        &self,
        project: ProjectId,
        kind: SharedKind,
        id: &str,
    ) -> Result<bool, AgentStoreError> {
        let mut work = self.write().await?;
        memory_rows::lock_project(&mut work, project).await?;
        let delete = match kind {
            SharedKind::Item => "DELETE FROM memory_items WHERE project_id = $1 AND id = $2",
            SharedKind::Task => "DELETE FROM shared_tasks WHERE project_id = $1 AND id = $2",
        };
        if work.run(delete, args![project, id]).await? == 0 {
            return Ok(false);
        }
        record(&mut work, project, kind, id).await?;
        work.commit().await?;
        Ok(true)
    }
}

async fn stored(mut work: Work, item: &MemoryItem, id: &str) -> Result<Put, AgentStoreError> {
    let revision = revision_of(&mut work, item.project_id, SharedKind::Item, id).await?;
    work.commit().await?;
    Ok(Put::Stored {
        revision: revision.unwrap_or_default(),
        item: Box::new(item.clone()),
    })
}

async fn latest(work: &mut Work, project: ProjectId) -> Result<i64, AgentStoreError> {
    const LATEST: &str = "SELECT revision FROM feed_revisions WHERE project_id = $1";
    let row = work.one(LATEST, args![project]).await?;
    row.map_or(Ok(0), |row| row.get_as("revision"))
}

async fn revision_of(
    work: &mut Work,
    project: ProjectId,
    kind: SharedKind,
    id: &str,
) -> Result<Option<i64>, AgentStoreError> {
    const REVISION: &str = "SELECT revision FROM feed WHERE project_id = $1 AND kind = $2 AND id = $3";
    let row = work.one(REVISION, args![project, kind.as_str(), id]).await?;
    row.map(|row| row.get_as("revision")).transpose()
}

/// Gives a record the next revision of its project. The row of the project is locked until the end of the transaction, so that
/// a reader never sees a revision before an earlier one.
pub(crate) async fn record(
    work: &mut Work,
    project: ProjectId,
    kind: SharedKind,
    id: &str,
) -> Result<i64, AgentStoreError> {
    const NEXT: &str = "INSERT INTO feed_revisions (project_id, revision) VALUES ($1, 1) \
         ON CONFLICT (project_id) DO UPDATE SET revision = feed_revisions.revision + 1 RETURNING revision";
    let row = work.one(NEXT, args![project]).await?;
    let revision: i64 = row.map_or(Ok(0), |row| row.get_as("revision"))?;
    const RECORD: &str = "INSERT INTO feed (project_id, kind, id, revision) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (project_id, kind, id) DO UPDATE SET revision = excluded.revision";
    work.run(RECORD, args![project, kind.as_str(), id, revision])
        .await?;
    Ok(revision)
}

async fn change(work: &mut Work, project: ProjectId, row: &AnyRow) -> Result<FeedChange, AgentStoreError> {
    let (name, id): (String, String) = (row.get_as("kind")?, row.get_as("id")?);
    let kind = SharedKind::from_name(&name)
        .ok_or_else(|| AgentStoreError::Other(format!("the feed has an unknown kind {name:?}")))?;
    let record = match kind {
        SharedKind::Item => {
            let id: MemoryItemId = row.get_as("id")?;
            let item = memory_rows::find(work, project, id).await?;
            item.map(|item| SharedRecord::Item(Box::new(item)))
        }
        SharedKind::Task => {
            const FIND: &str = "SELECT body FROM shared_tasks WHERE project_id = $1 AND id = $2";
            let task = work.one(FIND, args![project, &id]).await?;
            let task = task.map(|row| row.json::<Task>("body")).transpose()?;
            task.map(|task| SharedRecord::Task(Box::new(task)))
        }
    };
    Ok(FeedChange {
        revision: row.get_as("revision")?,
        kind,
        id,
        record,
    })
}
