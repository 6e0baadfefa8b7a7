//! Threads and their messages.

use crate::caller::Caller;
use crate::extract::{Ids, Listing, PageParameters, Parameters};
use crate::problem::{Problem, ProblemBody};
use crate::service::Service;
use axum::Json as Answer;
use axum::extract::State;
use grov_agent::{KeyRole, Message, ProjectId, Thread, ThreadId};
use http::StatusCode;
use serde::Deserialize;
use utoipa::IntoParams;

/// Selects threads.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ThreadParameters {
    /// The project.
    project_id: ProjectId,
}

/// Lists the threads of a project, newest first.
#[utoipa::path(
    get, path = "/threads", tag = "threads", params(ThreadParameters, PageParameters),
    responses((status = 200, body = Listing<Thread>), (status = 404, body = ProblemBody))
)]
pub(crate) async fn list(
    State(service): State<Service>,
    caller: Caller,
    Parameters(parameters): Parameters<ThreadParameters>,
    Parameters(page): Parameters<PageParameters>,
) -> Result<Answer<Listing<Thread>>, Problem> {
    let page = page.page()?;
    let project = service.project(&caller, parameters.project_id).await?;
    let listed = service.store().threads(project.id, &page).await;
    Listing::of(listed, page.after.is_some())
}

/// Lists the messages of a thread, oldest first.
#[utoipa::path(
    get, path = "/threads/{thread}/messages", tag = "threads", params(("thread" = ThreadId, Path), PageParameters),
    responses((status = 200, body = Listing<Message>), (status = 404, body = ProblemBody))
)]
pub(crate) async fn messages(
    State(service): State<Service>,
    caller: Caller,
    Ids(id): Ids<ThreadId>,
    Parameters(page): Parameters<PageParameters>,
) -> Result<Answer<Listing<Message>>, Problem> {
    let page = page.page()?;
    thread(&service, &caller, id).await?;
    let listed = service.store().messages(id, &page).await;
    Listing::of(listed, page.after.is_some())
}

/// Deletes a thread with its messages and tool calls. Needs the role approver, because the decisions about the calls go too.
#[utoipa::path(
    delete, path = "/threads/{thread}", tag = "threads", params(("thread" = ThreadId, Path)),
    responses((status = 204), (status = 404, body = ProblemBody))
)]
pub(crate) async fn remove(
    State(service): State<Service>,
    caller: Caller,
    Ids(id): Ids<ThreadId>,
) -> Result<StatusCode, Problem> {
    thread(&service, &caller, id).await?;
    caller.needs(KeyRole::Approver)?;
    match service.store().delete_thread(id).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Problem::not_found("thread")),
    }
}

/// Returns a thread that the caller may see.
async fn thread(service: &Service, caller: &Caller, id: ThreadId) -> Result<Thread, Problem> {
    let thread = service.store().thread(id).await?;
    let thread = thread.ok_or_else(|| Problem::not_found("thread"))?;
    caller.sees(thread.project_id, "thread")?;
    Ok(thread)
}
