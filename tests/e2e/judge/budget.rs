//! The budget of Grov's own calls.

use super::TestHome;
use anyhow::{Context, Result};
use serde_json::Value;

fn usage(home: &TestHome, budget: &str) -> Result<Value> {
    Ok(home
        .grov()
        .env("GROV_LLM_DAILY_BUDGET_USD", budget)
        .run_json(&["usage"])?
        .json)
}

#[test]
fn when_the_budget_is_spent_rules_judge_and_every_status_reports_it() -> Result<()> {
    // Enough for one or two calls: each reserves its maximum cost, about half a cent.
    const BUDGET: &str = "0.01";
    let home = TestHome::new()?;
    let daemon = home
        .with_model()
        .env("GROV_LLM_DAILY_BUDGET_USD", BUDGET)
        .start()?;
    for number in 0..6 {
        let mut person = home.person(&daemon)?;
        person.types(&format!(
            "Fix the login form, attempt {number}. [[scenario:tools]]"
        ))?;
        // Every session becomes a task, whether the model or the rules judge.
        home.judged(&person.session, 1)?;
    }
    let ledger = home.ledger()?;
    assert!(
        (1..12).contains(&ledger.len()),
        "12 questions made {} calls, those beyond the budget by rules",
        ledger.len()
    );
    assert_eq!(home.asked().len(), ledger.len(), "a call without a ledger entry");
    let proxy = &home.grov().run_json(&["proxy-status"])?.json["proxy"];
    assert_eq!(proxy["judge"]["why_rules"], "budget_spent", "{proxy:#}");
    let usage = usage(&home, BUDGET)?;
    let spent = usage["budget"]["spent_today_usd"].as_f64().context("no amount")?;
    assert!(spent > 0.0 && spent <= 0.01, "{usage:#}");
    assert_eq!(usage["budget"]["daily_usd"], 0.01);
    assert_eq!(usage["total_usd"].as_f64(), Some(spent));

    // Restarting the daemon does not reset the daily budget.
    let port = daemon.port();
    daemon.stop()?;
    let again = home
        .with_model()
        .env("GROV_LLM_DAILY_BUDGET_USD", BUDGET)
        .port(port)
        .start()?;
    let mut person = home.person(&again)?;
    person.types("Fix the logout. [[scenario:tools]]")?;
    home.judged(&person.session, 1)?;
    assert_eq!(home.asked().len(), ledger.len());
    let status = home
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
fn without_a_budget_no_model_is_called() -> Result<()> {
    let home = TestHome::new()?;
    let daemon = home.with_model().env("GROV_LLM_DAILY_BUDGET_USD", "0").start()?;
    let mut person = home.person(&daemon)?;
    person.types("Fix the login form. [[scenario:tools]]")?;
    home.judged(&person.session, 1)?;
    assert_eq!((home.asked().len(), home.judge.sim().connections()), (0, 0));
    assert_eq!(usage(&home, "0")?["total_usd"], 0.0);
    let status = home
        .grov()
        .env("GROV_LLM_DAILY_BUDGET_USD", "0")
        .run(&["status"])?;
    assert!(status.stdout.contains("spending is off"), "{}", status.stdout);
    Ok(())
}
