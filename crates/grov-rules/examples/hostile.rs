//! How long the judge by rules takes for texts made to keep it busy: `cargo run --release -p grov-rules --example hostile`.
//!
//! Prints, for each text of one megabyte, the fastest of five runs of each question that reads prompts or answers.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "the measures are what it is for")]

use grov_domain::{IntentQuestion, ReasoningQuestion, TaskContextQuestion};
use std::hint::black_box;
use std::time::{Duration, Instant};

const LENGTH: usize = 1024 * 1024;
const RUNS: usize = 5;

/// `pieces` over and over, one megabyte of it.
fn repeated(piece: &str) -> String {
    piece.repeat(LENGTH / piece.len())
}

fn fastest(work: impl Fn()) -> Duration {
    let time = |_| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    (0..RUNS).map(time).min().unwrap_or_default()
}

fn main() {
    let texts = [
        ("tags that begin like a command's", repeated("<command-a>")),
        (
            "the same, but mentioned",
            format!("a {}", repeated("<command-a>")),
        ),
        (
            "different tags, none closed",
            (0..60_000).map(|n| format!("<command-{n}>")).collect(),
        ),
        ("one < after another", repeated("<")),
        ("a < a word", repeated("< ")),
        ("one word", repeated("x")),
        ("short words", repeated("do not only ")),
        ("short lines", repeated("don't\n")),
        ("sentences", repeated("Never do it. ")),
        ("quotation marks", repeated("\" ' ` ")),
        ("list items", repeated("- only a.rs, without b\n")),
        ("paths", repeated("src/a/b.rs ")),
        ("fences", repeated("```\n")),
        ("own tags", repeated("<grov-context>")),
    ];
    println!("milliseconds                       intent   turn  reason");
    for (name, text) in &texts {
        let intent = IntentQuestion {
            prompts: vec![text.clone()],
            ..IntentQuestion::default()
        };
        let turn = TaskContextQuestion {
            prompts: vec![text.clone()],
            answer: text.clone(),
            stop_reason: Some("end_turn".to_owned()),
            ..TaskContextQuestion::default()
        };
        let reasoning = ReasoningQuestion {
            prompts: vec![text.clone()],
            answer: text.clone(),
            ..ReasoningQuestion::default()
        };
        let times = [
            fastest(|| drop(black_box(grov_rules::extract_intent(&intent)))),
            fastest(|| drop(black_box(grov_rules::analyze_task_context(&turn)))),
            fastest(|| drop(black_box(grov_rules::extract_reasoning(&reasoning)))),
        ];
        let times: Vec<String> = times
            .iter()
            .map(|time| format!("{:6.2}", time.as_secs_f64() * 1e3))
            .collect();
        println!("{name:34} {}", times.join(" "));
    }
}
