//! Measures how long a hook takes to follow a session.
//!
//! `cargo run --release -p grov-drift --example hooks` prints the time to resume after 500 actions and process 20 new ones,
//! the size of the state stored between two hooks, and the time to read a transcript of 20 MB and its last 100 KB.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example prints its results"
)]

use grov_actions::transcript::Reader;
use grov_domain::{ClientSessionId, HookSession};
use grov_drift::TranscriptFollower;
use grov_rules::extract_intent;
use serde_json::{Value, json};
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};
use time::OffsetDateTime;

const ROOT: &str = "/home/me/project";
const RUNS: usize = 100;

fn main() {
    let now = OffsetDateTime::from_unix_timestamp(1_800_000_000).unwrap();
    let begun = HookSession::new(ClientSessionId::new("s"), ROOT.to_owned(), ROOT.to_owned(), now);
    let resume = |session: HookSession| TranscriptFollower::resume(session, &[], Arc::new(extract_intent));
    let mut follower = resume(begun);
    follower.read(transcript(0..500).as_bytes());
    follower.check(now);
    let kept = follower.into_progress(now).session;
    println!(
        "stored between two hooks: {} bytes",
        kept.engine_state.as_ref().map_or(0, String::len)
    );
    let new = transcript(501..521);
    let mut parts = [const { Vec::new() }; 4];
    for _ in 0..RUNS {
        let session = kept.clone();
        let start = Instant::now();
        let mut follower = resume(session);
        parts[0].push(start.elapsed());
        let start = Instant::now();
        follower.read(new.as_bytes());
        parts[1].push(start.elapsed());
        let start = Instant::now();
        let prompt = "Also take comments in the lexer, src/lexer/scan.rs, and test it in tests/lexer.rs";
        follower.add_prompt(prompt, now);
        black_box(follower.check(now));
        parts[2].push(start.elapsed());
        let start = Instant::now();
        black_box(follower.into_progress(now));
        parts[3].push(start.elapsed());
    }
    for (name, times) in ["resume", "read 20 actions", "prompt and check", "into_progress"]
        .iter()
        .zip(&mut parts)
    {
        print_times(name, times);
    }
    let block = transcript(0..500);
    let whole = block.repeat(20 * 1024 * 1024 / block.len() + 1);
    let mut from_start = Vec::new();
    let mut from_end = Vec::new();
    for _ in 0..5 {
        let start = Instant::now();
        black_box(Reader::new(Some("s")).read(whole.as_bytes()));
        from_start.push(start.elapsed());
        let start = Instant::now();
        black_box(Reader::new(Some("s")).read(&whole.as_bytes()[whole.len() - 100 * 1024..]));
        from_end.push(start.elapsed());
    }
    print_times(&format!("read {} bytes", whole.len()), &mut from_start);
    print_times("read its last 100 KB", &mut from_end);
}

fn print_times(name: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let at = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)];
    println!("{name:28} p50 {:>9.1?}  p99 {:>9.1?}", at(50), at(99));
}

fn transcript(actions: std::ops::Range<usize>) -> String {
    let mut text = String::new();
    let mut line = |mut line: Value| {
        line["sessionId"] = json!("s");
        line["cwd"] = json!(ROOT);
        line["uuid"] = json!("237a47fa-8163-486d-9c00-1c42ad205988");
        text.push_str(&line.to_string());
        text.push('\n');
    };
    for at in actions {
        if at % 25 == 0 {
            let prompt = format!("Make part {at} of the parser in src/parser/part_{at}.rs take comments");
            line(json!({"type": "user", "message": {"content": prompt}}));
        }
        let id = format!("toolu_{at}");
        let body = format!(
            "fn parse_{at}(input: &str) -> Result<Tree, Error> {{\n    lex_{at}(input)?.tree()\n}}\n"
        )
        .repeat(8);
        let file = format!("{ROOT}/src/parser/part_{}.rs", at / 3);
        let (name, input) = match at % 3 {
            0 => ("Read", json!({"file_path": file})),
            1 => (
                "Edit",
                json!({"file_path": file, "old_string": "x", "new_string": body}),
            ),
            _ => ("Bash", json!({"command": "cargo test -p parser 2>&1 | tail -20"})),
        };
        let said = json!({"type": "text", "text": format!("Now part {at} of the parser, which takes comments since the last change.")});
        let usage = json!({"input_tokens": 3, "cache_read_input_tokens": 90_000, "cache_creation_input_tokens": 800, "output_tokens": 300});
        for block in [
            said,
            json!({"type": "tool_use", "id": id, "name": name, "input": input}),
        ] {
            line(
                json!({"type": "assistant", "message": {"id": format!("msg_{at}"), "model": "m", "content": [block], "usage": usage}}),
            );
        }
        let output = format!("test parser::part_{at} ... ok\n").repeat(60);
        line(json!({
            "type": "user",
            "toolUseResult": {"stdout": output},
            "message": {"content": [{"type": "tool_result", "tool_use_id": id, "content": output}]},
        }));
    }
    text
}
