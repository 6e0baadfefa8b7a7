//! Wrong answers, late answers and none.

use super::{Court, has, intent, verdict};
use anyhow::Result;
use grov_domain::Purpose;
use grov_sim::{JudgeScript, When};

/// What is to become of a behaviour of the judge's provider.
struct Case {
    behaviour: &'static str,
    /// Outcomes in the ledger of the question what the user wants.
    ledger: &'static [&'static str],
    /// Whether the model's answer was taken in the end.
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
    // Repaired: the second answer is right.
    case("answer=truncated,times=1", &["unusable", "answered"], true),
    case("answer=types,times=1", &["unusable", "answered"], true),
    case("answer=values,times=1", &["unusable", "answered"], true),
    case("answer=empty,times=1", &["unusable", "answered"], true),
    // Wrong again after the repair: rules.
    case("answer=truncated", &["unusable", "unusable"], false),
    case("answer=types", &["unusable", "unusable"], false),
    case("answer=values", &["unusable", "unusable"], false),
    case("answer=empty", &["unusable", "unusable"], false),
    // Not as asked, but readable.
    case("answer=prose", &["answered"], true),
    case("answer=fenced", &["answered"], true),
    // Asking again does not help.
    case("answer=refusal", &["unusable"], false),
    // A request that is not understood is made once more, without a schema.
    case("status=400", &["failed", "failed"], false),
    case("status=401", &["failed"], false),
    // Nor does asking three times.
    case("html", &["failed", "failed", "failed"], false),
    case("status=529", &["failed", "failed", "failed"], false),
    // The provider is busy and then not.
    case("status=429,retry-after=1,times=1", &["failed", "answered"], true),
    case("status=529,times=2", &["failed", "failed", "answered"], true),
    case("hangup,times=1", &["failed", "answered"], true),
];

#[test]
fn a_wrong_answer_is_repaired_or_replaced_by_rules() -> Result<()> {
    let mut wrong = Vec::new();
    for case in &CASES {
        let court = Court::new()?;
        court.script(
            JudgeScript::default()
                .with(Purpose::ExtractIntent, intent("The goal of the model")?)
                .with(Purpose::AnalyzeTaskContext, verdict("new_task")?),
        );
        court.inject(When::JudgeFor(Purpose::ExtractIntent), case.behaviour)?;
        let daemon = court.with_model().start()?;
        let mut person = court.person(&daemon)?;
        person.types("Fix the login form. [[scenario:tools]]")?;
        court.judged(&person.session, 1)?;
        let tasks = court.tasks_when(&person.session, "a task", |tasks| tasks.len() == 1)?;
        assert!(
            has(&tasks[0], "main", "active", 1),
            "{}: {tasks:#?}",
            case.behaviour
        );
        assert_eq!(tasks[0]["steps"], 4, "{}", case.behaviour);
        let ledger: Vec<String> = court
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
fn an_answer_that_comes_too_late_is_given_up() -> Result<()> {
    let court = Court::new()?;
    court.inject(
        When::JudgeFor(Purpose::ExtractIntent),
        "head-delay=600000,times=3",
    )?;
    let daemon = court.with_model().env("GROV_LLM_TIMEOUT", "1s").start()?;
    let mut person = court.person(&daemon)?;
    person.types("Fix the login form. [[scenario:tools]]")?;
    court.judged(&person.session, 1)?;
    let tasks = court.tasks_when(&person.session, "a task", |tasks| tasks.len() == 1)?;
    assert_eq!(tasks[0]["original_goal"], "Fix the login form.");
    let ledger = court.ledger()?;
    let failed = |(purpose, outcome): &&(String, String)| purpose == "extract_intent" && outcome == "failed";
    // Whoever waited in vain once does not wait again.
    assert_eq!(ledger.iter().filter(failed).count(), 1, "{ledger:?}");
    // What a provider may have worked on counts with the most it could cost.
    let spent = court.grov().ask(&["usage"])?.json["total_usd"].as_f64();
    assert!(spent > Some(0.0), "{spent:?}");
    Ok(())
}

#[test]
fn a_provider_that_keeps_failing_is_left_alone() -> Result<()> {
    let court = Court::new()?;
    court.inject(When::Judge, "status=500")?;
    let daemon = court.with_model().start()?;
    for number in 0..6 {
        let mut person = court.person(&daemon)?;
        person.types(&format!(
            "Fix the login form, attempt {number}. [[scenario:tools]]"
        ))?;
        court.judged(&person.session, 1)?;
    }
    // Two questions a session and three calls a question would be 36.
    let calls = court.asked().len();
    assert!((5..=6).contains(&calls), "{calls} calls");
    let proxy = &court.grov().ask(&["proxy-status"])?.json["proxy"];
    assert_eq!(proxy["judge"]["why_rules"], "provider_down", "{proxy:#}");
    assert!(court.ledger()?.iter().all(|(_, outcome)| outcome == "failed"));
    Ok(())
}
