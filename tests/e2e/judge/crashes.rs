//! The daemon dies between a turn and its verdict, or right after a task was saved: nothing is lost and nothing is
//! stored twice.

use super::{TestHome, finished_at_once, intent, query, reasoning, verdict};
use anyhow::Result;
use grov_domain::Purpose;
use grov_sim::{JudgeScript, When};
use grov_tests::{Daemon, eventually};
use serde_json::{Value, json};

const PROMPT: &str = "Fix the login form. [[scenario:tools]]";

/// A daemon that considers a task abandoned after one second of inactivity.
fn with_short_abandon_timeout(home: &TestHome, port: u16) -> Result<Daemon> {
    home.with_rules()
        .env("GROV_TASKS_ABANDON_AFTER", "1s")
        .port(port)
        .start()
}

fn wait_for_saved_tasks(
    home: &TestHome,
    session: &str,
    what: &str,
    wanted: impl Fn(&[Value]) -> bool,
) -> Result<Vec<Value>> {
    eventually(what, || home.saved(session).ok().filter(|saved| wanted(saved)))
}

/// Asserts that every step of the story is stored once.
fn assert_steps_stored_once(home: &TestHome, session: &str, count: usize) -> Result<()> {
    let count = count.to_string();
    assert_eq!(home.steps_and_calls(session)?, (count.clone(), count));
    Ok(())
}

#[test]
fn a_turn_without_a_verdict_after_a_crash_is_saved_as_abandoned() -> Result<()> {
    let home = TestHome::new()?;
    home.inject(When::JudgeFor(Purpose::AnalyzeTaskContext), "head-delay=600000")?;
    let daemon = home.with_model().start()?;
    let port = daemon.port();
    let mut person = home.person(&daemon)?;
    person.types(PROMPT)?;
    home.grov().wait_for_steps(&person.session, 4)?;
    eventually("the question for the verdict", || {
        (home.asked_for(Purpose::AnalyzeTaskContext) > 0).then_some(())
    })?;
    daemon.kill()?;
    assert!(home.saved(&person.session)?.is_empty());
    assert_steps_stored_once(&home, &person.session, 4)?;

    let daemon = with_short_abandon_timeout(&home, port)?;
    let saved = wait_for_saved_tasks(&home, &person.session, "the abandoned task", |saved| {
        !saved.is_empty()
    })?;
    assert_eq!(saved[0]["status"], "abandoned");
    assert_eq!(saved[0]["trigger_reason"], "abandoned");
    assert_eq!(saved[0]["session_id"], person.session.as_str());
    let query = saved[0]["original_query"].as_str().unwrap_or_default();
    assert!(query.starts_with("Fix the login form."), "{query}");
    assert_steps_stored_once(&home, &person.session, 4)?;

    // A returning user continues the same task.
    person.types("Go on. [[scenario:parallel]]")?;
    home.judged(&person.session, 1)?;
    let tasks = home.wait_for_tasks(&person.session, "the task to go on", |tasks| {
        tasks
            .iter()
            .map(|task| task["prompts"].as_u64().unwrap_or(0))
            .sum::<u64>()
            == 2
    })?;
    assert_eq!(tasks.len(), 1, "{tasks:#?}");
    assert_steps_stored_once(&home, &person.session, 9)?;
    daemon.kill()?;
    let _again = with_short_abandon_timeout(&home, port)?;
    let saved = wait_for_saved_tasks(&home, &person.session, "the same task once more", |saved| {
        saved.len() == 1 && saved[0]["files_touched"].to_string().contains("left.txt")
    })?;
    assert_eq!(saved[0]["status"], "abandoned");
    assert_steps_stored_once(&home, &person.session, 9)
}

#[test]
fn a_crash_right_after_saving_a_task_does_not_save_it_twice() -> Result<()> {
    let home = TestHome::new()?;
    home.script(
        JudgeScript::default()
            .with(Purpose::AnalyzeTaskContext, verdict("new_task")?)
            .with(Purpose::AnalyzeTaskContext, verdict("task_complete")?)
            .with(Purpose::ExtractReasoning, reasoning("The form took no blanks")?),
    );
    let daemon = home.with_model().start()?;
    let port = daemon.port();
    let mut person = home.person(&daemon)?;
    person.types(PROMPT)?;
    home.judged(&person.session, 1)?;
    person.types("That is it. [[scenario:parallel]]")?;
    let saved = wait_for_saved_tasks(&home, &person.session, "the task to be saved", |saved| {
        saved.iter().any(|task| task["status"] == "complete")
    })?;
    daemon.kill()?;
    assert_eq!(saved.len(), 1);

    // A second abandoned session shows when the next daemon has searched for abandoned work.
    let daemon = with_short_abandon_timeout(&home, port)?;
    let mut other = home.person(&daemon)?;
    other.types("Fix the logout. [[scenario:tools]]")?;
    home.judged(&other.session, 1)?;
    daemon.kill()?;
    let daemon = with_short_abandon_timeout(&home, port)?;
    home.wait_for_tasks(&other.session, "the other task to be abandoned", |tasks| {
        tasks.iter().any(|task| task["status"] == "abandoned")
    })?;
    let again = home.saved(&person.session)?;
    assert_eq!(again, saved);
    assert_eq!((&again[0]["status"], again.len()), (&json!("complete"), 1));
    assert_steps_stored_once(&home, &person.session, 9)?;

    // A saved task stays stored once.
    person.types("Task complete, all tests pass. [[scenario:parallel]]")?;
    let sql = format!(
        "SELECT count(*) FROM prompts WHERE client_session_id = '{}'",
        person.session
    );
    home.wait_for_tasks(&person.session, "the third turn", |_| {
        query(&home.path(), &format!("SELECT CAST(({sql}) AS TEXT)")).is_ok_and(|rows| rows == ["3"])
    })?;
    daemon.stop()?;
    // The third turn is other work.
    let all = home.saved(&person.session)?;
    assert_eq!(all.iter().filter(|task| **task == again[0]).count(), 1);
    assert_steps_stored_once(&home, &person.session, 14)
}

#[test]
fn a_crash_between_the_last_verdict_and_the_save_loses_nothing() -> Result<()> {
    let home = TestHome::new()?;
    home.script(
        JudgeScript::default()
            .with(Purpose::ExtractIntent, intent("Blanks in the login form")?)
            .with(Purpose::AnalyzeTaskContext, finished_at_once()?),
    );
    home.inject(When::JudgeFor(Purpose::ExtractReasoning), "head-delay=600000")?;
    let daemon = home.with_model().start()?;
    let port = daemon.port();
    let mut person = home.person(&daemon)?;
    person.types(PROMPT)?;
    eventually("the question what to remember", || {
        (home.asked_for(Purpose::ExtractReasoning) > 0).then_some(())
    })?;
    daemon.kill()?;
    assert!(home.saved(&person.session)?.is_empty());

    let _again = with_short_abandon_timeout(&home, port)?;
    let saved = wait_for_saved_tasks(&home, &person.session, "the task to be saved", |saved| {
        !saved.is_empty()
    })?;
    assert_eq!(
        (saved.len(), &saved[0]["goal"]),
        (1, &json!("Blanks in the login form"))
    );
    assert!(
        saved[0]["files_touched"].to_string().contains("greeting.txt"),
        "{saved:#?}"
    );
    assert_steps_stored_once(&home, &person.session, 4)
}
