mod recorded;

use super::*;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};
use time::OffsetDateTime;

fn request(headers: &[(&'static str, &str)], body: &Value) -> MessagesRequest {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.insert(*name, HeaderValue::from_str(value).unwrap());
    }
    MessagesRequest::new(map, Bytes::from(body.to_string()), OffsetDateTime::UNIX_EPOCH)
}

fn tools(count: usize) -> Value {
    (0..count)
        .map(|n| json!({"name": format!("T{n}"), "input_schema": {"type": "object"}}))
        .collect()
}

fn body(tools: Value, last_text: &str) -> Value {
    json!({
        "model": "claude-haiku-4-5",
        "messages": [{"role": "user", "content": [{"type": "text", "text": last_text}]}],
        "tools": tools,
        "metadata": {"user_id": "{\"device_id\":\"d\",\"account_uuid\":\"\",\"session_id\":\"in-metadata\"}"},
    })
}

fn kind(body: &Value) -> ExchangeKind {
    Identity::of(&request(&[], body)).kind
}

#[test]
fn the_header_names_the_session_before_the_metadata() {
    let body = body(tools(20), "hi");
    let named = request(&[("x-claude-code-session-id", "in-header")], &body);
    assert_eq!(Identity::of(&named).session.as_str(), "in-header");
    assert_eq!(Identity::of(&request(&[], &body)).session.as_str(), "in-metadata");
}

#[test]
fn an_unnamed_conversation_keeps_its_derived_id_while_it_grows() {
    let first = json!({"tools": tools(3), "messages": [{"role": "user", "content": "fix it"}]});
    let later = json!({"tools": tools(3), "messages": [
        {"role": "user", "content": [{"type": "text", "text": "fix it"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "done"}]},
        {"role": "user", "content": "thanks"},
    ]});
    let other = json!({"tools": tools(3), "messages": [{"role": "user", "content": "something else"}]});
    let session = |body: &Value| {
        let request = request(&[], body);
        assert!(!Identity::of(&request).session_is_named);
        Identity::of(&request).session.clone()
    };
    assert_eq!(session(&first), session(&later));
    assert_ne!(session(&first), session(&other));
}

#[test]
fn a_request_to_haiku_is_a_turn() {
    assert_eq!(kind(&body(tools(20), "do it")), ExchangeKind::Main);
}

#[test]
fn a_subagent_is_identified_by_its_header() {
    let request = request(&[("x-claude-code-agent-id", "a826")], &body(tools(20), "do it"));
    assert_eq!(Identity::of(&request).kind, ExchangeKind::Subagent);
    assert_eq!(Identity::of(&request).agent, Some(AgentId::new("a826")));
}

#[test]
fn side_requests_are_not_turns() {
    let side = |side| ExchangeKind::Side(side);
    let mut title = body(json!([]), "<session>\nfix it\n</session>");
    title["output_config"] = json!({"format": {"type": "json_schema", "schema": {}}});
    assert_eq!(kind(&title), side(SideRequest::Title));
    assert_eq!(
        kind(&body(json!([]), "Summarise this page")),
        side(SideRequest::Other)
    );
    let search = json!([{"type": "web_search_20250305", "name": "web_search"}]);
    assert_eq!(
        kind(&body(search, "Perform a web search")),
        side(SideRequest::WebTool)
    );
    assert_eq!(
        kind(&body(
            tools(28),
            "[SUGGESTION MODE: Suggest what the user might type next]"
        )),
        side(SideRequest::Suggestion)
    );
    assert_eq!(
        kind(&body(
            tools(28),
            "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.\n\nYour task…"
        )),
        side(SideRequest::Compaction)
    );
}

#[test]
fn a_trailing_system_message_does_not_hide_a_compaction() {
    let mut body = body(
        tools(28),
        "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.",
    );
    let messages = body["messages"].as_array_mut().unwrap();
    messages
        .push(json!({"role": "system", "content": "The user sent a new message while you were working:\nx"}));
    assert_eq!(kind(&body), ExchangeKind::Side(SideRequest::Compaction));
}

#[test]
fn a_body_without_json_is_not_a_turn() {
    let request = MessagesRequest::new(
        HeaderMap::new(),
        Bytes::from_static(b"{oops"),
        OffsetDateTime::UNIX_EPOCH,
    );
    assert_eq!(
        Identity::of(&request).kind,
        ExchangeKind::Side(SideRequest::Other)
    );
    assert!(!Identity::of(&request).session_is_named);
}

#[test]
fn too_long_session_ids_and_relative_projects_are_ignored() {
    let endless = "x".repeat(20_000);
    let headers = [
        ("x-claude-code-session-id", endless.as_str()),
        ("x-grov-project", "../../.."),
    ];
    let request = request(&headers, &body(tools(20), "hi"));
    assert_eq!(Identity::of(&request).session.as_str(), "in-metadata");
    assert_eq!(project_header(&request), None);
}

#[test]
fn a_too_long_session_id_in_the_metadata_is_ignored() {
    let mut body = body(tools(20), "hi");
    let user = json!({"session_id": "s".repeat(20_000)}).to_string();
    body["metadata"]["user_id"] = Value::String(user);
    let request = request(&[], &body);
    assert!(!Identity::of(&request).session_is_named);
    assert!(Identity::of(&request).session.as_str().len() < 64);
}
