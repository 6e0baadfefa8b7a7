//! The service's page over HTTP. What needs a browser is in `scripts/browser`.

use super::Scene;
use anyhow::{Context, Result};
use grov_tests::Request;
use serde_json::{Value, json};

#[test]
fn the_page_is_open_and_says_nothing_without_a_key() -> Result<()> {
    let scene = Scene::offline()?;
    let get = |path: &str| scene.agent.send(&Request::new("GET", path));
    let page = get("/ui")?;
    assert_eq!(page.status, 200);
    assert!(!page.text().contains("Shop"), "{}", page.text());
    let policy = page.header("content-security-policy").context("no policy")?;
    assert!(
        policy.contains("script-src 'self'")
            && policy.contains("frame-ancestors 'none'")
            && !policy.contains("unsafe"),
        "{policy}"
    );
    assert_eq!(page.header("set-cookie"), None);
    let files = [
        ("/ui/", "text/html"),
        ("/ui/app.js", "text/javascript"),
        ("/ui/style.css", "text/css"),
        ("/ui/icon.svg", "image/svg+xml"),
    ];
    for (path, kind) in files {
        let answer = get(path)?;
        assert_eq!(answer.status, 200, "{path}");
        assert!(
            answer
                .header("content-type")
                .is_some_and(|found| found.starts_with(kind)),
            "{path}"
        );
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
    }
    assert_eq!(get("/ui/..%2f..%2fCargo.toml")?.status, 404);
    assert_eq!(get("/ui/unknown")?.status, 404);
    // Only the page itself is open, not what begins with its name.
    assert_eq!(get("/uix")?.status, 401);
    Ok(())
}

#[test]
fn a_key_learns_its_own_role_and_no_other() -> Result<()> {
    let scene = Scene::offline()?;
    let ended = scene.agent.run(&[
        "key",
        "create",
        "ada",
        "--role",
        "reader",
        "--project",
        &scene.project,
    ])?;
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
    let (status, own) = scene
        .agent
        .call_as(ended.stdout.trim(), "GET", "/key", &Value::Null)?;
    assert_eq!(status, 200);
    assert_eq!(
        own,
        json!({"name": "ada", "role": "reader", "projects": [scene.project]})
    );
    assert_eq!(scene.agent.send(&Request::new("GET", "/key"))?.status, 401);
    assert_eq!(scene.expect(200, "GET", "/key", &Value::Null)?["role"], "admin");
    Ok(())
}
