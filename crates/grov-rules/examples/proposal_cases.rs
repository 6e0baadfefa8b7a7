//! Evaluates proposals with `tests/cases/proposals`: how many of them are wanted, and how many wanted ones are found.
//!
//! `cargo run -p grov-rules --example proposal_cases [tuning|reporting]` prints each miss of `tuning`.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "prints results for developers")]

use grov_domain::{ProposalMaterial, ReasoningQuestion};
use grov_rules::{extract_reasoning, proposals};
use serde::Deserialize;
use std::error::Error;
use std::path::Path;

#[derive(Deserialize)]
struct Case {
    id: String,
    prompts: Vec<String>,
    closing: String,
    proposals: Vec<Wanted>,
}

#[derive(Deserialize)]
struct Wanted {
    #[serde(rename = "type")]
    kind: String,
    /// A word of the content.
    about: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/proposals");
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    for half in ["tuning", "reporting"] {
        if wanted.is_empty() || wanted.iter().any(|name| name == half) {
            report(
                half,
                &std::fs::read_to_string(cases.join(format!("{half}.jsonl")))?,
            )?;
        }
    }
    Ok(())
}

fn report(half: &str, cases: &str) -> Result<(), Box<dyn Error>> {
    let (mut proposed, mut right, mut wanted, mut found, mut tasks, mut disturbed) = (0, 0, 0, 0, 0, 0);
    for line in cases.lines().filter(|line| !line.trim().is_empty()) {
        let case: Case = serde_json::from_str(line)?;
        let question = ReasoningQuestion {
            prompts: case.prompts.clone(),
            answer: case.closing.clone(),
            ..ReasoningQuestion::default()
        };
        let decisions = extract_reasoning(&question).decisions;
        let made = proposals(&ProposalMaterial {
            prompts: &case.prompts,
            answer: &case.closing,
            decisions: &decisions,
            ..ProposalMaterial::default()
        });
        let is_wanted = |kind: &str, content: &str| {
            let mut all = case.proposals.iter();
            all.any(|one| one.kind == kind && content.contains(&one.about))
        };
        tasks += 1;
        disturbed += usize::from(case.proposals.is_empty() && !made.is_empty());
        proposed += made.len();
        wanted += case.proposals.len();
        for one in &made {
            let is_right = is_wanted(one.kind.as_str(), &one.content);
            right += usize::from(is_right);
            if !is_right && half == "tuning" {
                println!("{}: unwanted {}: {}", case.id, one.kind, one.content);
            }
        }
        for one in &case.proposals {
            let is_found = made
                .iter()
                .any(|made| made.kind.as_str() == one.kind && made.content.contains(&one.about));
            found += usize::from(is_found);
            if !is_found && half == "tuning" {
                println!("{}: missed {} about {}", case.id, one.kind, one.about);
            }
        }
    }
    println!(
        "{half}: {tasks} tasks, {proposed} proposals, {right} wanted (precision), {found} of {wanted} found (recall), \
         {disturbed} ordinary tasks with a proposal"
    );
    Ok(())
}
