//! Retrieval on a collection of records with questions, for `scripts` that score it.
//!
//! ```text
//! cargo run --release -p grov-agent-store --example retrieval_eval -- DATA DATABASE KIND METHOD OUT
//! ```
//!
//! `DATA` has `queries.jsonl` (`query_id`, `project`, `text`) and `docs/PROJECT.jsonl` (`id`, `original_query`, `goal`,
//! `reasoning_trace`, `files_touched`). `KIND` is `documents` or `items`: how each record is stored. `METHOD` is `bm25`, the
//! store's own order for all words of the question, or `search`, the order of [`Retriever::search`]. `DATABASE` is an SQLite
//! file, which is filled if it does not exist. `OUT` receives one line for each question: `{"query_id", "ranked": [ids]}`.
#![forbid(unsafe_code)]
#![allow(clippy::print_stderr, reason = "an example that reports on stderr")]

use grov_agent::{
    AgentStore, Category, Evidence, EvidenceKind, Ingestor, MemoryFilter, MemoryItem, MemoryItemId,
    MemoryItemStore, MemoryStatus, MemoryType, Page, Project, ProjectId, ProjectStore, Retriever, SearchBy,
    SearchFilter, SearchScope, SearchStore, Upload,
};
use grov_agent_store::{AgentDatabase, DatabaseOptions};
use grov_domain::{Clock, SystemClock, unstemmed_words};
use grov_redact::{Redacted, Redactor};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{BufWriter, Error, Write};
use std::path::Path;
use std::sync::Arc;

type Failure = Box<dyn std::error::Error>;

/// The most results for each question.
const RESULTS: u32 = 200;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [data, database, kind, method, out] = arguments.as_slice() else {
        eprintln!("usage: retrieval_eval DATA DATABASE documents|items bm25|search OUT");
        return Ok(());
    };
    let data = Path::new(data);
    let is_new = !Path::new(database).exists();
    let options = DatabaseOptions::default();
    let store = Arc::new(AgentDatabase::open(&format!("sqlite:{database}"), &options).await?);
    let queries = lines(&data.join("queries.jsonl"))?;
    if is_new {
        fill(&store, data, &queries, kind).await?;
    }
    let listed = store.projects(&[], &page(None)).await?;
    let projects: HashMap<String, ProjectId> = listed
        .items
        .into_iter()
        .map(|project| (project.name, project.id))
        .collect();
    let run = Run {
        retriever: Retriever::new(store.clone(), None, Arc::new(SystemClock)),
        records: records(&store, &projects, kind).await?,
        store,
        is_bm25: method == "bm25",
        kind: kind.clone(),
    };
    let mut out = BufWriter::new(std::fs::File::create(out)?);
    let start = std::time::Instant::now();
    for query in &queries {
        let project = *projects
            .get(text(query, "project"))
            .ok_or("a question of an unknown project")?;
        let ranked = run.ranked(project, text(query, "text")).await?;
        writeln!(
            out,
            "{}",
            json!({"query_id": text(query, "query_id"), "ranked": ranked})
        )?;
    }
    eprintln!(
        "{} questions in {:.1} s",
        queries.len(),
        start.elapsed().as_secs_f64()
    );
    out.flush()?;
    run.store.close().await;
    Ok(())
}

struct Run {
    store: Arc<AgentDatabase>,
    retriever: Retriever,
    /// The records of memory items.
    records: HashMap<String, String>,
    is_bm25: bool,
    kind: String,
}

impl Run {
    /// The records for a question, best first, each once.
    async fn ranked(&self, project: ProjectId, question: &str) -> Result<Vec<String>, Failure> {
        let filter = SearchFilter::default();
        let found: Vec<String> = if self.is_bm25 {
            let mut seen = HashSet::new();
            let mut words = unstemmed_words(question, 80);
            words.retain(|word| seen.insert(word.clone()));
            let scope = SearchScope {
                project,
                filter: &filter,
                limit: RESULTS,
                now: SystemClock.now(),
            };
            let by = SearchBy::Words(&words);
            if self.kind == "items" {
                let found = self.store.find_items(&by, &scope).await?;
                found.into_iter().map(|found| found.item.id.to_string()).collect()
            } else {
                let found = self.store.find_chunks(&by, &scope).await?;
                found.into_iter().map(|found| found.title).collect()
            }
        } else {
            let question = Redactor::shared().text(question);
            let found = self
                .retriever
                .search(project, &question, &filter, RESULTS)
                .await?;
            let name =
                |passage: grov_agent::Passage| passage.document.map_or(passage.id, |document| document.title);
            found.into_iter().map(name).collect()
        };
        let mut seen = HashSet::new();
        let records = found
            .into_iter()
            .map(|name| self.records.get(&name).cloned().unwrap_or(name));
        Ok(records.filter(|record| seen.insert(record.clone())).collect())
    }
}

/// Stores all records.
async fn fill(store: &Arc<AgentDatabase>, data: &Path, queries: &[Value], kind: &str) -> Result<(), Failure> {
    let names: BTreeMap<&str, ()> = queries.iter().map(|query| (text(query, "project"), ())).collect();
    let ingestor = Ingestor::new(store.clone() as Arc<dyn AgentStore>, Arc::new(SystemClock));
    for name in names.into_keys() {
        let project = Project {
            id: ProjectId::fresh(),
            name: name.to_owned(),
            role_statement: String::new(),
            created_at: SystemClock.now(),
        };
        store.create_project(&Redacted::of(&project)).await?;
        for record in lines(&data.join("docs").join(format!("{name}.jsonl")))? {
            let (id, content) = (text(&record, "id").to_owned(), content(&record));
            if kind == "items" {
                store
                    .add_item(&Redacted::of(&item(project.id, id, content)), None, &[])
                    .await?;
            } else {
                let upload = Upload {
                    project: project.id,
                    title: id,
                    category: Category::Facts,
                    content_type: Some("text/markdown".to_owned()),
                    file_name: None,
                    bytes: content.into_bytes(),
                };
                ingestor.ingest(upload).await?;
            }
        }
        eprintln!("{name} stored");
    }
    Ok(())
}

fn item(project: ProjectId, record: String, content: String) -> MemoryItem {
    let now = SystemClock.now();
    MemoryItem {
        id: MemoryItemId::fresh(),
        project_id: project,
        kind: MemoryType::Fact,
        status: MemoryStatus::Accepted,
        content,
        evidence: vec![Evidence {
            kind: EvidenceKind::Task,
            id: record,
            quote: String::new(),
        }],
        contradicts: Vec::new(),
        supersedes: None,
        superseded_by: None,
        reason: None,
        expires_at: None,
        created_at: now,
        updated_at: now,
        decided_by: None,
    }
}

/// The record of each memory item.
async fn records(
    store: &AgentDatabase,
    projects: &HashMap<String, ProjectId>,
    kind: &str,
) -> Result<HashMap<String, String>, Failure> {
    let mut records = HashMap::new();
    if kind != "items" {
        return Ok(records);
    }
    for project in projects.values() {
        let mut next = None;
        loop {
            let listed = store
                .items(*project, &MemoryFilter::default(), &page(next))
                .await?;
            for item in listed.items {
                let record = item.evidence.first().map(|evidence| evidence.id.clone());
                records.insert(item.id.to_string(), record.unwrap_or_default());
            }
            next = listed.next;
            if next.is_none() {
                break;
            }
        }
    }
    Ok(records)
}

/// A record as Markdown.
fn content(record: &Value) -> String {
    let mut parts = vec![text(record, "original_query").to_owned()];
    if text(record, "goal") != text(record, "original_query") {
        parts.push(text(record, "goal").to_owned());
    }
    for name in ["reasoning_trace", "files_touched"] {
        let texts = record[name]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str);
        parts.extend(texts.map(str::to_owned));
    }
    parts.join("\n\n")
}

fn page(after: Option<String>) -> Page {
    Page { limit: 200, after }
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

fn lines(path: &Path) -> Result<Vec<Value>, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Error::other(format!("{}: {error}", path.display())))?;
    let parsed = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(serde_json::from_str);
    Ok(parsed.collect::<Result<_, _>>()?)
}
