//! Governed memory.

use crate::AgentDatabase;
use crate::memory_rows;
use crate::outbox;
use crate::pages::Newest;
use crate::tool_call_rows;
use crate::work::{Arg, args};
use async_trait::async_trait;
use grov_agent::{
    AgentStoreError, Listed, MemoryChange, MemoryFilter, MemoryItem, MemoryItemId, MemoryItemStore,
    MemoryType, NewEvent, Page, ProjectId, RECENT_EVENTS, ReplayOf, Situation, ToolCall,
};
use grov_redact::Redacted;
use time::OffsetDateTime;

/// The most items of one kind in a situation. More would not fit into a prompt.
const MOST_IN_SITUATION: u32 = 200;

#[async_trait]
impl MemoryItemStore for AgentDatabase {
    async fn add_item(
        &self,
        item: &Redacted<MemoryItem>,
        call: Option<&Redacted<ToolCall>>,
        events: &[NewEvent],
    ) -> Result<(), AgentStoreError> {
        let mut work = self.write().await?;
        memory_rows::lock_project(&mut work, item.project_id).await?;
        if call.is_some() {
            memory_rows::must_be_new(&mut work, item).await?;
        }
        memory_rows::insert(&mut work, item).await?;
        if let Some(call) = call {
            tool_call_rows::insert(&mut work, call).await?;
        }
        outbox::insert_events(&mut work, events, item.created_at).await?;
        work.commit().await
    }

    async fn item(
        &self,
        project: ProjectId,
        id: MemoryItemId,
    ) -> Result<Option<MemoryItem>, AgentStoreError> {
        memory_rows::find(&mut self.read().await?, project, id).await
    }

    async fn items(
        &self,
        project: ProjectId,
        filter: &MemoryFilter,
        page: &Page,
    ) -> Result<Listed<MemoryItem>, AgentStoreError> {
        let page = Newest::of(page)?;
        let mut args = args![project];
        let mut condition = "m.project_id = $1".to_owned();
        if !filter.types.is_empty() {
            args.push(Arg::names(&filter.types));
            condition.push_str(" AND ");
            condition.push_str(&self.dialect.is_in("m.type", 2));
        }
        if !filter.statuses.is_empty() {
            args.push(Arg::names(&filter.statuses));
            let place = if filter.types.is_empty() { 2 } else { 3 };
            condition.push_str(" AND ");
            condition.push_str(&self.dialect.is_in("m.status", place));
        }
        let clause = page.clause("m", &mut args);
        let select = format!("SELECT m.* FROM memory_items m WHERE {condition}{clause}");
        let rows = self.read().await?.all(select, args).await?;
        page.listed(&rows, memory_rows::item)
    }

    async fn change_item_once(
        &self,
        project: ProjectId,
        id: MemoryItemId,
        change: &Redacted<MemoryChange>,
        decided_by: &Redacted,
        replay: ReplayOf<'_, MemoryItem>,
        now: OffsetDateTime,
    ) -> Result<MemoryItem, AgentStoreError> {
        let mut work = self.write().await?;
        memory_rows::lock_project(&mut work, project).await?;
        let mut item = memory_rows::find(&mut work, project, id)
            .await?
            .ok_or(AgentStoreError::NotFound("memory item"))?;
        memory_rows::change(&mut work, &mut item, change, decided_by, now).await?;
        memory_rows::decide_calls(&mut work, id, change, decided_by, now).await?;
        outbox::keep_answer(&mut work, replay(&item).as_ref(), now).await?;
        work.commit().await?;
        Ok(item)
    }

    async fn situation(&self, project: ProjectId, now: OffsetDateTime) -> Result<Situation, AgentStoreError> {
        let mut work = self.snapshot().await?;
        let mut lists = Vec::new();
        let in_force = memory_rows::in_force(2);
        for (kind, order, limit) in [
            (MemoryType::OpenLoop, "DESC", MOST_IN_SITUATION),
            (MemoryType::Event, "DESC", RECENT_EVENTS),
            (MemoryType::Idea, "DESC", MOST_IN_SITUATION),
            // One more tells whether some are left out.
            (MemoryType::Rule, "ASC", MOST_IN_SITUATION + 1),
        ] {
            let select = format!(
                "SELECT m.* FROM memory_items m WHERE m.project_id = $1 AND {in_force} AND m.type = $3 \
                 ORDER BY m.created_at {order}, m.id {order} LIMIT $4"
            );
            let rows = work
                .all(select, args![project, now, kind.as_str(), limit])
                .await?;
            let items: Vec<MemoryItem> = rows.iter().map(memory_rows::item).collect::<Result<_, _>>()?;
            lists.push(items);
        }
        let mut lists = lists.into_iter();
        let mut next = || lists.next().unwrap_or_default();
        let mut situation = Situation {
            open_loops: next(),
            recent_events: next(),
            active_ideas: next(),
            rules: next(),
        };
        if situation.rules.len() > MOST_IN_SITUATION as usize {
            situation.rules.truncate(MOST_IN_SITUATION as usize);
            tracing::warn!(
                %project,
                given = MOST_IN_SITUATION,
                "the project has more rules than a chat is given, and the newest are left out; supersede some of them"
            );
        }
        Ok(situation)
    }
}
