//! A real store for tests, in a temporary directory.

use grov_agent::{
    EventId, MemoryItem, MemoryItemId, MemoryItemStore, MemoryStatus, MemoryType, NewEvent, Project,
    ProjectId, ProjectStore, memory_proposed,
};
use grov_agent_store::{AgentDatabase, DatabaseOptions};
use grov_domain::{Clock, SystemClock};
use grov_redact::Redacted;
use std::sync::Arc;
use tempfile::TempDir;

/// Opens an empty store.
pub(crate) async fn open() -> (TempDir, Arc<AgentDatabase>) {
    let directory = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", directory.path().join("agent.db").display());
    let store = AgentDatabase::open(&url, &DatabaseOptions::default())
        .await
        .unwrap();
    (directory, Arc::new(store))
}

/// Adds a project with an item of memory, and the event about it. Returns the event.
pub(crate) async fn add_event(store: &AgentDatabase) -> EventId {
    let item = item(add_project(store).await, "Deploy on Tuesdays only");
    let event = memory_proposed(&item, None);
    let id = event.id;
    add(store, &item, &[event]).await;
    id
}

/// Adds a project with items of memory.
pub(crate) async fn add_items(store: &AgentDatabase, contents: &[&str]) -> ProjectId {
    let project = add_project(store).await;
    for content in contents {
        add(store, &item(project, content), &[]).await;
    }
    project
}

async fn add(store: &AgentDatabase, item: &Redacted<MemoryItem>, events: &[NewEvent]) {
    store.add_item(item, None, events).await.unwrap();
}

async fn add_project(store: &AgentDatabase) -> ProjectId {
    let project = Project {
        id: ProjectId::fresh(),
        name: "Shop".to_owned(),
        role_statement: "You help.".to_owned(),
        created_at: SystemClock.now(),
    };
    store.create_project(&Redacted::of(&project)).await.unwrap();
    project.id
}

fn item(project: ProjectId, content: &str) -> Redacted<MemoryItem> {
    let now = SystemClock.now();
    Redacted::of(&MemoryItem {
        id: MemoryItemId::fresh(),
        project_id: project,
        kind: MemoryType::Decision,
        status: MemoryStatus::Accepted,
        content: content.to_owned(),
        evidence: Vec::new(),
        contradicts: Vec::new(),
        supersedes: None,
        superseded_by: None,
        expires_at: None,
        created_at: now,
        updated_at: now,
        decided_by: None,
        reason: None,
    })
}
