//! Rows of memory items, and the changes that involve several of them.

use crate::column::Columns;
use crate::entries;
use crate::sharing;
use crate::tool_call_rows;
use crate::work::{Arg, Work, args};
use grov_agent::{
    AgentStoreError, ChangeRefused, MemoryChange, MemoryItem, MemoryItemId, MemoryStatus, ProjectId,
    ToolCallStatus, ToolReport,
};
use grov_domain::SharedKind;
use sqlx::any::AnyRow;
use std::collections::HashSet;
use time::OffsetDateTime;

/// The condition of `MemoryItem::is_in_force` on an item `m`. The time is the parameter of this number.
pub(crate) fn in_force(time: u32) -> String {
    format!(
        "(m.status IN ('accepted', 'active') OR (m.status = 'blocked' AND m.type = 'open_loop')) \
         AND m.superseded_by IS NULL AND (m.expires_at IS NULL OR m.expires_at > ${time})"
    )
}

/// Inserts an item with its words. One that is accepted at once supersedes the item that it names.
pub(crate) async fn insert(work: &mut Work, item: &MemoryItem) -> Result<(), AgentStoreError> {
    const INSERT: &str = "INSERT INTO memory_items (id, project_id, type, status, content, supersedes, superseded_by, \
         expires_at, created_at, updated_at, decided_by, reason, evidence, contradicts) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";
    let values = [
        args![
            item.id,
            item.project_id,
            item.kind.as_str(),
            item.status.as_str(),
            &item.content,
            item.supersedes,
            item.superseded_by,
            item.expires_at,
            item.created_at,
            item.updated_at,
            item.decided_by.as_deref(),
            item.reason.as_deref()
        ],
        vec![Arg::json(&item.evidence)?, Arg::json(&item.contradicts)?],
    ];
    work.run(INSERT, values.concat()).await?;
    entries::index_item(work, item).await?;
    shared(work, item).await?;
    if matches!(item.status, MemoryStatus::Accepted | MemoryStatus::Active) {
        replace_at_once(work, item).await?;
    }
    Ok(())
}

/// Refuses a proposal with the words of an item in force or of an open proposal: two callers may propose the same at once, and
/// neither sees the other's before it is stored. The project is locked.
pub(crate) async fn must_be_new(work: &mut Work, item: &MemoryItem) -> Result<(), AgentStoreError> {
    let select = format!(
        "SELECT m.id FROM memory_items m WHERE m.project_id = $1 AND m.type = $3 AND m.content = $4 \
         AND (m.status = 'proposed' OR ({})) LIMIT 1",
        in_force(2)
    );
    let values = args![
        item.project_id,
        item.created_at,
        item.kind.as_str(),
        &item.content
    ];
    match work.one(select, values).await? {
        None => Ok(()),
        Some(row) => {
            let id: MemoryItemId = row.get_as("id")?;
            Err(AgentStoreError::Conflict(format!(
                "the item {id} already says this; nothing was proposed"
            )))
        }
    }
}

/// Keeps others from deciding about the memory of a project until the end of the transaction, so that two decisions about
/// items that name each other do not wait for each other for ever.
pub(crate) async fn lock_project(work: &mut Work, project: ProjectId) -> Result<(), AgentStoreError> {
    let select = format!(
        "SELECT 1 AS one FROM projects WHERE id = $1{}",
        work.dialect.for_update()
    );
    let row = work.one(select, args![project]).await?;
    row.map(drop).ok_or(AgentStoreError::NotFound("project"))
}

/// Returns an item of a project.
pub(crate) async fn find(
    work: &mut Work,
    project: ProjectId,
    id: MemoryItemId,
) -> Result<Option<MemoryItem>, AgentStoreError> {
    const SELECT: &str = "SELECT * FROM memory_items WHERE id = $1 AND project_id = $2";
    let row = work.one(SELECT, args![id, project]).await?;
    row.map(|row| item(&row)).transpose()
}

/// Changes an item and writes it, with what it supersedes. The project is locked.
pub(crate) async fn change(
    work: &mut Work,
    item: &mut MemoryItem,
    change: &MemoryChange,
    decided_by: &str,
    now: OffsetDateTime,
) -> Result<(), AgentStoreError> {
    if let MemoryChange::SupersededBy(other) = change {
        must_be_in_force(work, item, *other).await?;
    }
    let content = item.content.clone();
    item.change(change, decided_by, now)?;
    update(work, item).await?;
    if item.content != content {
        entries::index_item(work, item).await?;
    }
    if matches!(change, MemoryChange::Approve { .. }) {
        supersede(work, item, now).await?;
    }
    Ok(())
}

/// Decides the calls that wait for a change of an item like the one that was made.
pub(crate) async fn decide_calls(
    work: &mut Work,
    item: MemoryItemId,
    change: &MemoryChange,
    decided_by: &str,
    now: OffsetDateTime,
) -> Result<(), AgentStoreError> {
    let is_rejected = matches!(change, MemoryChange::Reject { .. });
    let report = ToolReport {
        status: if is_rejected {
            ToolCallStatus::Rejected
        } else {
            ToolCallStatus::Approved
        },
        result: None,
        error: match change {
            MemoryChange::Reject { reason } => reason.clone(),
            _ => None,
        },
        decided_by: Some(decided_by.to_owned()),
    };
    for mut call in tool_call_rows::lock_waiting(work, item).await? {
        let is_same = call
            .memory_change(!is_rejected)
            .is_some_and(|proposed| std::mem::discriminant(&proposed) == std::mem::discriminant(change));
        // A call whose time is over stays as it is.
        if is_same && call.report(&report, now).is_ok() {
            if !is_rejected {
                call.status = ToolCallStatus::Succeeded;
            }
            tool_call_rows::update(work, &call).await?;
        }
    }
    Ok(())
}

/// Marks the item that an item names which is accepted when it is inserted. An item that may not be replaced stays as it is.
async fn replace_at_once(work: &mut Work, by: &MemoryItem) -> Result<(), AgentStoreError> {
    let Some(old) = current(work, by).await? else {
        return Ok(());
    };
    if by.kind.may_replace(old.kind) {
        supersede(work, by, by.created_at).await?;
    }
    Ok(())
}

/// Returns the item that `by` names, or the one that took its place meanwhile.
async fn current(work: &mut Work, by: &MemoryItem) -> Result<Option<MemoryItem>, AgentStoreError> {
    let mut next = by.supersedes;
    let mut seen = HashSet::from([by.id]);
    let mut found = None;
    while let Some(id) = next {
        if !seen.insert(id) {
            return Ok(None);
        }
        found = find(work, by.project_id, id).await?;
        next = found.as_ref().and_then(|item| item.superseded_by);
    }
    Ok(found)
}

/// Marks the item whose place an accepted item takes as superseded by it.
async fn supersede(work: &mut Work, by: &MemoryItem, now: OffsetDateTime) -> Result<(), AgentStoreError> {
    let Some(mut old) = current(work, by).await? else {
        return Ok(());
    };
    let decided_by = by.decided_by.as_deref().unwrap_or_default();
    match old.change(&MemoryChange::SupersededBy(by.id), decided_by, now) {
        Ok(()) => update(work, &old).await,
        // It was never in force, so there is nothing to replace.
        Err(ChangeRefused::WrongStatus { .. }) => Ok(()),
        Err(refused) => Err(refused.into()),
    }
}

/// An item is superseded only by one that is in force itself, so that no two supersede each other.
async fn must_be_in_force(
    work: &mut Work,
    item: &MemoryItem,
    other: MemoryItemId,
) -> Result<(), AgentStoreError> {
    let by = find(work, item.project_id, other)
        .await?
        .filter(|by| by.id != item.id)
        .ok_or(AgentStoreError::NotFound("memory item to supersede it"))?;
    if by.superseded_by.is_some() {
        return Err(ChangeRefused::Superseded.into());
    }
    match by.status {
        MemoryStatus::Accepted | MemoryStatus::Active | MemoryStatus::Blocked | MemoryStatus::Done => Ok(()),
        found => Err(ChangeRefused::WrongStatus {
            needs: "accepted or active to supersede another",
            found,
        }
        .into()),
    }
}

pub(crate) async fn update(work: &mut Work, item: &MemoryItem) -> Result<(), AgentStoreError> {
    const UPDATE: &str = "UPDATE memory_items SET status = $2, content = $3, superseded_by = $4, expires_at = $5, \
         updated_at = $6, decided_by = $7, reason = $8 WHERE id = $1";
    work.run(
        UPDATE,
        args![
            item.id,
            item.status.as_str(),
            &item.content,
            item.superseded_by,
            item.expires_at,
            item.updated_at,
            item.decided_by.as_deref(),
            item.reason.as_deref()
        ],
    )
    .await?;
    shared(work, item).await
}

/// Gives an item the next revision of its project, so that replicas see its change.
async fn shared(work: &mut Work, item: &MemoryItem) -> Result<(), AgentStoreError> {
    let id = item.id.to_string();
    sharing::record(work, item.project_id, SharedKind::Item, &id)
        .await
        .map(drop)
}

pub(crate) fn item(row: &AnyRow) -> Result<MemoryItem, AgentStoreError> {
    Ok(MemoryItem {
        id: row.get_as("id")?,
        project_id: row.get_as("project_id")?,
        kind: row.get_as("type")?,
        status: row.get_as("status")?,
        content: row.get_as("content")?,
        evidence: row.json("evidence")?,
        contradicts: row.json("contradicts")?,
        supersedes: row.get_as("supersedes")?,
        superseded_by: row.get_as("superseded_by")?,
        expires_at: row.get_as("expires_at")?,
        created_at: row.get_as("created_at")?,
        updated_at: row.get_as("updated_at")?,
        decided_by: row.get_as("decided_by")?,
        reason: row.get_as("reason")?,
    })
}
