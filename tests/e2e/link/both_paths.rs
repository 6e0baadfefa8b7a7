//! One developer works through the daemon, which keeps the link going; the other has hooks only, and a worker.

use super::{Developer, REMOTE, key};
use crate::agent::{Scene, text};
use crate::hooks::hooked::{says, writes};
use crate::work::Work;
use anyhow::Result;
use grov_tests::{PostgresServer, eventually};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

const RULE: &str = "From now on use date-fns for dates, never moment.";
const LIMIT: Duration = Duration::from_secs(10);

/// The workers of a home. The home may be in an argument or in a variable.
fn workers(home: &Path) -> usize {
    let home = home.display().to_string();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let workers = entries.filter(|entry| {
        let read = |file| fs::read(entry.path().join(file)).unwrap_or_default();
        let words = String::from_utf8_lossy(&read("cmdline")).replace('\0', " ");
        let variables = String::from_utf8_lossy(&read("environ")).into_owned();
        words.contains("agent sync --follow") && (words.contains(&home) || variables.contains(&home))
    });
    workers.count()
}

fn shares_between_paths(scene: &Scene) -> Result<()> {
    let script = json!({"scenarios": {
        "dates": {"steps": [writes("dates.ts"), says("The dates are formatted.")]},
        "answer": {"steps": [says("Queued.")]},
    }});
    let Some(ada) = Work::with(&script)? else {
        return Ok(());
    };
    let config =
        format!("[remote \"origin\"]\n\turl = {REMOTE}\n[user]\n\tname = Ada\n\temail = ada@example.org\n");
    let git = ada.client.project().join(".git");
    for folder in ["objects", "refs"] {
        fs::create_dir_all(git.join(folder))?;
    }
    fs::write(git.join("HEAD"), "ref: refs/heads/main\n")?;
    fs::write(git.join("config"), config)?;
    let ben = Developer::new("Ben")?;

    let key_file = ada.client.home().join("key");
    fs::write(&key_file, key(scene, "ada", "approver")?)?;
    let url = format!("http://127.0.0.1:{}", scene.agent.port());
    let key_file = key_file.display().to_string();
    let words = [
        "agent",
        "link",
        &url,
        "--remote-project",
        &scene.project,
        "--key-file",
        &key_file,
    ];
    let grov = ada.grov();
    let linked = grov.run_json(&words)?;
    assert_eq!(linked.json["linked"], true, "{:#}", linked.json);
    ben.link(scene, &key(scene, "ben", "approver")?)?;

    // Ada's session goes through the proxy and proposes a rule. What she approves is injected for Ben.
    ada.prompt(
        &format!("Format the dates in dates.ts. {RULE} [[scenario:dates]]"),
        &[],
    )?
    .result()?;
    let rule = eventually("the rule to be proposed", || {
        let inbox = grov.run_json(&["memory", "inbox"]).ok()?.json;
        let rule = inbox["proposals"]
            .as_array()?
            .iter()
            .find(|one| one["type"] == "rule")?;
        Some(text(&rule["id"]).to_owned())
    })?;
    let before = Instant::now();
    let approved = grov.run_json(&["memory", "approve", &rule])?;
    assert_eq!(approved.json["item"]["status"], "accepted", "{:#}", approved.json);
    let mut session = 0;
    let injected = eventually("the rule to be injected for Ben", || {
        session += 1;
        let prompt = "Which library formats the dates, date-fns or moment?";
        let reply = ben.injected(session, prompt).ok()?;
        reply.contains("never moment").then_some(reply)
    })?;
    let took = before.elapsed();
    assert!(took < LIMIT, "it took {took:?}");
    assert!(
        injected.contains("rule, approved") && injected.contains("Ada"),
        "{injected}"
    );

    // The daemon did it: Ada has no worker, and Ben has one.
    assert_eq!((workers(&ada.home), workers(&ben.home())), (0, 1));

    // What Ben approves is in Ada's next request.
    let before = Instant::now();
    let decision =
        ben.accepts("Refunds are queued in the ledger table, not sent inline, because the bank retries.")?;
    eventually("the decision to arrive at Ada", || {
        let shown = grov.run_json(&["memory", "show", &decision]).ok()?;
        (shown.code == Some(0)).then_some(())
    })?;
    let took = before.elapsed();
    assert!(took < LIMIT, "it took {took:?}");
    let ask = "How are refunds sent, inline or queued in the ledger table? [[scenario:answer]]";
    ada.injects(ask, &["decision, approved", "Refunds are queued"])?;
    let status: Value = grov.run_json(&["agent", "status"])?.json;
    assert_eq!(
        (&status["fault"], &status["conflicts"]),
        (&Value::Null, &json!(0)),
        "{status:#}"
    );
    Ok(())
}

#[test]
fn a_developer_with_the_daemon_and_one_with_hooks_share_decisions() -> Result<()> {
    shares_between_paths(&Scene::offline()?)
}

/// The module's name tells the test runner that the test needs PostgreSQL.
mod postgres {
    use super::*;

    #[test]
    fn a_developer_with_the_daemon_and_one_with_hooks_share_decisions() -> Result<()> {
        let Some(server) = PostgresServer::start()? else {
            return Ok(());
        };
        shares_between_paths(&Scene::with(|agent| agent.env("DATABASE_URL", server.url()))?)
    }
}
