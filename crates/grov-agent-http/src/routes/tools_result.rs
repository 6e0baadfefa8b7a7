//! The callback of whoever executes tool calls.

use super::chat::{self, Start};
use super::tool_calls::{self, MAX_REASON};
use crate::caller::Caller;
use crate::extract::{Checks, is_json, parse};
use crate::once::Once;
use crate::problem::{Code, Problem, ProblemBody};
use crate::service::Service;
use crate::signature::{self, SIGNATURE_HEADER};
use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use grov_agent::{KeyId, KeyRole, Reported, ToolCall, ToolCallId, ToolCallStatus, ToolReport};
use http::{HeaderMap, header};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use utoipa::ToSchema;
use uuid::Uuid;

/// The largest result in bytes, as JSON.
const MAX_RESULT: usize = 1024 * 1024;
/// The longest `decided_by` in bytes.
const MAX_DECIDED_BY: usize = 200;

/// A report about a tool call.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct ResultBody {
    /// The call.
    tool_call_id: ToolCallId,
    /// What happened. `approved` and `rejected` need the role approver.
    status: ResultStatus,
    /// What the tool returned.
    #[schema(value_type = Option<Object>)]
    result: Option<Value>,
    /// What went wrong, or why it was rejected.
    error: Option<String>,
    /// Who decided; the name of the key if not given. If given, the name of the key is added: `boss (key n8n)`.
    decided_by: Option<String>,
    /// Lets the agent go on with the result of a call that ended. A report that is repeated after the call's `expires_at` is
    /// answered without `next` if the continuation is not stored any more.
    #[serde(default, rename = "continue")]
    go_on: bool,
}

/// What happened to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum ResultStatus {
    Approved,
    Rejected,
    Running,
    #[serde(alias = "completed")]
    Succeeded,
    Failed,
}

impl ResultStatus {
    fn status(self) -> ToolCallStatus {
        match self {
            Self::Approved => ToolCallStatus::Approved,
            Self::Rejected => ToolCallStatus::Rejected,
            Self::Running => ToolCallStatus::Running,
            Self::Succeeded => ToolCallStatus::Succeeded,
            Self::Failed => ToolCallStatus::Failed,
        }
    }
}

/// The call after the report.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ResultAnswer {
    tool_call: ToolCall,
    /// With `continue`: the answer of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<super::chat::ChatBodyAnswer>)]
    next: Option<Box<RawValue>>,
}

/// Reports a decision about a tool call, or what happened when it was executed. The same report again changes nothing and is
/// answered the same. Needs the role agent, and for `approved` and `rejected` the role approver.
#[utoipa::path(
    post, path = "/tools/result", tag = "tool calls", request_body = ResultBody,
    params(("X-Grov-Signature" = Option<String>, Header, description = "`t=UNIX,v1=HEX`: HMAC-SHA256 of `t.body` with TOOL_WEBHOOK_SECRET")),
    responses(
        (status = 200, body = ResultAnswer), (status = 401, body = ProblemBody), (status = 403, body = ProblemBody),
        (status = 404, body = ProblemBody), (status = 409, body = ProblemBody), (status = 422, body = ProblemBody),
        (status = 429, body = ProblemBody), (status = 502, body = ProblemBody)
    )
)]
pub(crate) async fn result(
    State(service): State<Service>,
    caller: Caller,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    check_signature(&service, &headers, &body)?;
    if !is_json(&headers) {
        let detail = "the body has to be JSON, with Content-Type: application/json";
        return Err(Problem::new(Code::UnsupportedMediaType, detail));
    }
    let body: ResultBody = parse(&body)?;
    check(&body)?;
    let call = tool_calls::call(&service, &caller, body.tool_call_id).await?;
    let status = body.status.status();
    let is_decision = matches!(status, ToolCallStatus::Approved | ToolCallStatus::Rejected);
    caller.needs(if is_decision {
        KeyRole::Approver
    } else {
        KeyRole::Agent
    })?;
    let fingerprint = fingerprint(&body);
    let decided_by = body.decided_by.clone().filter(|name| !name.trim().is_empty());
    let report = ToolReport {
        status,
        result: body.result.filter(|result| !result.is_null()),
        error: body.error.filter(|error| !error.trim().is_empty()),
        decided_by: match decided_by {
            given if is_decision => Some(decider(given.as_deref(), caller.name())),
            given => given,
        },
    };
    let reported = tool_calls::apply(&service, &call, &report, &fingerprint).await?;
    let next = match body.go_on && continues(status, &reported.call) {
        true => next(&service, &caller, &reported, fingerprint).await?,
        false => None,
    };
    let answer = ResultAnswer {
        tool_call: reported.call,
        next,
    };
    let json = serde_json::to_string(&answer)
        .map_err(|_| Problem::unavailable("the answer cannot be written as JSON"))?;
    Ok(([(header::CONTENT_TYPE, "application/json")], json).into_response())
}

fn check_signature(service: &Service, headers: &HeaderMap, body: &[u8]) -> Result<(), Problem> {
    let (Some(secret), Some(given)) = (&service.parts.webhook_secret, headers.get(SIGNATURE_HEADER)) else {
        return Ok(());
    };
    let given = given.to_str().unwrap_or_default();
    signature::verify(secret, given, body, service.now())
        .map_err(|error| Problem::new(Code::Unauthorized, format!("X-Grov-Signature: {error}")))
}

fn check(body: &ResultBody) -> Result<(), Problem> {
    let mut checks = Checks::default();
    checks.optional_text("/error", body.error.as_deref().unwrap_or_default(), MAX_REASON);
    let decided_by = body.decided_by.as_deref().unwrap_or_default();
    checks.optional_text("/decided_by", decided_by, MAX_DECIDED_BY);
    let result = body.result.as_ref().map_or(0, |result| result.to_string().len());
    if result > MAX_RESULT {
        checks.add("/result", format!("is longer than {MAX_RESULT} bytes"));
    }
    checks.done()
}

/// The same for bodies that mean the same: order of members and spaces do not count.
fn fingerprint(body: &ResultBody) -> [u8; 32] {
    let meaning = serde_json::json!([
        body.status.status().as_str(),
        canonical(body.result.as_ref()),
        body.error,
        body.decided_by,
        body.go_on,
    ]);
    Sha256::digest(meaning.to_string()).into()
}

/// A value with the members of its objects sorted.
fn canonical(value: Option<&Value>) -> Value {
    match value {
        None => Value::Null,
        Some(Value::Object(members)) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by_key(|(name, _)| *name);
            let pairs = sorted
                .into_iter()
                .map(|(name, value)| Value::Array(vec![name.clone().into(), canonical(Some(value))]));
            serde_json::json!({"": Value::Array(pairs.collect())})
        }
        Some(Value::Array(items)) => items.iter().map(|item| canonical(Some(item))).collect(),
        Some(other) => other.clone(),
    }
}

/// Whether a thread may go on after a report. A decision about memory ends its call; other decisions do not.
fn continues(reported: ToolCallStatus, call: &ToolCall) -> bool {
    let has_ended = reported.is_final() || (call.memory_item_id.is_some() && call.status.is_final());
    has_ended && call.thread_id.is_some()
}

/// Who decided: the key, and whom it names.
fn decider(named: Option<&str>, key: &str) -> String {
    match named.map(str::trim) {
        None => key.to_owned(),
        Some(named) if named == key => key.to_owned(),
        Some(named) => format!("{named} (key {key})"),
    }
}

/// Continues the thread of a call, once for each report: a repeated report is answered with the stored continuation.
async fn next(
    service: &Service,
    caller: &Caller,
    reported: &Reported,
    fingerprint: [u8; 32],
) -> Result<Option<Box<RawValue>>, Problem> {
    let call = &reported.call;
    // Whoever repeats the report gets the same answer, so it does not belong to the key of the caller.
    let owner = KeyId::of(Uuid::nil());
    let mut hash = Sha256::new();
    hash.update(call.id.to_string());
    hash.update(fingerprint);
    let mut key = [0; 16];
    key.copy_from_slice(&hash.finalize()[..16]);
    let key = uuid::Builder::from_custom_bytes(key).into_uuid();
    let once: Once = service.running.enter(owner, key, fingerprint).await?;
    let json = match chat::stored_answer(service, Some(&once)).await? {
        Some(json) => json,
        // The stored continuation may be deleted by now; another one would act a second time.
        None if reported.is_repeat && service.now() >= call.expires_at => return Ok(None),
        None => {
            let running = service.chat_limits.begin(caller.id(), call.project_id);
            let _running = running.map_err(|problem| problem.with_note(STORED))?;
            let start = Start::Result(Box::new(call.clone()));
            let chat = Box::pin(chat::run(service, start, Some(&once), &mut |_| {})).await;
            chat.map_err(|problem| problem.with_note(STORED))?
        }
    };
    RawValue::from_string(json)
        .map(Some)
        .map_err(|_| Problem::unavailable("the stored answer cannot be read"))
}

/// What holds after a report whose continuation failed.
const STORED: &str = "the report itself is stored; send the same request again to continue";

#[cfg(test)]
mod tests {
    use super::*;

    fn print(json: &str) -> [u8; 32] {
        let id = r#""tool_call_id":"0195f7a0-0000-7000-8000-000000000001""#;
        fingerprint(&parse::<ResultBody>(format!("{{{id},{json}}}").as_bytes()).unwrap())
    }

    #[test]
    fn the_approval_of_a_memory_proposal_continues() {
        let now = time::OffsetDateTime::UNIX_EPOCH;
        let mut call = ToolCall {
            id: ToolCallId::fresh(),
            project_id: grov_agent::ProjectId::fresh(),
            thread_id: Some(grov_agent::ThreadId::fresh()),
            name: grov_agent::PROPOSE_ADD.to_owned(),
            arguments: Value::Null,
            status: ToolCallStatus::Succeeded,
            requires_approval: true,
            risk: grov_agent::Risk::Low,
            reason: String::new(),
            result: None,
            error: None,
            decided_by: None,
            memory_item_id: Some(grov_agent::MemoryItemId::fresh()),
            created_at: now,
            expires_at: now,
        };
        assert!(continues(ToolCallStatus::Approved, &call));
        // Another tool: its approval, repeated after it succeeded, is not the result.
        call.memory_item_id = None;
        assert!(!continues(ToolCallStatus::Approved, &call));
        assert!(continues(ToolCallStatus::Succeeded, &call));
        call.thread_id = None;
        assert!(!continues(ToolCallStatus::Succeeded, &call));
    }

    #[test]
    fn a_decision_shows_the_key_behind_the_name() {
        assert_eq!(decider(None, "n8n"), "n8n");
        assert_eq!(decider(Some("n8n"), "n8n"), "n8n");
        assert_eq!(decider(Some("boss"), "n8n"), "boss (key n8n)");
    }

    #[test]
    fn bodies_that_mean_the_same_have_one_fingerprint() {
        let one = print(r#""status":"succeeded","result":{"a":1,"b":[{"c":2,"d":3}]}"#);
        assert_eq!(
            one,
            print(r#""result": {"b":[{"d":3,"c":2}],"a":1}, "status":"completed", "continue":false"#)
        );
        for other in [
            r#""status":"failed","result":{"a":1,"b":[{"c":2,"d":3}]}"#,
            r#""status":"succeeded","result":{"a":2,"b":[{"c":2,"d":3}]}"#,
            r#""status":"succeeded","result":{"a":1,"b":[{"c":2,"d":3}]},"continue":true"#,
            r#""status":"succeeded""#,
        ] {
            assert_ne!(one, print(other), "{other}");
        }
    }
}
