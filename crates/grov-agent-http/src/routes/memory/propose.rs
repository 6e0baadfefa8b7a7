//! New memory items.

use super::{MAX_CONTENT, change_item, item};
use crate::caller::Caller;
use crate::extract::{Checks, Ids, Json};
use crate::once::Once;
use crate::problem::{Code, Problem, ProblemBody};
use crate::service::Service;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json as Answer};
use grov_agent::{
    AgentStoreError, Evidence, KeyRole, MemoryChange, MemoryItem, MemoryItemId, MemoryStatus, MemoryType,
    ProjectId, Proposal, ProposeFailed,
};
use http::StatusCode;
use serde::Deserialize;
use time::Duration;
use utoipa::ToSchema;

/// The most pieces of evidence.
const MAX_EVIDENCE: usize = 20;
/// The longest quote in bytes.
const MAX_QUOTE: usize = 4 * 1024;

/// A proposal.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct NewItem {
    /// What it is. Events and metrics are accepted at once; all others wait for a decision.
    #[serde(rename = "type")]
    kind: MemoryType,
    /// The words.
    content: String,
    /// What it rests on.
    #[serde(default)]
    evidence: Vec<Evidence>,
    /// How long it lives, from a minute to a year. Seven days for a metric if not given, everything else for ever.
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

/// A proposal without evidence.
pub(super) fn plain(kind: MemoryType, content: String) -> Proposal {
    Proposal {
        kind,
        content,
        evidence: Vec::new(),
        ttl: None,
        supersedes: None,
    }
}

/// Proposes a memory item. Needs the role agent.
#[utoipa::path(
    post, path = "/projects/{project}/memory", tag = "memory", params(("project" = ProjectId, Path)),
    request_body = NewItem,
    responses(
        (status = 201, body = MemoryItem), (status = 404, body = ProblemBody), (status = 422, body = ProblemBody)
    )
)]
pub(crate) async fn propose(
    State(service): State<Service>,
    caller: Caller,
    Ids(project): Ids<ProjectId>,
    once: Option<Extension<Once>>,
    Json(body): Json<NewItem>,
) -> Result<Response, Problem> {
    check(&body)?;
    let proposal = Proposal {
        kind: body.kind,
        content: body.content,
        evidence: body.evidence,
        ttl: body.ttl_seconds.map(Duration::seconds),
        supersedes: body.supersedes,
    };
    let once = once.as_ref().map(|Extension(once)| once);
    let item = create(&service, &caller, project, proposal, once).await?;
    Ok((StatusCode::CREATED, Answer(item)).into_response())
}

fn check(body: &NewItem) -> Result<(), Problem> {
    let mut checks = Checks::default();
    checks.text("/content", &body.content, MAX_CONTENT);
    if body.evidence.len() > MAX_EVIDENCE {
        checks.add("/evidence", format!("has more than {MAX_EVIDENCE} entries"));
    }
    for (index, evidence) in body.evidence.iter().enumerate() {
        checks.text(&format!("/evidence/{index}/id"), &evidence.id, 200);
        checks.text(&format!("/evidence/{index}/quote"), &evidence.quote, MAX_QUOTE);
    }
    checks.done()
}

/// Proposes an item.
pub(super) async fn create(
    service: &Service,
    caller: &Caller,
    project: ProjectId,
    proposal: Proposal,
    once: Option<&Once>,
) -> Result<MemoryItem, Problem> {
    let project = service.project(caller, project).await?.id;
    caller.needs(KeyRole::Agent)?;
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
    let has_webhook = service.parts.has_webhook;
    let proposed =
        grov_agent::propose(service.store(), project, id, proposal, has_webhook, service.now()).await;
    let item = match proposed {
        Ok(proposed) => proposed.item,
        Err(ProposeFailed::Invalid { path, message }) => return Err(Problem::invalid(path, message)),
        Err(ProposeFailed::Store(AgentStoreError::NotFound("memory item"))) => {
            return Err(Problem::invalid("/supersedes", "there is no such memory item"));
        }
        Err(ProposeFailed::Store(error)) => return Err(error.into()),
        Err(known) => return Err(Problem::new(Code::Conflict, known.to_string())),
    };
    (service.parts.on_texts)();
    (service.parts.on_events)();
    Ok(item)
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
    let once = once.as_ref().map(|Extension(once)| once);
    let change = async |id, change| change_item(&service, &caller, (project, id), change, once).await;
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
            let mut new = plain(body.kind.unwrap_or(old.kind), content);
            if new.kind.is_accepted_at_once() {
                return Err(Problem::invalid("/type", "an event or a metric replaces nothing"));
            }
            new.supersedes = Some(id);
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
