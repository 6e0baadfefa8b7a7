//! `grov demo` plays a whole session and leaves no files.

use crate::scene::{Scene, json};

#[test]
fn a_whole_session_is_played_and_every_action_recorded() {
    let scene = Scene::new();
    let ended = scene.run(&["demo", "--json"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let answer = json(&ended);
    assert_eq!(answer["schema"], 1);
    assert_eq!(answer["agrees"], true);
    assert_eq!(answer["cache_misses"], 0);
    assert_eq!(answer["prompts"], 3);
    let steps = answer["steps"].as_array().unwrap();
    assert_eq!(answer["client_actions"], steps.len());
    let tools: Vec<_> = steps.iter().map(|step| step["tool"].as_str().unwrap()).collect();
    for tool in ["Write", "Read", "Edit", "Bash", "Agent"] {
        assert!(tools.contains(&tool), "{tool} in {tools:?}");
    }
    assert!(steps.iter().any(|step| step["agent_id"].is_string()));
    let injected = answer["told"].as_str().unwrap();
    assert!(
        injected.contains("the check looks for exactly that"),
        "{injected}"
    );
    assert!(scene.is_untouched(), "the user's home is not used");
}

#[test]
fn the_text_lists_the_recorded_actions() {
    let ended = Scene::new().run(&["demo"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(
        ended
            .stdout
            .contains("recorded actions are exactly the client's: yes"),
        "{ended:?}"
    );
    assert!(ended.stdout.contains("greeting.txt"), "{ended:?}");
}
