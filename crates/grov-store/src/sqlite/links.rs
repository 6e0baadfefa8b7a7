//! Links to the agent service: what they have to send, and what arrived.

use super::columns::{Json, RowExt, from_row, params};
use super::connection::Connection;
use super::items;
use super::tasks::{replace_task, task_exists};
use super::{SqliteStore, StoreError, memory};
use async_trait::async_trait;
use grov_domain::{
    Conflict, InboxItem, Incoming, Link, LinkCounts, LinkState, LinkStore, LocalRecord, MemoryItem,
    MemoryItemId, MemoryScope, MemoryStatus, Outgoing, ProjectId, Redacted, RemoteRecord, SharedKind, Task,
    TaskId, item_fingerprint, local_project_id,
};
use sqlx::sqlite::SqliteRow;
use time::OffsetDateTime;

use super::columns::Record;

/// Puts what a person decided and what is finished into the outbox of a link, unless it came from the service.
const FILL_OUTBOX: &[&str] = &[
    "INSERT INTO link_outbox (project_path, kind, id, version) SELECT l.project_path, 'item', i.id, random() \
     FROM links l JOIN memory_items i ON i.project_path = l.project_path \
     OR l.project_remote <> '' AND i.project_remote = l.project_remote \
     WHERE l.project_path = ?1 AND i.status IN ('accepted', 'done', 'blocked') AND i.type NOT IN ('event', 'metric') \
     AND NOT EXISTS (SELECT 1 FROM link_records r WHERE r.project_path = l.project_path AND r.kind = 'item' \
     AND r.id = i.id AND r.is_foreign = 1) \
     ON CONFLICT (project_path, kind, id) DO UPDATE SET version = excluded.version",
    "INSERT INTO link_outbox (project_path, kind, id, version) SELECT l.project_path, 'task', t.id, random() \
     FROM links l JOIN tasks t ON t.project_path = l.project_path \
     OR l.project_remote <> '' AND t.project_remote = l.project_remote \
     WHERE l.project_path = ?1 AND t.item IS NULL AND t.status <> 'abandoned' \
     AND NOT EXISTS (SELECT 1 FROM link_records r WHERE r.project_path = l.project_path AND r.kind = 'task' \
     AND r.id = t.id AND r.is_foreign = 1) \
     ON CONFLICT (project_path, kind, id) DO UPDATE SET version = excluded.version",
];

#[async_trait]
impl LinkStore for SqliteStore {
    async fn links(&self) -> Result<Vec<Link>, StoreError> {
        self.read("SELECT * FROM links ORDER BY project_path", params![], link)
            .await
    }

    async fn save_link(&self, link: &Redacted<Link>) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        let path = &link.scope.project_path;
        let remote = link.scope.project_remote.as_deref().unwrap_or_default();
        // Another service or project knows none of the revisions.
        let sql = "DELETE FROM link_records WHERE project_path = ?1 AND NOT EXISTS (SELECT 1 FROM links l \
             WHERE l.project_path = ?1 AND l.url = ?2 AND l.remote_project = ?3)";
        transaction
            .execute(sql, params![path, link.url, link.remote_project.to_string()])
            .await?;
        let sql = "INSERT INTO links (project_path, project_remote, url, remote_project, cursor, state, fault, last_sync, linked_at) \
             VALUES (?1, ?2, ?3, ?4, 0, ?5, NULL, NULL, ?6) ON CONFLICT (project_path) DO UPDATE SET \
             project_remote = excluded.project_remote, \
             cursor = CASE WHEN url = excluded.url AND remote_project = excluded.remote_project THEN cursor ELSE 0 END, \
             url = excluded.url, remote_project = excluded.remote_project, state = excluded.state, fault = NULL, \
             linked_at = excluded.linked_at";
        let values = params![
            path,
            remote,
            link.url,
            link.remote_project.to_string(),
            link.state,
            link.linked_at,
        ];
        transaction.execute(sql, values).await?;
        for fill in FILL_OUTBOX {
            transaction.execute(*fill, params![path]).await?;
        }
        transaction.commit().await
    }

    async fn remove_link(&self, project_path: &str) -> Result<bool, StoreError> {
        let mut transaction = self.begin().await?;
        for sql in [
            "DELETE FROM link_outbox WHERE project_path = ?1",
            "DELETE FROM link_records WHERE project_path = ?1",
        ] {
            transaction.execute(sql, params![project_path]).await?;
        }
        let sql = "DELETE FROM links WHERE project_path = ?1";
        let removed = transaction.execute(sql, params![project_path]).await?;
        transaction.commit().await?;
        Ok(removed > 0)
    }

    async fn note_link(
        &self,
        project_path: &str,
        state: LinkState,
        fault: Option<&Redacted<String>>,
        last_sync: Option<OffsetDateTime>,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE links SET state = ?2, fault = ?3, last_sync = coalesce(?4, last_sync) WHERE project_path = ?1";
        let fault = fault.map(|fault| fault.as_str());
        self.execute(sql, params![project_path, state, fault, last_sync])
            .await
            .map(drop)
    }

    async fn outgoing(&self, project_path: &str, limit: u32) -> Result<Vec<Outgoing>, StoreError> {
        let sql = "SELECT o.kind, o.id, o.version, r.revision FROM link_outbox o LEFT JOIN link_records r \
             ON r.project_path = o.project_path AND r.kind = o.kind AND r.id = o.id \
             WHERE o.project_path = ?1 ORDER BY o.rowid LIMIT ?2";
        let waiting = self
            .read(sql, params![project_path, limit], |row| {
                Ok(Outgoing {
                    kind: row.read("kind")?,
                    id: row.read("id")?,
                    version: row.read("version")?,
                    base: row.read("revision")?,
                    record: None,
                })
            })
            .await?;
        if waiting.is_empty() {
            return Ok(waiting);
        }
        let mut transaction = self.begin().await?;
        let mut outgoing = Vec::with_capacity(waiting.len());
        for mut one in waiting {
            one.record = local(&mut transaction, one.kind, &one.id).await?;
            let sent = match &one.record {
                Some(LocalRecord::Item(item)) => Some(item_fingerprint(&item.item)),
                _ => None,
            };
            let sql = "INSERT INTO link_records (project_path, kind, id, is_foreign, sent) VALUES (?1, ?2, ?3, 0, ?4) \
                 ON CONFLICT (project_path, kind, id) DO UPDATE SET sent = excluded.sent";
            let values = params![project_path, one.kind, one.id, sent];
            transaction.execute(sql, values).await?;
            outgoing.push(one);
        }
        transaction.commit().await?;
        Ok(outgoing)
    }

    async fn sent(
        &self,
        project_path: &str,
        sent: &Outgoing,
        revision: Option<i64>,
    ) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        let sql =
            "DELETE FROM link_outbox WHERE project_path = ?1 AND kind = ?2 AND id = ?3 AND version = ?4";
        let values = params![project_path, sent.kind, sent.id, sent.version];
        transaction.execute(sql, values).await?;
        let sql = if sent.record.is_none() {
            "DELETE FROM link_records WHERE project_path = ?1 AND kind = ?2 AND id = ?3 AND ?4 IS NULL"
        } else {
            "UPDATE link_records SET revision = max(coalesce(revision, 0), coalesce(?4, 0)) \
             WHERE project_path = ?1 AND kind = ?2 AND id = ?3"
        };
        transaction
            .execute(sql, params![project_path, sent.kind, sent.id, revision])
            .await?;
        transaction.commit().await
    }

    async fn receive(
        &self,
        link: &Link,
        changes: &[Redacted<Incoming>],
        cursor: i64,
        now: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        // The link may have been removed or started again meanwhile.
        let sql = "SELECT 1 FROM links WHERE project_path = ?1 AND linked_at = ?2";
        let is_there: Option<i64> = transaction
            .value(sql, params![link.scope.project_path, link.linked_at])
            .await?;
        if is_there.is_none() {
            return transaction.roll_back().await;
        }
        let mut indexing = memory::Indexing::default();
        for change in changes {
            match &change.record {
                Some(RemoteRecord::Item(item)) => {
                    receive_item(&mut transaction, link, change, item, now).await?;
                }
                Some(RemoteRecord::Task(task)) => {
                    let task = Task {
                        created_at: task.created_at.min(now),
                        ..(**task).clone()
                    };
                    receive_task(&mut transaction, link, change, &task, &mut indexing).await?;
                }
                None => receive_deletion(&mut transaction, link, change).await?,
            }
        }
        indexing.finish(&mut transaction).await?;
        let sql = "UPDATE links SET cursor = ?2 WHERE project_path = ?1";
        transaction
            .execute(sql, params![link.scope.project_path, cursor])
            .await?;
        transaction.commit().await
    }

    async fn restart_link(&self, project_path: &str) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        for sql in [
            "UPDATE links SET cursor = 0 WHERE project_path = ?1",
            "UPDATE link_records SET revision = NULL WHERE project_path = ?1",
        ]
        .iter()
        .chain(FILL_OUTBOX)
        {
            transaction.execute(*sql, params![project_path]).await?;
        }
        transaction.commit().await
    }

    async fn link_counts(&self, project_path: &str) -> Result<LinkCounts, StoreError> {
        let sql = "SELECT (SELECT count(*) FROM link_outbox WHERE project_path = ?1) AS pending_out, \
             (SELECT count(*) FROM link_records WHERE project_path = ?1 AND conflict IS NOT NULL) AS conflicts";
        let read = self.read(sql, params![project_path], |row| {
            Ok(from_row!(row => LinkCounts { pending_out, conflicts }))
        });
        Ok(read.await?.pop().unwrap_or_default())
    }

    async fn conflicts(&self, project_path: &str) -> Result<Vec<Conflict>, StoreError> {
        let sql = "SELECT i.*, r.conflict FROM link_records r JOIN memory_items i ON i.id = r.id \
             WHERE r.project_path = ?1 AND r.kind = 'item' AND r.conflict IS NOT NULL ORDER BY i.id";
        self.read(sql, params![project_path], |row| {
            let Json(there) = row.read("conflict")?;
            let here = items::from_row(row)?;
            Ok(Conflict { here, there })
        })
        .await
    }

    async fn settle_conflict(
        &self,
        id: MemoryItemId,
        keep_here: bool,
        now: OffsetDateTime,
    ) -> Result<bool, StoreError> {
        let mut transaction = self.begin().await?;
        let sql = "SELECT conflict FROM link_records WHERE kind = 'item' AND id = ?1 AND conflict IS NOT NULL LIMIT 1";
        let there: Option<Json<MemoryItem>> = transaction.value(sql, params![id]).await?;
        let Some(Json(there)) = there else {
            transaction.roll_back().await?;
            return Ok(false);
        };
        if keep_here {
            let sql = "INSERT INTO link_outbox (project_path, kind, id, version) SELECT project_path, kind, id, random() \
                 FROM link_records WHERE kind = 'item' AND id = ?1 \
                 ON CONFLICT (project_path, kind, id) DO UPDATE SET version = excluded.version";
            transaction.execute(sql, params![id]).await?;
        } else if let Some(here) = find(&mut transaction, id).await? {
            let item = taken_over(&there, &here.scope, now);
            items::save(&mut transaction, &InboxItem { item, ..here }, now).await?;
            let sql = "DELETE FROM link_outbox WHERE kind = 'item' AND id = ?1";
            transaction.execute(sql, params![id]).await?;
        }
        let sql = "UPDATE link_records SET conflict = NULL WHERE kind = 'item' AND id = ?1";
        transaction.execute(sql, params![id]).await?;
        transaction.commit().await?;
        Ok(true)
    }

    async fn is_active_since(&self, time: OffsetDateTime) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM hook_sessions WHERE updated_at >= ?1 LIMIT 1";
        let found: Vec<i64> = self.read(sql, params![time], |row| row.read(0)).await?;
        Ok(!found.is_empty())
    }
}

fn link(row: &SqliteRow) -> Result<Link, StoreError> {
    let remote: String = row.read("project_remote")?;
    let remote_project: String = row.read("remote_project")?;
    let remote_project: ProjectId = remote_project
        .parse()
        .map_err(|_| StoreError::Other("a link has an invalid project".to_owned()))?;
    let scope = MemoryScope {
        project_path: row.read("project_path")?,
        project_remote: Some(remote).filter(|remote| !remote.is_empty()),
    };
    Ok(from_row!(row => Link {
        scope: scope, url, remote_project: remote_project, cursor, state, fault, last_sync, linked_at
    }))
}

async fn find(connection: &mut Connection<'_>, id: MemoryItemId) -> Result<Option<InboxItem>, StoreError> {
    let sql = "SELECT * FROM memory_items WHERE id = ?";
    Ok(connection.read(sql, params![id], items::from_row).await?.pop())
}

/// The record to send, as it is now.
async fn local(
    connection: &mut Connection<'_>,
    kind: SharedKind,
    id: &str,
) -> Result<Option<LocalRecord>, StoreError> {
    match kind {
        SharedKind::Item => {
            let sql = "SELECT * FROM memory_items WHERE id = ?";
            let found = connection.read(sql, params![id], items::from_row).await?.pop();
            Ok(found.map(|item| LocalRecord::Item(Box::new(item))))
        }
        SharedKind::Task => {
            let sql = "SELECT * FROM tasks WHERE id = ?";
            let found = connection.read(sql, params![id], Task::from_row).await?.pop();
            Ok(found.map(|task| LocalRecord::Task(Box::new(task))))
        }
    }
}

/// The service's item as an item of this machine. Times of a clock that is ahead of this machine's would hide it from prompts.
fn taken_over(item: &MemoryItem, scope: &MemoryScope, now: OffsetDateTime) -> MemoryItem {
    MemoryItem {
        project_id: local_project_id(scope),
        created_at: item.created_at.min(now),
        updated_at: item.updated_at.min(now),
        ..item.clone()
    }
}

async fn receive_item(
    connection: &mut Connection<'_>,
    link: &Link,
    change: &Incoming,
    item: &MemoryItem,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let path = &link.scope.project_path;
    let here = find(connection, item.id).await?;
    // What another project of this machine has, or was forgotten here, stays so.
    let sql = "SELECT EXISTS (SELECT 1 FROM forgotten WHERE task_id = ?1)";
    let is_forgotten = connection.value(sql, params![item.id]).await? == Some(1_i64);
    let is_elsewhere = here.as_ref().is_some_and(|here| {
        here.scope.project_path != *path
            && (here.scope.project_remote.is_none() || here.scope.project_remote != link.scope.project_remote)
    });
    let is_waiting = item.status == MemoryStatus::Proposed;
    if item.kind.is_accepted_at_once() || is_forgotten || is_elsewhere || (here.is_none() && is_waiting) {
        return Ok(());
    }
    let sql = "SELECT sent FROM link_records WHERE project_path = ?1 AND kind = 'item' AND id = ?2";
    let sent: Option<Option<String>> = connection.value(sql, params![path, change.id]).await?;
    let sql = "SELECT 1 FROM link_outbox WHERE project_path = ?1 AND kind = 'item' AND id = ?2";
    let is_pending = connection.value(sql, params![path, change.id]).await? == Some(1_i64);
    let there = item_fingerprint(item);
    let is_own_echo = sent.flatten().as_deref() == Some(there.as_str());
    let is_same = here
        .as_ref()
        .is_some_and(|here| item_fingerprint(&here.item) == there);
    let is_conflict = is_pending && !is_own_echo && !is_same && !is_waiting;
    let conflict = is_conflict.then_some(Json(item));
    let sql = "INSERT INTO link_records (project_path, kind, id, revision, is_foreign, conflict) VALUES (?1, 'item', ?2, ?3, ?4, ?5) \
         ON CONFLICT (project_path, kind, id) DO UPDATE SET revision = excluded.revision, conflict = excluded.conflict";
    let values = params![path, change.id, change.revision, here.is_none(), conflict];
    connection.execute(sql, values).await?;
    // A proposal of the service waits for its approver there; what was accepted here stays so meanwhile.
    if is_waiting || (is_pending && is_own_echo && !is_same) {
        return Ok(());
    }
    if !is_conflict {
        // What says the same here was decided then, not when it reached the service.
        let decided = here.as_ref().filter(|_| is_same).map(|here| here.item.updated_at);
        let (scope, task_id) = match here {
            Some(here) => (here.scope, here.task_id),
            None => (link.scope.clone(), None),
        };
        let item = taken_over(item, &scope, now);
        let item = MemoryItem {
            updated_at: decided.unwrap_or(item.updated_at),
            ..item
        };
        items::save(connection, &InboxItem { item, scope, task_id }, now).await?;
    }
    let sql = "DELETE FROM link_outbox WHERE project_path = ?1 AND kind = 'item' AND id = ?2";
    connection.execute(sql, params![path, change.id]).await.map(drop)
}

async fn receive_task(
    connection: &mut Connection<'_>,
    link: &Link,
    change: &Incoming,
    task: &Task,
    indexing: &mut memory::Indexing,
) -> Result<(), StoreError> {
    let path = &link.scope.project_path;
    let sql = "SELECT is_foreign FROM link_records WHERE project_path = ?1 AND kind = 'task' AND id = ?2";
    let known: Option<i64> = connection.value(sql, params![path, change.id]).await?;
    let sql = "SELECT EXISTS (SELECT 1 FROM forgotten WHERE task_id = ?1)";
    let is_forgotten = connection.value(sql, params![change.id]).await? == Some(1_i64);
    // The record of this machine's own work is the truth about it.
    let is_own = known == Some(0) || (known.is_none() && task_exists(connection, &change.id).await?);
    let sql = "INSERT INTO link_records (project_path, kind, id, revision, is_foreign) VALUES (?1, 'task', ?2, ?3, ?4) \
         ON CONFLICT (project_path, kind, id) DO UPDATE SET revision = excluded.revision";
    let values = params![path, change.id, change.revision, !is_own];
    connection.execute(sql, values).await?;
    if is_own || is_forgotten || task.item.is_some() {
        return Ok(());
    }
    let task = Task {
        id: TaskId::new(change.id.clone()),
        project_path: path.clone(),
        project_remote: link.scope.project_remote.clone(),
        client_session_id: None,
        session_id: None,
        parent_session_id: None,
        screened: None,
        model_screening: None,
        ..task.clone()
    };
    replace_task(connection, &task, memory::Terms::of(&task), indexing).await?;
    let sql = "DELETE FROM link_outbox WHERE project_path = ?1 AND kind = 'task' AND id = ?2";
    connection.execute(sql, params![path, change.id]).await.map(drop)
}

/// Others deleted a record: a copy is deleted, too. What this machine contributed itself stays.
async fn receive_deletion(
    connection: &mut Connection<'_>,
    link: &Link,
    change: &Incoming,
) -> Result<(), StoreError> {
    let path = &link.scope.project_path;
    let sql = "SELECT is_foreign FROM link_records WHERE project_path = ?1 AND kind = ?2 AND id = ?3";
    let known: Option<i64> = connection
        .value(sql, params![path, change.kind, change.id])
        .await?;
    if known == Some(1) {
        memory::remove_tasks(connection, &[&change.id]).await?;
        for sql in [
            "DELETE FROM task_files WHERE task_id = ?1",
            "DELETE FROM tasks WHERE id = ?1",
            "DELETE FROM memory_items WHERE id = ?1",
        ] {
            connection.execute(sql, params![change.id]).await?;
        }
    }
    let sql = "DELETE FROM link_records WHERE project_path = ?1 AND kind = ?2 AND id = ?3";
    connection
        .execute(sql, params![path, change.kind, change.id])
        .await
        .map(drop)
}
