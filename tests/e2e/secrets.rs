//! Secrets are not written to the database, the spool, the log or the metrics.

use crate::turn;
use crate::upstream::Upstream;
use anyhow::{Context, Result};
use grov_store::{OpenOptions, SqliteStore};
use grov_tests::{Daemon, Grov, Request, eventually, exchange};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Secrets of users, models and clients, in pieces, so that this file contains none itself.
fn secrets() -> Vec<(&'static str, String)> {
    vec![
        (
            "an API key",
            [
                "sk-ant-",
                "api03-",
                "Qm7TzP4vRk9sXw2LhY6cNdJ8fGb3aEuV",
                "_o1iZpKtMx5rWq-AA",
            ]
            .concat(),
        ),
        ("an access key", ["AKIA", "Z7QX4MNP2KLRT5WV"].concat()),
        (
            "a token",
            ["ghp_", "a8Kd03mZxQw7LpYt5RvN2bHs9JcF4gEuT6iO"].concat(),
        ),
        ("a password", "tr0ub4dor-and-3-staples".to_owned()),
        ("private words", "the merger is on friday".to_owned()),
    ]
}

fn holds(content: &[u8], secret: &str) -> bool {
    content
        .windows(secret.len())
        .any(|window| window == secret.as_bytes())
}

fn search(folder: &Path, visit: &mut impl FnMut(&Path, &[u8])) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            search(&path, visit)?;
        } else if path.is_file() {
            visit(&path, &fs::read(&path)?);
        }
    }
    Ok(())
}

#[test]
fn secrets_in_prompts_answers_and_headers_are_not_stored() -> Result<()> {
    let secrets = secrets();
    let [key, access, token, password, private] =
        [0, 1, 2, 3, 4].map(|index: usize| secrets[index].1.as_str());
    let command = format!("curl -H 'Authorization: Bearer {token}' https://example.org/{access}");
    let script = json!({"default": "leak", "scenarios": {"leak": {"steps": [
        {"blocks": [
            {"type": "text", "text": format!("I will use postgres://admin:{password}@db.example.org/main and {key}.")},
            {"type": "tool_use", "name": "Bash", "input": {"command": command}},
            {"type": "tool_use", "name": "Write", "input": {"file_path": "/tmp/env", "content": format!("KEY={key}")}},
        ]},
        {"blocks": [{"type": "text", "text": "Done."}]},
    ]}}});
    let upstream = Upstream::with(&script)?;
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let daemon = Daemon::on(&home, &upstream.url())
        .arg("--log-level")
        .arg("trace")
        .start()?;
    let prompt = format!(
        "Use {key} and {access}, password={password} on postgres://admin:{password}@db.example.org/main. \
         <private>{private}</private>"
    );
    let session = turn::session(1);
    let mut messages = vec![json!({"role": "user", "content": [{"type": "text", "text": prompt}]})];
    let ask = |messages: &[Value]| {
        let request = turn::request(&session, messages)
            .header("Authorization", &format!("Bearer {key}"))
            .header("Cookie", &format!("session={token}"));
        exchange(daemon.port(), &request)
    };
    let answer = ask(&messages)?;
    assert!(
        answer.status == 200 && answer.text().contains("message_stop"),
        "{}",
        answer.text()
    );
    let call = json!({"type": "tool_use", "id": "toolu_01", "name": "Bash", "input": {"command": command}});
    messages.push(json!({"role": "assistant", "content": [call]}));
    let result =
        json!({"type": "tool_result", "tool_use_id": "toolu_01", "content": format!("token {token}")});
    messages.push(json!({"role": "user", "content": [result]}));
    assert_eq!(ask(&messages)?.status, 200);

    let steps = Grov::on(&home).wait_for_steps(&session, 2)?;
    let metrics = exchange(daemon.port(), &Request::new("GET", "/_grov/metrics"))?.body;
    let health = exchange(daemon.port(), &Request::new("GET", "/_grov/health"))?.body;
    let log = daemon.stop()?.stderr;
    assert!(!log.is_empty(), "the log is empty at its highest level");
    for (what, secret) in &secrets {
        for (place, content) in [
            ("metrics", &*metrics),
            ("health", &health),
            ("log", log.as_bytes()),
        ] {
            assert!(!holds(content, secret), "{what} is in the {place}");
        }
        search(&home, &mut |path, content| {
            assert!(!holds(content, secret), "{what} is in {}", path.display())
        })?;
        assert!(
            !holds(json!(steps).to_string().as_bytes(), secret),
            "{what} is in the steps"
        );
    }
    // The rest of the command is intact.
    let output = steps[0]["command"].as_str().context("no command")?;
    assert!(
        output.contains("curl") && output.contains("example.org"),
        "{output}"
    );
    Ok(())
}

/// Writes a database with version 9 of the schema, with a secret among the keywords of a session.
fn old_database(path: &Path) -> Result<()> {
    use sqlx::{ConnectOptions, Connection, Executor};
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        SqliteStore::open(path, &OpenOptions::default())
            .await?
            .close()
            .await?;
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path);
        let mut database = options.connect().await?;
        for statement in [
            "DROP TABLE cleaning",
            "DROP TRIGGER task_text_changed",
            "DROP INDEX tasks_unjudged",
            "ALTER TABLE tasks DROP COLUMN model_screening",
            "ALTER TABLE tasks DROP COLUMN judging_tries",
            "ALTER TABLE tasks DROP COLUMN judging_until",
            "ALTER TABLE tasks DROP COLUMN screened",
            "ALTER TABLE exchanges DROP COLUMN edits",
            "ALTER TABLE tasks DROP COLUMN edits",
            "DROP TABLE screening",
            "DROP TABLE session_ends",
            "ALTER TABLE hook_sessions DROP COLUMN turn_ended_at",
            "ALTER TABLE hook_sessions DROP COLUMN prompt_readings",
            "ALTER TABLE drift_log DROP COLUMN outcome",
            "ALTER TABLE goal_edits DROP COLUMN since_prompt",
            "ALTER TABLE steps DROP COLUMN outcome",
            "DROP TABLE context_readings",
            "DROP TABLE prepared_summaries",
            "DROP TABLE read_limits",
            "DROP TABLE compactions",
            "DROP TABLE ledger_cuts",
            "DROP TABLE ledger_trims",
            "DROP TRIGGER link_task_added",
            "DROP TRIGGER link_task_changed",
            "DROP TRIGGER link_task_removed",
            "DROP INDEX hook_sessions_by_update",
            "DROP INDEX session_states_by_update",
            "DROP TABLE memory_items",
            "DROP TABLE inbox_notices",
            "DROP TABLE finding_marks",
            "DROP TABLE links",
            "DROP TABLE link_outbox",
            "DROP TABLE link_records",
            "ALTER TABLE tasks DROP COLUMN item",
            "DROP TABLE routed_usage",
            "PRAGMA user_version = 9",
            "INSERT INTO session_states (session_id, client_session_id, start_time, last_update, keywords) \
             VALUES ('s', 's', 1, 1, '[\"staples77\"]')",
        ] {
            database.execute(statement).await?;
        }
        Ok(database.close().await?)
    })
}

/// Whether any file of the home contains the word.
fn is_left(home: &Path) -> Result<bool> {
    let mut is_left = false;
    search(home, &mut |_, content| is_left |= holds(content, "staples77"))?;
    Ok(is_left)
}

#[test]
fn doctor_masks_secrets_that_an_older_version_stored() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    fs::create_dir(&home)?;
    old_database(&home.join("grov.db"))?;
    let readable = "grov.db.corrupt-20260101T000000.000000Z";
    let broken = "grov.db.corrupt-20260102T000000.000000Z";
    old_database(&home.join(readable))?;
    fs::write(home.join(broken), "no database")?;
    let grov = Grov::on(&home);
    let output = grov.run(&["doctor"])?.stdout;
    assert!(
        output.contains("old rows") && output.contains(readable) && output.contains(broken),
        "{output}"
    );
    assert!(is_left(&home)?, "nothing is changed unasked");
    let ended = grov.run(&["doctor", "--fix"])?;
    assert!(!is_left(&home)?, "{ended:?}");
    let (_, left) = ended
        .stdout
        .split_once("not cleaned:")
        .context("nothing is left")?;
    let left = left.lines().next().unwrap_or_default();
    assert!(
        !ended.stdout.contains("old rows") && left.contains(broken) && !left.contains(readable),
        "{ended:?}"
    );
    // A file that cannot be read can only be reported as such.
    assert!(
        ended.stdout.contains(broken) && ended.stderr.contains(broken),
        "{ended:?}"
    );
    assert!(home.join(readable).exists() && home.join(broken).exists());
    Ok(())
}

#[test]
fn the_daemon_masks_secrets_that_an_older_version_stored() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    fs::create_dir(&home)?;
    old_database(&home.join("grov.db"))?;
    assert!(is_left(&home)?);
    let upstream = Upstream::start()?;
    let daemon = Daemon::on(&home, &upstream.url()).start()?;
    eventually("the home to be clean", || {
        is_left(&home).ok().filter(|left| !left)
    })?;
    daemon.stop()?;
    assert!(!is_left(&home)?);
    Ok(())
}
