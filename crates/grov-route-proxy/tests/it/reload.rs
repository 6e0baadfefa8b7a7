//! Changes of the provider file while the proxy runs.

use crate::scene::{Scene, file, saying, until};
use std::time::Duration;

#[tokio::test]
async fn changed_file_is_used_and_a_broken_one_is_not() {
    let (old, new) = (saying("old").await, saying("new").await);
    let scene = Scene::with(None).await;
    assert!(
        scene
            .ask(Some("l0"), false)
            .await
            .body
            .contains("msg_stub_local_route")
    );

    std::fs::write(&scene.file, file(&[&old], "")).unwrap();
    until("the first load", || scene.counter("loaded") == 1).await;
    assert_eq!(
        scene.ask(Some("l0"), false).await.json()["content"][0]["text"],
        "old"
    );

    std::fs::write(&scene.file, format!("{}    unknown: 1\n", file(&[&old], ""))).unwrap();
    until("the problem", || scene.counter("not_loaded") == 1).await;
    assert_eq!(
        scene.ask(Some("l0"), false).await.json()["content"][0]["text"],
        "old"
    );
    let answer = scene.ask(Some("l1"), false).await;
    assert!(
        answer.error().contains("older version") && answer.error().contains("`unknown`"),
        "{}",
        answer.error()
    );
    let page = scene.page("routes").await;
    assert_eq!(page["problems"].as_array().unwrap().len(), 1, "{page}");
    assert_eq!(page["routes"][0]["endpoint"], format!("{}/v1", old.url()));

    std::fs::write(&scene.file, file(&[&new, &old], "")).unwrap();
    until("the second load", || scene.counter("loaded") == 2).await;
    assert_eq!(
        scene.ask(Some("l0"), false).await.json()["content"][0]["text"],
        "new"
    );
    assert_eq!(
        scene.ask(Some("l1"), false).await.json()["content"][0]["text"],
        "old"
    );
    let page = scene.page("routes").await;
    assert_eq!(
        (
            page["problems"].as_array().unwrap().len(),
            page["routes"].as_array().unwrap().len()
        ),
        (0, 2)
    );

    std::fs::remove_file(&scene.file).unwrap();
    while scene.page("routes").await["file"].is_string() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(
        scene
            .ask(Some("l0"), false)
            .await
            .body
            .contains("msg_stub_local_route")
    );
    assert!(scene.anthropic.requests().is_empty());
}

#[tokio::test]
async fn a_program_that_wrote_the_file_has_it_read_at_once() {
    let provider = saying("provider").await;
    let scene = Scene::with(None).await;
    std::fs::write(&scene.file, file(&[&provider], "")).unwrap();
    let answer = scene.post("/_grov/routes", &serde_json::Value::Null).await;
    assert_eq!(answer.json()["routes"][0]["label"], "l0", "{}", answer.body);
    assert_eq!(scene.counter("loaded"), 1);
    // An unchanged file is not read again.
    scene.post("/_grov/routes", &serde_json::Value::Null).await;
    assert_eq!(scene.counter("loaded"), 1);
}

#[tokio::test]
async fn a_removed_file_is_not_in_force_for_long() {
    let provider = saying("provider").await;
    let scene = Scene::with(Some(&file(&[&provider], ""))).await;
    std::fs::remove_file(&scene.file).unwrap();
    let removed = std::time::Instant::now();
    while scene.page("routes").await["file"].is_string() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // Three checks, one a second; half a second for a busy machine.
    let elapsed = removed.elapsed();
    assert!(elapsed < Duration::from_millis(3500), "{elapsed:?}");
}
