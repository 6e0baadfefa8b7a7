//! What must not be stored.

use super::*;

#[test]
fn private_text_is_not_stored() {
    let words = ["quetzal", "kaleidoskop", "mississippi", "zweitausend"];
    let private = |word: &str| format!("<private>the {word} is ours</private>");
    let mut session = Session::new();
    let prompt = format!("{GOAL} {}", private(words[0]));
    session.prompt(&prompt);
    session.call(
        "Bash",
        json!({"command": format!("cat notes # {}", private(words[1]))}),
    );
    let file = format!("{ROOT}/src/auth/token.ts");
    session.call("Write", json!({"file_path": file, "content": private(words[2])}));
    let id = session.call("Bash", json!({"command": "cat notes"}));
    let content = json!([{"type": "tool_result", "tool_use_id": id, "content": private(words[3])}]);
    session.line(json!({"type": "user", "message": {"content": content}}));
    session.hook(|_| {});
    let state = session.stored.engine_state.clone().unwrap();
    for word in words {
        assert!(!state.contains(word), "{word}: {state}");
    }
}

#[test]
fn file_names_with_secrets_are_not_stored() {
    let token = ["ghp_", "a8Kd03mZxQw7LpYt5RvN2bHs9JcF4gEuT6iO"].concat();
    let mut session = Session::new();
    session.prompt(GOAL);
    session.edit(&format!("src/billing/{token}.ts"), "x");
    session.run("curl -u deploy:tr0ub4dor/and/3-staples -o out.tgz https://example.org/a");
    session.hook(|_| {});
    let kept = format!("{:?} {:?}", session.stored, session.steps);
    for part in [&token[4..], "tr0ub4dor", "staples"] {
        assert!(!kept.contains(part), "{part}: {kept}");
    }
    assert!(kept.contains("src/billing/[redacted:github-token].ts"), "{kept}");
}
