//! Scores the decision loop with `tests/cases/agent`, on SQLite: how many cases meet everything that is expected of them.
//!
//! `cargo run -p grov-agent --example decision_cases -- tuning|reporting` prints sums only. With `misses` after `tuning` it also names
//! what went wrong there.
#![forbid(unsafe_code)]
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "reports to developers, and a case that cannot run has no score"
)]

#[path = "../../tests/support/mod.rs"]
mod support;

use grov_agent::{
    Category, ChatAnswer, ChatFailed, Decision, MemoryStatus, MemoryType, MessageRole, SourceKind, ToolCall,
};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use support::{ScriptedModel, World};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let half = arguments.first().map_or("tuning", String::as_str);
    let shows_misses = half == "tuning" && arguments.iter().any(|argument| argument == "misses");
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/cases/agent")
        .join(format!("{half}.jsonl"));
    let mut sums: BTreeMap<String, (u32, u32)> = BTreeMap::new();
    let mut failed_checks: BTreeMap<&'static str, u32> = BTreeMap::new();
    for line in std::fs::read_to_string(file)?
        .lines()
        .filter(|line| !line.trim().is_empty())
    {
        let case: Value = serde_json::from_str(line)?;
        let misses = run(&case).await;
        let kind = text(&case, "kind");
        let language = if text(&case, "language").starts_with("en") {
            "English"
        } else {
            "other languages"
        };
        for sum in [kind.to_owned(), format!("{kind}, {language}")] {
            let (good, all) = sums.entry(sum).or_default();
            *all += 1;
            *good += u32::from(misses.is_empty());
        }
        for (check, _) in &misses {
            *failed_checks.entry(check).or_default() += 1;
        }
        if shows_misses && !misses.is_empty() {
            println!("{}: {misses:?}", text(&case, "id"));
        }
    }
    for (sum, (good, all)) in sums {
        println!("{half}, {sum}: {good} of {all}");
    }
    for (check, count) in failed_checks {
        println!("{half}, not met: {check} {count}");
    }
    Ok(())
}

/// Names what is not met: the check and what was found.
type Misses = Vec<(&'static str, String)>;

/// What a case is about, in the store.
#[derive(Default)]
struct Ids {
    /// `chunk:TITLE` and `memory:REF`.
    ids: HashMap<String, String>,
    /// The text of each chunk and item.
    texts: HashMap<String, String>,
}

async fn run(case: &Value) -> Misses {
    let world = World::new(text(case, "role_statement")).await;
    let ids = prepare(&world, case).await;
    let turns: Vec<(MessageRole, &str)> = list(case, "thread")
        .iter()
        .map(|turn| {
            (
                MessageRole::from_name(text(turn, "role")).unwrap(),
                text(turn, "content"),
            )
        })
        .collect();
    let mut request = world.request(text(case, "message"), &case["tools"]);
    if !turns.is_empty() {
        request.thread = Some(world.add_thread(&turns).await);
    }
    let script: Vec<String> = list(case, "provider")
        .iter()
        .map(|answer| filled(answer.as_str().unwrap(), &ids))
        .collect();
    let script: Vec<&str> = script.iter().map(String::as_str).collect();
    let model = (text(case, "kind") == "scripted").then(|| ScriptedModel::answering(&script));
    let (answer, _) = world.chat(model.clone(), request).await;
    let generations = model.map(|model| model.prompts().len());
    judge(&case["expect"], answer, generations, &ids)
}

async fn prepare(world: &World, case: &Value) -> Ids {
    let mut ids = Ids::default();
    for document in list(case, "documents") {
        let (title, content) = (text(document, "title"), text(document, "content"));
        let category = Category::from_name(text(document, "category")).unwrap();
        let chunk = world.add_document(title, category, content).await;
        ids.ids.insert(format!("chunk:{title}"), chunk);
        ids.texts.insert(title.to_owned(), content.to_owned());
    }
    for item in list(case, "memory") {
        let (name, content) = (text(item, "ref"), text(item, "content"));
        let kind = MemoryType::from_name(text(item, "type")).unwrap();
        let status = MemoryStatus::from_name(text(item, "status")).unwrap();
        let expires = item["expires_at"]
            .as_str()
            .map(|time| OffsetDateTime::parse(time, &Rfc3339).unwrap());
        let id = world.add_item(kind, status, content, expires).await.to_string();
        ids.texts.insert(id.clone(), content.to_owned());
        ids.ids.insert(format!("memory:{name}"), id);
    }
    ids
}

/// Replaces `{{chunk:TITLE}}` and `{{memory:REF}}` by ids.
fn filled(answer: &str, ids: &Ids) -> String {
    ids.ids.iter().fold(answer.to_owned(), |answer, (name, id)| {
        answer.replace(&format!("{{{{{name}}}}}"), id)
    })
}

fn judge(
    expect: &Value,
    answer: Result<ChatAnswer, ChatFailed>,
    generations: Option<usize>,
    ids: &Ids,
) -> Misses {
    let mut misses = Misses::new();
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) => return vec![("answer", error.to_string())],
    };
    let mut check = |name: &'static str, holds: bool, found: String| {
        if !holds {
            misses.push((name, found));
        }
    };
    let (decision, text, calls) = parts(&answer);
    let allowed: Vec<&str> = match &expect["decision"] {
        Value::String(one) => vec![one],
        other => other
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect(),
    };
    check(
        "decision",
        allowed.contains(&decision),
        format!("{decision}: {text}"),
    );
    let calls: Vec<&ToolCall> = calls
        .iter()
        .filter(|call| !call.name.starts_with("memory."))
        .collect();
    if let Some(wanted) = expect["calls"].as_array()
        && decision == "ACT"
    {
        check("calls", are_met(wanted, &calls), format!("{calls:?}"));
    }
    check(
        "no_calls",
        expect["no_calls"] != true || calls.is_empty(),
        format!("{calls:?}"),
    );
    if let (Some(repairs), Some(generations)) = (expect["repairs"].as_u64(), generations) {
        check(
            "repairs",
            generations as u64 == repairs + 1,
            format!("{generations} generations"),
        );
    }
    if let Some(proposals) = expect["proposals"].as_array() {
        let mut wanted: Vec<String> = proposals
            .iter()
            .map(|item| format!("{} {}", item["type"], item["status"]))
            .collect();
        let items = &answer.response.memory_proposals;
        let mut found: Vec<String> = items
            .iter()
            .map(|item| format!("\"{}\" \"{}\"", item.kind, item.status))
            .collect();
        wanted.sort();
        found.sort();
        check("proposals", wanted == found, format!("{found:?}"));
    }
    for name in list(expect, "contradicts").iter().filter_map(Value::as_str) {
        let id = &ids.ids[&format!("memory:{name}")];
        let mut items = answer
            .response
            .memory_proposals
            .iter()
            .flat_map(|item| &item.contradicts);
        check(
            "contradicts",
            items.any(|found| found.to_string() == *id),
            name.to_owned(),
        );
    }
    for citation in &answer.response.citations {
        let of = if citation.kind == SourceKind::Chunk {
            &citation.title
        } else {
            &citation.id
        };
        let is_real = ids
            .texts
            .get(of)
            .is_some_and(|text| spaced(text).contains(&spaced(&citation.quote)));
        check("citation_quotes_real", is_real, format!("{citation:?}"));
    }
    for name in list(expect, "cites").iter().filter_map(Value::as_str) {
        let item = ids.ids.get(&format!("memory:{name}"));
        let is_cited = answer
            .response
            .citations
            .iter()
            .any(|citation| citation.title == name || Some(&citation.id) == item);
        check("cites", is_cited, format!("{name} for {text}"));
    }
    for part in list(expect, "answer_contains").iter().filter_map(Value::as_str) {
        check(
            "answer_contains",
            text.contains(part),
            format!("{part} in {text}"),
        );
    }
    for part in list(expect, "answer_lacks").iter().filter_map(Value::as_str) {
        check("answer_lacks", !text.contains(part), format!("{part} in {text}"));
    }
    misses
}

fn parts(answer: &ChatAnswer) -> (&'static str, &str, &[ToolCall]) {
    match &answer.response.decision {
        Decision::Act { tool_calls, message } => ("ACT", message, tool_calls),
        Decision::Ask { question, .. } => ("ASK", question, &[]),
        Decision::Noop { answer } => ("NOOP", answer, &[]),
    }
}

/// Whether the calls are those that are wanted, in any order.
fn are_met(wanted: &[Value], calls: &[&ToolCall]) -> bool {
    wanted.len() == calls.len()
        && wanted.iter().all(|wanted| {
            calls.iter().any(|call| {
                let mut arguments = wanted["arguments_contain"].as_object().into_iter().flatten();
                call.name == wanted["name"]
                    && call.status.as_str() == wanted["status"]
                    && arguments.all(|(name, value)| call.arguments.get(name) == Some(value))
            })
        })
}

fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value[name].as_array().map(Vec::as_slice).unwrap_or_default()
}
