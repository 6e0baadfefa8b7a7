//! Governed memory, and its older forms: preferences and lessons.

pub(super) mod legacy;
pub(super) mod propose;

pub(crate) use legacy::{add_lesson, add_preference, lessons, preferences};
pub(crate) use propose::{propose, supersede};

use super::search::names;
use super::tool_calls::MAX_REASON;
use crate::caller::Caller;
use crate::extract::{Checks, Ids, Json, Listing, PageParameters, Parameters};
use crate::gate::AlreadyStored;
use crate::once::Once;
use crate::problem::{Problem, ProblemBody};
use crate::service::Service;
use axum::extract::State;
use axum::{Extension, Json as Answer};
use grov_agent::{
    AgentStoreError, KeyRole, MemoryChange, MemoryFilter, MemoryItem, MemoryItemId, MemoryStatus, MemoryType,
    ProjectId,
};
use grov_redact::{Redacted, Redactor};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use utoipa::{IntoParams, ToSchema};

/// The longest content in bytes.
const MAX_CONTENT: usize = 8 * 1024;

/// Selects memory items.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct MemoryParameters {
    /// Only these types, separated by commas.
    #[serde(rename = "type")]
    kind: Option<String>,
    /// Only these states, separated by commas.
    status: Option<String>,
}

/// A change of an item.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct ItemChange {
    /// The new words.
    content: Option<String>,
    /// The new end of its life.
    #[serde(default, with = "time::serde::rfc3339::option")]
    expires_at: Option<OffsetDateTime>,
}

/// An approval.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct Approval {
    /// The words to accept instead of the proposed ones.
    content: Option<String>,
}

/// A decision.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct ItemDecision {
    /// Why. It is kept as the item's `reason`.
    reason: Option<String>,
}

/// What the agent has to know in every chat, whatever is asked.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SituationAnswer {
    /// Commitments that are not done, newest first.
    open_loops: Vec<MemoryItem>,
    /// The last five events, newest first.
    recent_events: Vec<MemoryItem>,
    /// Ideas in force, newest first.
    active_ideas: Vec<MemoryItem>,
    /// Accepted rules, oldest first.
    rules: Vec<MemoryItem>,
}

/// Shows the situational picture of a project.
#[utoipa::path(
    get, path = "/projects/{project}/situation", tag = "memory", params(("project" = ProjectId, Path)),
    responses((status = 200, body = SituationAnswer), (status = 404, body = ProblemBody))
)]
pub(crate) async fn situation(
    State(service): State<Service>,
    caller: Caller,
    Ids(project): Ids<ProjectId>,
) -> Result<Answer<SituationAnswer>, Problem> {
    let project = service.project(&caller, project).await?;
    let situation = service.store().situation(project.id, service.now()).await?;
    Ok(Answer(SituationAnswer {
        open_loops: situation.open_loops,
        recent_events: situation.recent_events,
        active_ideas: situation.active_ideas,
        rules: situation.rules,
    }))
}

/// Lists memory items, newest first.
#[utoipa::path(
    get, path = "/projects/{project}/memory", tag = "memory",
    params(("project" = ProjectId, Path), MemoryParameters, PageParameters),
    responses((status = 200, body = Listing<MemoryItem>), (status = 404, body = ProblemBody))
)]
pub(crate) async fn list(
    State(service): State<Service>,
    caller: Caller,
    Ids(project): Ids<ProjectId>,
    Parameters(parameters): Parameters<MemoryParameters>,
    Parameters(page): Parameters<PageParameters>,
) -> Result<Answer<Listing<MemoryItem>>, Problem> {
    let filter = MemoryFilter {
        types: names(
            "type",
            parameters.kind.as_deref(),
            MemoryType::from_name,
            &MemoryType::ALL.map(MemoryType::as_str),
        )?,
        statuses: names(
            "status",
            parameters.status.as_deref(),
            MemoryStatus::from_name,
            &MemoryStatus::ALL.map(MemoryStatus::as_str),
        )?,
    };
    items(&service, &caller, project, &filter, page).await
}

async fn items(
    service: &Service,
    caller: &Caller,
    project: ProjectId,
    filter: &MemoryFilter,
    page: PageParameters,
) -> Result<Answer<Listing<MemoryItem>>, Problem> {
    let page = page.page()?;
    let project = service.project(caller, project).await?;
    let listed = service.store().items(project.id, filter, &page).await;
    Listing::of(listed, page.after.is_some())
}

/// Shows a memory item.
#[utoipa::path(
    get, path = "/projects/{project}/memory/{item}", tag = "memory",
    params(("project" = ProjectId, Path), ("item" = MemoryItemId, Path)),
    responses((status = 200, body = MemoryItem), (status = 404, body = ProblemBody))
)]
pub(crate) async fn show(
    State(service): State<Service>,
    caller: Caller,
    Ids((project, id)): Ids<(ProjectId, MemoryItemId)>,
) -> Result<Answer<MemoryItem>, Problem> {
    item(&service, &caller, project, id).await.map(Answer)
}

async fn item(
    service: &Service,
    caller: &Caller,
    project: ProjectId,
    id: MemoryItemId,
) -> Result<MemoryItem, Problem> {
    caller.sees(project, "memory item")?;
    let item = service.store().item(project, id).await?;
    item.ok_or_else(|| Problem::not_found("memory item"))
}

/// Changes the words or the lifetime of an item; never of an event. Needs the role approver.
#[utoipa::path(
    patch, path = "/projects/{project}/memory/{item}", tag = "memory",
    params(("project" = ProjectId, Path), ("item" = MemoryItemId, Path)), request_body = ItemChange,
    responses(
        (status = 200, body = MemoryItem), (status = 403, body = ProblemBody), (status = 404, body = ProblemBody),
        (status = 409, body = ProblemBody), (status = 422, body = ProblemBody)
    )
)]
pub(crate) async fn edit(
    State(service): State<Service>,
    caller: Caller,
    Ids((project, id)): Ids<(ProjectId, MemoryItemId)>,
    Json(body): Json<ItemChange>,
) -> Result<Changed, Problem> {
    if body.content.is_none() && body.expires_at.is_none() {
        return Err(Problem::invalid("", "content or expires_at is needed"));
    }
    let change = MemoryChange::Edit {
        content: checked(body.content)?,
        expires_at: body.expires_at,
    };
    changed(&service, &caller, (project, id), change, None).await
}

/// Accepts a proposal, with other words if given. What it supersedes is superseded with it. Needs the role approver.
#[utoipa::path(
    post, path = "/projects/{project}/memory/{item}/approve", tag = "memory",
    params(("project" = ProjectId, Path), ("item" = MemoryItemId, Path)), request_body = Approval,
    responses(
        (status = 200, body = MemoryItem), (status = 403, body = ProblemBody), (status = 404, body = ProblemBody),
        (status = 409, body = ProblemBody)
    )
)]
pub(crate) async fn approve(
    State(service): State<Service>,
    caller: Caller,
    Ids((project, id)): Ids<(ProjectId, MemoryItemId)>,
    once: Option<Extension<Once>>,
    Json(body): Json<Approval>,
) -> Result<Changed, Problem> {
    let change = MemoryChange::Approve {
        content: checked(body.content)?,
    };
    changed(&service, &caller, (project, id), change, once).await
}

/// Declares a handler that makes one change without a body.
macro_rules! plain_change {
    ($(#[$doc:meta])* $name:ident, $path:literal, $change:expr) => {
        $(#[$doc])*
        #[utoipa::path(
            post, path = $path, tag = "memory",
            params(("project" = ProjectId, Path), ("item" = MemoryItemId, Path)),
            responses(
                (status = 200, body = MemoryItem), (status = 403, body = ProblemBody),
                (status = 404, body = ProblemBody), (status = 409, body = ProblemBody)
            )
        )]
        pub(crate) async fn $name(
            State(service): State<Service>,
            caller: Caller,
            Ids(ids): Ids<(ProjectId, MemoryItemId)>,
            once: Option<Extension<Once>>,
        ) -> Result<Changed, Problem> {
            changed(&service, &caller, ids, $change, once).await
        }
    };
}

/// Declares a handler that makes one change with a reason.
macro_rules! change_with_reason {
    ($(#[$doc:meta])* $name:ident, $path:literal, $change:ident) => {
        $(#[$doc])*
        #[utoipa::path(
            post, path = $path, tag = "memory",
            params(("project" = ProjectId, Path), ("item" = MemoryItemId, Path)), request_body = ItemDecision,
            responses(
                (status = 200, body = MemoryItem), (status = 403, body = ProblemBody),
                (status = 404, body = ProblemBody), (status = 409, body = ProblemBody),
                (status = 422, body = ProblemBody)
            )
        )]
        pub(crate) async fn $name(
            State(service): State<Service>,
            caller: Caller,
            Ids(ids): Ids<(ProjectId, MemoryItemId)>,
            once: Option<Extension<Once>>,
            Json(body): Json<ItemDecision>,
        ) -> Result<Changed, Problem> {
            let change = MemoryChange::$change {
                reason: reason(body.reason)?,
            };
            changed(&service, &caller, ids, change, once).await
        }
    };
}

change_with_reason! {
    /// Rejects a proposal. Needs the role approver.
    reject, "/projects/{project}/memory/{item}/reject", Reject
}
plain_change! {
    /// Marks an item as done, such as an open loop. Needs the role approver.
    done, "/projects/{project}/memory/{item}/done", MemoryChange::Done
}
change_with_reason! {
    /// Marks an item as blocked by something else. Needs the role approver.
    block, "/projects/{project}/memory/{item}/block", Block
}
plain_change! {
    /// Takes a blocked item up again. Needs the role approver.
    resume, "/projects/{project}/memory/{item}/resume", MemoryChange::Resume
}

/// A reason without blanks around it; `None` for an empty one.
fn reason(reason: Option<String>) -> Result<Option<String>, Problem> {
    let mut checks = Checks::default();
    checks.optional_text("/reason", reason.as_deref().unwrap_or_default(), MAX_REASON);
    checks.done()?;
    let reason = reason.map(|reason| reason.trim().to_owned());
    Ok(reason.filter(|reason| !reason.is_empty()))
}

fn checked(content: Option<String>) -> Result<Option<String>, Problem> {
    if let Some(content) = &content {
        let mut checks = Checks::default();
        checks.text("/content", content, MAX_CONTENT);
        checks.done()?;
    }
    Ok(content)
}

/// A changed item, whose answer was stored with the change.
type Changed = (Extension<AlreadyStored>, Answer<MemoryItem>);

async fn changed(
    service: &Service,
    caller: &Caller,
    (project, id): (ProjectId, MemoryItemId),
    change: MemoryChange,
    once: Option<Extension<Once>>,
) -> Result<Changed, Problem> {
    item(service, caller, project, id).await?;
    caller.needs(KeyRole::Approver)?;
    let once = once.as_ref().map(|Extension(once)| once);
    let changed = change_item(service, caller, (project, id), change, once).await?;
    (service.parts.on_texts)();
    Ok((Extension(AlreadyStored), Answer(changed)))
}

/// Changes an item, and stores the answer with it.
async fn change_item(
    service: &Service,
    caller: &Caller,
    (project, id): (ProjectId, MemoryItemId),
    change: MemoryChange,
    once: Option<&Once>,
) -> Result<MemoryItem, AgentStoreError> {
    let replay = |item: &MemoryItem| Some(once?.replay(StatusCode::OK, &serde_json::to_string(item).ok()?));
    let change = Redacted::of(&change);
    let decided_by = Redactor::shared().text(caller.name());
    let store = service.store();
    store
        .change_item_once(project, id, &change, &decided_by, &replay, service.now())
        .await
}
