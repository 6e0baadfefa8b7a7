//! Rows of tool calls.

use crate::column::Columns;
use crate::work::{Arg, Work, args};
use grov_agent::{AgentStoreError, MemoryItemId, ToolCall, ToolCallId, ToolCallStatus};
use sqlx::any::AnyRow;
use time::OffsetDateTime;

/// Inserts a call.
pub(crate) async fn insert(work: &mut Work, call: &ToolCall) -> Result<(), AgentStoreError> {
    const INSERT: &str = "INSERT INTO tool_calls (id, project_id, thread_id, name, status, requires_approval, risk, reason, \
         memory_item_id, created_at, expires_at, arguments, result, error, decided_by) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)";
    let values = [
        args![
            call.id,
            call.project_id,
            call.thread_id,
            &call.name,
            call.status.as_str(),
            call.requires_approval,
            call.risk.as_str(),
            &call.reason,
            call.memory_item_id,
            call.created_at,
            call.expires_at
        ],
        vec![
            Arg::json(&call.arguments)?,
            Arg::json_or_null(call.result.as_ref())?,
            Arg::from(call.error.as_deref()),
            Arg::from(call.decided_by.as_deref()),
        ],
    ];
    work.run(INSERT, values.concat()).await.map(drop)
}

/// Writes what a report changed.
pub(crate) async fn update(work: &mut Work, call: &ToolCall) -> Result<(), AgentStoreError> {
    const UPDATE: &str =
        "UPDATE tool_calls SET status = $2, result = $3, error = $4, decided_by = $5 WHERE id = $1";
    let values = vec![
        Arg::from(call.id),
        Arg::from(call.status.as_str()),
        Arg::json_or_null(call.result.as_ref())?,
        Arg::from(call.error.as_deref()),
        Arg::from(call.decided_by.as_deref()),
    ];
    work.run(UPDATE, values).await.map(drop)
}

/// Returns a call and keeps others from changing it until the end of the transaction.
pub(crate) async fn lock(work: &mut Work, id: ToolCallId) -> Result<Option<ToolCall>, AgentStoreError> {
    let select = format!(
        "SELECT * FROM tool_calls WHERE id = $1{}",
        work.dialect.for_update()
    );
    let row = work.one(select, args![id]).await?;
    row.map(|row| call(&row)).transpose()
}

/// Returns the calls that wait for the decision about an item, and keeps others from changing them.
pub(crate) async fn lock_waiting(
    work: &mut Work,
    item: MemoryItemId,
) -> Result<Vec<ToolCall>, AgentStoreError> {
    let select = format!(
        "SELECT * FROM tool_calls WHERE memory_item_id = $1 AND status = $2 ORDER BY id{}",
        work.dialect.for_update()
    );
    let values = args![item, ToolCallStatus::AwaitingApproval.as_str()];
    let rows = work.all(select, values).await?;
    rows.iter().map(call).collect()
}

/// Reads a call as it is at a time: one that nobody ended in time is expired.
pub(crate) fn call_at(row: &AnyRow, now: OffsetDateTime) -> Result<ToolCall, AgentStoreError> {
    let mut call = call(row)?;
    expire(&mut call, now);
    Ok(call)
}

/// Marks a call as expired that nobody ended in time.
pub(crate) fn expire(call: &mut ToolCall, now: OffsetDateTime) {
    if !call.status.is_final() && call.expires_at <= now {
        call.status = ToolCallStatus::Expired;
    }
}

pub(crate) fn call(row: &AnyRow) -> Result<ToolCall, AgentStoreError> {
    Ok(ToolCall {
        id: row.get_as("id")?,
        project_id: row.get_as("project_id")?,
        thread_id: row.get_as("thread_id")?,
        name: row.get_as("name")?,
        arguments: row.json("arguments")?,
        status: row.get_as("status")?,
        requires_approval: row.get_as("requires_approval")?,
        risk: row.get_as("risk")?,
        reason: row.get_as("reason")?,
        result: row.json_or_null("result")?,
        error: row.get_as("error")?,
        decided_by: row.get_as("decided_by")?,
        memory_item_id: row.get_as("memory_item_id")?,
        created_at: row.get_as("created_at")?,
        expires_at: row.get_as("expires_at")?,
    })
}
