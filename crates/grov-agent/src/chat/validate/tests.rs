use super::*;
use crate::tool::built_in_tools;
use crate::{Risk, SourceKind, Tools};
use proptest::prelude::*;
use serde_json::json;

fn tools() -> Vec<Tool> {
    let mut tools = built_in_tools();
    let own = Tools::parse(&json!([
        {
            "name": "jira.create_ticket", "requires_approval": true, "risk": "medium",
            "parameters": {
                "summary": {"type": "string", "required": true},
                "project": {"type": "string", "required": true, "enum": ["PAY", "APP"]},
                "points": {"type": "integer"},
                "labels": {"type": "array", "items": {"type": "string"}},
                "ratio": {"type": "number"},
                "urgent": {"type": "boolean"},
                "extra": {"type": "object"},
            },
        },
        {"name": "status", "risk": "high"},
        {"name": "open", "input_schema": {"type": "object", "properties": {"gate": {"type": "string", "minLength": 2}}, "required": ["gate"]}},
    ]))
    .unwrap();
    tools.extend(own.0);
    tools
}

fn sources() -> Vec<Source> {
    vec![Source {
        kind: SourceKind::Chunk,
        id: "c1".to_owned(),
        title: "Loans".to_owned(),
        heading_path: vec!["Loans".to_owned()],
        category: Some(crate::Category::Rules),
        text: "Adults may borrow twelve items at once.".to_owned(),
        standing: None,
    }]
}

fn run(text: &str) -> Result<Draft, Vec<String>> {
    validate(
        text,
        Offered {
            tools: &tools(),
            sources: &sources(),
        },
    )
}

/// Checks one answer: `Ok` is the name of the decision, `Err` a part of a problem.
fn check(answer: &str, expected: Result<&str, &str>) {
    let found = run(answer);
    match (&found, expected) {
        (Ok(draft), Ok(decision)) => {
            let name = match draft.decision {
                DraftDecision::Act { .. } => "ACT",
                DraftDecision::Ask { .. } => "ASK",
                DraftDecision::Noop { .. } => "NOOP",
            };
            assert_eq!(name, decision, "{answer}");
        }
        (Err(problems), Err(part)) => {
            assert!(
                problems.iter().any(|problem| problem.contains(part)),
                "{answer}: {problems:?}"
            );
        }
        _ => panic!("{answer}: {found:?}, expected {expected:?}"),
    }
}

#[test]
fn answers_without_calls() {
    for (answer, expected) in [
        (json!({"decision": "NOOP", "answer": "Twelve."}), Ok("NOOP")),
        (
            json!({"decision": "NOOP", "answer": "Twelve.", "tool_calls": [], "question": "", "options": null}),
            Ok("NOOP"),
        ),
        (
            json!({"decision": "NOOP", "answer": "Twelve.", "confidence": 0.9}),
            Ok("NOOP"),
        ),
        (
            json!({"decision": "ASK", "question": "Which?", "options": ["a", ""], "reason": "Two."}),
            Ok("ASK"),
        ),
        (json!({"decision": "ASK", "question": "Which?"}), Ok("ASK")),
        (json!({}), Err("decision is missing")),
        (json!({"decision": null}), Err("decision is missing")),
        (
            json!({"décision": "NOOP", "réponse": "x"}),
            Err("decision is missing"),
        ),
        (json!({"decision": "noop", "answer": "x"}), Err("exactly")),
        (json!({"decision": "ANSWER", "answer": "x"}), Err("exactly")),
        (json!({"decision": "ACT|ASK", "answer": "x"}), Err("exactly")),
        (json!({"decision": ["NOOP"], "answer": "x"}), Err("exactly")),
        (json!({"decision": 3}), Err("exactly")),
        (json!({"decision": "NOOP"}), Err("NOOP needs answer")),
        (
            json!({"decision": "NOOP", "answer": " "}),
            Err("NOOP needs answer"),
        ),
        (
            json!({"decision": "NOOP", "answer": null}),
            Err("NOOP needs answer"),
        ),
        (
            json!({"decision": "NOOP", "answer": 12}),
            Err("answer is a number"),
        ),
        (
            json!({"decision": "NOOP", "answer": {"text": "x"}}),
            Err("answer is an object"),
        ),
        (
            json!({"decision": "NOOP", "answer": "x".repeat(40_000)}),
            Err("more than 32000"),
        ),
        (
            json!({"decision": "NOOP", "answer": "x", "citations": "c1"}),
            Err("citations is a string"),
        ),
        (
            json!({"decision": "NOOP", "answer": "x", "tool_calls": [{"name": "status"}]}),
            Err("NOOP has no tool_calls"),
        ),
        (
            json!({"decision": "ASK", "question": "x", "tool_calls": [{"name": "status"}]}),
            Err("ASK has no tool_calls"),
        ),
        (json!({"decision": "ASK"}), Err("ASK needs question")),
        (
            json!({"decision": "ASK", "question": "x", "options": "a"}),
            Err("options is a string"),
        ),
        (
            json!({"decision": "ASK", "question": "x", "options": [1]}),
            Err("list of strings"),
        ),
        (
            json!({"decision": "ASK", "question": "x", "options": vec!["a"; 21]}),
            Err("at most 20"),
        ),
        (
            json!({"decision": "ASK", "question": "x", "reason": false}),
            Err("reason is a boolean"),
        ),
    ] {
        check(&answer.to_string(), expected);
    }
    for (answer, problem) in [
        ("", "empty"),
        ("I cannot help with that.", "no JSON object"),
        ("[]", "no JSON object"),
    ] {
        check(answer, Err(problem));
    }
    check(
        "Sure!\n```json\n{\"decision\": \"NOOP\", \"answer\": \"x\"}\n```\nBye.",
        Ok("NOOP"),
    );
}

#[test]
fn answers_with_calls() {
    let ticket =
        |arguments: Value| json!({"name": "jira.create_ticket", "arguments": arguments, "reason": "asked"});
    let good = json!({"summary": "s", "project": "PAY"});
    for (calls, expected) in [
        (json!([ticket(good.clone())]), Ok("ACT")),
        (
            json!([ticket(
                json!({"summary": "s", "project": "APP", "points": 3, "labels": ["a"], "ratio": 1, "urgent": true, "extra": {"x": 1}})
            )]),
            Ok("ACT"),
        ),
        (
            json!([ticket(json!("{\"summary\": \"s\", \"project\": \"PAY\"}"))]),
            Ok("ACT"),
        ),
        (
            json!([{"name": "status"}, {"name": "status", "arguments": null}, {"name": "status", "arguments": {}}]),
            Ok("ACT"),
        ),
        (
            json!([{"name": "open", "arguments": {"gate": "south", "more": 1}}]),
            Ok("ACT"),
        ),
        (json!([]), Err("at least one entry")),
        (json!(null), Err("at least one entry")),
        (json!({"name": "status"}), Err("tool_calls is an object")),
        (json!(["status"]), Err("tool_calls[0]: it is a string")),
        (json!([{}]), Err("tool_calls[0]: name is missing")),
        (json!([{"name": 5}]), Err("name is missing")),
        (
            json!([{"name": "jira_create_ticket", "arguments": good}]),
            Err("there is no tool \"jira_create_ticket\"; the tools are: memory.propose_add"),
        ),
        (
            json!([{"name": "JIRA.create_ticket", "arguments": good}]),
            Err("there is no tool"),
        ),
        (json!([{"name": "", "arguments": {}}]), Err("there is no tool")),
        (
            json!([{"name": "status"}, {"name": "sms.send"}]),
            Err("tool_calls[1]: there is no tool"),
        ),
        (
            json!([ticket(json!({"summary": "s"}))]),
            Err("\"project\" is a required property"),
        ),
        (
            json!([ticket(json!({"summary": 7, "project": "PAY"}))]),
            Err("/summary: 7 is not of type \"string\""),
        ),
        (
            json!([ticket(json!({"summary": "s", "project": "OPS"}))]),
            Err("/project: \"OPS\" is not one of"),
        ),
        (
            json!([ticket(json!({"summary": "s", "project": "PAY", "points": "3"}))]),
            Err("/points"),
        ),
        (
            json!([ticket(json!({"summary": "s", "project": "PAY", "points": 1.5}))]),
            Err("/points"),
        ),
        (
            json!([ticket(json!({"summary": "s", "project": "PAY", "labels": "a"}))]),
            Err("/labels"),
        ),
        (
            json!([ticket(json!({"summary": "s", "project": "PAY", "labels": [1]}))]),
            Err("/labels/0"),
        ),
        (
            json!([ticket(json!({"summary": "s", "project": "PAY", "urgent": "yes"}))]),
            Err("/urgent"),
        ),
        (
            json!([ticket(json!({"summary": "s", "project": "PAY", "colour": "red"}))]),
            Err("colour"),
        ),
        (json!([ticket(json!([]))]), Err("arguments is not an object")),
        (json!([ticket(json!("PAY"))]), Err("arguments is not an object")),
        (
            json!([ticket(json!({"summary": "x".repeat(70_000), "project": "PAY"}))]),
            Err("65536 bytes"),
        ),
        (
            json!([{"name": "open", "arguments": {"gate": "s"}}]),
            Err("/gate"),
        ),
        (json!([{"name": "status", "arguments": {"x": 1}}]), Err("x")),
        (
            json!([{"name": "status", "reason": 1}]),
            Err("reason is a number"),
        ),
        (json!(vec![json!({"name": "status"}); 17]), Err("at most 16")),
    ] {
        check(
            &json!({"decision": "ACT", "tool_calls": calls, "message": "m"}).to_string(),
            expected,
        );
    }
}

#[test]
fn requests_for_memory() {
    for (name, arguments, expected) in [
        (
            "memory.propose_add",
            json!({"type": "fact", "content": "x"}),
            Ok("ACT"),
        ),
        (
            "memory.propose_add",
            json!({"type": "metric", "content": "x", "ttl_seconds": 60}),
            Ok("ACT"),
        ),
        (
            "memory.propose_add",
            json!({"type": "metric", "content": "x", "ttl_seconds": 0}),
            Err("/ttl_seconds"),
        ),
        (
            "memory.propose_add",
            json!({"type": "metric", "content": "x", "ttl_seconds": 999_999_999}),
            Err("/ttl_seconds"),
        ),
        (
            "memory.propose_add",
            json!({"type": "secret", "content": "x"}),
            Err("/type"),
        ),
        ("memory.propose_add", json!({"type": "fact"}), Err("content")),
        (
            "memory.propose_add",
            json!({"type": "fact", "content": ""}),
            Err("/content"),
        ),
        (
            "memory.propose_add",
            json!({"type": "fact", "content": "  "}),
            Err("content is empty"),
        ),
        (
            "memory.propose_add",
            json!({"type": "fact", "content": "x", "status": "accepted"}),
            Err("status"),
        ),
        (
            "memory.propose_update",
            json!({"id": "a", "content": "x"}),
            Ok("ACT"),
        ),
        (
            "memory.propose_update",
            json!({"id": "a", "status": "done"}),
            Ok("ACT"),
        ),
        (
            "memory.propose_update",
            json!({"id": "a", "status": "rejected"}),
            Err("/status"),
        ),
        (
            "memory.propose_update",
            json!({"id": "a"}),
            Err("content or status"),
        ),
        (
            "memory.propose_update",
            json!({"id": "a", "content": "x", "status": "done"}),
            Err("not both"),
        ),
        ("memory.propose_update", json!({"content": "x"}), Err("id")),
        ("memory.delete", json!({"id": "a"}), Err("there is no tool")),
    ] {
        let calls = json!([{"name": name, "arguments": arguments}]);
        check(
            &json!({"decision": "ACT", "tool_calls": calls, "message": "m"}).to_string(),
            expected,
        );
    }
    for (proposal, expected) in [
        (json!({"type": "fact", "content": "x"}), Ok("NOOP")),
        (
            json!({"type": "fact", "content": "x", "ttl_seconds": null, "evidence": null, "contradicts": ["m1"], "status": "proposed"}),
            Ok("NOOP"),
        ),
        (
            json!({"type": "fact", "content": "x", "evidence": [{"kind": "message", "quote": "x"}]}),
            Ok("NOOP"),
        ),
        (
            json!({"type": "fact", "content": "x", "evidence": ["x"]}),
            Err("memory_proposals[0]: /evidence/0"),
        ),
        (
            json!({"type": "thought", "content": "x"}),
            Err("memory_proposals[0]: /type"),
        ),
        (json!({"content": "x"}), Err("\"type\" is a required property")),
        (json!("x"), Err("memory_proposals[0]")),
    ] {
        check(
            &json!({"decision": "NOOP", "answer": "a", "memory_proposals": [proposal]}).to_string(),
            expected,
        );
    }
}

#[test]
fn the_risk_is_that_of_the_tool_whatever_the_model_says() {
    let call = json!({"name": "status", "risk": "low", "requires_approval": false, "status": "approved"});
    let draft = run(&json!({"decision": "ACT", "tool_calls": [call]}).to_string()).unwrap();
    let DraftDecision::Act { calls, .. } = draft.decision else {
        panic!("ACT")
    };
    assert_eq!((calls[0].risk, calls[0].requires_approval), (Risk::High, true));
}

#[test]
fn all_problems_are_told_at_once() {
    let answer = json!({"decision": "ACT", "tool_calls": [{"name": "sms"}, {"name": "open"}], "message": 1, "citations": 2});
    assert_eq!(run(&answer.to_string()).unwrap_err().len(), 4);
}

#[test]
fn secrets_are_masked_before_anything_is_derived() {
    let answer =
        json!({"decision": "NOOP", "answer": "The token is ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8."});
    let draft = run(&answer.to_string()).unwrap();
    assert_eq!(
        draft.decision,
        DraftDecision::Noop {
            answer: "The token is [redacted:github-token].".to_owned()
        }
    );
}

fn json_values() -> impl Strategy<Value = Value> {
    let words = prop::sample::select(vec![
        "ACT",
        "ASK",
        "NOOP",
        "decision",
        "answer",
        "question",
        "tool_calls",
        "name",
        "arguments",
        "status",
        "memory.propose_add",
        "memory_proposals",
        "citations",
        "type",
        "content",
        "fact",
        "c1",
        "quote",
        "twelve items",
        "options",
        "é",
        "",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        words.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(words.clone(), inner, 0..6).prop_map(|map| Value::Object(
                map.into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect()
            )),
        ]
    })
}

proptest! {
    #[test]
    fn any_json_is_survived(value in json_values()) {
        if let Ok(draft) = run(&value.to_string()) {
            for citation in draft.citations {
                prop_assert!(sources()[0].text.contains(&citation.quote));
            }
        }
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
        let _ = run(&String::from_utf8_lossy(&bytes));
    }
}
