//! `grov eval`: the sample, the comparison with the run before, and what is said without sessions.

use crate::scene::{Scene, json};

#[test]
fn the_sample_causes_no_cache_miss_and_a_second_run_compares() {
    let scene = Scene::new();
    let ended = scene.run(&["eval", "--sample", "--json"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let first = json(&ended);
    assert_eq!(first["schema"], 1);
    assert_eq!(first["cache_misses"], 0);
    assert!(first["actions"].as_u64() > Some(5), "{first}");
    assert!(first["added_latency"]["requests"].as_u64() > Some(5), "{first}");
    assert!(first["previous"].is_null());
    let page = scene.path("page.html");
    let ended = scene.run(&["eval", "--sample", "--json", "--html", page.to_str().unwrap()]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let second = json(&ended);
    assert_eq!(second["previous"]["actions"], first["actions"]);
    let page = std::fs::read_to_string(page).unwrap();
    assert!(
        page.starts_with("<!doctype html>") && page.contains("prompt-cache misses caused"),
        "{page}"
    );
}

#[test]
fn without_sessions_the_result_is_negative() {
    let scene = Scene::new();
    let ended = scene.run(&["eval", "--json"]);
    assert_eq!(ended.code, 1, "{ended:?}");
    assert_eq!(json(&ended)["error"]["kind"], "nothing_recorded");
    assert_eq!(scene.run(&["eval", "--since", "yesterday"]).code, 64);
}
