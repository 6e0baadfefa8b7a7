//! The flow of a team: a project, documents, chats, a tool call that a person approves and an automation executes.

use super::model::{Model, Say, noop, ticket};
use super::{Scene, text, ticket_tool};
use anyhow::Result;
use serde_json::{Value, json};

const REFUNDS: &str =
    "# Refunds\n\nA refund is paid within 14 days.\n\n## Limits\n\nAbove 500 EUR a manager signs.\n";

#[test]
fn a_requested_call_is_approved_executed_and_continued() -> Result<()> {
    let script = [ticket("Order 7 is late"), noop("The ticket SHOP-1 exists.")];
    let model = Model::start(script.map(Say::Content))?;
    let scene = Scene::of_model(&model)?;
    scene.document("Refunds", "RULES", REFUNDS)?;
    let answer = scene.chat("Create a ticket for the late order 7", &ticket_tool())?;
    assert_eq!(answer["response_json"]["decision"], "ACT", "{answer}");
    let call = answer["response_json"]["tool_calls"][0].clone();
    assert_eq!(call["status"], "awaiting_approval");
    assert_eq!(call["arguments"]["summary"], "Order 7 is late");
    assert_eq!(answer["usage"]["input_tokens"], 100);
    let id = text(&call["id"]).to_owned();

    let waiting = scene.expect(
        200,
        "GET",
        &format!(
            "/tool_calls?project_id={}&status=awaiting_approval",
            scene.project
        ),
        &Value::Null,
    )?;
    assert_eq!(waiting["items"][0]["id"], call["id"]);
    // Nothing runs without a yes.
    scene.result(409, &json!({"tool_call_id": id, "status": "succeeded"}))?;
    let approved = scene.result(200, &json!({"tool_call_id": id, "status": "approved"}))?;
    assert_eq!(approved["tool_call"]["status"], "approved");
    assert_eq!(approved["tool_call"]["decided_by"], "admin");

    let done =
        json!({"tool_call_id": id, "status": "completed", "result": {"key": "SHOP-1"}, "continue": true});
    let first = scene.result(200, &done)?;
    assert_eq!(first["tool_call"]["status"], "succeeded");
    assert_eq!(
        first["next"]["response_json"]["answer"],
        "The ticket SHOP-1 exists."
    );
    assert_eq!(first["next"]["thread_id"], answer["thread_id"]);
    // The same report again is answered the same, without another generation.
    assert_eq!(scene.result(200, &done)?, first);
    assert_eq!(model.requests().len(), 2);
    let other = json!({"tool_call_id": id, "status": "succeeded", "result": {"key": "SHOP-2"}});
    assert_eq!(scene.result(409, &other)?["code"], "conflict");

    let messages = scene.expect(
        200,
        "GET",
        &format!("/threads/{}/messages", text(&answer["thread_id"])),
        &Value::Null,
    )?;
    let roles: Vec<&str> = messages["items"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|message| text(&message["role"]))
        .collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant"]);
    Ok(())
}

#[test]
fn the_offline_provider_answers_from_documents_and_asks_otherwise() -> Result<()> {
    let scene = Scene::offline()?;
    let stored = scene.document("Refunds", "RULES", REFUNDS)?;
    assert_eq!(
        (&stored["version"], &stored["unchanged"]),
        (&json!(1), &json!(false))
    );
    let answer = scene.chat("Within how many days is a refund paid?", &Value::Null)?;
    let response = &answer["response_json"];
    assert_eq!(response["decision"], "NOOP", "{answer}");
    assert_eq!(response["citations"][0]["title"], "Refunds");
    let quote = text(&response["citations"][0]["quote"]);
    assert!(REFUNDS.contains(quote) && quote.contains("14 days"), "{quote}");
    let unknown = scene.chat("Who won the football game in Lisbon yesterday?", &Value::Null)?;
    assert_eq!(unknown["response_json"]["decision"], "ASK", "{unknown}");
    Ok(())
}

#[test]
fn documents_have_versions_chunks_and_a_tag() -> Result<()> {
    let scene = Scene::offline()?;
    let first = scene.document("Refunds", "RULES", REFUNDS)?;
    let again = scene.document("Refunds", "RULES", REFUNDS)?;
    assert_eq!((&again["id"], &again["unchanged"]), (&first["id"], &json!(true)));
    let second = scene.document("Refunds", "RULES", &REFUNDS.replace("14", "30"))?;
    assert_eq!((&second["id"], &second["version"]), (&first["id"], &json!(2)));
    let path = format!("/docs/{}", text(&first["id"]));
    let chunks = scene.at(200, "GET", &format!("{path}/chunks"), &Value::Null)?;
    let all = chunks["items"].to_string();
    assert!(all.contains("30 days") && !all.contains("14 days"), "{all}");

    let target = format!("/projects/{}{path}", scene.project);
    let shown = scene.agent.send(&scene.agent.request("GET", &target))?;
    let tag = shown.header("etag").unwrap_or_default().to_owned();
    let known = scene.agent.request("GET", &target).header("If-None-Match", &tag);
    assert_eq!(scene.agent.send(&known)?.status, 304);
    let other = scene
        .agent
        .request("GET", &target)
        .header("If-None-Match", "\"x\"");
    assert_eq!(scene.agent.send(&other)?.status, 200);

    let found = scene.at(200, "GET", "/search?q=manager+signs&explain=true", &Value::Null)?;
    assert_eq!(found["results"][0]["document"]["title"], "Refunds", "{found}");
    assert!(found["results"][0]["why"].is_object());
    scene.at(204, "DELETE", &path, &Value::Null)?;
    scene.at(404, "GET", &path, &Value::Null)?;
    let gone = scene.at(200, "GET", "/search?q=manager+signs", &Value::Null)?;
    assert_eq!(gone["results"], json!([]));
    Ok(())
}

#[test]
fn memory_is_proposed_decided_and_superseded() -> Result<()> {
    let scene = Scene::offline()?;
    let propose = |kind: &str, content: &str| {
        scene.at(201, "POST", "/memory", &json!({"type": kind, "content": content}))
    };
    let event = propose("event", "The shop moved to Lyon")?;
    assert_eq!(event["status"], "active");
    let path = |item: &Value| format!("/memory/{}", text(&item["id"]));
    scene.at(409, "PATCH", &path(&event), &json!({"content": "other"}))?;
    let metric = propose("metric", "12 open orders")?;
    assert!(metric["expires_at"].is_string(), "{metric}");

    let rule = propose("rule", "Answer in French")?;
    assert_eq!(rule["status"], "proposed");
    // A proposal has a call whose decision decides it.
    let calls = scene.expect(
        200,
        "GET",
        &format!("/tool_calls?project_id={}", scene.project),
        &Value::Null,
    )?;
    let call = calls["items"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|call| call["memory_item_id"] == rule["id"])
        .cloned()
        .unwrap_or_default();
    assert_eq!(call["name"], "memory.propose_add", "{calls}");
    scene.result(200, &json!({"tool_call_id": call["id"], "status": "approved"}))?;
    let accepted = scene.at(200, "GET", &path(&rule), &Value::Null)?;
    assert_eq!(accepted["status"], "accepted");

    let newer = scene.at(
        200,
        "POST",
        &format!("{}/supersede", path(&rule)),
        &json!({"content": "Answer in English"}),
    )?;
    assert_eq!(
        (&newer["supersedes"], &newer["status"]),
        (&rule["id"], &json!("accepted"))
    );
    let old = scene.at(200, "GET", &path(&rule), &Value::Null)?;
    assert_eq!(old["superseded_by"], newer["id"]);
    let situation = scene.at(200, "GET", "/situation", &Value::Null)?;
    assert_eq!(situation["rules"][0]["id"], newer["id"], "{situation}");
    assert_eq!(situation["recent_events"][0]["id"], event["id"]);

    let preference = scene.at(201, "POST", "/preferences", &json!({"content": "Short answers"}))?;
    assert_eq!(preference["type"], "preference");
    let approve = format!("{}/approve", path(&preference));
    let edited = scene.at(200, "POST", &approve, &json!({"content": "Very short answers"}))?;
    assert_eq!(
        (&edited["status"], &edited["content"]),
        (&json!("accepted"), &json!("Very short answers"))
    );
    assert_eq!(scene.at(409, "POST", &approve, &json!({}))?["code"], "conflict");
    let listed = scene.at(200, "GET", "/preferences", &Value::Null)?;
    assert_eq!(listed["items"][0]["id"], preference["id"]);
    let filtered = scene.at(200, "GET", "/memory?type=rule&status=accepted", &Value::Null)?;
    assert_eq!(filtered["items"].as_array().map(Vec::len), Some(2), "{filtered}");
    Ok(())
}
