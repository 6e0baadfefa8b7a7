//! The client never waits for the judge.

use super::{Person, TestHome};
use anyhow::{Context, Result};
use grov_domain::Purpose;
use grov_sim::When;
use std::time::Duration;

/// Longer than any story here takes.
const NEVER: &str = "head-delay=600000";

/// The time the daemon may take to stop: it ends calls in flight without waiting for their answers.
const STOP: Duration = Duration::from_secs(25);

const PROMPTS: [&str; 3] = [
    "Fix the login form. [[scenario:tools]]",
    "Go on. [[scenario:parallel]]",
    "Task complete, thanks. [[scenario:text]]",
];

fn story(person: &mut Person<'_>) -> Result<Vec<String>> {
    PROMPTS.iter().map(|prompt| person.types(prompt)).collect()
}

#[test]
fn a_silent_judge_delays_neither_answers_nor_shutdown() -> Result<()> {
    let home = TestHome::new()?;
    home.inject(When::Judge, NEVER)?;
    let daemon = home.with_model().start()?;
    let mut person = home.person(&daemon)?;
    let answers = story(&mut person)?;
    // The story is over and every answer was received before the judge's first answer.
    let sim = home.judge.sim();
    home.judge
        .block_on(sim.wait_until(|requests| !requests.is_empty()));
    assert!(
        sim.requests().iter().all(|request| request.delivery().is_none()),
        "the judge is not silent"
    );
    assert_eq!(home.grov().wait_for_steps(&person.session, 9)?.len(), 9);
    daemon.signal("TERM")?;
    let ended = daemon.ended(STOP)?;
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr);

    // The same story judged by rules, for comparison.
    let other = TestHome::new()?;
    let daemon = other.with_rules().start()?;
    let mut compared = other.person(&daemon)?;
    assert_eq!(answers, story(&mut compared)?);
    let summary = |person: &Person<'_>| -> Vec<_> {
        let exchanges = person.transcript().exchanges.iter();
        exchanges
            .map(|exchange| (exchange.status, exchange.complete, exchange.stop_reason.clone()))
            .collect()
    };
    assert_eq!(summary(&person), summary(&compared));
    Ok(())
}

#[test]
fn work_left_unjudged_by_a_silent_judge_is_resumed_by_the_next_daemon() -> Result<()> {
    let home = TestHome::new()?;
    home.inject(When::Judge, NEVER)?;
    let daemon = home.with_model().start()?;
    let port = daemon.port();
    let mut person = home.person(&daemon)?;
    person.types(PROMPTS[0])?;
    home.grov().wait_for_steps(&person.session, 4)?;
    daemon.signal("TERM")?;
    daemon.ended(STOP)?;
    // Calls that were cut off stay in the ledger with their maximum cost.
    let usage = home.grov().run_json(&["usage"])?.json;
    assert!(usage["total_usd"].as_f64() > Some(0.0), "{usage:#}");

    let _again = home.with_rules().port(port).start()?;
    person.types(PROMPTS[1])?;
    // The rules judged the first turn when the daemon stopped, so the second one is a follow-up, and no step is stored
    // twice.
    home.wait_for_tasks(&person.session, "one task with both turns", |tasks| {
        tasks.len() == 1 && tasks[0]["prompts"] == 2 && tasks[0]["steps"] == 9
    })?;
    Ok(())
}

#[test]
fn a_slow_verdict_does_not_block_other_sessions() -> Result<()> {
    let home = TestHome::new()?;
    home.inject(When::Judge, "head-delay=600000,times=1")?;
    let daemon = home.with_model().start()?;
    let mut slow = home.person(&daemon)?;
    slow.types(PROMPTS[0])?;
    home.judge
        .block_on(home.judge.sim().wait_until(|requests| !requests.is_empty()));
    let mut quick = home.person(&daemon)?;
    quick.types("Fix the logout. [[scenario:tools]]")?;
    home.judged(&quick.session, 1)?;
    let asked = home.judge.sim().judge_calls();
    let (first, call) = asked.first().context("nothing was asked")?;
    assert_eq!(call.purpose, Some(Purpose::ExtractIntent));
    assert!(first.delivery().is_none(), "the first call was answered");
    Ok(())
}
