//! Evaluates the redactor with `tests/cases/secrets` and those of `tests/cases/memory`: counts secrets that survive and innocent texts that change.
//!
//! `cargo run -p grov-redact --example redact_cases [tuning|reporting]` prints each miss of `tuning`.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "prints results for developers")]

use grov_redact::Redactor;
use serde_json::Value;
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases");
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    for half in ["tuning", "reporting"] {
        if wanted.is_empty() || wanted.iter().any(|name| name == half) {
            for set in [
                "secrets",
                "memory/secrets",
                "memory/secrets-2026-11",
                "memory/secrets-2026-12",
                "memory/secrets-later",
            ] {
                let file = cases.join(set).join(format!("{half}.jsonl"));
                report(set, half, &std::fs::read_to_string(file)?)?;
            }
        }
    }
    Ok(())
}

fn report(set: &str, half: &str, cases: &str) -> Result<(), Box<dyn Error>> {
    let (mut secrets, mut survived, mut innocent, mut changed) = (0, 0, 0, 0);
    for line in cases.lines().filter(|line| !line.trim().is_empty()) {
        let case: Value = serde_json::from_str(line)?;
        let text = case["text"].as_str().unwrap_or_default();
        let redacted = Redactor::shared().redact(text);
        let is_missed = if case["innocent"] == true {
            innocent += 1;
            changed += usize::from(redacted != text);
            redacted != text
        } else {
            let parts = case["secrets"].as_array().into_iter().flatten();
            let survives = parts
                .filter_map(Value::as_str)
                .any(|secret| redacted.contains(secret));
            secrets += 1;
            survived += usize::from(survives);
            survives
        };
        if is_missed && half == "tuning" {
            println!("  {} {}: {redacted:?}", case["id"], case["kind"]);
        }
    }
    println!(
        "{set}, {half}: {survived} of {secrets} secrets survive, {changed} of {innocent} innocent texts change"
    );
    Ok(())
}
