//! Tool calls: lists and decisions.

use crate::caller::Caller;
use crate::extract::{Checks, Ids, Json, Listing, PageParameters, Parameters};
use crate::problem::{Problem, ProblemBody};
use crate::service::Service;
use axum::Json as Answer;
use axum::extract::State;
use grov_agent::{
    KeyRole, NewEvent, ProjectId, Reported, ToolCall, ToolCallFilter, ToolCallId, ToolCallStatus, ToolReport,
};
use grov_redact::Redacted;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use utoipa::{IntoParams, ToSchema};

/// The longest reason in bytes.
pub(super) const MAX_REASON: usize = 8 * 1024;

/// Selects tool calls.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct CallParameters {
    /// Only this project.
    project_id: Option<ProjectId>,
    /// Only this state.
    status: Option<ToolCallStatus>,
}

/// A decision.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct DecisionBody {
    /// Why.
    reason: Option<String>,
}

/// Lists tool calls, newest first.
#[utoipa::path(
    get, path = "/tool_calls", tag = "tool calls", params(CallParameters, PageParameters),
    responses((status = 200, body = Listing<ToolCall>), (status = 404, body = ProblemBody))
)]
pub(crate) async fn list(
    State(service): State<Service>,
    caller: Caller,
    Parameters(parameters): Parameters<CallParameters>,
    Parameters(page): Parameters<PageParameters>,
) -> Result<Answer<Listing<ToolCall>>, Problem> {
    let page = page.page()?;
    let projects = match parameters.project_id {
        Some(project) => vec![service.project(&caller, project).await?.id],
        None => caller.projects().to_vec(),
    };
    let filter = ToolCallFilter {
        projects,
        status: parameters.status,
    };
    let listed = service.store().tool_calls(&filter, &page, service.now()).await;
    Listing::of(listed, page.after.is_some())
}

/// Shows a tool call.
#[utoipa::path(
    get, path = "/tool_calls/{call}", tag = "tool calls", params(("call" = ToolCallId, Path)),
    responses((status = 200, body = ToolCall), (status = 404, body = ProblemBody))
)]
pub(crate) async fn show(
    State(service): State<Service>,
    caller: Caller,
    Ids(id): Ids<ToolCallId>,
) -> Result<Answer<ToolCall>, Problem> {
    call(&service, &caller, id).await.map(Answer)
}

/// Approves a tool call that awaits approval. Needs the role approver.
#[utoipa::path(
    post, path = "/tool_calls/{call}/approve", tag = "tool calls", params(("call" = ToolCallId, Path)),
    request_body = DecisionBody,
    responses(
        (status = 200, body = ToolCall), (status = 403, body = ProblemBody), (status = 404, body = ProblemBody),
        (status = 409, body = ProblemBody)
    )
)]
pub(crate) async fn approve(
    State(service): State<Service>,
    caller: Caller,
    Ids(id): Ids<ToolCallId>,
    Json(body): Json<DecisionBody>,
) -> Result<Answer<ToolCall>, Problem> {
    decide(&service, &caller, id, ToolCallStatus::Approved, body).await
}

/// Rejects a tool call that awaits approval. Needs the role approver.
#[utoipa::path(
    post, path = "/tool_calls/{call}/reject", tag = "tool calls", params(("call" = ToolCallId, Path)),
    request_body = DecisionBody,
    responses(
        (status = 200, body = ToolCall), (status = 403, body = ProblemBody), (status = 404, body = ProblemBody),
        (status = 409, body = ProblemBody)
    )
)]
pub(crate) async fn reject(
    State(service): State<Service>,
    caller: Caller,
    Ids(id): Ids<ToolCallId>,
    Json(body): Json<DecisionBody>,
) -> Result<Answer<ToolCall>, Problem> {
    decide(&service, &caller, id, ToolCallStatus::Rejected, body).await
}

async fn decide(
    service: &Service,
    caller: &Caller,
    id: ToolCallId,
    status: ToolCallStatus,
    body: DecisionBody,
) -> Result<Answer<ToolCall>, Problem> {
    let call = call(service, caller, id).await?;
    caller.needs(KeyRole::Approver)?;
    let mut checks = Checks::default();
    checks.optional_text("/reason", body.reason.as_deref().unwrap_or_default(), MAX_REASON);
    checks.done()?;
    let report = ToolReport {
        status,
        result: None,
        error: body.reason.filter(|reason| !reason.trim().is_empty()),
        decided_by: Some(caller.name().to_owned()),
    };
    let mut hash = Sha256::new();
    hash.update("decision\0");
    hash.update(status.as_str());
    hash.update([0]);
    hash.update(caller.id().to_string());
    hash.update(report.error.as_deref().unwrap_or_default());
    let reported = apply(service, &call, &report, &hash.finalize().into()).await?;
    Ok(Answer(reported.call))
}

/// Stores a report about a call, and wakes who waits for what follows from it.
pub(super) async fn apply(
    service: &Service,
    call: &ToolCall,
    report: &ToolReport,
    fingerprint: &[u8; 32],
) -> Result<Reported, Problem> {
    let now = service.now();
    let report = Redacted::of(report);
    let mut events = Vec::new();
    if service.parts.has_webhook && report.status == ToolCallStatus::Approved {
        events.extend(approval_event(call, &report, now));
    }
    let reported = service
        .store()
        .report(call.id, &report, fingerprint, &events, now)
        .await?;
    if !reported.is_repeat {
        if call.memory_item_id.is_some() {
            (service.parts.on_texts)();
        }
        if !events.is_empty() {
            (service.parts.on_events)();
        }
    }
    Ok(reported)
}

/// The event of an approved call. `None` if the report will be refused, or a decision about memory: nobody executes that.
fn approval_event(call: &ToolCall, report: &ToolReport, now: time::OffsetDateTime) -> Option<NewEvent> {
    let mut approved = call.clone();
    approved.report(report, now).ok()?;
    match call.memory_item_id {
        None => grov_agent::tool_event(&Redacted::of(&approved)),
        Some(_) => None,
    }
}

/// Returns a call that the caller may see.
pub(super) async fn call(service: &Service, caller: &Caller, id: ToolCallId) -> Result<ToolCall, Problem> {
    let call = service.store().tool_call(id, service.now()).await?;
    let call = call.ok_or_else(|| Problem::not_found("tool call"))?;
    caller.sees(call.project_id, "tool call")?;
    Ok(call)
}
