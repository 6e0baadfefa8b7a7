//! New memory items.

use super::{MAX_CONTENT, item};
use crate::caller::Caller;
use crate::extract::{Checks, Ids, Json};
use crate::once::Once;
use crate::problem::{Problem, ProblemBody};
use crate::service::Service;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json as Answer};
use grov_agent::{
    CALL_LIFETIME, EventId, Evidence, KeyRole, METRIC_LIFETIME, MemoryChange, MemoryItem, MemoryItemId,
    MemoryStatus, MemoryType, NewEvent, PROPOSE_ADD, ProjectId, Risk, ToolCall, ToolCallId, ToolCallStatus,
};
use grov_redact::{Redacted, Redactor};
use http::StatusCode;
use serde::Deserialize;
use serde_json::json;
use time::{Duration, OffsetDateTime};
use utoipa::ToSchema;
use uuid::Uuid;

/// The most pieces of evidence.
const MAX_EVIDENCE: usize = 20;
/// The longest quote in bytes.
const MAX_QUOTE: usize = 4 * 1024;
/// The longest lifetime in seconds: ten years.
const MAX_LIFETIME: i64 = 10 * 366 * 24 * 3600;

/// A proposal.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct Proposal {
    /// What it is. Events and metrics are accepted at once; all others wait for a decision.
    #[serde(rename = "type")]
    kind: MemoryType,
    /// The words.
    content: String,
    /// What it rests on.
    #[serde(default)]
    evidence: Vec<Evidence>,
    /// How long it lives. Seven days for a metric if not given.
    ttl_seconds: Option<i64>,
    /// The item that it replaces once it is accepted.
    supersedes: Option<MemoryItemId>,
}

/// What replaces an item: either `content` or `by`.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct Replacement {
    /// The words of the new item.
    content: Option<String>,
    /// The type of the new item; that of the old one if not given.
    #[serde(rename = "type")]
    kind: Option<MemoryType>,
    /// An item that exists.
    by: Option<MemoryItemId>,
}

/// What is needed to create an item.
pub(super) struct NewItem {
    kind: MemoryType,
    content: String,
    evidence: Vec<Evidence>,
    lifetime: Option<Duration>,
    supersedes: Option<MemoryItemId>,
}

impl NewItem {
    pub(super) fn plain(kind: MemoryType, content: String) -> Self {
        Self {
            kind,
            content,
            evidence: Vec::new(),
            lifetime: None,
            supersedes: None,
        }
    }
}

/// Proposes a memory item. Needs the role agent.
#[utoipa::path(
    post, path = "/projects/{project}/memory", tag = "memory", params(("project" = ProjectId, Path)),
    request_body = Proposal,
    responses(
        (status = 201, body = MemoryItem), (status = 404, body = ProblemBody), (status = 422, body = ProblemBody)
    )
)]
pub(crate) async fn propose(
    State(service): State<Service>,
    caller: Caller,
    Ids(project): Ids<ProjectId>,
    once: Option<Extension<Once>>,
    Json(body): Json<Proposal>,
) -> Result<Response, Problem> {
    check(&body)?;
    let new = NewItem {
        kind: body.kind,
        content: body.content,
        evidence: body.evidence,
        lifetime: body.ttl_seconds.map(Duration::seconds),
        supersedes: body.supersedes,
    };
    let once = once.as_ref().map(|Extension(once)| once);
    let item = create(&service, &caller, project, new, once).await?;
    Ok((StatusCode::CREATED, Answer(item)).into_response())
}

fn check(body: &Proposal) -> Result<(), Problem> {
    let mut checks = Checks::default();
    checks.text("/content", &body.content, MAX_CONTENT);
    if body.evidence.len() > MAX_EVIDENCE {
        checks.add("/evidence", format!("has more than {MAX_EVIDENCE} entries"));
    }
    for (index, evidence) in body.evidence.iter().enumerate() {
        checks.text(&format!("/evidence/{index}/id"), &evidence.id, 200);
        checks.text(&format!("/evidence/{index}/quote"), &evidence.quote, MAX_QUOTE);
    }
    if body
        .ttl_seconds
        .is_some_and(|seconds| !(1..=MAX_LIFETIME).contains(&seconds))
    {
        checks.add(
            "/ttl_seconds",
            format!("has to be a number from 1 to {MAX_LIFETIME}"),
        );
    }
    checks.done()
}

/// Stores an item, and the call whose decision decides it.
pub(super) async fn create(
    service: &Service,
    caller: &Caller,
    project: ProjectId,
    new: NewItem,
    once: Option<&Once>,
) -> Result<MemoryItem, Problem> {
    let project = service.project(caller, project).await?.id;
    caller.needs(KeyRole::Agent)?;
    if let Some(old) = new.supersedes
        && service.store().item(project, old).await?.is_none()
    {
        return Err(Problem::invalid("/supersedes", "there is no such memory item"));
    }
    // The same request again creates the same item, also if the process was killed before it answered.
    let id = match once {
        Some(once) => MemoryItemId::of(once.created_id()),
        None => MemoryItemId::fresh(),
    };
    if once.is_some()
        && let Some(item) = service.store().item(project, id).await?
    {
        return Ok(item);
    }
    let now = service.now();
    let item = Redacted::of(&memory_item(id, project, new, now));
    let call = (item.status == MemoryStatus::Proposed).then(|| Redacted::of(&deciding_call(&item, now)));
    let mut events = Vec::new();
    if service.parts.has_webhook && item.status == MemoryStatus::Proposed {
        let id = EventId::fresh();
        let body = json!({"event": "memory.proposed", "id": id, "memory_item": &*item, "tool_call": call.as_deref()});
        events.push(NewEvent {
            id,
            project,
            body: Redactor::shared().json(&body.to_string()),
        });
    }
    service.store().add_item(&item, call.as_ref(), &events).await?;
    (service.parts.on_texts)();
    if !events.is_empty() {
        (service.parts.on_events)();
    }
    Ok(item.into_inner())
}

fn memory_item(id: MemoryItemId, project: ProjectId, new: NewItem, now: OffsetDateTime) -> MemoryItem {
    let lifetime = match new.kind {
        MemoryType::Metric => Some(new.lifetime.unwrap_or(METRIC_LIFETIME)),
        _ => new.lifetime,
    };
    MemoryItem {
        id,
        project_id: project,
        kind: new.kind,
        status: match new.kind {
            MemoryType::Event => MemoryStatus::Active,
            MemoryType::Metric => MemoryStatus::Accepted,
            _ => MemoryStatus::Proposed,
        },
        content: new.content,
        evidence: new.evidence,
        contradicts: Vec::new(),
        supersedes: new.supersedes,
        superseded_by: None,
        expires_at: lifetime.map(|lifetime| now.saturating_add(lifetime)),
        created_at: now,
        updated_at: now,
        decided_by: None,
    }
}

/// The call whose approval or rejection decides a proposal.
fn deciding_call(item: &MemoryItem, now: OffsetDateTime) -> ToolCall {
    ToolCall {
        id: ToolCallId::of(Uuid::now_v7()),
        project_id: item.project_id,
        thread_id: None,
        name: PROPOSE_ADD.to_owned(),
        arguments: json!({"type": item.kind, "content": item.content}),
        status: ToolCallStatus::AwaitingApproval,
        requires_approval: true,
        risk: Risk::Low,
        reason: "proposed through the API".to_owned(),
        result: None,
        error: None,
        decided_by: None,
        memory_item_id: Some(item.id),
        created_at: now,
        expires_at: now.saturating_add(CALL_LIFETIME),
    }
}

/// Replaces an item: by a new one with other words, which is answered, or by one that exists, and then the replaced item is
/// answered. Nothing is overwritten. Needs the role approver.
#[utoipa::path(
    post, path = "/projects/{project}/memory/{item}/supersede", tag = "memory",
    params(("project" = ProjectId, Path), ("item" = MemoryItemId, Path)), request_body = Replacement,
    responses(
        (status = 200, body = MemoryItem), (status = 403, body = ProblemBody), (status = 404, body = ProblemBody),
        (status = 409, body = ProblemBody), (status = 422, body = ProblemBody)
    )
)]
pub(crate) async fn supersede(
    State(service): State<Service>,
    caller: Caller,
    Ids((project, id)): Ids<(ProjectId, MemoryItemId)>,
    once: Option<Extension<Once>>,
    Json(body): Json<Replacement>,
) -> Result<Answer<MemoryItem>, Problem> {
    let old = item(&service, &caller, project, id).await?;
    caller.needs(KeyRole::Approver)?;
    let decided_by = Redactor::shared().text(caller.name());
    let change = async |id, change: MemoryChange| {
        let change = Redacted::of(&change);
        let store = service.store();
        store
            .change_item(project, id, &change, &decided_by, service.now())
            .await
    };
    let changed = match (body.content, body.by) {
        (None, Some(by)) if by != id => {
            let replacing = service.store().item(project, by).await?;
            let replacing =
                replacing.ok_or_else(|| Problem::invalid("/by", "there is no such memory item"))?;
            if !replacing.is_in_force(service.now()) {
                return Err(Problem::invalid("/by", "is not in force; approve it first"));
            }
            change(id, MemoryChange::SupersededBy(by)).await?
        }
        (Some(content), None) => {
            let mut checks = Checks::default();
            checks.text("/content", &content, MAX_CONTENT);
            checks.done()?;
            // Refused here, so that no proposal is left behind that cannot be approved.
            old.clone()
                .change(
                    &MemoryChange::SupersededBy(MemoryItemId::fresh()),
                    "",
                    service.now(),
                )
                .map_err(grov_agent::AgentStoreError::from)?;
            let mut new = NewItem::plain(body.kind.unwrap_or(old.kind), content);
            if new.kind.is_accepted_at_once() {
                return Err(Problem::invalid("/type", "an event or a metric replaces nothing"));
            }
            new.supersedes = Some(id);
            let once = once.as_ref().map(|Extension(once)| once);
            let proposed = create(&service, &caller, project, new, once).await?;
            match proposed.status {
                MemoryStatus::Proposed => {
                    change(proposed.id, MemoryChange::Approve { content: None }).await?
                }
                _ => proposed,
            }
        }
        _ => {
            return Err(Problem::invalid(
                "",
                "either content or by (another item) is needed",
            ));
        }
    };
    (service.parts.on_texts)();
    Ok(Answer(changed))
}
