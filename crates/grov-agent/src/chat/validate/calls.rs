//! Checks the calls and the proposals of an answer.

use super::fields::{Fields, kind, listed};
use crate::chat::draft::{DraftCall, DraftEvidence, MemoryRequest};
use crate::tool::{ArgumentSchema, is_built_in, propose_add_schema};
use crate::tool_call::{PROPOSE_ADD, PROPOSE_UPDATE};
use crate::{EvidenceKind, MemoryType, Tool};
use serde_json::{Map, Value};
use time::Duration;

/// The most calls of an answer.
const MAX_CALLS: usize = 16;

/// The most proposals of an answer.
const MAX_PROPOSALS: usize = 16;

/// The most bytes of a call's arguments.
const MAX_ARGUMENTS: usize = 64 * 1024;

/// The most characters of a reason.
const MAX_REASON_CHARS: usize = 2_000;

/// Reads `tool_calls`.
pub(super) fn calls(fields: &mut Fields<'_>, tools: &[Tool]) -> Vec<DraftCall> {
    let before = fields.problems.len();
    let list = fields.list("tool_calls");
    if list.is_empty() && fields.problems.len() == before {
        fields.problem("ACT needs at least one entry in tool_calls; give \"ASK\" if something is not clear");
    }
    if list.len() > MAX_CALLS {
        fields.problem(format!(
            "tool_calls has {} entries; at most {MAX_CALLS} are allowed",
            list.len()
        ));
        return Vec::new();
    }
    let mut calls = Vec::with_capacity(list.len());
    for (place, value) in list.iter().enumerate() {
        match call(value, tools) {
            Ok(call) => calls.push(call),
            Err(problems) => {
                fields.problems.extend(
                    problems
                        .iter()
                        .map(|problem| format!("tool_calls[{place}]: {problem}")),
                );
            }
        }
    }
    calls
}

fn call(value: &Value, tools: &[Tool]) -> Result<DraftCall, Vec<String>> {
    let Some(members) = value.as_object() else {
        return Err(vec![format!(
            "it is {}; it is an object with name and arguments",
            kind(value)
        )]);
    };
    let mut fields = Fields::new(members);
    let Some(name) = fields.get("name").and_then(Value::as_str) else {
        return Err(vec!["name is missing".to_owned()]);
    };
    let Some(tool) = tools.iter().find(|tool| tool.name == name) else {
        let names = listed(tools.iter().map(|tool| tool.name.as_str()));
        let name = grov_redact::beginning_of(name, 80);
        return Err(vec![format!(
            "there is no tool \"{name}\"; the tools are: {names}"
        )]);
    };
    let reason = fields.text("reason", MAX_REASON_CHARS);
    let arguments = arguments(&fields, tool)?;
    if !fields.problems.is_empty() {
        return Err(fields.problems);
    }
    let memory = if is_built_in(name) {
        Some(memory_request(name, &arguments)?)
    } else {
        None
    };
    Ok(DraftCall {
        name: name.to_owned(),
        arguments,
        reason,
        requires_approval: tool.awaits_approval(),
        risk: tool.risk,
        memory,
    })
}

/// Returns arguments that fit the tool's schema. A string that holds a JSON object is read as the object.
fn arguments(fields: &Fields<'_>, tool: &Tool) -> Result<Value, Vec<String>> {
    let arguments = match fields.get("arguments") {
        None => Value::Object(Map::new()),
        Some(Value::String(text)) => serde_json::from_str(text).unwrap_or(Value::Null),
        Some(other) => other.clone(),
    };
    if !arguments.is_object() {
        return Err(vec!["arguments is not an object".to_owned()]);
    }
    if arguments.to_string().len() > MAX_ARGUMENTS {
        return Err(vec![format!(
            "the arguments have more than {MAX_ARGUMENTS} bytes; shorten them"
        )]);
    }
    let schema = ArgumentSchema::new(&tool.input_schema).map_err(|problem| vec![problem])?;
    let problems = schema.problems(&arguments);
    if problems.is_empty() {
        return Ok(arguments);
    }
    Err(problems
        .iter()
        .map(|problem| format!("the arguments of {} do not fit: {problem}", tool.name))
        .collect())
}

/// Reads `memory_proposals`: each entry has the arguments of `memory.propose_add`.
pub(super) fn proposals(fields: &mut Fields<'_>) -> Vec<MemoryRequest> {
    let list = fields.list("memory_proposals");
    if list.is_empty() {
        return Vec::new();
    }
    if list.len() > MAX_PROPOSALS {
        fields.problem(format!(
            "memory_proposals has {} entries; at most {MAX_PROPOSALS} are allowed",
            list.len()
        ));
        return Vec::new();
    }
    let mut schema = propose_add_schema();
    // A proposal is shown to the model with more members than it has to write.
    if let Some(members) = schema.as_object_mut() {
        members.remove("additionalProperties");
    }
    let Ok(schema) = ArgumentSchema::new(&schema) else {
        return Vec::new();
    };
    let mut proposals = Vec::with_capacity(list.len());
    for (place, value) in list.iter().enumerate() {
        let value = &without_nulls(value);
        let problems = schema.problems(value);
        if problems.is_empty()
            && let Ok(request) = memory_request(PROPOSE_ADD, value)
        {
            proposals.push(request);
        }
        fields.problems.extend(
            problems
                .iter()
                .map(|problem| format!("memory_proposals[{place}]: {problem}")),
        );
    }
    proposals
}

/// Removes members that are `null`, which models write for absent ones.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.iter().filter(|(_, value)| !value.is_null());
            Value::Object(
                members
                    .map(|(name, value)| (name.clone(), value.clone()))
                    .collect(),
            )
        }
        other => other.clone(),
    }
}

/// Reads arguments that fit the schema of a built-in tool.
fn memory_request(name: &str, arguments: &Value) -> Result<MemoryRequest, Vec<String>> {
    let text = |member: &str| {
        arguments
            .get(member)
            .and_then(Value::as_str)
            .map(str::trim)
            .unwrap_or_default()
    };
    let problem = |problem: &str| Err(vec![format!("the arguments of {name} do not fit: {problem}")]);
    let content = text("content").to_owned();
    if name == PROPOSE_UPDATE {
        let id = text("id").to_owned();
        return match (content.is_empty(), text("status").is_empty()) {
            (false, true) => Ok(MemoryRequest::Words { id, content }),
            (true, false) => Ok(MemoryRequest::Status { id }),
            (true, true) => problem("give content or status"),
            (false, false) => problem("give either content or status, not both"),
        };
    }
    let Some(kind) = MemoryType::from_name(text("type")) else {
        return problem("type is missing");
    };
    if content.is_empty() {
        return problem("content is empty");
    }
    let evidence = arguments.get("evidence").and_then(Value::as_array);
    Ok(MemoryRequest::Add {
        kind,
        content,
        ttl: arguments.get("ttl_seconds").and_then(whole_seconds),
        evidence: evidence.into_iter().flatten().map(draft_evidence).collect(),
    })
}

/// Reads seconds. For JSON Schema, `3600.0` is an integer too.
fn whole_seconds(value: &Value) -> Option<Duration> {
    let whole = value.as_i64().map(Duration::seconds);
    whole.or_else(|| value.as_f64().map(Duration::saturating_seconds_f64))
}

fn draft_evidence(value: &Value) -> DraftEvidence {
    let text = |member: &str| {
        value
            .get(member)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    DraftEvidence {
        kind: EvidenceKind::from_name(&text("kind")),
        id: text("id"),
        quote: text("quote"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::built_in_tools;
    use serde_json::json;

    #[test]
    fn a_lifetime_written_as_a_fraction_counts() {
        for ttl in [json!(3600), json!(3600.0), json!(3.6e3)] {
            let arguments = json!({"type": "metric", "content": "Load is 5", "ttl_seconds": ttl});
            let request = memory_request(PROPOSE_ADD, &arguments).unwrap();
            let MemoryRequest::Add { ttl: found, .. } = request else {
                panic!("an item")
            };
            assert_eq!(found, Some(Duration::hours(1)), "{ttl}");
        }
    }

    #[test]
    fn the_schemas_of_the_built_in_tools_hold() {
        for tool in built_in_tools() {
            ArgumentSchema::new(&tool.input_schema).unwrap();
        }
    }
}
