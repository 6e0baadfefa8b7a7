//! Reads prompts in eleven languages: `tests/data/languages.jsonl` has at least twelve with constraints or plain requests and six
//! without constraints a language.
#![forbid(unsafe_code)]
#![allow(
    clippy::panic,
    clippy::expect_used,
    reason = "what cannot be read fails the test"
)]

use grov_domain::IntentQuestion;
use serde::Deserialize;
use std::collections::HashMap;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    language: String,
    prompt: String,
    /// Words of the goal.
    goal: String,
    /// Words of the constraints, in order.
    constraints: Vec<String>,
}

fn cases() -> Vec<Case> {
    include_str!("data/languages.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect(line))
        .collect()
}

#[test]
fn prompts_are_read_in_every_language() {
    let mut wrong = Vec::new();
    for case in cases() {
        let intent = grov_rules::extract_intent(&IntentQuestion {
            prompts: vec![case.prompt.clone()],
            first_files: Vec::new(),
        });
        let (found, prompt) = (&intent.constraints, &case.prompt);
        for wanted in &case.constraints {
            let is_found = found
                .iter()
                .any(|one| one.contains(&**wanted) || wanted.contains(&**one));
            assert!(is_found, "{prompt}: {wanted} and not {found:?}");
        }
        for one in found {
            let is_wanted = case
                .constraints
                .iter()
                .any(|wanted| one.contains(&**wanted) || wanted.contains(&**one));
            if !is_wanted || !prompt.contains(&**one) {
                wrong.push(format!("{prompt}: {one}"));
            }
        }
        assert!(intent.goal.contains(&case.goal), "{prompt}: {}", intent.goal);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_language_has_prompts_with_and_without_constraints() {
    let mut counts: HashMap<String, [usize; 2]> = HashMap::new();
    for case in cases() {
        counts.entry(case.language).or_default()[usize::from(case.constraints.is_empty())] += 1;
    }
    assert_eq!(counts.len(), 11);
    for (language, [with, without]) in counts {
        assert!(with >= 12 && without >= 6, "{language}: {with}, {without}");
    }
}
