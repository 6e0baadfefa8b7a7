//! Vectors in Qdrant: what the service stores and deletes is there too, also when it is killed in between.

use super::{created, text};
use anyhow::{Context, Result, ensure};
use grov_tests::{Agent, QdrantEngine, Request, eventually, exchange};
use serde_json::{Value, json};
use std::time::Duration;

/// How often the service is killed.
const KILLS: u64 = 8;

fn points(engine: &QdrantEngine, project: &str) -> Result<u64> {
    let request = Request::new("POST", &format!("/collections/kb_{project}/points/count"))
        .header("Connection", "close")
        .body(json!({"exact": true}).to_string());
    let answer: Value = serde_json::from_slice(&exchange(engine.port(), &request)?.body)?;
    Ok(answer["result"]["count"].as_u64().unwrap_or_default())
}

fn chunks(agent: &Agent, project: &str) -> Result<u64> {
    let (_, listed) = agent.call(
        "GET",
        &format!("/projects/{project}/docs?limit=200"),
        &Value::Null,
    )?;
    let documents = listed["items"].as_array().context("a list")?;
    Ok(documents
        .iter()
        .filter_map(|document| document["chunks"].as_u64())
        .sum())
}

#[test]
fn the_copy_equals_the_database_after_kills_in_the_middle_of_uploads_and_deletions() -> Result<()> {
    let Some(engine) = QdrantEngine::start()? else {
        return Ok(());
    };
    let folder = tempfile::tempdir()?;
    let builder = Agent::on(&folder.path().join("grov"))
        .env("QDRANT_URL", format!("http://127.0.0.1:{}", engine.port()))
        .env("GROV_ALLOW_MOCK", "1")
        .env("EMBEDDING_PROVIDER", "mock")
        .env("EMBEDDING_DIMS", "16");
    let mut agent = builder.start()?;
    let (_, health) = agent.call("GET", "/health", &Value::Null)?;
    assert_eq!(
        health["vectors"],
        json!({"kind": "qdrant", "ok": true}),
        "{health}"
    );
    let project = created(&agent, "Shop")?;
    let docs = format!("/projects/{project}/docs");
    for kill in 0..KILLS {
        for number in 0..4 {
            let content: String = (0..5)
                .map(|part| format!("# Part {part}\n\nVersion {kill} of {number}.\n\n"))
                .collect();
            let body = json!({"title": format!("Document {}", kill * 3 + number), "category": "FACTS", "content": content});
            let (status, stored) = agent.call("POST", &docs, &body)?;
            ensure!(status == 201, "{stored}");
            if number == 3 {
                let gone = format!("{docs}/{}", text(&stored["id"]));
                ensure!(agent.call("DELETE", &gone, &Value::Null)?.0 == 204, "{gone}");
            }
        }
        std::thread::sleep(Duration::from_millis(kill * 61 % 300));
        agent.signal("KILL")?;
        agent = builder.start()?;
    }
    let expected = chunks(&agent, &project)?;
    ensure!(expected > 0, "no chunks");
    eventually("the copy to equal the database", || {
        (points(&engine, &project).ok()? == expected).then_some(())
    })?;
    let (_, found) = agent.call(
        "GET",
        &format!("/projects/{project}/search?q=version+2&explain=true"),
        &Value::Null,
    )?;
    ensure!(
        found["results"]
            .as_array()
            .is_some_and(|results| !results.is_empty()),
        "{found}"
    );
    Ok(())
}
