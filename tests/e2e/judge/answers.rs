//! Wrong answers, late answers and missing answers.

use super::{TestHome, has, intent, verdict};
use anyhow::Result;
use grov_domain::Purpose;
use grov_sim::{JudgeScript, When};

/// The expected result of a behaviour of the judge's provider.
struct Case {
    behaviour: &'static str,
    /// Ledger outcomes of the question about the user's intent.
    ledger: &'static [&'static str],
    /// Whether the model's answer was used in the end.
    by_model: bool,
}

const fn case(behaviour: &'static str, ledger: &'static [&'static str], by_model: bool) -> Case {
    Case {
        behaviour,
        ledger,
        by_model,
    }
}

const CASES: [Case; 18] = [
    // Repaired: the second answer is valid.
    case("answer=truncated,times=1", &["unusable", "answered"], true),
    case("answer=types,times=1", &["unusable", "answered"], true),
    case("answer=values,times=1", &["unusable", "answered"], true),
    case("answer=empty,times=1", &["unusable", "answered"], true),
    // Invalid again after the repair: the rules decide.
    case("answer=truncated", &["unusable", "unusable"], false),
    case("answer=types", &["unusable", "unusable"], false),
    case("answer=values", &["unusable", "unusable"], false),
    case("answer=empty", &["unusable", "unusable"], false),
    // Not in the requested form, but readable.
    case("answer=prose", &["answered"], true),
    case("answer=fenced", &["answered"], true),
    // Repeating the question does not help.
    case("answer=refusal", &["unusable"], false),
    // A request that is not understood is repeated once, without a schema.
    case("status=400", &["failed", "failed"], false),
    case("status=401", &["failed"], false),
    // Repeating it three times does not help.
    case("html", &["failed", "failed", "failed"], false),
    case("status=529", &["failed", "failed", "failed"], false),
    // The provider is overloaded and then recovers.
    case("status=429,retry-after=1,times=1", &["failed", "answered"], true),
    case("status=529,times=2", &["failed", "failed", "answered"], true),
    case("hangup,times=1", &["failed", "answered"], true),
];

#[test]
fn an_invalid_answer_is_repaired_or_replaced_by_rules() -> Result<()> {
    let mut wrong = Vec::new();
    for case in &CASES {
        let home = TestHome::new()?;
        home.script(
            JudgeScript::default()
                .with(Purpose::ExtractIntent, intent("The goal of the model")?)
                .with(Purpose::AnalyzeTaskContext, verdict("new_task")?),
        );
        home.inject(When::JudgeFor(Purpose::ExtractIntent), case.behaviour)?;
        let daemon = home.with_model().start()?;
        let mut person = home.person(&daemon)?;
        person.types("Fix the login form. [[scenario:tools]]")?;
        home.judged(&person.session, 1)?;
        let tasks = home.wait_for_tasks(&person.session, "a task", |tasks| tasks.len() == 1)?;
        assert!(
            has(&tasks[0], "main", "active", 1),
            "{}: {tasks:#?}",
            case.behaviour
        );
        assert_eq!(tasks[0]["steps"], 4, "{}", case.behaviour);
        let ledger: Vec<String> = home
            .ledger()?
            .into_iter()
            .filter(|(purpose, _)| purpose == Purpose::ExtractIntent.as_str())
            .map(|(_, outcome)| outcome)
            .collect();
        let goal = tasks[0]["original_goal"].as_str().unwrap_or_default();
        let by_model = goal == "The goal of the model";
        let by_rules = goal.contains("login form");
        if ledger != case.ledger || by_model != case.by_model || by_rules == case.by_model {
            wrong.push(format!("{}: {ledger:?}, goal {goal:?}", case.behaviour));
        }
        assert_eq!(daemon.stop()?.code(), Some(0), "{}", case.behaviour);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

#[test]
fn a_late_answer_is_replaced_by_rules() -> Result<()> {
    let home = TestHome::new()?;
    home.inject(
        When::JudgeFor(Purpose::ExtractIntent),
        "head-delay=600000,times=3",
    )?;
    let daemon = home.with_model().env("GROV_LLM_TIMEOUT", "1s").start()?;
    let mut person = home.person(&daemon)?;
    person.types("Fix the login form. [[scenario:tools]]")?;
    home.judged(&person.session, 1)?;
    let tasks = home.wait_for_tasks(&person.session, "a task", |tasks| tasks.len() == 1)?;
    assert_eq!(tasks[0]["original_goal"], "Fix the login form.");
    let ledger = home.ledger()?;
    let failed = |(purpose, outcome): &&(String, String)| purpose == "extract_intent" && outcome == "failed";
    // Later questions do not wait for a provider that timed out before.
    assert_eq!(ledger.iter().filter(failed).count(), 1, "{ledger:?}");
    // A call that the provider may have worked on counts with its maximum cost.
    let spent = home.grov().run_json(&["usage"])?.json["total_usd"].as_f64();
    assert!(spent > Some(0.0), "{spent:?}");
    Ok(())
}

#[test]
fn a_provider_that_keeps_failing_is_no_longer_called() -> Result<()> {
    let home = TestHome::new()?;
    home.inject(When::Judge, "status=500")?;
    let daemon = home.with_model().start()?;
    for number in 0..6 {
        let mut person = home.person(&daemon)?;
        person.types(&format!(
            "Fix the login form, attempt {number}. [[scenario:tools]]"
        ))?;
        home.judged(&person.session, 1)?;
    }
    // Two questions a session and three calls a question would be 36 calls.
    let calls = home.asked().len();
    assert!((5..=6).contains(&calls), "{calls} calls");
    let proxy = &home.grov().run_json(&["proxy-status"])?.json["proxy"];
    assert_eq!(proxy["judge"]["why_rules"], "provider_down", "{proxy:#}");
    assert!(home.ledger()?.iter().all(|(_, outcome)| outcome == "failed"));
    Ok(())
}
