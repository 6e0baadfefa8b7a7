//! The API's validation of requests, as far as a proxy that edits requests could violate it.

use crate::json::Json;
use crate::request::{Message, MessagesRequest, Role, is_type, takes_system_role};
use crate::wire::Head;
use std::collections::HashSet;

/// Maximum number of `cache_control` marks in a request.
const MAX_BREAKPOINTS: usize = 4;
/// JSON Schema keywords that the API's structured output does not accept, from its documentation.
const UNSUPPORTED: [&str; 8] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "maxItems",
];

/// A refusal: status, error type and message, worded as by the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) kind: &'static str,
    pub(crate) message: String,
}

fn invalid(message: impl Into<String>) -> Refusal {
    Refusal {
        status: 400,
        kind: "invalid_request_error",
        message: message.into(),
    }
}

/// Checks the headers that every call needs.
pub(crate) fn check_headers(head: &Head) -> Result<(), Refusal> {
    let refuse = |message: &str| Refusal {
        status: 401,
        kind: "authentication_error",
        message: message.to_owned(),
    };
    let bearer = head
        .header("authorization")
        .and_then(|value| value.strip_prefix("Bearer "));
    if head.header("x-api-key").is_none_or(str::is_empty) && bearer.is_none_or(str::is_empty) {
        return Err(refuse("x-api-key header is required"));
    }
    if bearer.is_some_and(|token| token.starts_with("sk-ant-oat"))
        && !head.has_token("anthropic-beta", "oauth-2025-04-20")
    {
        return Err(refuse("OAuth authentication is currently not supported."));
    }
    if head.header("anthropic-version").is_none() {
        return Err(invalid("anthropic-version: header is required"));
    }
    Ok(())
}

/// Checks a request to `/v1/messages`.
pub(crate) fn check_messages(head: &Head, request: &MessagesRequest) -> Result<(), Refusal> {
    if request.body.get("max_tokens").and_then(Json::as_u64).is_none() {
        return Err(invalid("max_tokens: Field required"));
    }
    if request.body.get("context_management").is_some()
        && !head.has_token("anthropic-beta", "context-management-2025-06-27")
    {
        return Err(invalid("context_management: Extra inputs are not permitted"));
    }
    check_content(request)
}

/// Checks the content of a request: roles, pairing of calls and results, texts, breakpoints.
pub(crate) fn check_content(request: &MessagesRequest) -> Result<(), Refusal> {
    check_conversation(request)?;
    check_texts(request)?;
    check_breakpoints(request)
}

/// Checks the requested output format. `supported`: whether the model supports structured output.
pub(crate) fn check_format(request: &MessagesRequest, supported: bool) -> Result<(), Refusal> {
    let Some(format) = request
        .body
        .get("output_config")
        .and_then(|config| config.get("format"))
    else {
        return Ok(());
    };
    if !supported {
        return Err(invalid("output_config.format: Extra inputs are not permitted"));
    }
    if !is_type(format, "json_schema") {
        return Err(invalid(
            "output_config.format.type: Input should be 'json_schema'",
        ));
    }
    format.get("schema").map_or_else(
        || Err(invalid("output_config.format.schema: Field required")),
        check_schema,
    )
}

/// Checks that a schema uses only what structured output can enforce: closed objects, no bounds of numbers or texts.
fn check_schema(schema: &Json) -> Result<(), Refusal> {
    let refuse = |problem: String| Err(invalid(format!("output_config.format.schema: {problem}")));
    let kind = schema.get_str("type").unwrap_or_default();
    if kind == "object" && schema.get("additionalProperties") != Some(&Json::Bool(false)) {
        return refuse(
            "For 'object' type, 'additionalProperties' must be explicitly set to false".to_owned(),
        );
    }
    let unsupported = UNSUPPORTED.iter().find(|word| schema.get(word).is_some());
    if let Some(word) = unsupported {
        return refuse(format!("For '{kind}' type, property '{word}' is not supported"));
    }
    match schema {
        Json::Object(members) => members
            .iter()
            // These keys are property names chosen by the user, not keywords.
            .flat_map(|(key, value)| match (key.as_str(), value) {
                ("properties" | "$defs" | "definitions", Json::Object(named)) => {
                    named.iter().map(|(_, value)| value).collect()
                }
                ("const" | "enum", _) => Vec::new(),
                _ => vec![value],
            })
            .try_for_each(check_schema),
        Json::Array(elements) => elements.iter().try_for_each(check_schema),
        _ => Ok(()),
    }
}

/// Checks roles and the pairing of tool calls and results.
pub(crate) fn check_conversation(request: &MessagesRequest) -> Result<(), Refusal> {
    let messages = &request.messages;
    match messages.first() {
        None => return Err(invalid("messages: at least one message is required")),
        Some(first) if first.role != Role::User => {
            return Err(invalid("messages: first message must use the \"user\" role"));
        }
        Some(_) => {}
    }
    check_system_role(request)?;
    let mut pending: HashSet<&str> = HashSet::new();
    for (at, turn) in turns(messages) {
        let calls: HashSet<&str> = turn.iter().flat_map(|message| message.tool_use_ids()).collect();
        let results: Vec<&str> = turn
            .iter()
            .flat_map(|message| message.tool_result_ids())
            .collect();
        if turn[0].role == Role::Assistant {
            if let Some(id) = results.first() {
                return Err(invalid(format!(
                    "messages.{at}: `tool_result` blocks can only be in `user` messages: {id}"
                )));
            }
            pending = calls;
            continue;
        }
        if let Some(id) = calls.iter().next() {
            return Err(invalid(format!(
                "messages.{at}: `tool_use` blocks can only be in `assistant` messages: {id}"
            )));
        }
        let mut answered = HashSet::new();
        for id in results {
            if !pending.contains(id) {
                return Err(invalid(format!(
                    "messages.{at}.content.0: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each \
                     `tool_result` block must have a corresponding `tool_use` block in the previous message."
                )));
            }
            if !answered.insert(id) {
                return Err(invalid(format!(
                    "messages.{at}.content: each tool_use must have a single result. Found multiple `tool_result` \
                     blocks with id: {id}"
                )));
            }
        }
        if !pending.is_subset(&answered) {
            return Err(unanswered(at - 1, pending.difference(&answered)));
        }
        let results: Vec<bool> = turn
            .iter()
            .flat_map(|message| &message.blocks)
            .map(|block| is_type(block, "tool_result"))
            .collect();
        let first_text = results.iter().position(|is_result| !is_result);
        let last_result = results.iter().rposition(|is_result| *is_result);
        if let (Some(text), Some(result)) = (first_text, last_result)
            && text < result
        {
            return Err(unanswered(at - 1, pending.iter()));
        }
        pending = HashSet::new();
    }
    match pending.is_empty() {
        true => Ok(()),
        false => Err(unanswered(messages.len() - 1, pending.iter())),
    }
}

fn unanswered<'a>(at: usize, ids: impl Iterator<Item = &'a &'a str>) -> Refusal {
    let mut ids: Vec<&str> = ids.copied().collect();
    ids.sort_unstable();
    invalid(format!(
        "messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each `tool_use` \
         block must have a corresponding `tool_result` block in the next message.",
        ids.join(", ")
    ))
}

/// The messages of user and assistant in turns: consecutive messages of one role are one turn. System messages are
/// skipped.
fn turns(messages: &[Message]) -> Vec<(usize, Vec<&Message>)> {
    let mut turns: Vec<(usize, Vec<&Message>)> = Vec::new();
    for (at, message) in messages
        .iter()
        .enumerate()
        .filter(|(_, message)| message.role != Role::System)
    {
        match turns.last_mut() {
            Some((_, turn)) if turn[0].role == message.role => turn.push(message),
            _ => turns.push((at, vec![message])),
        }
    }
    turns
}

/// A system message comes after a user message (or another system message) and before an assistant's or the end.
fn check_system_role(request: &MessagesRequest) -> Result<(), Refusal> {
    let messages = &request.messages;
    for (at, _) in messages
        .iter()
        .enumerate()
        .filter(|(_, message)| message.role == Role::System)
    {
        if !takes_system_role(&request.model) {
            return Err(invalid(format!(
                "messages: Unexpected role \"system\". The Messages API accepts a top-level `system` parameter, not \
                 \"system\" as an input message role. (messages.{at}, model {})",
                request.model
            )));
        }
        let before = at.checked_sub(1).map(|at| messages[at].role);
        let after = messages.get(at + 1).map(|message| message.role);
        if before == Some(Role::Assistant) || after == Some(Role::User) {
            return Err(invalid(format!(
                "messages.{at}: a system message must follow a user message and precede an assistant message or the end"
            )));
        }
    }
    Ok(())
}

fn check_texts(request: &MessagesRequest) -> Result<(), Refusal> {
    let last = request.messages.len().saturating_sub(1);
    for (at, message) in request.messages.iter().enumerate() {
        if message.blocks.is_empty() && !(at == last && message.role == Role::Assistant) {
            return Err(invalid(format!(
                "messages.{at}: all messages must have non-empty content except for the optional final assistant message"
            )));
        }
        if message.texts().any(str::is_empty) {
            return Err(invalid("messages: text content blocks must be non-empty"));
        }
        if at == last
            && message.role == Role::Assistant
            && message.texts().any(|text| text.ends_with([' ', '\n', '\t']))
        {
            return Err(invalid(
                "messages: final assistant content cannot end with trailing whitespace",
            ));
        }
    }
    if request
        .system
        .iter()
        .filter_map(|block| block.get_str("text"))
        .any(str::is_empty)
    {
        return Err(invalid("system: text content blocks must be non-empty"));
    }
    Ok(())
}

fn check_breakpoints(request: &MessagesRequest) -> Result<(), Refusal> {
    let blocks = request.messages.iter().flat_map(|message| &message.blocks);
    let nested = request
        .messages
        .iter()
        .flat_map(|message| &message.blocks)
        .filter(|block| is_type(block, "tool_result"))
        .filter_map(|block| block.get("content").and_then(Json::as_array))
        .flatten();
    let marks: Vec<&Json> = request
        .tools
        .iter()
        .chain(&request.system)
        .chain(blocks)
        .chain(nested)
        .chain(std::iter::once(&request.body))
        .filter_map(|block| block.get("cache_control"))
        .filter(|mark| **mark != Json::Null)
        .collect();
    if marks.len() > MAX_BREAKPOINTS {
        return Err(invalid(format!(
            "A maximum of {MAX_BREAKPOINTS} blocks with cache_control may be provided. Found {}.",
            marks.len()
        )));
    }
    let hour = |mark: &&Json| mark.get_str("ttl") == Some("1h");
    let short = marks.iter().position(|mark| !hour(mark));
    let long = marks.iter().rposition(hour);
    match (short, long) {
        (Some(short), Some(long)) if short < long => Err(invalid(
            "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are \
             processed in the following order: `tools`, `system`, `messages`.",
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
