use super::*;

fn check(model: &str, rest: &str) -> Result<(), String> {
    let body = format!(r#"{{"model":"{model}","max_tokens":10,{rest}}}"#);
    let request = MessagesRequest::parse(body.as_bytes()).unwrap();
    check_messages(&head(&[]), &request).map_err(|refusal| refusal.message)
}

fn messages(messages: &str) -> Result<(), String> {
    check("claude-opus-4-8", &format!(r#""messages":[{messages}]"#))
}

fn head(headers: &[(&str, &str)]) -> Head {
    let headers = headers
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    Head {
        raw: bytes::Bytes::new(),
        line: "POST /v1/messages HTTP/1.1".to_owned(),
        headers,
    }
}

#[track_caller]
fn refused(result: Result<(), String>, because: &str) {
    let message = result.unwrap_err();
    assert!(message.contains(because), "{message}");
}

const CALL: &str = r#"{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"a","input":{}},
    {"type":"tool_use","id":"t2","name":"b","input":{}}]}"#;
const RESULTS: &str = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"x"},
    {"type":"tool_result","tool_use_id":"t1","content":"y"},{"type":"text","text":"and"}]}"#;
const ASK: &str = r#"{"role":"user","content":"go"}"#;
const OPERATOR: &str = r#"{"role":"system","content":"mind"}"#;
const SAY: &str = r#"{"role":"assistant","content":"well"}"#;

#[test]
fn valid_conversations_pass() {
    for sequence in [
        vec![ASK],
        vec![ASK, ASK],
        vec![ASK, OPERATOR, CALL, RESULTS, OPERATOR],
        vec![ASK, CALL, RESULTS, SAY, ASK, OPERATOR, OPERATOR],
        vec![ASK, SAY],
    ] {
        assert_eq!(messages(&sequence.join(",")), Ok(()), "{sequence:?}");
    }
}

#[test]
fn roles_and_places_are_checked() {
    refused(messages(""), "at least one message");
    refused(messages(SAY), "first message must use");
    refused(messages(OPERATOR), "first message must use");
    refused(
        messages(&[ASK, SAY, OPERATOR].join(",")),
        "must follow a user message",
    );
    refused(
        messages(&[ASK, OPERATOR, ASK].join(",")),
        "must follow a user message",
    );
    let older = check("claude-sonnet-4-5", &format!(r#""messages":[{ASK},{OPERATOR}]"#));
    refused(older, "Unexpected role \"system\"");
}

#[test]
fn tool_calls_and_results_come_in_pairs() {
    refused(
        messages(&[ASK, CALL].join(",")),
        "without `tool_result` blocks immediately after: t1, t2",
    );
    refused(
        messages(&[ASK, CALL, ASK].join(",")),
        "messages.1: `tool_use` ids were found without",
    );
    refused(
        messages(&[ASK, SAY, RESULTS].join(",")),
        "unexpected `tool_use_id`",
    );
    refused(messages(RESULTS), "unexpected `tool_use_id`");
    refused(
        messages(&[ASK, CALL, RESULTS, SAY, RESULTS].join(",")),
        "unexpected `tool_use_id`",
    );
    let one = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}"#;
    refused(messages(&[ASK, CALL, one].join(",")), "immediately after: t2");
    let double = RESULTS.replace("\"t2\"", "\"t1\"");
    refused(
        messages(&[ASK, CALL, &double].join(",")),
        "multiple `tool_result` blocks with id: t1",
    );
    let text_first = r#"{"role":"user","content":[{"type":"text","text":"x"},
        {"type":"tool_result","tool_use_id":"t1","content":"x"},{"type":"tool_result","tool_use_id":"t2","content":"x"}]}"#;
    refused(messages(&[ASK, CALL, text_first].join(",")), "immediately after");
    let wrong_way = r#"{"role":"user","content":[{"type":"tool_use","id":"t","name":"a","input":{}}]}"#;
    refused(messages(wrong_way), "can only be in `assistant`");
}

#[test]
fn texts_must_not_be_empty() {
    refused(
        messages(r#"{"role":"user","content":""}"#),
        "text content blocks must be non-empty",
    );
    refused(messages(r#"{"role":"user","content":[]}"#), "non-empty content");
    refused(
        messages(&[ASK, r#"{"role":"assistant","content":"x "}"#].join(",")),
        "trailing whitespace",
    );
}

#[test]
fn breakpoints_are_counted_and_ordered() {
    let mark = r#""cache_control":{"type":"ephemeral"}"#;
    let hour = r#""cache_control":{"type":"ephemeral","ttl":"1h"}"#;
    let body = |system: &[&str], user: &[&str]| {
        let blocks = |marks: &[&str]| {
            marks
                .iter()
                .map(|mark| format!(r#"{{"type":"text","text":"x",{mark}}}"#))
                .collect::<Vec<_>>()
                .join(",")
        };
        let (system, user) = (blocks(system), blocks(user));
        check(
            "claude-opus-4-8",
            &format!(r#""system":[{system}],"messages":[{{"role":"user","content":[{user}]}}]"#),
        )
    };
    assert_eq!(body(&[mark, mark], &[mark, mark]), Ok(()));
    refused(body(&[mark, mark, mark], &[mark, mark]), "Found 5.");
    assert_eq!(body(&[hour], &[mark]), Ok(()));
    refused(body(&[mark], &[hour]), "must not come after");
}

#[test]
fn missing_headers_are_refused() {
    let kind = |headers: &[(&str, &str)]| check_headers(&head(headers)).map_err(|refusal| refusal.status);
    let version = ("anthropic-version", "2023-06-01");
    assert_eq!(kind(&[version, ("X-Api-Key", "sk-ant-x")]), Ok(()));
    assert_eq!(kind(&[version, ("Authorization", "Bearer x")]), Ok(()));
    assert_eq!(kind(&[version]), Err(401));
    assert_eq!(kind(&[("x-api-key", "k")]), Err(400));
    let login = ("Authorization", "Bearer sk-ant-oat01-x");
    assert_eq!(kind(&[version, login]), Err(401));
    assert_eq!(
        kind(&[version, login, ("anthropic-beta", "a,oauth-2025-04-20")]),
        Ok(())
    );
}

#[test]
fn half_a_beta_pair_is_refused() {
    let body = format!(
        r#"{{"model":"claude-opus-4-8","max_tokens":1,"context_management":{{}},"messages":[{ASK}]}}"#
    );
    let request = MessagesRequest::parse(body.as_bytes()).unwrap();
    assert_eq!(
        check_messages(&head(&[]), &request).unwrap_err().message,
        "context_management: Extra inputs are not permitted"
    );
    let with = head(&[("anthropic-beta", "a, context-management-2025-06-27")]);
    assert_eq!(check_messages(&with, &request), Ok(()));
}
