//! Values for the checks.

use grov_agent::{
    AgentStore, Category, EventId, Evidence, EvidenceKind, KeyId, MemoryItem, MemoryItemId, MemoryStatus,
    MemoryType, Message, MessageId, MessageRole, NewChunk, NewDocument, NewEvent, NewTurn, PROPOSE_ADD, Page,
    Project, ProjectId, Replay, Risk, SearchFilter, SearchScope, ThreadId, Tool, ToolCall, ToolCallId,
    ToolCallStatus, ToolReport, Tools,
};
use grov_domain::Embedding;
use grov_redact::{Redacted, Redactor};
use serde_json::json;
use time::macros::datetime;
use time::{Duration, OffsetDateTime};

/// The time at which the checks begin.
pub const NOW: OffsetDateTime = datetime!(2026-03-01 12:00 UTC);

/// The first page.
pub fn page(limit: u32) -> Page {
    Page { limit, after: None }
}

/// A redacted text.
pub fn text(text: &str) -> Redacted {
    Redactor::shared().text(text)
}

/// Stores a project.
pub async fn project(store: &dyn AgentStore) -> ProjectId {
    project_at(store, "Website", NOW).await
}

/// Stores a project that was created at a time.
pub async fn project_at(store: &dyn AgentStore, name: &str, created_at: OffsetDateTime) -> ProjectId {
    let project = Project {
        id: ProjectId::fresh(),
        name: name.to_owned(),
        role_statement: "You look after the website.".to_owned(),
        created_at,
    };
    store.create_project(&Redacted::of(&project)).await.unwrap();
    project.id
}

/// A document whose chunks have a heading path and a text each. Its hash is made of them.
pub fn document(
    project: ProjectId,
    title: &str,
    category: Category,
    chunks: &[(&[&str], &str)],
) -> NewDocument {
    let mut start = 0;
    let mut sha256 = String::new();
    let new_chunk = |(heading_path, content): &(&[&str], &str)| {
        let end = start + u64::try_from(content.len()).unwrap();
        let chunk = NewChunk {
            heading_path: heading_path.iter().map(|heading| text(heading)).collect(),
            text: text(content),
            range: start..end,
        };
        sha256.push_str(&format!("{heading_path:?}{content:?}"));
        start = end;
        chunk
    };
    let chunks = chunks.iter().map(new_chunk).collect();
    NewDocument {
        project,
        title: text(title),
        category,
        content_type: "text/markdown".to_owned(),
        sha256,
        bytes: start,
        chunks,
        now: NOW,
    }
}

/// A message.
pub fn message(thread: ThreadId, role: MessageRole, content: &str) -> Redacted<Message> {
    Redacted::of(&Message {
        id: MessageId::fresh(),
        thread_id: thread,
        role,
        content: content.to_owned(),
        response_json: (role == MessageRole::Assistant)
            .then(|| json!({"decision": "NOOP", "answer": content})),
        created_at: NOW,
    })
}

/// A turn of a new thread: a question and an answer.
pub fn turn(project: ProjectId) -> NewTurn {
    turn_in(project, ThreadId::fresh(), true)
}

/// A turn of a thread.
pub fn turn_in(project: ProjectId, thread: ThreadId, is_new_thread: bool) -> NewTurn {
    NewTurn {
        project,
        thread,
        is_new_thread,
        messages: vec![
            message(thread, MessageRole::User, "When does the shop open?"),
            message(thread, MessageRole::Assistant, "At nine."),
        ],
        tool_calls: Vec::new(),
        memory_items: Vec::new(),
        tools: Redacted::of(&Tools(vec![tool("calendar.read")])),
        summary: None,
        events: Vec::new(),
        replay: None,
        now: NOW,
    }
}

/// A tool.
pub fn tool(name: &str) -> Tool {
    Tool {
        name: name.to_owned(),
        description: "Reads the calendar.".to_owned(),
        input_schema: json!({"type": "object", "properties": {"day": {"type": "string"}}}),
        requires_approval: false,
        risk: Risk::Low,
    }
}

/// A call that waits for approval.
pub fn call(project: ProjectId, thread: Option<ThreadId>) -> ToolCall {
    ToolCall {
        id: ToolCallId::fresh(),
        project_id: project,
        thread_id: thread,
        name: "mail.send".to_owned(),
        arguments: json!({"to": "team@example.org"}),
        status: ToolCallStatus::AwaitingApproval,
        requires_approval: true,
        risk: Risk::High,
        reason: "The user asked for it.".to_owned(),
        result: None,
        error: None,
        decided_by: None,
        memory_item_id: None,
        created_at: NOW,
        expires_at: NOW + Duration::hours(24),
    }
}

/// A report about a call.
pub fn report(status: ToolCallStatus) -> Redacted<ToolReport> {
    Redacted::of(&ToolReport {
        status,
        result: None,
        error: None,
        decided_by: Some("anna".to_owned()),
    })
}

/// A memory item.
pub fn item(project: ProjectId, kind: MemoryType, status: MemoryStatus, content: &str) -> MemoryItem {
    MemoryItem {
        id: MemoryItemId::fresh(),
        project_id: project,
        kind,
        status,
        content: content.to_owned(),
        evidence: vec![Evidence {
            kind: EvidenceKind::Message,
            id: "m1".to_owned(),
            quote: content.to_owned(),
        }],
        contradicts: Vec::new(),
        supersedes: None,
        superseded_by: None,
        reason: None,
        expires_at: None,
        created_at: NOW,
        updated_at: NOW,
        decided_by: None,
    }
}

/// Stores a memory item.
pub async fn stored_item(store: &dyn AgentStore, item: &MemoryItem) {
    store.add_item(&Redacted::of(item), None, &[]).await.unwrap();
}

/// A call that proposes an item.
pub fn proposal(item: &MemoryItem) -> ToolCall {
    ToolCall {
        name: PROPOSE_ADD.to_owned(),
        arguments: json!({"type": item.kind.as_str(), "content": item.content}),
        memory_item_id: Some(item.id),
        ..call(item.project_id, None)
    }
}

/// Stores a proposed item with its call. Returns both.
pub async fn stored_proposal(
    store: &dyn AgentStore,
    project: ProjectId,
    content: &str,
) -> (MemoryItem, ToolCall) {
    let item = item(project, MemoryType::Fact, MemoryStatus::Proposed, content);
    let call = proposal(&item);
    store
        .add_item(&Redacted::of(&item), Some(&Redacted::of(&call)), &[])
        .await
        .unwrap();
    (item, call)
}

/// An event.
pub fn event(project: ProjectId, body: &str) -> NewEvent {
    NewEvent {
        id: EventId::fresh(),
        project,
        body: text(body),
    }
}

/// The answer to a request.
pub fn replay(owner: KeyId, key: &str) -> Replay {
    Replay {
        owner,
        key: text(key),
        fingerprint: [7; 32],
        status: 200,
        body: text(r#"{"thread_id":"x"}"#),
    }
}

/// The scope of a search.
pub fn scope(project: ProjectId, filter: &SearchFilter) -> SearchScope<'_> {
    SearchScope {
        project,
        filter,
        limit: 10,
        now: NOW,
    }
}

/// An embedding in a direction of a plane, padded with zeros.
pub fn direction(degrees: f32, dimension: usize) -> Embedding {
    let radians = degrees.to_radians();
    let mut values = vec![0.0; dimension];
    values[0] = radians.cos();
    values[1] = radians.sin();
    Embedding::of(&values).unwrap()
}
