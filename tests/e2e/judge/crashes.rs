//! The daemon dies between a turn and its verdict, or right after a task was saved: nothing is lost and nothing doubled.

use super::{Court, finished_at_once, intent, query, reasoning, verdict};
use anyhow::Result;
use grov_domain::Purpose;
use grov_sim::{JudgeScript, When};
use grov_tests::{Daemon, eventually};
use serde_json::{Value, json};

const PROMPT: &str = "Fix the login form. [[scenario:tools]]";

/// A daemon to which a second of rest is an abandoned task.
fn impatient(court: &Court, port: u16) -> Result<Daemon> {
    court
        .with_rules()
        .env("GROV_TASKS_ABANDON_AFTER", "1s")
        .port(port)
        .start()
}

fn saved_when(
    court: &Court,
    session: &str,
    what: &str,
    wanted: impl Fn(&[Value]) -> bool,
) -> Result<Vec<Value>> {
    eventually(what, || court.saved(session).ok().filter(|saved| wanted(saved)))
}

/// Every step of the story that is played here is stored once.
fn every_step_once(court: &Court, session: &str, count: usize) -> Result<()> {
    let count = count.to_string();
    assert_eq!(court.steps_and_calls(session)?, (count.clone(), count));
    Ok(())
}

#[test]
fn a_turn_that_died_before_its_verdict_is_saved_as_abandoned() -> Result<()> {
    let court = Court::new()?;
    court.inject(When::JudgeFor(Purpose::AnalyzeTaskContext), "head-delay=600000")?;
    let daemon = court.with_model().start()?;
    let port = daemon.port();
    let mut person = court.person(&daemon)?;
    person.types(PROMPT)?;
    court.grov().steps_when(&person.session, 4)?;
    eventually("the question for the verdict", || {
        (court.asked_for(Purpose::AnalyzeTaskContext) > 0).then_some(())
    })?;
    daemon.kill()?;
    assert!(court.saved(&person.session)?.is_empty());
    every_step_once(&court, &person.session, 4)?;

    let daemon = impatient(&court, port)?;
    let saved = saved_when(&court, &person.session, "the abandoned task", |saved| {
        !saved.is_empty()
    })?;
    assert_eq!(saved[0]["status"], "abandoned");
    assert_eq!(saved[0]["trigger_reason"], "abandoned");
    assert_eq!(saved[0]["session_id"], person.session.as_str());
    let query = saved[0]["original_query"].as_str().unwrap_or_default();
    assert!(query.starts_with("Fix the login form."), "{query}");
    every_step_once(&court, &person.session, 4)?;

    // Who comes back goes on with it, in the same task.
    person.types("Go on. [[scenario:parallel]]")?;
    court.judged(&person.session, 1)?;
    let tasks = court.tasks_when(&person.session, "the task to go on", |tasks| {
        tasks
            .iter()
            .map(|task| task["prompts"].as_u64().unwrap_or(0))
            .sum::<u64>()
            == 2
    })?;
    assert_eq!(tasks.len(), 1, "{tasks:#?}");
    every_step_once(&court, &person.session, 9)?;
    daemon.kill()?;
    let _again = impatient(&court, port)?;
    let saved = saved_when(&court, &person.session, "the same task once more", |saved| {
        saved.len() == 1 && saved[0]["files_touched"].to_string().contains("left.txt")
    })?;
    assert_eq!(saved[0]["status"], "abandoned");
    every_step_once(&court, &person.session, 9)
}

#[test]
fn a_crash_right_after_a_task_was_saved_saves_it_no_second_time() -> Result<()> {
    let court = Court::new()?;
    court.script(
        JudgeScript::default()
            .with(Purpose::AnalyzeTaskContext, verdict("new_task")?)
            .with(Purpose::AnalyzeTaskContext, verdict("task_complete")?)
            .with(Purpose::ExtractReasoning, reasoning("The form took no blanks")?),
    );
    let daemon = court.with_model().start()?;
    let port = daemon.port();
    let mut person = court.person(&daemon)?;
    person.types(PROMPT)?;
    court.judged(&person.session, 1)?;
    person.types("That is it. [[scenario:parallel]]")?;
    let saved = saved_when(&court, &person.session, "the task to be saved", |saved| {
        !saved.is_empty()
    })?;
    daemon.kill()?;
    assert_eq!(saved.len(), 1);

    // Another session that was left in the middle tells when the next daemon has looked for abandoned work.
    let daemon = impatient(&court, port)?;
    let mut other = court.person(&daemon)?;
    other.types("Fix the logout. [[scenario:tools]]")?;
    court.judged(&other.session, 1)?;
    daemon.kill()?;
    let daemon = impatient(&court, port)?;
    saved_when(&court, &other.session, "the other task", |saved| {
        !saved.is_empty()
    })?;
    let again = court.saved(&person.session)?;
    assert_eq!(again, saved);
    assert_eq!((&again[0]["status"], again.len()), (&json!("complete"), 1));
    every_step_once(&court, &person.session, 9)?;

    // A task that completes twice is still one.
    person.types("Task complete, all tests pass. [[scenario:parallel]]")?;
    let sql = format!(
        "SELECT count(*) FROM prompts WHERE client_session_id = '{}'",
        person.session
    );
    court.tasks_when(&person.session, "the third turn", |_| {
        query(&court.home(), &format!("SELECT CAST(({sql}) AS TEXT)")).is_ok_and(|rows| rows == ["3"])
    })?;
    daemon.stop()?;
    assert_eq!(court.saved(&person.session)?.len(), 1);
    every_step_once(&court, &person.session, 14)
}

#[test]
fn a_crash_between_the_last_verdict_and_the_save_loses_nothing() -> Result<()> {
    let court = Court::new()?;
    court.script(
        JudgeScript::default()
            .with(Purpose::ExtractIntent, intent("Blanks in the login form")?)
            .with(Purpose::AnalyzeTaskContext, finished_at_once()?),
    );
    court.inject(When::JudgeFor(Purpose::ExtractReasoning), "head-delay=600000")?;
    let daemon = court.with_model().start()?;
    let port = daemon.port();
    let mut person = court.person(&daemon)?;
    person.types(PROMPT)?;
    eventually("the question what to remember", || {
        (court.asked_for(Purpose::ExtractReasoning) > 0).then_some(())
    })?;
    daemon.kill()?;
    assert!(court.saved(&person.session)?.is_empty());

    let _again = impatient(&court, port)?;
    let saved = saved_when(&court, &person.session, "the task to be saved", |saved| {
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
    every_step_once(&court, &person.session, 4)
}
