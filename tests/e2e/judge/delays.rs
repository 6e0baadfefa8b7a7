//! However long the judge takes, the client waits for nothing.

use super::{Court, Person};
use anyhow::{Context, Result};
use grov_domain::Purpose;
use grov_sim::When;
use std::time::Duration;

/// Longer than any story here takes.
const NEVER: &str = "head-delay=600000";

/// What the daemon may take to stop: it waits for calls under way, but not for their answers.
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
fn a_silent_judge_delays_no_answer_and_no_end() -> Result<()> {
    let court = Court::new()?;
    court.inject(When::Judge, NEVER)?;
    let daemon = court.with_model().start()?;
    let mut person = court.person(&daemon)?;
    let answers = story(&mut person)?;
    // The story is over, with every answer received, and the judge has not said a word yet.
    let sim = court.judge.sim();
    court
        .judge
        .block_on(sim.wait_until(|requests| !requests.is_empty()));
    assert!(
        sim.requests().iter().all(|request| request.delivery().is_none()),
        "the judge is not silent"
    );
    assert_eq!(court.grov().steps_when(&person.session, 9)?.len(), 9);
    daemon.signal("TERM")?;
    let ended = daemon.ended(STOP)?;
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr);

    // The same story as rules judge it, for comparison.
    let other = Court::new()?;
    let daemon = other.with_rules().start()?;
    let mut compared = other.person(&daemon)?;
    assert_eq!(answers, story(&mut compared)?);
    let told = |person: &Person<'_>| -> Vec<_> {
        let exchanges = person.transcript().exchanges.iter();
        exchanges
            .map(|exchange| (exchange.status, exchange.complete, exchange.stop_reason.clone()))
            .collect()
    };
    assert_eq!(told(&person), told(&compared));
    Ok(())
}

#[test]
fn what_a_silent_judge_left_is_taken_up_by_the_next_daemon() -> Result<()> {
    let court = Court::new()?;
    court.inject(When::Judge, NEVER)?;
    let daemon = court.with_model().start()?;
    let port = daemon.port();
    let mut person = court.person(&daemon)?;
    person.types(PROMPTS[0])?;
    court.grov().steps_when(&person.session, 4)?;
    daemon.signal("TERM")?;
    daemon.ended(STOP)?;
    // The calls that were cut off stay in the ledger with the most they could cost.
    let usage = court.grov().ask(&["usage"])?.json;
    assert!(usage["total_usd"].as_f64() > Some(0.0), "{usage:#}");

    let _again = court.with_rules().port(port).start()?;
    person.types(PROMPTS[1])?;
    // Rules judged the first turn when the daemon stopped, so the second is a follow-up, and none of it is doubled.
    court.tasks_when(&person.session, "one task with both turns", |tasks| {
        tasks.len() == 1 && tasks[0]["prompts"] == 2 && tasks[0]["steps"] == 9
    })?;
    Ok(())
}

#[test]
fn verdicts_of_other_sessions_go_on_behind_a_slow_one() -> Result<()> {
    let court = Court::new()?;
    court.inject(When::Judge, "head-delay=600000,times=1")?;
    let daemon = court.with_model().start()?;
    let mut slow = court.person(&daemon)?;
    slow.types(PROMPTS[0])?;
    court
        .judge
        .block_on(court.judge.sim().wait_until(|requests| !requests.is_empty()));
    let mut quick = court.person(&daemon)?;
    quick.types("Fix the logout. [[scenario:tools]]")?;
    court.judged(&quick.session, 1)?;
    let asked = court.judge.sim().judge_calls();
    let (first, call) = asked.first().context("nothing was asked")?;
    assert_eq!(call.purpose, Some(Purpose::ExtractIntent));
    assert!(first.delivery().is_none(), "the first call was answered");
    Ok(())
}
