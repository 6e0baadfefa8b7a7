//! Two developers and one agent service: what one approves, the other's agent knows.

mod both_paths;
mod faults;
mod hostile;
mod worker;

use crate::agent::{Scene, text};
use anyhow::{Context, Result, ensure};
use grov_domain::{
    InboxItem, ItemStore, MemoryItem, MemoryScope, MemoryStatus, MemoryType, OrchestrationStore, Redacted,
    Task, TaskProposals, TaskStore, TaskTransition, derived_item_id, local_project_id,
};
use grov_store::{OpenOptions, SqliteStore};
use grov_tests::{Answer, Grov, PostgresServer, eventually};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use time::OffsetDateTime;

const REMOTE: &str = "https://git.example.org/shop/web.git";

/// A developer with a home and a clone of the same repository.
struct Developer {
    folder: TempDir,
    grov: Grov,
}

impl Developer {
    fn new(name: &str) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let (home, project) = (folder.path().join("grov"), folder.path().join("web"));
        fs::create_dir_all(project.join(".git"))?;
        fs::create_dir_all(&home)?;
        let config = format!(
            "[remote \"origin\"]\n\turl = {REMOTE}\n[user]\n\tname = {name}\n\temail = {name}@example.org\n"
        );
        fs::write(project.join(".git/config"), config)?;
        fs::write(project.join(".git/HEAD"), "ref: refs/heads/main\n")?;
        fs::create_dir_all(project.join(".git/objects"))?;
        fs::create_dir_all(project.join(".git/refs"))?;
        let grov = Grov::on(&home).within(&project);
        Ok(Self { folder, grov })
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("grov")
    }

    fn key_file(&self, key: &str) -> Result<String> {
        let file = self.folder.path().join("key");
        fs::write(&file, key)?;
        Ok(file.display().to_string())
    }

    fn link(&self, scene: &Scene, key: &str) -> Result<Answer> {
        let url = format!("http://127.0.0.1:{}", scene.agent.port());
        let key = self.key_file(key)?;
        self.grov.run_json(&[
            "agent",
            "link",
            &url,
            "--remote-project",
            &scene.project,
            "--key-file",
            &key,
        ])
    }

    /// Keeps the background worker away, so that a test decides when something is exchanged.
    fn without_worker(&self) -> Result<File> {
        let file = File::create(self.home().join("link.lock"))?;
        file.lock()?;
        Ok(file)
    }

    /// One exchange, with the worker kept away before and after.
    fn sync(&self, lock: &mut Option<File>) -> Result<Answer> {
        drop(lock.take());
        let answer = self.grov.run_json(&["agent", "sync"])?;
        *lock = Some(self.without_worker()?);
        Ok(answer)
    }

    fn status(&self) -> Result<Value> {
        Ok(self.grov.run_json(&["agent", "status"])?.json)
    }

    fn with_store<T>(&self, work: impl AsyncFnOnce(&SqliteStore) -> Result<T>) -> Result<T> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        runtime.block_on(async {
            let store = SqliteStore::open(&self.home().join("grov.db"), &OpenOptions::default()).await?;
            let done = work(&store).await;
            store.close().await?;
            done
        })
    }

    /// A proposal as a session makes it. Returns its id.
    fn proposes(&self, kind: MemoryType, content: &str) -> Result<String> {
        let project = self.grov.run_json(&["memory", "audit"])?.json["project_path"].clone();
        let scope = MemoryScope {
            project_path: text(&project).to_owned(),
            project_remote: Some("git.example.org/shop/web".to_owned()),
        };
        let at = OffsetDateTime::now_utc();
        let project_id = local_project_id(&scope);
        let item = MemoryItem {
            id: derived_item_id(project_id, kind, content),
            project_id,
            kind,
            status: MemoryStatus::Proposed,
            content: content.to_owned(),
            evidence: Vec::new(),
            contradicts: Vec::new(),
            supersedes: None,
            superseded_by: None,
            expires_at: None,
            created_at: at,
            updated_at: at,
            decided_by: None,
            reason: None,
        };
        let task = Task {
            project_remote: scope.project_remote.clone(),
            created_at: at,
            ..Task::new(
                &format!("task-{content}"),
                &scope.project_path,
                "Work on the dates",
            )
        };
        let id = item.id.to_string();
        let transition = TaskTransition {
            proposals: vec![TaskProposals {
                task: task.id.clone(),
                items: vec![InboxItem {
                    item,
                    scope,
                    task_id: None,
                }],
            }],
            finished: vec![task],
            ..TaskTransition::default()
        };
        self.with_store(async |store| {
            store.apply(&Redacted::of(&transition)).await?;
            Ok(())
        })?;
        Ok(id)
    }

    fn accepts(&self, content: &str) -> Result<String> {
        let id = self.proposes(MemoryType::Decision, content)?;
        let approved = self.grov.run_json(&["memory", "approve", &id])?;
        ensure!(
            approved.json["item"]["status"] == "accepted",
            "{:#}",
            approved.json
        );
        Ok(id)
    }

    fn status_of(&self, id: &str) -> Result<Option<(String, String)>> {
        let id = id.parse()?;
        let found = self.with_store(async |store| Ok(store.item(id).await?))?;
        Ok(found.map(|found| (found.item.status.as_str().to_owned(), found.item.content)))
    }

    /// What is injected for a prompt.
    fn injected(&self, session: u32, prompt: &str) -> Result<String> {
        let input = json!({
            "session_id": format!("5f0c5c1e-0000-4000-8000-{session:012}"), "hook_event_name": "UserPromptSubmit",
            "prompt": prompt, "cwd": self.folder.path().join("web"),
            "transcript_path": self.folder.path().join(format!("{session}.jsonl")),
        });
        Ok(self.grov.hook("UserPromptSubmit", &input)?.stdout)
    }
}

fn key(scene: &Scene, name: &str, role: &str) -> Result<String> {
    let ended = scene
        .agent
        .run(&["key", "create", name, "--role", role, "--project", &scene.project])?;
    ensure!(ended.code() == Some(0), "{}", ended.stderr);
    Ok(ended.stdout.trim().to_owned())
}

/// The module's name tells the test runner that the test needs PostgreSQL.
mod postgres {
    use super::*;

    #[test]
    fn two_developers_on_one_postgresql_see_each_others_decisions() -> Result<()> {
        let Some(server) = PostgresServer::start()? else {
            return Ok(());
        };
        shares_a_decision(&Scene::with(|agent| agent.env("DATABASE_URL", server.url()))?)
    }
}

#[test]
fn a_decision_that_one_developer_approves_is_injected_for_the_other() -> Result<()> {
    shares_a_decision(&Scene::offline()?)
}

fn shares_a_decision(scene: &Scene) -> Result<()> {
    let (ada, ben) = (Developer::new("Ada")?, Developer::new("Ben")?);
    let linked = ada.link(scene, &key(scene, "ada", "approver")?)?;
    assert_eq!(
        (&linked.json["linked"], &linked.json["project_id"]),
        (&json!(true), &json!(scene.project)),
        "{}",
        linked.json
    );
    ben.link(scene, &key(scene, "ben", "approver")?)?;

    let before = Instant::now();
    let id =
        ada.accepts("Refunds are queued in the ledger table, not sent inline, because the bank retries.")?;
    let mut session = 0;
    let injected = eventually("the decision to be injected for Ben", || {
        session += 1;
        let reply = ben
            .injected(
                session,
                "How are refunds sent, inline or queued in the ledger table?",
            )
            .ok()?;
        reply.contains("Refunds are queued").then_some(reply)
    })?;
    let took = before.elapsed();
    assert!(took < Duration::from_secs(10), "it took {took:?}");
    assert!(
        injected.contains("decision, approved") && injected.contains("Ada"),
        "{injected}"
    );

    // The finished task went along, without paths of Ada's machine.
    let tasks = eventually("the task to arrive", || {
        let list = ben.grov.run_json(&["memory", "list"]).ok()?.json;
        let tasks = list["memories"].as_array()?.clone();
        tasks.iter().any(|task| task["item"].is_null()).then_some(tasks)
    })?;
    assert!(
        !json!(tasks)
            .to_string()
            .contains(ada.folder.path().to_str().context("path")?),
        "{tasks:#?}"
    );

    // Forgetting it deletes it everywhere.
    ada.grov.run_json(&["memory", "forget", &id, "--yes"])?;
    eventually("the decision to be gone", || {
        ben.status_of(&id).ok()?.is_none().then_some(())
    })?;
    let status = ben.status()?;
    assert_eq!(
        (&status["pending_out"], &status["fault"]),
        (&json!(0), &Value::Null),
        "{status:#}"
    );

    // Memory stays on both sides after the link ends.
    let kept = ada.accepts("Invoices are numbered per country.")?;
    eventually("the second decision to arrive", || ben.status_of(&kept).ok()?)?;
    assert_eq!(ben.grov.run_json(&["agent", "unlink"])?.code, Some(0));
    assert_eq!(
        ben.status_of(&kept)?.map(|(status, _)| status),
        Some("accepted".to_owned())
    );
    assert_eq!(ben.grov.run_json(&["agent", "status"])?.code, Some(1));
    scene.at(200, "GET", &format!("/memory/{kept}"), &Value::Null)?;
    Ok(())
}

#[test]
fn a_revoked_key_stops_the_link_with_a_clear_word() -> Result<()> {
    let scene = Scene::offline()?;
    let ada = Developer::new("Ada")?;
    let secret = key(&scene, "ada", "approver")?;
    ada.link(&scene, &secret)?;
    eventually("the first exchange", || {
        ada.status().ok()?["last_sync"].as_str().map(drop)
    })?;
    let revoked = scene.agent.run(&["key", "revoke", "ada"])?;
    assert_eq!(revoked.code(), Some(0), "{}", revoked.stderr);
    // Running services learn of it within two seconds.
    eventually("the key to be refused", || {
        let (status, _) = scene
            .agent
            .call_as(&secret, "GET", "/projects", &Value::Null)
            .ok()?;
        (status == 401).then_some(())
    })?;
    let id = ada.accepts("Deploys happen on Tuesdays.")?;
    let status = eventually("the link to stop", || {
        ada.status().ok().filter(|status| status["state"] == "stopped")
    })?;
    assert!(text(&status["fault"]).contains("revoked"), "{status:#}");
    assert!(status["pending_out"].as_u64() >= Some(1), "{status:#}");
    let synced = ada.grov.run_json(&["agent", "sync"])?;
    assert!(!matches!(synced.code, None | Some(0)), "{:#}", synced.json);
    // A new key sends what waits.
    ada.link(&scene, &key(&scene, "ada2", "approver")?)?;
    eventually("the decision to be sent", || {
        scene
            .agent
            .call(
                "GET",
                &format!("/projects/{}/memory/{id}", scene.project),
                &Value::Null,
            )
            .ok()
            .filter(|(status, _)| *status == 200)
    })?;
    Ok(())
}

#[test]
fn an_item_changed_on_both_sides_is_shown_and_not_lost() -> Result<()> {
    let scene = Scene::offline()?;
    let (ada, ben) = (Developer::new("Ada")?, Developer::new("Ben")?);
    let (mut of_ada, mut of_ben) = (Some(ada.without_worker()?), Some(ben.without_worker()?));
    ada.link(&scene, &key(&scene, "ada", "approver")?)?;
    ben.link(&scene, &key(&scene, "ben", "approver")?)?;
    let id = ada.accepts("The cache lives for ten minutes.")?;
    ada.sync(&mut of_ada)?;
    ben.sync(&mut of_ben)?;
    assert!(ben.status_of(&id)?.is_some());

    ada.grov.run_json(&[
        "memory",
        "edit",
        &id,
        "--content",
        "The cache lives for five minutes.",
    ])?;
    ben.grov.run_json(&[
        "memory",
        "edit",
        &id,
        "--content",
        "The cache lives for one hour.",
    ])?;
    ada.sync(&mut of_ada)?;
    let synced = ben.sync(&mut of_ben)?;
    assert_eq!(synced.json["conflicts"], 1, "{:#}", synced.json);
    let inbox = ben.grov.run_json(&["memory", "inbox"])?.json;
    let conflict = &inbox["conflicts"][0];
    assert_eq!(
        conflict["here"]["content"], "The cache lives for one hour.",
        "{inbox:#}"
    );
    assert_eq!(
        conflict["there"]["content"], "The cache lives for five minutes.",
        "{inbox:#}"
    );

    let settled = ben.grov.run_json(&["memory", "settle", &id, "--here"])?;
    assert_eq!(settled.code, Some(0), "{:#}", settled.json);
    ben.sync(&mut of_ben)?;
    ada.sync(&mut of_ada)?;
    let content = |developer: &Developer| -> Result<Option<String>> {
        Ok(developer.status_of(&id)?.map(|(_, content)| content))
    };
    assert_eq!(content(&ada)?.as_deref(), Some("The cache lives for one hour."));
    assert_eq!(ben.status()?["conflicts"], 0);
    Ok(())
}

#[test]
fn a_sender_that_is_killed_again_and_again_loses_and_doubles_nothing() -> Result<()> {
    const TASKS: usize = 300;
    let scene = Scene::offline()?;
    let (ada, ben) = (Developer::new("Ada")?, Developer::new("Ben")?);
    let mut lock = Some(ada.without_worker()?);
    ada.link(&scene, &key(&scene, "ada", "agent")?)?;
    let records: String = (0..TASKS)
        .map(|number| {
            let record = json!({"id": format!("t-{number}"), "original_query": format!("Do the work number {number}"), "status": "complete"});
            format!("{record}\n")
        })
        .collect();
    let file = ada.folder.path().join("records.jsonl");
    fs::write(&file, records)?;
    let file = file.display().to_string();
    ada.grov.run_json(&["memory", "import", &file])?;
    assert_eq!(ada.status()?["pending_out"], TASKS);

    drop(lock.take());
    // GROV_KILLS=100 for a measurement.
    let kills = std::env::var("GROV_KILLS")
        .ok()
        .and_then(|kills| kills.parse().ok());
    for round in 0..kills.unwrap_or(12_u64) {
        let mut sender = ada.grov.command(&["agent", "sync", "--follow"])?;
        let mut sender = sender
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        std::thread::sleep(Duration::from_millis(20 + 13 * (round % 25)));
        sender.kill()?;
        sender.wait()?;
    }
    ada.grov.run_json(&["agent", "sync"])?;
    assert_eq!(ada.status()?["pending_out"], 0);

    // The last change of each record, read as a replica reads it.
    let (mut ids, mut after) = (Vec::new(), 0);
    loop {
        let page = scene.at(
            200,
            "GET",
            &format!("/changes?after={after}&limit=100"),
            &Value::Null,
        )?;
        let changes = page["changes"].as_array().context("no list")?.clone();
        let Some(last) = changes.last() else { break };
        after = last["revision"].as_i64().context("no revision")?;
        ids.extend(changes.iter().map(|change| text(&change["id"]).to_owned()));
    }
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!((count, ids.len()), (TASKS, TASKS));
    // Sent once: a repeated call is no new revision.
    assert_eq!(after, TASKS as i64);

    ben.link(&scene, &key(&scene, "ben", "reader")?)?;
    let count =
        || ben.with_store(async |store| Ok(store.tasks_for_project(&project(&ben)?, 1000).await?.len()));
    eventually("all tasks to arrive", || (count().ok()? == TASKS).then_some(()))
}

fn project(developer: &Developer) -> Result<String> {
    let audit = developer.grov.run_json(&["memory", "audit"])?.json;
    Ok(text(&audit["project_path"]).to_owned())
}

#[test]
fn something_else_than_the_service_is_refused_and_nothing_is_linked() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}", listener.local_addr()?);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            let mut request = [0; 4096];
            let read = stream.read(&mut request).unwrap_or(0);
            // The key must not be shown to something that is not known to be the service.
            let has_key = String::from_utf8_lossy(&request[..read])
                .to_lowercase()
                .contains("x-agent-key");
            let body = if has_key {
                "the key was sent"
            } else {
                "<html>Welcome</html>"
            };
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
        }
    });
    let ada = Developer::new("Ada")?;
    let file = ada.key_file("grov_secret")?;
    let id = "00000000-0000-4000-8000-000000000001";
    let link = |url: &str, more: &[&str]| {
        ada.grov
            .run_json(&[&["agent", "link", url, "--remote-project", id], more].concat())
    };
    let html = link(&url, &["--key-file", &file])?;
    assert_eq!(html.code, Some(2), "{:#}", html.json);
    assert!(
        text(&html.json["error"]["message"]).contains("HTML page"),
        "{:#}",
        html.json
    );
    let away = link("http://127.0.0.1:9", &["--key-file", &file])?;
    assert_eq!(away.code, Some(2), "{:#}", away.json);
    // There is no link, so nothing is promised and nothing can be looked up.
    for refused in [&html, &away] {
        let error = refused.json["error"].to_string();
        assert!(error.contains("nothing was linked"), "{error}");
        assert!(
            !error.contains("tried again") && !error.contains("agent status"),
            "{error}"
        );
    }
    let unlinked = ada.grov.run(&["agent", "sync"])?;
    assert_eq!(unlinked.code(), Some(1), "{}", unlinked.stderr);
    assert!(
        unlinked.stdout.contains("not linked") && unlinked.stderr.is_empty(),
        "{}",
        unlinked.stderr
    );
    assert_eq!(
        link("http://agent.example.org", &["--key-file", &file])?.code,
        Some(64)
    );
    assert_eq!(link(&url, &[])?.code, Some(64));

    let scene = Scene::offline()?;
    let wrong = ada.link(&scene, "wrong")?;
    assert_eq!(wrong.code, Some(1), "{:#}", wrong.json);
    assert_eq!(ada.grov.run_json(&["agent", "status"])?.code, Some(1));
    ada.link(&scene, &key(&scene, "ada", "agent")?)?;
    // Linked twice: the same is fine, another project is not.
    assert_eq!(ada.link(&scene, &key(&scene, "again", "agent")?)?.code, Some(0));
    let other = Scene::offline()?;
    let second = ada.link(&other, &key(&other, "ada", "agent")?)?;
    assert_eq!(second.code, Some(1), "{:#}", second.json);
    assert!(!second.json.to_string().contains("grov_secret"));
    Ok(())
}

#[test]
fn sync_waits_for_the_process_that_sends() -> Result<()> {
    let scene = Scene::offline()?;
    let ada = Developer::new("Ada")?;
    ada.link(&scene, &key(&scene, "ada", "approver")?)?;
    eventually("the worker to run", || {
        (ada.status().ok()?["running"] == true).then_some(())
    })?;
    let id = ada.accepts("Emails are sent by the outbox.")?;
    let synced = ada.grov.run_json(&["agent", "sync"])?;
    assert_eq!(
        (synced.code, &synced.json["pending_out"]),
        (Some(0), &json!(0)),
        "{:#}",
        synced.json
    );
    scene.at(200, "GET", &format!("/memory/{id}"), &Value::Null)?;
    Ok(())
}

#[test]
fn sync_fails_if_nothing_could_be_exchanged() -> Result<()> {
    let scene = Scene::offline()?;
    let ada = Developer::new("Ada")?;
    ada.link(&scene, &key(&scene, "ada", "approver")?)?;
    eventually("the worker to run", || {
        let status = ada.status().ok()?;
        (status["running"] == true && status["last_sync"].is_string()).then_some(())
    })?;
    scene.agent.kill()?;
    let synced = ada.grov.run_json(&["agent", "sync"])?;
    assert_eq!(synced.code, Some(2), "{:#}", synced.json);
    let message = text(&synced.json["error"]["message"]);
    assert!(message.contains("does not answer"), "{message}");
    Ok(())
}

#[test]
fn a_key_that_only_reads_receives_and_keeps_the_link() -> Result<()> {
    let scene = Scene::offline()?;
    let ada = Developer::new("Ada")?;
    let mut lock = Some(ada.without_worker()?);
    let id = ada.accepts("Emails are sent by the outbox.")?;
    ada.link(&scene, &key(&scene, "reading", "reader")?)?;
    let synced = ada.sync(&mut lock)?;
    assert_eq!(synced.code, Some(0), "{:#}", synced.json);
    assert_eq!(
        (&synced.json["state"], &synced.json["pending_out"]),
        (&json!("on"), &json!(0))
    );
    scene.at(404, "GET", &format!("/memory/{id}"), &Value::Null)?;
    ada.link(&scene, &key(&scene, "ada", "approver")?)?;
    ada.sync(&mut lock)?;
    scene.at(200, "GET", &format!("/memory/{id}"), &Value::Null)?;
    Ok(())
}

#[test]
fn a_service_that_lost_its_data_gets_it_again() -> Result<()> {
    let scene = Scene::offline()?;
    let ada = Developer::new("Ada")?;
    let mut lock = Some(ada.without_worker()?);
    ada.link(&scene, &key(&scene, "ada", "approver")?)?;
    let backup = scene.folder.path().join("backup.db").display().to_string();
    let saved = scene.agent.run(&["backup", &backup])?;
    ensure!(saved.code() == Some(0), "{}", saved.stderr);
    let id = ada.accepts("Emails are sent by the outbox.")?;
    ada.sync(&mut lock)?;
    scene.at(200, "GET", &format!("/memory/{id}"), &Value::Null)?;
    // Deleting the row behind the service's back is what an older copy looks like.
    let database = scene.folder.path().join("grov/agent.db");
    ensure!(
        database.exists(),
        "{:?}",
        fs::read_dir(scene.folder.path().join("grov"))?.collect::<Vec<_>>()
    );
    let deleted = std::process::Command::new("python3")
        .args(["-c", "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.executescript('DELETE FROM memory_items; DELETE FROM feed; DELETE FROM feed_revisions; DELETE FROM shared_tasks;'); c.commit()"])
        .arg(&database)
        .status()?;
    ensure!(deleted.success());
    ada.sync(&mut lock)?;
    scene.at(200, "GET", &format!("/memory/{id}"), &Value::Null)?;
    Ok(())
}
