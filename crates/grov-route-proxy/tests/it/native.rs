//! Providers that speak the Messages API.

use crate::scene::{Scene, behave, message, scenario};
use grov_sim::{Sim, SimConfig};
use serde_json::Value;

async fn native() -> (Sim, Scene) {
    let provider = Sim::start(SimConfig {
        scenarios: scenario("native"),
        ..SimConfig::default()
    })
    .await
    .unwrap();
    let text = format!(
        "providers:\n  - name: local\n    endpoint: {}/\n    api: anthropic\n    api_key: ${{KEY}}\n    models:\n      l0: qwen\n",
        provider.url()
    );
    let scene = Scene::with(Some(&text)).await;
    (provider, scene)
}

#[tokio::test]
async fn request_passes_with_another_model_and_key() {
    let (provider, scene) = native().await;
    for stream in [true, false] {
        let answer = scene.ask(Some("l0"), stream).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert!(answer.body.contains("native"), "{}", answer.body);
        assert!(scene.seen.next().await.1[2] > 0, "no usage");
    }
    let request = provider.requests().remove(0);
    assert_eq!(request.path, "/v1/messages");
    assert_eq!(request.header("x-api-key"), Some("key-from-variable"));
    assert_eq!(request.header("anthropic-beta"), None);
    let sent: Value = serde_json::from_slice(&request.body).unwrap();
    let mut expected = message(Some("l0"), true);
    expected["model"] = "qwen".into();
    expected["system"][0]["text"] = "Be brief.".into();
    expected["system"][1]["text"] = "Really.".into();
    assert_eq!(sent, expected);
    assert!(scene.anthropic.requests().is_empty());
}

#[tokio::test]
async fn errors_do_not_look_like_those_of_the_clients_account() {
    for (behaviour, status, words) in [
        ("status=401", 400, "[HTTP_401]"),
        ("status=529", 502, "[HTTP_529]"),
        ("hangup", 502, "[CONNECTION]"),
    ] {
        let (provider, scene) = native().await;
        behave(&provider, behaviour);
        let answer = scene.ask(Some("l0"), true).await;
        assert_eq!(answer.status, status, "{behaviour}: {}", answer.body);
        assert!(answer.error().contains(words), "{}", answer.error());
    }
}

#[tokio::test]
async fn cut_stream_ends_with_an_error_event() {
    let (provider, scene) = native().await;
    behave(&provider, "cut-events=4");
    let answer = scene.ask(Some("l0"), true).await;
    let events = answer.events();
    assert_eq!(events.last().unwrap()["type"], "error", "{}", answer.body);
    assert!(!answer.body.contains("message_stop"));
}
