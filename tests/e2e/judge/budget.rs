//! What own calls may cost.

use super::Court;
use anyhow::{Context, Result};
use serde_json::Value;

fn usage(court: &Court, budget: &str) -> Result<Value> {
    Ok(court
        .grov()
        .env("GROV_LLM_DAILY_BUDGET_USD", budget)
        .ask(&["usage"])?
        .json)
}

#[test]
fn when_the_budget_is_spent_rules_judge_and_everybody_says_so() -> Result<()> {
    // Enough for one or two calls: each sets aside the most that it could cost, about half a cent.
    const BUDGET: &str = "0.01";
    let court = Court::new()?;
    let daemon = court
        .with_model()
        .env("GROV_LLM_DAILY_BUDGET_USD", BUDGET)
        .start()?;
    for number in 0..6 {
        let mut person = court.person(&daemon)?;
        person.types(&format!(
            "Fix the login form, attempt {number}. [[scenario:tools]]"
        ))?;
        // Whoever judges, every session becomes a task.
        court.judged(&person.session, 1)?;
    }
    let ledger = court.ledger()?;
    assert!(
        (1..12).contains(&ledger.len()),
        "12 questions made {} calls, those beyond the budget by rules",
        ledger.len()
    );
    assert_eq!(court.asked().len(), ledger.len(), "a call that nobody allowed");
    let proxy = &court.grov().ask(&["proxy-status"])?.json["proxy"];
    assert_eq!(proxy["judge"]["why_rules"], "budget_spent", "{proxy:#}");
    let usage = usage(&court, BUDGET)?;
    let spent = usage["budget"]["spent_today_usd"].as_f64().context("no amount")?;
    assert!(spent > 0.0 && spent <= 0.01, "{usage:#}");
    assert_eq!(usage["budget"]["daily_usd"], 0.01);
    assert_eq!(usage["total_usd"].as_f64(), Some(spent));

    // A new day for the process is no new day for the budget.
    let port = daemon.port();
    daemon.stop()?;
    let again = court
        .with_model()
        .env("GROV_LLM_DAILY_BUDGET_USD", BUDGET)
        .port(port)
        .start()?;
    let mut person = court.person(&again)?;
    person.types("Fix the logout. [[scenario:tools]]")?;
    court.judged(&person.session, 1)?;
    assert_eq!(court.asked().len(), ledger.len());
    let status = court
        .grov()
        .env("GROV_LLM_DAILY_BUDGET_USD", BUDGET)
        .run(&["status"])?;
    let line = status
        .stdout
        .lines()
        .find(|line| line.starts_with("judge"))
        .context("no judge")?;
    assert!(
        line.contains("of $0.01") && line.contains("spent today"),
        "{line}"
    );
    Ok(())
}

#[test]
fn without_a_budget_no_model_is_asked() -> Result<()> {
    let court = Court::new()?;
    let daemon = court.with_model().env("GROV_LLM_DAILY_BUDGET_USD", "0").start()?;
    let mut person = court.person(&daemon)?;
    person.types("Fix the login form. [[scenario:tools]]")?;
    court.judged(&person.session, 1)?;
    assert_eq!((court.asked().len(), court.judge.sim().connections()), (0, 0));
    assert_eq!(usage(&court, "0")?["total_usd"], 0.0);
    let status = court
        .grov()
        .env("GROV_LLM_DAILY_BUDGET_USD", "0")
        .run(&["status"])?;
    assert!(status.stdout.contains("spending is off"), "{}", status.stdout);
    Ok(())
}
