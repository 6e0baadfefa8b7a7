//! Tool calls and the reports about them.

use crate::AgentDatabase;
use crate::column::Columns;
use crate::memory_rows;
use crate::outbox;
use crate::pages::Newest;
use crate::tool_call_rows;
use crate::work::{Arg, Work, args};
use async_trait::async_trait;
use grov_agent::{
    AgentStoreError, Listed, MemoryItem, MemoryItemId, NewEvent, Page, ProjectId, Reported, ToolCall,
    ToolCallFilter, ToolCallId, ToolCallStatus, ToolCallStore, ToolReport,
};
use grov_redact::Redacted;
use time::OffsetDateTime;

/// States that a call leaves when its time is over.
const OPEN: &str = "status IN ('awaiting_approval', 'approved', 'running')";

#[async_trait]
impl ToolCallStore for AgentDatabase {
    async fn tool_call(
        &self,
        id: ToolCallId,
        now: OffsetDateTime,
    ) -> Result<Option<ToolCall>, AgentStoreError> {
        let mut work = self.read().await?;
        find(&mut work, id, now).await
    }

    async fn tool_calls(
        &self,
        filter: &ToolCallFilter,
        page: &Page,
        now: OffsetDateTime,
    ) -> Result<Listed<ToolCall>, AgentStoreError> {
        let page = Newest::of(page)?;
        let mut args = args![now];
        // The time is a parameter of every form of the statement, so that the numbers of the others do not change.
        let mut condition = "$1 IS NOT NULL".to_owned();
        match filter.status {
            Some(ToolCallStatus::Expired) => {
                condition = format!("(t.status = 'expired' OR (t.expires_at <= $1 AND t.{OPEN}))");
            }
            Some(status) if status.is_final() => {
                args.push(Arg::from(status.as_str()));
                condition.push_str(" AND t.status = $2");
            }
            Some(status) => {
                args.push(Arg::from(status.as_str()));
                condition = "t.status = $2 AND t.expires_at > $1".to_owned();
            }
            None => {}
        }
        if !filter.projects.is_empty() {
            let place = u32::try_from(args.len() + 1).unwrap_or(u32::MAX);
            args.push(Arg::names(&filter.projects));
            condition.push_str(" AND ");
            condition.push_str(&self.dialect.is_in("t.project_id", place));
        }
        let clause = page.clause("t", &mut args);
        let select = format!("SELECT t.* FROM tool_calls t WHERE {condition}{clause}");
        let rows = self.read().await?.all(select, args).await?;
        page.listed(&rows, |row| tool_call_rows::call_at(row, now))
    }

    async fn report(
        &self,
        id: ToolCallId,
        report: &Redacted<ToolReport>,
        fingerprint: &[u8; 32],
        events: &[NewEvent],
        now: OffsetDateTime,
    ) -> Result<Reported, AgentStoreError> {
        let mut work = self.write().await?;
        let item = lock_item(&mut work, id).await?;
        let mut call = tool_call_rows::lock(&mut work, id)
            .await?
            .ok_or(AgentStoreError::NotFound("tool call"))?;
        if is_known(&mut work, id, fingerprint).await? {
            tool_call_rows::expire(&mut call, now);
            return Ok(Reported {
                call,
                is_repeat: true,
            });
        }
        call.report(report, now)?;
        if let Some(item) = item {
            decide_item(&mut work, &mut call, item, now).await?;
        }
        tool_call_rows::update(&mut work, &call).await?;
        remember(&mut work, id, fingerprint).await?;
        outbox::insert_events(&mut work, events, now).await?;
        work.commit().await?;
        Ok(Reported {
            call,
            is_repeat: false,
        })
    }

    async fn expire_tool_calls(&self, now: OffsetDateTime) -> Result<u64, AgentStoreError> {
        let update = format!("UPDATE tool_calls SET status = 'expired' WHERE expires_at <= $1 AND {OPEN}");
        let mut work = self.write().await?;
        let expired = work.run(update, args![now]).await?;
        work.commit().await?;
        Ok(expired)
    }
}

async fn find(
    work: &mut Work,
    id: ToolCallId,
    now: OffsetDateTime,
) -> Result<Option<ToolCall>, AgentStoreError> {
    let row = work
        .one("SELECT * FROM tool_calls WHERE id = $1", args![id])
        .await?;
    row.map(|row| tool_call_rows::call_at(&row, now)).transpose()
}

/// Returns the item that a call is about. Locks its project before the call is locked: a decision about an item takes the
/// same locks in the same order.
async fn lock_item(work: &mut Work, id: ToolCallId) -> Result<Option<MemoryItem>, AgentStoreError> {
    const SELECT: &str =
        "SELECT project_id, memory_item_id FROM tool_calls WHERE id = $1 AND memory_item_id IS NOT NULL";
    let Some(row) = work.one(SELECT, args![id]).await? else {
        return Ok(None);
    };
    let project: ProjectId = row.get_as("project_id")?;
    let item: MemoryItemId = row.get_as("memory_item_id")?;
    memory_rows::lock_project(work, project).await?;
    memory_rows::find(work, project, item).await
}

/// Applies a decision about a call to the item that it is about.
async fn decide_item(
    work: &mut Work,
    call: &mut ToolCall,
    mut item: MemoryItem,
    now: OffsetDateTime,
) -> Result<(), AgentStoreError> {
    let is_approved = match call.status {
        ToolCallStatus::Approved => true,
        ToolCallStatus::Rejected => false,
        _ => return Ok(()),
    };
    if let Some(change) = call.memory_change(is_approved) {
        let decided_by = call.decided_by.clone().unwrap_or_default();
        memory_rows::change(work, &mut item, &change, &decided_by, now).await?;
    }
    if is_approved {
        call.status = ToolCallStatus::Succeeded;
    }
    Ok(())
}

async fn is_known(work: &mut Work, id: ToolCallId, fingerprint: &[u8; 32]) -> Result<bool, AgentStoreError> {
    const SELECT: &str = "SELECT 1 AS one FROM tool_reports WHERE tool_call_id = $1 AND fingerprint = $2";
    let row = work.one(SELECT, args![id, fingerprint]).await?;
    Ok(row.is_some())
}

async fn remember(work: &mut Work, id: ToolCallId, fingerprint: &[u8; 32]) -> Result<(), AgentStoreError> {
    const INSERT: &str = "INSERT INTO tool_reports (tool_call_id, fingerprint) VALUES ($1, $2)";
    work.run(INSERT, args![id, fingerprint]).await.map(drop)
}
