use super::*;
use crate::{Registry, schema};

const WHOLE: &str = r#"{"id":"c1","model":"sonar-deep-research","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"<think>hm</think>FTS5 [1]"},"delta":{"content":""}}],
 "citations":["https://other"],"search_results":[{"title":"FTS5","url":"https://sqlite.org/fts5.html","date":null}],
 "usage":{"cost":{"total_cost":0.18}}}"#;

fn output(name: &str) -> Value {
    Registry::built_in()
        .find("perplexity", name)
        .unwrap()
        .output
        .clone()
}

#[test]
fn thinking_is_apart_and_search_results_are_preferred() {
    let read = |strip| {
        Chat::of_body(WHOLE.as_bytes())
            .unwrap()
            .answer(BuiltIn::PerplexityResearch, strip)
            .unwrap()
    };
    let answer = read(false);
    assert_eq!(
        answer.data,
        json!({"content": "FTS5 [1]", "citations": ["https://sqlite.org/fts5.html"], "thinking": "hm"})
    );
    assert_eq!(
        (answer.cost, answer.model.as_deref()),
        (Some(MicroUsd(180_000)), Some("sonar-deep-research"))
    );
    assert_eq!(read(true).data["thinking"], Value::Null);
    assert_eq!(schema::mismatch(&output("research"), &answer.data), None);
}

#[test]
fn full_and_concise_streams_give_the_same_text() {
    let concise = [
        r#"{"choices":[{"delta":{"content":"<think>a"}}]}"#,
        r#"{"choices":[{"delta":{"content":"</think>one "}}]}"#,
        r#"{"choices":[{"delta":{"content":"two"},"finish_reason":"stop"}],"citations":["u"]}"#,
    ];
    let full = [
        r#"{"choices":[{"delta":{"content":"<think>a"},"message":{"content":"<think>a"}}]}"#,
        r#"{"choices":[{"delta":{"content":"</think>one two"},"message":{"content":"<think>a</think>one two"}}],"citations":["u"]}"#,
        "[DONE]",
    ];
    for events in [concise, full] {
        let mut chat = Chat::default();
        for event in events {
            chat.add_event(event).unwrap();
        }
        let answer = chat.answer(BuiltIn::PerplexityResearch, false).unwrap();
        assert_eq!(
            answer.data,
            json!({"content": "one two", "citations": ["u"], "thinking": "a"})
        );
    }
}

#[test]
fn a_stream_that_breaks_off_is_no_answer() {
    let mut chat = Chat::default();
    chat.add_event(r#"{"choices":[{"delta":{"content":"half"}}]}"#)
        .unwrap();
    let error = chat.answer(BuiltIn::PerplexityResearch, false).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Incomplete);
}

#[test]
fn an_error_in_a_stream_is_reported() {
    let error = Chat::default()
        .add_event(r#"{"error":{"message":"quota is used up"}}"#)
        .unwrap_err();
    assert!(error.message.contains("quota is used up"), "{error}");
}

#[test]
fn broken_and_empty_responses_are_errors() {
    for (body, kind) in [
        ("{\"choices\":[", ErrorKind::BadAnswer),
        ("<html>", ErrorKind::BadAnswer),
        ("{}", ErrorKind::BadAnswer),
        (r#"{"choices":[{"message":{"content":7}}]}"#, ErrorKind::BadAnswer),
    ] {
        assert_eq!(Chat::of_body(body.as_bytes()).unwrap_err().kind, kind, "{body}");
    }
    let empty = Chat::of_body(br#"{"choices":[{"message":{"content":"<think>only"}}]}"#).unwrap();
    assert_eq!(
        empty.answer(BuiltIn::PerplexityAsk, false).unwrap_err().kind,
        ErrorKind::EmptyAnswer
    );
}

#[test]
fn search_results_fit_their_schema() {
    let body = br#"{"id":"x","results":[{"title":"T","url":"https://a","snippet":"s"},{"url":"https://b"}]}"#;
    let answer = read_search("q", body).unwrap();
    assert_eq!(schema::mismatch(&output("search"), &answer.data), None);
    assert_eq!(answer.metadata["result_count"], 2);
}
