//! Measures the cost of the injection ledger for a large request: a history of 100 prompts, each with an added text.
//!
//! `cargo run --release -p grov-live --example replay_cost [-- BYTES]` prints microseconds per request for indexing
//! the body, hashing its history, the replay, and the splice.

use anyhow::Context;
use async_trait::async_trait;
use bytes::Bytes;
use grov_domain::{OWN_TEXT_CLOSING, OWN_TEXT_OPENING};
use grov_live::{ContextSource, ContextText, Injection, InjectionPoint};
use grov_proxy_core::{MessagesRequest, RequestPolicy};
use grov_redact::Redactor;
use grov_store::{OpenOptions, SqliteStore};
use grov_wire::Splice;
use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};
use time::OffsetDateTime;

/// Prompts in the history, each with an added text.
const PROMPTS: usize = 100;

/// Measured requests.
const ROUNDS: usize = 200;

/// A source that adds three kilobytes to every prompt.
struct Talkative;

#[async_trait]
impl ContextSource for Talkative {
    fn name(&self) -> &'static str {
        "talkative"
    }

    fn applies(&self, _: &InjectionPoint) -> bool {
        true
    }

    async fn context(&self, _: &InjectionPoint) -> Option<ContextText> {
        let words = "what is known about it ".repeat(128);
        Some(ContextText {
            text: Redactor::shared().text(&format!("{OWN_TEXT_OPENING}>\n{words}\n{OWN_TEXT_CLOSING}")),
            memories: Vec::new(),
        })
    }
}

/// Returns the messages up to and including a prompt. `answer` is the size of each answer.
fn messages(prompts: usize, answer: usize) -> Vec<Value> {
    let mut messages = Vec::new();
    for number in 0..=prompts {
        messages.push(json!({"role": "user", "content": format!("prompt {number}")}));
        if number < prompts {
            let text = format!(
                "answer {number} \"quoted\"\n{}",
                "fn main() { }\n".repeat(answer / 15)
            );
            messages.push(json!({"role": "assistant", "content": [{"type": "text", "text": text}]}));
        }
    }
    messages
}

fn request(headers: &HeaderMap, body: &Bytes) -> MessagesRequest {
    MessagesRequest::new(headers.clone(), body.clone(), OffsetDateTime::now_utc())
}

fn body(messages: &[Value]) -> Bytes {
    let body = json!({"model": "m", "messages": messages, "tools": [{"name": "Bash"}, {"name": "Edit"}]});
    Bytes::from(body.to_string())
}

fn median(mut times: Vec<Duration>) -> u128 {
    times.sort_unstable();
    times.get(times.len() / 2).map_or(0, Duration::as_micros)
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> anyhow::Result<()> {
    let bytes: usize = match std::env::args().nth(1) {
        Some(argument) => argument.parse().context("BYTES is a number")?,
        None => 1024 * 1024,
    };
    let home = tempfile::tempdir()?;
    let mut headers = HeaderMap::new();
    headers.insert("x-claude-code-session-id", HeaderValue::from_static("session"));
    headers.insert(
        "x-grov-project",
        HeaderValue::from_str(&home.path().to_string_lossy())?,
    );
    let store = SqliteStore::open(&home.path().join("grov.db"), &OpenOptions::default()).await?;
    let (injection, work) = Injection::new(Arc::new(store), vec![Arc::new(Talkative)]);
    let serving = async {
        for prompts in 0..PROMPTS {
            let new = request(&headers, &body(&messages(prompts, bytes / PROMPTS)));
            injection.prepare(&new).await;
            injection.replay(&new);
            injection.propose(&new).await;
        }
        let body = body(&messages(PROMPTS, bytes / PROMPTS));
        let (mut index, mut skeleton, mut replay, mut splice) = (vec![], vec![], vec![], vec![]);
        let mut blocks = 0;
        let mut grown = 0;
        for _ in 0..ROUNDS {
            let request = request(&headers, &body);
            let start = Instant::now();
            let indexed = request.index().context("a valid request")?;
            let at_index = Instant::now();
            request.skeleton();
            let at_skeleton = Instant::now();
            injection.prepare(&request).await;
            let edits = injection.replay(&request);
            let at_replay = Instant::now();
            let pieces = Splice::apply(indexed, &edits)?;
            let end = Instant::now();
            index.push(at_index - start);
            skeleton.push(at_skeleton - at_index);
            replay.push(at_replay - at_skeleton);
            splice.push(end - at_replay);
            blocks = edits.len();
            grown = pieces.len() - body.len();
        }
        let line = format!(
            "{} bytes, {blocks} blocks of ours ({grown} bytes): structure {} us, history {} us, replay {} us, splice {} us",
            body.len(),
            median(index),
            median(skeleton),
            median(replay),
            median(splice)
        );
        writeln!(std::io::stdout(), "{line}")?;
        Ok::<_, anyhow::Error>(())
    };
    tokio::select! {
        result = serving => result,
        () = work.run(std::future::pending()) => Ok(()),
    }
}
