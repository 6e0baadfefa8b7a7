//! Exchanges with a provider of another API.

use crate::scene::{Scene, behave, file, provider, saying};
use grov_proxy_core::Outcome;
use serde_json::{Value, json};

#[tokio::test]
async fn marked_agent_is_answered_by_its_provider() {
    let provider = saying("Hello from elsewhere.").await;
    let scene = Scene::with(Some(&file(&[&provider], ""))).await;
    for stream in [false, true] {
        let answer = scene.ask(Some("l0"), stream).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        let route = answer.route.clone().unwrap();
        assert_eq!(route, "l0; p0/model-0; marker in the system prompt");
        if stream {
            assert_eq!(
                answer.blocks(),
                [("text".to_owned(), "Hello from elsewhere.".to_owned())]
            );
            assert_eq!(answer.events().last().unwrap()["type"], "message_stop");
        } else {
            let message = answer.json();
            assert_eq!(message["content"][0]["text"], "Hello from elsewhere.");
            assert_eq!(
                (&message["model"], &message["stop_reason"]),
                (&json!("l0"), &json!("end_turn"))
            );
        }
        let (outcome, [input, _, output]) = scene.seen.next().await;
        assert!(
            outcome == Outcome::Complete && input > 0 && output > 0,
            "{outcome:?} {input} {output}"
        );
    }
    let requests = provider.requests();
    let body: Value = serde_json::from_slice(&requests[0].body).unwrap();
    assert_eq!(body["model"], "model-0");
    assert!(!body.to_string().contains("proxy-local-route"), "{body}");
    assert_eq!(requests[0].path, "/v1/chat/completions");
    assert!(scene.anthropic.requests().is_empty());
    crate::scene::until("the counters", || scene.counter("completed") == 2).await;
    assert_eq!((scene.counter("routed"), scene.counter("failed")), (2, 0));
    let usage = scene.usage.lock().unwrap().try_recv().unwrap();
    assert_eq!(
        (
            usage.provider.as_str(),
            usage.label.as_str(),
            usage.model.as_str()
        ),
        ("p0", "l0", "model-0")
    );
    // A provider on this machine costs nothing; the price of the model that was asked for is known.
    assert_eq!((usage.requests, usage.unpriced, usage.cost.0), (1, 0, 0));
    assert!(usage.tokens.output > 0 && usage.asked_cost.0 > 0, "{usage:?}");
}

/// A provider that thinks, speaks, and calls two tools.
fn calling() -> Value {
    let call = |path| json!({"type": "tool_use", "name": "Write", "input": {"path": path}});
    let thinking = json!({"type": "thinking", "thinking": "Two files."});
    let text = json!({"type": "text", "text": "I write both."});
    json!({"say": {"steps": [{"blocks": [thinking, text, call("one"), call("two")]}]}})
}

#[tokio::test]
async fn quirks_of_providers_do_not_reach_the_client() {
    let expected = [
        ("thinking", "Two files."),
        ("text", "I write both."),
        ("tool_use", "{\"path\":\"one\"}"),
        ("tool_use", "{\"path\":\"two\"}"),
    ];
    for (quirks, transforms) in [
        ("", "reasoning"),
        ("quirk=numeric-ids", "reasoning"),
        ("quirk=no-ids", "reasoning"),
        ("quirk=interleaved", "reasoning"),
        ("quirk=interleaved,quirk=numeric-ids", "reasoning, enhancetool"),
        ("quirk=usage-on-finish", "reasoning"),
        ("quirk=usage-null-choices", "reasoning"),
        ("quirk=no-usage", "reasoning"),
        ("quirk=no-done", "reasoning"),
        ("quirk=think", "extrathinktag"),
        ("quirk=reasoning", "openrouter, reasoning"),
        ("json", "reasoning"),
        ("frame=7", "reasoning"),
    ] {
        let provider = provider(&calling()).await;
        behave(&provider, quirks);
        let more = format!("    transform: [{transforms}]\n");
        let scene = Scene::with(Some(&file(&[&provider], &more))).await;
        let answer = scene.ask(Some("l0"), true).await;
        let blocks = answer.blocks();
        let blocks: Vec<(&str, &str)> = blocks
            .iter()
            .map(|(kind, text)| (kind.as_str(), text.as_str()))
            .collect();
        assert_eq!(blocks, expected, "{quirks}: {}", answer.body);
        let events = answer.events();
        let end = &events[events.len() - 2];
        assert_eq!(end["delta"]["stop_reason"], "tool_use", "{quirks}");
        let ids: Vec<&Value> = events
            .iter()
            .map(|event| &event["content_block"]["id"])
            .filter(|id| id.is_string())
            .collect();
        assert!(ids.len() == 2 && ids[0] != ids[1], "{quirks}: {ids:?}");
        assert_eq!(scene.seen.next().await.0, Outcome::Complete, "{quirks}");
    }
}

#[tokio::test]
async fn errors_of_providers_are_errors_of_the_messages_api() {
    for (behaviour, stream, status, kind, words) in [
        ("status=401", true, 400, "api_error", "[HTTP_401]"),
        ("status=404", false, 400, "api_error", "[HTTP_404]"),
        (
            "status=429,retry-after=9",
            true,
            429,
            "rate_limit_error",
            "[HTTP_429]",
        ),
        ("status=500", false, 502, "api_error", "[HTTP_500]"),
        ("html", false, 502, "api_error", "[PARSE]"),
        ("empty", false, 502, "api_error", "[PARSE]"),
        ("hangup", true, 502, "api_error", "[CONNECTION]"),
        ("cut-events=0", false, 502, "api_error", "[CONNECTION]"),
    ] {
        let provider = saying("unheard").await;
        behave(&provider, behaviour);
        let scene = Scene::with(Some(&file(&[&provider], ""))).await;
        let answer = scene.ask(Some("l0"), stream).await;
        assert_eq!(answer.status, status, "{behaviour}: {}", answer.body);
        assert_eq!(answer.json()["error"]["type"], kind, "{behaviour}");
        assert!(answer.error().contains(words), "{behaviour}: {}", answer.error());
        assert!(answer.route.unwrap().starts_with("l0; p0/model-0"), "{behaviour}");
        assert_eq!(
            answer.retry_after.is_some(),
            behaviour.contains("retry-after"),
            "{behaviour}"
        );
        assert!(scene.anthropic.requests().is_empty());
    }
}
