//! Requests that are answered without a provider, or go to Anthropic.

use crate::scene::{Scene, behave, file, message, provider, saying, scenario, until};
use serde_json::json;

#[tokio::test]
async fn request_without_marker_goes_to_anthropic_unchanged() {
    let provider = saying("provider").await;
    let scene = Scene::with(Some(&file(&[&provider], ""))).await;
    scene.anthropic.set_script(scenario("anthropic"));
    let body = message(None, false);
    let answer = scene.ask(None, false).await;
    assert_eq!(answer.json()["content"][0]["text"], "anthropic");
    assert_eq!(answer.route, None);
    let sent = scene.anthropic.messages().remove(0);
    assert_eq!(sent.body, body.to_string());
    assert_eq!(sent.header("x-api-key"), Some("client-secret"));
    assert!(provider.requests().is_empty());
}

#[tokio::test]
async fn marker_without_a_provider_file_gets_the_stub() {
    let scene = Scene::with(None).await;
    let whole = scene.ask(Some("fast"), false).await;
    assert_eq!(
        (whole.status, whole.json()["id"].as_str()),
        (200, Some("msg_stub_local_route"))
    );
    let stream = scene.ask(Some("fast"), true).await;
    assert_eq!(stream.events()[0]["message"]["id"], "msg_stub_local_route");
    assert_eq!(stream.route.as_deref(), Some("fast; grov; answered locally"));
    assert!(scene.anthropic.requests().is_empty());
    // Without a marker, nothing changes.
    assert_eq!(scene.ask(None, false).await.status, 200);
    assert_eq!(scene.anthropic.requests().len(), 1);
}

#[tokio::test]
async fn unknown_label_is_refused_with_the_nearest_one() {
    let provider = saying("provider").await;
    let scene = Scene::with(Some(&file(&[&provider], ""))).await;
    let answer = scene.ask(Some("l9"), false).await;
    assert_eq!(
        (answer.status, &answer.json()["error"]["type"]),
        (400, &json!("invalid_request_error"))
    );
    assert!(answer.error().contains("`l0`"), "{}", answer.error());
    assert!(scene.anthropic.requests().is_empty() && provider.requests().is_empty());
}

#[tokio::test]
async fn marker_with_a_broken_provider_file_says_what_is_wrong() {
    let scene = Scene::with(Some("providers:\n\t- name: x\n")).await;
    let answer = scene.ask(Some("fast"), false).await;
    assert_eq!(answer.status, 400);
    assert!(answer.error().contains("line 2"), "{}", answer.error());
    assert!(scene.anthropic.requests().is_empty());
    let health = scene.page("health").await;
    assert_eq!(health["routes"]["problems"][0]["line"], 2);
    assert_eq!(scene.counter("not_loaded"), 1);
}

#[tokio::test]
async fn token_counts_are_answered_here() {
    let provider = saying("provider").await;
    let scene = Scene::with(Some(&file(&[&provider], ""))).await;
    let answer = scene
        .post("/v1/messages/count_tokens", &message(Some("l0"), false))
        .await;
    let tokens = answer.json()["input_tokens"].as_u64().unwrap();
    assert!((20..200).contains(&tokens), "{tokens}");
    assert_eq!(answer.route.as_deref(), Some("l0; grov; answered locally"));
    let other = scene
        .post("/v1/messages/batches", &message(Some("l0"), false))
        .await;
    assert_eq!(other.status, 400);
    assert!(scene.anthropic.requests().is_empty() && provider.requests().is_empty());
    // Without a marker, Anthropic counts.
    scene
        .post("/v1/messages/count_tokens", &message(None, false))
        .await;
    assert_eq!(scene.anthropic.requests().len(), 1);
}

#[tokio::test]
async fn thinking_of_another_model_does_not_go_to_anthropic() {
    let scene = Scene::with(None).await;
    let mut body = message(None, false);
    let own = json!({"type": "thinking", "thinking": "hm", "signature": grov_route::OWN_SIGNATURE});
    body["messages"] = json!([
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [own, {"type": "text", "text": "ho"}]},
        {"role": "user", "content": "go"},
    ]);
    let answer = scene.post("/v1/messages", &body).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let sent = scene.anthropic.messages().remove(0);
    body["messages"][1]["content"].as_array_mut().unwrap().remove(0);
    assert_eq!(sent.body, body.to_string());
    assert_eq!(sent.header("x-api-key"), Some("client-secret"));
}

#[tokio::test]
async fn marked_request_that_is_unreadable_never_reaches_anthropic() {
    let provider = saying("provider").await;
    let scene = Scene::with(Some(&file(&[&provider], ""))).await;
    let marked = message(Some("l0"), false).to_string();
    let answer = scene
        .post_text("/v1/messages", &format!("\u{feff}{marked}"))
        .await;
    assert_eq!(answer.status, 400);
    assert!(answer.error().contains("unreadable"), "{}", answer.body);
    let lone = marked.replacen("Be brief.", r"Be brief. \ud83d", 1);
    let answer = scene.post_text("/v1/messages", &lone).await;
    assert_eq!(answer.json()["content"][0]["text"], "provider", "{}", answer.body);
    assert!(scene.anthropic.requests().is_empty());
}

#[tokio::test]
async fn misspelled_marker_is_passed_on_and_shown() {
    let provider = saying("provider").await;
    let scene = Scene::with(Some(&file(&[&provider], ""))).await;
    let wrong = "<!-- @proxy-local-route:af83e9 model = l0 -->";
    let mut body = message(None, false);
    body["system"][0]["text"] = format!("Be brief. {wrong}").into();
    for _ in 0..2 {
        assert_eq!(scene.post("/v1/messages", &body).await.status, 200);
    }
    assert_eq!(scene.anthropic.messages().remove(0).body, body.to_string());
    let health = scene.page("health").await;
    assert_eq!(health["routes"]["misspelled_markers"], json!([wrong]));
}

#[tokio::test]
async fn provider_without_its_variable_is_refused_alone() {
    let (with, without) = (saying("with").await, saying("without").await);
    let text = file(&[&with, &without], "").replace("provider-key-1", "${UNSET_VARIABLE}");
    let scene = Scene::with(Some(&text)).await;
    assert_eq!(scene.ask(Some("l0"), false).await.status, 200);
    let answer = scene.ask(Some("l1"), false).await;
    assert_eq!(answer.status, 400);
    assert!(
        answer.error().contains("`p1`") && answer.error().contains("UNSET_VARIABLE"),
        "{}",
        answer.error()
    );
    assert!(without.requests().is_empty() && scene.anthropic.requests().is_empty());
    let routes = scene.page("routes").await;
    assert!(routes["routes"][1]["unusable"].is_string(), "{routes}");
}

#[tokio::test]
async fn request_that_would_take_too_much_memory_is_too_large() {
    let provider = saying("provider").await;
    let scene = Scene::with(Some(&file(&[&provider], ""))).await;
    let mut body = message(Some("l0"), false);
    body["messages"] = vec![json!({}); 1_000_001].into();
    let answer = scene.post("/v1/messages", &body).await;
    assert_eq!(
        (answer.status, &answer.json()["error"]["type"]),
        (413, &json!("request_too_large"))
    );
    assert!(provider.requests().is_empty());
}

#[tokio::test]
async fn state_of_a_provider_is_unknown_until_it_is_contacted() {
    let provider = saying("provider").await;
    let scene = Scene::with(Some(&file(&[&provider], ""))).await;
    let state = |page: &serde_json::Value| {
        let route = &page["routes"][0];
        (route["contacted"].clone(), route["healthy"].clone())
    };
    assert_eq!(state(&scene.page("routes").await), (json!(false), json!(null)));
    scene.ask(Some("l0"), false).await;
    assert_eq!(state(&scene.page("routes").await), (json!(true), json!(true)));
}

#[tokio::test]
async fn health_is_what_requests_got() {
    for (behaviour, fault) in [("status=401", "status 401"), ("status=500", "status 500")] {
        let provider = saying("provider").await;
        let scene = Scene::with(Some(&file(&[&provider], ""))).await;
        scene.ask(Some("l0"), false).await;
        behave(&provider, behaviour);
        scene.ask(Some("l0"), false).await;
        let page = scene.page("routes").await;
        let route = &page["routes"][0];
        assert_eq!(
            (&route["healthy"], &route["fault"]),
            (&json!(false), &json!(fault)),
            "{route}"
        );
    }
}

#[tokio::test]
async fn an_empty_answer_is_no_success() {
    let provider = saying("provider").await;
    behave(&provider, "empty");
    let scene = Scene::with(Some(&file(&[&provider], ""))).await;
    let answer = scene.ask(Some("l0"), true).await;
    assert_eq!(answer.status, 502, "{}", answer.body);
    assert!(
        answer.error().contains("the answer is empty"),
        "{}",
        answer.error()
    );
    assert_eq!(scene.counter("completed"), 0);
    let page = scene.page("routes").await;
    assert_eq!(page["routes"][0]["healthy"], false, "{page}");
}

#[tokio::test]
async fn an_answer_without_content_is_no_success() {
    let provider = provider(&json!({"say": {"steps": [{"blocks": []}]}})).await;
    let scene = Scene::with(Some(&file(&[&provider], ""))).await;
    scene.ask(Some("l0"), true).await;
    until("the end", || scene.counter("failed") == 1).await;
    assert_eq!(scene.counter("completed"), 0);
    let page = scene.page("routes").await;
    let route = &page["routes"][0];
    assert_eq!(
        (&route["healthy"], &route["fault"]),
        (&json!(false), &json!("the answer is empty"))
    );
    assert_eq!(page["decisions"][0]["result"], "failed", "{page}");
}

#[tokio::test]
async fn an_unreachable_provider_is_named_with_address_and_reason() {
    let provider = saying("provider").await;
    let text = file(&[&provider], "").replace(&provider.url(), "http://127.0.0.1:9");
    let scene = Scene::with(Some(&text)).await;
    let answer = scene.ask(Some("l0"), true).await;
    assert_eq!(answer.status, 502);
    let error = answer.error();
    assert!(
        error.contains("http://127.0.0.1:9/v1") && error.to_ascii_lowercase().contains("refused"),
        "{error}"
    );
}

#[tokio::test]
async fn a_call_of_a_tool_counts_its_tokens() {
    let call = json!({"type": "tool_use", "name": "Write", "input": {"path": "a"}});
    let provider = provider(&json!({"say": {"steps": [{"blocks": [call]}]}})).await;
    let scene = Scene::with(Some(&file(&[&provider], ""))).await;
    for stream in [true, false] {
        scene.ask(Some("l0"), stream).await;
        let (_, [input, _, output]) = scene.seen.next().await;
        assert!(input > 0 && output > 0, "{stream}: {input} {output}");
        let used = scene.usage.lock().unwrap().try_recv().unwrap().tokens;
        assert_eq!((used.input, used.output), (input, output), "{stream}");
    }
}
