//! Scores recorded sequences of actions as the hook path does: writes them as transcripts and follows these.
//!
//! `cargo run --release -p grov-drift --example transcripts -- SEQUENCES.jsonl [EVERY]` reads lines of
//! `{"seq_id", "goal", "constraints"?, "actions": [{"type", "files"?, "command"?, "text"?, "error"?}]}` and prints one line of
//! scores for each. Without EVERY, each action has its own score. With EVERY, the user types "go on" after this number of
//! actions, and the check at each of these prompts gives one score. Without a file, a sample is scored. The goal is the first
//! prompt; constraints are set as by `grov goal constraint`.
#![allow(clippy::print_stdout, reason = "an example prints its results")]

use grov_domain::{ClientSessionId, GoalEdit, GoalEditId, GoalEditKind, HookSession};
use grov_drift::TranscriptFollower;
use grov_rules::extract_intent;
use serde::Deserialize;
use serde_json::{Value, json};
use std::error::Error;
use std::io::{BufRead, BufReader};
use std::sync::Arc;
use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};

const ROOT: &str = "/home/me/project";
/// 2027-01-15, the start of the session.
const START: i64 = 1_800_000_000;

#[derive(Deserialize)]
struct Sequence {
    seq_id: Value,
    goal: String,
    #[serde(default)]
    constraints: Option<Vec<String>>,
    actions: Vec<RecordedAction>,
}

#[derive(Deserialize)]
struct RecordedAction {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    files: Option<Vec<String>>,
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    error: Option<bool>,
}

/// Scored if there is no file.
const SAMPLE: &str = r#"{"seq_id": "sample", "goal": "Fix the token refresh in src/auth/token.ts", "actions": [{"type": "edit", "files": ["src/auth/token.ts"]}, {"type": "bash", "command": "npm test"}, {"type": "edit", "files": ["src/theme/colors.css"]}]}
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let sequences: Box<dyn BufRead> = match arguments.next() {
        Some(path) => Box::new(BufReader::new(std::fs::File::open(path)?)),
        None => Box::new(SAMPLE.as_bytes()),
    };
    let every = arguments.next().map(|every| every.parse()).transpose()?;
    for line in sequences.lines() {
        let sequence: Sequence = serde_json::from_str(&line?)?;
        let (scores, corrections) = scores(&sequence, every)?;
        println!(
            "{}",
            json!({"seq_id": sequence.seq_id, "scores": scores, "corrections": corrections})
        );
    }
    Ok(())
}

/// Returns one score for each action or prompt, and the indexes of prompts with a correction.
fn scores(sequence: &Sequence, every: Option<usize>) -> Result<(Vec<u8>, Vec<usize>), Box<dyn Error>> {
    let start = OffsetDateTime::from_unix_timestamp(START)?;
    let constraints = sequence.constraints.iter().flatten();
    let edits: Vec<GoalEdit> = constraints
        .map(|text| GoalEdit {
            id: GoalEditId::new(text.as_str()),
            client_session_id: ClientSessionId::new("s"),
            kind: GoalEditKind::Constraint,
            text: text.clone(),
            at: start,
            since_prompt: None,
        })
        .collect();
    let begun = HookSession::new(ClientSessionId::new("s"), ROOT.to_owned(), ROOT.to_owned(), start);
    let resume = |session| TranscriptFollower::resume(session, &edits, Arc::new(extract_intent));
    let at = |place: usize| start + Duration::seconds(i64::try_from(place + 1).unwrap_or(i64::MAX / 4));
    let mut follower = resume(begun);
    follower.add_prompt(&sequence.goal, start);
    let mut session = follower.into_progress(start).session;
    let count = match every {
        None => sequence.actions.len(),
        Some(every) => sequence.actions.len().div_ceil(every.max(1)),
    };
    let mut scores = vec![10; count];
    let mut corrections = Vec::new();
    // A new follower for each part, as for each hook.
    let part = every.unwrap_or(usize::MAX).max(1);
    for (number, actions) in sequence.actions.chunks(part).enumerate() {
        let first = number * part;
        let mut follower = resume(session);
        for (place, action) in (first..).zip(actions) {
            follower.read(lines(place, action, at(place))?.as_bytes());
        }
        let last = first + actions.len() - 1;
        follower.add_prompt("go on", at(last));
        let check = follower.check(at(last));
        let progress = follower.into_progress(at(last));
        if every.is_none() {
            for step in &progress.steps {
                let place: Option<usize> = step.tool_use_id.as_deref().and_then(|id| id.parse().ok());
                if let (Some(place), Some(score)) = (place, step.score) {
                    scores[place] = score;
                }
            }
        } else if let Some(check) = check {
            scores[number] = check.score;
            corrections.extend(check.correction.map(|_| number));
        }
        session = progress.session;
    }
    Ok((scores, corrections))
}

/// A call and its result as transcript lines.
fn lines(place: usize, action: &RecordedAction, at: OffsetDateTime) -> Result<String, Box<dyn Error>> {
    let at = at.format(&Rfc3339)?;
    let (name, input) = call(action);
    let base = json!({"sessionId": "s", "timestamp": at, "cwd": ROOT});
    let line = |kind: &str, message: Value| {
        let mut line = base.clone();
        line["type"] = kind.into();
        line["message"] = message;
        line.to_string()
    };
    let id = place.to_string();
    let call = json!({"id": format!("m{id}"), "model": "m", "content": [
        {"type": "tool_use", "id": id, "name": name, "input": input},
    ]});
    let result = json!({"content": [
        {"type": "tool_result", "tool_use_id": id, "content": "", "is_error": action.error == Some(true)},
    ]});
    Ok(format!("{}\n{}\n", line("assistant", call), line("user", result)))
}

fn call(action: &RecordedAction) -> (&str, Value) {
    let file = action.files.iter().flatten().next().map_or("", String::as_str);
    let path = match file {
        "" => String::new(),
        absolute if absolute.starts_with('/') => absolute.to_owned(),
        relative => format!("{ROOT}/{relative}"),
    };
    let text = action.text.as_deref().unwrap_or_default();
    let command = action.command.as_deref().unwrap_or_default();
    match action.kind.as_str() {
        "read" => ("Read", json!({"file_path": path})),
        "edit" => (
            "Edit",
            json!({"file_path": path, "old_string": "", "new_string": text}),
        ),
        "write" => ("Write", json!({"file_path": path, "content": text})),
        "bash" => ("Bash", json!({"command": command, "description": text})),
        "search" if path.is_empty() => ("Glob", json!({"pattern": command})),
        "search" => ("Glob", json!({"pattern": command, "path": path})),
        "task" => ("Agent", json!({"prompt": text, "description": ""})),
        "web" => ("WebFetch", json!({"url": text, "prompt": ""})),
        _ => (command, json!({})),
    }
}
