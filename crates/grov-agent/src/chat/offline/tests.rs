use super::*;
use crate::tool::built_in_tools;
use crate::{MemoryType, Tool, Tools};
use serde_json::{Value, json};

fn tools() -> Vec<Tool> {
    let mut tools = built_in_tools();
    let own = Tools::parse(&json!([
        {"name": "ops.restart", "parameters": {
            "service": {"type": "string", "required": true, "enum": ["api", "billing-worker"]},
            "count": {"type": "integer"}, "force": {"type": "boolean"}, "factor": {"type": "number"}, "tags": {"type": "array"}}},
        {"name": "ops.restart_all", "parameters": {}},
        {"name": "mail", "parameters": {"to": {"type": "string", "required": true}, "text": {"type": "string", "required": true}}},
    ]))
    .unwrap();
    tools.extend(own.0);
    tools
}

/// The requested call, or `None` for a question.
fn requested(message: &str) -> Option<(String, Value)> {
    let tools = tools();
    let offered = Offered {
        tools: &tools,
        sources: &[],
    };
    match answer(message, offered).decision {
        DraftDecision::Act { mut calls, .. } => calls.pop().map(|call| (call.name, call.arguments)),
        DraftDecision::Ask { .. } => None,
        DraftDecision::Noop { answer } => panic!("{message}: {answer}"),
    }
}

#[test]
fn a_call_is_made_only_if_the_message_names_it_with_every_argument() {
    let restart = |arguments: Value| Some(("ops.restart".to_owned(), arguments));
    for (message, expected) in [
        (
            "Call ops.restart with service=\"api\".",
            restart(json!({"service": "api"})),
        ),
        (
            "ops.restart service: billing-worker, count: 3",
            restart(json!({"service": "billing-worker", "count": 3})),
        ),
        (
            "Bitte ops.restart ausführen, service=api; force=true; factor=1.5",
            restart(json!({"service": "api", "force": true, "factor": 1.5})),
        ),
        (
            "ops.restart {\"service\": \"api\", \"tags\": [\"a\"]}",
            restart(json!({"service": "api", "tags": ["a"]})),
        ),
        (
            "Run ops.restart_all.",
            Some(("ops.restart_all".to_owned(), json!({}))),
        ),
        (
            "mail to=„ada@example.com“, text=「こんにちは 世界」",
            Some((
                "mail".to_owned(),
                json!({"to": "ada@example.com", "text": "こんにちは 世界"}),
            )),
        ),
        // Something is missing, does not fit, is denied, asked, ambiguous or not named.
        ("Call ops.restart", None),
        ("Call ops.restart with service=web", None),
        ("Call ops.restart for the api service", None),
        ("ops.restart service=api service=billing-worker", None),
        ("Do not call ops.restart with service=api", None),
        ("Bitte nicht ops.restart service=api", None),
        ("Should I call ops.restart with service=api?", None),
        ("ops.restart service=api and then ops.restart_all", None),
        ("restart service=api", None),
        ("xops.restart service=api", None),
        ("ops.restart.now service=api", None),
        ("ops.restart {\"service\": \"api\", \"unknown\": 1}", None),
        ("ops.restart service=api count=three", None),
        ("ops.restart service=api count=1 count=2", None),
        ("mail to=\"\" text=x", None),
        ("Restart everything", None),
    ] {
        assert_eq!(requested(message), expected, "{message}");
    }
}

#[test]
fn requests_to_remember_are_understood_in_many_languages() {
    for (message, kind, content) in [
        (
            "Remember that the gate closes at nine.",
            MemoryType::Fact,
            "the gate closes at nine.",
        ),
        (
            "please remember: We decided to paint it blue",
            MemoryType::Decision,
            "We decided to paint it blue",
        ),
        (
            "Merk dir, dass wir immer dienstags liefern",
            MemoryType::Rule,
            "wir immer dienstags liefern",
        ),
        (
            "Souviens-toi que je préfère le thé",
            MemoryType::Preference,
            "je préfère le thé",
        ),
        (
            "Recuerda que el puerto cierra a las 9",
            MemoryType::Fact,
            "el puerto cierra a las 9",
        ),
        (
            "Zapamiętaj, że brama jest zamknięta",
            MemoryType::Fact,
            "brama jest zamknięta",
        ),
        (
            "Запам'ятай, що ми вирішили чекати",
            MemoryType::Decision,
            "ми вирішили чекати",
        ),
        ("门请记住", MemoryType::Fact, ""),
        ("请记住：大门九点关闭", MemoryType::Fact, "大门九点关闭"),
        (
            "門は九時に閉まることを覚えておいて。",
            MemoryType::Fact,
            "門は九時に閉まる",
        ),
        (
            "تذكر أن البوابة تغلق في التاسعة",
            MemoryType::Fact,
            "البوابة تغلق في التاسعة",
        ),
        (
            "Kapının dokuzda kapandığını olduğunu unutma",
            MemoryType::Fact,
            "Kapının dokuzda kapandığını",
        ),
        ("Do you remember that day?", MemoryType::Fact, ""),
        ("Remember that?", MemoryType::Fact, ""),
        ("Notebooks are sold here", MemoryType::Fact, ""),
    ] {
        let found = remember::proposal(message).map(|draft| match draft.decision {
            DraftDecision::Act { calls, .. } => (
                calls[0].arguments["type"].clone(),
                calls[0].arguments["content"].clone(),
            ),
            _ => panic!("ACT"),
        });
        let expected = (!content.is_empty()).then(|| (json!(kind), json!(content)));
        assert_eq!(found, expected, "{message}");
    }
}

#[test]
fn a_request_to_remember_is_answered_in_its_language() {
    for (said, expected) in [
        (
            "Merke dir, dass freitags geliefert wird.",
            "Ich schlage vor, mir das als fact zu merken.",
        ),
        (
            "Remember that the gate closes at nine.",
            "I propose to remember this as fact.",
        ),
        (
            "Souviens-toi que je préfère le thé",
            "Je propose de retenir cela comme preference.",
        ),
        ("请记住：大门九点关闭", "我建议将其记为 fact。"),
    ] {
        let DraftDecision::Act { message, .. } = remember::proposal(said).unwrap().decision else {
            panic!("{said}");
        };
        assert!(message.starts_with(expected), "{message}");
    }
}

#[test]
fn a_call_that_ended_is_told() {
    let mut call = crate::ToolCall {
        id: crate::ToolCallId::fresh(),
        project_id: crate::ProjectId::fresh(),
        thread_id: None,
        name: "mail".to_owned(),
        arguments: json!({}),
        status: ToolCallStatus::Succeeded,
        requires_approval: false,
        risk: crate::Risk::Low,
        reason: String::new(),
        result: Some(json!("```\nsent")),
        error: None,
        decided_by: None,
        memory_item_id: None,
        created_at: time::OffsetDateTime::UNIX_EPOCH,
        expires_at: time::OffsetDateTime::UNIX_EPOCH,
    };
    let DraftDecision::Noop { answer } = continued(&call).decision else {
        panic!("NOOP")
    };
    assert!(answer.ends_with("    ```\n    sent"), "{answer}");
    call.status = ToolCallStatus::Failed;
    call.error = Some("no route".to_owned());
    assert!(
        matches!(continued(&call).decision, DraftDecision::Ask { question, .. } if question.contains("no route"))
    );
    call.status = ToolCallStatus::Rejected;
    assert!(
        matches!(continued(&call).decision, DraftDecision::Noop { answer } if answer.contains("Nothing was done"))
    );
}

fn source(title: &str, category: Option<crate::Category>, text: &str) -> Source {
    Source {
        kind: if category.is_some() {
            crate::SourceKind::Chunk
        } else {
            crate::SourceKind::Memory
        },
        id: title.to_owned(),
        title: title.to_owned(),
        heading_path: vec![title.to_owned()],
        category,
        text: text.to_owned(),
        standing: None,
    }
}

#[test]
fn a_question_is_answered_by_the_sentence_that_has_its_words() {
    use crate::Category::{Facts, Rules, State};
    let sources = [
        source(
            "Lease Mercer Street",
            Some(Facts),
            "The lease of 14 Mercer Street began on 1 May 2021. The tenant is Oakline Bakery.\n",
        ),
        source(
            "Workshop",
            Some(Facts),
            "## Prices\n\n- Basic check: 35 euros\n- Change of chain: 18 euros\n\n| Hall | Opens |\n|---|---|\n| East | 8:00 |\n| West | 9:30 |\n",
        ),
        source("Old host", Some(Facts), "The order database runs on host db-1."),
        source(
            "New host",
            Some(State),
            "Since Monday the order database runs on host db-7.",
        ),
        source(
            "Refunds",
            Some(Rules),
            "A cashier may refund up to 60 EUR without the manager.",
        ),
        source(
            "fact",
            None,
            "The most that a cashier may refund without the manager is 100 EUR.",
        ),
        source(
            "Fristen",
            Some(Rules),
            "Für Schlafsäcke gilt eine Frist von 14 Tagen.",
        ),
        source("返品", Some(Rules), "返品期限は30日です。送料は無料です。"),
        source(
            "Bestellungen",
            Some(Facts),
            "Der Mindestbestellwert beträgt 25 Euro. Bestellt wird online.",
        ),
    ];
    for (question, answered) in [
        ("When did the lease of Mercer Street begin?", None),
        (
            "Wie hoch ist der Mindestbestellwert?",
            Some("Der Mindestbestellwert beträgt 25 Euro."),
        ),
        ("Wie hoch ist der Turm?", None),
        (
            "When began the lease of Mercer Street?",
            Some("The lease of 14 Mercer Street began on 1 May 2021."),
        ),
        ("Who is the guarantor of the lease of 14 Mercer Street?", None),
        (
            "What is the price for a change of chain?",
            Some("Change of chain: 18 euros"),
        ),
        ("When opens the west hall?", Some("West | 9:30")),
        (
            "On which host runs the order database?",
            Some("Since Monday the order database runs on host db-7."),
        ),
        (
            "What is the most that a cashier may refund without the manager?",
            Some("A cashier may refund up to 60 EUR without the manager."),
        ),
        (
            "Welche Frist gilt für Schlafsack?",
            Some("Für Schlafsäcke gilt eine Frist von 14 Tagen."),
        ),
        ("返品期限は何日ですか。", Some("返品期限は30日です。")),
        ("Thanks, have a nice day!", None),
        ("Please change the chain.", None),
        ("?", None),
    ] {
        let draft = answer::from_sources(question, &sources, true);
        let quotes: Vec<String> = draft
            .iter()
            .flat_map(|draft| &draft.citations)
            .map(|citation| citation.quote.clone())
            .collect();
        assert_eq!(
            quotes.first().map(String::as_str),
            answered,
            "{question}: {draft:?}"
        );
        let says = draft
            .as_ref()
            .is_some_and(|draft| format!("{draft:?}").contains("says otherwise"));
        let expected = question.contains("host") || question.contains("cashier");
        assert_eq!(says, expected, "{question}: {draft:?}");
    }
}
