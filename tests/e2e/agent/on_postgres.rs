//! The whole service on a real PostgreSQL with pgvector, alone and as two instances.

use super::model::{Model, Say, noop, ticket};
use super::{Scene, created, text, ticket_tool};
use anyhow::{Context, Result, ensure};
use grov_tests::{Agent, PostgresServer, eventually};
use serde_json::{Value, json};

const REFUNDS: &str =
    "# Refunds\n\nA refund is paid within 14 days.\n\n## Limits\n\nAbove 500 EUR a manager signs.\n";

/// The module's name tells the test runner that the tests need PostgreSQL.
mod postgres {
    use super::*;

    #[test]
    fn a_team_works_on_postgresql_and_a_restart_loses_nothing() -> Result<()> {
        let Some(server) = PostgresServer::start()? else {
            return Ok(());
        };
        let script = [ticket("Order 7 is late"), noop("The ticket SHOP-1 exists.")];
        let model = Model::start(script.map(Say::Content))?;
        let configure = |agent: grov_tests::AgentBuilder| {
            agent
                .env("DATABASE_URL", server.url())
                .env("CHAT_PROVIDER", "openai")
                .env("CHAT_MODEL", "scripted")
                .env("CHAT_BASE_URL", model.url())
                .env("GROV_ALLOW_MOCK", "1")
                .env("EMBEDDING_PROVIDER", "mock")
                .env("EMBEDDING_DIMS", "16")
        };
        let scene = Scene::with(configure)?;
        let health = scene.expect(200, "GET", "/health", &Value::Null)?;
        assert_eq!(health["database"], json!({"kind": "postgresql", "ok": true}));
        assert_eq!(health["vectors"]["kind"], "pgvector", "{health}");
        let stored = scene.document("Refunds", "RULES", REFUNDS)?;
        assert_eq!(stored["chunks"], 2, "{stored}");
        let document = format!("/docs/{}", text(&stored["id"]));
        eventually("the document to be embedded", || {
            let shown = scene.at(200, "GET", &document, &Value::Null).ok()?;
            (shown["status"] == "ready").then_some(())
        })?;
        let answer = scene.chat("Create a ticket for the late order 7", &ticket_tool())?;
        let call = answer["response_json"]["tool_calls"][0].clone();
        let id = text(&call["id"]).to_owned();
        scene.expect(200, "POST", &format!("/tool_calls/{id}/approve"), &json!({}))?;

        let Scene {
            agent,
            project,
            folder,
        } = scene;
        agent.stop()?;
        let agent = configure(Agent::on(&folder.path().join("grov"))).start()?;
        let scene = Scene {
            agent,
            project,
            folder,
        };
        let found = scene.at(200, "GET", "/search?q=manager+signs", &Value::Null)?;
        assert_eq!(
            found["results"][0]["document"]["heading_path"],
            json!(["Refunds", "Limits"]),
            "{found}"
        );
        let report =
            json!({"tool_call_id": id, "status": "succeeded", "result": {"key": "SHOP-1"}, "continue": true});
        let done = scene.result(200, &report)?;
        assert_eq!(
            done["next"]["response_json"]["answer"], "The ticket SHOP-1 exists.",
            "{done}"
        );
        scene.expect(
            204,
            "DELETE",
            &format!("/projects/{}{document}", scene.project),
            &Value::Null,
        )?;
        let left = server.query("SELECT count(*) FROM grov_agent.vectors")?;
        assert_eq!(left, ["0"]);
        Ok(())
    }

    #[test]
    fn two_instances_on_one_database_are_one_service() -> Result<()> {
        let Some(server) = PostgresServer::start()? else {
            return Ok(());
        };
        let model = Model::start([Say::Slowly(ticket("Once"), std::time::Duration::from_millis(5))])?;
        let folder = tempfile::tempdir()?;
        let builder = |name: &str| {
            Agent::on(&folder.path().join(name))
                .env("DATABASE_URL", server.url())
                .env("CHAT_PROVIDER", "openai")
                .env("CHAT_MODEL", "scripted")
                .env("CHAT_BASE_URL", model.url())
        };
        // Both create the schema at once.
        let (one, two) = std::thread::scope(|scope| {
            let one = scope.spawn(|| builder("one").start());
            let two = scope.spawn(|| builder("two").start());
            (one.join(), two.join())
        });
        let one = one.ok().context("the first instance")??;
        let two = two.ok().context("the second instance")??;
        let project = created(&one, "Shop")?;
        let (status, shown) = two.call("GET", &format!("/projects/{project}"), &Value::Null)?;
        ensure!(status == 200, "{shown}");
        // The same request to both at once is carried out once.
        let chat =
            json!({"project_id": project, "message": "Create a ticket", "tools": ticket_tool()}).to_string();
        let post = |agent: &Agent| -> Result<Value> {
            let request = agent.request("POST", "/chat").header("Idempotency-Key", "same");
            let answer = agent.send(
                &request
                    .header("Content-Type", "application/json")
                    .body(chat.clone()),
            )?;
            ensure!(answer.status == 200, "{}", answer.text());
            Ok(serde_json::from_slice(&answer.body)?)
        };
        let (first, second) = std::thread::scope(|scope| {
            let first = scope.spawn(|| post(&one));
            let second = scope.spawn(|| post(&two));
            (first.join(), second.join())
        });
        let first = first.ok().context("the first chat")??;
        let second = second.ok().context("the second chat")??;
        assert_eq!(first, second);
        let id = text(&first["response_json"]["tool_calls"][0]["id"]).to_owned();
        // Approved here, reported there; of two approvals at once one decides and the other repeats it.
        let approve = format!("/tool_calls/{id}/approve");
        let (status, approved) = two.call("POST", &approve, &json!({}))?;
        ensure!(status == 200, "{approved}");
        let report = json!({"tool_call_id": id, "status": "succeeded", "result": {}});
        let (status, reported) = one.call("POST", "/tools/result", &report)?;
        ensure!(status == 200, "{reported}");
        let (status, again) = two.call("POST", "/tools/result", &report)?;
        ensure!((status, &again) == (200, &reported), "{again}");
        Ok(())
    }
}
