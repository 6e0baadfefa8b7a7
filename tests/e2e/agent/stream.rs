//! Chats as a stream of events.

use super::Scene;
use super::model::{Model, Say, noop};
use anyhow::{Context, Result};
use grov_tests::{Request, eventually, open};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::time::{Duration, Instant};

fn request(scene: &Scene, message: &str) -> Request {
    let body = json!({"project_id": scene.project, "message": message});
    scene
        .agent
        .request("POST", "/chat")
        .header("Accept", "text/event-stream")
        .header("Content-Type", "application/json")
        .body(body.to_string())
}

/// The events of a stream, as name and data.
fn events(text: &str) -> Result<Vec<(String, Value)>> {
    let blocks = text.split("\n\n").filter(|block| block.contains("event:"));
    blocks
        .map(|block| {
            let field = |name: &str| {
                let line = block.lines().find_map(|line| line.strip_prefix(name));
                line.map(str::trim).with_context(|| format!("{name} in {block}"))
            };
            Ok((
                field("event:")?.to_owned(),
                serde_json::from_str(field("data:")?)?,
            ))
        })
        .collect()
}

#[test]
fn a_stream_has_stages_texts_and_the_result() -> Result<()> {
    let words = "Ein Entgelt wird binnen 14 Tagen erstattet \u{2013} „immer“.";
    let model = Model::start([Say::Slowly(noop(words), Duration::from_millis(5))])?;
    let scene = Scene::of_model(&model)?;
    let answer = scene
        .agent
        .send(&request(&scene, "Wann?").header("Idempotency-Key", "s-1"))?;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    let events = events(&answer.text())?;
    let stages: Vec<&str> = events
        .iter()
        .filter(|(name, _)| name == "stage")
        .filter_map(|(_, data)| data["stage"].as_str())
        .collect();
    assert_eq!(stages, ["retrieve", "generate", "validate", "store"]);
    let text: String = events
        .iter()
        .filter(|(name, _)| name == "text")
        .filter_map(|(_, data)| data["delta"].as_str())
        .collect();
    assert_eq!(text, words);
    let (last, result) = events.last().context("no events")?;
    assert_eq!(last, "result");
    assert_eq!(result["response_json"]["answer"], words);
    // The stored answer is replayed as a stream too.
    let again = scene
        .agent
        .send(&request(&scene, "Wann?").header("Idempotency-Key", "s-1"))?;
    let replayed = self::events(&again.text())?;
    assert_eq!(replayed, [("result".to_owned(), result.clone())]);
    assert_eq!(model.requests().len(), 1);
    Ok(())
}

#[test]
fn a_failure_is_the_last_event() -> Result<()> {
    let model = Model::start([Say::Status(401)])?;
    let scene = Scene::of_model(&model)?;
    let answer = scene.agent.send(&request(&scene, "Hello"))?;
    let events = events(&answer.text())?;
    let (name, problem) = events.last().context("no events")?;
    assert_eq!(
        (name.as_str(), &problem["code"]),
        ("error", &json!("provider_failed"))
    );
    let threads = format!("/threads?project_id={}", scene.project);
    let threads = scene.expect(200, "GET", &threads, &Value::Null)?;
    assert_eq!(threads["items"], json!([]), "nothing is stored");
    Ok(())
}

#[test]
fn a_client_that_leaves_cancels_its_chat() -> Result<()> {
    for accept in ["text/event-stream", "application/json"] {
        let long = noop(&"word ".repeat(400));
        let model = Model::start([Say::Slowly(long, Duration::from_millis(20))])?;
        let scene = Scene::of_model(&model)?;
        let body = json!({"project_id": scene.project, "message": "Hello"});
        let request = scene
            .agent
            .request("POST", "/chat")
            .header("Accept", accept)
            .header("Content-Type", "application/json")
            .body(body.to_string());
        let mut stream = open(scene.agent.port())?;
        stream.write_all(&request.bytes(scene.agent.port()))?;
        eventually("the model to be asked", || {
            (!model.requests().is_empty()).then_some(())
        })?;
        if accept == "text/event-stream" {
            let mut first = [0; 64];
            assert!(stream.read(&mut first)? > 0);
        }
        drop(stream);
        eventually("the model's call to be cancelled", || {
            (model.hung_up() == 1).then_some(())
        })?;
        let threads = format!("/threads?project_id={}", scene.project);
        let threads = scene.expect(200, "GET", &threads, &Value::Null)?;
        assert_eq!(threads["items"], json!([]), "{accept}: nothing is stored");
    }
    Ok(())
}

#[test]
fn a_stop_lets_chats_end_within_the_grace() -> Result<()> {
    let model = Model::start([Say::Slowly(noop("A short answer"), Duration::from_millis(30))])?;
    let scene = Scene::of_model(&model)?;
    let port = scene.agent.port();
    let mut stream = open(port)?;
    stream.write_all(&request(&scene, "Hello").bytes(port))?;
    eventually("the model to be asked", || {
        (!model.requests().is_empty()).then_some(())
    })?;
    scene.agent.signal("TERM")?;
    let answer = grov_tests::read_response(&mut std::io::BufReader::new(stream), |_| {})?;
    assert!(
        answer.complete && answer.text().contains("event: result"),
        "{}",
        answer.text()
    );
    assert_eq!(scene.agent.ended(Duration::from_secs(10))?.code(), Some(0));
    Ok(())
}

#[test]
fn chats_that_outlast_the_grace_are_told() -> Result<()> {
    let long = noop(&"word ".repeat(4000));
    let model = Model::start([Say::Slowly(long, Duration::from_millis(20))])?;
    let url = model.url();
    let scene = Scene::with(|agent| {
        agent
            .env("GROV_AGENT_SHUTDOWN_GRACE", "1s")
            .env("CHAT_PROVIDER", "openai")
            .env("CHAT_MODEL", "scripted")
            .env("CHAT_BASE_URL", url)
    })?;
    let port = scene.agent.port();
    let mut stream = open(port)?;
    stream.write_all(&request(&scene, "Hello").bytes(port))?;
    eventually("the model to be asked", || {
        (!model.requests().is_empty()).then_some(())
    })?;
    let began = Instant::now();
    scene.agent.signal("TERM")?;
    let answer = grov_tests::read_response(&mut std::io::BufReader::new(stream), |_| {})?;
    let events = events(&answer.text())?;
    let (name, problem) = events.last().context("no events")?;
    assert_eq!(
        (name.as_str(), &problem["code"]),
        ("error", &json!("unavailable"))
    );
    assert_eq!(scene.agent.ended(Duration::from_secs(10))?.code(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(6));
    Ok(())
}

#[test]
fn a_client_that_reads_nothing_is_disconnected() -> Result<()> {
    let scene = Scene::with(|agent| agent.env("GROV_AGENT_CLIENT_TIMEOUT", "1s"))?;
    let part = |number: usize| format!("# Part {number}\n\n{}\n\n", "word ".repeat(300));
    let document = scene.document("Long", "FACTS", &(0..200).map(part).collect::<String>())?;
    let target = format!(
        "/projects/{}/docs/{}/chunks?limit=200",
        scene.project,
        super::text(&document["id"])
    );
    let port = scene.agent.port();
    let mut silent = open(port)?;
    let request = scene.agent.request("GET", &target).bytes(port);
    // More than the buffers of both sides hold.
    for _ in 0..100 {
        silent.write_all(&request)?;
    }
    let others = || -> Option<u64> {
        let metrics = scene
            .agent
            .send(&scene.agent.request("GET", "/metrics"))
            .ok()?
            .text();
        let line = metrics
            .lines()
            .find(|line| !line.starts_with('#') && line.contains("connections "))?;
        // Without the one that asks.
        line.rsplit(' ').next()?.parse::<u64>().ok()?.checked_sub(1)
    };
    eventually("the connection to be open", || (others()? == 1).then_some(()))?;
    eventually("the connection to be closed", || (others()? == 0).then_some(()))?;
    drop(silent);
    Ok(())
}
