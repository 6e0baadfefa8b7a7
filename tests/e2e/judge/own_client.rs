//! The user's own client as the judge, started by the daemon.

use super::{TestHome, intent, query, verdict};
use anyhow::{Context, Result};
use grov_domain::Purpose;
use grov_sim::JudgeScript;
use grov_tests::RealClient;

#[test]
fn the_real_client_judges_and_is_no_session() -> Result<()> {
    let Some(client) = RealClient::installed()? else {
        return Ok(());
    };
    let home = TestHome::new()?;
    home.script(
        JudgeScript::default()
            .with(Purpose::ExtractIntent, intent("The goal of the model")?)
            .with(Purpose::AnalyzeTaskContext, verdict("new_task")?),
    );
    std::fs::create_dir(home.path())?;
    let config = format!(
        "[llm]\nprovider = 'claude_cli'\napi_key = 'sk-ant-api03-test-0000'\nbase_url = '{}'\ntimeout = '55s'\n",
        home.judge.url()
    );
    std::fs::write(home.path().join("config.toml"), config)?;
    let folder = client
        .program()
        .parent()
        .context("the client is in no directory")?;
    let path = format!("{}:/usr/bin:/bin", folder.display());
    let daemon = home.with_rules().env("PATH", path).start()?;
    let mut person = home.person(&daemon)?;
    person.types("Fix the login form. [[scenario:tools]]")?;
    home.judged(&person.session, 1)?;
    let tasks = home.wait_for_tasks(&person.session, "a task", |tasks| tasks.len() == 1)?;
    assert_eq!(tasks[0]["original_goal"], "The goal of the model");
    let ledger = home.ledger()?;
    assert!(
        ledger.contains(&("extract_intent".to_owned(), "answered".to_owned())),
        "{ledger:?}"
    );
    let rows = query(
        &home.path(),
        "SELECT DISTINCT provider || ' ' || (cost > 0) FROM llm_calls WHERE outcome = 'answered'",
    )?;
    assert_eq!(rows, ["claude_cli 1"]);
    let sessions = query(
        &home.path(),
        "SELECT DISTINCT client_session_id FROM session_states",
    )?;
    assert_eq!(sessions, [person.session.as_str()]);
    assert_eq!(daemon.stop()?.code(), Some(0));
    Ok(())
}
