//! Keys, roles and projects.

use super::{Scene, created, text};
use anyhow::{Context, Result};
use grov_tests::{Agent, Request, eventually};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

fn key(agent: &Agent, name: &str, more: &[&str]) -> Result<String> {
    let ended = agent.run(&[&["key", "create", name], more].concat())?;
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
    Ok(ended.stdout.trim().to_owned())
}

#[test]
fn without_a_valid_key_nothing_is_said_about_projects() -> Result<()> {
    let scene = Scene::offline()?;
    let existing = format!("/projects/{}", scene.project);
    let mut answers = Vec::new();
    for target in [
        existing.as_str(),
        "/projects/00000000-0000-0000-0000-000000000000",
        "/nowhere",
    ] {
        for request in [
            Request::new("GET", target),
            Request::new("GET", target).header("X-AGENT-KEY", "wrong"),
        ] {
            let answer = scene.agent.send(&request)?;
            assert_eq!(answer.status, 401, "{target}");
            assert_eq!(answer.header("content-type"), Some("application/problem+json"));
            answers.push(answer.text());
        }
    }
    answers.sort();
    answers.dedup();
    assert_eq!(answers.len(), 2, "the answers depend on the target: {answers:?}");
    for open in ["/health", "/docs", "/docs/openapi.json", "/docs/swagger-ui.css"] {
        assert_eq!(
            scene.agent.send(&Request::new("GET", open))?.status,
            200,
            "{open}"
        );
    }
    Ok(())
}

#[test]
fn the_key_is_checked_before_the_body_arrives() -> Result<()> {
    let scene = Scene::offline()?;
    let mut stream = grov_tests::open(scene.agent.port())?;
    let head =
        "POST /chat HTTP/1.1\r\nHost: localhost\r\nX-AGENT-KEY: wrong\r\nContent-Length: 1000000\r\n\r\n";
    std::io::Write::write_all(&mut stream, head.as_bytes())?;
    let answer = grov_tests::read_response(&mut std::io::BufReader::new(stream), |_| {})?;
    assert_eq!(answer.status, 401);
    Ok(())
}

#[test]
fn roles_include_the_ones_before_them() -> Result<()> {
    let scene = Scene::offline()?;
    let agent = &scene.agent;
    let call = |key: &str, method: &str, path: &str, body: &Value| -> Result<u16> {
        let target = path.replace("{project}", &scene.project);
        Ok(agent.call_as(key, method, &target, body)?.0)
    };
    let item = scene.at(
        201,
        "POST",
        "/memory",
        &json!({"type": "rule", "content": "Be kind"}),
    )?;
    let approve = format!("/projects/{{project}}/memory/{}/approve", text(&item["id"]));
    let calls = [
        ("GET", "/projects/{project}", Value::Null, 200),
        ("POST", "/projects/{project}/memory", Value::Null, 201),
        ("POST", approve.as_str(), json!({}), 200),
        ("PATCH", "/projects/{project}", json!({"name": "New name"}), 200),
    ];
    for (rank, role) in ["reader", "agent", "approver", "admin"].into_iter().enumerate() {
        let secret = key(agent, role_name(role), &["--role", role])?;
        for (needed, (method, path, body, status)) in calls.iter().enumerate() {
            let expected = if rank >= needed { *status } else { 403 };
            // The rule is approved once, by the first who may.
            let expected = if role == "admin" && needed == 2 {
                409
            } else {
                expected
            };
            // The same words again would be a repetition.
            let event = json!({"type": "event", "content": format!("Written by {role}")});
            let body = if path.ends_with("/memory") { &event } else { body };
            let found = call(&secret, method, path, body)?;
            assert_eq!(found, expected, "{role}: {method} {path}");
        }
    }
    Ok(())
}

fn role_name(role: &str) -> &str {
    if role == "admin" { "second-admin" } else { role }
}

#[test]
fn a_key_that_only_reads_is_refused_before_its_body_is_read() -> Result<()> {
    let scene = Scene::offline()?;
    let secret = key(&scene.agent, "reading", &["--role", "reader"])?;
    let broken = json!({"message": 7});
    assert_eq!(scene.agent.call_as(&secret, "POST", "/chat", &broken)?.0, 403);
    Ok(())
}

#[test]
fn a_key_sees_its_projects_only() -> Result<()> {
    let scene = Scene::offline()?;
    let other = created(&scene.agent, "Other")?;
    let document = scene.document("Plan", "FACTS", "# Plan\n\nThe shop opens in May.")?;
    let secret = key(&scene.agent, "limited", &["--project", &other, "--role", "admin"])?;
    let call = |method: &str, target: &str, body: &Value| scene.agent.call_as(&secret, method, target, body);
    let listed = call("GET", "/projects", &Value::Null)?.1;
    assert_eq!(listed["items"].as_array().map(Vec::len), Some(1));
    assert_eq!(listed["items"][0]["id"], json!(other));
    let project = &scene.project;
    let missing = "00000000-0000-7000-8000-000000000000";
    for (method, path, body) in [
        ("GET", "", Value::Null),
        ("PATCH", "", json!({"name": "x"})),
        ("DELETE", "", Value::Null),
        ("GET", "/docs", Value::Null),
        ("GET", "/search?q=plan", Value::Null),
        ("GET", "/memory", Value::Null),
        ("GET", "/situation", Value::Null),
        ("POST", "/memory", json!({"type": "fact", "content": "x"})),
    ] {
        let seen = call(method, &format!("/projects/{project}{path}"), &body)?;
        let unknown = call(method, &format!("/projects/{missing}{path}"), &body)?;
        assert_eq!(seen.0, 404, "{method} {path}: {}", seen.1);
        assert_eq!(seen, unknown, "{method} {path}");
    }
    let docs = format!("/projects/{project}/docs/{}", text(&document["id"]));
    assert_eq!(call("GET", &docs, &Value::Null)?.0, 404);
    let chat = json!({"project_id": project, "message": "hi"});
    assert_eq!(call("POST", "/chat", &chat)?.0, 404);
    assert_eq!(
        call("GET", &format!("/threads?project_id={project}"), &Value::Null)?.0,
        404
    );
    assert_eq!(call("GET", "/metrics", &Value::Null)?.0, 403);
    // A document of one project is not found through another one.
    let crossed = format!("/projects/{other}/docs/{}", text(&document["id"]));
    assert_eq!(scene.agent.call("GET", &crossed, &Value::Null)?.0, 404);
    Ok(())
}

#[test]
fn a_revoked_key_stops_working() -> Result<()> {
    let scene = Scene::offline()?;
    let secret = key(&scene.agent, "short", &["--role", "reader"])?;
    let status = || {
        let (status, _) = scene
            .agent
            .call_as(&secret, "GET", "/projects", &Value::Null)
            .ok()?;
        Some(status)
    };
    eventually("the key to work", || (status()? == 200).then_some(()))?;
    assert_eq!(scene.agent.run(&["key", "revoke", "short"])?.code(), Some(0));
    let began = std::time::Instant::now();
    eventually("the key to be refused", || (status()? == 401).then_some(()))?;
    assert!(began.elapsed() < std::time::Duration::from_secs(5));
    assert_eq!(scene.agent.run(&["key", "revoke", "short"])?.code(), Some(1));
    let listed = scene.agent.run(&["key", "list", "--json"])?;
    let listed: Value = serde_json::from_str(&listed.stdout)?;
    assert_eq!(listed["keys"][0]["name"], "short");
    assert!(!listed.to_string().contains(&secret));
    Ok(())
}

#[test]
fn a_revoked_key_gets_nothing_through_a_request_that_waits() -> Result<()> {
    let scene = Scene::offline()?;
    let secret = key(&scene.agent, "waiting", &["--role", "reader"])?;
    let latest = scene.at(200, "GET", "/changes", &Value::Null)?["latest"].clone();
    let target = format!("/projects/{}/changes?after={latest}&wait=30", scene.project);
    let began = std::time::Instant::now();
    let (status, answer) = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| scene.agent.call_as(&secret, "GET", &target, &Value::Null));
        // Whether it waits already or not, it is refused.
        assert_eq!(scene.agent.run(&["key", "revoke", "waiting"])?.code(), Some(0));
        waiting.join().expect("the request panicked")
    })?;
    assert_eq!(status, 401, "{answer}");
    assert!(began.elapsed() < std::time::Duration::from_secs(10));
    Ok(())
}

#[test]
fn a_key_that_is_revoked_while_a_body_arrives_does_nothing() -> Result<()> {
    let scene = Scene::offline()?;
    let secret = key(&scene.agent, "slow", &["--role", "agent"])?;
    let body = json!({"type": "event", "content": "Written too late"}).to_string();
    let head = format!(
        "POST /projects/{}/memory HTTP/1.1\r\nHost: localhost\r\nX-AGENT-KEY: {secret}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        scene.project,
        body.len()
    );
    let mut stream = grov_tests::open(scene.agent.port())?;
    std::io::Write::write_all(&mut stream, head.as_bytes())?;
    assert_eq!(scene.agent.run(&["key", "revoke", "slow"])?.code(), Some(0));
    eventually("the key to be refused", || {
        let (status, _) = scene
            .agent
            .call_as(&secret, "GET", "/projects", &Value::Null)
            .ok()?;
        (status == 401).then_some(())
    })?;
    std::io::Write::write_all(&mut stream, body.as_bytes())?;
    let answer = grov_tests::read_response(&mut std::io::BufReader::new(stream), |_| {})?;
    assert_eq!(answer.status, 401);
    Ok(())
}

#[test]
fn a_key_is_made_and_kept_if_none_is_given() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let agent = Agent::on(&home).env("AGENT_API_KEY", "").start()?;
    let file = home.join("agent-key");
    let made = std::fs::read_to_string(&file).context("no key was made")?;
    assert_eq!(std::fs::metadata(&file)?.permissions().mode() & 0o777, 0o600);
    let (status, _) = agent.call_as(made.trim(), "GET", "/projects", &Value::Null)?;
    assert_eq!(status, 200);
    assert!(!agent.log().contains(made.trim()));
    agent.stop()?;
    let _again = Agent::on(&home).env("AGENT_API_KEY", "").start()?;
    assert_eq!(std::fs::read_to_string(&file)?, made);
    Ok(())
}

#[test]
fn pages_of_other_sites_are_refused() -> Result<()> {
    let scene = Scene::offline()?;
    let get = |host: &str, origin: Option<&str>| -> Result<u16> {
        let mut request = scene.agent.request("GET", "/projects").header("Host", host);
        if let Some(origin) = origin {
            request = request.header("Origin", origin);
        }
        let answer = scene.agent.send(&request)?;
        assert_eq!(answer.header("access-control-allow-origin"), None);
        Ok(answer.status)
    };
    assert_eq!(get("rebound.example", None)?, 403);
    assert_eq!(get("localhost", Some("https://evil.example"))?, 403);
    assert_eq!(get("localhost", Some("http://localhost:3000"))?, 200);
    Ok(())
}
