//! Streams of providers that break, or pause.

use crate::scene::{Scene, behave, file, saying};
use grov_proxy_core::Outcome;
use std::time::Duration;

/// Asserts that a stream ends with an error, and that the client never saw an end of the turn.
async fn assert_interrupted(scene: &Scene, words: &str) {
    let answer = scene.ask(Some("l0"), true).await;
    let events = answer.events();
    let error = events.iter().find(|event| event["type"] == "error");
    let message = error.unwrap_or_else(|| panic!("{}", answer.body))["error"]["message"].to_string();
    assert!(message.contains(words), "{message}");
    assert!(
        !answer.body.contains("end_turn") && !answer.body.contains("message_delta"),
        "{}",
        answer.body
    );
    assert_eq!(scene.seen.next().await.0, Outcome::UpstreamError);
    crate::scene::until("the count", || scene.counter("failed") == 1).await;
    assert_eq!(scene.counter("completed"), 0);
}

#[tokio::test]
async fn cut_stream_ends_with_an_error_and_not_with_an_end_of_the_turn() {
    for behaviour in ["cut-events=3", "cut-events=3,cut-reset", "cut-events=3,http10"] {
        let provider = saying(&"words ".repeat(40)).await;
        behave(&provider, behaviour);
        let scene = Scene::with(Some(&file(&[&provider], ""))).await;
        assert_interrupted(&scene, "[CONNECTION]").await;
    }
}

#[tokio::test]
async fn error_inside_a_stream_is_an_error_for_the_client() {
    let provider = saying(&"words ".repeat(40)).await;
    behave(&provider, "error-event=3");
    let scene = Scene::with(Some(&file(&[&provider], ""))).await;
    assert_interrupted(&scene, "overloaded").await;
}

#[tokio::test]
async fn silent_stream_is_given_up_after_the_limit() {
    let provider = saying(&"words ".repeat(40)).await;
    behave(&provider, "stall-events=3");
    let text = file(&[&provider], "");
    let scene = Scene::with_settings(Some(&text), Duration::from_millis(500)).await;
    assert_interrupted(&scene, "[TIMEOUT]").await;
}

#[tokio::test]
async fn client_gets_pings_while_a_provider_is_silent() {
    let provider = saying("one two").await;
    behave(&provider, "event-delay=300");
    let scene = Scene::with(Some(&file(&[&provider], ""))).await;
    let answer = scene.ask(Some("l0"), true).await;
    let pings = answer
        .events()
        .iter()
        .filter(|event| event["type"] == "ping")
        .count();
    assert!(pings >= 2, "{}", answer.body);
    assert_eq!(answer.blocks(), [("text".to_owned(), "one two".to_owned())]);
}
