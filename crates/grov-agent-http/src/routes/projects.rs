//! Projects.

use crate::caller::Caller;
use crate::extract::{Checks, Ids, Json, Listing, PageParameters, Parameters};
use crate::once::Once;
use crate::problem::{Problem, ProblemBody};
use crate::service::Service;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json as Answer};
use grov_agent::{KeyRole, Project, ProjectId};
use grov_redact::{Redacted, Redactor};
use http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

/// The longest name in bytes.
const MAX_NAME: usize = 200;
/// The longest role statement in bytes.
const MAX_ROLE_STATEMENT: usize = 16 * 1024;

/// A new project.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct NewProject {
    /// The name that people see, at most 200 bytes.
    name: String,
    /// What the agent of this project is: the start of its system prompt. At most 16 KiB.
    role_statement: String,
}

/// A change of a project.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct ProjectChange {
    /// The new name.
    name: Option<String>,
    /// The new role statement.
    role_statement: Option<String>,
}

fn check(name: &str, role_statement: &str) -> Result<(), Problem> {
    let mut checks = Checks::default();
    checks.text("/name", name, MAX_NAME);
    checks.optional_text("/role_statement", role_statement, MAX_ROLE_STATEMENT);
    checks.done()
}

/// Creates a project. Needs the role admin.
#[utoipa::path(
    post, path = "/projects", tag = "projects", request_body = NewProject,
    responses((status = 201, body = Project), (status = 403, body = ProblemBody), (status = 422, body = ProblemBody))
)]
pub(crate) async fn create(
    State(service): State<Service>,
    caller: Caller,
    once: Option<Extension<Once>>,
    Json(new): Json<NewProject>,
) -> Result<Response, Problem> {
    caller.needs(KeyRole::Admin)?;
    caller.needs_all_projects()?;
    check(&new.name, &new.role_statement)?;
    // The same request again creates the same project, also if the process was killed before it answered.
    let id = match &once {
        Some(Extension(once)) => ProjectId::of(once.created_id()),
        None => ProjectId::fresh(),
    };
    let existing = match once {
        Some(_) => service.store().project(id).await?,
        None => None,
    };
    let project = match existing {
        Some(project) => project,
        None => {
            let project = Redacted::of(&Project {
                id,
                name: new.name.trim().to_owned(),
                role_statement: new.role_statement,
                created_at: service.now(),
            });
            service.store().create_project(&project).await?;
            project.into_inner()
        }
    };
    Ok((StatusCode::CREATED, Answer(project)).into_response())
}

/// Lists the projects that the key may see.
#[utoipa::path(
    get, path = "/projects", tag = "projects", params(PageParameters),
    responses((status = 200, body = Listing<Project>))
)]
pub(crate) async fn list(
    State(service): State<Service>,
    caller: Caller,
    Parameters(page): Parameters<PageParameters>,
) -> Result<Answer<Listing<Project>>, Problem> {
    let page = page.page()?;
    let listed = service.store().projects(caller.projects(), &page).await;
    Listing::of(listed, page.after.is_some())
}

/// Shows a project.
#[utoipa::path(
    get, path = "/projects/{project}", tag = "projects", params(("project" = ProjectId, Path)),
    responses((status = 200, body = Project), (status = 404, body = ProblemBody))
)]
pub(crate) async fn show(
    State(service): State<Service>,
    caller: Caller,
    Ids(id): Ids<ProjectId>,
) -> Result<Answer<Project>, Problem> {
    service.project(&caller, id).await.map(Answer)
}

/// Changes name or role statement. Needs the role admin.
#[utoipa::path(
    patch, path = "/projects/{project}", tag = "projects", params(("project" = ProjectId, Path)),
    request_body = ProjectChange,
    responses((status = 200, body = Project), (status = 404, body = ProblemBody), (status = 422, body = ProblemBody))
)]
pub(crate) async fn update(
    State(service): State<Service>,
    caller: Caller,
    Ids(id): Ids<ProjectId>,
    Json(change): Json<ProjectChange>,
) -> Result<Answer<Project>, Problem> {
    service.project(&caller, id).await?;
    caller.needs(KeyRole::Admin)?;
    let name = change.name.as_deref().map(str::trim);
    check(
        name.unwrap_or("-"),
        change.role_statement.as_deref().unwrap_or_default(),
    )?;
    let name = name.map(|name| Redactor::shared().text(name));
    let role_statement = change.role_statement.map(|text| Redactor::shared().text(&text));
    let store = service.store();
    let changed = store
        .change_project(id, name.as_ref(), role_statement.as_ref())
        .await?;
    Ok(Answer(changed))
}

/// Deletes a project with its documents, threads, tool calls and memory. Needs the role admin.
#[utoipa::path(
    delete, path = "/projects/{project}", tag = "projects", params(("project" = ProjectId, Path)),
    responses((status = 204), (status = 404, body = ProblemBody))
)]
pub(crate) async fn remove(
    State(service): State<Service>,
    caller: Caller,
    Ids(id): Ids<ProjectId>,
) -> Result<StatusCode, Problem> {
    caller.sees(id, "project")?;
    caller.needs(KeyRole::Admin)?;
    match service.store().delete_project(id).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Problem::not_found("project")),
    }
}
