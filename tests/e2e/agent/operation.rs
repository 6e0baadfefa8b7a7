//! Starting, limits, TLS, health, metrics, doctor, backup.

use super::model::{Model, Say, noop};
use super::{Scene, created, text};
use anyhow::{Context, Result};
use grov_tests::{Agent, Request, eventually};
use serde_json::{Value, json};
use std::time::Duration;

#[test]
fn one_line_says_where_it_listens_and_health_needs_no_key() -> Result<()> {
    let scene = Scene::with(|agent| agent.arg("--log-level").arg("warn"))?;
    let expected = format!("listening on http://127.0.0.1:{}\n", scene.agent.port());
    assert_eq!(scene.agent.log(), expected);
    let answer = scene.agent.send(&Request::new("GET", "/health"))?;
    let health: Value = serde_json::from_slice(&answer.body)?;
    assert_eq!(health["status"], "ok", "{health}");
    assert_eq!(health["database"], json!({"kind": "sqlite", "ok": true}));
    assert_eq!(health["chat"], json!({"provider": "offline", "ok": true}));
    assert_eq!(health["embedding"]["provider"], "none");
    Ok(())
}

#[test]
fn other_machines_need_tls_or_a_word_about_it() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let agent = Agent::on(&folder.path().join("grov"));
    let refused = agent.run(&["--host", "0.0.0.0", "--port", "0"])?;
    assert_eq!(refused.code(), Some(64), "{}", refused.stderr);
    assert!(refused.stderr.contains("--insecure"), "{}", refused.stderr);
    let served = agent.arg("--host").arg("0.0.0.0").arg("--insecure").start()?;
    let direct = Request::new("GET", "/health").header("Host", "10.0.0.7:8090");
    assert_eq!(served.send(&direct)?.status, 200);
    let rebound = Request::new("GET", "/health").header("Host", "rebound.example");
    assert_eq!(served.send(&rebound)?.status, 403);
    Ok(())
}

#[test]
fn tls_is_served_from_files() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    std::fs::write(&cert, made.cert.pem())?;
    std::fs::write(&key, made.signing_key.serialize_pem())?;
    std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    let builder = Agent::on(&folder.path().join("grov"))
        .env("GROV_AGENT_TLS_CERT", &cert)
        .env("GROV_AGENT_TLS_KEY", &key);
    let port = builder.start()?;
    let mut roots = rustls::RootCertStore::empty();
    roots.add(made.cert.der().clone())?;
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = rustls::pki_types::ServerName::try_from("localhost")?;
    let connection = rustls::ClientConnection::new(std::sync::Arc::new(config), name)?;
    let stream = rustls::StreamOwned::new(connection, grov_tests::open(port.port())?);
    let mut stream = std::io::BufReader::new(stream);
    let request = Request::new("GET", "/health").header("Host", "localhost");
    std::io::Write::write_all(stream.get_mut(), &request.bytes(port.port()))?;
    assert_eq!(grov_tests::read_response(&mut stream, |_| {})?.status, 200);
    std::fs::write(&key, "no key")?;
    let refused = builder.run(&["--port", "0"])?;
    assert_eq!(refused.code(), Some(64), "{}", refused.stderr);
    Ok(())
}

#[test]
fn too_many_chats_are_told_to_wait() -> Result<()> {
    let model = Model::start([Say::Slowly(noop(&"word ".repeat(60)), Duration::from_millis(20))])?;
    let url = model.url();
    let scene = Scene::with(|agent| {
        agent
            .env("GROV_AGENT_CHATS_AT_ONCE", "2")
            .env("GROV_AGENT_CHATS_PER_MINUTE", "5")
            .env("CHAT_PROVIDER", "openai")
            .env("CHAT_MODEL", "scripted")
            .env("CHAT_BASE_URL", url)
    })?;
    let body = json!({"project_id": scene.project, "message": "Hello"});
    let request = scene
        .agent
        .request("POST", "/chat")
        .header("Content-Type", "application/json")
        .body(body.to_string());
    std::thread::scope(|scope| -> Result<()> {
        let running: Vec<_> = (0..2)
            .map(|_| scope.spawn(|| scene.agent.send(&request)))
            .collect();
        eventually("two chats", || (model.requests().len() == 2).then_some(()))?;
        let third = scene.agent.send(&request)?;
        assert_eq!(third.status, 429, "{}", third.text());
        assert_eq!(third.header("retry-after"), Some("1"));
        for chat in running {
            let answer = chat.join().ok().context("a chat panicked")??;
            assert_eq!(answer.status, 200, "{}", answer.text());
        }
        Ok(())
    })?;
    let statuses: Vec<u16> = (0..4)
        .map(|_| Ok(scene.agent.send(&request)?.status))
        .collect::<Result<_>>()?;
    assert!(statuses.starts_with(&[200, 200]), "{statuses:?}");
    let last = scene.agent.send(&request)?;
    assert!(statuses.contains(&429) || last.status == 429, "{statuses:?}");
    Ok(())
}

#[test]
fn metrics_and_request_ids() -> Result<()> {
    let scene = Scene::with(|agent| agent.env("GROV_LOG", "info,grov_agent_http=debug"))?;
    scene.chat("Hello", &Value::Null)?;
    let named = scene
        .agent
        .request("GET", "/projects")
        .header("X-Request-Id", "my-id-7");
    assert_eq!(scene.agent.send(&named)?.header("x-request-id"), Some("my-id-7"));
    eventually("the log to have the id", || {
        scene.agent.log().contains("my-id-7").then_some(())
    })?;
    assert_eq!(scene.agent.send(&Request::new("GET", "/metrics"))?.status, 401);
    let metrics = scene.agent.send(&scene.agent.request("GET", "/metrics"))?.text();
    assert!(
        metrics.contains(r#"grov_agent_requests_total{method="POST",route="/chat",status="200"} 1"#),
        "{metrics}"
    );
    assert!(!metrics.contains(&scene.project), "{metrics}");
    Ok(())
}

#[test]
fn results_may_be_signed() -> Result<()> {
    let secret = "whsec";
    let scene = Scene::with(|agent| agent.env("TOOL_WEBHOOK_SECRET", secret))?;
    let body = json!({"tool_call_id": "00000000-0000-7000-8000-000000000000", "status": "succeeded"});
    let post = |signature: &str| -> Result<u16> {
        let request = scene
            .agent
            .request("POST", "/tools/result")
            .header("Content-Type", "application/json")
            .header("X-Grov-Signature", signature)
            .body(body.to_string());
        Ok(scene.agent.send(&request)?.status)
    };
    assert_eq!(post("t=1,v1=00")?, 401);
    assert_eq!(post("nonsense")?, 401);
    // Without a signature the key decides.
    scene.result(404, &body)?;
    Ok(())
}

#[test]
fn a_backup_is_restored_and_doctor_checks() -> Result<()> {
    let scene = Scene::offline()?;
    scene.document("Plan", "FACTS", "# Plan\n\nThe shop opens in May.")?;
    let copy = scene.folder.path().join("copy.db");
    let copy = copy.to_str().context("a path that is not UTF-8")?;
    let ended = scene.agent.run(&["backup", copy])?;
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
    let again = scene.agent.run(&["backup", copy])?;
    assert_ne!(again.code(), Some(0), "an existing file is not overwritten");
    let open = scene.agent.run(&["restore", copy])?;
    assert_ne!(open.code(), Some(0), "a running service is not restored");
    let later = created(&scene.agent, "Later")?;
    let project = scene.project.clone();
    let folder = scene.folder;
    scene.agent.stop()?;
    let builder = Agent::on(&folder.path().join("grov"));
    let ended = builder.run(&["restore", copy])?;
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
    let ended = builder.run(&["doctor", "--json"])?;
    let doctor: Value = serde_json::from_str(&ended.stdout)?;
    assert_eq!((ended.code(), &doctor["ok"]), (Some(0), &json!(true)), "{doctor}");
    let agent = builder.start()?;
    assert_eq!(
        agent.call("GET", &format!("/projects/{later}"), &Value::Null)?.0,
        404
    );
    let documents = agent
        .call("GET", &format!("/projects/{project}/docs"), &Value::Null)?
        .1;
    assert_eq!(text(&documents["items"][0]["title"]), "Plan");
    Ok(())
}

#[test]
fn a_refused_restore_says_once_that_nothing_was_changed() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    Agent::on(&home).start()?.stop()?;
    let file = folder.path().join("copy.db");
    std::fs::write(&file, "no database")?;
    let ended = Agent::on(&home).run(&["restore", &file.display().to_string()])?;
    assert_eq!(ended.code(), Some(2), "{}", ended.stderr);
    assert_eq!(
        ended.stderr.matches("nothing was changed").count(),
        1,
        "{}",
        ended.stderr
    );
    Ok(())
}

#[test]
fn hints_say_what_to_do() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    Agent::on(&home).start()?.stop()?;
    let existing = folder.path().join("copy.db");
    std::fs::write(&existing, "mine")?;
    let existing = existing.display().to_string();
    let missing = folder.path().join("missing.db").display().to_string();
    let closed = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let database = format!("postgresql://u:hunter2@{closed}/x");
    for (agent, command, code, words) in [
        (
            Agent::on(&home),
            vec!["backup", &existing],
            2,
            "exists already and is not overwritten",
        ),
        (
            Agent::on(&home),
            vec!["restore", &missing],
            2,
            "a file that `grov-agentd backup` made",
        ),
        (
            Agent::on(&home).env("DATABASE_URL", &database),
            vec!["key", "list"],
            2,
            "check that the PostgreSQL server runs",
        ),
        (
            Agent::on(&home).env("CHAT_PROVIDER", "anthropic"),
            vec!["doctor"],
            1,
            "FAIL  settings",
        ),
    ] {
        let ended = agent.run(&command)?;
        let said = format!("{}{}", ended.stdout, ended.stderr);
        assert_eq!(ended.code(), Some(code), "{command:?}: {said}");
        assert!(said.contains(words), "{command:?}: {said}");
        assert!(
            !said.contains("check that the directory exists") && !said.contains("hunter2"),
            "{said}"
        );
    }
    Ok(())
}
