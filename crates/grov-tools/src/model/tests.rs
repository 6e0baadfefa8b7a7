use super::*;
use crate::ErrorKind;
use serde_json::json;

fn model(api: Api, name: &str) -> Model {
    Model {
        api,
        name: name.to_owned(),
        key: Some(Secret::new("k")),
        is_local: false,
    }
}

fn question() -> Question {
    Question {
        system: Some("sys".to_owned()),
        turns: vec!["one".to_owned(), "two".to_owned(), "three".to_owned()],
        schema: Some(json!({"type": "object"})),
    }
}

#[test]
fn gemini_is_asked_at_the_address_of_its_kind() {
    let path = |api| model(api, "gemini-2.5-pro").request(&question(), true).path;
    assert_eq!(
        path(Api::GeminiStudio),
        "/v1beta/models/gemini-2.5-pro:generateContent"
    );
    assert_eq!(
        path(Api::GeminiExpress),
        "/v1/publishers/google/models/gemini-2.5-pro:generateContent"
    );
    let full = Api::GeminiVertex {
        project: "p".to_owned(),
        location: "eu".to_owned(),
    };
    assert_eq!(full.base_url(), "https://eu-aiplatform.googleapis.com");
    assert_eq!(
        path(full),
        "/v1/projects/p/locations/eu/publishers/google/models/gemini-2.5-pro:generateContent"
    );
    let call = model(Api::GeminiStudio, "m").request(&question(), true);
    assert_eq!(call.headers[0].0, "x-goog-api-key");
    assert_eq!(call.body["contents"][1]["role"], "model");
    assert_eq!(
        call.body["generationConfig"]["responseMimeType"],
        "application/json"
    );
}

#[test]
fn every_api_is_asked_for_the_schema() {
    let call = model(Api::Anthropic, "m").request(&question(), true);
    assert_eq!(call.body["tool_choice"]["name"], "answer");
    let call = model(Api::OpenAi, "m").request(&question(), true);
    assert_eq!(call.body["response_format"]["type"], "json_schema");
    assert_eq!(call.body["messages"][0]["role"], "system");
    assert_eq!(call.body["max_tokens"], MAX_OUTPUT_TOKENS);
    let newer = model(Api::OpenAi, "gpt-5").request(&question(), true).body;
    assert_eq!(
        (newer.get("max_tokens"), &newer["max_completion_tokens"]),
        (None, &json!(MAX_OUTPUT_TOKENS))
    );
    let call = model(Api::OpenAi, "m").request(&question(), false);
    assert!(call.body.get("response_format").is_none());
}

#[test]
fn answers_are_read() {
    let read = |api, body: Value| model(api, "m").read(body.to_string().as_bytes()).unwrap();
    let reply = read(
        Api::GeminiExpress,
        json!({"candidates": [{"content": {"parts": [{"text": "hm", "thought": true}, {"text": "a"}, {"text": "b"}]}, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 2, "thoughtsTokenCount": 3, "cachedContentTokenCount": 4}, "modelVersion": "g"}),
    );
    assert_eq!(
        (
            reply.text.as_str(),
            reply.thinking.as_deref(),
            reply.model.as_deref()
        ),
        ("ab", Some("hm"), Some("g"))
    );
    let usage = reply.usage.unwrap();
    assert_eq!((usage.input, usage.output, usage.cache_read), (6, 5, 4));
    let reply = read(
        Api::Anthropic,
        json!({"content": [{"type": "text", "text": "well"}, {"type": "tool_use", "input": {"a": 1}}], "usage": {"input_tokens": 1, "output_tokens": 2}}),
    );
    assert_eq!(reply.text, "{\"a\":1}");
    let reply = read(
        Api::OpenAi,
        json!({"choices": [{"message": {"content": "<think>t</think>x"}}]}),
    );
    assert_eq!((reply.text.as_str(), reply.thinking.as_deref()), ("x", Some("t")));
}

#[test]
fn blocked_and_empty_answers_are_errors() {
    let kind = |api, body: &str| model(api, "m").read(body.as_bytes()).unwrap_err().kind;
    for (body, expected) in [
        (
            r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#,
            ErrorKind::Blocked,
        ),
        (r#"{"candidates":[]}"#, ErrorKind::EmptyAnswer),
        ("{}", ErrorKind::EmptyAnswer),
        (
            r#"{"candidates":[{"finishReason":"SAFETY"}]}"#,
            ErrorKind::Blocked,
        ),
        (
            r#"{"candidates":[{"finishReason":"MAX_TOKENS","content":{"parts":[]}}]}"#,
            ErrorKind::EmptyAnswer,
        ),
        (r#"{"candidates":[{"content"#, ErrorKind::BadAnswer),
    ] {
        assert_eq!(kind(Api::GeminiStudio, body), expected, "{body}");
    }
    assert_eq!(
        kind(Api::Anthropic, r#"{"content":[],"stop_reason":"refusal"}"#),
        ErrorKind::Blocked
    );
    assert_eq!(
        kind(
            Api::OpenAi,
            r#"{"choices":[{"message":{"content":null,"refusal":"no"}}]}"#
        ),
        ErrorKind::Blocked
    );
    assert_eq!(kind(Api::OpenAi, "{}"), ErrorKind::BadAnswer);
}

#[test]
fn costs_follow_the_list_price() {
    let usage = TokenCounts {
        input: 1_000_000,
        output: 100_000,
        ..TokenCounts::default()
    };
    assert_eq!(
        model(Api::GeminiStudio, "gemini-2.5-pro").cost(&usage),
        Some(MicroUsd(2_250_000))
    );
    assert_eq!(model(Api::OpenAi, "unknown").cost(&usage), None);
    let local = Model {
        is_local: true,
        ..model(Api::OpenAi, "unknown")
    };
    assert_eq!(local.cost(&usage), Some(MicroUsd(0)));
    assert_eq!(local.most_cost(1000), MicroUsd(0));
    assert!(model(Api::OpenAi, "unknown").most_cost(1000) > model(Api::OpenAi, "gpt-5").most_cost(1000));
}
