//! `grov eval` on sessions that the real proxy recorded.

use crate::judge::TestHome;
use anyhow::{Context, Result, ensure};
use grov_tests::{Daemon, eventually};
use serde_json::{Value, json};
use std::fs;

/// Every figure that a report has.
const FIGURES: [&str; 9] = [
    "sessions",
    "prompts",
    "actions",
    "added_latency",
    "cache_misses",
    "tokens_added",
    "prompts_with_injection_percent",
    "findings",
    "guard",
];

#[test]
fn recorded_sessions_are_measured_and_a_run_after_an_upgrade_shows_the_difference() -> Result<()> {
    let home = TestHome::new()?;
    let daemon = Daemon::on(&home.path(), &home.api.url()).start()?;
    let mut person = home.person(&daemon)?;
    person.types("Only change notes.md, touch nothing else. [[scenario:tools]]")?;
    let grov = home.grov();
    let run = || -> Result<Value> {
        let answer = grov.run_json(&["eval"])?;
        ensure!(answer.code == Some(0), "{}", answer.json);
        Ok(answer.json)
    };
    let first = eventually("the session to be recorded", || {
        let report = run().ok()?;
        (report["actions"] == 4).then_some(report)
    })?;
    for figure in FIGURES {
        assert!(!first[figure].is_null(), "{figure} is missing: {first}");
    }
    assert_eq!((&first["sessions"], &first["prompts"]), (&json!(1), &json!(1)));
    assert_eq!(first["cache_misses"], 0, "{first}");
    assert_eq!(first["not_measured"], json!([]), "{first}");
    let findings = first["findings"].as_array().context("no findings")?;
    assert!(!findings.is_empty(), "nothing was found: {first}");
    for finding in findings {
        let count = finding["findings"].as_f64().context("no count")?;
        assert_eq!(finding["per_100_actions"], json!(count * 25.0), "{finding}");
        assert_eq!(
            (&finding["allowed"], &finding["marked_wrong"]),
            (&json!(0), &json!(0))
        );
    }

    // As if an earlier version had written it, which knew fewer figures and found nothing.
    let kept = home.path().join("eval/recorded.json");
    let mut before: Value = serde_json::from_slice(&fs::read(&kept)?)?;
    before["version"] = "0.0.7".into();
    before["findings"] = json!([]);
    before.as_object_mut().context("no object")?.remove("guard");
    fs::write(&kept, before.to_string())?;
    let page = home.path().join("page.html");
    let ended = grov.run(&["eval", "--html", page.to_str().context("not UTF-8")?])?;
    ensure!(ended.code() == Some(0), "{ended:?}");
    let rule = findings[0]["rule"].as_str().context("no rule")?;
    let page = fs::read_to_string(page)?;
    for text in [ended.stdout.as_str(), page.as_str()] {
        assert!(text.contains("0.0.7"), "{text}");
        let row = text
            .lines()
            .find(|line| line.contains(rule) && line.contains("per 100 actions"));
        assert!(row.is_some_and(|row| row.contains('+')), "{text}");
    }
    assert!(
        page.starts_with("<!doctype html>") && !page.contains("Not measured"),
        "{page}"
    );
    Ok(())
}
