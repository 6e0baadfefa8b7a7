//! Scores recorded sequences of actions by the rules alone.
//!
//! `cargo run --release -p grov-scope --example replay -- FILE.jsonl` reads one sequence a line, `{seq_id, goal,
//! expected_scope?, constraints?, actions: [{type, files, command?, text?, error?}]}`, and writes `{seq_id, scores}` for each;
//! with `--why` after the file, it writes the findings instead.
#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "an example talks to a person and stops at the first surprise"
)]

use grov_actions::{ToolCall, understand};
use grov_domain::{ActionSketch, ActionType, GoalContract};
use grov_scope::Rules;
use serde::Deserialize;

#[derive(Deserialize)]
struct Sequence {
    seq_id: String,
    #[serde(default)]
    goal: String,
    #[serde(default)]
    expected_scope: Vec<String>,
    #[serde(default)]
    constraints: Vec<String>,
    #[serde(default)]
    actions: Vec<Recorded>,
}

#[derive(Deserialize)]
struct Recorded {
    r#type: String,
    #[serde(default)]
    files: Vec<String>,
    command: Option<String>,
    text: Option<String>,
    #[serde(default)]
    error: bool,
}

fn main() {
    let Some(path) = std::env::args().nth(1) else {
        println!("usage: replay FILE.jsonl [--why]");
        return;
    };
    let explains = std::env::args().nth(2).is_some_and(|word| word == "--why");
    let text = std::fs::read_to_string(path).expect("the file is there");
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let sequence: Sequence = serde_json::from_str(line).expect("a line is a sequence");
        let contract = GoalContract {
            goal: sequence.goal,
            scope: sequence.expected_scope,
            constraints: sequence.constraints,
            ..GoalContract::default()
        };
        let mut rules = Rules::new(contract, None);
        let mut scores = Vec::new();
        for (at, recorded) in sequence.actions.iter().enumerate() {
            let assessment = rules.assess(&sketch(recorded), None);
            for finding in assessment.findings.iter().filter(|_| explains) {
                println!("{} {at} {} {}", sequence.seq_id, finding.at_most, finding.reason);
            }
            scores.push(f64::from(rules.score_hundredths()) / 100.0);
        }
        if !explains {
            println!(
                "{}",
                serde_json::json!({ "seq_id": sequence.seq_id, "scores": scores })
            );
        }
    }
}

fn sketch(recorded: &Recorded) -> ActionSketch {
    let action_type = ActionType::from_name(&recorded.r#type).unwrap_or_default();
    let mut files = recorded.files.clone();
    let mut effects = Vec::new();
    if action_type == ActionType::Bash {
        let input = serde_json::json!({ "command": recorded.command });
        let action = understand(&ToolCall {
            name: "Bash",
            id: None,
            input: (&input).into(),
            working_directory: None,
        });
        effects = action.effects.iter().map(|effect| effect.kind).collect();
        files.extend(action.files);
    }
    ActionSketch {
        action_type,
        files,
        command: recorded.command.clone(),
        effects,
        reasoning: None,
        failed: Some(recorded.error),
        output: None,
        content: recorded.text.clone(),
        line: None,
        change: None,
    }
}
