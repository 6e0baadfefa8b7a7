//! Fallbacks, keys and the circuit breaker.

use crate::scene::{Scene, answering, behave, file, message, saying};
use std::time::Duration;

/// A provider file whose first label falls back to the second one.
fn with_fallback(first: &str, second: &str) -> String {
    format!(
        "providers:\n  - name: first\n    endpoint: {first}/v1\n    api_keys: [key-a, key-b]\n    models:\n      l0:\n        model: m0\n        \
         fallback: [l1]\n  - name: second\n    endpoint: {second}/v1\n    api_key: key-c\n    models:\n      l1: m1\n"
    )
}

fn keys(sim: &grov_sim::Sim) -> Vec<String> {
    let requests = sim.requests();
    requests
        .iter()
        .filter_map(|request| request.header("authorization").map(str::to_owned))
        .collect()
}

#[tokio::test]
async fn next_target_answers_after_a_failure_of_the_first() {
    for behaviour in ["status=500", "status=529", "status=408", "hangup", "reset"] {
        let (first, second) = (saying("first").await, saying("second").await);
        behave(&first, behaviour);
        let scene = Scene::with(Some(&with_fallback(&first.url(), &second.url()))).await;
        let answer = scene.ask(Some("l0"), true).await;
        assert_eq!(answer.blocks()[0].1, "second", "{behaviour}");
        assert!(answer.route.unwrap().starts_with("l0; second/m1"), "{behaviour}");
        // One attempt: another key does not help.
        assert_eq!(keys(&first), ["Bearer key-a"], "{behaviour}");
        assert_eq!(keys(&second), ["Bearer key-c"], "{behaviour}");
        assert_eq!(scene.counter("retried"), 1);
    }
}

#[tokio::test]
async fn next_target_answers_if_the_first_refuses_connections() {
    let (first, second) = (saying("first").await, saying("second").await);
    let url = first.url();
    first.shutdown().await;
    let scene = Scene::with(Some(&with_fallback(&url, &second.url()))).await;
    let answer = scene.ask(Some("l0"), false).await;
    assert_eq!(answer.json()["content"][0]["text"], "second");
}

#[tokio::test]
async fn an_accepted_answer_that_is_none_leads_to_the_next_target_and_opens_the_circuit() {
    for body in [
        "",
        "<html>",
        r#"{"error":{"code":503,"message":"busy"}}"#,
        r#"{"choices":[]}"#,
    ] {
        for api in ["", "    api: anthropic\n"] {
            let (first, second) = (answering(body), saying("second").await);
            let text = with_fallback(&first, &second.url());
            let text = text.replacen("    models:", &format!("{api}    models:"), 1);
            let scene = Scene::with(Some(&text)).await;
            for _ in 0..4 {
                let answer = scene.ask(Some("l0"), false).await;
                assert_eq!(answer.json()["content"][0]["text"], "second", "{api}{body}");
            }
            assert_eq!(scene.counter("retried"), 3, "{api}{body}");
            let routes = scene.page("routes").await;
            assert_eq!(routes["routes"][0]["circuit"], "open", "{api}{body}");
        }
    }
}

#[tokio::test]
async fn a_recovered_fallback_is_used_again() {
    let (first, second) = (saying("first").await, saying("second").await);
    behave(&first, "status=500,times=2");
    behave(&second, "status=429,retry-after=1,times=1");
    let scene = Scene::with(Some(&with_fallback(&first.url(), &second.url()))).await;
    assert_ne!(scene.ask(Some("l0"), false).await.status, 200);
    while scene.page("routes").await["routes"][1]["circuit"] != "half-open" {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let answer = scene.ask(Some("l0"), false).await;
    assert_eq!(answer.json()["content"][0]["text"], "second");
    assert_eq!(scene.page("routes").await["routes"][1]["circuit"], "closed");
}

#[tokio::test]
async fn limited_key_is_replaced_by_the_next_and_rests() {
    let (first, second) = (saying("first").await, saying("second").await);
    behave(&first, "status=429,retry-after=60,times=1");
    let scene = Scene::with(Some(&with_fallback(&first.url(), &second.url()))).await;
    for _ in 0..2 {
        let answer = scene.ask(Some("l0"), true).await;
        assert_eq!(answer.blocks()[0].1, "first");
    }
    assert_eq!(keys(&first), ["Bearer key-a", "Bearer key-b", "Bearer key-b"]);
    assert!(second.requests().is_empty());
}

#[tokio::test]
async fn refusal_of_the_request_is_not_tried_elsewhere() {
    let (first, second) = (saying("first").await, saying("second").await);
    behave(&first, "status=400");
    let scene = Scene::with(Some(&with_fallback(&first.url(), &second.url()))).await;
    assert_eq!(scene.ask(Some("l0"), true).await.status, 400);
    assert!(second.requests().is_empty());
}

#[tokio::test]
async fn failing_provider_rests_until_it_may_have_recovered() {
    let provider = saying("provider").await;
    behave(&provider, "status=503,times=3");
    let scene = Scene::with(Some(&file(&[&provider], ""))).await;
    for _ in 0..3 {
        assert_eq!(scene.ask(Some("l0"), false).await.status, 502);
    }
    let answer = scene.ask(Some("l0"), false).await;
    assert_eq!(answer.status, 503);
    assert!(
        answer.error().contains("several requests in a row failed at p0"),
        "{}",
        answer.error()
    );
    let wait: u64 = answer.retry_after.unwrap().parse().unwrap();
    assert!((1..=11).contains(&wait), "{wait}");
    assert_eq!(provider.requests().len(), 3);
    let routes = scene.page("routes").await;
    let route = &routes["routes"][0];
    assert_eq!(
        (&route["label"], &route["healthy"], &route["circuit"]),
        (&"l0".into(), &false.into(), &"open".into())
    );
    assert_eq!(scene.counter("circuit_open"), 1);
    // A fallback would be used instead; Anthropic never is.
    assert!(scene.anthropic.requests().is_empty());
}

#[tokio::test]
async fn probe_that_cannot_be_translated_does_not_block_the_provider() {
    let provider = saying("provider").await;
    behave(&provider, "status=429,retry-after=1,times=1");
    let scene = Scene::with(Some(&file(&[&provider], ""))).await;
    assert_eq!(scene.ask(Some("l0"), false).await.status, 429);
    while scene.page("routes").await["routes"][0]["circuit"] != "half-open" {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let mut wrong = message(Some("l0"), false);
    wrong["messages"] = 5.into();
    assert_eq!(scene.post("/v1/messages", &wrong).await.status, 400);
    let answer = scene.ask(Some("l0"), false).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
}

#[tokio::test]
async fn one_limit_is_not_called_repeated_failures() {
    let provider = saying("provider").await;
    behave(&provider, "status=429,retry-after=60,times=1");
    let scene = Scene::with(Some(&file(&[&provider], ""))).await;
    let first = scene.ask(Some("l0"), false).await;
    assert!(
        first.error().starts_with("[HTTP_429] Grov: p0: "),
        "{}",
        first.error()
    );
    let answer = scene.ask(Some("l0"), false).await;
    assert_eq!(answer.status, 503);
    assert!(
        answer.error().contains("the request limit is reached at p0"),
        "{}",
        answer.error()
    );
}
