//! Memory items, and the memories that they are while they are in force.

use super::columns::{RowExt, from_row, integer, millis, params};
use super::connection::Connection;
use super::select::Select;
use super::tasks::{save_task, task_of_session};
use super::{SqliteStore, StoreError, memory};
use async_trait::async_trait;
use grov_domain::{
    Changed, ClientSessionId, InboxItem, ItemFilter, ItemStore, MAX_PROPOSALS, MAX_WAITING, MemoryChange,
    MemoryItem, MemoryItemId, MemoryScope, NOTICE_INTERVAL, ProposalOutcome, Redacted, SessionId, Task,
    TaskProposals, local_project_id,
};
use sqlx::sqlite::SqliteRow;
use time::OffsetDateTime;

#[async_trait]
impl ItemStore for SqliteStore {
    async fn items(&self, filter: &ItemFilter<'_>) -> Result<Vec<InboxItem>, StoreError> {
        let mut select = Select::new("SELECT * FROM memory_items");
        select.and_scope(filter.scope);
        if filter.only_proposed {
            select.and_all("status = 'proposed'", &[]);
        }
        select.end("ORDER BY created_at DESC, id DESC", Some(filter.limit));
        select.read(self, from_row).await
    }

    async fn item(&self, id: MemoryItemId) -> Result<Option<InboxItem>, StoreError> {
        let sql = "SELECT * FROM memory_items WHERE id = ?";
        Ok(self.read(sql, params![id], from_row).await?.pop())
    }

    async fn item_ids_like(&self, part: &str, limit: u32) -> Result<Vec<MemoryItemId>, StoreError> {
        let sql = "SELECT id FROM memory_items WHERE substr(id, 1, length(?1)) = ?1 \
             OR substr(id, -length(?1)) = ?1 ORDER BY id LIMIT ?2";
        self.read(sql, params![part, limit], |row| row.read(0)).await
    }

    async fn propose_item(&self, item: &Redacted<InboxItem>) -> Result<ProposalOutcome, StoreError> {
        let mut transaction = self.begin().await?;
        let sql = "SELECT EXISTS (SELECT 1 FROM memory_items WHERE id = ?1) OR EXISTS (SELECT 1 FROM forgotten WHERE task_id = ?1)";
        if transaction.value(sql, params![item.item.id]).await? == Some(1_i64) {
            transaction.roll_back().await?;
            return Ok(ProposalOutcome::Known);
        }
        let sql = "SELECT (SELECT count(*) FROM memory_items WHERE project_path = ?1 AND status = 'proposed' AND task_id IS NULL) >= ?2";
        let values = params![item.scope.project_path, integer(MAX_WAITING as u64)];
        if transaction.value(sql, values).await? == Some(1_i64) {
            transaction.roll_back().await?;
            return Ok(ProposalOutcome::Full);
        }
        insert(&mut transaction, item, "DO NOTHING").await?;
        transaction.commit().await?;
        Ok(ProposalOutcome::Proposed)
    }

    async fn change_item(
        &self,
        id: MemoryItemId,
        change: &Redacted<MemoryChange>,
        decided_by: &Redacted<String>,
        now: OffsetDateTime,
    ) -> Result<Changed, StoreError> {
        let mut transaction = self.begin().await?;
        let sql = "SELECT * FROM memory_items WHERE id = ?";
        let found = transaction.read(sql, params![id], from_row).await?.pop();
        let Some(mut found) = found else {
            transaction.roll_back().await?;
            return Ok(Changed::Unknown);
        };
        if let Err(refused) = found.item.change(change, decided_by, now) {
            transaction.roll_back().await?;
            return Ok(Changed::Refused(refused));
        }
        save(&mut transaction, &found, now).await?;
        transaction.commit().await?;
        Ok(Changed::Done(Box::new(found)))
    }

    async fn due_notice(&self, scope: &MemoryScope, now: OffsetDateTime) -> Result<Option<u64>, StoreError> {
        let mut select = Select::new("SELECT count(*) FROM memory_items");
        select.and_scope(Some(scope));
        select.and_all(
            "status = 'proposed' AND NOT EXISTS (SELECT 1 FROM inbox_notices n WHERE n.project_path = ? AND n.at > ?)",
            &[&scope.project_path, &millis(now - NOTICE_INTERVAL)],
        );
        select.end("", None);
        let waiting: i64 = select.read(self, |row| row.read(0)).await?.pop().unwrap_or(0);
        let Ok(waiting @ 1..) = u64::try_from(waiting) else {
            return Ok(None);
        };
        // Of two sessions that start at the same time, one tells.
        let sql = "INSERT INTO inbox_notices (project_path, at) VALUES (?1, ?2) ON CONFLICT (project_path) \
             DO UPDATE SET at = excluded.at WHERE at <= ?3";
        let values = params![scope.project_path, now, millis(now - NOTICE_INTERVAL)];
        Ok((self.execute(sql, values).await? > 0).then_some(waiting))
    }
}

/// Reads a row of `memory_items`.
pub(super) fn from_row(row: &SqliteRow) -> Result<InboxItem, StoreError> {
    let remote: String = row.read("project_remote")?;
    let scope = MemoryScope {
        project_path: row.read("project_path")?,
        project_remote: Some(remote).filter(|remote| !remote.is_empty()),
    };
    let project_id = local_project_id(&scope);
    let item = from_row!(row => MemoryItem {
        id, project_id: project_id, kind: row.read("type")?, status, content, evidence, contradicts, supersedes, superseded_by, expires_at,
        created_at, updated_at, decided_by, reason,
    });
    let task_id = row.read("task_id")?;
    Ok(InboxItem { item, scope, task_id })
}

/// Saves a redacted item, and the memory that it is while it is in force.
pub(super) async fn save(
    connection: &mut Connection<'_>,
    item: &InboxItem,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    insert(connection, item, "DO UPDATE SET type = excluded.type, status = excluded.status, content = excluded.content, evidence = excluded.evidence, \
         contradicts = excluded.contradicts, supersedes = excluded.supersedes, superseded_by = excluded.superseded_by, \
         expires_at = excluded.expires_at, updated_at = excluded.updated_at, decided_by = excluded.decided_by, reason = excluded.reason").await?;
    match item.memory(now) {
        Some(memory) => save_task(connection, &memory).await,
        None => remove_memory(connection, item.item.id).await,
    }
}

async fn insert(
    connection: &mut Connection<'_>,
    found: &InboxItem,
    conflict: &'static str,
) -> Result<(), StoreError> {
    let (item, scope) = (&found.item, &found.scope);
    let sql = "INSERT INTO memory_items (id, project_path, project_remote, task_id, type, status, content, evidence, contradicts, \
         supersedes, superseded_by, expires_at, created_at, updated_at, decided_by, reason) \
         SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16 WHERE true ON CONFLICT (id) {conflict}";
    let values = params![
        item.id,
        scope.project_path,
        scope.project_remote.as_deref().unwrap_or_default(),
        found.task_id,
        item.kind,
        item.status,
        item.content,
        item.evidence,
        item.contradicts,
        item.supersedes,
        item.superseded_by,
        item.expires_at,
        item.created_at,
        item.updated_at,
        item.decided_by,
        item.reason,
    ];
    let sql = super::select::expanded(sql, &[("{conflict}", conflict)]);
    connection.execute(sql, values).await.map(drop)
}

/// Removes the memory that an item was.
pub(super) async fn remove_memory(
    connection: &mut Connection<'_>,
    id: MemoryItemId,
) -> Result<(), StoreError> {
    let id = id.to_string();
    memory::remove_tasks(connection, &[&id]).await?;
    let sql = "DELETE FROM task_files WHERE task_id = ?1";
    connection.execute(sql, params![id]).await?;
    let sql = "DELETE FROM tasks WHERE id = ?1 AND item IS NOT NULL";
    connection.execute(sql, params![id]).await.map(drop)
}

/// Removes the memories of items whose end has come. They are found by no search any more.
pub(super) async fn remove_ended(
    connection: &mut Connection<'_>,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let sql = "SELECT i.id FROM memory_items i JOIN tasks t ON t.id = i.id WHERE i.expires_at <= ?1";
    let ended: Vec<MemoryItemId> = connection.read(sql, params![now], |row| row.read(0)).await?;
    for id in ended {
        remove_memory(connection, id).await?;
    }
    Ok(())
}

/// Saves what a task proposes, after the task itself. What a person decided about or forgot is not proposed again.
pub(super) async fn propose(
    connection: &mut Connection<'_>,
    proposals: &TaskProposals,
    finished: &[Task],
) -> Result<(), StoreError> {
    let saved = finished.iter().find(|task| task.id == proposals.task);
    let session = saved
        .and_then(|task| task.session_id.as_ref())
        .map(SessionId::as_str);
    let client = saved
        .and_then(|task| task.client_session_id.as_ref())
        .map(ClientSessionId::as_str);
    let task = task_of_session(connection, client, session)
        .await?
        .unwrap_or_else(|| proposals.task.to_string());
    let ids: Vec<String> = proposals
        .items
        .iter()
        .map(|one| one.item.id.to_string())
        .collect();
    let sql = "DELETE FROM memory_items WHERE task_id = ?1 AND status = 'proposed' AND updated_at = created_at \
         AND id NOT IN (SELECT value FROM json_each(coalesce(?2, '[]')))";
    connection.execute(sql, params![task, ids]).await?;
    for one in &proposals.items {
        let sql = "SELECT (SELECT count(*) FROM memory_items WHERE task_id = ?1) >= ?2 \
             OR EXISTS (SELECT 1 FROM forgotten WHERE task_id = ?3)";
        let values = params![task, integer(MAX_PROPOSALS as u64), one.item.id];
        if connection.value(sql, values).await? == Some(1_i64) {
            continue;
        }
        let mut one = one.clone();
        one.task_id = Some(grov_domain::TaskId::new(task.clone()));
        for evidence in &mut one.item.evidence {
            evidence.id.clone_from(&task);
        }
        insert(connection, &one, "DO NOTHING").await?;
    }
    Ok(())
}
