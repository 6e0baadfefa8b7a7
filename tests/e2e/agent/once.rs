//! `Idempotency-Key`: what was done once is not done again, also when the service was killed.

use super::model::{Model, Say, noop, ticket};
use super::{Scene, text, ticket_tool};
use anyhow::Result;
use grov_tests::{Agent, Response};
use serde_json::{Value, json};
use std::time::Duration;

fn post(agent: &Agent, target: &str, key: &str, body: &Value) -> Result<Response> {
    let request = agent.request("POST", target).header("Idempotency-Key", key);
    agent.send(
        &request
            .header("Content-Type", "application/json")
            .body(body.to_string()),
    )
}

#[test]
fn a_repeated_request_is_answered_the_same() -> Result<()> {
    let model = Model::start([Say::Content(ticket("Once"))])?;
    let scene = Scene::of_model(&model)?;
    let chat = json!({"project_id": scene.project, "message": "Create a ticket", "tools": ticket_tool()});
    let first = post(&scene.agent, "/chat", "chat-1", &chat)?;
    assert_eq!(
        (first.status, first.header("idempotency-replayed")),
        (200, None),
        "{}",
        first.text()
    );
    let again = post(&scene.agent, "/chat", "chat-1", &chat)?;
    assert_eq!((again.status, again.body), (200, first.body.clone()));
    assert_eq!(
        again
            .headers
            .iter()
            .filter(|(name, _)| name == "idempotency-replayed")
            .count(),
        1
    );
    assert_eq!(model.requests().len(), 1);
    let mut other = chat.clone();
    other["message"] = json!("Create another ticket");
    assert_eq!(post(&scene.agent, "/chat", "chat-1", &other)?.status, 409);
    assert_eq!(post(&scene.agent, "/chat", "chat-2", &other)?.status, 200);

    let project = json!({"name": "Second", "role_statement": ""});
    let one = post(&scene.agent, "/projects", "p-1", &project)?;
    let two = post(&scene.agent, "/projects", "p-1", &project)?;
    assert_eq!((one.status, two.status), (201, 201));
    assert_eq!(one.body, two.body);
    assert_eq!(post(&scene.agent, "/projects", "", &project)?.status, 422);
    // An error changes nothing, so the same key may be used again for the corrected request.
    assert_eq!(post(&scene.agent, "/projects", "p-2", &json!({}))?.status, 422);
    assert_eq!(post(&scene.agent, "/projects", "p-2", &project)?.status, 201);
    Ok(())
}

#[test]
fn requests_at_the_same_time_are_carried_out_once() -> Result<()> {
    let model = Model::start([Say::Slowly(noop("One answer"), Duration::from_millis(30))])?;
    let scene = Scene::of_model(&model)?;
    let chat = json!({"project_id": scene.project, "message": "Hello"});
    let bodies: Vec<Vec<u8>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| post(&scene.agent, "/chat", "same", &chat)))
            .collect();
        let answers = threads.into_iter().filter_map(|thread| thread.join().ok()?.ok());
        answers.map(|answer| answer.body).collect()
    });
    assert_eq!(bodies.len(), 4);
    assert!(bodies.iter().all(|body| *body == bodies[0]), "{bodies:?}");
    assert_eq!(model.requests().len(), 1);
    let threads = format!("/threads?project_id={}", scene.project);
    let threads = scene.expect(200, "GET", &threads, &Value::Null)?;
    assert_eq!(threads["items"].as_array().map(Vec::len), Some(1));
    Ok(())
}

#[test]
fn a_killed_service_neither_loses_nor_repeats_what_it_answered() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let model = Model::start([Say::Content(ticket("Once"))])?;
    let builder = Agent::on(&home)
        .env("CHAT_PROVIDER", "openai")
        .env("CHAT_MODEL", "scripted")
        .env("CHAT_BASE_URL", model.url());
    let mut agent = builder.start()?;
    let project = super::created(&agent, "Shop")?;
    let mut answers: Vec<(String, &str, Value, Vec<u8>)> = Vec::new();
    for round in 0..5 {
        let chat =
            json!({"project_id": project, "message": format!("Ticket {round}"), "tools": ticket_tool()});
        let memory = json!({"type": "event", "content": format!("Round {round}")});
        let path = format!("/projects/{project}/memory");
        for (key, target, body) in [("c", "/chat".to_owned(), chat), ("m", path, memory)] {
            let key = format!("{key}-{round}");
            let answer = post(&agent, &target, &key, &body)?;
            assert!(answer.status < 300, "{}", answer.text());
            answers.push((
                target,
                if key.starts_with('c') { "c" } else { "m" },
                body,
                answer.body,
            ));
        }
        agent.kill()?;
        agent = builder.start()?;
    }
    for (index, (target, kind, body, answered)) in answers.iter().enumerate() {
        let again = post(&agent, target, &format!("{kind}-{}", index / 2), body)?;
        assert_eq!(&again.body, answered, "{target} {index}: {}", again.text());
    }
    let calls = agent
        .call("GET", &format!("/tool_calls?project_id={project}"), &Value::Null)?
        .1;
    assert_eq!(calls["items"].as_array().map(Vec::len), Some(5), "{calls}");
    let items = agent
        .call("GET", &format!("/projects/{project}/memory"), &Value::Null)?
        .1;
    assert_eq!(items["items"].as_array().map(Vec::len), Some(5), "{items}");
    Ok(())
}

#[test]
fn a_failed_continuation_is_made_up_by_the_same_report() -> Result<()> {
    let script = [
        Say::Content(ticket("Later")),
        Say::Status(400),
        Say::Status(400),
        Say::Content(noop("Now it is done.")),
    ];
    let model = Model::start(script)?;
    let scene = Scene::of_model(&model)?;
    let answer = scene.chat("Create a ticket", &ticket_tool())?;
    let id = text(&answer["response_json"]["tool_calls"][0]["id"]).to_owned();
    scene.result(200, &json!({"tool_call_id": id, "status": "approved"}))?;
    let done = json!({"tool_call_id": id, "status": "succeeded", "result": 7, "continue": true});
    let failed = scene.result(502, &done)?;
    assert_eq!(failed["code"], "provider_failed");
    let call = scene.expect(200, "GET", &format!("/tool_calls/{id}"), &Value::Null)?;
    assert_eq!(call["status"], "succeeded", "the report itself is stored");
    let made_up = scene.result(200, &done)?;
    assert_eq!(made_up["next"]["response_json"]["answer"], "Now it is done.");
    Ok(())
}
