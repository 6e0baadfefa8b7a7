//! What developers' machines share: changes in their order, items under the ids that the machines gave them, finished tasks.

use crate::caller::Caller;
use crate::extract::{Checks, Ids, Json, Parameters};
use crate::gate::authenticate;
use crate::problem::{Code, Problem, ProblemBody};
use crate::service::Service;
use axum::Json as Answer;
use axum::extract::{Path, State};
use grov_agent::{
    Evidence, FeedChange, KeyRole, MemoryItem, MemoryItemId, MemoryStatus, MemoryType, ProjectId, Put,
    SharedRecord,
};
use grov_domain::{SharedKind, Task, TaskId};
use grov_redact::Redacted;
use http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};
use time::OffsetDateTime;
use utoipa::{IntoParams, ToSchema};

/// The longest content in bytes, as for other items.
const MAX_CONTENT: usize = 8 * 1024;
/// The longest task in bytes.
const MAX_TASK: usize = 512 * 1024;
/// The longest id of a task in bytes.
const MAX_TASK_ID: usize = 200;
/// The most changes of an answer.
const MAX_CHANGES: u32 = 500;
/// The longest wait for a change.
const MAX_WAIT: Duration = Duration::from_secs(30);
/// How often a waiting request looks for changes, which other instances may make.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);

/// Which changes are asked for.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct FeedParameters {
    /// Only changes after this revision; all if not given.
    #[param(required = false)]
    after: Option<i64>,
    /// The most changes, 1 to 500; 200 if not given.
    #[param(required = false, minimum = 1, maximum = 500)]
    limit: Option<u32>,
    /// Seconds to wait for a change if there is none, 0 to 30; 0 if not given.
    #[param(required = false, minimum = 0, maximum = 30)]
    wait: Option<u64>,
}

/// The last change of a record.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChangeView {
    /// Its number.
    revision: i64,
    /// `item` or `task`.
    kind: &'static str,
    /// The id of the record.
    id: String,
    /// The item.
    #[serde(skip_serializing_if = "Option::is_none")]
    item: Option<MemoryItem>,
    /// The record of the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    task: Option<Task>,
    /// Whether the record was deleted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    deleted: bool,
}

/// Changes of a project.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FeedAnswer {
    /// The changes, oldest first.
    changes: Vec<ChangeView>,
    /// The newest revision of the project. If it is smaller than the one that a client knows, the service lost data.
    latest: i64,
}

/// An item that was decided on a machine.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct SharedItem {
    /// What it is; not an event or a metric.
    #[serde(rename = "type")]
    kind: MemoryType,
    /// Its state: accepted, done or blocked.
    status: MemoryStatus,
    /// The words.
    content: String,
    /// What it rests on.
    #[serde(default)]
    evidence: Vec<Evidence>,
    /// The item that it replaces.
    #[serde(default)]
    supersedes: Option<MemoryItemId>,
    /// When it disappears from retrieval.
    #[serde(default, with = "time::serde::rfc3339::option")]
    expires_at: Option<OffsetDateTime>,
    /// When it was proposed.
    #[serde(default, with = "time::serde::rfc3339::option")]
    created_at: Option<OffsetDateTime>,
    /// Who decided, as the machine knows it. The name of the key is added.
    #[serde(default)]
    decided_by: Option<String>,
    /// The revision of the item that the machine knows; none if it never saw it.
    #[serde(default)]
    base_revision: Option<i64>,
}

/// A stored item.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SharedItemAnswer {
    /// The item as it is now. It waits as `proposed` if the key may not approve.
    item: MemoryItem,
    /// The revision of its last change.
    revision: i64,
}

/// A stored task.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SharedTaskAnswer {
    /// The id.
    id: String,
    /// The revision of its last change.
    revision: i64,
}

/// Lists the last change of each record, oldest first, and waits for one if wanted. A replica reads it page by page: the next
/// `after` is the last revision of the page.
#[utoipa::path(
    get, path = "/projects/{project}/changes", tag = "sharing", params(("project" = ProjectId, Path), FeedParameters),
    responses((status = 200, body = FeedAnswer), (status = 404, body = ProblemBody), (status = 422, body = ProblemBody))
)]
pub(crate) async fn changes(
    State(service): State<Service>,
    caller: Caller,
    Ids(project): Ids<ProjectId>,
    Parameters(parameters): Parameters<FeedParameters>,
    headers: HeaderMap,
) -> Result<Answer<FeedAnswer>, Problem> {
    let limit = parameters.limit.unwrap_or(200);
    let wait = Duration::from_secs(parameters.wait.unwrap_or(0));
    let mut checks = Checks::default();
    if !(1..=MAX_CHANGES).contains(&limit) {
        checks.add("limit", format!("has to be a number from 1 to {MAX_CHANGES}"));
    }
    if wait > MAX_WAIT {
        checks.add(
            "wait",
            format!("has to be at most {} seconds", MAX_WAIT.as_secs()),
        );
    }
    checks.done()?;
    let project = service.project(&caller, project).await?.id;
    let after = parameters.after.unwrap_or(0).max(0);
    let began = Instant::now();
    let mut stopping = std::pin::pin!(service.must_stop_waiting());
    // A smaller number tells the client that data was lost, which it has to know at once.
    while service.store().latest_revision(project).await? == after && began.elapsed() < wait {
        let pause = LOOK_INTERVAL.min(wait.saturating_sub(began.elapsed()));
        let is_stopping = tokio::select! {
            () = tokio::time::sleep(pause) => false,
            () = &mut stopping => true,
        };
        // A key that was revoked meanwhile gets nothing new.
        authenticate(&service, &headers).await?;
        if is_stopping {
            break;
        }
    }
    let feed = service.store().feed(project, after, limit).await?;
    Ok(Answer(FeedAnswer {
        changes: feed.changes.into_iter().map(view).collect(),
        latest: feed.latest,
    }))
}

fn view(change: FeedChange) -> ChangeView {
    let deleted = change.record.is_none();
    let (item, task) = match change.record {
        Some(SharedRecord::Item(item)) => (Some(*item), None),
        Some(SharedRecord::Task(task)) => (None, Some(*task)),
        None => (None, None),
    };
    ChangeView {
        revision: change.revision,
        kind: change.kind.as_str(),
        id: change.id,
        item,
        task,
        deleted,
    }
}

/// Stores an item under the id that a machine gave it. The same again changes nothing. With a key that may not approve, a new
/// item waits as `proposed`, and an existing one is not changed. If others changed the item since `base_revision`, nothing is
/// stored (409).
#[utoipa::path(
    put, path = "/projects/{project}/memory/{item}", tag = "sharing",
    params(("project" = ProjectId, Path), ("item" = MemoryItemId, Path)), request_body = SharedItem,
    responses(
        (status = 200, body = SharedItemAnswer), (status = 404, body = ProblemBody), (status = 409, body = ProblemBody),
        (status = 422, body = ProblemBody)
    )
)]
pub(crate) async fn put_item(
    State(service): State<Service>,
    caller: Caller,
    Ids((project, id)): Ids<(ProjectId, MemoryItemId)>,
    Json(body): Json<SharedItem>,
) -> Result<Answer<SharedItemAnswer>, Problem> {
    let project = service.project(&caller, project).await?.id;
    let mut checks = Checks::default();
    checks.text("/content", &body.content, MAX_CONTENT);
    if body.kind.is_accepted_at_once() {
        checks.add("/type", "events and metrics are not shared by machines");
    }
    let statuses = [MemoryStatus::Accepted, MemoryStatus::Done, MemoryStatus::Blocked];
    if !statuses.contains(&body.status) {
        checks.add("/status", "has to be accepted, done or blocked");
    }
    checks.done()?;
    let now = service.now();
    // A machine's clock may be wrong, also by years.
    let created_at = body.created_at.filter(|created| *created <= now).unwrap_or(now);
    let may_decide = caller.has(KeyRole::Approver);
    let decided_by = match body
        .decided_by
        .as_deref()
        .map(str::trim)
        .filter(|name| !name.is_empty())
    {
        Some(name) => format!("{name} (key {})", caller.name()),
        None => caller.name().to_owned(),
    };
    let item = MemoryItem {
        id,
        project_id: project,
        kind: body.kind,
        status: if may_decide {
            body.status
        } else {
            MemoryStatus::Proposed
        },
        content: body.content,
        evidence: body.evidence,
        contradicts: Vec::new(),
        supersedes: body.supersedes,
        superseded_by: None,
        expires_at: body.expires_at,
        created_at,
        updated_at: now,
        decided_by: may_decide.then_some(decided_by),
        reason: None,
    };
    if !may_decide && let Some(found) = service.store().item(project, id).await? {
        let revision = body.base_revision.unwrap_or_default();
        return Ok(Answer(SharedItemAnswer {
            item: found,
            revision,
        }));
    }
    match service
        .store()
        .put_item(&Redacted::of(&item), body.base_revision, now)
        .await?
    {
        Put::Stored { revision, item } => {
            (service.parts.on_texts)();
            Ok(Answer(SharedItemAnswer {
                item: *item,
                revision,
            }))
        }
        Put::Conflict => Err(Problem::new(
            Code::Conflict,
            "the item was changed by others since base_revision; read it, decide, and send it again",
        )),
    }
}

/// Deletes an item for good, for example because it holds what must not be kept. Needs the role approver.
#[utoipa::path(
    delete, path = "/projects/{project}/memory/{item}", tag = "sharing",
    params(("project" = ProjectId, Path), ("item" = MemoryItemId, Path)),
    responses((status = 204), (status = 403, body = ProblemBody), (status = 404, body = ProblemBody))
)]
pub(crate) async fn delete_item(
    State(service): State<Service>,
    caller: Caller,
    Ids((project, id)): Ids<(ProjectId, MemoryItemId)>,
) -> Result<StatusCode, Problem> {
    let project = service.project(&caller, project).await?.id;
    caller.needs(KeyRole::Approver)?;
    delete(&service, project, SharedKind::Item, &id.to_string()).await
}

/// Stores the record of a finished task, or replaces it.
#[utoipa::path(
    put, path = "/projects/{project}/tasks/{task}", tag = "sharing",
    params(("project" = ProjectId, Path), ("task" = String, Path)), request_body = Object,
    responses(
        (status = 200, body = SharedTaskAnswer), (status = 404, body = ProblemBody), (status = 422, body = ProblemBody)
    )
)]
pub(crate) async fn put_task(
    State(service): State<Service>,
    caller: Caller,
    Path((project, id)): Path<(ProjectId, String)>,
    Json(task): Json<Task>,
) -> Result<Answer<SharedTaskAnswer>, Problem> {
    let project = service.project(&caller, project).await?.id;
    let mut checks = Checks::default();
    checks.text("/id", &id, MAX_TASK_ID);
    if task.id.as_str() != id {
        checks.add("/id", "is not the id in the path");
    }
    let is_long = serde_json::to_vec(&task).is_ok_and(|json| json.len() > MAX_TASK);
    if is_long {
        checks.add("", format!("is longer than {MAX_TASK} bytes"));
    }
    checks.done()?;
    let task = Task {
        // Paths of a machine are nobody else's business.
        project_path: String::new(),
        client_session_id: None,
        session_id: None,
        parent_session_id: None,
        id: TaskId::new(id),
        ..task
    };
    let id = task.id.to_string();
    let revision = service.store().put_task(project, &Redacted::of(&task)).await?;
    Ok(Answer(SharedTaskAnswer { id, revision }))
}

/// Deletes the record of a task for good.
#[utoipa::path(
    delete, path = "/projects/{project}/tasks/{task}", tag = "sharing",
    params(("project" = ProjectId, Path), ("task" = String, Path)),
    responses((status = 204), (status = 404, body = ProblemBody))
)]
pub(crate) async fn delete_task(
    State(service): State<Service>,
    caller: Caller,
    Path((project, id)): Path<(ProjectId, String)>,
) -> Result<StatusCode, Problem> {
    let project = service.project(&caller, project).await?.id;
    delete(&service, project, SharedKind::Task, &id).await
}

async fn delete(
    service: &Service,
    project: ProjectId,
    kind: SharedKind,
    id: &str,
) -> Result<StatusCode, Problem> {
    match service.store().delete_shared(project, kind, id).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Problem::not_found(kind.as_str())),
    }
}
