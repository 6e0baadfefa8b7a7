//! Counts the tokens of a long session by the class they are billed in: as the client sends it, with CLEAR, with trimmed results,
//! with both, and with the client's own compaction. Uses the model of the prompt cache in `grov-sim`, no model and no network.
//!
//! `cargo run -p grov-live --example context_cost [-- REQUESTS]`

use anyhow::Context;
use bytes::Bytes;
use grov_domain::{Lineage, OWN_TEXT_CLOSING, OWN_TEXT_OPENING};
use grov_live::{
    ClearSettings, ContextClearing, ContextEdits, Injection, InputPrices, ReadySummary, SummarySource, Window,
};
use grov_proxy_core::{MessagesRequest, ObservedExchange, Outcome, RequestPolicy, TurnObserver};
use grov_redact::Redactor;
use grov_sim::cache::{PromptCache, RenderedPrompt};
use grov_sim::request;
use grov_store::{OpenOptions, SqliteStore};
use grov_wire::Splice;
use grov_wire::response::{Turn, Usage};
use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};
use std::io::Write;
use std::sync::Arc;
use std::time::Duration as Pause;
use time::macros::datetime;
use time::{Duration, OffsetDateTime};

const START: OffsetDateTime = datetime!(2026-01-01 09:00 UTC);
const WINDOW: u64 = 200_000;
/// Requests of the session.
const REQUESTS: usize = 300;
/// Requests between two prompts of the user.
const REQUESTS_A_PROMPT: usize = 15;
/// Requests between two breaks of ten minutes.
const REQUESTS_A_BREAK: usize = 60;
/// Files that the agent reads again and again.
const FILES: usize = 12;
/// Bytes: of the tools and the system prompt, of a result, of a file, of the text of an answer.
const FIXED: usize = 80_000;
const RESULT: usize = 6_000;
const FILE: usize = 16_000;
const ANSWER: usize = 1_200;
/// The client compacts at this share of the window, in percent.
const COMPACTS_AT: u64 = 92;
/// Bytes of a summary: Grov's, and the client's.
const SUMMARY: usize = 10_000;

/// What is done against the growing context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Means {
    Nothing,
    Edits(ContextEdits),
    Compaction,
}

struct Summaries;

impl SummarySource for Summaries {
    fn window(&self, _: &Lineage) -> Option<Window> {
        Some(Window {
            tokens: WINDOW,
            clear_at: WINDOW / 10 * 9,
        })
    }

    fn prices(&self, _: &str) -> Option<InputPrices> {
        None
    }

    fn ready(&self, _: &Lineage) -> Option<ReadySummary> {
        let text = format!(
            "{OWN_TEXT_OPENING}>\n{}\n{OWN_TEXT_CLOSING}",
            words("summary", SUMMARY)
        );
        Some(ReadySummary {
            text: Redactor::shared().text(&text),
            age: 0,
        })
    }

    fn refresh(&self, _: &Lineage) {}
}

fn words(word: &str, bytes: usize) -> String {
    format!("{word} ").repeat(bytes / (word.len() + 1))
}

/// The conversation as the client has it.
struct Conversation {
    messages: Vec<Value>,
}

impl Conversation {
    fn step(&mut self, number: usize) {
        let id = format!("toolu_{number}");
        let (name, input, result) = match number % 3 {
            0 => {
                let path = format!("/project/src/file{}.rs", number / 3 % FILES);
                (
                    "Read",
                    json!({"file_path": path}),
                    words(&format!("line{number}"), FILE),
                )
            }
            _ => (
                "Bash",
                json!({"command": format!("make {number}")}),
                words("output", RESULT),
            ),
        };
        self.messages.push(json!({"role": "assistant", "content": [
            {"type": "text", "text": words(&format!("answer{number}"), ANSWER)},
            {"type": "tool_use", "id": id, "name": name, "input": input}]}));
        self.messages.push(json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": result}]}));
    }

    fn prompt(&mut self, number: usize) {
        if !self.messages.is_empty() {
            self.messages.push(
                json!({"role": "assistant", "content": [{"type": "text", "text": format!("done {number}")}]}),
            );
        }
        self.messages
            .push(json!({"role": "user", "content": [{"type": "text", "text": format!("prompt {number}")}]}));
    }

    /// Keeps a summary and the last call with its result.
    fn compact(&mut self) {
        let rest = self.messages.split_off(self.messages.len().saturating_sub(2));
        self.messages =
            vec![json!({"role": "user", "content": [{"type": "text", "text": words("summary", SUMMARY)}]})];
        self.messages.extend(rest);
    }

    fn body(&self, instruction: Option<&str>) -> Bytes {
        let mut messages = self.messages.clone();
        let marked = json!({"type": "ephemeral"});
        let at = messages.len() - 1 - usize::from(instruction.is_some());
        if let Some(block) = messages[at]["content"]
            .as_array_mut()
            .and_then(|blocks| blocks.last_mut())
        {
            block["cache_control"] = marked.clone();
        }
        if let (Some(text), Some(blocks)) = (
            instruction,
            messages
                .last_mut()
                .and_then(|last| last["content"].as_array_mut()),
        ) {
            blocks.push(json!({"type": "text", "text": text}));
        }
        let body = json!({"model": "claude-opus-4-8", "max_tokens": 32000, "messages": messages,
            "system": [{"type": "text", "text": "You help."}, {"type": "text", "text": words("rule", FIXED), "cache_control": marked}],
            "tools": [{"name": "Bash", "description": "a", "input_schema": {}}, {"name": "Read", "description": "b", "input_schema": {}}]});
        Bytes::from(body.to_string())
    }
}

/// Tokens by class.
#[derive(Clone, Copy, Debug, Default)]
struct Billed {
    input: u64,
    write: u64,
    read: u64,
    output: u64,
    requests: u64,
    largest: u64,
    times: u64,
}

impl Billed {
    /// The cost in tokens of uncached input, at the usual ratios of prices.
    fn cost(&self) -> f64 {
        self.input as f64 + self.write as f64 * 1.25 + self.read as f64 * 0.1 + self.output as f64 * 5.0
    }
}

/// A session and the API's cache.
struct Session {
    cache: PromptCache,
    billed: Billed,
    now: OffsetDateTime,
}

impl Session {
    /// Bills a request. Returns the size of the context after its response, in tokens.
    fn bill(&mut self, body: &[u8], output: u64) -> anyhow::Result<Usage> {
        let prompt = RenderedPrompt::of(&request::MessagesRequest::parse(body)?);
        let plan = self.cache.plan(&prompt, self.now);
        self.cache.commit(&plan, self.now);
        self.cache.sweep(self.now);
        let usage = Usage {
            input: plan.usage.input,
            cache_read: plan.usage.read,
            cache_creation: plan.usage.creation(),
            output,
            ..Usage::default()
        };
        self.billed.input += usage.input;
        self.billed.write += usage.cache_creation;
        self.billed.read += usage.cache_read;
        self.billed.output += output;
        self.billed.requests += 1;
        self.billed.largest = self.billed.largest.max(tokens(&usage));
        Ok(usage)
    }
}

fn tokens(usage: &Usage) -> u64 {
    usage.input + usage.cache_read + usage.cache_creation + usage.output
}

struct Proxy {
    injection: Injection,
    clearing: ContextClearing,
    headers: HeaderMap,
}

impl Proxy {
    async fn send(&self, body: Bytes, session: &mut Session, output: u64) -> anyhow::Result<()> {
        let request = Arc::new(MessagesRequest::new(self.headers.clone(), body, session.now));
        self.injection.prepare(&request).await;
        let mut edits = self.injection.replay(&request);
        edits.extend(self.injection.propose(&request).await);
        let index = request.index().context("a valid request")?;
        let arrived = Splice::apply(index, &edits)?.into_vec().concat();
        let usage = session.bill(&arrived, output)?;
        self.injection.accepted(&request);
        self.clearing.observe(&ObservedExchange {
            request,
            status: 200,
            turn: Turn {
                usage,
                ..Turn::default()
            },
            outcome: Outcome::Complete,
            ended_at: session.now,
        });
        // The decision is stored in the background.
        tokio::time::sleep(Pause::from_millis(2)).await;
        Ok(())
    }

    fn count(&self, name: &str) -> u64 {
        let all = self.injection.counters().all();
        all.into_iter()
            .find(|(known, _)| *known == name)
            .map_or(0, |(_, count)| count)
    }
}

async fn live(means: Means, requests: usize) -> anyhow::Result<Billed> {
    let home = tempfile::tempdir()?;
    let mut headers = HeaderMap::new();
    headers.insert("x-claude-code-session-id", HeaderValue::from_static("session"));
    headers.insert(
        "x-grov-project",
        HeaderValue::from_str(&home.path().to_string_lossy())?,
    );
    let store = Arc::new(SqliteStore::open(&home.path().join("grov.db"), &OpenOptions::default()).await?);
    let edits = match means {
        Means::Edits(edits) => edits,
        Means::Nothing | Means::Compaction => ContextEdits::default(),
    };
    let (injection, work) = Injection::with_context_edits(edits, store, Vec::new());
    let clearing = injection.clearing(ClearSettings {
        summaries: Arc::new(Summaries),
        tasks: None,
    });
    let proxy = Proxy {
        injection,
        clearing,
        headers,
    };
    let mut session = Session {
        cache: PromptCache::default(),
        billed: Billed::default(),
        now: START,
    };
    let mut conversation = Conversation { messages: Vec::new() };
    let serving = async {
        for number in 0..requests {
            match number % REQUESTS_A_PROMPT {
                0 => conversation.prompt(number),
                _ => conversation.step(number),
            }
            let pause = if number % REQUESTS_A_BREAK == REQUESTS_A_BREAK - 1 {
                600
            } else {
                20
            };
            session.now += Duration::seconds(pause);
            let before = session.billed;
            proxy
                .send(conversation.body(None), &mut session, ANSWER as u64 / 4)
                .await?;
            let size = session.billed.input + session.billed.write + session.billed.read
                - (before.input + before.write + before.read);
            if means == Means::Compaction && size > WINDOW / 100 * COMPACTS_AT {
                session.now += Duration::seconds(20);
                session.bill(
                    &conversation.body(Some("Sum up the conversation.")),
                    SUMMARY as u64 / 4,
                )?;
                session.billed.times += 1;
                conversation.compact();
            }
        }
        Ok::<_, anyhow::Error>(())
    };
    tokio::select! {
        result = serving => result?,
        () = work.run(std::future::pending()) => {}
    }
    session.billed.times += proxy.count("cleared");
    Ok(session.billed)
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> anyhow::Result<()> {
    let requests: usize = match std::env::args().nth(1) {
        Some(argument) => argument.parse().context("REQUESTS is a number")?,
        None => REQUESTS,
    };
    let edits = |clear, trim| Means::Edits(ContextEdits { clear, trim });
    let all = [
        ("as the client sends it", Means::Nothing),
        ("CLEAR", edits(true, false)),
        ("trim", edits(false, true)),
        ("CLEAR and trim", edits(true, true)),
        ("the client's compaction", Means::Compaction),
    ];
    let mut out = std::io::stdout();
    writeln!(
        out,
        "{requests} requests, a window of {WINDOW} tokens; cost in tokens of uncached input"
    )?;
    writeln!(
        out,
        "{:24} {:>10} {:>10} {:>12} {:>9} {:>12} {:>9} {:>6}",
        "", "input", "written", "read", "output", "cost", "largest", "times"
    )?;
    for (name, means) in all {
        let billed = live(means, requests).await?;
        writeln!(
            out,
            "{name:24} {:>10} {:>10} {:>12} {:>9} {:>12.0} {:>9} {:>6}",
            billed.input,
            billed.write,
            billed.read,
            billed.output,
            billed.cost(),
            billed.largest,
            billed.times
        )?;
    }
    Ok(())
}
