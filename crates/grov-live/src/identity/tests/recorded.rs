//! Identity and prompts of requests recorded from the real client.
//!
//! Reads all recordings in the directory `GROV_FIXTURES`, if set: `requests/*.json`, each `{"request": {"headers":
//! [[name, value]…], "body": {…}}}`. The shapes are also covered by the other tests of this crate.

use crate::identity::Identity;
use crate::prompts;
use bytes::Bytes;
use grov_domain::{ExchangeKind, SideRequest};
use grov_proxy_core::MessagesRequest;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use std::path::Path;
use time::OffsetDateTime;

/// Returns the expected kind of a recording, by its file name.
fn expected(name: &str) -> ExchangeKind {
    let is = |part: &str| name.contains(part);
    if is("_title") {
        ExchangeKind::Side(SideRequest::Title)
    } else if is("suggestion") {
        ExchangeKind::Side(SideRequest::Suggestion)
    } else if is("interactive_compact") || is("compact_print") || is("autocompact_request") {
        ExchangeKind::Side(SideRequest::Compaction)
    } else if is("websearch_side") {
        ExchangeKind::Side(SideRequest::WebTool)
    } else if is("04_subagent_1")
        || is("04_subagent_2")
        || is("bgagent_sub")
        || is("explore")
        || is("subagentstart")
    {
        ExchangeKind::Subagent
    } else {
        ExchangeKind::Main
    }
}

/// Returns the prompt of a recording, by its file name.
fn typed(name: &str) -> Option<&'static str> {
    Some(match name {
        "01_toolloop_0.json" => "run scenario [[scn:tools]]",
        "12_interactive_queued_prompt.json" => "second interactive prompt [[scn:text]]",
        "14_interactive_after_compact.json" => "after compact interactive [[scn:text]]",
        "15_interactive_after_clear.json" => "after clear interactive [[scn:text]]",
        "17_after_interrupt.json" => "after the interrupt [[scn:text]]",
        "18_after_permission_denied.json" => "after denial [[scn:text]]",
        "20_continue.json" => "second turn BBB [[scn:text]]",
        "22_fork.json" => "fork turn DDD [[scn:text]]",
        _ => return None,
    })
}

fn load(path: &Path) -> Option<MessagesRequest> {
    let recording: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let request = &recording["request"];
    let body = request["body"]
        .as_object()
        .filter(|body| body.contains_key("messages"))?;
    let mut headers = HeaderMap::new();
    for pair in request["headers"].as_array().into_iter().flatten() {
        let (name, value) = (pair[0].as_str().unwrap(), pair[1].as_str().unwrap());
        headers.append(
            HeaderName::try_from(name).unwrap(),
            HeaderValue::from_str(value).unwrap(),
        );
    }
    let body = Bytes::from(serde_json::to_vec(body).unwrap());
    Some(MessagesRequest::new(headers, body, OffsetDateTime::UNIX_EPOCH))
}

#[test]
fn recorded_requests_are_identified() {
    let Some(set) = std::env::var_os("GROV_FIXTURES") else {
        eprintln!("SKIPPED: GROV_FIXTURES names no set of recordings");
        return;
    };
    let mut seen = 0;
    for entry in std::fs::read_dir(Path::new(&set).join("requests")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name.contains("count_tokens") {
            continue; // another path: never a turn
        }
        let Some(request) = load(&path) else { continue };
        let identity = Identity::of(&request);
        assert_eq!(identity.kind, expected(&name), "{name}");
        assert!(identity.session_is_named, "{name}");
        let named = request
            .index()
            .and_then(grov_wire::RequestIndex::metadata_session_id);
        if let (Some(named), true) = (named, identity.kind == ExchangeKind::Main) {
            assert_eq!(
                identity.session.as_str(),
                named,
                "{name}: header and metadata agree"
            );
        }
        if let Some(typed) = typed(&name) {
            let found: Vec<_> = prompts::newest(&request)
                .into_iter()
                .map(|prompt| prompt.text)
                .collect();
            assert_eq!(found, [typed], "{name}");
        }
        seen += 1;
    }
    assert!(seen > 0, "no recordings under {}", Path::new(&set).display());
}
